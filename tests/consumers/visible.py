"""visible.py FILE...: each file is UTF-8 and holds no character that a terminal obeys, except line breaks."""
import re
import sys
import unicodedata

BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
wrong = []
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        data = re.sub(rb"\r+\n", b"\n", file.read())  # CSV, and a terminal's line breaks
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            wrong.append(f"{path}:{number}: {error}: {line[:300]!r}")
            continue
        bad = [c for c in text if unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs", "Cn") or c in BIDI]
        if bad:
            wrong.append(f"{path}:{number}: {bad[:5]!r} in {line[:300]!r}")
        if text.lstrip().startswith("FORGED"):
            wrong.append(f"{path}:{number}: a forged line")
sys.exit("\n".join(wrong[:20]) if wrong else 0)
