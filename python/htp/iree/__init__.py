"""Models that IREE compiles layer by layer: `htp.compile`, `htp.load_compiled`.

htp-opt writes a model as a folder of small programs (docs/formats/iree.md); IREE's compiler turns
each into a module, through a cache; IREE's runtime links them.
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
