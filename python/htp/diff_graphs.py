"""The values of an ONNX graph that leave each module call, and their contents in a run."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .errors import MissingPackage
from .holding import StrPath
from .model import TaggedModel
from .running import Inputs, inputs_for, open_proto, packages, run_session

#: A module's path, and the number of the call.
Call = tuple[str, int]
#: A module call, and a value that leaves it: its name in the first model and in the second.
Pair = tuple[Call, str, str]


class Graph:
    """A tagged ONNX graph."""

    def __init__(self, path: Path, model: TaggedModel, given: Path | None = None) -> None:
        """`given` is the path that the user gave, if `path` is a temporary copy."""
        try:
            import onnx
        except ImportError:
            raise MissingPackage("onnx", "htp diff", "onnx") from None
        self.path, self.model = given or path, model
        self.file = path  # beside which its external data is
        self.proto = onnx.load(str(path), load_external_data=False)
        self.nodes = list(self.proto.graph.node)
        self.results = [output.name for output in self.proto.graph.output]  # of the model itself
        self.outputs = set(self.results)  # what a run returns
        self.parents = {child: m.path for m in model.modules.values() for child in m.children}
        self.chains = [self._chain(node) for node in self.nodes]
        self.producers = {v: i for i, node in enumerate(self.nodes) for v in node.output if v}

    def _chain(self, node: Any) -> list[Call]:
        """The module calls that contain a node, the model itself first."""
        tags = {entry.key: entry.value for entry in node.metadata_props}
        scope = tags.get("htp.scope", "")
        modules = self.model.modules
        if scope not in modules:
            return [("", 0)]
        number, calls = int(tags.get("htp.call", "0")), max(1, modules[scope].calls)
        chain, path = [(scope, number)], scope
        while path in self.parents:
            path = self.parents[path]
            # a module that is called twice in each of three calls of its parent is called six times
            chain.append((path, number * max(1, modules[path].calls) // calls))
        return chain[::-1]

    def made_in(self, value: str) -> str:
        """The path of the module that makes a value."""
        return self.chains[self.producers[value]][-1][0]

    def kind_of(self, value: str) -> str:
        """The operator that makes a value."""
        kind: str = self.nodes[self.producers[value]].op_type
        return kind

    def class_name(self, path: str) -> str:
        return self.model.modules[path].class_name

    def is_called_often(self, path: str) -> bool:
        return self.model.modules[path].calls > 1

    @functools.cached_property
    def boundaries(self) -> dict[Call, list[str]]:
        """The values that leave each module call, in execution order."""
        shared: dict[str, int] = dict.fromkeys(
            self.results, 0
        )  # calls that producer and users share
        for node, chain in zip(self.nodes, self.chains):
            for value in read_by(node):
                if value in self.producers:
                    common = _common(self.chains[self.producers[value]], chain)
                    shared[value] = min(shared.get(value, common), common)
        result: dict[Call, list[str]] = {}
        for node, chain in zip(self.nodes, self.chains):
            if node.op_type == "Constant":
                continue
            for value in node.output:
                for call in chain[shared.get(value, len(chain)) :]:
                    result.setdefault(call, []).append(value)
        return result

    def input_values(self) -> list[Any]:
        constants = {tensor.name for tensor in self.proto.graph.initializer}
        return [value for value in self.proto.graph.input if value.name not in constants]

    def run(
        self,
        values: Iterable[str],
        inputs: StrPath | Mapping[str, Any] | None,
        dims: Mapping[str, int] | None = None,
    ) -> tuple[dict[str, Any], Inputs]:
        """Runs the model and returns these values. They become outputs, whose types ONNX Runtime infers."""
        runtime, numpy = packages("htp diff")
        wanted = list(dict.fromkeys(values))
        for value in wanted:
            if value not in self.outputs and value in self.producers:
                self.proto.graph.output.add().name = value
                self.outputs.add(value)
        session = open_proto(self.proto, self.file, self.path, runtime.SessionOptions(), runtime)
        given = inputs_for(session, inputs, dims, numpy, self.path)
        results = run_session(session, given.feeds, self.path, given.hint)
        names = [output.name for output in session.get_outputs()]
        found = {n: r for n, r in zip(names, results) if isinstance(r, numpy.ndarray)}
        return found | self.contents(v for v in wanted if v not in self.producers), given

    def run_given(self, given: Mapping[str, Any], feeds: Mapping[str, Any]) -> dict[str, Any]:
        """Computes values, each from the given contents of those before it."""
        names = {value: f"{value}/given" for value in given if value in self.producers}
        feeds = dict(feeds)
        for node in self.nodes:
            _rename(node, names)
        for value, array in given.items():
            if value in self.producers:
                self._add_input(names[value], array)
                feeds[names[value]] = array
        return self.run(given, feeds)[0]

    def _add_input(self, name: str, array: Any) -> None:
        import onnx

        self.proto.graph.input.add().CopyFrom(
            onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
        )

    def modules_since(self, value: str, compared: set[str], module: str) -> list[str]:
        """Other modules that contributed to a value since the last compared values before it: an optimizer
        fused their values away, so their errors cannot be told from the module's own."""
        if value not in self.producers:
            return self.folded_below(module)
        seen, pending = {value}, [value]
        found: set[int] = set()
        folded: dict[str, None] = {}
        while pending:
            at = self.producers.get(pending.pop())
            if at is None:
                continue
            found.add(at)
            for before in read_by(self.nodes[at]):
                if before not in seen and before not in compared:
                    seen.add(before)
                    pending.append(before)
                    if before in self._constant_names:
                        folded |= dict.fromkeys(self.folded_below(self.chains[at][-1][0]))
                    elif self._owners.get(before) in self._folded:
                        folded[self._owners[before]] = None
        paths = (
            self.chains[at][-1][0] for at in sorted(found) if self.nodes[at].op_type != "Constant"
        )
        return [p for p in dict.fromkeys([*paths, *folded]) if p and not is_below(module, p)]

    def modules_after(self, value: str, modules: set[str]) -> list[str]:
        """Modules that read a value and are not in `modules`, those with compared values of their own: for
        example an activation that was fused into the operation before it."""
        readers = (self.chains[at][-1][0] for at in self._users.get(value, []))
        return [path for path in dict.fromkeys(readers) if path not in modules]

    @functools.cached_property
    def _users(self) -> dict[str, list[int]]:
        users: dict[str, list[int]] = {}
        for number, node in enumerate(self.nodes):
            for value in read_by(node):
                users.setdefault(value, []).append(number)
        return users

    def place(self, value: str) -> float:
        """The position of a value in execution order; for a constant, where it is first read."""
        return self.producers.get(value, self._readers.get(value, -1) - 0.5)

    # --- constants

    @functools.cached_property
    def _readers(self) -> dict[str, int]:
        """The first node that reads each constant."""
        names = {tensor.name for tensor in self.proto.graph.initializer}
        readers: dict[str, int] = {}
        for number, node in enumerate(self.nodes):
            for value in read_by(node):
                if value in names:
                    readers.setdefault(value, number)
        return readers

    def ops_of(self, call: Call) -> list[str]:
        """The operators of a module call's own code."""
        pairs = zip(self.nodes, self.chains)
        return [node.op_type for node, chain in pairs if chain[-1] == call]

    @functools.cached_property
    def constants(self) -> dict[tuple[Call, tuple[int, ...]], list[str]]:
        """Floating-point tensors that are not parameters, by the module call that reads them first, and shape."""
        import onnx

        floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)
        found: dict[tuple[Call, tuple[int, ...]], list[str]] = {}
        for tensor in self.proto.graph.initializer:
            known = any(entry.key == "htp.parameter" for entry in tensor.metadata_props)
            if known or tensor.data_type not in floats or tensor.name not in self._readers:
                continue
            if math.prod(tensor.dims) < 2:
                continue  # a scale or another scalar
            call = self.chains[self._readers[tensor.name]][-1]
            found.setdefault((call, tuple(tensor.dims)), []).append(tensor.name)
        return {key: sorted(names, key=self._readers.__getitem__) for key, names in found.items()}

    def as_read(self, value: str) -> str:
        """The value that consumers actually read: if it is quantized first, the dequantized one. Quantizers drop
        a Relu in front of it, because the quantized range starts at zero."""
        for kind in ("QuantizeLinear", "DequantizeLinear"):
            users = [self.nodes[at] for at in self._users.get(value, [])]
            if value in self.results or len(users) != 1 or users[0].op_type != kind:
                continue
            if users[0].input[0] == value:
                value = users[0].output[0]
        return value

    @functools.cached_property
    def absorbed(self) -> dict[Call, Call]:
        """Maps module calls without a node of their own to the call whose node absorbed them, as a convolution
        absorbs the norm after it. The node's value is that of the last of them."""
        with_nodes = {call[0] for chain in self.chains for call in chain}
        found: dict[Call, Call] = {}
        for node, chain in zip(self.nodes, self.chains):
            text = next((e.value for e in node.metadata_props if e.key == "htp.contexts"), "[]")
            for context in json.loads(text):
                path = context.get("scope", "")
                if path in self.model.modules and path not in with_nodes:
                    found[path, chain[-1][1]] = chain[-1]
        return found

    @functools.cached_property
    def _constant_names(self) -> set[str]:
        return {name for names in self.constants.values() for name in names}

    @functools.cached_property
    def _owners(self) -> dict[str, str]:
        """The module of each parameter. Other modules may read it if the module's own computation was folded."""
        return {
            tensor.name: entry.value.rpartition(".")[0]
            for tensor in self.proto.graph.initializer
            for entry in tensor.metadata_props
            if entry.key == "htp.parameter"
        }

    def contents(self, names: Iterable[str]) -> dict[str, Any]:
        """The contents of constants."""
        import onnx

        wanted = set(names)
        return {
            tensor.name: onnx.numpy_helper.to_array(tensor, str(self.file.resolve().parent))
            for tensor in self.proto.graph.initializer
            if tensor.name in wanted
        }

    @functools.cached_property
    def _folded(self) -> list[str]:
        with_nodes = {call[0] for chain in self.chains for call in chain}
        modules = self.model.modules.values()
        return [m.path for m in modules if m.parameters and m.path not in with_nodes]

    def folded_below(self, path: str) -> list[str]:
        """Modules below one that have parameters but no nodes: their computation was folded into constants."""
        return [other for other in self._folded if other != path and is_below(other, path)]


def is_below(path: str, other: str) -> bool:
    return not other or path == other or path.startswith(f"{other}.")


def depth(path: str) -> int:
    return path.count(".") + 1 if path else 0


def _common(one: list[Call], other: list[Call]) -> int:
    count = 0
    for a, b in zip(one, other):
        if a != b:
            break
        count += 1
    return count


def read_by(node: Any) -> Iterator[str]:
    """The values that a node reads, including those that its subgraphs capture."""
    yield from node.input
    for attribute in node.attribute:
        for body in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
            for inner in body.node:
                yield from read_by(inner)
            yield from (output.name for output in body.output)


def _rename(node: Any, names: Mapping[str, str]) -> None:
    node.input[:] = [names.get(value, value) for value in node.input]
    for attribute in node.attribute:
        for body in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
            for inner in body.node:
                _rename(inner, names)
            for output in body.output:
                output.name = names.get(output.name, output.name)


def label(call: Call, often: bool) -> str:
    """A module call in readable form."""
    return f"{call[0] or '(root)'}{f' (call {call[1]})' if often else ''}"


def pairs_of_graphs(one: Graph, two: Graph) -> tuple[list[Pair], list[str]]:
    """Pairs of corresponding values, by the module call that they leave in the first graph: those with the same
    name, and the others by position, if both graphs have equally many. Values without a partner were fused
    away."""
    ours, theirs = one.boundaries, two.boundaries
    same = _same_names(one, two)
    pairs: list[Pair] = []
    missing: dict[str, None] = {}
    for call, values in ours.items():
        left = [value for value in values if value not in same]
        right = [value for value in theirs.get(call, []) if value not in same]
        pairs += [(call, value, two.as_read(value)) for value in values if value in same]
        if len(left) == len(right):
            pairs += [(call, a, two.as_read(b)) for a, b in zip(left, right)]
        elif left:
            missing[label(call, one.is_called_often(call[0]))] = None
    # If several values became one, it corresponds to the last of them.
    last: dict[str, str] = {}
    for _, value, other in pairs:
        last[other] = max(last.get(other, value), value, key=one.place)
    for call, value, other in pairs:
        if last[other] != value:
            missing[label(call, one.is_called_often(call[0]))] = None
    pairs = [pair for pair in pairs if last[pair[2]] == pair[1]]
    return pairs + _pairs_of_constants(one, two), list(missing)


def _same_names(one: Graph, two: Graph) -> set[str]:
    """The names that mean the same value in both graphs. An equal name is not enough, because another export
    numbers its values anew. So it has to be in the same or a neighbouring module, and so do most equal names of
    values from the same operator. A node that was fused with a neighbour may have the tag of either."""
    groups: dict[str, list[tuple[str, bool]]] = {}
    for value in one.producers:
        if value in two.producers:
            near = _are_near(one.made_in(value), two.made_in(value))
            groups.setdefault(one.kind_of(value), []).append((value, near))
    return {
        value
        for group in groups.values()
        if 2 * sum(near for _, near in group) > len(group)
        for value, near in group
        if near
    }


def _are_near(path: str, other: str) -> bool:
    """Whether one is above the other, or both are in the same module."""
    above, below = path.rpartition(".")[0], other.rpartition(".")[0]
    return is_below(path, other) or is_below(other, path) or above == below


def _pairs_of_constants(one: Graph, two: Graph) -> list[Pair]:
    """Pairs of constants that are not parameters, which an exporter computed. Constants of one shape that the
    same module call reads are paired by name, or in order if the call has the same operators in both graphs
    (otherwise an optimizer may have folded more)."""
    ours, theirs = one.constants, two.constants
    pairs: list[Pair] = []
    for (call, shape), values in ours.items():
        others = theirs.get((call, shape), [])
        if set(values) & set(others):
            pairs += [(call, value, value) for value in values if value in others]
        elif len(values) == len(others) and one.ops_of(call) == two.ops_of(call):
            pairs += [(call, a, b) for a, b in zip(values, others)]
    return pairs
