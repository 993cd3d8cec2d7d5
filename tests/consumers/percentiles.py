"""percentiles.py: compares columns of percentiles with the times of all calls, on standard input.

It reads lines of three kinds: `report CSV-LINE` of `dwell report --columns calls,p50,p90,p99`, and for each function
`function NAME` with lines `call CSV-LINE` of `dwell slowest --columns elapsed_inclusive` after it. Prints the number of
functions that were compared. Percentiles are by nearest rank. Each must be within 2 %, or a nanosecond for the clock's
steps."""
import csv
import math
import sys

KEYS = (("p50_ns", 50), ("p90_ns", 90), ("p99_ns", 99))


def main():
    report, calls, name = [], {}, None
    for line in sys.stdin:
        kind, _, rest = line.rstrip("\r\n").partition(" ")
        if kind == "report":
            report.append(rest)
        elif kind == "function":
            name = rest
            calls[name] = []
        elif rest != "elapsed_inclusive_ns":
            calls[name].append(int(rest))
    compared = 0
    for row in csv.DictReader(report):
        times = sorted(calls.get(row["function"], []))
        for key, percent in KEYS:
            if not times:
                if row[key]:
                    sys.exit(f"{row['function']}: {key} without calls")
                continue
            exact = times[math.ceil(len(times) * percent / 100) - 1]
            if abs(int(row[key]) - exact) > exact * 0.02 + 1:
                sys.exit(f"{row['function']}: {key} is {row[key]}, not {exact} of {len(times)} calls")
        compared += bool(times)
    print(compared)


main()
