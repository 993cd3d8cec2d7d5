"""Holds JSON documents of dwell to their schemas: schemas.py FOLDER FILE...

A document says which schema it has; each line of a replay is an object of replay.json. The schemas allow more keys, as
later versions may add some, but this program does not: a key that is printed has to be described. Prints which
schemas were used.
"""
import json
import os
import re
import sys

import jsonschema

folder, *files = sys.argv[1:]


def strict(schema):
    """The same schema, which allows no more keys than it describes."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: strict(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict):
        result.setdefault("additionalProperties", False)
    return result


def load(name):
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(strict(schema))


def documents(path):
    """[(name of the schema, document)] of a file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        document = json.loads(text)
    except json.JSONDecodeError:
        return [("replay", json.loads(line)) for line in text.splitlines()]
    name = document.get("schema")
    if name is None:
        return [("replay", document)] if "kind" in document else []
    if next(iter(document)) != "schema" or not re.fullmatch(r"dwell-[a-z]+-1", name):
        sys.exit(f"{path}: its schema is not its first key: {name}")
    return [(name[len("dwell-"):-len("-1")], document)]


def main():
    with open(os.path.join(folder, "remarks.json"), encoding="utf-8") as file:
        codes = set(json.load(file)["enum"])
    used, wrong = {}, []
    for path in files:
        for name, document in documents(path):
            used.setdefault(name, load(name) if name not in used else used[name])
            wrong += [f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"
                      for error in used[name].iter_errors(document)]
            wrong += [f"{path}: remark {remark['code']} is not in remarks.json"
                      for remark in document.get("remarks", []) if remark["code"] not in codes]
    print("\n".join(sorted(used)))
    sys.exit("\n".join(wrong) if wrong else 0)


main()
