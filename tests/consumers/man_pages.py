"""Each command has a page with all sections and all options of the program, and each of its examples is understood:
man_pages.py DWELL FOLDER, which holds the pages. Examples run in the current folder, where they find sessions of no
content."""
import os
import re
import stat
import subprocess
import sys

program, folder = sys.argv[1:]
TITLES = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "FILES", "SEE ALSO"]

# In the place of dwell: reads the options of the line, which come before a program's words, and prints nothing.
WRAPPER = """#!/bin/bash
words=()
for word; do
    case $1,$word in record,./*|compare,./*) break ;; esac
    words+=("$word")
done
case $1 in cc|c++) words=("$1" --show "${words[@]:1}") ;; *) words+=(--help) ;; esac
"$DWELL_ITSELF" "${words[@]}" >/dev/null || { echo "dwell $*" >>"$WRONG"; exit 1; }
"""


def output(*arguments):
    return subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True).stdout


def write_program(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, stat.S_IRWXU)


def page_of(name):
    """{title: text} of the page of this name, as a reader sees it on a wide terminal."""
    shown = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=990", f"{folder}/{name}.1"],
                           stdout=subprocess.PIPE, check=True).stdout.decode()
    shown = re.sub(".\b", "", shown)
    parts = re.split(r"^([A-Z]+(?: [A-Z]+)*)\n", shown, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def check_sections(command, page):
    for title in TITLES:
        if not page.get(title, "").strip():
            yield f"{command}: no section {title}"


def check_options(command, text):
    for line in output(program, command, "--print-options").splitlines():
        name, letter, argument, help_text = line.split("\t")[:4]
        value = "" if argument == "-" else argument if argument.startswith("[=") else f" {argument}"
        entry = (f"{letter}{value}, " if letter != "-" else "") + name + value
        found = re.search(rf"^ +{re.escape(entry)}\n +(.*)$", text, re.M)
        if not found:
            yield f"{command}: OPTIONS lacks {entry}"
        elif found.group(1).rstrip(".") != help_text.rstrip("."):
            yield f"{command} {name}: '{found.group(1)}' in the page, '{help_text}' in --help"


def check_examples(command, text):
    examples = [line.strip() for line in text.splitlines() if line.strip()]
    wanted = output(program, command, "--print-text").split("Examples:\n")[1].strip().splitlines()
    if examples != [line.strip() for line in wanted]:
        yield f"{command}: EXAMPLES are not those of --help"
    if not any(f"dwell {command}" in line for line in examples) and command != "c++":
        yield f"{command}: EXAMPLES lacks the command"
    for line in examples:
        ran = subprocess.run(["sh", "-c", line], stdout=subprocess.DEVNULL, check=False)
        if ran.returncode or os.path.exists(os.environ["WRONG"]):
            yield f"{command}: example '{line}' is not understood"
            if os.path.exists(os.environ["WRONG"]):
                os.remove(os.environ["WRONG"])


def main():
    here = os.getcwd()
    os.makedirs(f"{here}/bin")
    os.makedirs(f"{here}/project")
    os.environ.update(PATH=f"{here}/bin:/usr/bin:/bin", HOME=here, XDG_CONFIG_HOME=here, WRONG=f"{here}/wrong",
                      DWELL_ITSELF=program)
    write_program("bin/dwell", WRAPPER)
    for name in ["make", "cmake", "meson", "flamegraph.pl", "ccache"]:
        write_program(f"bin/{name}", "#!/bin/sh\n")
    write_program("configure", "#!/bin/sh\n")
    for name in ["run-1.data", "old-1.data", "new-1.data", "old-1.log", "new-1.log"]:
        write_program(name, "")
    commands = [line.split("\t")[0] for line in output(program, "--print-commands").splitlines()]
    with open(f"{folder}/dwell.1", encoding="utf-8") as file:
        overview = file.read()
    page = page_of("dwell")
    wrong = list(check_sections("dwell(1)", page))
    for name in ["dwell.data", "dwell/config"]:
        if name not in page.get("FILES", ""):
            wrong.append(f"dwell(1): FILES lacks {name}")
    for other in [f"dwell-{command}(1)" for command in commands] + ["dwell_dwell.h(3)"]:
        if other not in page.get("SEE ALSO", ""):
            wrong.append(f"dwell(1): SEE ALSO lacks {other}")
    for command in commands:
        page = page_of(f"dwell-{command}")
        wrong += check_sections(command, page)
        wrong += check_options(command, page.get("OPTIONS", ""))
        wrong += check_examples(command, page.get("EXAMPLES", ""))
        others = set(re.findall(r"dwell-([a-z+]+)\(1\)", page.get("SEE ALSO", "")))
        if not others or not others <= set(commands):
            wrong.append(f"{command}: SEE ALSO names {sorted(others)}")
        if not re.search(rf"dwell-{re.escape(command)}\\fR\(1\)", overview):
            wrong.append(f"dwell(1) does not list {command}")
    sys.exit("\n".join(wrong) if wrong else 0)


main()
