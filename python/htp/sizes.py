"""Starts the native program that adds up what a model costs.

A module of its own, so that the program runs while what shows its result is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import native
from .errors import BadInput
from .onnxfile import has_functions, is_mlir


def start_figures(path: Path, dims: Mapping[str, int] | None = None) -> native.Running | None:
    """Of every module and operation; none where the file has no graph."""
    if path.suffix == ".json" or not path.exists():
        if dims:
            raise BadInput(f"{path} holds no graph: sizes of dimensions would have no effect")
        return None
    return _start(path, dims, "--op-figures")


def start_module_figures(path: Path, dims: Mapping[str, int] | None = None) -> native.Running:
    """Of every module, with all else that `TaggedModel` takes but the nodes: of a large model that is much less to
    read."""
    return _start(path, dims, "--module-figures")


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
