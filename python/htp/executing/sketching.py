"""Sketches of tensors: so small that those of all values of a large model can be kept, and so made that the distance of
two tensors can be estimated from their sketches.

A sketch has the products of the flattened tensor with fixed random vectors of ±1. The mean square of the differences of
two sketches is then, on average, the square of the distance of the tensors (Johnson and Lindenstrauss): with 256
vectors the distance is known to within about 4 %, and equal tensors have equal sketches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy

VECTORS = 256
#: The vectors repeat every so many elements, with other signs each time: storing them whole would take more memory than
#: the tensors.
_BLOCK = 4096
#: As many blocks are converted at once.
_SLAB = 64
#: Masks hold -inf or the smallest number of a type, depending on who made them.
_LARGEST = float(numpy.finfo(numpy.float32).max)

#: How many elements a tensor has and of which kind: only tensors of one form can be compared.
Form = tuple[int, str]


@dataclass(frozen=True)
class Sketch:
    """What is kept of a tensor."""

    form: Form
    shape: tuple[int, ...]
    products: Any
    norm: float
    #: Whether the contents are distinctive; tensors of equal numbers, and very small ones, occur everywhere.
    telling: bool
    nan: bool = False


@lru_cache(maxsize=1)
def _vectors() -> Any:
    generator = numpy.random.default_rng(1)
    return generator.integers(0, 2, (_BLOCK, VECTORS)).astype(numpy.float64) * 2 - 1


def _signs(blocks: int) -> Any:
    """The signs of the vectors in each block."""
    return numpy.random.default_rng(2).integers(0, 2, (blocks, VECTORS)) * 2 - 1


def sketch(array: Any) -> Sketch | None:
    """The sketch of an array; None if its elements are not numbers."""
    kind = "i" if array.dtype.kind == "u" else array.dtype.kind
    if kind not in "fib":
        return None
    flat = array.reshape(-1)
    signs = _signs(-(-flat.size // _BLOCK))
    products, square = numpy.zeros(VECTORS), 0.0
    least, most, nan = numpy.inf, -numpy.inf, False
    for begin in range(0, flat.size, _BLOCK * _SLAB):
        part = flat[begin : begin + _BLOCK * _SLAB].astype(numpy.float64)
        nan = nan or bool(numpy.isnan(part).any())
        numpy.nan_to_num(part, copy=False, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST)
        numpy.clip(part, -_LARGEST, _LARGEST, out=part)
        least, most = min(least, part.min()), max(most, part.max())
        square += float(part @ part)
        padded = numpy.zeros((-(-part.size // _BLOCK), _BLOCK))
        padded.reshape(-1)[: part.size] = part
        first = begin // _BLOCK
        products += ((padded @ _vectors()) * signs[first : first + len(padded)]).sum(axis=0)
    return Sketch(
        form=(flat.size, kind),
        shape=tuple(array.shape),
        products=products,
        norm=square**0.5,
        telling=bool(flat.size >= 4 and least < most and not nan),
        nan=nan,
    )


def distances(some: list[Sketch], others: list[Sketch]) -> Any:
    """The distance of each of `some` to each of `others`, relative to the longer of the two. All have one form."""
    a = numpy.array([s.products for s in some]).reshape(-1, VECTORS)
    b = numpy.array([s.products for s in others]).reshape(-1, VECTORS)
    lengths = numpy.maximum.outer(
        numpy.array([s.norm for s in some]), numpy.array([s.norm for s in others])
    )
    result = numpy.empty(lengths.shape)
    for row, products in enumerate(a):
        result[row] = numpy.sqrt(((b - products) ** 2).mean(axis=1))
    return numpy.divide(result, lengths, out=numpy.zeros_like(result), where=lengths > 0)
