"""Compares the files and lines of functions that dwell reports with those of llvm-symbolizer.

lines.py PROGRAM FILE: FILE holds what `dwell report --format csv` printed. Prints how many functions agree.
"""
import collections
import csv
import json
import os
import subprocess
import sys


def program_functions(program):
    """The addresses of the program's functions by name."""
    addresses = collections.defaultdict(set)
    listing = subprocess.run(['nm', '-C', '--defined-only', program], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in listing.splitlines():
        address, kind, name = line.split(' ', 2)
        if kind in 'TtWw':
            addresses[name].add(int(address, 16))
    return addresses


def program_lines(program, addresses):
    """The file and line of each address."""
    text = subprocess.run(['llvm-symbolizer', '-e', program, '--no-inlines', '--output-style=JSON'],
                          input='\n'.join(map(hex, addresses)) + '\n', stdout=subprocess.PIPE, text=True, check=True).stdout
    answers = map(json.loads, text.splitlines())
    return {int(answer['Address'], 16): (plain_path(answer['Symbol'][0]['FileName']), answer['Symbol'][0]['Line'])
            for answer in answers}


def plain_path(path):
    """The compiled folder is the current one; a path from it can be relative, as in `#include`."""
    return os.path.abspath(path)


def main():
    program, path = sys.argv[1:]
    addresses = program_functions(program)
    lines = program_lines(program, sorted(set().union(*addresses.values())))
    count = 0
    with open(path, newline='', encoding='utf-8') as file:
        for row in csv.DictReader(file):
            wanted = {lines[address] for address in addresses[row['function']]}
            found = (plain_path(row['file']), int(row['line'] or 0))
            if not row['file'] or found not in wanted:
                sys.exit('%s: %s is at %s, reported %s:%d' % (program, row['function'], sorted(wanted), *found))
            count += 1
    print(count)


main()
