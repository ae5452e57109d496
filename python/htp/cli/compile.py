"""The command `htp compile`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..iree import compile_model
from .commands import Commands
from .console import Console, count, printable

COMPILE = """\
Compile a tagged model with IREE, each distinct layer once

The layers (the outermost modules that the model calls repeatedly) become files of their own. A layer that was
compiled before, for this model or another one, is taken from a cache. Run the result with
htp.load_compiled("FOLDER")(**inputs).

examples:
  htp compile llama.onnx -o llama.iree
  htp compile bert.onnx -o bert.iree --classes BertLayer --jobs 4
  htp compile bert.onnx -o bert.iree --flag=--iree-opt-level=O3
"""


def register(commands: Commands) -> None:
    parser = commands.add("compile", COMPILE, run_compile)
    parser.add_argument("model", help="a tagged model")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="default: NAME.iree")
    parser.add_argument("--classes", metavar="A,B", help="classes of the modules to use as layers")
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=int,
        help="files to compile at once (default: number of processors)",
    )
    parser.add_argument(
        "--flag",
        metavar="FLAG",
        action="append",
        default=[],
        help="an option for iree-compile; without a target, it compiles for this machine's processor",
    )
    parser.add_argument("--cache", metavar="FOLDER", help="default: ~/.cache/htp/iree")


def run_compile(options: argparse.Namespace, console: Console) -> int:
    target = options.output or Path(options.model).with_suffix(".iree")
    made = compile_model(
        options.model,
        target,
        classes=options.classes.split(",") if options.classes else (),
        jobs=options.jobs,
        flags=options.flag,
        cache=options.cache,
        progress=console.progress,
    )
    console.note(
        f"{printable(made.path)}: {count(len(made.programs), 'file')}, {len(made.compiled)} compiled, "
        f"{len(made.programs) - len(made.compiled)} from the cache, {made.seconds:.1f} s"
    )
    console.table(
        ("file", "calls", "seconds"),
        [
            (p.name, len(p.calls) or "", "cached" if p.cached else f"{p.seconds:.2f}")
            for p in made.programs
        ],
    )
    console.result(
        {
            "folder": str(made.path),
            "programs": [
                {
                    "name": p.name,
                    "calls": p.calls,
                    "cached": p.cached,
                    "seconds": round(p.seconds, 3),
                }
                for p in made.programs
            ],
            "seconds": round(made.seconds, 3),
        }
    )
    return 0
