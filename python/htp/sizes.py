"""Starts the native program that says what a model's costs follow from: sizes of values, kinds of operations.

A module of its own, so that the program runs while what adds them up is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import native
from .errors import BadInput
from .onnxfile import has_functions, is_mlir


def start_shapes(path: Path, dims: Mapping[str, int] | None = None) -> native.Running | None:
    """Starts the program that infers the sizes of a model's values; none where the file has no graph."""
    if path.suffix == ".json" or not path.exists():
        if dims:
            raise BadInput(f"{path} holds no graph: sizes of dimensions would have no effect")
        return None
    return _start(path, dims, "--op-shapes")


def _start(path: Path, dims: Mapping[str, int] | None, output: str) -> native.Running:
    if dims and not is_mlir(path) and has_functions(path):
        raise BadInput(
            f"{path} has functions, whose sizes are fixed: give sizes to the model as it was "
            "before it was outlined"
        )
    # Lists in an option end at commas, and one text is one dimension.
    given = ",".join(f"{name}={size}" for name, size in (dims or {}).items())
    passes = f"--onnx-infer-shapes=dims={native.quoted(given)}" if dims else "--onnx-infer-shapes"
    return native.Running(native.program_for(path), [path, passes, output])


def start_contents(path: Path, dims: Mapping[str, int] | None = None) -> native.Running:
    """Starts the program that reads a tagged model as `TaggedModel` takes it, with its contents by kind: all that
    its modules cost, in one run and without every node."""
    return _start(path, dims, "--module-contents")
