#!/bin/sh
# strip.sh WHERE SOURCE OUTPUT INCLUDE: builds a program, and takes its debug information to another file.
set -eu
gcc -O2 -g -finstrument-functions -Wl,--build-id "-I$4" "$2" -o "$3"
folder=$(dirname "$3")
name=$(basename "$3")
case $1 in
beside) debug=$folder/$name.debug ;;
in-folder) mkdir -p "$folder/.debug"; debug=$folder/.debug/$name.debug ;;
by-id)
    id=$(readelf -n "$3" | sed -n 's/.*Build ID: //p')
    mkdir -p "$folder/debug-root/.build-id/$(echo "$id" | cut -c1-2)"
    debug=$folder/debug-root/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
    ;;
esac
objcopy --only-keep-debug "$3" "$debug"
objcopy --strip-all "$3"
[ "$1" = by-id ] || objcopy --add-gnu-debuglink="$debug" "$3"
