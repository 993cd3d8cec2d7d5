"""Reads Chrome's trace events like about:tracing and Perfetto: by time, equal times in the order of the file.

chrome.py REPORT.csv exact|rounded FILE    checks that calls nest and add up to the report
chrome.py print FILE                       prints the other events, and the depth of each call"""
import decimal
import gzip
import json
import sys

import calls
import report


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8") as text:
        return json.load(text, parse_float=decimal.Decimal)


def nanoseconds(value):
    thousandths = decimal.Decimal(value) * 1000
    if thousandths != int(thousandths):
        report.fail(f"{value} is no whole number of nanoseconds")
    return int(thousandths)


def name_of(event):
    return event["name"] + "@" + event["cat"].removesuffix(",continued")


class Lane:
    """A thread's events. A complete event ends when another one begins at its end or later."""

    def __init__(self, sums):
        self.thread, self.ends = calls.Thread(sums), []  # None: a separate event ends the slice
        self.open, self.slices = [], []

    def finish(self, time):
        while self.ends and self.ends[-1] is not None and self.ends[-1] <= time:
            self.thread.end(self.ends.pop())

    def take(self, event):
        time = nanoseconds(event["ts"])
        self.finish(time)
        if event["ph"] == "E":
            if not self.ends or self.ends.pop() is not None:
                report.fail(f"an end at {time} within a complete event")
            self.thread.end(time)
            self.slices.append((self.open.pop(), time))
            return
        end = time + nanoseconds(event["dur"]) if event["ph"] == "X" else None
        around = next((other for other in reversed(self.ends) if other is not None), None)
        if end is not None and around is not None and end > around:
            report.fail(f"{event} ends behind the one around it")
        self.thread.begin(time, name_of(event), not event["cat"].endswith(",continued"))
        self.ends.append(end)
        if end is None:
            self.open.append(time)
        else:
            self.slices.append((time, end))


def check_pairs(events):
    """Asynchronous events with the same id: each ends before the next begins."""
    open_ = {}
    for event in events:
        key = (event["pid"], event["id2"]["local"])
        if event["ph"] == "b":
            if open_.get(key):
                report.fail(f"{event} within {open_[key]}")
            open_[key] = event
        else:
            begin = open_.pop(key, None)
            if not begin or begin["name"] != event["name"] or begin["tid"] != event["tid"]:
                report.fail(f"{event} ends {begin}")
    if open_:
        report.fail(f"{open_} never end")


def check_flows(events, slices):
    """Each flow has a begin and an end, in this order, and each of them lies in a slice of its thread."""
    flows = {}
    for event in events:
        key, where, time = event["id"], (event["pid"], event["tid"]), nanoseconds(event["ts"])
        ends = flows.setdefault(key, {})
        if event["ph"] in ends or (event["ph"] == "f" and event["bp"] != "e"):
            report.fail(f"{event} is there twice, or not bound to the slice around it")
        if not any(begin <= time < end or begin == time == end for begin, end in slices.get(where, [])):
            report.fail(f"{event} is in no slice")
        ends[event["ph"]] = time
    for key, ends in flows.items():
        if sorted(ends) != ["f", "s"] or ends["s"] > ends["f"]:
            report.fail(f"flow {key}: {ends}")
    return len(flows)


def main(csv_path, exactness, path):
    file = read(path)
    sums, lanes = calls.Sums(), {}
    events = file["traceEvents"]
    named = {(event["pid"], event["tid"]) for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    for event in sorted((event for event in events if event["ph"] in "BEX"), key=lambda event: nanoseconds(event["ts"])):
        if event["ph"] in "BX" and "args" in event:
            report.fail("args make each call a function of its own in speedscope")
        where = (event["pid"], event["tid"])
        if where not in named:
            report.fail(f"{where} has no name")
        lanes.setdefault(where, Lane(sums)).take(event)
    for lane in lanes.values():
        lane.finish(1 << 64)
        lane.thread.done()
    check_pairs([event for event in events if event["ph"] in "be"])
    sums.compare(csv_path, exactness == "exact")
    flows = check_flows([event for event in events if event["ph"] in "sf"],
                        {where: lane.slices for where, lane in lanes.items()})
    others = {event["ph"] for event in events} - set("BEXMbeiCsf")
    if others:
        report.fail(f"events of the kinds {others}")
    print(len(lanes))
    print(f"{flows} flows", file=sys.stderr)


def show(path):
    lanes, flows = {}, {}
    for event in sorted((event for event in read(path)["traceEvents"] if event["ph"] != "M"),
                        key=lambda event: nanoseconds(event["ts"])):
        if event["ph"] in "BX":
            lane = lanes.setdefault((event["pid"], event["tid"]), Lane(calls.Sums()))
            lane.take(event)
            print("call", nanoseconds(event["ts"]), len(lane.ends), json.dumps(event["name"], ensure_ascii=False), event["cat"])
        elif event["ph"] == "E":
            lanes[event["pid"], event["tid"]].take(event)
        elif event["ph"] in "sf":
            flows.setdefault(event["id"], []).append(f'{nanoseconds(event["ts"])} {event["tid"]}')
        else:
            what = {key: value for key, value in event.items() if key not in ("ts", "pid")}
            print(nanoseconds(event["ts"]), json.dumps(what, ensure_ascii=False, sort_keys=True))
    for ends in flows.values():
        print("flow", *ends)


if sys.argv[1] == "print":
    show(sys.argv[2])
else:
    main(*sys.argv[1:])
