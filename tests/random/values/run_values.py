"""run_values.py DWELL FIRST LAST COMPILER...: makes programs of these seeds, and compares what dwell records of all their
values with what they print. Prints each difference, and at last how many values were the same, and how many could not be
read.

VALUES_RUNNER is a command for programs of another machine: it gets the session, the program and its argument."""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import made_values

ROUNDS = 30


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)


def printed_values(folder):
    printed = collections.defaultdict(collections.Counter)
    with open(folder + '/printed', encoding='utf-8') as file:
        for line in file:
            function, path, value = line.rstrip('\n').split('|')
            printed[function, path][value[:64]] += 1
    return printed


def as_printed(value):
    if value is None:
        return None
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, float):
        return '%.17g' % value
    text = str(value)
    return text[:64] if isinstance(value, str) else text


def same(recorded, printed):
    """Printed numbers can have a point where JSON has none."""
    def normal(counter):
        result = collections.Counter()
        for key, calls in counter.items():
            try:
                key = '%.17g' % float(key) if key and '0x' not in key and key[0] in '-0123456789' and len(key) < 16 else key
            except ValueError:
                pass
            result[key] += calls
        return result
    return normal(recorded), normal(printed)


def shown_names(dwell, folder, function):
    """Those that are recorded if none is named."""
    listed = run([dwell, 'values', '--list', './program', function, '--format', 'json'], cwd=folder)
    return [row['value'] for row in json.loads(listed.stdout)['rows'] if row['readable']] if not listed.returncode else []


def record_command(dwell, folder):
    """The plan is made for a file, also if another one runs it."""
    command = [dwell, 'record', '-q', '-o', folder + '/dwell.data', '--overhead', 'none']
    for i in range(made_values.FUNCTIONS):
        command += ['--values', '%s/program!f%d' % (folder, i)]
    runner = os.environ.get('VALUES_RUNNER', '').split()
    if runner:
        command += ['--clock', 'monotonic', *runner, folder + '/dwell.data']
    return command + [folder + '/program', str(ROUNDS)]


def check(dwell, folder, compiler, seed, totals):
    built = run(compiler.split() + ['-std=c++17', '-w', '-g', 'program.cc', '-o', 'program'], cwd=folder)
    if built.returncode:
        sys.exit('seed %d: %s' % (seed, built.stderr.decode()[:2000]))
    with open(folder + '/printed', 'w', encoding='utf-8') as out:
        recorded = subprocess.run(record_command(dwell, folder), cwd=folder, stdout=out, stderr=subprocess.PIPE, check=False)
    if recorded.returncode:
        sys.exit('seed %d, %s: %s' % (seed, compiler, recorded.stderr.decode()[:2000]))
    printed = printed_values(folder)
    for function in sorted({function for function, _ in printed}):
        names = shown_names(dwell, folder, function)
        totals['not read'] += len({path.split('.')[0].split('->')[0].lstrip('*') for f, path in printed if f == function} -
                                  {name.split('.')[0] for name in names})
        for name in names:
            found = run([dwell, 'values', '--each', '-n', '0', '--format', 'json', function + ':' + name], cwd=folder)
            counter = collections.Counter()
            for row in json.loads(found.stdout)['rows'] if not found.returncode else []:
                counter[as_printed(row['values'][name])] += row['calls']
            unread = counter.pop(None, 0)
            ours, theirs = same(counter, printed.get((function, name), collections.Counter()))
            if ours != theirs or unread or not ours:
                totals['different'] += 1
                print('seed %d, %s: %s:%s is %s, not %s; %d unread' % (seed, compiler, function, name, dict(ours - theirs), dict(theirs - ours), unread))
            else:
                totals['same'] += 1


def main():
    dwell, first, last, compilers = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    totals = collections.Counter()
    for seed in range(first, last + 1):
        with tempfile.TemporaryDirectory() as folder:
            made_values.made(seed, os.environ.get('KEEP') or folder)
            for compiler in compilers:
                check(dwell, os.environ.get('KEEP') or folder, compiler, seed, totals)
    print('%d same, %d different, %d not read' % (totals['same'], totals['different'], totals['not read']))


main()
