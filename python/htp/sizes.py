"""Starts the native program that adds up the costs of a model.

This is a separate module, so that the program runs while the modules that show its result are loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import native
from .errors import BadInput
from .onnxfile import has_functions, is_mlir


def start_figures(path: Path, dims: Mapping[str, int] | None = None) -> native.Running | None:
    """Starts computing the figures of every module and operation. Returns None if the file has no graph."""
    if path.suffix == ".json" or not path.exists():
        if dims:
            raise BadInput(f"{path} contains no graph: sizes of dimensions would have no effect")
        return None
    return _start(path, dims, "--op-figures")


def start_module_figures(path: Path, dims: Mapping[str, int] | None = None) -> native.Running:
    """Starts computing the figures of every module. The output contains everything that `TaggedModel` needs except
    the nodes, which is much less to read for a large model."""
    return _start(path, dims, "--module-figures")


def _start(path: Path, dims: Mapping[str, int] | None, output: str) -> native.Running:
    if dims and not is_mlir(path) and has_functions(path):
        raise BadInput(
            f"{path} has functions, whose sizes are fixed: set sizes for the model as it was "
            "before it was outlined"
        )
    # The program splits the option at commas; each part is one dimension.
    given = ",".join(f"{name}={size}" for name, size in (dims or {}).items())
    passes = f"--onnx-infer-shapes=dims={native.quoted(given)}" if dims else "--onnx-infer-shapes"
    return native.Running(native.program_for(path), [path, passes, output])
