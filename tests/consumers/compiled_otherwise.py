#!/usr/bin/env python3
"""Compiles files of the runtime as their build does, but with another compiler or more options before the build's own:
compiled_otherwise.py BUILD 'COMPILER OPTION...' FILE... Prints each function that uses more of a vector register than
its low half, and each of libc's functions for memory that a file needs. "read" and the files at the end."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile


def command_of(build, file):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as commands:
        for entry in json.load(commands):
            if os.path.normpath(os.path.join(entry["directory"], entry["file"])).endswith("/" + file):
                return entry["directory"], shlex.split(entry["command"])
    sys.exit("no command for " + file)


def text_of(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def main():
    build, otherwise, *files = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            directory, command = command_of(build, file)
            out = os.path.join(folder, "out.o")
            command[command.index("-o") + 1] = out
            command[command.index("-MF") + 1] = out + ".d"
            options = command[1 + (os.path.basename(command[0]) == "ccache"):]
            text_of(*shlex.split(otherwise), *options, "-w", cwd=directory)
            code = text_of("objdump", "-d", "--no-show-raw-insn", out)
            for name, instructions in re.findall(r"^[0-9a-f]+ <(.+)>:\n((?:.+\n)*)", code, re.MULTILINE):
                if re.search(r"%[yz]mm\d|%xmm(1[6-9]|[23]\d)|%k[0-7]|\tv[a-z]", instructions):
                    print(file, "changes whole registers in", name)
            for needed in re.findall(r"^ +U (mem\w+)$", text_of("nm", "-u", out), re.MULTILINE):
                print(file, "needs", needed)
    print("read", *files)


if __name__ == "__main__":
    main()
