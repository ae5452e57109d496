"""What all commands have in common on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ..errors import BadInput
from .console import Console

Run = Callable[[argparse.Namespace, Console], int]


class Commands:
    """The commands of a parser. Each has a help text: a one-line summary, details, and examples."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.common = argparse.ArgumentParser(add_help=False)
        self.common.add_argument("--json", action="store_true", help="print JSON, for programs")
        self.common.add_argument("--debug", action="store_true", help="show tracebacks")
        self.common.add_argument("-q", "--quiet", action="store_true", help="print only results")
        self.commands: Any = parser.add_subparsers(
            title="commands", metavar="COMMAND", required=True
        )

    def add(self, name: str, text: str, run: Run) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self.commands.add_parser(
            name,
            help=text.splitlines()[0],
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            parents=[self.common],
            allow_abbrev=False,  # an abbreviation may become ambiguous when an option is added
        )
        parser.set_defaults(run=run)
        return parser


def add_dim(parser: argparse.ArgumentParser, more: str = "") -> None:
    parser.add_argument(
        "--dim",
        metavar="NAME=SIZE",
        action="append",
        default=[],
        help=f"size of a symbolic dimension{more}",
    )


def add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        dest="program",
        metavar="MODEL",
        help="the PyTorch model, such as model.py:build: run both, and compare the values",
    )
    parser.add_argument(
        "--run",
        dest="run_inputs",
        metavar="FILE.npz",
        help="inputs for that run (default: the example inputs of --model)",
    )


def run_of(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `htp.tag` and `htp.explain` for these options."""
    if options.program is None and options.run_inputs is not None:
        raise BadInput("--run needs the PyTorch model that is to be run: --model FILE.py")
    return {"run": options.program, "inputs": options.run_inputs}


def dimensions(texts: list[str]) -> dict[str, int]:
    sizes = {}
    for text in texts:
        name, _, size = text.rpartition("=")
        if not name or not size.isdecimal():
            raise BadInput(f"--dim {text!r}: expected NAME=SIZE, such as length=128")
        sizes[name] = int(size)
    return sizes
