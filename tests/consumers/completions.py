"""The completions offer each option of each command's --help: completions.py DWELL FOLDER, which holds dwell, _dwell and
dwell.fish. zsh and fish are asked only if they are installed."""
import os
import re
import shutil
import subprocess
import sys

program, folder = sys.argv[1:]
os.environ.update(HOME=folder, XDG_CONFIG_HOME=folder)  # fish writes there


def output(*arguments, **more):
    return subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True, **more).stdout


def options_of_help(command):
    options = set()
    names = output(program, command, "--print-options")
    for line in output(program, command, "--help-all" if "--help-all" in names else "--help").splitlines():
        found = re.match(r"  (?:(-\w),|   ) (--[a-z-]+)|  (-\w)(?: |$)", line)
        if found:
            options |= {word for word in found.groups() if word}
    return options


def bash_words(*words):
    script = (f"source {folder}/dwell; compopt() {{ :; }}; COMP_WORDS=({' '.join(words)} \"\"); COMP_WORDS[{len(words) - 1}]={words[-1]}; "
              f"COMP_CWORD={len(words) - 1}; _dwell; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
    return output("bash", "-c", script).split()


def fish_words(line):
    script = f"source {folder}/dwell.fish; complete -C '{line}'"
    return {word.split("\t")[0] for word in output("fish", "--no-config", "-c", script).splitlines()}


def zsh_words(command):
    with open(f"{folder}/_dwell", encoding="utf-8") as file:
        branch = re.search(rf"^    {re.escape(command)}\)\n(.*?) ;;$", file.read(), re.S | re.M)
    return set(re.findall(r"'\*(--?[a-z-]+)", branch.group(1), re.I))


def main():
    subprocess.run(["bash", "-n", f"{folder}/dwell"], check=True)
    have_zsh, have_fish = shutil.which("zsh"), shutil.which("fish")
    if have_zsh:
        subprocess.run(["zsh", "-n", f"{folder}/_dwell"], check=True)
    if have_fish:
        subprocess.run(["fish", "--no-execute", f"{folder}/dwell.fish"], check=True)
    commands = [line.split("\t")[0] for line in output(program, "--print-commands").splitlines()]
    wrong = []
    if len(commands) < 24 or not set(commands) <= set(bash_words("dwell", "''")):
        wrong.append("bash: not all commands")
    if have_fish and not set(commands) <= fish_words("dwell "):
        wrong.append("fish: not all commands")
    for command in commands:
        wanted = options_of_help(command)
        if "--help" not in wanted:
            wrong.append(f"{command}: no options in --help")
        offers = {"bash": set(bash_words("dwell", command, "-")), "zsh": zsh_words(command)}
        if have_fish:
            offers["fish"] = fish_words(f"dwell {command} -") | fish_words(f"dwell {command} --")
        for shell, words in offers.items():
            wrong += [f"{shell}: {command} lacks {option}" for option in sorted(wanted - words)]
    if bash_words("dwell", "report", "--format", "j") != ["json"]:
        wrong.append("bash: formats")
    if "perfetto" not in bash_words("dwell", "export", "p"):
        wrong.append("bash: names of exports")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
