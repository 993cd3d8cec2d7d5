# shellcheck shell=sh
# Trees of Debian to install into, for scripts/test-package and scripts/test-container. The caller has set $folder, where the
# trees, logs and archives are, and $suite.
mirror=$(apt-cache policy base-files | grep -o 'https\{0,1\}://[^ ]*' | head -n 1) # where this machine gets its packages
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9

# logged NAME WHAT COMMAND...: prints the end of the command's output if it fails, and what could not be done.
logged() {
    log=$folder/$1.log
    what=$2
    shift 2
    "$@" >"$log" 2>&1 </dev/null || {
        tail -n 25 "$log" >&2
        echo "$(basename "$0"): $what; see $log" >&2
        return 1
    }
}

# in_tree TREE TEXT: runs commands of the shell in a tree. All mounts and processes end with the shell.
in_tree() {
    unshare --mount --pid --fork --kill-child --mount-proc="$1/proc" chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" sh -ec "$2"
}

bootstrap() { # a new try goes on with the packages that the last one has got
    for try in 1 2 3; do
        unshare --mount timeout 400 debootstrap --variant=minbase --cache-dir="$folder/downloads" "$suite" "$1" "$mirror" && return
        echo "$(basename "$0"): try $try of 3 failed"
        rm -rf "$1"
    done
    return 1
}

# new_tree TREE COMMANDS: a Debian in the folder TREE, in which the commands have run. An archive keeps it for the next run.
new_tree() {
    rm -rf "$1"
    if [ "$(cat "$1.made" 2>/dev/null)" != "$2" ]; then
        mkdir -p "$folder/downloads"
        rm -f "$1.made"
        logged debootstrap "cannot get Debian $suite from $mirror" bootstrap "$1"
        for name in /etc/resolv.conf /etc/hosts /etc/ssl/certs; do
            [ ! -e "$name" ] || { mkdir -p "$1$(dirname $name)"; cp -rL "$name" "$1$(dirname $name)/"; }
        done
        { # the ways to the mirror are this machine's
            apt-config dump --format '%f "%v";%n' Acquire::http Acquire::https Acquire::Check-Valid-Until
            echo 'Acquire::Retries "5"; Acquire::http::Timeout "60"; APT::Get::Assume-Yes "true"; APT::Install-Recommends "false";'
        } >"$1/etc/apt/apt.conf.d/90test"
        logged apt "cannot install packages of Debian $suite from $mirror" in_tree "$1" "apt-get update; $2"
        rm -f "$1/var/cache/apt/archives"/*.deb
        tar -C "$1" -cf "$1.tar" --exclude=./proc/* .
        printf '%s' "$2" >"$1.made"
    else
        mkdir "$1"
        tar -C "$1" -xpf "$1.tar"
    fi
}
