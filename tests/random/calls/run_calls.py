"""Compares made programs that call a library with themselves: run_calls.py DWELL FIRST LAST.

Each program is recorded with --calls-to, in a way that its seed selects. What it prints must be the same as without
dwell. The calls of each function in the report must be those that the library has counted. The folder of a program
that differs remains in the present folder. Prints how many agreed."""
import csv
import io
import os
import platform
import random
import re
import shutil
import subprocess
import sys
from collections import Counter

from made_calls import made

NONE_LEFT = re.compile("dwell: --calls-to 'f_[*]': calls of f_[0-9]+ are left alone: the code takes its address from the "
                       'same slot(?:; likewise those of others)?$')  # with -fno-plt
MODES = [['--overhead', 'none'], ['--overhead', 'none', '--level', 'counted=f_*'], [],
         ['--overhead', 'none', '--mode', 'profile'], ['--mode', 'ring=16M', '--overhead', 'none']]
LEFT = re.compile('dwell: --calls-to: calls of f_[0-9]+(?: and ([0-9]+) other functions?)? are not recorded, as the '
                  'code takes (?:its|their) address(?:es)? from the same slots?$')  # with -fno-plt


class Different(Exception):
    pass


def run(folder, *command):
    ran = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                         timeout=300)
    if ran.returncode:
        raise Different('%s: %d\n%s%s' % (' '.join(command), ran.returncode, ran.stdout[-999:], ran.stderr[-999:]))
    return ran


def has_avx2():
    try:
        with open('/proc/cpuinfo', encoding='ascii', errors='replace') as info:
            return ' avx2 ' in info.read()
    except OSError:
        return False


def build(rand, folder, cxx):
    """Returns the flags."""
    here = platform.machine() == 'x86_64'
    compiler = rand.choice([['gcc', 'g++'], ['clang', 'clang++']])[cxx]
    flags = [compiler, '-w', '-Wno-psabi', '-O%d' % rand.randint(0, 3)]
    flags += rand.choice([[], [], ['-no-pie', '-fno-pie']]) + rand.choice([[], [], ['-fno-plt']])
    flags += rand.choice([['-Wl,-z,lazy'], ['-Wl,-z,now']]) + rand.choice([[], ['-g']])
    flags += rand.choice([[], [], ['-fuse-ld=lld']]) if shutil.which('ld.lld') else []
    flags += rand.choice([[], ['-mavx2']]) if here and has_avx2() else []
    if here:
        flags += rand.choice([[], [], ['-fno-omit-frame-pointer'], ['-fstack-protector-all'], ['-fcf-protection']])
    archive = here and rand.random() < 0.4
    if archive and compiler.startswith('clang'):
        flags = [flag for flag in flags if flag != '-fno-plt']  # calls through registers
    if cxx:
        flags += ['-x', 'c++']
    plain = [flag for flag in flags if flag not in ('-no-pie', '-fno-pie')]
    if archive:
        run(folder, *flags, '-c', 'library.c', '-o', 'library.o')
        run(folder, 'ar', 'rcs', 'liblibrary.a', 'library.o')
    else:
        run(folder, *plain, '-shared', '-fPIC', 'library.c', '-o', 'liblibrary.so')
        flags.append('-DJUMPS=__attribute__((no_instrument_function))')  # direct calls need probes around them
    run(folder, *flags, '-finstrument-functions', 'program.c', '-o', 'program', '-pthread', '-L.', '-llibrary',
        '-Wl,-rpath,' + folder)
    return flags + (['archive'] if archive else [])


def sums(text):
    return [line for line in text.splitlines() if not line.startswith('calls ')]


def compare(dwell, rand, folder, flags):
    mode = rand.choice(MODES)
    call_sites = rand.choice([[], [], ['--call-sites']])
    wanted = run(folder, './program').stdout
    try:
        ran = run(folder, dwell, 'record', '-q', '-o', 'data', *mode, *call_sites, '--calls-to', 'f_*', './program')
    except Different as wrong:
        if '-fno-plt' in flags and NONE_LEFT.match(str(wrong).splitlines()[-1]):
            return
        raise
    if sums(ran.stdout) != sums(wanted) or not sums(wanted):
        raise Different('%s prints\n%s\nand with %s\n%s' % (flags, wanted, mode, ran.stdout))
    left = 0  # functions
    for line in ran.stderr.splitlines():
        said = LEFT.match(line)
        if '-fno-plt' not in flags or not said:
            raise Different('%s %s: %s' % (flags, mode, line))
        left += 1 + int(said.group(1) or 0)
    if 'ring=16M' in mode:
        return
    counted = Counter()
    for line in ran.stdout.splitlines():
        if line.startswith('calls '):
            counted[line.split()[1]] += int(line.split()[2])
    report = run(folder, dwell, 'report', 'data', '--by', 'function', '-n', '0', '--columns', 'calls', '--format',
                 'csv').stdout
    recorded = Counter()
    for row in csv.DictReader(io.StringIO(report)):
        if row['function'].startswith('f_'):
            recorded[row['function'].split('(')[0]] += int(row['calls'] or 0)
    for name, calls in counted.items():
        if recorded[name] == 0 and left:
            left -= 1
        elif recorded[name] != calls:
            raise Different('%s %s: %d calls of %s, recorded %d' % (flags, mode, calls, name, recorded[name]))


def main():
    dwell, first, last = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    agreed = 0
    for seed in range(first, last + 1):
        folder = os.path.abspath('calls-%d' % seed)
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        rand = random.Random(-seed)
        try:
            compare(dwell, rand, folder, build(rand, folder, made(seed, folder)))
        except (Different, subprocess.TimeoutExpired) as wrong:
            print('seed %d: %s' % (seed, wrong), flush=True)
            continue
        shutil.rmtree(folder)
        agreed += 1
    print(agreed)


main()
