"""Commands that look at models: analyze, validate, compare, doctor."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..comparison import ASPECTS, Aspect, Comparison, compare
from ..doctor import diagnose
from ..errors import BadInput
from ..explaining import explain
from ..files import Outputs
from ..model import Node, TaggedModel
from ..structure import read_structure, structure_of
from ..tagging import existing, load
from ..validation import validate
from .commands import Commands
from .console import Console, count, fit_line, in_percent, printable

ANALYZE = """\
Show modules, coverage, evidence and confidence

examples:
  htp analyze bert.onnx
  htp analyze bert.onnx --filter-tag /BertModel/BertEncoder/BertLayer.0
  htp analyze bert.onnx --show-resolution-details
  htp analyze bert.onnx --csv > nodes.csv
  htp analyze bert.onnx --json | jq .statistics
"""
VALIDATE = """\
Check the model and its tags

Is it valid ONNX, has every node a tag, and do the tags agree with the module tree in the file? Exit code 1
where a check fails.

examples:
  htp validate bert.onnx
  htp validate bert.onnx --check-contamination
  htp validate bert.outlined.onnx --numeric bert.onnx
"""
COMPARE = """\
Show what differs between two tagged models, module by module

Modules and their classes, operations, attributes, parameters (types, shapes, values), constants, inputs and
outputs, and which nodes of the same name have another tag. Exit code 1 where they differ. Exports of different
exporters have the same modules and parameters, but other operations: compare those with --only.

For CI, keep what a model is made of, and compare later exports with it.

examples:
  htp compare before.onnx after.onnx
  htp compare torchscript.onnx dynamo.onnx --only modules,parameters
  htp compare model.onnx --write-baseline baseline.json
  htp compare model.onnx --baseline baseline.json
"""
EXPLAIN = """\
Say why a node belongs to its module

The node is named by itself, or by a value that it makes. With the trace or the reference that a model is tagged with,
the places that it could have come from are listed: what speaks for each, and why the others lost.

examples:
  htp explain bert.onnx /encoder/layer.0/output/Add
  htp explain optimized.onnx SkipLayerNorm_3 --reference bert.onnx
"""

DOCTOR = """\
Show what is installed, and what is missing for which command

example:
  htp doctor
"""


def register(commands: Commands) -> None:
    parser = commands.add("analyze", ANALYZE, run_analyze)
    parser.add_argument("model", help="a tagged model, or its .ops.json")
    parser.add_argument("--csv", action="store_true", help="one line for every node")
    parser.add_argument(
        "--filter-tag",
        metavar="TAG",
        help="only nodes of the module with this tag, or at this path, and of the modules below it",
    )
    parser.add_argument(
        "--show-resolution-details",
        action="store_true",
        help="every node with several contexts: why it has its tag",
    )

    parser = commands.add("explain", EXPLAIN, run_explain)
    parser.add_argument("model", help="a tagged model; with --trace or --reference any ONNX model")
    parser.add_argument("node", help="the name of a node, or of a value that it makes")
    known = parser.add_mutually_exclusive_group()
    known.add_argument("--trace", metavar="FILE", help="a trace of the model: .json, .pt or .pt2")
    known.add_argument(
        "--reference", metavar="MODEL", help="the same model, tagged before an optimizer ran"
    )

    parser = commands.add("validate", VALIDATE, run_validate)
    parser.add_argument("model", help="a tagged model")
    parser.add_argument(
        "--check-contamination",
        action="store_true",
        help="no operation may carry the tag of another layer",
    )
    parser.add_argument(
        "--numeric", metavar="MODEL", help="the same outputs as this model in ONNX Runtime"
    )

    parser = commands.add("compare", COMPARE, run_compare)
    parser.add_argument("before", metavar="MODEL", help="a tagged model, or its .ops.json")
    parser.add_argument("after", metavar="OTHER", nargs="?", help="another one")
    parser.add_argument(
        "--baseline", metavar="FILE", help="compare MODEL with this: a baseline, or a tagged model"
    )
    parser.add_argument(
        "--write-baseline", metavar="FILE", help="keep what MODEL is made of, as JSON"
    )
    parser.add_argument("--only", metavar="A,B", help=f"compare only these of {', '.join(ASPECTS)}")

    commands.add("doctor", DOCTOR, run_doctor)


def filtered(model: TaggedModel, module: str | None) -> list[Node]:
    """All nodes, or those of a module and what is below it, constants included."""
    if module is None:
        return list(model.nodes.values())
    return model.nodes_in(module, constants=True)


def run_analyze(options: argparse.Namespace, console: Console) -> int:
    console.progress(f"reading {options.model}")
    model = load(options.model)
    nodes = filtered(model, options.filter_tag)
    if options.csv:
        write_csv(nodes)
        return 0
    if console.json:
        console.result(as_json(model, nodes, options))
        return 0
    if options.show_resolution_details:
        show_details(nodes, console)
    elif options.filter_tag is not None:
        console.text(f"{count(len(nodes), 'node')} below {printable(options.filter_tag)}")
        console.table(
            ("node", "type", "module", "evidence", "confidence"),
            [(n.name, n.op_type, n.scope, n.evidence, f"{n.confidence:.2f}") for n in nodes],
        )
    else:
        show_summary(model, console)
    return 0


def as_json(model: TaggedModel, nodes: list[Node], options: argparse.Namespace) -> dict[str, Any]:
    """The metadata as it is, with the nodes that were asked for."""
    names = {node.name for node in nodes}
    if options.show_resolution_details:
        names = {node.name for node in nodes if node.contexts or node.reason}
    entries = model.metadata["nodes"]
    return {
        "file": str(model.path),
        "statistics": model.statistics,
        "modules": model.metadata["hierarchy"]["modules"],
        "nodes": {name: entry for name, entry in entries.items() if name in names},
    }


def show_summary(model: TaggedModel, console: Console) -> None:
    s = model.statistics
    console.text(
        f"{printable(model.path)}: {count(s['nodes'], 'node')} ({count(s['constants'], 'constant')}), "
        f"{count(s['initializers'], 'initializer')}, {count(s['modules'], 'module')}"
    )
    console.text(
        f"{in_percent(s)}, mean confidence {s['confidence']:.3f}, "
        f"{s['shared']} shared, {s['contested']} contested, {s['contaminated']} contaminated"
    )
    for fit in s.get("fit", ()):
        console.text(fit_line(fit))
    if functions := model.metadata["functions"]:
        calls = sum(len(function["calls"]) for function in functions.values())
        console.text(f"{count(len(functions), 'function')}, called {count(calls, 'time')}")
    console.text("")
    console.table(
        ("evidence", "nodes", "confidence"),
        [(n or "none", k["nodes"], f"{k['confidence']:.3f}") for n, k in s["evidence"].items()],
    )
    console.text("")
    console.table(
        ("module", "path", "calls", "own", "all"),
        [
            (
                branch + m.tag.rpartition("/")[2],
                m.path,
                m.calls,
                model.tag_counts.get(m.tag, 0),
                m.total_nodes,
            )
            for branch, _, m in model.branches(torch_nn=False)
        ],
    )


def show_details(nodes: Iterable[Node], console: Console) -> None:
    """Every node that could have had another tag, with all that spoke for each."""
    found = [node for node in nodes if node.contexts]
    console.text(f"{count(len(found), 'node')} with several contexts")
    for node in found:
        console.text(f"\n{printable(node.name)} ({printable(node.op_type)})")
        console.text(f"  {printable(node.tag)}  {node.evidence} {node.confidence:.2f}")
        if node.reason:
            console.text(f"    because: {printable(node.reason)}")
        for other in node.contexts:
            console.text(f"  not {printable(other.tag)}  {other.evidence} {other.confidence:.2f}")


def write_csv(nodes: Iterable[Node]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    columns = "name op_type domain tag scope call evidence confidence reason".split()
    writer.writerow([*columns, "contexts"])
    for node in nodes:
        contexts = ";".join(context.tag for context in node.contexts)
        writer.writerow([*(getattr(node, column) for column in columns), contexts])


def run_explain(options: argparse.Namespace, console: Console) -> int:
    console.progress(f"asking about {options.node} in {options.model}")
    text = explain(options.model, options.node, trace=options.trace, reference=options.reference)
    if console.json:
        console.result({"node": options.node, "explanation": text})
    else:
        console.text(text)
    return 0


def run_validate(options: argparse.Namespace, console: Console) -> int:
    console.progress(f"checking {options.model}")
    checks = validate(
        options.model, contamination=options.check_contamination, numeric=options.numeric
    )
    ok = all(check.ok for check in checks)
    for check in checks:
        state = f"skipped: {check.skipped}" if check.skipped else "ok" if check.ok else "failed"
        console.text(f"{check.name:14} {state}")
        for problem in check.problems:
            console.text(f"  {printable(problem)}")
    console.result({"valid": ok, "checks": [check.as_json() for check in checks]})
    return 0 if ok else 1


def run_compare(options: argparse.Namespace, console: Console) -> int:
    chosen = [options.after, options.baseline, options.write_baseline]
    if sum(option is not None for option in chosen) != 1:
        raise BadInput(
            "compare MODEL with OTHER, with --baseline FILE, or use --write-baseline FILE"
        )
    if options.write_baseline:
        return write_baseline(Path(options.before), Path(options.write_baseline), console)
    before, after = options.before, options.after
    if options.baseline:
        before, after = options.baseline, options.before
    console.progress(f"reading {before} and {after}")
    first = read_structure(existing(before)) or load(before)
    result = compare(first, load(after), aspects=_aspects(options.only))
    show_differences(result, console)
    console.result(result.as_json())
    return 0 if result.equal else 1


def write_baseline(model: Path, target: Path, console: Console) -> int:
    structure = structure_of(load(model))
    with Outputs(target) as outputs:
        text = json.dumps(structure.as_json(), indent=1, ensure_ascii=False)
        outputs[target].write_text(f"{text}\n", encoding="utf-8")
    console.note(
        f"{printable(target)}: {count(len(structure.modules), 'module')} of {printable(model)}"
    )
    for file in outputs.replaced:
        console.remark(f"replaced {printable(file)}")
    console.result({"files": [str(target)]})
    return 0


def _aspects(only: str | None) -> tuple[Aspect, ...]:
    if only is None:
        return ASPECTS
    names = [name.strip() for name in only.split(",")]
    if unknown := [name for name in names if name not in ASPECTS]:
        raise BadInput(f"--only names {unknown[0]!r}, expected some of {', '.join(ASPECTS)}")
    return tuple(aspect for aspect in ASPECTS if aspect in names)


def show_differences(result: Comparison, console: Console) -> None:
    for aspect in ASPECTS:
        found = [d for d in result.differences if d.aspect == aspect]
        if found:
            console.text(f"{count(len(found), 'difference')} in {aspect}:")
            console.table(("module", "difference"), [(d.module or "(root)", d.what) for d in found])
    if result.unknown:
        console.text(f"not compared: {', '.join(result.unknown)}")
    state = "no difference" if result.equal else count(len(result.differences), "difference")
    console.text(
        f"{state} in {count(result.modules, 'module')} that both have; "
        f"{count(result.same, 'node')} with the same name and tag"
    )


def run_doctor(options: argparse.Namespace, console: Console) -> int:
    findings = diagnose()
    console.table(
        ("", "what", "found", "needed for"),
        [("ok" if f.found else "missing", f.name, f.detail, f.purpose) for f in findings],
    )
    ok = all(f.found for f in findings if f.needed)
    console.result({"ok": ok, "findings": [f.as_json() for f in findings]})
    return 0 if ok else 1
