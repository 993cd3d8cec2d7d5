"""Runs commands in paired rounds and prints the results as Markdown tables."""

import collections
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

os.environ.setdefault("DWELL_OVERHEAD", "none")  # a benchmark that measures a budget gives the option

Sample = collections.namedtuple("Sample", "seconds bytes peak_kib output recorded")


def say(text):
    """Prints progress to stderr; stdout holds only the tables."""
    print(text, file=sys.stderr, flush=True)


# ---- Running commands --------------------------------------------------------------------------


class Failed(Exception):
    pass


def run(argv, cwd, env=None, at_most=None):
    """Runs a command and returns (seconds, peak memory in KiB, stdout, stderr). Fails after `at_most` seconds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(argv, cwd=cwd, env={**os.environ, **(env or {})}, stdout=out,
                                   stderr=err, stdin=subprocess.DEVNULL)
        killer = threading.Timer(at_most or 0, process.kill)
        if at_most:
            killer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # interrupted: let the command clean up after itself
            process.terminate()
            process.wait()
            raise
        finally:
            killer.cancel()
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output, errors = out.read().decode(), err.read().decode(errors="replace")
    if at_most and seconds >= at_most:
        raise Failed(f"not done after {at_most} s")
    if process.returncode != 0:
        last = (errors.strip().splitlines() or ["no message"])[-1]
        raise Failed(f"exit status {process.returncode}: {last}")
    return seconds, usage.ru_maxrss, output, errors


def bytes_under(folder):
    return sum(os.path.getsize(os.path.join(path, name))
               for path, _, names in os.walk(folder) for name in names)


class Variant:
    """One row: a command. It runs in a folder of its own, which receives its trace.

    place     where to make that folder
    folder    an existing folder to run in instead, which is not removed
    missing   why the row cannot be measured, or None
    count     function that counts the calls in the trace in a folder
    disturb   function that runs beside the command, with the folder and the event that ends it"""

    def __init__(self, name, argv, place=None, folder=None, env=None, missing=None, count=None,
                 disturb=None):
        self.name, self.argv, self.place, self.folder = name, argv, place, folder
        self.env, self.missing, self.count, self.disturb = env, missing, count, disturb

    def sample(self, count_calls=False):
        if self.folder:
            seconds, peak, output, _ = run(self.argv, self.folder, self.env)
            return Sample(seconds, 0, peak, output, None)
        with tempfile.TemporaryDirectory(dir=self.place) as folder:
            ended = threading.Event()
            disturber = threading.Thread(target=self.disturb or Variant.rest, args=(folder, ended))
            disturber.start()
            try:
                seconds, peak, output, _ = run(self.argv, folder, self.env)
            finally:
                ended.set()
                disturber.join()
            recorded = self.count(folder) if count_calls and self.count else None
            return Sample(seconds, bytes_under(folder), peak, output, recorded)

    @staticmethod
    def rest(_folder, _ended):
        pass


def measure(variants, rounds, same_output=True):
    """Runs all variants in turn, round after round, and returns {key: [Sample]} for {key: Variant}.

    Every round starts with another variant, so that none always has the same neighbours. Round 0 is a warm-up."""
    samples = {key: [] for key in variants}
    expected = None
    for this in range(rounds + 1):
        present = [key for key in variants if not variants[key].missing]
        turn = this % max(len(present), 1)
        for key in present[turn:] + present[:turn]:
            variant = variants[key]
            say(f"  round {this} of {rounds}: {variant.name}")
            try:
                sample = variant.sample(count_calls=this == rounds)
            except (Failed, OSError) as error:
                variant.missing = f"failed: {error}"
                samples[key] = []
                continue
            expected = expected or sample.output
            if same_output and sample.output != expected:
                sys.exit(f"bench: {variant.name}: the program's output differs from the other variants'")
            if this > 0:
                samples[key].append(sample)
    return samples


def median_seconds(samples):
    return statistics.median(sample.seconds for sample in samples)


def ratios(samples, base):
    """Ratios by round: a slow moment of the machine affects both samples of a round."""
    return [a.seconds / b.seconds for a, b in zip(samples, base)]


def median_ratio(samples, base):
    return statistics.median(ratios(samples, base)) if samples and base else None


# ---- Printing ----------------------------------------------------------------------------------


def print_table(title, headings, rows, notes=()):
    """Prints a table. The first column is text; the others are numbers, aligned to the right."""
    widths = [max(len(row[i]) for row in [headings] + rows) for i in range(len(headings))]
    print(f"\n## {title}\n")
    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    for row in [headings, rule] + rows:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("| " + " | ".join(cells) + " |")
    for note in notes:
        print(f"\n{note}")
    sys.stdout.flush()


def number(value, digits=2):
    return "-" if value is None else f"{value:,.{digits}f}"


def spread(values):
    return f"{min(values):.2f} to {max(values):.2f}" if values else "-"


def peak_of(peak):
    """Converts KiB to MiB. A process starts with its parent's peak, so a smaller peak is not visible."""
    least = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"under {least / 1024:.0f}" if peak <= least else f"{peak / 1024:.0f}"


def peak_memory(samples):
    return peak_of(max(sample.peak_kib for sample in samples))


def missing_row(variant, columns):
    return [variant.name, variant.missing] + ["-"] * (columns - 2)
