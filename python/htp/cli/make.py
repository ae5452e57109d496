"""Commands that write models: export, trace, tag, outline, extract."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .. import tagging
from ..errors import BadInput
from ..exporting import export
from ..files import Outputs, check_writable
from ..model import TaggedModel
from ..recording import trace
from ..report import markdown
from ..viewing import view
from .commands import Commands, add_run, run_of
from .console import Console, count, fit_line, in_percent, printable

if TYPE_CHECKING:
    from ..sources import Source

EXPORT = """\
Export a PyTorch model and tag every node

MODEL is a name on the Hugging Face hub, a local checkpoint, package.module:factory, or a file.py with
build(). A factory returns the model, or a pair of the model and its inputs (a tuple or a dict).

examples:
  htp export google/bert_uncased_L-2_H-128_A-2 -o bert.onnx
  htp export ./checkpoint -o model.onnx --exporter torchscript --dynamic
  htp export ./decoder -o step.onnx --use-cache --dynamic
  htp export mypackage.models:build -o net.onnx --input-specs inputs.json
  htp export net.py -o net.onnx --outline --report

inputs.json: {"x":   {"shape": [1, 8], "dtype": "float32"},
              "ids": {"shape": [1, 16], "dtype": "int64", "range": [0, 99]}}
"""
TRACE = """\
Write the trace of a PyTorch model, for an ONNX file you already have

MODEL is as for htp export, or an archive that PyTorch saved: TorchScript (.pt) or torch.export (.pt2). The trace
contains modules, operations, and sketches of all parameters, which identify them in optimized and quantized models.

examples:
  htp trace net.py:build -o net.trace.json
  htp trace ./checkpoint -o model.trace.json --tracer torchscript
  htp trace mypackage.models:build --input-specs inputs.json
  htp trace model.pt2
  htp tag somewhere-else.onnx --trace model.trace.json
"""
TAG = """\
Tag an ONNX model that is already exported

Uses a trace of the PyTorch model, or the same model as it was tagged before an optimizer ran. With neither, HTP relies
on the names and annotations in the file.

examples:
  htp tag model.onnx --trace trace.json -o tagged.onnx
  htp tag model.onnx --trace model.pt2
  htp tag optimized.onnx --reference tagged.onnx
  htp tag quantized.onnx --trace trace.json --model model.py:build --run inputs.npz
"""
OUTLINE = """\
Turn every module into a function; equal modules share one function

examples:
  htp outline bert.onnx -o bert.outlined.onnx
  htp outline bert.onnx --classes BertLayer
"""
EXTRACT = """\
Write one module as a separate model

examples:
  htp extract bert.onnx encoder.layer.0 -o layer.onnx
  htp extract bert.onnx /BertModel/BertEncoder/BertLayer.0
"""


_SIDES = (
    ".ops.json",
    ".dag.json",
    ".trace.json",
    ".inputs.npz",
    ".graphml",
    ".report.md",
    ".html",
)


def register(commands: Commands) -> None:
    parser = commands.add("export", EXPORT, run_export)
    _add_source(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="model.onnx", help="default: %(default)s"
    )
    parser.add_argument(
        "--exporter",
        choices=["auto", "torchscript", "dynamo"],
        default="auto",
        help="auto (default): dynamo, or torchscript if that fails",
    )
    parser.add_argument("--opset", metavar="N", type=int, help="version of the ONNX operators")
    parser.add_argument(
        "--dynamic",
        action="store_true",
        help="dynamic batch size, and dynamic length of inputs of shape (batch, length)",
    )
    parser.add_argument("--outline", action="store_true", help="one function for every module")
    parser.add_argument(
        "--no-inputs",
        action="store_true",
        help="do not write the example inputs (NAME.inputs.npz)",
    )
    _add_storage(parser)
    _add_sides(parser)

    parser = commands.add("trace", TRACE, run_trace)
    _add_source(parser, ", .pt, .pt2")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="default: model.trace.json; for an archive, NAME.trace.json",
    )
    parser.add_argument(
        "--tracer",
        choices=["auto", "export", "torchscript"],
        default="auto",
        help="auto (default): torch.export, or torch.jit.trace if that fails",
    )

    parser = commands.add("tag", TAG, run_tag)
    parser.add_argument("model", help="an ONNX file")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: NAME.tagged.onnx")
    parser.add_argument("--trace", metavar="FILE", help="trace.json, or a .pt or .pt2 archive")
    parser.add_argument("--reference", metavar="FILE", help="the same model, already tagged")
    add_run(parser)
    parser.add_argument(
        "--force",
        action="store_true",
        help="accept a trace, reference or PyTorch model that seems to be another one",
    )
    parser.add_argument(
        "--overrides", metavar="FILE", help="JSON: maps names of nodes or values to modules"
    )
    parser.add_argument("--policy", metavar="FILE", help="JSON: rules for resolving conflicts")
    _add_storage(parser)
    _add_sides(parser)

    parser = commands.add("outline", OUTLINE, run_outline)
    parser.add_argument("model", help="a tagged model")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: NAME.outlined.onnx")
    parser.add_argument("--classes", metavar="A,B", help="only modules of these classes")
    parser.add_argument("--modules", metavar="A,B", help="only modules at these paths")
    parser.add_argument(
        "--max-depth", metavar="N", type=int, help="nest functions at most this deep"
    )

    parser = commands.add("extract", EXTRACT, run_extract)
    parser.add_argument("model", help="a tagged model")
    parser.add_argument("module", help="its path, or its tag")
    parser.add_argument("-o", "--output", metavar="FILE", help="default: NAME.PATH.onnx")


def _add_source(parser: argparse.ArgumentParser, more: str = "") -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        help=f"Hugging Face name or folder, package.module:factory, file.py{more}",
    )
    parser.add_argument("--input-specs", metavar="JSON", help="inputs as JSON, or a JSON file")
    parser.add_argument(
        "--use-cache",
        action="store_true",
        help="one decoder step, with caches as inputs (past_key_values.0.key) and outputs (present.0.key)",
    )


def _add_storage(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tag-storage",
        choices=["metadata", "compact", "attribute", "none"],
        default="metadata",
        help="metadata (default); compact: only what HTP itself reads; attribute: node attributes, which checkers and "
        "ONNX Runtime reject; none: only in NAME.ops.json",
    )


def _add_sides(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--graphml", action="store_true", help="also write NAME.graphml")
    parser.add_argument("--report", action="store_true", help="also write NAME.report.md")
    parser.add_argument(
        "--page", action="store_true", help="also write NAME.html, as 'htp view' does"
    )


def run_export(options: argparse.Namespace, console: Console) -> int:
    target = Path(options.output)
    _check_outputs(target, options)
    # Exporters would treat a dimension of size 1 as constant.
    source = _load(options, console, batch=2 if options.dynamic else 1)
    model = export(
        source.model,
        source.args,
        target,
        kwargs=source.kwargs,
        exporter=options.exporter,
        opset=options.opset,
        dynamic_shapes="auto" if options.dynamic else None,
        outline=options.outline,
        graphml=options.graphml,
        inputs=not options.no_inputs,
        tag_storage=options.tag_storage,
        progress=console.progress,
    )
    return _finish(model, options, console)


def _load(options: argparse.Namespace, console: Console, batch: int = 1) -> Source:
    """The PyTorch model of a command line, with an example call."""
    from ..sources import load_source, read_specs

    specs = read_specs(options.input_specs) if options.input_specs else None
    console.progress(f"loading {options.model}")
    return load_source(options.model, specs, batch=batch, cache=options.use_cache)


def run_trace(options: argparse.Namespace, console: Console) -> int:
    if options.output:
        check_writable(Path(options.output))
    if options.model.endswith((".pt", ".pt2")) and not Path(options.model).is_dir():
        for name in ("input_specs", "use_cache"):
            if getattr(options, name):
                flag = name.replace("_", "-")
                raise BadInput(
                    f"--{flag} needs a model to run, but {options.model} is already a trace"
                )
        made = trace(options.model, f=options.output, progress=console.progress)
    else:
        source = _load(options, console)
        made = trace(
            source.model,
            source.args,
            options.output or "model.trace.json",
            kwargs=source.kwargs,
            tracer=options.tracer,
            progress=console.progress,
        )
    s = made.statistics
    console.note(
        f"{printable(made.path)}: {count(s['ops'], 'operation')} of {count(s['modules'], 'module')}, "
        f"{count(s['parameters'], 'parameter')}, {s['sketches']} with sketches ({made.source})"
    )
    _say_replaced(made.replaced, console)
    console.result(
        {
            "files": [str(made.path)],
            "replaced": [str(f) for f in made.replaced],
            "source": made.source,
            "warnings": console.warnings,
            "statistics": s,
        }
    )
    return 0


def _check_outputs(target: Path, options: argparse.Namespace) -> None:
    """Checks paths before the work starts, so that a typo does not cost its time."""
    check_writable(target)
    if options.report:
        check_writable(_report(target))
    if options.page:
        check_writable(target.with_suffix(".html"))


def _report(model: Path) -> Path:
    return model.with_suffix(".report.md")


def run_tag(options: argparse.Namespace, console: Console) -> int:
    if options.output:
        _check_outputs(Path(options.output), options)
    console.progress(f"tagging {options.model}")
    model = tagging.tag(
        options.model,
        options.output,
        trace=options.trace,
        reference=options.reference,
        **run_of(options),
        progress=console.progress,
        overrides=options.overrides,
        policy=options.policy,
        force=options.force,
        tag_storage=options.tag_storage,
        graphml=options.graphml,
    )
    return _finish(model, options, console)


def _finish(model: TaggedModel, options: argparse.Namespace, console: Console) -> int:
    """Writes the report and the page, and prints what was written."""
    files = [model.path]
    if options.report:
        report = _report(model.path)
        with Outputs(report) as outputs:
            outputs[report].write_text(markdown(model), encoding="utf-8")
    if options.page:
        replaced = model.replaced
        view(model)
        model.replaced = [*replaced, *model.replaced]
    for suffix in _SIDES:
        if (file := model.path.with_suffix(suffix)).exists():
            files.append(file)
    if options.tag_storage == "attribute":
        console.note(
            "warning: tags are stored as node attributes: onnx.checker and ONNX Runtime reject this model"
        )
    s = model.statistics
    console.note(
        f"{printable(model.path)}: {count(s['nodes'], 'node')} of {count(s['modules'], 'module')}, "
        f"{in_percent(s)}, mean confidence {s['confidence']:.3f}"
    )
    for fit in s.get("fit", ()):
        console.note(f"  {fit_line(fit)}")
    if model.exporter:
        console.note(f"  exported with the {model.exporter} exporter")
    for file in files[1:]:
        console.note(f"  {printable(file)}")
    _say_replaced(model.replaced, console)
    console.result(
        {
            "files": [str(f) for f in files],
            "replaced": [str(f) for f in model.replaced],
            "exporter": model.exporter,
            "fallback": model.fallback,
            "warnings": console.warnings,
            "statistics": s,
            "seconds": {name: round(value, 3) for name, value in model.seconds.items()},
        }
    )
    return 0


def _say_replaced(files: Iterable[Path], console: Console) -> None:
    """Mentions every file that was overwritten."""
    for file in files:
        console.remark(f"replaced {printable(file)}")


def run_outline(options: argparse.Namespace, console: Console) -> int:
    console.progress(f"outlining {options.model}")
    model = tagging.outline(
        options.model,
        options.output,
        classes=options.classes.split(",") if options.classes is not None else (),
        modules=options.modules.split(",") if options.modules is not None else (),
        max_depth=options.max_depth,
    )
    functions = model.metadata["functions"]
    calls = sum(len(function["calls"]) for function in functions.values())
    console.note(
        f"{printable(model.path)}: {count(len(functions), 'function')}, called {count(calls, 'time')}"
    )
    console.table(
        ("function", "calls"),
        [(name, len(function["calls"])) for name, function in functions.items()],
    )
    _say_replaced(model.replaced, console)
    console.result(
        {
            "files": [str(model.path)],
            "replaced": [str(f) for f in model.replaced],
            "functions": functions,
        }
    )
    return 0


def run_extract(options: argparse.Namespace, console: Console) -> int:
    if options.output:
        check_writable(Path(options.output))
    console.progress(f"reading {options.model}")
    model = tagging.load(options.model)
    target = model.extract(options.module, options.output)
    console.note(f"{printable(target)}: module {printable(options.module)}")
    _say_replaced(model.replaced, console)
    console.result({"files": [str(target)], "replaced": [str(f) for f in model.replaced]})
    return 0
