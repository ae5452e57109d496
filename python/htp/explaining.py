"""Asks the native program why a node has its tag."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import native
from .holding import StrPath, held, held_trace
from .onnxfile import check_tagged
from .tagging import tag_option

if TYPE_CHECKING:
    from .recording import Trace

# `model.onnx: remark: at "Add#3": text`, where the node has no name of its own.
_REMARK = re.compile(r'^.*?: remark: (?:at "(?:[^"\\]|\\.)*": )?(.*)$')


def explain(
    model: Any,
    node: str,
    *,
    trace: StrPath | Trace | Mapping[str, Any] | None = None,
    reference: Any = None,
) -> str:
    """Why a node belongs to its module, as a page of text. Takes what `htp.tag` takes.

    `node` is its name, or that of a value that it makes. Of a tagged model the text says what the tag
    rests on, and what lies around the node. With the `trace` or the `reference` that a model is tagged
    with it also says which steps could have made the node, what speaks for each, and why the others lost.
    """
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(held(model)).path
        given = (
            ("trace", stack.enter_context(held_trace(trace))),
            ("reference", stack.enter_context(held(reference)).path if reference else None),
        )
        options = [f"{name}={native.quoted(path)}" for name, path in given if path]
        if options:
            passes = tag_option([*options, f"explain={native.quoted(node)}"])
        else:
            check_tagged(source)
            passes = f"--htp-explain=node={native.quoted(node)}"
        program = native.Running(
            native.program_for(source), [str(source), passes, "--emit=mlirbc", "-o", "/dev/null"]
        )
        program.wait()
    # The pass that sums up comes last, and is what a reader wants first.
    return "\n".join(reversed(list(_remarks(program.warnings))))


def _remarks(messages: str) -> Iterator[str]:
    """The texts of remarks: a line and the indented ones after it."""
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
