"""The completions offer each option of each command's --help, and what the options take: completions.py DWELL FOLDER, which
holds dwell, _dwell and dwell.fish. The current folder has a session of samples/cplusplus, dwell.data. zsh and fish are
asked only if they are installed."""
import os
import re
import shutil
import subprocess
import sys

program, folder = sys.argv[1:]
os.environ.update(HOME=folder, XDG_CONFIG_HOME=folder)  # fish writes there
os.environ["PATH"] = f"{os.path.dirname(program)}:{os.environ['PATH']}"  # they ask dwell for functions


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


def bash_words(*words, line=""):
    script = (f"source {folder}/dwell; compopt() {{ :; }}; COMP_WORDS=({' '.join(words)} \"\"); COMP_WORDS[{len(words) - 1}]={words[-1]}; "
              f"COMP_LINE='{line}' COMP_POINT={len(line)} COMP_CWORD={len(words) - 1}; _dwell; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    return output("bash", "-c", script).split()


def bash_split(line):
    """The same for a line that bash has split, at = and : as well."""
    return bash_words(*re.findall(r"=|:+|[^ =:]+", line), line=line)


def fish_words(line):
    script = f"source {folder}/dwell.fish; complete -C '{line}'"
    return {word.split("\t")[0] for word in output("fish", "--no-config", "-c", script).splitlines()}


def zsh_words(command):
    with open(f"{folder}/_dwell", encoding="utf-8") as file:
        branch = re.search(rf"^    {re.escape(command)}\)\n(.*?) ;;$", file.read(), re.S | re.M)
    return set(re.findall(r"'\*(--?[a-z-]+)", branch.group(1), re.I))


SUFFIXES = ["after", "before", "change", "change_ci95", "change_percent", "judged", "p"]  # of values of diff

VALUES = [
    ("report --format j", ["json"]),
    ("diff --format m", ["markdown"]),
    ("report --by mod", ["module", "module-function"]),
    ("report --by=mod", ["module", "module-function"]),
    ("waits --by w", ["waker"]),
    ("record --mode p", ["profile"]),
    ("record --clock o", ["ordered"]),
    ("report --units col", ["column"]),
    ("report --sort na", ["name"]),
    ("report -s page", ["page_faults", "page_faults_exclusive"]),
    ("critical --sort wo", ["work"]),
    ("report --columns calls,page", ["calls,page_faults", "calls,page_faults_exclusive"]),
    ("diff --columns calls_b", ["calls_before"]),
    ("diff --columns cpu_exc", ["cpu_exclusive", *("cpu_exclusive_" + suffix for suffix in SUFFIXES)]),
    ("diff --columns p99", ["p99", *("p99_" + suffix for suffix in SUFFIXES)]),
    ("diff --sort call", ["calls"]),
    ("export perfe", ["perfetto"]),
    ("callers shop::pri", ["shop::price"]),
    ("callers dwell.data main", ["main"]),
    ("callers none.data mai", []),
    ("tree --root mai", ["main"]),
    ("critical --call mai", ["main"]),
]


def check_values(have_fish):
    """The words that bash and fish offer. bash replaces only what follows an = or a colon."""
    for line, wanted in VALUES:
        offers = {"bash": bash_split(f"dwell {line}")}
        if have_fish:
            option = re.match(r"[^ ]+ (--[a-z]+=)", line)
            offers["fish"] = [word.removeprefix(option[1] if option else "") for word in fish_words(f"dwell {line}")]
        for shell, words in offers.items():
            ends = [word.rpartition(":")[2] for word in wanted] if shell == "bash" else wanted
            if sorted(words) != sorted(ends):
                yield f"{shell}: dwell {line}: {sorted(words)}"


def main():
    subprocess.run(["bash", "-n", f"{folder}/dwell"], check=True)
    have_zsh, have_fish = shutil.which("zsh"), shutil.which("fish")
    if have_zsh:
        subprocess.run(["zsh", "-n", f"{folder}/_dwell"], check=True)
    if have_fish:
        subprocess.run(["fish", "--no-execute", f"{folder}/dwell.fish"], check=True)
    commands = [line.split("\t")[0] for line in output(program, "--print-commands").splitlines()]
    wrong = []
    if len(commands) < 24 or not set(commands + ["help", "version"]) <= set(bash_words("dwell", "''")):
        wrong.append("bash: not all commands")
    if have_fish and not set(commands + ["help", "version"]) <= fish_words("dwell "):
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
    wrong += check_values(have_fish)
    with open(f"{folder}/_dwell", encoding="utf-8") as file:
        actions = file.read()
    for part in [":WHAT:(function line module", ":KEYS: _values -s , column calls ", ":FUNCTION:_dwell_functions'",
                 "'help:describe a command'", "'version:say which version this is'"]:
        if part not in actions:
            wrong.append(f"zsh: no {part}")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
