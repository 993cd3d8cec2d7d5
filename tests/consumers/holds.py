#!/usr/bin/env python3
"""Looks for a value in files: holds.py TEXT NUMBER FILE... prints the files that hold the text or the number.

The text is found as bytes, also in UTF-16; the number as digits, in hexadecimal, and as eight bytes in either order.
Both are looked for in what the files have compressed or in base64, too, four levels deep.
"""
import base64
import os
import re
import sys
import zlib

BASE64 = re.compile(rb"[A-Za-z0-9+/]{24,}={0,2}")
COMPRESSED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")


def parts(data):
    """What is packed in the bytes."""
    for match in BASE64.finditer(data):
        text = match.group()
        yield base64.b64decode(text[:len(text) - len(text) % 4])
    for match in COMPRESSED.finditer(data):
        unpacked = zlib.decompressobj(47)
        try:
            yield unpacked.decompress(data[match.start():]) + unpacked.flush()
        except zlib.error:
            continue


def holds(data, wanted, depth=4):
    if any(w in data for w in wanted):
        return True
    return depth > 0 and any(holds(part, wanted, depth - 1) for part in parts(data) if part)


def files(paths):
    for path in paths:
        if os.path.isdir(path):
            yield from files(sorted(os.path.join(path, name) for name in os.listdir(path)))
        else:
            yield path


def main():
    text, number = sys.argv[1], int(sys.argv[2])
    wanted = [text.encode(), text.encode("utf-16-le"), str(number).encode(), b"%x" % number, b"%X" % number,
              number.to_bytes(8, "little"), number.to_bytes(8, "big")]
    for path in files(sys.argv[3:]):
        with open(path, "rb") as file:
            if holds(file.read(), wanted):
                print(path)


main()
