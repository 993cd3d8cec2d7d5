#!/usr/bin/env python3
"""Follows the calls and jumps of functions in a binary, and prints each function that uses other registers than general
ones, or calls through a pointer. general_registers.py BINARY END,END... FUNCTION... Does not follow calls of END. Prints
whether it has read many functions at the end."""

import re
import subprocess
import sys


def functions(binary):
    found, name = {}, None
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", binary], check=True, stdout=subprocess.PIPE, text=True)
    for line in text.stdout.splitlines():
        begin = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if begin:
            name = begin.group(1)
            found[name] = []
        elif name and "\t" in line:
            found[name].append(line.split("\t", 1)[1])
    return found


def main():
    binary, ends, *todo = sys.argv[1:]
    known, ends, seen = functions(binary), ends.split(","), set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if any(re.search(r"%[xyz]?mm\d|%st|%k\d", instruction) for instruction in known[name]):
            print(name)
        for instruction in known[name]:
            if re.match(r"call +\*", instruction):
                print(name, "calls through a pointer:", instruction)
            to = re.match(r"(?:bnd )?(?:call|j\w+) +[^*]*<([^>+]+)(?:\+0x[0-9a-f]+)?>", instruction)
            if to and to.group(1) not in ends:
                todo.append(to.group(1))
    print("many" if len(seen) > 20 else "few", "functions read", *(end for end in ends if end not in known))


if __name__ == "__main__":
    main()
