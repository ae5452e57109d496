#!/usr/bin/env python3
"""Check HTP's DAG JSON and operation metadata against the ONNX file, independently of HTP's code.

    dag_check.py [--bin build/bin] CORPUS [MODEL[/VARIANT] ...]

Tags every model of CORPUS (see corpus/README.md) and checks, from the tagged ONNX file alone:
  - every tag of tree.json that is not of torch.nn and whose module ran, according to the trace, has an
    entry, and there are no entries for other tags
  - an entry has every operation of its module and of those below it, except Constants, in order
  - its edges are exactly those of the graph between its operations
  - both JSON files match their schemas, and a second run gives the same bytes
Prints one line per model and fails if anything differs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import onnx

ROOT = Path(__file__).resolve().parent.parent
TRACES = {
    "ts": "trace.pt",
    "dynamo": "trace.pt2",
    "ts-dyn": "trace.pt",
    "dynamo-dyn": "trace-dyn.pt2",
}


def operations(graph):
    """Every node of a graph; those in subgraphs follow the node that contains them."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for body in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from operations(body)


def node_names(nodes):
    """The names in the file, or `Type#N` and `name#N` if a name is missing or taken (docs/formats/dag.md)."""
    names, taken, later = [None] * len(nodes), set(), []
    for place, node in enumerate(nodes):
        if node.name and node.name not in taken:
            names[place] = node.name
            taken.add(node.name)
        else:
            later.append(place)
    for place in later:
        name = nodes[place].name or nodes[place].op_type
        while True:
            name += f"#{place}"
            if name not in taken:
                break
        names[place] = name
        taken.add(name)
    return names


def expected(path):
    """{tag: (nodes, edges)} by the metadata and the value names in a tagged file."""
    model = onnx.load(path, load_external_data=False)
    nodes = list(operations(model.graph))
    names = node_names(nodes)
    tags = [{p.key: p.value for p in node.metadata_props}.get("htp.tag") for node in nodes]
    maker = {value: place for place, node in enumerate(nodes) for value in node.output if value}
    edges = []
    for place, node in enumerate(nodes):
        if node.op_type != "Constant":
            producers = dict.fromkeys(maker[v] for v in node.input if v in maker)
            edges += [(p, place) for p in producers if nodes[p].op_type != "Constant"]

    def entry(tag):
        inside = [t is not None and (t == tag or t.startswith(tag + "/")) for t in tags]
        return (
            [n for n, i, node in zip(names, inside, nodes) if i and node.op_type != "Constant"],
            [[names[a], names[b]] for a, b in edges if inside[a] and inside[b]],
        )

    return entry, names


def read_trace(programs, archive, tree, path):
    """The trace of an archive. One of torch.export knows only the modules that ran; as htp.export
    does, the others are added: a tag has the classes of all modules on the way to it."""
    subprocess.run([programs / "htp-trace", archive, "-o", path], check=True)
    trace = json.loads(path.read_text())
    known = {module["path"]: module for module in trace["modules"]}
    others = {alias for module in trace["modules"] for alias in module.get("aliases", ())}
    trace["modules"] = [
        known.get(m["path"])
        or dict(
            path=m["path"],
            **{"class": m["cls"]},
            qualified=m["qualified"],
            torch_nn=m["torch_nn"],
            calls=0,
            parameters=[],
        )
        for m in tree
        if m["path"] in known or m["path"] not in others
    ]
    path.write_text(json.dumps(trace))


def check(source, trace, tree, programs, schemas):
    """The problems of the outputs for one model."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        outputs = []
        for run in "ab":
            files = [
                Path(folder, f"{run}{suffix}") for suffix in (".onnx", ".dag.json", ".ops.json")
            ]
            command = [programs / "htp-opt", source, f"--htp-tag=trace={trace}", "-o", files[0]]
            command += [f"--dag-json={files[1]}", f"--op-metadata={files[2]}"]
            ended = subprocess.run(command, capture_output=True, text=True)
            if ended.returncode:
                return [f"htp-opt failed: {ended.stderr.strip().splitlines()[-1:]}"], 0, 0
            outputs.append(files)
        for first, second in zip(*outputs):
            if first.read_bytes() != second.read_bytes():
                problems.append(f"{first.suffixes} differs between two runs")
        dag, ops = (json.loads(file.read_text()) for file in outputs[0][1:])
        for name, value in (("dag", dag), ("op-metadata", ops)):
            errors = list(jsonschema.Draft202012Validator(schemas[name]).iter_errors(value))
            problems += [f"{name}: {error.message}" for error in errors[:3]]
        entry, names = expected(outputs[0][0])
        tags = {m["path"]: m["tag"] for m in tree if not m["torch_nn"]}
        calls = {m["path"]: m["calls"] for m in json.loads(trace.read_text())["modules"]}
        ran = {tag for path, tag in tags.items() if calls.get(path)}
        missing = {tag for tag in tags.values() if tag not in dag and (tag in ran or entry(tag)[0])}
        if missing or set(dag) - set(tags.values()):
            problems.append(f"tags: {sorted(missing | (set(dag) - set(tags.values())))[:5]}")
        if list(ops["nodes"]) != names:
            problems.append("operation metadata has other nodes than the file")
        for tag, found in dag.items():
            nodes, edges = entry(tag)
            if found["nodes"] != nodes:
                problems.append(f"{tag}: nodes {sorted(set(found['nodes']) ^ set(nodes))[:5]}")
            if found["edges"] != edges:
                problems.append(f"{tag}: {len(found['edges'])} edges, {len(edges)} in the graph")
    return problems, len(dag), len(names)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("models", nargs="*", help="NAME or NAME/VARIANT; all where none is given")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/bin")
    options = parser.parse_args()
    schemas = {
        name: json.loads((ROOT / f"docs/formats/{name}.schema.json").read_text())
        for name in ("dag", "op-metadata")
    }
    failed = checked = 0
    with tempfile.TemporaryDirectory() as temporary:
        for folder in sorted(p for p in options.corpus.iterdir() if p.is_dir()):
            tree = json.loads((folder / "tree.json").read_text())
            for variant, archive in TRACES.items():
                source, name = folder / f"{variant}.onnx", f"{folder.name}/{variant}"
                chosen = not options.models or {name, folder.name} & set(options.models)
                if not chosen or not source.exists() or not (folder / archive).exists():
                    continue
                trace = Path(temporary, f"{folder.name}.{archive}.json")
                if not trace.exists():
                    read_trace(options.bin, folder / archive, tree, trace)
                problems, entries, nodes = check(source, trace, tree, options.bin, schemas)
                checked += 1
                failed += bool(problems)
                print(
                    f"{name:24} {entries:4} entries {nodes:5} nodes  {'; '.join(problems) or 'ok'}",
                    flush=True,
                )
    print(f"{checked} models, {failed} failed")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
