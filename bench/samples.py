"""Samples of a program's CPU time by perf, and the distance of two profiles."""

import collections
import os
import random
import re
import resource
import subprocess

from measure import Failed, run, say

SAMPLES_A_SECOND = 10000
MOST_LOST = 0.08  # of the samples; good runs lose 0.03
MOST_TRIES = 12


def plain_name(name):
    """Maps a compiler's copies of a function, and the two names of a constructor or destructor, to one name."""
    name = re.sub(r"^(_Z.*)([CD])1(?=E)", r"\1\g<2>2", name)
    return re.sub(r"\.(constprop|isra|part|cold|lto_priv)(\.\d+)*", "", name)


def functions_of(path):
    lines = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {plain_name(name) for kind, name in (line.split()[1:3] for line in lines if len(line.split()) == 3) if kind in "tTwWuv"}


def cpu_seconds(argv, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(argv, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def owner(sample, functions):
    """The innermost function of `functions` on a sample's stack. None if there is none."""
    for line in sample:
        words = line.split(None, 1)
        name = plain_name(words[1].split("+")[0].split(" (")[0].strip()) if len(words) == 2 else ""
        if name in functions:
            return name
    return None


def is_outside(sample):
    """Whether no function of the program was running: the kernel starts or ends the program, or the loader works."""
    return "[kernel.kallsyms]" in sample[-1] or any("/ld-linux" in line for line in sample) or " _start " in sample[-1]


def sample_once(argv, binary, functions, folder):
    """Samples the CPU clock while a command runs. Returns {name: samples} of the processes of one binary, by the innermost
    instrumented function on the stack. Samples inside a probe are dropped.

    In up to half of the runs, perf cannot unwind from libc's functions. Then the callers of libc lack their samples: such a run
    is repeated."""
    data = os.path.join(folder, "samples.perf")
    for _ in range(MOST_TRIES):
        run(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_A_SECOND), "--call-graph", "dwarf,4096", "-o", data, *argv],
            folder)
        text = run(["perf", "script", "-i", data, "--comms", os.path.basename(binary)[:15], "-F", "ip,sym,dso", "--no-inline",
                    "--no-demangle"], folder)[2]
        os.unlink(data)
        found, samples = collections.Counter(), 0
        for sample in text.split("\n\n"):
            lines = sample.strip().splitlines()
            if not lines or re.search(r"__cyg_profile_func|libdwell", lines[0]):
                continue
            name = owner(lines, functions)
            if name or not is_outside(lines):
                samples += 1
                found[name] += 1
        lost = found.pop(None, 0)
        if lost <= MOST_LOST * samples:
            return found
        say(f"    perf lost the callers of {lost:,} of {samples:,} samples: again")
    raise Failed(f"perf lost the callers of more than {MOST_LOST:.0%} of the samples in each of {MOST_TRIES} runs")


def distance(a, b):
    """Total variation distance of two profiles' shares: 0 if equal, 1 if they have nothing in common."""
    all_a, all_b = sum(a.values()), sum(b.values())
    if not all_a or not all_b:
        return 1
    return sum(abs(a.get(name, 0) / all_a - b.get(name, 0) / all_b) for name in set(a) | set(b)) / 2


SPLITS = 20


def splits(samples, size):
    """Yields pairs of disjoint random sets of `size` samples each, or of half of all if these are fewer. Always the same ones."""
    chance = random.Random(1)
    names = [name for name, count in sorted(samples.items()) for _ in range(count)]
    size = min(size, len(names) // 2)
    for _ in range(SPLITS):
        drawn = chance.sample(names, 2 * size)
        yield collections.Counter(drawn[:size]), collections.Counter(drawn[size:])
