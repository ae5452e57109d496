#!/usr/bin/env python3
"""Compare the module trees that htp-trace finds with those of the models themselves.

    hierarchy_check.py CORPUS [--bin build/bin] [NAME ...]

For each model of the corpus, trace.pt must give exactly the modules of tree.json, with path, class and tag, and trace.pt2
exactly the modules that ran (those that left an op in trace.pt, or that contain one that did). If both know a module, they
must agree on its class, its calls and the shapes and fingerprints of its parameters. Every trace must match
docs/formats/trace.schema.json. The tags of a .pt2 are only counted, because it does not contain the classes of modules that
never ran. Prints a line for each wrong tree, and the totals.
"""

import argparse
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent / "docs/formats/trace.schema.json"


def run(*command) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


def trace_of(programs: Path, archive: Path, folder: Path) -> dict:
    target = folder / f"{archive.name}.json"
    run(programs / "htp-trace", archive, "-o", target)
    return json.loads(target.read_text())


def tags_of(programs: Path, model: Path, trace: Path, folder: Path) -> dict[str, str]:
    """The tag of each module, as htp-opt names it."""
    target = folder / "ops.json"
    attach = f"--htp-attach-hierarchy=trace={trace}"
    run(programs / "htp-opt", model, attach, f"--op-metadata={target}", "-o", "/dev/null")
    return {m["path"]: m["tag"] for m in json.loads(target.read_text())["hierarchy"]["modules"]}


def described(module: dict) -> tuple:
    return module["class"], module["qualified"], module["torch_nn"]


def differences(kind: str, found: dict, wanted: dict) -> list[str]:
    """What is missing, extra or different in a map from paths to descriptions."""
    said = [f"{kind}: '{path}' is missing" for path in wanted.keys() - found.keys()]
    said += [f"{kind}: '{path}' is extra" for path in found.keys() - wanted.keys()]
    said += [
        f"{kind}: '{path}' is {found[path]}, expected {wanted[path]}"
        for path in found.keys() & wanted.keys()
        if found[path] != wanted[path]
    ]
    return sorted(said)


def blocks(block: dict):
    yield block
    for op in block["ops"]:
        for inner in op.get("blocks", ()):
            yield from blocks(inner)


def ran(trace: dict) -> set[str]:
    """Modules whose forward ran and produced an op, directly or in a module below."""
    left = {op["module"] for block in blocks(trace) for op in block["ops"]} | {""}
    left |= {path[:i] for path in left for i, c in enumerate(path) if c == "."}
    return {m["path"] for m in trace["modules"] if m["calls"] and m["path"] in left}


def paths_of(modules: list[dict]) -> dict[str, dict]:
    """Modules by all of their paths, including those below an alias."""
    by_path = {module["path"]: module for module in modules}
    for module in modules:
        for alias in module.get("aliases", ()):
            for path, below in list(by_path.items()):
                if path == module["path"] or path.startswith(module["path"] + "."):
                    by_path.setdefault(alias + path[len(module["path"]) :], below)
    return by_path


def content(module: dict) -> dict:
    """The properties by which two archives of one model can be compared."""
    keys = ("shape", "dtype", "hash", "values_hash")
    return {p["name"]: tuple(str(p.get(key)) for key in keys) for p in module["parameters"]}


def check_pair(old: dict, new: dict) -> list[str]:
    """Where the trees of .pt and .pt2 disagree about a module that both know."""
    said = []
    for path in old.keys() & new.keys():
        a, b = old[path], new[path]
        if described(a) != described(b):
            said.append(f"agree: '{path}' is {described(a)} and {described(b)}")
        mine, others = content(a), content(b)
        for name in mine.keys() & others.keys():
            if mine[name] != others[name]:
                said.append(f"agree: '{path}' has {name} {mine[name]} and {others[name]}")
    return said


def check(programs: Path, folder: Path, counts: collections.Counter) -> list[str]:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    tree = json.loads((folder / "tree.json").read_text())
    wanted = {m["path"]: (m["cls"], m["qualified"], m["torch_nn"]) for m in tree}
    tags = {m["path"]: m["tag"] for m in tree}
    said, traces = [], {}
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for archive in ("trace.pt", "trace.pt2"):
            traces[archive] = trace_of(programs, folder / archive, work)
            errors = [
                f"{archive}: schema: {e.message}" for e in validator.iter_errors(traces[archive])
            ]
            said += errors
            counts["valid"] += not errors
            found = tags_of(programs, folder / "ts.onnx", work / f"{archive}.json", work)
            if archive == "trace.pt":
                tag_problems = differences("trace.pt: tag", found, tags)
            right = sum(tags.get(path) == tag for path, tag in found.items())
            counts.update({f"tags {archive}": right, f"of {archive}": len(found)})
    modules = {archive: paths_of(trace["modules"]) for archive, trace in traces.items()}
    found = {path: described(m) for path, m in modules["trace.pt"].items()}
    old = differences("trace.pt", found, wanted) + tag_problems
    active = {path: wanted[path] for path in ran(traces["trace.pt"]) if path in wanted}
    found = {path: described(m) for path, m in modules["trace.pt2"].items() if m["calls"]}
    new = differences("trace.pt2", found, active)
    agree = check_pair(modules["trace.pt"], modules["trace.pt2"])
    counts.update(trees=2, right=(not old) + (not new), agree=not agree, models=1)
    return said + old + new + agree


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--bin", type=Path, default=HERE.parent / "build/bin")
    parser.add_argument("--show", type=int, default=5, help="differences to print for each model")
    parser.add_argument("only", nargs="*")
    args = parser.parse_intermixed_args()
    counts, bad = collections.Counter(), 0
    for folder in sorted(path.parent for path in args.corpus.glob("*/tree.json")):
        if args.only and folder.name not in args.only:
            continue
        said = check(args.bin, folder, counts)
        bad += bool(said)
        for line in said[: args.show]:
            print(f"{folder.name}: {line}", flush=True)
    print(
        f"{counts['right']} of {counts['trees']} trees right, {counts['valid']} traces valid, "
        f"{counts['agree']} of {counts['models']} models agree between .pt and .pt2; tags: "
        f"{counts['tags trace.pt']} of {counts['of trace.pt']} from .pt, "
        f"{counts['tags trace.pt2']} of {counts['of trace.pt2']} from .pt2"
    )
    return 1 if bad or not counts["models"] else 0


if __name__ == "__main__":
    sys.exit(main())
