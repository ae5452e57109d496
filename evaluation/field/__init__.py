"""Small models with one difficulty each, such as users bring. `CASES` contains them by name."""

from . import architectures, caches, interfaces, numerics, structure, wrappers
from .registry import CASES, Case

__all__ = [
    "CASES",
    "Case",
    "architectures",
    "caches",
    "interfaces",
    "numerics",
    "structure",
    "wrappers",
]
