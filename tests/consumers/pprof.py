"""Reads pprof's format by its description, without a protobuf library.

pprof.py compare REPORT.csv FILE   compares the sums of the samples with the report
pprof.py print FILE                prints everything, a line for each sample"""
import gzip
import json
import sys

import report

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Yields (number, value) of each field; a value is an integer or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = varint(data, at)
        elif kind == BYTES:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
            if len(value) != length:
                report.fail("a field is longer than its message")
        else:
            report.fail(f"wire type {kind}")
        yield tag >> 3, value


def numbers(value):
    """Of a repeated field: packed or alone."""
    if isinstance(value, int):
        return [value]
    at, list_ = 0, []
    while at < len(value):
        number, at = varint(value, at)
        list_.append(number)
    return list_


def message(data, names, repeated=()):
    """A dictionary with zero, or an empty list, for what is not there."""
    result = {name: [] if name in repeated else 0 for name in names.values()}
    for number, value in fields(data):
        if number not in names:
            report.fail(f"field {number} is none of {names}")
        if names[number] in repeated:
            result[names[number]].append(value)
        else:
            result[names[number]] = value
    return result


PROFILE = {1: "sample_type", 2: "sample", 3: "mapping", 4: "location", 5: "function", 6: "string_table", 9: "time_nanos",
           10: "duration_nanos", 11: "period_type", 12: "period", 13: "comment", 14: "default_sample_type"}
VALUE_TYPE = {1: "type", 2: "unit"}
SAMPLE = {1: "location_id", 2: "value", 3: "label"}
LABEL = {1: "key", 2: "str", 3: "num", 4: "num_unit"}
MAPPING = {1: "id", 2: "memory_start", 3: "memory_limit", 4: "file_offset", 5: "filename", 6: "build_id",
           7: "has_functions", 8: "has_filenames", 9: "has_line_numbers", 10: "has_inline_frames"}
LOCATION = {1: "id", 2: "mapping_id", 3: "address", 4: "line"}
LINE = {1: "function_id", 2: "line"}
FUNCTION = {1: "id", 2: "name", 3: "system_name", 4: "filename", 5: "start_line"}


def by_id(entries, names, repeated=()):
    found = {}
    for entry in entries:
        entry = message(entry, names, repeated)
        if entry["id"] == 0 or entry["id"] in found:
            report.fail(f"id {entry['id']} is zero or not unique")
        found[entry["id"]] = entry
    return found



class Profile:
    """The contents of a file, with texts and functions instead of their numbers."""

    def __init__(self, path):
        with gzip.open(path) as file:
            raw = message(file.read(), PROFILE, ("sample_type", "sample", "mapping", "location", "function",
                                                 "string_table", "comment"))
        self.strings = [text.decode("utf-8") for text in raw["string_table"]]
        if self.strings[0] != "":
            report.fail("text 0 is not empty")
        text = self.strings.__getitem__
        types = [message(entry, VALUE_TYPE) for entry in raw["sample_type"]]
        self.types = [(text(entry["type"]), text(entry["unit"])) for entry in types]
        self.default = text(raw["default_sample_type"])
        self.comments = [text(number) for entry in raw["comment"] for number in numbers(entry)]
        self.time, self.duration = raw["time_nanos"], raw["duration_nanos"]
        mappings = by_id(raw["mapping"], MAPPING)
        self.mappings = [(text(entry["filename"]), text(entry["build_id"])) for entry in mappings.values()]
        functions = by_id(raw["function"], FUNCTION)
        self.locations = {}
        for number, location in by_id(raw["location"], LOCATION, ("line",)).items():
            (line,) = [message(entry, LINE) for entry in location["line"]]
            function, mapping = functions[line["function_id"]], mappings[location["mapping_id"]]
            if not mapping["memory_start"] <= location["address"] < mapping["memory_limit"]:
                report.fail("a location lies outside its mapping")
            self.locations[number] = {
                "name": text(function["name"]), "system_name": text(function["system_name"]),
                "file": text(function["filename"]), "line": line["line"], "module": text(mapping["filename"]),
            }
        self.samples = [self.sample(message(entry, SAMPLE, tuple(SAMPLE.values()))) for entry in raw["sample"]]

    def sample(self, raw):
        """Returns (functions with the outermost first, values, labels)."""
        path = [self.locations[number] for entry in raw["location_id"] for number in numbers(entry)][::-1]
        values = [number for entry in raw["value"] for number in numbers(entry)]
        if not path or len(values) != len(self.types) or not any(values):
            report.fail("a sample without path or values")
        labels = [message(entry, LABEL) for entry in raw["label"]]
        return path, values, {self.strings[e["key"]]: self.strings[e["str"]] or e["num"] for e in labels}


def compare(csv_path, path):
    profile, wanted = Profile(path), report.by_function(csv_path)
    threads = {(labels["pid"], labels["tid"]) for _, _, labels in profile.samples}
    if profile.types[:2] != [("calls", "count"), ("elapsed", "nanoseconds")] or profile.default != "elapsed":
        report.fail(f"sample types {profile.types}, {profile.default}")
    for i, (kind, _) in enumerate(profile.types):
        own, inclusive, paths = {}, {}, {}
        for functions, values, _ in profile.samples:
            names = [function["name"] for function in functions]
            own[names[-1]] = own.get(names[-1], 0) + values[i]
            for name in set(names):
                inclusive[name] = inclusive.get(name, 0) + values[i]
                paths[name] = paths.get(name, 0) + 1
        if kind == "calls":
            report.compare(wanted, own, "calls", {})
        elif kind != "blocked":
            report.compare(wanted, own, kind + "_exclusive", paths)
            report.compare(wanted, inclusive, kind + "_inclusive", paths)
    print(len(threads))


def print_all(path):
    profile = Profile(path)
    print("types", profile.types, "default", profile.default)
    print("time", profile.time, "duration", profile.duration, "comments", profile.comments)
    for mapping in profile.mappings:
        print("mapping", *mapping)
    for location in profile.locations.values():
        print("function", json.dumps(location, ensure_ascii=False))
    for functions, values, labels in profile.samples:
        print("sample", values, json.dumps(labels, ensure_ascii=False),
              json.dumps([function["name"] for function in functions], ensure_ascii=False))


{"compare": compare, "print": print_all}[sys.argv[1]](*sys.argv[2:])
