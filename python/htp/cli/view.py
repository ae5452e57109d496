"""The command that shows a model in a browser: view."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

from ..editing import EditServer
from ..errors import BadInput
from ..explorer import write_node_data
from ..figures import figures_of
from ..files import check_writable
from ..model import TaggedModel
from ..tagging import existing, load
from ..viewing import view
from .commands import Commands, add_dim, dimensions
from .console import Console, count, printable

VIEW = """\
Show modules, figures and the graph in a browser

Writes one HTML page that needs no network and no other files. It shows a treemap and a table of modules by nodes,
parameters, bytes, multiply-adds, confidence, time and error; the graph, module by module; and uncertain tags, which you
can correct. Corrections are downloaded as overrides.json, for 'htp tag --overrides'.

With --edit, no page is written: a server that only this machine can reach shows it, and writes your corrections into
MODEL. Ctrl-C stops the server.

examples:
  htp view bert.onnx
  htp view bert.onnx -o page.html --open
  htp profile bert.onnx --json > times.json; htp diff bert.onnx int8.onnx --json > errors.json
  htp view bert.onnx --profile times.json --diff errors.json
  htp view bert.onnx --dim batch=1 --dim length=128
  htp view bert.onnx --edit --open
  htp view bert.onnx --model-explorer bert
  model-explorer bert.onnx --extensions=model_explorer_onnx --node_data_paths=bert.confidence.json
"""


def register(commands: Commands) -> None:
    parser = commands.add("view", VIEW, run_view)
    parser.add_argument("model", metavar="MODEL", help="a tagged model, or its .ops.json")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: NAME.html")
    parser.add_argument("--profile", metavar="FILE", help="time by module: htp profile --json")
    parser.add_argument("--diff", metavar="FILE", help="error by module: htp diff --json")
    add_dim(parser)
    parser.add_argument(
        "--model-explorer",
        metavar="PREFIX",
        help="also write per-node figures for Model Explorer: PREFIX.confidence.json, …",
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument(
        "--edit", action="store_true", help="serve the page, and write corrections into MODEL"
    )


def run_view(options: argparse.Namespace, console: Console) -> int:
    return _edit(options, console) if options.edit else _write(options, console)


def _write(options: argparse.Namespace, console: Console) -> int:
    target = (
        Path(options.output) if options.output else existing(options.model).with_suffix(".html")
    )
    check_writable(target)
    if target.exists() and target.samefile(options.model):
        raise BadInput(f"{target} is the model: choose another name for the page")
    console.progress(f"reading {options.model}")
    model = load(options.model)
    if options.dim:
        model.figures = figures_of(model, dimensions(options.dim))
    view(model, target, profile=options.profile, diff=options.diff)
    console.note(
        f"{printable(target)}: {count(len(model.figures.nodes), 'operation')} of "
        f"{count(len(model.modules), 'module')}, {target.stat().st_size / 1e6:.1f} MB"
    )
    for note in model.figures.notes:
        console.remark(f"not counted: {printable(note)}")
    for file in model.replaced:
        console.remark(f"replaced {printable(file)}")
    files = [target]
    if options.model_explorer:
        files += _write_node_data(model, options, console)
    if options.open and not webbrowser.open(target.resolve().as_uri()):
        console.warning(f"no browser found: open {target.resolve().as_uri()} yourself")
    console.result(
        {
            "files": [str(file) for file in files],
            "replaced": [str(file) for file in model.replaced],
            "notes": model.figures.notes,
            "warnings": console.warnings,
        }
    )
    return 0


def _write_node_data(
    model: TaggedModel, options: argparse.Namespace, console: Console
) -> list[Path]:
    files, replaced, nameless = write_node_data(
        model, options.model_explorer, profile=options.profile, diff=options.diff
    )
    if nameless:
        console.warning(
            f"{nameless} nodes have no name in the file: Model Explorer cannot find them"
        )
    for file in files:
        console.note(f"  {printable(file)}")
    for file in replaced:
        console.remark(f"replaced {printable(file)}")
    model.replaced = [*model.replaced, *replaced]
    return files


def _edit(options: argparse.Namespace, console: Console) -> int:
    for name, flag in (("output", "-o"), ("dim", "--dim"), ("model_explorer", "--model-explorer")):
        if getattr(options, name):
            raise BadInput(f"--edit writes no page: {flag} would have no effect")
    console.progress(f"reading {options.model}")
    server = EditServer(options.model, profile=options.profile, diff=options.diff)
    console.result({"address": server.address, "file": str(server.path)})
    console.text(
        f"{server.address}\nCorrections are written into {printable(server.path)}. Ctrl-C stops the server."
    )
    console.flush()
    if options.open and not webbrowser.open(server.address):
        console.warning("no browser found: open the address yourself")
    try:
        server.run()
    except KeyboardInterrupt:
        console.note("stopped")
    return 0
