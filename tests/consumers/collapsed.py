"""collapsed.py REPORT.csv MEASURE STACKS PATHS.db: adds up collapsed stacks like flamegraph.pl, and compares with the
report. PATHS.db is the SQLite export of the same session; `exact`: one tick is one nanosecond.

It compares exclusive and inclusive values by function. A path counts once for each name in it."""
import re
import sys

import report


def main(csv_path, measure, stacks_path, database):
    wanted = report.by_function(csv_path)
    own, inclusive, total = {}, {}, 0
    with open(stacks_path, encoding="utf-8") as file:
        for line in file:
            match = re.fullmatch(r"(.+) (\d+)\n", line)
            if not match:
                report.fail(f"no stack: {line}")
            frames, value = match[1].split(";")[2:], int(match[2])
            total += value
            own[frames[-1]] = own.get(frames[-1], 0) + value
            for name in set(frames):
                inclusive[name] = inclusive.get(name, 0) + value
    if measure == "calls":
        report.compare(wanted, own, "calls", {})
    else:
        own_paths, inclusive_paths = report.paths_by_function(database) if database != "exact" else ({}, {})
        report.compare(wanted, own, measure, own_paths)
        report.compare(wanted, inclusive, measure.replace("_exclusive", "_inclusive"), inclusive_paths)
    print(total)


main(*sys.argv[1:])
