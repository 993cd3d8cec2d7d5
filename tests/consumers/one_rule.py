"""Compares what a session's views say of the same calls: calls * mean = total and minimum <= mean <= maximum, for rows
that are timed, partly timed or known by samples; `dwell slowest`, PerfLog's lines and vsperf's averages. Prints how
many rows there were of each kind. Usage: one_rule.py DWELL SESSION."""

import csv
import json
import re
import subprocess
import sys

DWELL, SESSION = sys.argv[1:]
TIMES = ["elapsed_inclusive", "elapsed_exclusive", "application_inclusive", "application_exclusive"]
OF_CALLS = ["min", "mean", "median", "p90", "p99", "max"]


def dwell(*arguments):
    return subprocess.run([DWELL, *arguments, SESSION], capture_output=True, text=True, check=True).stdout


def spread(row, time):
    return [row.get(f"{time}_{kind}_ns") for kind in OF_CALLS]


def near(value, wanted, calls, what):
    """Each call may be rounded by 1/256 ticks for each call below it, and a mean is a whole number of ns."""
    assert abs(value - wanted) <= calls * rounding + 2, (what, value, wanted, calls)


def check_row(row):
    """How the row's times are known, and how many calls they are of."""
    timing = row.get("timing", "timed")
    calls = row["calls"] if timing == "sampled" else row.get("timed_calls", row["calls"])
    for time in TIMES:
        least, mean, median, p90, p99, greatest = spread(row, time)
        total = row.get(time + "_ns")
        if mean is None or total is None:
            continue
        near(calls * mean, total, calls, (row["function"], time))
        if least is not None:
            assert least <= mean <= greatest, (row, time)
            assert least <= median <= p90 <= p99 <= greatest, (row, time)
            if row["calls"] == 1:
                near(greatest, total, 1, (row["function"], time))
    if row.get("min_ns") is not None and row["elapsed_inclusive_min_ns"] is not None:
        near(row["min_ns"], row["elapsed_inclusive_min_ns"], 0, row["function"])
        near(row["max_ns"], row["elapsed_inclusive_max_ns"], 0, row["function"])
    return timing


def check_slowest(row):
    """The single calls are those that the columns are about."""
    text = dwell("slowest", "--no-merge", "-n", "0", "--format", "csv", "--columns", "elapsed_inclusive",
                 row["function"])
    times = [float(one["elapsed_inclusive_ns"]) for one in csv.DictReader(text.splitlines())]
    if row.get("timing", "timed") != "sampled":
        near(max(times), row["elapsed_inclusive_max_ns"], 0, row["function"])
        near(min(times), row["elapsed_inclusive_min_ns"], 0, row["function"])
    assert len(times) == row.get("timed_calls", row["calls"]), row["function"]


def check_perflog(rows):
    """The lines of a function that is not known by samples add up to its time."""
    log = dwell("export", "perflog", "--no-merge")
    tick = 1e9 / int(re.search(r"^## PERF ## RESOLUTION \[(\d+)\]", log, re.M)[1])
    names = {of: name for name, of in re.findall(r"^## PERF ## REGISTERED MARKER \[(.*)\] AS \[(\d+)\]", log, re.M)}
    sums, lines = {}, {}
    for of, ticks in re.findall(r"^## PERF ## APP \[.*\] EVT \[(\d+)\] DUR \[(\d+)\]", log, re.M):
        sums[names[of]] = sums.get(names[of], 0) + int(ticks) * tick
        lines[names[of]] = lines.get(names[of], 0) + 1
    compared = 0
    for row in rows:
        timed = row.get("timed_calls", row["calls"])
        assert lines.get(row["function"], 0) == (timed or 0), row["function"]
        if timed and row.get("timing", "timed") != "sampled":
            total = row["elapsed_inclusive_ns"]
            assert abs(sums[row["function"]] - total) <= timed * tick / 256 + tick + 1, (row, sums[row["function"]])
            compared += 1
    assert compared, "no function is in the log"


def check_collapsed(rows):
    """The stacks of a function add up to its own time: each may be rounded."""
    sums, stacks = {}, {}
    for name, ns in re.findall(r"([^;\n]+) (\d+)$", dwell("export", "collapsed", "--no-merge"), re.M):
        sums[name] = sums.get(name, 0) + int(ns)
        stacks[name] = stacks.get(name, 0) + 1
    for row in rows:
        name, own = row["function"], row["elapsed_exclusive_ns"]
        if own is not None:
            assert abs(sums.get(name, 0) - own) <= stacks.get(name, 0) + 1, (name, sums.get(name), own)


def check_vsperf():
    dwell("export", "vsperf", "-o", "one_rule")
    with open("one_rule_FunctionSummary.csv", encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            least, mean, greatest, total = (row[title] and int(row[title]) for title in (
                "Min Elapsed Inclusive Time", "Avg Elapsed Inclusive Time", "Max Elapsed Inclusive Time",
                "Elapsed Inclusive Time"))
            if least != "":
                assert least <= total, row
                assert mean == "" or least <= mean <= greatest, row
                assert int(row["Number of Calls"]) > 1 or least == mean == greatest == total, row


some = ["timed_calls"] if "timed_calls" in dwell("report", "--format", "csv").splitlines()[0] else []
columns = ["calls", "timing", "min", "max", *some, *TIMES, *(f"{time}_{kind}" for time in TIMES for kind in OF_CALLS)]
rounding = 0.7  # ns
functions = json.loads(dwell("report", "--no-merge", "--by", "function", "--format", "json", "--columns",
                             ",".join(columns)))["rows"]
kinds = {}
for function in functions:
    kind = check_row(function)
    kinds[kind] = kinds.get(kind, 0) + 1
    if function["elapsed_inclusive_min_ns"] is not None:
        check_slowest(function)
called = [function for function in functions if function["calls"] is not None]
check_perflog(called)
check_collapsed(functions)
check_vsperf()
print(" ".join(f"{kind}:{count}" for kind, count in sorted(kinds.items())))
