"""speedscope_report.py REPORT.csv exact|rounded: compares the output of speedscope_import.mjs with the report.

The output comes from standard input. speedscope adds up microseconds as floating point numbers; they are exact to whole
nanoseconds."""
import json
import sys

import report

wanted = report.by_function(sys.argv[1])
own, total = {}, {}
profiles = json.load(sys.stdin)
for profile in profiles:
    factor = {"microseconds": 1000, "milliseconds": 1000000, "nanoseconds": 1}[profile["unit"]]
    for name, self_, total_ in profile["frames"]:
        own[name] = own.get(name, 0) + round(self_ * factor)
        total[name] = total.get(name, 0) + round(total_ * factor)
rounding = {} if sys.argv[2] == "exact" else {name: 2 * row["calls"] for name, row in wanted.items()}
slack = {} if sys.argv[2] == "exact" else {name: 2 * sum(row["calls"] for row in wanted.values()) for name in wanted}
for key, got, allowed in (("elapsed_exclusive", own, slack), ("elapsed_inclusive", total, rounding)):
    for name in set(got) | set(wanted):
        have, want = got.get(name, 0), wanted.get(name, {}).get(key, 0)
        if abs(have - want) > allowed.get(name, 0):
            report.fail(f"{key} of {name}: speedscope has {have}, reported {want}")
print(len(profiles))
