"""The man page's synopsis has the options of every command, and no others: each with its letter and argument."""
import re
import subprocess
import sys

OPTION = re.compile(r"(?:(?<![-\w])(-\w)\|)?(--[a-z][a-z-]*)(?: ((?:\[[A-Z]+=\]|[A-Z]+=)?[A-Z]+(?:[>/][A-Z]+|\[:[A-Z]+\])?)|(\[=[A-Z]+\]))?")

program = sys.argv[1]


def dwell(*arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def options_in(text):
    """{long name: (letter, argument)} of text such as "[-o|--output FILE] [--paused]"."""
    return {name: (letter or "-", argument or optional or "-")
            for letter, name, argument, optional in OPTION.findall(text)}


def parsed(command):
    """The same of the command's parser."""
    lines = (line.split("\t") for line in dwell(command, "--print-options").splitlines())
    return {name: (letter, argument) for name, letter, argument, *_ in lines}


def section(page, title):
    return re.search(rf"^# {title}\n(.*?)(?=^# )", page, re.S | re.M).group(1)


def main(path):
    with open(path, encoding="utf-8") as file:
        page = file.read().replace("\\+", "+")
    synopsis = re.sub(r"[*_]", "", section(page, "SYNOPSIS").replace("_PART_", "@PART").replace("_FILTER_", "@FILTER")
                      .replace("_CALLS_", "@CALLS"))
    groups = {name: options_in(text) for name, text in re.findall(r"@([A-Z]+) is (.*?; see)", synopsis, re.S)}
    written = {}
    for command, text in re.findall(r"^dwell ([a-z+]+) (.*)$", synopsis, re.M):
        written.setdefault(command, {}).update(options_in(text))
        for group in re.findall(r"@([A-Z]+)", text):
            written[command].update(groups[group])
    listed = re.findall(r"^  ([a-z+]+)  +[a-z]", dwell("--help"), re.M)
    headings = {heading.split()[0] for heading in re.findall(r"^\*([a-z+ ]+)\*$", section(page, "COMMANDS"), re.M)}
    wrong = []
    if len(listed) < 19 or set(listed) != headings or set(listed) != set(written) - {"help"}:
        wrong.append(f"commands: help {sorted(listed)}, sections {sorted(headings)}, synopsis {sorted(written)}")
    known = {"--help", "--help-all", "--libs"}  # the latter of pkg-config
    for command in listed:
        have = parsed(command)
        have.pop("--help-all", None)
        if have.pop("--help", None) != ("-h", "-"):
            wrong.append(f"{command} has no -h, --help")
        known |= set(have)
        for name in sorted(set(have) | set(written.get(command, {}))):
            if have.get(name) != written[command].get(name):
                wrong.append(f"{command} {name}: parsed {have.get(name)}, in the synopsis {written[command].get(name)}")
    body = page[page.index("# DESCRIPTION"):]
    mentioned = set(re.findall(r"--[a-z][a-z-]*", body))
    wrong += [f"{name} is no option of any command" for name in sorted(mentioned - known)]
    wrong += [f"{name} is not described" for name in sorted(known - mentioned - {"--help", "--help-all", "--libs"})]
    sys.exit("\n".join(wrong) if wrong else 0)


main(sys.argv[2])
