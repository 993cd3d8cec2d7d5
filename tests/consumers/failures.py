"""failures.py BUILD FOLDER[:PART/PARTS] [each] COMMAND...: system calls and allocations of dwell fail, one in each run or from one on.

Every run must end by itself, with success and the usual output, or with an error status and a line that says why. It
must not crash, change its input, or lose an older output. `dwell record` keeps the status and the output of the program
from its start on. Of the calls, some are sampled, at a fixed stride: more with TEST_ROUNDS=all, and with
DWELL_FAILURES=all each of them. With `each`, each read, write and close of a file fails in one run. Most of record-late
is waiting, so it can be divided among several of these programs."""
import errno
import os
import platform
import re
import shutil
import subprocess
import sys

BUILD, FOLDER = sys.argv[1], sys.argv[2].partition(":")[0]
PART, PARTS = map(int, (sys.argv[2].partition(":")[2] or "0/1").split("/"))
DWELL = BUILD + "/analyzer/dwell"
FAIL = BUILD + "/tests/e2e/programs/scarcity/fail"
NOMEMORY = BUILD + "/tests/e2e/programs/scarcity/libnomemory.so"
FIB = [BUILD + "/samples/fib", "5"]
ALL = os.environ.get("DWELL_FAILURES") == "all"
SAMPLES = 14 if os.environ.get("TEST_ROUNDS") == "all" else 4  # of each kind
LATE_STRIDE = 2 if SAMPLES > 4 else 7
ERRORS = [errno.EIO, errno.ENOMEM, errno.ENOSPC, errno.EINTR, errno.EAGAIN, errno.EMFILE, errno.EACCES]
LASTING = [error for error in ERRORS if error != errno.EINTR]
TRANSFERS = [0, 1, 3, 17, 18, 20]  # read, write, close, pread64, pwrite64, writev
if platform.machine() == "aarch64":
    TRANSFERS = [63, 64, 57, 67, 68, 66]
SECONDS = 150  # only a hang takes that long, on a busy machine too

# What a command reads is never changed; what it writes is there before.
INPUTS = ["one.data", "two.data", "report_CallTreeSummary.csv"]
COMMANDS = {
    "report": (["report", "one.data"], None),
    "tree": (["tree", "--format", "csv", "one.data"], None),
    "callers": (["callers", "--format", "json", "one.data", "fib"], None),
    "replay": (["replay", "one.data"], None),
    "events": (["events", "-o", "out", "one.data"], "out"),
    "info": (["info", "one.data"], None),
    "diff": (["diff", "one.data", "two.data"], None),
    "merge": (["merge", "one.data", "two.data", "-o", "merged.data"], "merged.data"),
    "profile": (["profile", "one.data", "-o", "sums.data"], "sums.data"),
    "import": (["import", "vsperf", "--resolution", "1000", "report_CallTreeSummary.csv", "-o", "imported.data"],
               "imported.data"),
    "view": (["view", "--no-open", "-o", "page.html", "one.data"], "page.html"),
    "perflog": (["perflog", "app.log"], None),
    "record": (["record", "-o", "recorded.data", *FIB], "recorded.data"),
    "record-samples": (["record", "--sample", "1000", "-o", "recorded.data", *FIB], "recorded.data"),
    "record-profile": (["record", "--mode", "profile", "-o", "recorded.data", *FIB], "recorded.data"),
    "record-ring": (["record", "--mode", "ring=1M", "-o", "recorded.data", *FIB], "recorded.data"),
    "record-late": (["record", "-o", "recorded.data", "sh", "-c", "sleep 0.2; " + " ".join(FIB)], "recorded.data"),
    "callgrind": (["export", "callgrind", "-o", "out", "one.data"], "out"),
    "collapsed": (["export", "collapsed", "-o", "out.gz", "one.data"], "out.gz"),
    "pprof": (["export", "pprof", "-o", "out", "one.data"], "out"),
    "speedscope": (["export", "speedscope", "-o", "out", "one.data"], "out"),
    "chrome": (["export", "chrome", "-o", "out", "one.data"], "out"),
    "perfetto": (["export", "perfetto", "-o", "out", "one.data"], "out"),
    "firefox": (["export", "firefox", "-o", "out", "one.data"], "out"),
    "perflog-export": (["export", "perflog", "-o", "out", "one.data"], "out"),
    "vsperf": (["export", "vsperf", "-o", "v", "one.data"], "v_CallTreeSummary.csv"),
    "sqlite": (["export", "sqlite", "-o", "out.db", "one.data"], "out.db"),
    "ctf": (["export", "ctf", "-o", "out.ctf", "one.data"], "out.ctf/metadata"),
    "stdout": (["export", "callgrind", "one.data"], None),
}
CLEAN = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": "/nonexistent", "HOME": "/nonexistent",
         "DWELL_OS_CALLS": "off"}
# Sessions keep the older one under another name.
OLDER = {name + ending for name in ("recorded.data", "merged.data", "imported.data", "sums.data") for ending in (".old", ".earlier")}
SAME = ["events", "profile", "callgrind", "pprof", "speedscope", "chrome", "perfetto", "firefox", "perflog-export", "vsperf"]
wrong = []


def content(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def run(words, variables=None):
    """(status, stdout, stderr) in the folder; the status is None if it takes too long, and negative for a signal."""
    try:
        done = subprocess.run(words, env={**CLEAN, **(variables or {})}, cwd=FOLDER, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        return None, late.stdout or b"", late.stderr or b""
    return done.returncode, done.stdout, done.stderr


def path(name):
    return os.path.join(FOLDER, name)


def prepare_with(words):
    """The result of a usual run, which must succeed."""
    result = run([DWELL, *words])
    if result[0] != 0:
        sys.exit(f"{words} fails: status {result[0]}, stderr {result[2]!r}")
    return result


def prepare():
    for name in INPUTS[:2]:
        prepare_with(["record", "-q", "-o", name, *FIB])
    prepare_with(["export", "vsperf", "-o", "report", "one.data"])
    with open(path("app.log"), "w", encoding="utf-8") as file:
        file.write("## PERF ## REGISTERED APP [a] PROCCESSID [0x1]\n## PERF ## RESOLUTION [1000] TICKS PER SECOND\n"
                   "## PERF ## REGISTERED MARKER [m] AS [1] BY APP [a]\n## PERF ## APP [a] EVT [1] DUR [5]\n")


class Trial:
    """The runs of one command."""

    def __init__(self, name):
        self.name = name
        self.words, self.output = COMMANDS[name]
        self.usual = prepare_with(self.words)
        self.newer = content(path(self.output)) if self.output else None
        self.older = self.newer  # a session or a page; other files may hold anything
        if self.output in ("out", "out.gz", "v_CallTreeSummary.csv"):
            self.older = b"precious"
        self.restore()
        self.inputs = {name: content(path(name)) for name in INPUTS}
        self.files = set(os.listdir(FOLDER))

    def restore(self):
        if self.output:
            with open(path(self.output), "wb") as file:
                file.write(self.older)

    def complain(self, what, result, how):
        wrong.append(f"{self.name}: {how}: {what}: status {result[0]}, stderr {result[2][-300:]!r}")

    def check(self, result, how):
        status, out, err = result
        lines = err.decode(errors="replace").splitlines()
        ours = [line for line in lines if line.startswith("dwell: ")]
        if status is None:
            self.complain("hangs", result, how)
        elif status < 0 or status >= 128:
            self.complain("ends by a signal", result, how)
        elif status == 99 or b"runtime error" in err or b"Assertion" in err:
            self.complain("breaks", result, how)
        elif status != 0 and not ours and not self.name.startswith("record"):
            self.complain("no message", result, how)
        elif len(lines) != len([line for line in lines if line.startswith(("dwell: ", "  "))]):
            self.complain("a strange message", result, how)
        elif status == 0 and out != self.usual[1] and not ours and self.name != "view":  # which prints a size
            self.complain("another output, silently", result, how)
        if self.name.startswith("record"):
            self.check_recorded(result, how)
        for name, bytes_ in self.inputs.items():
            if content(path(name)) != bytes_:
                self.complain(f"{name} has changed", result, how)
        self.check_output(result, how)
        left = set(os.listdir(FOLDER)) - self.files - {"log"} - OLDER
        if left:
            self.complain(f"left {sorted(left)}", result, how)
            for name in left:
                if os.path.isdir(path(name)):
                    shutil.rmtree(path(name))
                else:
                    os.unlink(path(name))

    def check_recorded(self, result, how):
        status, out, err = result
        if status == 2 and err == b"dwell: out of memory\n" and not out:
            pass  # before main
        elif status == 125 and b"its end is unknown" in err:
            pass
        elif status in (125, 126, 127):
            if out or not err.startswith(b"dwell: "):
                self.complain("125, but the program ran, or without a reason", result, how)
        elif (status, out) != (0, self.usual[1]):
            self.complain("changed the program", result, how)

    def check_output(self, result, how):
        """The older output is there, under its name or that of old sessions, unless the new one is complete."""
        if not self.output:
            return
        now = content(path(self.output))
        if self.name == "vsperf" and now == self.newer:  # of several files, those before the failure are renamed
            pass
        elif result[0] != 0 and not self.name.startswith("record") and now != self.older:
            self.complain("the older output is lost", result, how)
        elif result[0] == 125 and now != self.older and b"its end is unknown" not in result[2]:
            self.complain("the older session is lost", result, how)
        elif now is None:
            self.complain("no output", result, how)
        elif result[0] == 0 and now != self.newer and self.name in SAME:
            self.complain("another output", result, how)
        if now != self.older:
            self.restore()

    def numbers(self, count):
        stride = 1 if ALL else max(1, count // SAMPLES)
        return range(1, count + 1, stride)

    def system_calls(self):
        run([FAIL, DWELL, *self.words], {"FAIL_LOG": path("log")})
        with open(path("log"), encoding="ascii") as file:
            calls = [line.split()[1] for line in file]
        self.restore()
        for number in self.numbers(len(calls)):
            errors = ERRORS if ALL else [ERRORS[number % len(ERRORS)]]
            for error in errors:
                # A call that is interrupted is made again: libraries do so without end, as no system does that always.
                for more in ([],) if error == errno.EINTR else ([], ["-a"]):
                    how = f"call {number} ({calls[number - 1]}), {errno.errorcode[error]} {more}"
                    self.check(run([FAIL, "-n", str(number), "-e", str(error), *more, DWELL, *self.words]), how)

    def transfers(self):
        """Each of them, as all lose data if nobody looks at the result."""
        run([FAIL, DWELL, *self.words], {"FAIL_LOG": path("log")})
        with open(path("log"), encoding="ascii") as file:
            calls = [int(line.split()[1]) for line in file]
        self.restore()
        for kind in TRANSFERS:
            for number in range(1, calls.count(kind) + 1):
                how = f"call {number} of {kind}, EIO"
                self.check(run([FAIL, "-c", str(kind), "-n", str(number), "-e", str(errno.EIO), DWELL, *self.words]), how)

    def kinds(self):
        """All calls of one name fail. Of threads that run at the same time, the numbers of calls differ in each run."""
        with open(path("log"), encoding="ascii") as file:
            kinds = sorted({int(line.split()[1]) for line in file})
        for kind in kinds:
            error = LASTING[kind % len(LASTING)]
            how = f"all calls {kind}, {errno.errorcode[error]}"
            self.check(run([FAIL, "-c", str(kind), "-n", "1", "-e", str(error), "-a", DWELL, *self.words]), how)

    def allocations(self):
        run([DWELL, *self.words], {"LD_PRELOAD": NOMEMORY, "FAIL_LOG": path("log")})
        self.restore()
        count = int(re.match(r"\d+", content(path("log")).decode()).group())
        # While the program sleeps, threads of the recorder allocate.
        late = range(count // 2 + LATE_STRIDE * PART, count, LATE_STRIDE * PARTS)
        for number in late if self.name == "record-late" else self.numbers(count):
            for more in ("", "+"):
                self.check(run([DWELL, *self.words], {"LD_PRELOAD": NOMEMORY, "FAIL_ALLOCATION": f"{number}{more}"}),
                           f"allocation {number}{more}")


prepare()
EACH = sys.argv[3:4] == ["each"]
for command in sys.argv[3 + EACH:] or list(COMMANDS):
    trial = Trial(command)
    if EACH:
        trial.transfers()
        continue
    if command != "record-late":
        trial.system_calls()
        trial.kinds()
    trial.allocations()
sys.exit("\n".join(wrong) if wrong else 0)
