"""callgrind.py REPORT.csv CALLGRIND.OUT: compares callgrind_annotate's view of the export with the report.

It compares exclusive and inclusive costs and calls, by file, function and object."""
import os
import re
import subprocess
import sys

import report

LINE = re.compile(r"\s*((?:[\d,.]+\s+)+)([<*>])\s+(.*)")


def number(text):
    return 0 if text == "." else int(text.replace(",", ""))


def annotate(path, *options):
    """Returns the events' names, the lines of the function list [(costs, mark, name)], and the totals."""
    command = ["callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no", "--tree=caller", *options, path]
    done = subprocess.run(command, capture_output=True, check=True)
    errors, text = done.stderr.decode(), done.stdout.decode()
    if errors:
        report.fail(f"callgrind_annotate: {errors}")
    events = re.search(r"^Events recorded: +(.*)$", text, re.M)[1].split()
    lines = []
    for line in text.split("file:function\n", 1)[1].splitlines():
        match = LINE.fullmatch(line)
        if match:
            lines.append(([number(cost) for cost in match[1].split()], match[2], match[3]))
    totals = re.search(r"^\s*([\d,. ]+?)\s+PROGRAM TOTALS$", text, re.M)[1]
    return events, lines, [number(cost) for cost in totals.split()]


def key_of(name):
    """The name without the suffix that distinguishes functions of one name, and without the object's folder."""
    name, _, objects = name.rpartition(" [")
    name = re.sub(r" @\S+\+0x[0-9a-f]+$", "", name)
    return f"{name} [{os.path.basename(objects[:-1])}]"


def row_key(row):
    return f"{row['file'] or '???'}:{row['function']} [{row['module']}]"


def main(csv_path, path):
    wanted = report.by_function(csv_path, row_key)
    rounding = {name: len(wanted) for name in wanted}
    for options, suffix in ((["--inclusive=no"], "exclusive"), (["--inclusive=yes"], "inclusive")):
        events, lines, totals = annotate(path, *options)
        got, calls, callers = [{} for _ in events], {}, 0
        for costs, mark, name in lines:
            if mark == "<":
                callers += number(re.search(r" \(([\d,]+)x\)", name)[1])
                continue
            key = key_of(name)
            if key == "???:(start of thread) [???]":
                callers = 0
                continue
            calls[key] = calls.get(key, 0) + callers
            callers = 0
            for event, cost in zip(got, costs):
                event[key] = event.get(key, 0) + cost
        for event, values in zip(events, got):
            if event != "Blocked":
                report.compare(wanted, values, f"{event.lower()}_{suffix}", rounding if suffix == "inclusive" else {})
        whole = sum(row["elapsed_exclusive"] for row in wanted.values())
        if abs(totals[0] - whole) > len(wanted):
            report.fail(f"totals: {totals[0]}, reported {whole}")
    for name, row in wanted.items():
        if row["calls"] and calls.get(name) != row["calls"]:
            report.fail(f"calls of {name}: exported {calls.get(name)}, reported {row['calls']}")


main(*sys.argv[1:])
