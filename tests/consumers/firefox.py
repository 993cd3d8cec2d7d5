"""Reads a Firefox profile.

firefox.py REPORT.csv exact|rounded FILE    checks the tables, and that the samples add up to the report's four times
firefox.py REPORT.csv exact|rounded FILE profiler    also compares elapsed times in the Firefox Profiler (profiler-cli)
firefox.py print FILE    prints the functions' names and places, and each thread's markers in the Firefox Profiler"""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import report

PATIENCE = 250  # seconds: the machine may be busy
HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = {
    "stackTable": ("frame", "prefixOffset"),
    "frameTable": ("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line",
                   "column", "originalLocation"),
    "funcTable": ("name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber", "originalLocation"),
    "resourceTable": ("lib", "name", "host", "type"),
    "nativeSymbols": ("libIndex", "address", "name", "functionSize"),
    "sources": ("id", "filename", "startLine", "startColumn", "sourceMapURL", "content"),
    "sourceLocationTable": ("source", "line", "column"),
}
SAMPLES = ("time", "stack", "weight")
MARKERS = ("data", "name", "startTime", "endTime", "phase", "category")


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8") as text:
        return json.load(text)


def check_table(what, table, columns, extra=()):
    if sorted(table) != sorted(columns + ("length",) + extra):
        report.fail(f"{what} has {sorted(table)}")
    for column in columns:
        if len(table[column]) != table["length"]:
            report.fail(f"{what}.{column}: {len(table[column])} values, not {table['length']}")


def check_index(what, values, length):
    for value in values:
        if value is not None and value != -1 and not 0 <= value < length:
            report.fail(f"{what}: {value} of {length}")


def check_cpu(profile, samples):
    """The CPU time between two samples is that of the first one's interval: all of it, or none."""
    if "threadCPUDelta" not in samples:
        return
    if profile["meta"]["sampleUnits"]["threadCPUDelta"] != "ns" or len(samples["threadCPUDelta"]) != samples["length"]:
        report.fail("threadCPUDelta has another unit or length")
    stacks, before = Stacks(profile), None
    for stack, weight, cpu in zip(samples["stack"], samples["weight"], samples["threadCPUDelta"]):
        if cpu != before:
            report.fail(f"threadCPUDelta {cpu}, not {before}")
        before = 0 if stacks.category(stack) in ("Idle", "Preempted") else round(weight * 1e6)


def check(profile):
    shared, categories = profile["shared"], profile["meta"]["categories"]
    if profile["meta"]["preprocessedProfileVersion"] != 66 or not any(c["color"] == "grey" for c in categories):
        report.fail(f"meta {profile['meta']}")
    for name, columns in TABLES.items():
        check_table(name, shared[name], columns)
    strings = len(shared["stringArray"])
    check_index("frame", shared["stackTable"]["frame"], shared["frameTable"]["length"])
    for row, offset in enumerate(shared["stackTable"]["prefixOffset"]):
        if not 0 <= offset <= row:
            report.fail(f"stack {row}: its parent is {offset} above")
    check_index("category", shared["frameTable"]["category"], len(categories))
    check_index("func", shared["frameTable"]["func"], shared["funcTable"]["length"])
    check_index("name", shared["funcTable"]["name"], strings)
    check_index("resource", shared["funcTable"]["resource"], shared["resourceTable"]["length"])
    check_index("source", shared["funcTable"]["source"], shared["sources"]["length"])
    check_index("lib", shared["resourceTable"]["lib"], len(profile["libs"]))
    check_index("filename", shared["sources"]["filename"], strings)
    for thread in profile["threads"]:
        samples = thread["samples"]
        check_cpu(profile, samples)
        check_table("samples", samples, SAMPLES, ("weightType",) + (("threadCPUDelta",) if "threadCPUDelta" in samples else ()))
        check_table("markers", thread["markers"], MARKERS)
        check_index("stack", samples["stack"], shared["stackTable"]["length"])
        check_index("marker", thread["markers"]["name"], strings)
        ends = [begin + weight for begin, weight in zip(samples["time"], samples["weight"])]
        if samples["weightType"] != "tracing-ms" or any(end > begin + 1e-9 for end, begin in zip(ends, samples["time"][1:])):
            report.fail("samples that overlap")


class Stacks:
    """The functions of each stack, as name@module, and its category."""

    def __init__(self, profile):
        shared = profile["shared"]
        strings, frames, functions = shared["stringArray"], shared["frameTable"], shared["funcTable"]
        self.names = [strings[name] + "@" + (profile["libs"][shared["resourceTable"]["lib"][resource]]["name"] if resource >= 0 else "[unknown]")
                      for name, resource in zip(functions["name"], functions["resource"])]
        self.frames, self.frame_functions, self.offsets = shared["stackTable"]["frame"], frames["func"], shared["stackTable"]["prefixOffset"]
        self.categories = [profile["meta"]["categories"][category]["name"] for category in frames["category"]]
        self.known = {}

    def category(self, stack):
        return self.categories[self.frames[stack]]

    def path(self, stack):
        """The functions of the stack, the innermost first."""
        if stack not in self.known:
            path, at = [], stack
            while True:
                path.append(self.names[self.frame_functions[self.frames[at]]])
                if not self.offsets[at]:
                    break
                at -= self.offsets[at]
            self.known[stack] = path
        return self.known[stack]


def add_up(profile):
    """Returns {name: {key: ns}} and {name: number of samples with it}."""
    stacks, sums, counts = Stacks(profile), {}, {}
    for thread in profile["threads"]:
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            ns, path = round(weight * 1e6), stacks.path(stack)
            kinds = ("elapsed",) + (("application",) if stacks.category(stack) == "Application" else ())
            for name in set(path):
                row = sums.setdefault(name, dict.fromkeys(report.TIMES, 0))
                counts[name] = counts.get(name, 0) + 1
                for kind in kinds:
                    row[kind + "_inclusive"] += ns
                    row[kind + "_exclusive"] += ns if name == path[0] else 0
    return sums, counts


class Profiler:
    """The Firefox Profiler, which runs in a process of its own."""

    def __init__(self, path):
        self.folder = tempfile.TemporaryDirectory()
        self.environment = dict(os.environ, PROFILER_CLI_SESSION_DIR=self.folder.name, PROFILER_CLI_NO_SYMBOLICATE="1",
                                HOME=self.folder.name)
        self.daemon = subprocess.Popen(self.command("--daemon", os.path.abspath(path)), env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def command(self, *words):
        return [HERE + "/node", HERE + "/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js", *words,
                "--session", "test"]

    def ask(self, *words):
        return subprocess.run(self.command(*words), env=self.environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              check=True, timeout=PATIENCE).stdout.decode("utf-8")

    def is_ready(self):
        """A request that comes too early may never be answered."""
        if not os.path.exists(self.folder.name + "/test.sock"):
            return False
        try:
            return not subprocess.run(self.command("status"), env=self.environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=30).returncode
        except subprocess.TimeoutExpired:
            return False

    def __enter__(self):
        deadline = time.monotonic() + PATIENCE
        while not self.is_ready():
            if self.daemon.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                report.fail("the Firefox Profiler does not load the file")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.daemon.kill()
        self.daemon.wait()
        self.folder.cleanup()

    def functions(self, thread):
        return json.loads(self.ask("thread", "functions", "--thread", f"t-{thread}", "--include-idle", "--limit", "0", "--json"))["functions"]

    def markers(self, thread):
        return json.loads(self.ask("thread", "markers", "--thread", f"t-{thread}", "--list", "--limit", "0", "--json"))


def compare(wanted, got, key, counts, but=()):
    for name in (set(wanted) | set(got)) - set(but):
        have, want = got.get(name, 0), wanted.get(name, {}).get(key, 0)
        if abs(have - want) > counts.get(name, 0):
            report.fail(f"{key} of {name}: exported {have}, reported {want}")


def ask_profiler(path, threads, wanted, counts):
    own, total = {}, {}
    with Profiler(path) as profiler:
        for thread in range(threads):
            for function in profiler.functions(thread):
                name = function["name"] + "@" + function.get("library", "[unknown]")
                own[name] = own.get(name, 0) + round(function["selfSamples"] * 1e6)
                total[name] = total.get(name, 0) + round(function["totalSamples"] * 1e6)
    compare(wanted, own, "elapsed_exclusive", counts)
    compare(wanted, total, "elapsed_inclusive", counts)
    if not any(own.values()):
        report.fail("the profiler reports zeros only")


def main(csv_path, exactness, path, asked=None):
    profile = read(path)
    check(profile)
    wanted = report.by_function(csv_path, report.name_in_module)
    sums, counts = add_up(profile)
    if exactness == "exact":
        counts = {}
    shared = report.shared_names(csv_path)
    for key in report.TIMES:
        compare(wanted, {name: row[key] for name, row in sums.items()}, key, counts, shared if key.endswith("inclusive") else ())
    if asked:
        ask_profiler(path, len(profile["threads"]), wanted, counts)
    print(len(profile["threads"]))


def show(path):
    profile = read(path)
    check(profile)
    functions, strings = profile["shared"]["funcTable"], profile["shared"]["stringArray"]
    for name, source, line in zip(functions["name"], functions["source"], functions["lineNumber"]):
        file = None if source is None else strings[profile["shared"]["sources"]["filename"][source]]
        print("function", json.dumps([strings[name], file, line], ensure_ascii=False))
    for thread in profile["threads"]:
        print("thread", json.dumps([thread["processName"], thread["pid"], thread["name"], thread["tid"]], ensure_ascii=False))
    if not any(thread["markers"]["length"] for thread in profile["threads"]):
        return
    with Profiler(path) as profiler:
        for number, thread in enumerate(profile["threads"]):
            if not thread["markers"]["length"]:
                continue
            listed = profiler.markers(number)
            markers = listed.get("flatMarkers") or listed.get("markers") or []
            if len(markers) != thread["markers"]["length"]:
                report.fail(f"{thread['markers']['length']} markers, the Firefox Profiler has {len(markers)}: {list(listed)}")
            for data in thread["markers"]["data"]:
                print("marker", json.dumps(data, ensure_ascii=False, sort_keys=True))


if sys.argv[1] == "print":
    show(sys.argv[2])
else:
    main(*sys.argv[1:])
