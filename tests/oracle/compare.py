"""Compares the stacks that dwell recorded with those that the oracle unwound, call by call.

compare.py PROGRAM ORACLE_OUTPUT MODE FILE [NAMES]: FILE holds what dwell printed. In the modes trace and ring that is
`dwell replay --format csv`; in mode profile `dwell export collapsed --value calls`. NAMES holds the names of functions
of libraries, whose calls the unwinder leaves out.
"""
import array
import collections
import csv
import json
import re
import subprocess
import sys


def read_oracle(path):
    """The addresses of each enter, innermost first."""
    words = array.array('Q')
    with open(path, 'rb') as file:
        words.frombytes(file.read())
    stacks, at = [], 0
    while at < len(words):
        count = words[at]
        stacks.append(tuple(words[at + 1:at + 1 + count]))
        at += 1 + count
    return stacks


def names_of(program, addresses):
    """The functions around each address, inlined ones too, innermost first; those without source are left out."""
    text = subprocess.run(['llvm-symbolizer', '-e', program, '--inlines', '--functions=linkage', '--demangle',
                           '--output-style=JSON'], input='\n'.join(map(hex, sorted(addresses))) + '\n', text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    names = {}
    for line in text.splitlines():
        answer = json.loads(line)
        names[int(answer['Address'], 16)] = [plain(symbol['FunctionName']) for symbol in answer['Symbol']
                                             if symbol['FileName']]
    return names


def plain(name):
    """A function's name without what compilers add to its copies, and without parameters."""
    name = re.sub(r"\{lambda\([^)]*\)#\d+\}|'lambda\d*'\([^)]*\)", 'lambda', name)
    for mark in (' [clone', ' (.', '.isra.', '.part.', '.constprop.', '.cold'):
        name = name.split(mark)[0]
    depth, end = 0, len(name)
    for at in range(len(name) - 1, -1, -1): # the last pair of parentheses at depth zero
        if name[at] == ')':
            depth += 1
        elif name[at] == '(':
            depth -= 1
            if depth == 0:
                end = at
                break
    if name.endswith((')', ') const')) and not name[:end].endswith('operator') and end > 0:
        name = name[:end]
    return name.split(' ')[-1] if '<' not in name else name


def oracle_stacks(program, path):
    """The stack at each enter as names, outermost first."""
    stacks = read_oracle(path)
    names = names_of(program, {address for stack in stacks for address in stack})
    return [tuple(reversed([name for address in stack for name in names[address]])) for stack in stacks]


def replayed_stacks(path, libraries):
    """The stack at each enter in `dwell replay`."""
    stacks, stack = [], []
    with open(path, newline='', encoding='utf-8') as file:
        for row in csv.DictReader(file):
            depth = int(row['depth'])
            if row['kind'] in ('begin', 'call', 'open'):
                stack[depth:] = [None if row['function'] in libraries else plain(row['function'])]
            if row['kind'] in ('begin', 'call') and stack[-1]:
                stacks.append(tuple(name for name in stack if name))
    return stacks


def fail(text):
    sys.exit('%s: %s' % (sys.argv[1], text))


def compare_sequences(wanted, found):
    for number, (want, have) in enumerate(zip(wanted, found)):
        if want != have:
            same = 0
            while same < min(len(want), len(have)) and want[same] == have[same]:
                same += 1
            fail('enter %d: below %d calls that agree, the stack is %s, recorded %s'
                 % (number, same, ' > '.join(want[max(same - 1, 0):]), ' > '.join(have[max(same - 1, 0):])))
    if len(wanted) != len(found):
        fail('%d enters, recorded %d' % (len(wanted), len(found)))


def compare_counts(wanted, path, libraries):
    counts = collections.Counter(';'.join(stack) for stack in wanted)
    found = collections.Counter()
    with open(path, encoding='utf-8') as file:
        for line in file:
            names, count = line.rstrip('\n').rsplit(' ', 1)
            names = names.split(';')[2:] # process and thread come first
            if names[-1] not in libraries:
                found[';'.join(plain(name) for name in names if name not in libraries)] += int(count)
    found += collections.Counter() # without those of zero calls
    for names in sorted(set(counts) | set(found)):
        if counts[names] != found[names]:
            fail('%d calls of %s, recorded %d' % (counts[names], names, found[names]))


def main():
    program, oracle, mode, path = sys.argv[1:5]
    libraries = set()
    if len(sys.argv) > 5:
        with open(sys.argv[5], encoding='utf-8') as file:
            libraries.update(file.read().splitlines())
    wanted = oracle_stacks(program, oracle)
    if mode == 'profile':
        compare_counts(wanted, path, libraries)
    else:
        found = replayed_stacks(path, libraries)
        if mode == 'ring': # the last ones
            if not 0 < len(found) <= len(wanted):
                fail('%d enters, recorded %d' % (len(wanted), len(found)))
            wanted = wanted[-len(found):]
        compare_sequences(wanted, found)
    print(len(wanted))


main()
