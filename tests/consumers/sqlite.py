"""sqlite.py DWELL SESSION DATABASE: compares the database's views, row by row, with dwell's reports of the session."""
import csv
import io
import subprocess
import sys

import report


def query_rows(database, query):
    """Returns the rows from the sqlite3 shell; the first one has the names of the columns."""
    done = subprocess.run(["sqlite3", "-bail", "-header", "-csv", database, query], capture_output=True, check=True)
    return list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))


def reported_rows(dwell, *arguments):
    done = subprocess.run([dwell, *arguments, "--format", "csv"], capture_output=True, check=True)
    rows = list(csv.reader(io.StringIO(done.stdout.decode("utf-8", "replace"), newline="")))
    return rows


def without_timing(rows, what):
    """Sessions whose calls were all timed have no column about it in the database."""
    if "timing" not in rows[0]:
        return rows
    place = rows[0].index("timing")
    for row in rows[1:]:
        if row[place] != "timed":
            report.fail(f"{what}: {row[0]} is {row[place]}")
    return [row[:place] + row[place + 1:] for row in rows]


def only(columns, rows):
    """The rows with these columns alone."""
    places = [rows[0].index(column) for column in rows[0] if column in columns]
    return [[row[place] for place in places] for row in rows]


def same(column, a, b):
    if a == b:
        return True
    return column.endswith("_percent") and "" not in (a, b) and abs(float(a) - float(b)) < 0.0001


def compare(what, got, wanted):
    if not got and len(wanted) == 1:  # the shell prints no header without rows
        return 0
    if "timing" not in got[0]:
        wanted = without_timing(wanted, what)
    if sorted(got[0]) != sorted(wanted[0]):
        report.fail(f"{what}: columns {got[0]}, reported {wanted[0]}")
    places = [got[0].index(column) for column in wanted[0]]
    got = [[row[place] for place in places] for row in got]
    if len(got) != len(wanted):
        report.fail(f"{what}: {len(got) - 1} rows, reported {len(wanted) - 1}")
    for have, want in zip(got[1:], wanted[1:]):
        if not all(map(same, got[0], have, want)):
            report.fail(f"{what}: {have}, reported {want}")
    return len(got) - 1


def compare_callers(dwell, session, database):
    rows = 0
    functions = query_rows(database, "SELECT f.id, f.name, m.name FROM function f JOIN module m ON m.id = f.module")[1:]
    for number, name, module in functions:
        got = query_rows(database, f"SELECT * FROM report_callers WHERE subject = {number}")
        got = [row[2:] for row in got]
        wanted = reported_rows(dwell, "callers", session, f"{name}@{module}")
        if "timing" in wanted[0] and wanted[1][wanted[0].index("timing")] == "counted":
            continue  # it is on no call path
        if "samples" in wanted[0]:
            wanted = only([column for column in wanted[0] if "_ci95" not in column], wanted)
        rows += compare(f"callers of {name}", got, wanted)
    return rows


def main(dwell, session, database):
    for check, good in (("integrity_check", "ok"), ("foreign_key_check", None), ("user_version", "4")):
        rows = query_rows(database, f"PRAGMA {check}")
        if (rows[1] if rows else None) != (good and [good]):
            report.fail(f"{check}: {rows}")
    counts = []
    for by in ("function", "module", "thread", "process"):
        wanted = reported_rows(dwell, "report", session, "--by", by)
        counts.append(compare(by, query_rows(database, f"SELECT * FROM report_{by}"), wanted))
    counts.append(compare_callers(dwell, session, database))
    marks = query_rows(database, "SELECT * FROM report_marks")
    counts.append(compare("marks", marks, reported_rows(dwell, "marks", session)))
    print(*counts)


main(*sys.argv[1:])
