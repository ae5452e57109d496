"""Commands that write models: export, tag, outline, extract."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .. import tagging
from ..export import export
from ..files import Outputs, check_writable
from ..model import TaggedModel
from ..report import markdown
from .console import Console

RAW = argparse.RawDescriptionHelpFormatter

EXPORT = """\
Export a model with one of PyTorch's exporters and tag every node.

examples:
  htp export google/bert_uncased_L-2_H-128_A-2 -o bert.onnx
  htp export ./checkpoint -o model.onnx --exporter torchscript --dynamic
  htp export mypackage.models:build -o net.onnx --input-specs inputs.json
  htp export net.py -o net.onnx                      net.py has build(), which returns the model,
                                                     or (model, inputs)
  inputs.json: {"x": {"shape": [1, 8], "dtype": "float32"},
                "ids": {"shape": [1, 16], "dtype": "int64", "range": [0, 99]}}
"""
TAG = """\
Tag a model that was exported before. Without a trace, what the model says itself is all there is.

examples:
  htp tag model.onnx --trace trace.json -o tagged.onnx
  htp tag model.onnx --trace model.pt2
  htp tag optimized.onnx --reference tagged.onnx       the same model before an optimizer ran
"""
OUTLINE = """\
Turn every module of a tagged model into a function; equal modules share one.

examples:
  htp outline bert.onnx -o bert.outlined.onnx
  htp outline bert.onnx --classes BertLayer
"""
EXTRACT = """\
Write one module of a tagged model as a model of its own.

example:
  htp extract bert.onnx encoder.layer.0 -o layer.onnx
"""


def register(commands: Any, common: argparse.ArgumentParser) -> None:
    def add(name: str, text: str, run: Any) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = commands.add_parser(
            name, help=text.splitlines()[0], description=text, formatter_class=RAW, parents=[common]
        )
        parser.set_defaults(run=run)
        return parser

    parser = add("export", EXPORT, run_export)
    parser.add_argument(
        "model", help="Hugging Face name or folder, package.module:factory, file.py"
    )
    parser.add_argument("-o", "--output", default="model.onnx", help="(default: %(default)s)")
    parser.add_argument("--input-specs", metavar="JSON", help="a JSON file, or JSON itself")
    parser.add_argument(
        "--exporter",
        choices=["auto", "torchscript", "dynamo"],
        default="auto",
        help="auto: dynamo, and torchscript where that fails",
    )
    parser.add_argument("--opset", type=int, help="version of the ONNX operators")
    parser.add_argument(
        "--dynamic", action="store_true", help="dynamic batch, and length of (batch, length)"
    )
    parser.add_argument("--outline", action="store_true", help="one function for every module")
    _add_storage(parser)
    _add_sides(parser)

    parser = add("tag", TAG, run_tag)
    parser.add_argument("model", help="an ONNX file")
    parser.add_argument("-o", "--output", help="(default: NAME.tagged.onnx)")
    parser.add_argument("--trace", metavar="FILE", help="trace.json, or a .pt or .pt2 archive")
    parser.add_argument("--reference", metavar="FILE", help="the same model, tagged before")
    parser.add_argument("--overrides", metavar="FILE", help="JSON: node name to module")
    parser.add_argument("--policy", metavar="FILE", help="JSON: rules for conflicts")
    _add_storage(parser)
    _add_sides(parser)

    parser = add("outline", OUTLINE, run_outline)
    parser.add_argument("model", help="a tagged model")
    parser.add_argument("-o", "--output", help="(default: NAME.outlined.onnx)")
    parser.add_argument("--classes", help="only modules of these classes, with commas between")
    parser.add_argument("--modules", help="only modules at these paths, with commas between")
    parser.add_argument("--max-depth", type=int, help="nest functions at most this deep")

    parser = add("extract", EXTRACT, run_extract)
    parser.add_argument("model", help="a tagged model")
    parser.add_argument("module", help="its path, or its tag")
    parser.add_argument("-o", "--output", help="(default: NAME.PATH.onnx)")


def _add_storage(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tag-storage",
        choices=["metadata", "attribute"],
        default="metadata",
        help="attribute: node attributes, which checkers and ONNX Runtime reject",
    )


def _add_sides(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--graphml", action="store_true", help="write NAME.graphml too")
    parser.add_argument("--report", action="store_true", help="write NAME.report.md too")


def run_export(options: argparse.Namespace, console: Console) -> int:
    from ..sources import load_source, read_specs

    target = Path(options.output)
    check_writable(target)
    specs = read_specs(options.input_specs) if options.input_specs else None
    console.progress(f"loading {options.model}")
    # A dimension of size 1 would be taken for a constant.
    source = load_source(options.model, specs, batch=2 if options.dynamic else 1)
    model = export(
        source.model,
        source.args,
        source.kwargs,
        target,
        exporter=options.exporter,
        opset=options.opset,
        dynamic_shapes="auto" if options.dynamic else None,
        outline=options.outline,
        graphml=options.graphml,
        tag_storage=options.tag_storage,
        progress=console.progress,
    )
    return _finish(model, options, console)


def run_tag(options: argparse.Namespace, console: Console) -> int:
    console.progress(f"tagging {options.model}")
    model = tagging.tag(
        options.model,
        options.output,
        trace=options.trace,
        reference=options.reference,
        overrides=options.overrides,
        policy=options.policy,
        tag_storage=options.tag_storage,
        graphml=options.graphml,
    )
    return _finish(model, options, console)


def _finish(model: TaggedModel, options: argparse.Namespace, console: Console) -> int:
    """The report, and a few words about what was written."""
    files = [model.path]
    if options.report:
        report = model.path.with_suffix(".report.md")
        with Outputs(report) as outputs:
            outputs[report].write_text(markdown(model), encoding="utf-8")
    for suffix in (".ops.json", ".dag.json", ".trace.json", ".graphml", ".report.md"):
        if (file := model.path.with_suffix(suffix)).exists():
            files.append(file)
    if options.tag_storage == "attribute":
        console.note(
            "warning: tags are node attributes: onnx.checker and ONNX Runtime reject this model"
        )
    s = model.statistics
    console.note(
        f"{model.path}: {s['nodes']} nodes of {s['modules']} modules, "
        f"{100 * s['coverage']:.1f} % tagged, mean confidence {s['confidence']:.3f}"
    )
    for file in files[1:]:
        console.note(f"  {file}")
    seconds = {name: round(value, 3) for name, value in model.seconds.items()}
    console.result({"files": [str(f) for f in files], "statistics": s, "seconds": seconds})
    return 0


def run_outline(options: argparse.Namespace, console: Console) -> int:
    chosen = [
        f"{name}={value}"
        for name, value in (
            ("classes", options.classes),
            ("modules", options.modules),
            ("max-depth", options.max_depth),
        )
        if value is not None
    ]
    console.progress(f"outlining {options.model}")
    model = tagging.outline(options.model, options.output, options=chosen)
    functions = model.metadata["functions"]
    calls = sum(len(function["calls"]) for function in functions.values())
    console.note(f"{model.path}: {len(functions)} functions, {calls} calls")
    console.table(
        ("function", "calls"),
        [(name, len(function["calls"])) for name, function in functions.items()],
    )
    console.result({"files": [str(model.path)], "functions": functions})
    return 0


def run_extract(options: argparse.Namespace, console: Console) -> int:
    console.progress(f"reading {options.model}")
    target = tagging.load(options.model).extract(options.module, options.output)
    console.note(f"{target}: the module {options.module}")
    console.result({"files": [str(target)]})
    return 0
