"""A short script for CPython's interpreter: classes, dictionaries, strings, sorting. The argument is the amount of work."""

import sys


class Node:
    def __init__(self, word):
        self.word, self.count = word, 0

    def add(self, other):
        self.count += len(other)
        return self


def words(count):
    seed = 42
    for i in range(count):
        seed = (seed * 1103515245 + 12345) % 2147483648
        yield f"{seed:x}-{i}"


def count(times):
    nodes = {}
    for _ in range(times):
        for word in sorted(words(1000), key=lambda word: (len(word), word)):
            for part in word.split("-"):
                nodes.setdefault(part[:2], Node(part[:2])).add(part)
    return sum(node.count for node in nodes.values())


print(count(int(sys.argv[1])))
