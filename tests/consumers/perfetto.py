"""Reads a Perfetto trace, decoded by protoc with Perfetto's schema.

perfetto.py REPORT.csv exact|rounded FILE    checks that Perfetto can read it: references point backwards, slices nest on
                                             each track, and the calls add up to the report
perfetto.py print FILE                       prints the events and tracks, a line each"""
import ast
import gzip
import os
import re
import subprocess
import sys

import calls
import report

CLEARED, NEEDED = 1, 2
MONOTONIC = 3
LINE = re.compile(r"^ *(?:(\w+) \{|(\w+): (.*)|\})$")


def decode(path):
    """Returns a dictionary for each packet; each field is a list."""
    here = os.path.dirname(os.path.abspath(__file__))
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        data = file.read()
    protoc = subprocess.run(["protoc", "--proto_path=" + here, "--decode=perfetto.protos.Trace", here + "/perfetto_trace.proto"],
                            input=data, stdout=subprocess.PIPE, check=True)
    stack = [{}]
    for line in protoc.stdout.decode("utf-8").splitlines():
        begin, key, value = LINE.match(line).groups()
        if begin:
            stack[-1].setdefault(begin, []).append({})
            stack.append(stack[-1][begin][-1])
        elif key:
            if key.isdigit():
                report.fail(f"field {line} is not in the schema")
            stack[-1].setdefault(key, []).append(
                ast.literal_eval("b" + value).decode("utf-8") if value[0] == '"' else
                int(value) if value.lstrip("-").isdigit() else value)
        else:
            stack.pop()
    return stack[0]["packet"]


def one(message, key, default=None):
    values = message.get(key, [default])
    if len(values) != 1:
        report.fail(f"{key} {len(values)} times in {message}")
    return values[0]


class Trace:
    def __init__(self, sums):
        self.sums, self.sequences, self.tracks, self.threads, self.lanes = sums, {}, {}, set(), {}
        self.flows, self.counters, self.instants, self.printed = {}, {}, [], []

    def sequence(self, packet):
        number = one(packet, "trusted_packet_sequence_id", 0)
        flags = one(packet, "sequence_flags", 0)
        if not number:
            report.fail(f"no sequence: {packet}")
        if flags & CLEARED:
            if number in self.sequences or not one(packet, "first_packet_on_sequence"):
                report.fail(f"sequence {number} begins twice")
            defaults = one(packet, "trace_packet_defaults", {})
            if one(defaults, "timestamp_clock_id") != MONOTONIC:
                report.fail("times are not of CLOCK_MONOTONIC")
            self.sequences[number] = {"names": {}, "categories": {}, "locations": {}, "defaults": defaults}
        if not flags & NEEDED or number not in self.sequences:
            report.fail(f"{packet} is dropped by readers: its sequence has not begun")
        return self.sequences[number]

    def intern(self, sequence, data):
        for key, table, value in (("event_names", "names", "name"), ("event_categories", "categories", "name"),
                                  ("source_locations", "locations", "file_name")):
            for entry in data.get(key, []):
                iid = one(entry, "iid")
                if not iid or iid in sequence[table]:
                    report.fail(f"{key} {iid} is zero, or there twice")
                sequence[table][iid] = one(entry, value)

    def describe(self, track):
        uuid, parent = one(track, "uuid", 0), one(track, "parent_uuid")
        if not uuid or uuid in self.tracks or (parent is not None and parent not in self.tracks):
            report.fail(f"track {track}: invalid uuid or parent")
        self.tracks[uuid] = track
        if "thread" in track:
            self.threads.add(uuid)
            thread = track["thread"][0]
            process = self.tracks[parent]["process"][0]
            if one(thread, "pid") != one(process, "pid"):
                report.fail(f"{thread} belongs to {process}")
        kind = next((key for key in ("process", "thread", "counter") if key in track), "slices")
        names = [one(track.get(key, [{}])[0], key + "_name") for key in ("process", "thread")]
        self.printed.append(f"track {kind} {one(track, 'name') or names[0] or names[1]!r}")

    def label(self, uuid):
        """The number of the track's thread or process."""
        track = self.tracks[uuid]
        return one(track["thread"][0], "tid") if "thread" in track else one(track["process"][0], "pid")

    def event(self, sequence, packet, event):
        time = one(packet, "timestamp")
        default = one(one(sequence["defaults"], "track_event_defaults", {}), "track_uuid")
        uuid = one(event, "track_uuid", default)
        if uuid not in self.tracks:
            report.fail(f"{event} has no track")
        track, type_ = self.tracks[uuid], one(event, "type")
        iid = one(event, "name_iid")
        name = one(event, "name") if iid is None else sequence["names"][iid]
        categories = [sequence["categories"][number] for number in event.get("category_iids", [])]
        if "source_location_iid" in event and one(event, "source_location_iid") not in sequence["locations"]:
            report.fail(f"{event}: unknown source location")
        if ("counter" in track) != (type_ == "TYPE_COUNTER"):
            report.fail(f"{event} on {track}")
        if type_ == "TYPE_COUNTER":
            self.counters.setdefault((uuid, one(track, "name")), []).append((time, one(event, "counter_value")))
        elif type_ == "TYPE_INSTANT":
            notes = {one(note, "name"): one(note, "uint_value", one(note, "string_value"))
                     for note in event.get("debug_annotations", [])}
            self.instants.append((time, name, notes))
            for flow in event.get("flow_ids", []):
                self.flows.setdefault(flow, [None, None])[0] = (time, uuid)
            for flow in event.get("terminating_flow_ids", []):
                self.flows.setdefault(flow, [None, None])[1] = (time, uuid)
        else:
            sums = self.sums if uuid in self.threads else calls.Sums()
            lane = self.lanes.setdefault(uuid, calls.Thread(sums))
            if type_ == "TYPE_SLICE_BEGIN":
                lane.begin(time, f"{name}@{categories[0]}" if categories else name, "continued" not in categories)
                self.printed.append(f"slice {len(lane.stack)} {name!r} {categories}")
            elif type_ == "TYPE_SLICE_END":
                lane.end(time)
            else:
                report.fail(f"{event}: unknown type")

    def read(self, packets):
        first = packets[0]
        clocks = {one(clock, "clock_id"): one(clock, "timestamp") for clock in first["clock_snapshot"][0]["clocks"]}
        if sorted(clocks) != [1, 3, 6] or one(first["clock_snapshot"][0], "primary_trace_clock") != "BUILTIN_CLOCK_MONOTONIC":
            report.fail(f"wrong clocks: {first}")
        self.start = clocks[MONOTONIC]
        for packet in packets:
            sequence = self.sequence(packet)
            for data in packet.get("interned_data", []):
                self.intern(sequence, data)
            for track in packet.get("track_descriptor", []):
                self.describe(track)
            for event in packet.get("track_event", []):
                self.event(sequence, packet, event)
        for lane in self.lanes.values():
            lane.done()
        for flow, ends in self.flows.items():
            if None in ends or ends[0][0] > ends[1][0] or ends[0][1] == ends[1][1]:
                report.fail(f"flow {flow}: {ends}")


def check_counters(trace, csv_path):
    """Compares the last values of counters that add up with the report."""
    rows = report.read(csv_path)
    faults = sum(values[-1][1] for (_, name), values in trace.counters.items() if name == "page faults")
    want = sum(int(row["page_faults_exclusive"] or 0) for row in rows)
    outside = faults - want  # those in intervals in which no function was open
    if outside < 0:
        report.fail(f"{faults} page faults, reported {want}")
    for (_, name), values in trace.counters.items():
        if name in ("page faults", "blocked") and any(a[1] > b[1] for a, b in zip(values, values[1:])):
            report.fail(f"{name} falls")


def main(csv_path, exactness, path):
    trace = Trace(calls.Sums())
    trace.read(decode(path))
    trace.sums.compare(csv_path, exactness == "exact")
    check_counters(trace, csv_path)
    print(len([uuid for uuid in trace.lanes if uuid in trace.threads]))
    print(f"{len(trace.flows)} flows", file=sys.stderr)


def show(path):
    trace = Trace(calls.Sums())
    trace.read(decode(path))
    print("\n".join(trace.printed))
    for time, name, notes in trace.instants:
        print("instant", repr(name), notes)
    for (_, name), values in trace.counters.items():
        print("counter", name, [value for _, value in values])
    for (begin, first), (end, last) in trace.flows.values():
        print("flow", begin - trace.start, trace.label(first), end - trace.start, trace.label(last))


if sys.argv[1] == "print":
    show(sys.argv[2])
else:
    main(*sys.argv[1:])
