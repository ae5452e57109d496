"""Compiles models with IREE layer by layer: `htp.compile`, `htp.load_compiled`.

htp-onnx writes a model as a folder of small programs (docs/formats/iree.md). IREE's compiler turns each of them into
a module, with a cache, and IREE's runtime links them.
"""

from __future__ import annotations

from .compiling import Compilation, Program, compile_model
from .running import CompiledModel, Tensor, load_compiled

__all__ = [
    "Compilation",
    "CompiledModel",
    "Program",
    "Tensor",
    "compile_model",
    "load_compiled",
]
