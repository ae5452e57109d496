"""Sketches of tensors: so small that those of all values of a large model can be kept, and so made that the distance of
two tensors can be estimated from their sketches.

The elements of a tensor are dealt at random into as many groups as a sketch has numbers, and added up with random signs.
The square of the distance of two sketches is then, on average, the square of the distance of the tensors (Charikar et al.,
"Finding frequent items in data streams"): with 256 groups the distance is known to within about 4 %, and equal tensors have
equal sketches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy

GROUPS = 256
#: Signs and groups are drawn for so many elements; further elements get the same, with another sign and with the groups in
#: another rotation.
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
    sums: Any
    norm: float
    #: Whether the contents are distinctive; tensors of equal numbers, and very small ones, occur everywhere.
    telling: bool
    nan: bool = False


@lru_cache(maxsize=1)
def _dealt() -> tuple[Any, Any]:
    """The elements of a block in the order of their groups, and their signs."""
    generator = numpy.random.default_rng(1)
    return generator.permutation(_BLOCK), generator.integers(0, 2, _BLOCK) * 2.0 - 1


def _sums(blocks: Any, first: int) -> Any:
    """The sketch of some blocks of a tensor; `first` is the number of the first of them."""
    order, signs = _dealt()
    dealt = blocks[:, order]
    dealt *= signs
    sums = dealt.reshape(len(blocks), GROUPS, -1).sum(axis=2)
    # Whatever repeats from block to block must not fall into the same groups.
    generator = numpy.random.default_rng((2, first))
    turns = generator.integers(0, GROUPS, (len(blocks), 1))
    sums *= generator.integers(0, 2, (len(blocks), 1)) * 2 - 1
    places = (numpy.arange(GROUPS) + turns) % GROUPS
    return numpy.take_along_axis(sums, places, axis=1).sum(axis=0)


def sketch(array: Any) -> Sketch | None:
    """The sketch of an array; None if its elements are not numbers."""
    kind = "i" if array.dtype.kind == "u" else array.dtype.kind
    if kind not in "fib":
        return None
    flat = array.reshape(-1)
    sums, square = numpy.zeros(GROUPS), 0.0
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
        sums += _sums(padded, begin // _BLOCK)
    return Sketch(
        form=(flat.size, kind),
        shape=tuple(array.shape),
        sums=sums,
        norm=square**0.5,
        telling=bool(flat.size >= 4 and least < most and not nan),
        nan=nan,
    )


def distances(some: list[Sketch], others: list[Sketch]) -> Any:
    """The distance of each of `some` to each of `others`, relative to the longer of the two. All have one form."""
    a = numpy.array([s.sums for s in some]).reshape(-1, GROUPS)
    b = numpy.array([s.sums for s in others]).reshape(-1, GROUPS)
    lengths = numpy.maximum.outer(
        numpy.array([s.norm for s in some]), numpy.array([s.norm for s in others])
    )
    result = numpy.empty(lengths.shape)
    for row, sums in enumerate(a):
        result[row] = numpy.sqrt(((b - sums) ** 2).sum(axis=1))
    return numpy.divide(result, lengths, out=numpy.zeros_like(result), where=lengths > 0)
