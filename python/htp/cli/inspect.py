"""Commands that look at models: analyze, validate, compare, doctor."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable
from typing import Any

from ..comparison import compare
from ..doctor import diagnose
from ..model import Node, TaggedModel
from ..tagging import load
from ..validation import validate
from .console import Console, printable

RAW = argparse.RawDescriptionHelpFormatter

ANALYZE = """\
Show the modules of a tagged model, coverage, evidence and confidence.

examples:
  htp analyze bert.onnx
  htp analyze bert.onnx --filter-tag /BertModel/BertEncoder/BertLayer.0
  htp analyze bert.onnx --show-resolution-details
  htp analyze bert.onnx --csv > nodes.csv
  htp analyze bert.onnx --json | jq .statistics
"""
VALIDATE = """\
Check that a model is valid ONNX and that its tags are whole and true to its module tree.

examples:
  htp validate bert.onnx
  htp validate bert.onnx --check-contamination
  htp validate bert.outlined.onnx --numeric bert.onnx    the same outputs in ONNX Runtime
"""
COMPARE = """\
Show what differs between two tagged models: nodes, modules, and nodes that moved. Exit code 1 where
they differ.

example:
  htp compare before.onnx after.onnx
"""
DOCTOR = """\
Show what HTP found in this environment, and what is missing for which command.

example:
  htp doctor
"""


def register(commands: Any, common: argparse.ArgumentParser) -> None:
    def add(name: str, text: str, run: Any) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = commands.add_parser(
            name, help=text.splitlines()[0], description=text, formatter_class=RAW, parents=[common]
        )
        parser.set_defaults(run=run)
        return parser

    parser = add("analyze", ANALYZE, run_analyze)
    parser.add_argument("model", help="a tagged model, or its .ops.json")
    parser.add_argument("--csv", action="store_true", help="one line for every node")
    parser.add_argument(
        "--filter-tag", metavar="TAG", help="only nodes with this tag or one below it"
    )
    parser.add_argument(
        "--show-resolution-details",
        action="store_true",
        help="every node with several contexts: why it has its tag",
    )

    parser = add("validate", VALIDATE, run_validate)
    parser.add_argument("model", help="a tagged model")
    parser.add_argument(
        "--check-contamination",
        action="store_true",
        help="no operation may carry the tag of another layer",
    )
    parser.add_argument("--numeric", metavar="MODEL", help="compare outputs with this model's")

    parser = add("compare", COMPARE, run_compare)
    parser.add_argument("before", help="a tagged model, or its .ops.json")
    parser.add_argument("after", help="another one")

    add("doctor", DOCTOR, run_doctor)


def filtered(model: TaggedModel, tag: str | None) -> list[Node]:
    nodes = model.nodes.values()
    if tag is None:
        return list(nodes)
    tag = tag.rstrip("/")
    return [n for n in nodes if n.tag == tag or (n.tag or "").startswith(f"{tag}/")]


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
        console.text(f"{len(nodes)} nodes below {printable(options.filter_tag)}")
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
        f"{model.path}: {s['nodes']} nodes ({s['constants']} constants), "
        f"{s['initializers']} initializers, {s['modules']} modules"
    )
    console.text(
        f"{100 * s['coverage']:.1f} % tagged, mean confidence {s['confidence']:.3f}, "
        f"{s['shared']} shared, {s['contested']} contested, {s['contaminated']} contaminated"
    )
    if model.metadata["functions"]:
        functions = model.metadata["functions"].values()
        calls = sum(len(function["calls"]) for function in functions)
        console.text(f"{len(functions)} functions, called {calls} times")
    console.text("")
    console.table(
        ("evidence", "nodes", "confidence"),
        [(n or "none", k["nodes"], f"{k['confidence']:.3f}") for n, k in s["evidence"].items()],
    )
    console.text("")
    console.table(
        ("tag", "path", "calls", "own", "all"),
        [
            (m.tag, m.path, m.calls, m.nodes, m.total_nodes)
            for m in model.modules.values()
            if not m.torch_nn
        ],
    )


def show_details(nodes: Iterable[Node], console: Console) -> None:
    """Every node that could have had another tag, with all that spoke for each."""
    found = [node for node in nodes if node.contexts]
    console.text(f"{len(found)} nodes with several contexts")
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
    console.progress(f"reading {options.before} and {options.after}")
    before, after = load(options.before), load(options.after)
    result = compare(before, after)
    for what, names in (
        ("nodes only in the first", result.nodes_removed),
        ("nodes only in the second", result.nodes_added),
        ("modules only in the first", result.modules_removed),
        ("modules only in the second", result.modules_added),
    ):
        if names:
            console.text(f"{len(names)} {what}:")
            for name in names:
                console.text(f"  {printable(name)}")
    if result.moved:
        console.text(f"{len(result.moved)} nodes moved:")
        console.table(
            ("node", "from", "to"),
            [(m["node"], m["tag_before"], m["tag_after"]) for m in result.moved],
        )
    console.text(f"{result.same} nodes have the same tag in both")
    console.result(result.as_json())
    return 0 if result.equal else 1


def run_doctor(options: argparse.Namespace, console: Console) -> int:
    findings = diagnose()
    console.table(
        ("", "what", "found", "needed for"),
        [("ok" if f.found else "missing", f.name, f.detail, f.purpose) for f in findings],
    )
    ok = all(f.found for f in findings if f.needed)
    console.result({"ok": ok, "findings": [f.as_json() for f in findings]})
    return 0 if ok else 1
