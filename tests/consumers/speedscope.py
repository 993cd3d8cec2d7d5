"""speedscope.py REPORT.csv MEASURE FILE PATHS.db: checks a file against speedscope's schema, and its sums against the
report. PATHS.db is the SQLite export of the same session; `exact`: one tick is one nanosecond."""
import json
import sys

import report

UNITS = ("bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds")


def need(condition, message):
    if not condition:
        report.fail(message)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_keys(thing, what, required, optional=()):
    need(isinstance(thing, dict), f"{what} is not an object")
    for key in required:
        need(key in thing, f"{what} lacks {key}")
    for key in thing:
        need(key in required or key in optional, f"{what} has an unknown key {key}")


def check_profile(profile, frames):
    check_keys(profile, "profile", ("type", "name", "unit", "startValue", "endValue", "samples", "weights"))
    need(profile["type"] == "sampled", "wrong type of a profile")
    need(isinstance(profile["name"], str) and profile["unit"] in UNITS, "wrong name or unit of a profile")
    need(is_number(profile["startValue"]) and is_number(profile["endValue"]), "wrong values of a profile")
    need(len(profile["samples"]) == len(profile["weights"]), "numbers of weights and samples differ")
    need(all(is_number(weight) and weight > 0 for weight in profile["weights"]), "wrong weights")
    need(profile["endValue"] - profile["startValue"] == sum(profile["weights"]), "wrong endValue")
    for sample in profile["samples"]:
        need(isinstance(sample, list) and sample, "wrong sample")
        need(all(type(frame) is int and 0 <= frame < frames for frame in sample), "wrong frame of a sample")


def check(file):
    check_keys(file, "file", ("$schema", "shared", "profiles"), ("name", "exporter", "activeProfileIndex"))
    need(file["$schema"] == "https://www.speedscope.app/file-format-schema.json", "wrong $schema")
    need(isinstance(file["name"], str) and isinstance(file["exporter"], str), "wrong name or exporter")
    need(0 <= file["activeProfileIndex"] < len(file["profiles"]), "wrong activeProfileIndex")
    check_keys(file["shared"], "shared", ("frames",))
    for frame in file["shared"]["frames"]:
        check_keys(frame, "frame", ("name",), ("file", "line", "col"))
        need(isinstance(frame["name"], str) and isinstance(frame.get("file", ""), str), "wrong name of a frame")
        need(is_number(frame.get("line", 0)), "wrong line of a frame")
    for profile in file["profiles"]:
        check_profile(profile, len(file["shared"]["frames"]))


def main(csv_path, measure, path, database):
    with open(path, encoding="utf-8") as text:
        file = json.load(text)
    check(file)
    wanted = report.by_function(csv_path)
    names = [frame["name"] for frame in file["shared"]["frames"]]
    own, inclusive = {}, {}
    for profile in file["profiles"]:
        for sample, weight in zip(profile["samples"], profile["weights"]):
            leaf = names[sample[-1]]
            own[leaf] = own.get(leaf, 0) + weight
            for frame in set(sample):
                inclusive[names[frame]] = inclusive.get(names[frame], 0) + weight
    if measure == "calls":
        report.compare(wanted, own, "calls", {})
    else:
        own_paths, inclusive_paths = report.paths_by_function(database) if database != "exact" else ({}, {})
        report.compare(wanted, own, measure, own_paths)
        report.compare(wanted, inclusive, measure.replace("_exclusive", "_inclusive"), inclusive_paths)


main(*sys.argv[1:])
