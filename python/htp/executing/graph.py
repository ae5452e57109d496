"""The values of an ONNX graph in a run, as sketches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from ..diff_graphs import read_by
from ..errors import BadInput, MissingPackage
from ..running import for_the_other, open_proto, packages, run_session
from .sketching import Sketch, distances, sketch

#: Values are fetched in runs of at most about so many bytes each, so that the values of a large model are never in memory
#: together; the first run fetches a few, to learn how large they are.
_BYTES, _FIRST, _GROWTH = 256 << 20, 8, 8
#: Operators that pass a tensor on in another encoding.
_ENCODINGS = ("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "Identity")
#: How far a copy may be from the tensor: by any operator, in another type, quantized.
_COPIED, _ROUNDED, _QUANTIZED = 5e-5, 0.01, 0.35


@dataclass
class Run:
    """The values of a graph, in topological order; inputs come first."""

    values: dict[str, Sketch]
    inputs: list[str]
    #: The value that a value is a copy of, and the one of another shape that it has the elements of.
    copies: dict[str, str]
    views: dict[str, str] = field(default_factory=dict)


def _sorted(nodes: Any) -> Iterator[Any]:
    """Nodes in topological order; ONNX Runtime also takes files that are not."""
    producers = {name: i for i, node in enumerate(nodes) for name in node.output if name}
    before = {
        i: dict.fromkeys(producers[name] for name in read_by(node) if name in producers)
        for i, node in enumerate(nodes)
    }
    return (nodes[i] for i in TopologicalSorter(before).static_order())


class Executable:
    """An ONNX graph that runs in ONNX Runtime."""

    def __init__(self, path: Path) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingPackage("onnx", "--run", "onnx") from None
        self.runtime, self.numpy = packages("--run")
        self.path = path
        self.proto = onnx.load(str(path), load_external_data=False)
        graph = self.proto.graph
        constants = {tensor.name for tensor in graph.initializer}
        self.wanted = [value for value in graph.input if value.name not in constants]
        self.inputs = [value.name for value in self.wanted]
        self.results = [value.name for value in graph.output]
        self.nodes = list(_sorted(graph.node))
        self.producers = {name: node for node in self.nodes for name in node.output if name}
        self.bytes = _BYTES

    def run(self, arrays: Mapping[str, Any]) -> Run:
        """Runs the graph on these inputs, as often as its values need to be fetched in parts."""
        feeds = for_the_other(arrays, self.wanted, self.path)
        values = {name: sketch(array) for name, array in feeds.items()}
        names, count = list(self._varying()), _FIRST
        while names:
            part, names = names[:count], names[count:]
            size = 0
            for name, array in self._fetched(part, feeds):
                size += array.nbytes
                values[name] = sketch(array)
            fitting = self.bytes * len(part) // max(size, 1)
            count = max(1, min(fitting, count * _GROWTH))
        known = {name: found for name, found in values.items() if found is not None}
        for name in self.results:
            if name in known and known[name].nan:
                raise BadInput(
                    f"{self.path} returns NaN for these inputs (in {name!r}): nothing can be compared, "
                    "expected inputs for which its results are numbers"
                )
        found = dict(self._copies(known))
        alike = {name: known[name].shape == known[before].shape for name, before in found.items()}
        copies = {name: before for name, before in found.items() if alike[name]}
        views = {name: before for name, before in found.items() if not alike[name]}
        return Run(known, self.inputs, copies, views)

    def _varying(self) -> Iterator[str]:
        """The values that depend on an input."""
        found = set(self.inputs)
        for node in self.nodes:
            if any(name in found for name in read_by(node)):
                found |= set(node.output)
                yield from (name for name in node.output if name)

    def _fetched(self, names: list[str], feeds: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The contents of values, which become the results of the graph."""
        outputs = self.proto.graph.output
        del outputs[:]
        for name in names:
            outputs.add().name = name
        options = self.runtime.SessionOptions()
        options.graph_optimization_level = self.runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = open_proto(self.proto, self.path, self.path, options, self.runtime)
        results = run_session(session, feeds, self.path)
        results.reverse()
        for output in session.get_outputs():
            array = results.pop()  # so that it is freed as soon as it was seen
            if isinstance(array, self.numpy.ndarray):
                yield output.name, array

    def _copies(self, values: Mapping[str, Sketch]) -> Iterator[tuple[str, str]]:
        """The values with the elements of one that their node reads, perhaps through other encodings, with that value."""
        for name, node in self.producers.items():
            if name in values:
                for before, limit in self._before(node):
                    if before not in values or values[before].form != values[name].form:
                        continue
                    if distances([values[name]], [values[before]])[0, 0] <= limit:
                        yield name, before
                        break

    def _before(self, node: Any) -> Iterator[tuple[str, float]]:
        """What a node reads, also through encodings, and how far a copy of it may be from it."""
        limit = _COPIED
        yield from ((name, limit) for name in node.input)
        while node is not None and node.op_type in _ENCODINGS and node.input:
            limit = max(limit, _QUANTIZED if node.op_type == "QuantizeLinear" else _ROUNDED)
            yield node.input[0], limit
            node = self.producers.get(node.input[0])
