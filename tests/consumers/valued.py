"""valued.py FORMAT FILE FUNCTION NAME: prints the recorded values of that name in an export, one for each call.

Numbers are printed as the format has them, truths as true or false. A function of C++ is named without parameters."""
import json
import os
import re
import subprocess
import sys


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, **options).stdout.decode("utf-8")


def plain(value):
    return value if isinstance(value, str) else json.dumps(value)


def is_named(full, function):
    return full == function or full.startswith(function + "(")


def chrome(path, function, name):
    with open(path, encoding="utf-8") as file:
        for event in json.load(file)["traceEvents"]:
            if event["ph"] in "XB" and is_named(event["name"], function):
                yield plain(event["args"][name])


def firefox(path, function, name):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    strings = profile["shared"]["stringArray"]
    schemas = {schema["name"]: schema for schema in profile["meta"]["markerSchema"]}
    for thread in profile["threads"]:
        markers = thread["markers"]
        for number, data, start, end in zip(markers["name"], markers["data"], markers["startTime"], markers["endTime"]):
            if is_named(strings[number], function) and start <= end:
                fields = {field["label"]: field["key"] for field in schemas[data["type"]]["fields"]}
                yield data[fields[name]]


def perfetto(path, function, name):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(path, "rb") as file:
        text = run("protoc", "--proto_path=" + here, "--decode=perfetto.protos.Trace", here + "/perfetto_trace.proto", stdin=file)
    number = re.search(r"event_names \{\s+iid: (\d+)\s+name: \"" + re.escape(function) + r'["(]', text).group(1)
    for event in re.findall(r"^  track_event \{\n(.*?)^  \}", text, re.MULTILINE | re.DOTALL):
        if not re.search(rf"name_iid: {number}$", event, re.MULTILINE):
            continue
        for kind, value, key in re.findall(r"debug_annotations \{\s+(\w+)_value: (.*)\s+name: (.*)", event):
            if json.loads(key) == name:
                yield value[1:-1].encode("ascii").decode("unicode_escape").encode("latin-1").decode("utf-8") if kind == "string" else value


def ctf(path, function, name):
    quoted = r'"((?:[^"\\]|\\.)*)"'
    for line in run("babeltrace2", path).splitlines():
        if "dwell:values:" in line and re.search(rf'"{re.escape(function)}(\(.*)?" : container', line):
            for key, value in re.findall(rf"name = {quoted}, value = {quoted}", line):
                if key == name:
                    yield re.sub(r"\\(.)", r"\1", value)


def sqlite(path, function, name):
    rows = run("sqlite3", "-json", path, "SELECT value, typeof(value) AS type FROM call_value v JOIN valued_call c ON c.id = v.call"
               f" JOIN function f ON f.id = c.function WHERE (f.name = '{function}' OR f.name LIKE '{function}(%') AND v.name = '{name}' ORDER BY c.id")
    for row in json.loads(rows):
        yield plain(row["value"])


for printed in {"chrome": chrome, "firefox": firefox, "perfetto": perfetto, "ctf": ctf, "sqlite": sqlite}[sys.argv[1]](*sys.argv[2:]):
    print(printed)
