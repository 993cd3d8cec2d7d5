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
            return
        end = time + nanoseconds(event["dur"]) if event["ph"] == "X" else None
        around = next((other for other in reversed(self.ends) if other is not None), None)
        if end is not None and around is not None and end > around:
            report.fail(f"{event} ends behind the one around it")
        self.thread.begin(time, name_of(event), not event["cat"].endswith(",continued"))
        self.ends.append(end)


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
    others = {event["ph"] for event in events} - set("BEXMbeiC")
    if others:
        report.fail(f"events of the kinds {others}")
    print(len(lanes))


def show(path):
    lanes = {}
    for event in sorted((event for event in read(path)["traceEvents"] if event["ph"] != "M"),
                        key=lambda event: nanoseconds(event["ts"])):
        if event["ph"] in "BX":
            lane = lanes.setdefault((event["pid"], event["tid"]), Lane(calls.Sums()))
            lane.take(event)
            print("call", nanoseconds(event["ts"]), len(lane.ends), json.dumps(event["name"], ensure_ascii=False), event["cat"])
        elif event["ph"] == "E":
            lanes[event["pid"], event["tid"]].take(event)
        else:
            what = {key: value for key, value in event.items() if key not in ("ts", "pid")}
            print(nanoseconds(event["ts"]), json.dumps(what, ensure_ascii=False, sort_keys=True))


if sys.argv[1] == "print":
    show(sys.argv[2])
else:
    main(*sys.argv[1:])
