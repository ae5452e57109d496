"""Commands that look at models: analyze, explain, doctor."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .commands import Commands, add_dim, add_run, dimensions, run_of
from .console import Console, count, fit_line, in_percent, printable

# Everything else that a command needs is loaded when it runs.
if TYPE_CHECKING:
    from ..figures import NodeCosts
    from ..model import Node, TaggedModel
    from ..native import Running

ANALYZE = """\
Show modules and their costs, coverage, evidence and confidence

Shows, for each module, the nodes of its own code and of all modules below it, and the parameters, weight bytes and
multiply-adds including all modules below it; anything shared counts once. Equal layers share one line: 24 × BertLayer.

examples:
  htp analyze bert.onnx
  htp analyze bert.onnx --dim batch=1 --dim length=128
  htp analyze bert.onnx --filter-tag /BertModel/BertEncoder/BertLayer.0
  htp analyze bert.onnx --show-resolution-details
  htp analyze bert.onnx --csv > nodes.csv
  htp analyze bert.onnx --json | jq '.modules[] | [.path, .costs.total_multiply_adds]'
"""
EXPLAIN = """\
Say why a node belongs to its module

Give the node's name, or the name of a value that it makes. With --trace or --reference, the possible origins are
listed, with the evidence for each and why the others lost.

examples:
  htp explain bert.onnx /encoder/layer.0/output/Add
  htp explain optimized.onnx SkipLayerNorm_3 --reference bert.onnx
"""

DOCTOR = """\
Show what is installed, what is missing, and which commands need it

example:
  htp doctor
"""


def register(commands: Commands) -> None:
    parser = commands.add("analyze", ANALYZE, run_analyze)
    parser.add_argument("model", help="a tagged model, or its .ops.json")
    parser.add_argument("--csv", action="store_true", help="print CSV with one line per node")
    add_dim(parser)
    parser.add_argument(
        "--filter-tag",
        metavar="TAG",
        help="show only nodes of the module with this tag or path, and of the modules below it",
    )
    parser.add_argument(
        "--show-resolution-details",
        action="store_true",
        help="show every node with several contexts, and why it has its tag",
    )

    parser = commands.add("explain", EXPLAIN, run_explain)
    parser.add_argument("model", help="a tagged model; with --trace or --reference, any ONNX model")
    parser.add_argument("node", help="the name of a node, or of a value that it makes")
    known = parser.add_mutually_exclusive_group()
    known.add_argument("--trace", metavar="FILE", help="a trace of the model: .json, .pt or .pt2")
    known.add_argument(
        "--reference", metavar="MODEL", help="the same model, tagged before an optimizer ran"
    )
    add_run(parser)

    commands.add("doctor", DOCTOR, run_doctor)


def filtered(model: TaggedModel, module: str | None) -> list[Node]:
    """All nodes, or those of a module and the modules below it, constants included."""
    if module is None:
        return list(model.nodes.values())
    return model.nodes_in(module, constants=True)


def run_analyze(options: argparse.Namespace, console: Console) -> int:
    from ..holding import existing
    from ..onnxfile import check_tagged
    from ..sizes import start_figures, start_module_figures

    gc.disable()  # many small objects in a short-lived process: looking for cycles would take half the time
    console.progress(f"reading {options.model}")
    path, dims = existing(options.model), dimensions(options.dim)
    if path.suffix != ".json":
        check_tagged(path)
    details = options.csv or options.show_resolution_details
    summary = not (details or console.json or options.filter_tag is not None)
    if summary and path.suffix != ".json":
        running = start_module_figures(path, dims)
        show_summary(with_figures(path, running, dims), console)
        return 0
    started = None if details else start_figures(path, dims)
    from ..figures import figures_of
    from ..tagging import load

    model = load(path)
    if started or dims:
        model.figures = figures_of(model, dims, started)
    if summary:
        show_summary(model, console)
        return 0
    nodes = filtered(model, options.filter_tag)
    if options.csv:
        write_csv(nodes)
        return 0
    if console.json:
        console.result(as_json(model, nodes, options))
        return 0
    if options.show_resolution_details:
        show_details(nodes, console)
    else:
        console.text(f"{count(len(nodes), 'node')} below {printable(options.filter_tag)}")
        console.table(
            ("node", "type", "module", "evidence", "confidence"),
            [(n.name, n.op_type, n.scope, n.evidence, f"{n.confidence:.2f}") for n in nodes],
        )
    return 0


def with_figures(path: Path, running: Running, dims: dict[str, int]) -> TaggedModel:
    """The model that `running` is reading in the meantime."""
    from .. import repeats  # noqa: F401 (loaded while the program runs)
    from ..figures import figures_of
    from ..model import TaggedModel

    model = TaggedModel(path, running.read())
    model.figures = figures_of(model, dims)
    return model


def as_json(model: TaggedModel, nodes: list[Node], options: argparse.Namespace) -> dict[str, Any]:
    """The metadata, with only the requested nodes."""
    from ..figures import module_json, unsure
    from ..repeats import Repeats

    names = {node.name for node in nodes}
    if options.show_resolution_details:
        names = {node.name for node in nodes if node.contexts or node.reason}
    return {
        "file": str(model.path),
        "statistics": model.statistics,
        "modules": module_json(model, model.figures),
        "repeated": [
            {"class": group.first.class_name, "modules": [m.path for m in group.modules]}
            for group in Repeats(model).groups()
        ],
        "notes": model.figures.notes,
        "unsure": [node.name for node in unsure(model) if node.name in names],
        "nodes": {
            name: _with_costs(entry, model.figures.nodes.get(name))
            for name, entry in model.metadata["nodes"].items()
            if name in names
        },
    }


def _with_costs(entry: Mapping[str, Any], costs: NodeCosts | None) -> Mapping[str, Any]:
    return {**entry, "costs": vars(costs)} if costs else entry


def show_summary(model: TaggedModel, console: Console) -> None:
    from ..figures import short_costs, unsure
    from ..repeats import Repeats

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
    figures = model.figures
    console.table(
        ("module", "path", "calls", "own", "all", "parameters", "bytes", "multiply-adds"),
        [
            (
                branch + layers.short_tag,
                layers.names(""),
                layers.first.calls,
                model.tag_counts.get(layers.first.tag, 0),
                layers.first.total_nodes,
                *short_costs(figures.modules[layers.first.path]),
            )
            for branch, _, layers in Repeats(model).tree(torch_nn=False)
        ],
    )
    for note in figures.notes:
        console.text(f"not counted: {printable(note)}")
    show_unsure(unsure(model), console)


def show_unsure(nodes: list[Node], console: Console, most: int = 10) -> None:
    if not nodes:
        return
    console.text(f"\n{count(len(nodes), 'node')} uncertain or contested, least certain first:")
    console.table(
        ("node", "type", "module", "evidence", "confidence"),
        [
            (n.name, n.op_type, n.scope or "(root)", n.evidence or "none", f"{n.confidence:.2f}")
            for n in nodes[:most]
        ],
    )


def show_details(nodes: Iterable[Node], console: Console) -> None:
    """Shows every node that could have had another tag, with the evidence for each."""
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
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    columns = "name op_type domain tag scope call evidence confidence reason".split()
    writer.writerow([*columns, "contexts"])
    for node in nodes:
        contexts = ";".join(context.tag for context in node.contexts)
        writer.writerow([*(getattr(node, column) for column in columns), contexts])


def run_explain(options: argparse.Namespace, console: Console) -> int:
    from ..explaining import explain

    console.progress(f"explaining {options.node} in {options.model}")
    text = explain(
        options.model,
        options.node,
        trace=options.trace,
        reference=options.reference,
        **run_of(options),
    )
    if console.json:
        console.result({"node": options.node, "explanation": text})
    else:
        console.text("\n".join(map(printable, text.split("\n"))))
    return 0


def run_doctor(options: argparse.Namespace, console: Console) -> int:
    from ..doctor import diagnose

    findings = diagnose()
    console.table(
        ("", "what", "found", "needed for"),
        [("ok" if f.found else "missing", f.name, f.detail, f.purpose) for f in findings],
    )
    if remedies := dict.fromkeys(f.remedy for f in findings if f.remedy and not f.found):
        console.text("\nto install what is missing:")
        for remedy in remedies:
            names = ", ".join(f.name for f in findings if f.remedy == remedy and not f.found)
            console.text(f"  {remedy:32} {names}")
    ok = all(f.found for f in findings if f.needed)
    console.result({"ok": ok, "findings": [f.as_json() for f in findings]})
    return 0 if ok else 1
