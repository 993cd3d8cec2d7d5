"""collapsed.py REPORT.csv MEASURE STACKS: adds up collapsed stacks like flamegraph.pl, and compares with the report.

It compares exclusive and inclusive values by function. A path counts once for each name in it."""
import re
import sys

import report


def main(csv_path, measure, stacks_path):
    wanted = report.by_function(csv_path)
    own, inclusive, own_lines, inclusive_lines, total = {}, {}, {}, {}, 0
    with open(stacks_path, encoding="utf-8") as file:
        for line in file:
            match = re.fullmatch(r"(.+) (\d+)\n", line)
            if not match:
                report.fail(f"no stack: {line}")
            frames, value = match[1].split(";")[2:], int(match[2])
            total += value
            own[frames[-1]] = own.get(frames[-1], 0) + value
            own_lines[frames[-1]] = own_lines.get(frames[-1], 0) + 1
            for name in set(frames):
                inclusive[name] = inclusive.get(name, 0) + value
                inclusive_lines[name] = inclusive_lines.get(name, 0) + 1
    if measure == "calls":
        report.compare(wanted, own, "calls", {})
    else:
        report.compare(wanted, own, measure, own_lines)
        report.compare(wanted, inclusive, measure.replace("_exclusive", "_inclusive"), inclusive_lines)
    print(total)


main(*sys.argv[1:])
