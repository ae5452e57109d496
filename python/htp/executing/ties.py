"""Which value of a graph is which tensor that a module call took or returned. Only numpy is needed.

Two tensors are equal if their distance is a rounding error. A graph that computes with fewer bits (float16, quantized
weights) has hardly any equal values; there a value is tied to a tensor if each is by far the nearest to the other.
Whatever may be one of several is left out:

- a tensor that several unrelated calls returned, or that several values of the graph equal;
- a tensor that a call had taken before it returned it;
- tensors of equal numbers, and very small ones: they only say where a call began.

A value of another shape with the same elements in the same order stands for a tensor if no value has its shape: exporters
multiply matrices where PyTorch has batches of them, and optimizers merge views.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy

from .sketching import Form, Sketch, distances

if TYPE_CHECKING:
    from .calls import ModuleCall, Observation
    from .graph import Run

#: The distance of results of two frameworks that compute the same.
_EQUAL = 5e-5
#: Rounding and quantization move a tensor by less than this; what is second nearest is at least 1.25 times as far. Of 3,000
#: ties of 8-bit, 4-bit and float16 graphs as many were right with 2 times and with 1.1 times.
NEAR, _CLEAR = 0.35, 0.8
#: Results of two models that are farther apart have nothing to do with each other: of unrelated tensors it is 1 to 1.4.
OTHER = 0.9
#: A graph with this share of equal values is one of full precision: what has no equal value there is not in the graph.
_FULL = 0.5


class Ties:
    """Ties the values of one run of a graph to the tensors of one run of the model."""

    def __init__(self, seen: Observation, run: Run) -> None:
        self.seen, self.run = seen, run
        self.first = self._first()
        self.inputs = self._inputs()
        self.emitters: dict[int, list[int]] = defaultdict(list)
        #: tensors that calls returned, by the first one that equals them
        self.objects: dict[int, set[int]] = defaultdict(set)
        for number, call in enumerate(seen.calls):
            for tensor in self.made_by(call):
                self.emitters[tensor].append(number)
            for tensor in call.returns:
                self.objects[self.first[tensor]].add(tensor)
        #: the values that equal a tensor, and the one value that is it
        self.equal: dict[int, list[str]] = {}
        self.value: dict[int, str] = {}
        self.near: set[int] = set()
        self._tie()

    # --- tensors

    def _groups(self, numbers: Iterable[int]) -> dict[Form, list[int]]:
        groups: dict[Form, list[int]] = defaultdict(list)
        for number in numbers:
            if not self.seen.tensors[number].nan:
                groups[self.seen.tensors[number].form].append(number)
        return groups

    def _sketches(self, numbers: Iterable[int]) -> list[Sketch]:
        return [self.seen.tensors[number] for number in numbers]

    @staticmethod
    def _shapes(sketches: list[Sketch]) -> Any:
        """A number for the shape of each."""
        known = {made.shape: number for number, made in enumerate(sketches)}
        return numpy.array([known[made.shape] for made in sketches])

    def _first(self) -> list[int]:
        """For each tensor, the first one that it equals."""
        first = list(range(len(self.seen.tensors)))
        for group in self._groups(first).values():
            apart = distances(self._sketches(group), self._sketches(group))
            shapes = self._shapes(self._sketches(group))
            equal = (apart <= _EQUAL) & (shapes[:, None] == shapes)
            for row, number in enumerate(group):
                first[number] = first[group[int(numpy.argmax(equal[row, : row + 1]))]]
        return first

    def _inputs(self) -> dict[int, str]:
        """The inputs of the graph, by the tensors that the model was called with."""
        names = list(self.seen.inputs.values())
        same = set(self.run.inputs) <= set(names)
        known = dict(zip(names, names if same else self.run.inputs))
        return {
            self.first[number]: known[name]
            for number, name in self.seen.inputs.items()
            if known.get(name) in self.run.values
        }

    def taken_by(self, call: ModuleCall) -> list[int]:
        return list(dict.fromkeys(self.first[number] for number in call.takes))

    def returned_by(self, call: ModuleCall) -> list[int]:
        return list(dict.fromkeys(self.first[number] for number in call.returns))

    def made_by(self, call: ModuleCall) -> list[int]:
        """What a call returned and had not taken."""
        known = {*self.taken_by(call), *self.inputs}
        return [number for number in self.returned_by(call) if number not in known]

    def _is_of_one(self, tensor: int) -> bool:
        """Whether one call made a tensor, and others at most handed on what this call, inside them, had returned. A call
        that makes an equal tensor anew (attention to a single token) is not handing on."""
        if len(self.objects[tensor]) > 1:
            return False
        calls = self.emitters[tensor]
        for outer, inner in zip(calls, calls[1:]):
            above: int | None = inner
            while above is not None and above != outer:
                above = self.seen.calls[above].parent
            if above is None:
                return False
        return True

    # --- values

    @cached_property
    def originals(self) -> dict[str, str]:
        """The value that each value is, directly or through others, a copy of; itself if it is none."""
        found: dict[str, str] = {}
        for name in self.run.values:
            before = self.run.copies.get(name)
            found[name] = name if before is None else found.get(before, before)
        return found

    def _tie(self) -> None:
        values: dict[Form, list[str]] = defaultdict(list)
        for name, sketched in self.run.values.items():
            if not sketched.nan:
                values[sketched.form].append(name)
        apart: dict[Form, Any] = {}
        alike: dict[Form, Any] = {}
        views: dict[int, set[str]] = {}
        groups = self._groups(dict.fromkeys(self.first))
        for form, numbers in groups.items():
            names = values[form]
            made = [self.run.values[name] for name in names]
            ours = self._sketches(numbers)
            apart[form] = distances(ours, made)
            shapes = self._shapes([*ours, *made])
            alike[form] = shapes[: len(ours), None] == shapes[None, len(ours) :]
            equal = apart[form] <= _EQUAL
            for row, number in enumerate(numbers):
                same = equal[row] & alike[form][row]
                self.equal[number] = [names[i] for i in numpy.flatnonzero(same)]
                if not same.any() and self.seen.tensors[number].telling:
                    views[number] = {self._root(names[i]) for i in numpy.flatnonzero(equal[row])}
        for number, name in self.inputs.items():
            self.equal.setdefault(number, []).append(name)
        for number, equal in self.equal.items():
            found = {self.originals[name] for name in equal}
            if len(found) == 1 and (self.seen.tensors[number].telling or number in self.inputs):
                self.value[number] = found.pop()
        full, used = self.is_full, set(self.value.values())
        for number, roots in views.items():
            if len(roots) == 1 and not roots & used:
                self.value[number] = roots.pop()
        if not full:
            for form, numbers in groups.items():
                self._tie_nearest(numbers, values[form], apart[form], alike[form])

    @property
    def is_full(self) -> bool:
        """Whether the graph computes with the model's precision."""
        telling = [number for number in self.emitters if self.seen.tensors[number].telling]
        return sum(bool(self.equal.get(n)) for n in telling) >= _FULL * len(telling)

    def _root(self, name: str) -> str:
        """The value whose elements a value has, directly or through others."""
        while name in self.run.copies or name in self.run.views:
            name = self.run.copies.get(name) or self.run.views[name]
        return name

    def _tie_nearest(self, numbers: list[int], names: list[str], apart: Any, alike: Any) -> None:
        """Ties tensors and values of one form that are by far the nearest to each other: first those of one shape, then
        tensors of whose shape no value is near."""
        same = numpy.where(alike, apart, numpy.inf)
        self._tie_clear(numbers, names, same)
        used = set(self.value.values())
        rows = [
            i
            for i, number in enumerate(numbers)
            if number not in self.value and not (same[i] <= NEAR).any()
        ]
        columns = [
            i for i, name in enumerate(names) if self._root(name) == name and name not in used
        ]
        if rows and columns:
            self._tie_clear(
                [numbers[i] for i in rows],
                [names[i] for i in columns],
                apart[numpy.ix_(rows, columns)],
            )

    def _tie_clear(self, numbers: list[int], names: list[str], apart: Any) -> None:
        columns = [
            i
            for i, name in enumerate(names)
            if self.originals[name] == name and self.run.values[name].telling
        ]
        rows = [i for i, number in enumerate(numbers) if self.seen.tensors[number].telling]
        if not rows or not columns:
            return
        table = apart[numpy.ix_(rows, columns)]
        for row, column in _clear_pairs(table):
            number, name = numbers[rows[row]], names[columns[column]]
            if number not in self.value and name not in self.run.inputs:
                self.value[number] = name
                self.near.add(number)

    # --- calls

    def began_at(self, number: int) -> list[str]:
        """The values that a call takes if it takes this tensor."""
        if number not in self.value:
            return self.equal.get(number, [])
        original = self.value[number]
        return [name for name, other in self.originals.items() if other == original]

    @cached_property
    def unclear(self) -> list[str]:
        """The values of which it cannot be seen on which side of a border their nodes are."""
        found = set(self.run.copies)
        for call in self.seen.calls:
            for number in self.taken_by(call):
                if number not in self.value:
                    found.update(self.equal.get(number, ()))
        return [name for name in self.run.values if name in found]

    def calls(self) -> list[dict[str, Any]]:
        """The calls as docs/formats/executed.md describes them, without those that only passed on what they took."""
        left_out = self._passing()
        places: dict[int, int] = {}
        listed: list[dict[str, Any]] = []
        for number, call in enumerate(self.seen.calls):
            if number in left_out:
                continue
            places[number] = len(listed)
            entry: dict[str, Any] = {"module": call.module, "call": call.number}
            if call.parent is not None:
                entry["parent"] = places[call.parent]
            listed.append(entry | dict(self._borders(call)))
        return listed

    def _borders(self, call: ModuleCall) -> Iterator[tuple[str, Any]]:
        taken = {number: self.began_at(number) for number in self.taken_by(call)}
        made = self.made_by(call)
        tied = [n for n in made if n in self.value and self._is_of_one(n)]
        yield "takes", list(dict.fromkeys(name for names in taken.values() for name in names))
        yield "returns", [self.value[number] for number in tied]
        if near := [self.value[number] for number in tied if number in self.near]:
            yield "near", near
        if not all(taken.values()):
            yield "open", True
        if call.blind or len(tied) < len(made) or not made:
            yield "partly", True

    def _passing(self) -> set[int]:
        """The calls that returned only what they had taken, in a graph that shows it, and in which no other call did
        anything."""
        busy: set[int] = set()
        for number, call in reversed(list(enumerate(self.seen.calls))):
            idle = not call.blind and not self.made_by(call)
            clear = all(self._is_clear(tensor) for tensor in self.returned_by(call))
            if number in busy or not idle or not clear:
                busy.add(number)
                if call.parent is not None:
                    busy.add(call.parent)
        return set(range(len(self.seen.calls))) - busy - {0}

    def _is_clear(self, tensor: int) -> bool:
        """Whether a call that passed a tensor on cannot have left more than one node."""
        return tensor in self.value or len(self.equal.get(tensor, ())) <= 1

    # --- the whole

    def apart(self, results: Iterable[str]) -> float:
        """The least distance of a result of the graph from one of the model; 0 if none can be compared."""
        theirs = [self.run.values[name] for name in results if name in self.run.values]
        least: list[float] = []
        for number in self.returned_by(self.seen.calls[0]):
            ours = self.seen.tensors[number]
            alike = [made for made in theirs if made.form == ours.form]
            if ours.telling and alike:
                least.append(float(distances([ours], alike).min()))
        return min(least, default=0.0)


def _clear_pairs(table: Any) -> Iterator[tuple[int, int]]:
    """The cells of a table that are small, and by far the smallest of their row and of their column."""
    for row, column in enumerate(table.argmin(axis=1)):
        nearest = table[row, column]
        others = numpy.concatenate(
            [numpy.delete(table[row], column), numpy.delete(table[:, column], row)]
        )
        if nearest <= NEAR and (others * _CLEAR >= nearest).all():
            yield row, int(column)
