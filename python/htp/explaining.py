"""Explains why a node has its tag, with the native program."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import native
from .holding import StrPath, held
from .onnxfile import check_tagged
from .tagging import Run, source_options, tag_option

if TYPE_CHECKING:
    from .recording import Trace

# `model.onnx: remark: at "Add#3": text`, if the node has no name of its own.
_REMARK = re.compile(r'^.*?: remark: (?:at "(?:[^"\\]|\\.)*": )?(.*)$')


def explain(
    model: Any,
    node: str,
    *,
    trace: StrPath | Trace | Mapping[str, Any] | None = None,
    reference: Any = None,
    run: Any = None,
    inputs: StrPath | Mapping[str, Any] | None = None,
) -> str:
    """Explains in a page of text why a node belongs to its module. Takes what `htp.tag` takes.

    `node` is its name, or the name of a value that it makes. For a tagged model, the text describes the evidence
    for the tag and the neighbours of the node. With a `trace` or `reference` to tag the model with, it also lists
    the steps that could have produced the node, with the evidence for each and why the others lost; with a `run`, it
    says what equal values showed.
    """
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(held(model)).path
        options = source_options(stack, source, trace, reference, Run(run, inputs))
        if options:
            passes = tag_option([*options, f"explain={native.quoted(node)}"])
        else:
            check_tagged(source)
            passes = f"--htp-explain=node={native.quoted(node)}"
        program = native.Running(
            native.program_for(source), [str(source), passes, "--emit=mlirbc", "-o", "/dev/null"]
        )
        program.wait()
    # The summary is printed last, but is what a reader wants first.
    return "\n".join(reversed(list(_remarks(program.warnings))))


def _remarks(messages: str) -> Iterator[str]:
    """The texts of remarks: a line and the indented lines that follow it."""
    text: list[str] = []
    for line in messages.splitlines():
        if text and line.startswith("    "):
            text.append(line)
            continue
        if text:
            yield "\n".join(text)
        found = _REMARK.match(line)
        text = [found[1]] if found else []
    if text:
        yield "\n".join(text)
