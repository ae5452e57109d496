"""Checks trace.json files against the schema: validate.py SCHEMA FILE..."""

import json
import sys

import jsonschema

with open(sys.argv[1]) as file:
    validator = jsonschema.Draft202012Validator(json.load(file))
for path in sys.argv[2:]:
    with open(path) as file:
        trace = json.load(file)
    for error in validator.iter_errors(trace):
        sys.exit(f"{path}: {error.json_path}: {error.message}")
    paths = [module["path"] for module in trace["modules"]]
    if len(set(paths)) != len(paths) or paths[0] != "":
        sys.exit(f"{path}: module paths are not unique, or the root is not first")
print("valid")
