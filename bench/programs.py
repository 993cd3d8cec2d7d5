"""The programs of bench/accuracy, bench/budget and others: programs that others wrote, and some that are hard for dwell."""

import glob
import os
import re
import tarfile

from measure import run, say

BENCH = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(BENCH)
SQLITE_PACKAGE = "sqlite3@6.0.1"
LEVELDB_PACKAGE = "leveldown@6.1.1"
FLAGS = ["-O2", "-g", "-fno-inline"]  # the last one as inlined functions are recorded, but have no samples
INSTRUMENT = "-finstrument-functions"
IN_A_FILE = 2000  # functions


class Program:
    """A program that is built twice, with and without instrumentation."""

    def __init__(self, name, compiler, sources, flags, arguments, libraries=()):
        self.name, self.compiler, self.sources, self.flags = name, compiler, sources, flags
        self.binary = name  # programs with one can share their builds
        self.arguments, self.libraries = arguments, libraries
        self.exact = True  # the same number of calls in each run
        self.bare = set()  # functions that are not instrumented: their time belongs to their callers
        self.limit = 1.15  # of its wall time with a budget, in times of that with its probes out
        self.inlines = False  # its functions are inlined; perf knows no shares of these

    def build(self, folder):
        self.folder = folder
        self.plain = self.compile(os.path.join(folder, self.binary + "-undisturbed"), [])
        self.instrumented = self.compile(os.path.join(folder, self.binary + "-probed"), [INSTRUMENT])
        return self

    def compile(self, output, more):
        command = [self.compiler, *(FLAGS[:-1] if self.inlines else FLAGS), *self.flags, *more, "-o", output, *self.sources, *self.libraries]
        stamp = output + ".cmd"
        if (os.path.exists(output) and os.path.exists(stamp)
                and all(os.path.getmtime(source) <= os.path.getmtime(stamp) for source in self.sources)):
            with open(stamp, encoding="utf-8") as file:
                if file.read() == " ".join(command):
                    return output
        say(f"compiling {os.path.basename(output)}")
        run(command, self.folder)
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(" ".join(command))
        return output


def unpack(folder, package, wanted):
    """Downloads an npm package and extracts the wanted files, chosen by path; returns the folder."""
    place = os.path.join(folder, package.replace("@", "-"))
    if not os.path.exists(os.path.join(place, "complete")):
        say(f"fetching {package} from npm")
        os.makedirs(place, exist_ok=True)
        run(["npm", "pack", "--silent", package], place)
        with tarfile.open(glob.glob(os.path.join(place, "*.tgz"))[0]) as archive:
            for member in archive.getmembers():
                if member.isfile() and wanted(member.name):
                    archive.extract(member, place)
        open(os.path.join(place, "complete"), "w", encoding="utf-8").close()
    return place


def sqlite(folder, quick, times=1):
    place = unpack(folder, SQLITE_PACKAGE, lambda name: "sqlite-autoconf" in name)
    if not os.path.exists(os.path.join(place, "shell.c")):
        with tarfile.open(glob.glob(place + "/package/deps/sqlite-autoconf-*.tar.gz")[0]) as inner:
            for name in inner.getnames():
                if name.count("/") == 1 and name.endswith(("/sqlite3.c", "/sqlite3.h", "/shell.c")):
                    with open(os.path.join(place, os.path.basename(name)), "wb") as file:
                        file.write(inner.extractfile(name).read())
    return Program("sqlite", "gcc", [place + "/shell.c", place + "/sqlite3.c"], [],
                   ["-batch", ":memory:", ".parameter init", f".parameter set :rows {times * (6000 if quick else 60000)}",
                    ".read " + os.path.join(BENCH, "sqlite.sql")], ["-lm", "-ldl", "-lpthread"])


def leveldb(folder, quick, times=1):
    """LevelDB and its own benchmark: C++ with many small functions."""
    place = unpack(folder, LEVELDB_PACKAGE, lambda name: "/leveldb-1.20/" in name) + "/package/deps/leveldb/leveldb-1.20"
    sources = [path for part in ("db", "util", "table", "port") for path in sorted(glob.glob(f"{place}/{part}/*.cc"))
               if not re.search(r"_test|_bench|leveldbutil|db/c\.cc|testharness|port_posix_sse", path)]
    sources += [place + "/db/db_bench.cc", place + "/helpers/memenv/memenv.cc", place + "/port/port_posix_sse.cc",
                place + "/util/testharness.cc"]
    program = Program("leveldb", "g++", sources, ["-std=c++11", "-w", "-pthread", "-DOS_LINUX", "-DLEVELDB_PLATFORM_POSIX",
                   "-DLEVELDB_ATOMIC_PRESENT", "-DNDEBUG", "-I" + place, "-I" + place + "/include"],
                   ["--benchmarks=fillrandom,readrandom,readseq", f"--num={times * (5000 if quick else 50000)}",
                    "--db=" + os.path.join(folder, "leveldb.db")])
    program.exact = False  # it has a thread in the background
    program.limit = 1.25
    return program


def threads(folder, quick, times=1):
    """LevelDB's benchmark with four threads."""
    program = leveldb(folder, quick)
    program.name = "leveldb-threads"
    program.arguments = ["--benchmarks=fillseq,readrandom,readwhilewriting", "--threads=4",
                         f"--num={times * (2000 if quick else 20000)}", "--db=" + os.path.join(folder, "leveldb-threads.db")]
    return program


def debian(folder, package):
    """Fetches the sources of a Debian package; returns their folder."""
    place = os.path.join(folder, "debian-" + package)
    if not os.path.exists(os.path.join(place, ".complete")):
        say(f"fetching {package} from Debian")
        run([os.path.join(ROOT, "scripts", "fetch-projects"), place, "bookworm", package], folder)
    return os.path.join(place, package)


def lua(folder, quick, times=1):
    """Lua's interpreter. Its strings' hashes have no random seed, so that each run has the same calls."""
    place = debian(folder, "lua5.4") + "/src"
    sources = [path for path in sorted(glob.glob(place + "/*.c")) if not path.endswith("/luac.c")]
    return Program("lua", "gcc", sources, ["-DLUA_USE_LINUX", "-Dluai_makeseed(L)=0"],
                   [os.path.join(BENCH, "work.lua"), str(times * (4 if quick else 40))], ["-lm", "-ldl", "-Wl,-E"])


class Python(Program):
    """CPython's interpreter, which has a build system of its own. There is no build without instrumentation."""

    def build(self, folder):
        self.folder, self.plain = folder, None
        place = os.path.join(debian(folder, "python3.11"), "probed")
        self.instrumented = os.path.join(place, "python")
        if not os.path.exists(self.instrumented):
            say("compiling CPython")
            os.makedirs(place, exist_ok=True)
            run(["../configure", "CFLAGS=" + " ".join([*FLAGS, INSTRUMENT])], place)
            run(["make", f"-j{os.cpu_count()}", "python"], place)
        os.environ.update(PYTHONHASHSEED="0", PYTHONPATH=os.path.join(os.path.dirname(place), "Lib"))
        return self


def python(folder, quick, times=1):
    program = Python("python", "", [], [], ["-S", "-s", os.path.join(BENCH, "work.py"), str(times * (10 if quick else 100))])
    program.exact = False  # dictionaries look up addresses
    return program


def brotli(folder, quick, times=1):
    """Brotli's compressor, built as its users build it: its hot functions are inlined."""
    place = os.path.join(debian(folder, "brotli"), "c")
    text = os.path.join(folder, "brotli.txt")
    with open(text, "w", encoding="utf-8") as file:
        for i in range(times * (20_000 if quick else 200_000)):
            file.write(f"{i} {i * 7919 % 1000} word{i % 97} the quick brown fox\n")
    sources = [path for part in ("common", "enc", "dec") for path in sorted(glob.glob(f"{place}/{part}/*.c"))]
    program = Program("brotli", "gcc", [*sources, place + "/tools/brotli.c"], ["-I" + place + "/include"],
                      ["-q", "5", "-f", "-o", text + ".br", text], ["-lm"])
    program.inlines = True
    return program


def phases(folder, quick, times=1):
    """20 phases of 50 ms, or somewhat less, each hot in its own functions."""
    program = Program("phases", "gcc", [os.path.join(ROOT, "tests", "e2e", "programs", "levels", "phases.c")], [],
                      ["20", str(times * (1_000_000 if quick else 10_000_000))])
    program.limit = 1.25
    return program


def server(folder, quick, times=1):
    """A server that forks its workers before requests come, and its clients."""
    program = Program("server", "gcc", [os.path.join(BENCH, "server.c")], [], ["4", str(times * (500 if quick else 3000))])
    program.bare = {"need"}
    program.limit = 1.25
    return program


def functions(folder, count):
    """A program of so many functions in several files. It calls each of them, and those of one file for two seconds."""
    place = os.path.join(folder, f"functions-{count}")
    binary = os.path.join(place, "functions")
    if os.path.exists(binary):
        return binary
    say(f"compiling a program of {count} functions")
    os.makedirs(place, exist_ok=True)
    objects = []
    for part in range(0, count, IN_A_FILE):
        numbers = range(part, min(part + IN_A_FILE, count))
        source = os.path.join(place, f"part{part}.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("extern volatile int sum;\n")
            file.writelines(f"static void a_function_with_number_{i}(void)\n{{\n    sum += {i};\n}}\n" for i in numbers)
            calls = "".join(f"    a_function_with_number_{i}();\n" for i in numbers)
            file.write(f"void part{part}(void)\n{{\n{calls}}}\n")
        objects.append(source[:-1] + "o")
        run(["gcc", "-O0", "-g", INSTRUMENT, "-c", "-o", objects[-1], source], place)
    with open(os.path.join(place, "main.c"), "w", encoding="utf-8") as file:
        parts = range(0, count, IN_A_FILE)
        file.write("#include <time.h>\nvolatile int sum;\n" + "".join(f"void part{part}(void);\n" for part in parts))
        file.write("int main(void)\n{\n    const time_t end = time(0) + 2;\n")
        file.write("".join(f"    part{part}();\n" for part in parts))
        file.write("    while (time(0) < end)\n        part0();\n    return 0;\n}\n")
    run(["gcc", *FLAGS, INSTRUMENT, "-o", binary, "main.c", *objects], place)
    return binary
