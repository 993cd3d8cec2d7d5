"""csv_safe.py plain-X.csv...: safe-X.csv is the same table with formulas defused. Prints for each how many cells were."""
import csv
import re
import sys

FORMULA = re.compile("[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
NUMBER = re.compile(r"[+-]\d+(\.\d+)?\Z")


def rows(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return list(csv.reader(file, strict=True))


for path in sys.argv[1:]:
    plain, safe = rows(path), rows(path.replace("plain-", "safe-"))
    defused = 0
    assert len(plain) == len(safe) > 1, (path, len(plain), len(safe))
    for before, after in zip(plain, safe):
        assert len(before) == len(after), (path, before, after)
        for one, other in zip(before, after):
            runs = bool(FORMULA.match(one)) and not NUMBER.match(one)
            assert other == ("'" + one if runs else one), (path, one, other)
            assert not FORMULA.match(other) or NUMBER.match(other), (path, other)
            defused += runs
    print(defused)
