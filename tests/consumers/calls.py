"""Slices of formats of single calls: checks that they nest, thread by thread, and adds them up."""
import report


class Sums:
    """Calls, elapsed inclusive and exclusive times by "function@module"; recursion counts once in inclusive times.

    `pieces` counts the differences of times in each sum. Each of them can be off by the rounding of both times."""

    def __init__(self):
        self.values = {}
        self.pieces = {"calls": {}, "elapsed_inclusive": {}, "elapsed_exclusive": {}}

    def add(self, name, key, value, pieces=1):
        row = self.values.setdefault(name, {"calls": 0, "elapsed_inclusive": 0, "elapsed_exclusive": 0})
        row[key] += value
        self.pieces[key][name] = self.pieces[key].get(name, 0) + pieces

    def compare(self, csv_path, exact, keys=("calls", "elapsed_inclusive", "elapsed_exclusive")):
        wanted = report.by_function(csv_path, report.name_in_module)
        shared = report.shared_names(csv_path)
        for key in keys:
            got = {name: row[key] for name, row in self.values.items()}
            rounding = {} if exact or key == "calls" else self.pieces[key]
            for name in (set(wanted) | set(got)) - (shared if key == "elapsed_inclusive" else set()):
                have, want = got.get(name, 0), wanted.get(name, {}).get(key, 0)
                if abs(have - want) > rounding.get(name, 0):
                    report.fail(f"{key} of {name}: exported {have}, reported {want}")
            if not any(got.values()):
                report.fail(f"{key}: all values are zero")


class Thread:
    """A thread's stack of slices. Times are integers in any unit."""

    def __init__(self, sums):
        self.sums, self.stack, self.last, self.slices = sums, [], None, 0

    def at(self, time):
        if self.last is not None and time < self.last:
            report.fail(f"time runs backwards, from {self.last} to {time}")
        self.last = time

    def begin(self, time, name, is_call=True):
        self.at(time)
        self.stack.append([name, time, 0, 1])
        self.slices += 1
        if is_call:
            self.sums.add(name, "calls", 1)

    def end(self, time, name=None):
        self.at(time)
        if not self.stack:
            report.fail("an end without a begin")
        begun, begin, below, pieces = self.stack.pop()
        if name is not None and name != begun:
            report.fail(f"the end of {name} ends {begun}")
        length = time - begin
        self.sums.add(begun, "elapsed_exclusive", length - below, pieces)
        if self.stack:
            self.stack[-1][2] += length
            self.stack[-1][3] += 1
        if all(entry[0] != begun for entry in self.stack):
            self.sums.add(begun, "elapsed_inclusive", length)

    def done(self):
        if self.stack:
            report.fail(f"{[entry[0] for entry in self.stack]} never end")
