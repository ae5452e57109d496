"""The command `htp`."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from ..errors import HTPError, HTPWarning
from ..version import __version__
from .commands import Commands
from .console import Console

OVERVIEW = """\
Which nn.Module did this ONNX node come from?

  htp export google/bert_uncased_L-2_H-128_A-2 -o bert.onnx   export a model, tag every node
  htp trace model.py:build -o trace.json                      only the trace of a model
  htp tag model.onnx --trace trace.json                       tag an ONNX file you already have
  htp analyze bert.onnx                                       modules, coverage, evidence
  htp explain bert.onnx NODE                                  why a node belongs to its module
  htp outline bert.onnx                                       one function for every module
  htp extract bert.onnx encoder.layer.0                       one module as a separate model
  htp validate bert.onnx                                      check the model and its tags
  htp select bert.onnx 'encoder.layer.*.attention'            names of nodes, for quantizers
  htp profile bert.onnx                                       which module is slow
  htp diff bert.onnx int8.onnx                                which module causes an error
  htp view bert.onnx                                          all of this as a page for a browser
  htp batch models/ -o tagged/                                many models, here or on a cluster
  htp compile bert.onnx                                       compile each distinct layer once, with IREE

'htp COMMAND --help' has more examples. Exit codes: 0 success, 1 an error or a failed check, 2 wrong usage.
"""


#: The module of each command. Only the module of the requested command is loaded, because `htp analyze`, say,
#: needs little and should start instantly.
MODULES = {
    "make": ("export", "trace", "tag", "outline", "extract"),
    "inspect": ("analyze", "explain", "doctor"),
    "check": ("validate", "compare"),
    "ask": ("select", "profile", "diff"),
    "compile": ("compile",),
    "view": ("view",),
    "batch": ("batch",),
    "completion": ("completion",),
}


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or only of those defined in the same module as `command`."""
    parser = argparse.ArgumentParser(
        prog="htp", description=OVERVIEW, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"htp {__version__}")
    if command == "--version":
        return parser
    commands = Commands(parser)
    wanted = [module for module, names in MODULES.items() if command in names]
    for module in wanted or MODULES:
        importlib.import_module(f".{module}", __name__).register(commands)
    return parser


def _show_warnings(console: Console) -> None:
    """Shows HTP's own warnings as messages of the command, without the line of code that issued them."""
    others = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: Any = None,
    ) -> None:
        if issubclass(category, HTPWarning):
            console.warning(str(message))
        else:
            others(message, category, filename, lineno, file, line)

    warnings.simplefilter("always", HTPWarning)
    warnings.showwarning = show


class Terminated(BaseException):
    """This process was asked to terminate: it exits as after an error and leaves nothing behind."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Within the block, SIGTERM and SIGHUP unwind the stack, as SIGINT does, so that partial output is removed."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        for other in before:
            signal.signal(other, signal.SIG_IGN)  # a second signal must not interrupt the cleanup
        raise Terminated(number)

    before: dict[signal.Signals, Any] = {}
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, end)
    except ValueError:
        pass  # not the main thread: signals belong to the main thread's owner
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command: 0 for success, 1 for an error or a failed check, 2 for wrong usage."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = build_parser(words[0] if words else None).parse_args(words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may contain what the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    console = Console(json=options.json, quiet=options.quiet)
    try:
        with _ending_in_order(), warnings.catch_warnings():
            _show_warnings(console)
            status: int = options.run(options, console)
        sys.stdout.flush()
        return status
    except HTPError as error:
        if options.debug:
            raise
        console.error(str(error))
    except KeyboardInterrupt:
        console.error("interrupted")
        return 130
    except Terminated as end:
        console.error(f"terminated by {end}")
        return end.status
    except BrokenPipeError:  # the reader (head, less) closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if options.debug:
            raise
        console.error(f"{type(error).__name__}: {error} (--debug shows the traceback)")
    return 1
