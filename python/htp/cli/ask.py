"""Commands that answer questions about a deployed model by module: select, profile, diff."""

from __future__ import annotations

import argparse
import json

from ..selecting import FORMATS, select
from .commands import Commands
from .console import Console, printable

SELECT = """\
Print the nodes of modules, as lists for quantizers and compilers

PATTERN is a module's path or a glob over paths: * is any text within one component, ** any number of components,
[0-11] a number. A module is meant with all modules below it. With --classes, PATTERN is a class name.
Exit code 1 where nothing matches.

examples:
  htp select bert.onnx 'encoder.layer.[0-3].attention.**'
  htp select bert.onnx 'encoder.layer.*.attention' --op-types MatMul,Gemm --format onnxruntime > exclude.json
  htp select bert.onnx --classes BertSelfAttention --format olive
  htp select bert.onnx --classes BertIntermediate BertOutput --invert --format onnxruntime
  htp select bert.onnx pooler --json | jq -r '.nodes[].op_type'

formats:
  names        one node name in each line
  json         nodes with their types and modules (as --json)
  onnxruntime  a list: nodes_to_exclude of quantize_static and quantize_dynamic, node_block_list of float16 converters
  olive        {"nodes_to_exclude": [...]}, a part of a quantization pass's configuration
"""


def register(commands: Commands) -> None:
    parser = commands.add("select", SELECT, run_select)
    parser.add_argument("model", metavar="MODEL", help="a tagged model, or its .ops.json")
    parser.add_argument("patterns", metavar="PATTERN", nargs="+", help="nodes of any that match")
    parser.add_argument("--classes", action="store_true", help="patterns are names of classes")
    parser.add_argument("--format", choices=FORMATS, default="names", help="default: %(default)s")
    parser.add_argument("--op-types", metavar="A,B", help="only nodes of these types")
    parser.add_argument("--own", action="store_true", help="without the modules below those found")
    parser.add_argument("--invert", action="store_true", help="all nodes but these")


def run_select(options: argparse.Namespace, console: Console) -> int:
    console.progress(f"reading {options.model}")
    kinds = options.op_types.split(",") if options.op_types is not None else None
    chosen = select(
        options.model,
        *options.patterns,
        classes=options.classes,
        op_types=[kind.strip() for kind in kinds] if kinds is not None else None,
        own=options.own,
        invert=options.invert,
    )
    if chosen.nameless and not console.json:
        console.warning(
            f"{chosen.nameless} of {len(chosen)} nodes have no name in the file: no list can name them"
        )
    if console.json or options.format == "json":
        print(json.dumps(chosen.as_json(), indent=1, ensure_ascii=False))
    elif options.format == "names":
        for name in chosen.names:
            print(printable(name))
    else:
        print(json.dumps(chosen.formatted(options.format), indent=1, ensure_ascii=False))
    return 0
