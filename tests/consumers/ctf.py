"""ctf.py REPORT.csv FOLDER: reads a CTF trace with babeltrace2 and compares it with the report.

It checks that calls nest, thread by thread, and add up to the report's calls and four times. It adds up ticks, so that
only the sums are rounded."""
import os
import re
import struct
import subprocess
import sys

import calls
import report

LINE = re.compile(r"^\[0*(\d+)\] (?:\S+ )?dwell:(\w+): (?:(\{ pid = .*? \}), )?\{ ?(.*?) ?\}$")
NUMBER = re.compile(r"(\w+) = (?:\( \".*\" : container = )?(\d+)")
TEXT = re.compile(r'(\w+) = "((?:[^"\\]|\\.)*)"')
LARGEST = 1 << 16  # bytes of a packet, if it has more than one event
BEGINS = {"enter", "continue"}
ENDS = {"exit", "suspend", "leave", "unended"}


def read(folder):
    """Yields (time, event, context, fields) of each event, by time."""
    lines = subprocess.run(["babeltrace2", "--clock-cycles", "--no-delta", folder], stdout=subprocess.PIPE, check=True).stdout
    for line in lines.decode("utf-8").splitlines():
        match = LINE.match(line)
        if not match:
            report.fail(f"not understood: {line}")
        time, event, context, fields = match.groups()
        yield int(time), event, context, fields


def check_packets(folder):
    """Checks that packets have the sizes in their heads, and are bounded."""
    for name in os.listdir(folder):
        if name == "metadata":
            continue
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        at = number = 0
        while at < len(data):
            magic, = struct.unpack_from("<I", data, at)
            begin, end, content, size, sequence = struct.unpack_from("<5Q", data, at + 24)
            if magic != 0xC1FC1FC1 or content != size or size % 8 or size // 8 > LARGEST or sequence != number or begin > end:
                report.fail(f"{name}: packet at {at}")
            at, number = at + size // 8, number + 1
        if at != len(data):
            report.fail(f"{name}: ends within a packet")


def flagged(sums, thread, ticks):
    """Adds a flagged interval of that length, which ends now, to the open functions."""
    names = [entry[0] for entry in thread.stack]
    for name in set(names):
        sums[name] = sums.get(name, {"inclusive": 0, "exclusive": 0})
        sums[name]["inclusive"] += ticks
    if names:
        sums[names[-1]]["exclusive"] += ticks


def main(csv_path, folder):
    with open(os.path.join(folder, "metadata"), encoding="utf-8") as file:
        frequency = int(re.search(r"\tfreq = (\d+);", file.read()).group(1))
    check_packets(folder)
    sums, os_sums, threads, functions = calls.Sums(), {}, {}, {}
    events = [(time, event, context, fields, {key: int(value) for key, value in NUMBER.findall(fields)})
              for time, event, context, fields in read(folder)]
    for _, event, _, fields, numbers in events:
        if event == "function":
            texts = dict(TEXT.findall(fields))
            functions[numbers["number"]] = texts["name"] + "@" + (os.path.basename(texts["module"]) or "[unknown]")
    for time, event, context, fields, numbers in events:
        if not context:
            continue
        thread = threads.setdefault(context, calls.Thread(sums))
        thread.at(time)
        if event in BEGINS:
            thread.begin(time, functions[numbers["function"]], event == "enter")
        elif event in ENDS:
            thread.end(time, functions[numbers["function"]])
        elif event == "os":
            flagged(os_sums, thread, numbers["ticks"])
    for thread in threads.values():
        thread.done()
    wanted, shared = report.by_function(csv_path, report.name_in_module), report.shared_names(csv_path)
    ns = lambda ticks: (ticks * 1000000000 + frequency // 2) // frequency
    for name in set(wanted) | set(sums.values):
        row, os_row = sums.values[name], os_sums.get(name, {"inclusive": 0, "exclusive": 0})
        got = {"calls": row["calls"]}
        for kind in ("inclusive", "exclusive"):
            got["elapsed_" + kind] = ns(row["elapsed_" + kind])
            got["application_" + kind] = ns(row["elapsed_" + kind] - os_row[kind])
        for key in got:
            unknown = key.startswith("application") and not report.knows_application(csv_path)
            if wanted[name][key] != got[key] and not unknown and not (name in shared and key.endswith("inclusive")):
                report.fail(f"{key} of {name}: exported {got[key]}, reported {wanted[name][key]}")
    print(len(threads))


main(*sys.argv[1:])
