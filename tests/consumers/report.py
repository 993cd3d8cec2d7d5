"""Reads the output of `dwell report --format csv` and compares an export's numbers with it."""
import csv
import sqlite3
import sys

csv.field_size_limit(1 << 30)
TIMES = ("elapsed_inclusive", "elapsed_exclusive", "application_inclusive", "application_exclusive")
CPU = ("cpu_inclusive", "cpu_exclusive")


def read(path):
    """Returns the rows as dictionaries, in their order."""
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        return list(csv.DictReader(file))


def by_function(path, name=lambda row: row["function"]):
    """The sums of the rows that have the same name: {name: {"calls": n, "elapsed_exclusive": ns, ...}}"""
    sums = {}
    for row in read(path):
        sum_ = sums.setdefault(name(row), dict.fromkeys(("calls",) + TIMES + CPU, 0))
        sum_["calls"] += int(row["calls"])
        for key in TIMES + CPU:
            sum_[key] += int(row.get(key + "_ns") or 0)
    return sums


def name_in_module(row):
    return row["function"] + "@" + row["module"]


def shared_names(path, name=name_in_module):
    """Names that several functions have. Their inclusive times cannot be compared by name."""
    names = [name(row) for row in read(path)]
    return {entry for entry in names if names.count(entry) > 1}


def knows_application(path):
    return any(row["application_inclusive_ns"] for row in read(path))


def paths_by_function(database):
    """The numbers of call paths that end in each function, and of those that it is part of, by the SQLite export.

    An export leaves out paths whose value rounds to zero, and they take part in the rounding."""
    own, inclusive, names = {}, {}, {None: ()}
    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT p.id, p.parent, f.name FROM path p JOIN function f ON p.function = f.id"
                                  " ORDER BY p.depth").fetchall()
    for path, parent, name in rows:
        names[path] = names[parent] + (name,)
        own[name] = own.get(name, 0) + 1
        for each in set(names[path]):
            inclusive[each] = inclusive.get(each, 0) + 1
    return own, inclusive


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(1)


def compare(wanted, got, key, rounding):
    """Checks that `got` {name: value} has the values of `wanted` under the key.

    Each value in `got` is a sum of rounded values; `rounding` {name: count} gives their number, with those of zero."""
    for name in sorted(set(wanted) | set(got)):
        have, want = got.get(name, 0), wanted.get(name, {}).get(key, 0)
        if abs(have - want) > (rounding.get(name, 0) + 1) // 2:
            fail(f"{key} of {name}: exported {have}, reported {want}")
    if not any(got.values()):
        fail(f"{key}: all values are zero")
