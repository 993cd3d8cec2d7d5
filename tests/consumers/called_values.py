"""called_values.py DWELL PRINTED [SESSION]: compares recorded values with what tests/e2e/programs/arguments/called.c has
printed, as lines "FUNCTION NAME VALUE".

Without SESSION, it prints what to record: FUNCTION:NAME,... in a line each. Otherwise it prints each value that differs,
and at last how many arguments had all their values, some of them, and none."""
import json
import subprocess
import sys
from collections import Counter

ENUMERATIONS = {"RED": 0, "GREEN": 5, "BLUE": -7, "SMALL": 1, "LARGE": 4000000000}


def read_printed(path):
    arguments = {}
    with open(path, encoding="latin-1") as file:
        for line in file:
            function, name, value = line.rstrip("\n").split(" ", 2)
            arguments.setdefault((function, name), []).append(value)
    return arguments


def printed_values(function, name, texts):
    """Numbers, nine digits of those with a point, or what is kept of texts."""
    if function == "f_text" and name != "*text":
        return [text[:64] for text in texts]
    for kind in int, lambda text: int(text, 16):
        try:
            return [kind(text) for text in texts]
        except ValueError:
            pass
    return [f"{float(text):.9g}" for text in texts]


def recorded_value(value, like):
    """Of JSON, as what was printed like that. Characters are printed as numbers."""
    if isinstance(value, float) or (isinstance(value, int) and isinstance(like, str)):
        return f"{value:.9g}"
    if not isinstance(value, str):
        return int(value)  # also truths
    if isinstance(like, str):
        return value[:-3] if value.endswith("...") else value
    if value in ENUMERATIONS:
        return ENUMERATIONS[value]
    if value.startswith("0x"):
        return int(value, 16)
    code = int(value[2:], 16) if value.startswith("\\x") else ord(value)
    return code - 256 if code > 127 and like < 128 else code


def recorded(dwell, session, function, name, like):
    command = [dwell, "values", "--each", "-n", "0", "--format", "json", f"{function}:{name}", session]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    values = Counter()
    if run.returncode:
        sys.stderr.write(run.stderr.decode())
    for row in json.loads(run.stdout)["rows"] if run.returncode == 0 else []:
        value = row["values"][name]
        values[None if value is None else recorded_value(value, like)] += row["calls"]
    return values


def main():
    dwell, printed, session = (sys.argv + [None])[1:4]
    arguments = read_printed(printed)
    if session is None:
        for function in dict.fromkeys(function for function, _ in arguments):
            print(function + ":" + ",".join(name for other, name in arguments if other == function))
        return
    whole, some, none = 0, 0, 0
    for (function, name), values in arguments.items():
        wanted = Counter(printed_values(function, name, values))
        found = recorded(dwell, session, function, name, max(wanted))
        unread = found.pop(None, 0)
        wrong = found - wanted
        if wrong or (found and found.total() + unread != wanted.total()):
            print(f"{function} {name}: recorded {dict(found)}, printed {dict(wanted)}")
        whole += found == wanted
        some += bool(found) and found != wanted
        none += not found
    print(whole, some, none)


main()
