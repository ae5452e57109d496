"""Finds the nodes of a model that a profile refers to, by the names that engines derive from theirs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .kernel_times import Kernel, Times
from .model import Node, TaggedModel
from .selecting import names_in_file

#: What engines write between the names of nodes that they fused.
_JOINTS = (" + ", "+", ",")


@dataclass
class Match:
    """A kernel and its nodes: several nodes share its time evenly, and for some kernels none is known."""

    kernel: Kernel
    nodes: list[Node] = field(default_factory=list)
    fused: bool = False  # its name is composed of several
    strange: int = 0  # how many of these the model does not have
    taken: bool = False  # an unknown kernel, assigned to the nodes next to it


class Join:
    """Finds the nodes of a graph that a profile refers to."""

    def __init__(self, graph: TaggedModel, file: Path) -> None:
        self.nodes: dict[str, list[Node]] = {}  # by name, in file order
        self.values: dict[str, Node] = {}  # by the values they make: some engines use these names
        self.nameless: dict[str, list[Node]] = {}  # by type
        names = names_in_file(graph, file)
        for node in graph.nodes.values():
            name = names[node.name]
            table, key = (self.nodes, name) if name else (self.nameless, node.op_type)
            table.setdefault(key, []).append(node)
            for value in filter(None, node.outputs):
                self.values.setdefault(value, node)

    def matches(self, times: Times) -> Iterator[Match]:
        """Yields every kernel with its nodes. Nodes with the same name, or without one, are matched in order: the
        order of execution is that of the file."""
        seen: dict[str, int] = {}

        def turn(key: str, nodes: list[Node]) -> list[Node]:
            place = seen.get(key, 0)
            seen[key] = place + 1
            return [nodes[min(place, len(nodes) - 1)]]

        for kernel in times.kernels:
            if nodes := self.nodes.get(kernel.name):
                yield Match(kernel, turn(kernel.name, nodes))
            elif kernel.name == f"{kernel.op_type}_{kernel.index}" and (
                nodes := self.nameless.get(kernel.op_type)
            ):
                yield Match(kernel, turn(f"\0{kernel.op_type}", nodes))
            else:
                yield self._by_parts(kernel) or self._by_neighbours(kernel)

    def inexact(self, times: Times) -> int:
        """How many kernels have no node with exactly their name."""
        return sum(
            k.name not in self.nodes
            and not (k.name == f"{k.op_type}_{k.index}" and k.op_type in self.nameless)
            for k in times.kernels
        )

    def _named(self, name: str) -> Node | None:
        """The node with this name, or which makes a value with this name. Suffixes that an engine appended are
        ignored, such as in OpenVINO's NAME/WithoutBiases."""
        while name:
            if name in self.nodes:
                return self.nodes[name][0]
            if name in self.values:
                return self.values[name]
            name = name.rpartition("/")[0]
        return None

    def _by_parts(self, kernel: Kernel) -> Match | None:
        """Finds nodes by a name that is not exactly one of the model's."""
        if node := self._named(kernel.name):
            return Match(kernel, [node])
        said = [kernel.parts] if kernel.parts else []
        for parts in said + [tuple(kernel.name.split(j)) for j in _JOINTS if j in kernel.name]:
            found = [self._named(part.strip()) for part in parts]
            known = [node for node in found if node is not None]
            if known:
                strange = 0 if parts is kernel.parts else len(found) - len(known)
                return Match(kernel, known, len(parts) > 1, strange)
        return None

    def _by_neighbours(self, kernel: Kernel) -> Match:
        """Finds the nearest nodes that take its result, or else those whose results it takes."""
        for direction in ("users", "sources"):
            pending: list[Kernel] = list(getattr(kernel, direction))
            seen, nodes = {kernel}, {}
            while pending:
                near = pending.pop()
                if near in seen:
                    continue
                seen.add(near)
                if match := self._by_parts(near):
                    nodes.update({node.name: node for node in match.nodes})
                else:
                    pending += getattr(near, direction)
            if nodes:
                return Match(kernel, list(nodes.values()), taken=True)
        if kernel.added:  # OpenVINO names a layout change FROM_formats_TO
            rest = kernel.name
            while rest := rest.partition("_")[2]:
                if node := self._named(rest):
                    return Match(kernel, [node], taken=True)
        return Match(kernel)
