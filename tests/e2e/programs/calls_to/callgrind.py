"""Prints how often a program has called functions of libraries, as callgrind counts: callgrind.py FILE PROGRAM. Leaves
out what the program does not call itself, and calls of the system."""
import collections
import os
import re
import sys

LEFT_OUT = r"0x.*|__cyg_profile_.*|__libc_start_main|__cxa_\w+|pthread_\w+|printf"

names = {}  # of numbers, by kind
calls = collections.Counter()
at = {}


def name_of(kind, text):
    number, name = re.match(r"(\(\d+\))? ?(.*)", text).groups()
    if number and name:
        names[kind, number] = name
    return names[kind, number] if number else name


def called_name(name):
    """Without its version, and without the processor that it is for."""
    return re.sub(r"^__(mem\w+?|str\w+?)_(avx|evex|sse|ssse|erms).*", r"\1", name.partition("@")[0])


with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        key, _, value = line.rstrip("\n").partition("=")
        if key in ("ob", "fn", "cob", "cfn"):
            at[key] = name_of(key[-2:], value)
        elif key == "calls":
            callee = at.pop("cob", at["ob"])
            if os.path.basename(at["ob"]) == sys.argv[2] and callee != at["ob"]:
                calls[called_name(at["cfn"])] += int(value.split()[0])
for function, count in calls.items():
    if not re.fullmatch(LEFT_OUT, function):
        print(count, function)
