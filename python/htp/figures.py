"""What modules cost: parameters, bytes, activations, multiply-adds, and how sure their tags are.

The only place that adds these up. `htp analyze`, the report, `Module.costs` and the page of `htp view` all show
what is computed here.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from . import native
from .costs import Operation, Tensor, has_products, multiply_adds, no_products
from .errors import BadInput
from .model import TaggedModel
from .onnxfile import has_functions, is_mlir
from .records import Initializer, Node

#: Tags below this are worth a look.
UNSURE = 0.9


@dataclass
class NodeCosts:
    """What is known of one operation; None is not known."""

    multiply_adds: int | None = None
    activation_bytes: int | None = None  # of the values that it makes
    types: list[str] = field(default_factory=list)  # of these, such as f32[1,16,128]


@dataclass
class ModuleCosts:
    """A module alone, and (total) with all modules below it. What several of them share counts once.

    Sums are over what is known; `unknown` says how many nodes below are not in them.
    """

    parameters: int = 0  # elements of its own, as PyTorch has them, without buffers
    total_parameters: int = 0
    weight_bytes: dict[str, int] = field(default_factory=dict)  # by type, as the file stores them
    total_weight_bytes: dict[str, int] = field(default_factory=dict)
    activation_bytes: int = 0
    total_activation_bytes: int = 0
    multiply_adds: int = 0
    total_multiply_adds: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    confidence: float | None = None  # mean over its nodes and those below
    lowest_confidence: float | None = None
    unsure: int = 0  # of these nodes, below 0.9
    evidence: dict[str, int] = field(default_factory=dict)  # nodes by kind


@dataclass
class Figures:
    """The costs of all modules, by path, and of all nodes that are no constants, by name."""

    modules: dict[str, ModuleCosts]
    nodes: dict[str, NodeCosts]
    notes: list[str] = field(default_factory=list)  # what is not in them, and why
    dims: dict[str, int] = field(default_factory=dict)


def figures_of(
    model: TaggedModel,
    dims: Mapping[str, int] | None = None,
    running: native.Running | None = None,
) -> Figures:
    """Sizes are inferred from the file; `dims` gives those of open dimensions of its inputs. `running` is what
    start_shapes gave, for who has other work meanwhile."""
    shapes = _Shapes.of(running or start_shapes(model.path, dims))
    nodes = {
        node.name: _node_costs(node, shapes)
        for node in model.nodes.values()
        if not node.is_constant
    }
    result = Figures({path: ModuleCosts() for path in model.modules}, nodes, dims=dict(dims or {}))
    _Sums(model, result, shapes).add()
    result.notes = list(_notes(model, result, shapes))
    return result


def as_json(costs: NodeCosts | ModuleCosts) -> dict[str, Any]:
    return dict(vars(costs))


class _Shapes:
    """Types of values and attributes of operations, from htp-opt."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.there = bool(document)
        tensor = cache(Tensor)  # a model has few kinds of values, and each is asked for its size
        self.values = {
            name: tensor(element, None if shape is None else tuple(shape))
            for name, (element, shape) in document.get("values", {}).items()
        }
        self.attributes: Mapping[str, Mapping[str, Any]] = document.get("attributes", {})

    @classmethod
    def of(cls, running: native.Running | None) -> _Shapes:
        return cls(json.loads(running.read()) if running else {})

    def tensors(self, names: Iterable[str]) -> list[Tensor | None]:
        return [self.values.get(name) if name else None for name in names]


def start_shapes(path: Path, dims: Mapping[str, int] | None = None) -> native.Running | None:
    """Starts the program that infers the sizes of a model's values; none where the file has no graph."""
    if path.suffix == ".json" or not path.exists():
        if dims:
            raise BadInput(f"{path} holds no graph: sizes of dimensions would have no effect")
        return None
    if dims and not is_mlir(path) and has_functions(path):
        raise BadInput(
            f"{path} has functions, whose sizes are fixed: give sizes to the model as it was "
            "before it was outlined"
        )
    # Lists in an option end at commas, and one text is one dimension.
    given = ",".join(f"{name}={size}" for name, size in (dims or {}).items())
    passes = f"--onnx-infer-shapes=dims={native.quoted(given)}" if dims else "--onnx-infer-shapes"
    return native.Running(native.program_for(path), [path, passes, "--op-shapes"])


def _node_costs(node: Node, shapes: _Shapes) -> NodeCosts:
    if not shapes.there:
        return NodeCosts()
    values = shapes.values
    made = [values.get(name) for name in node.outputs if name]
    sizes = [None if tensor is None else tensor.bytes for tensor in made]
    return NodeCosts(
        _node_products(node, shapes),
        None if None in sizes else sum(sizes),  # type: ignore[arg-type]
        ["?" if tensor is None else tensor.text for tensor in made],
    )


def _node_products(node: Node, shapes: _Shapes) -> int | None:
    if not has_products(node.op_type, node.domain):
        return no_products(node.op_type, node.domain)
    return multiply_adds(
        Operation(
            node.op_type,
            node.domain,
            [
                tensor or (Tensor("", None) if name else None)
                for name, tensor in zip(node.inputs, shapes.tensors(node.inputs))
            ],
            shapes.tensors(node.outputs),
            shapes.attributes.get(node.name, {}),
        )
    )


class _Sums:
    """Adds up what nodes, parameters and weights cost along the paths of the tree."""

    def __init__(self, model: TaggedModel, result: Figures, shapes: _Shapes) -> None:
        self.model, self.result, self.shapes = model, result, shapes
        self.parents = {
            child: module.path for module in model.modules.values() for child in module.children
        }

    def add(self) -> None:
        self._add_nodes()
        self._add_parameters()
        self._add_weights()

    def _above(self, paths: Iterable[str]) -> Iterator[ModuleCosts]:
        """The modules at these paths and all above them, each once."""
        seen: set[str] = set()
        for start in paths:
            path: str | None = start
            while path is not None and path not in seen:
                seen.add(path)
                yield self.result.modules[path]
                path = self.parents.get(path)

    def _add_nodes(self) -> None:
        """What nodes cost by themselves, module by module, and then up the tree, children first."""
        own: dict[str, list[Node]] = {path: [] for path in self.result.modules}
        for node in self.model.nodes.values():
            if not node.is_constant and node.scope is not None:
                own[node.scope].append(node)
        confidences: dict[str, list[float]] = {}
        for path in reversed(self.result.modules):  # parents come first there
            module, nodes = self.result.modules[path], own[path]
            costs = [self.result.nodes[node.name] for node in nodes]
            module.multiply_adds = sum(c.multiply_adds or 0 for c in costs)
            module.activation_bytes = sum(c.activation_bytes or 0 for c in costs)
            module.total_multiply_adds += module.multiply_adds
            module.total_activation_bytes += module.activation_bytes
            for figure in ("multiply_adds", "activation_bytes"):
                if unknown := sum(getattr(c, figure) is None for c in costs):
                    _count(module.unknown, figure, unknown)
            for node in nodes:
                _count(module.evidence, node.evidence or "none")
            below = confidences.setdefault(path, [])
            below += [node.confidence for node in nodes]
            if below:
                module.confidence = round(math.fsum(below) / len(below), 6)
                module.lowest_confidence = min(below)
                module.unsure = sum(confidence < UNSURE for confidence in below)
            parent = self.parents.get(path)
            if parent is not None:
                above = self.result.modules[parent]
                above.total_multiply_adds += module.total_multiply_adds
                above.total_activation_bytes += module.total_activation_bytes
                for counts, more in (
                    (above.unknown, module.unknown),
                    (above.evidence, module.evidence),
                ):
                    for key, by in more.items():
                        _count(counts, key, by)
                confidences.setdefault(parent, []).extend(below)

    def _add_parameters(self) -> None:
        owners: dict[str, list[str]] = {}
        sizes: dict[str, int] = {}
        for module in self.model.modules.values():
            for parameter in module.parameters:
                if parameter.kind != "parameter":
                    continue
                start = f"{module.path}." if module.path else ""
                name = parameter.tied or f"{start}{parameter.name}"
                sizes[name] = math.prod(parameter.shape)
                owners.setdefault(name, []).append(module.path)
                self.result.modules[module.path].parameters += sizes[name]
        for name, paths in owners.items():
            for costs in self._above(paths):
                costs.total_parameters += sizes[name]

    def _add_weights(self) -> None:
        for name, initializer in self.model.initializers.items():
            tensor = self.shapes.values.get(name)
            users = self._users(initializer)
            if tensor is None or tensor.bytes is None:
                for costs in self._above(users):
                    _count(costs.unknown, "weight_bytes")
                continue
            for path in dict.fromkeys(users):
                _count(self.result.modules[path].weight_bytes, tensor.element, tensor.bytes)
            for costs in self._above(users):
                _count(costs.total_weight_bytes, tensor.element, tensor.bytes)

    def _users(self, initializer: Initializer) -> list[str]:
        """The modules that read a weight. Where modules are functions, all that is seen is which call takes
        it; the module that declares the parameter lies deeper."""
        modules = self.result.modules
        users = [path for path in initializer.scopes if path in modules]
        if self.model.metadata["functions"] and initializer.parameter:
            owner = initializer.parameter.rpartition(".")[0]
            if owner in modules:
                above = {"", *(owner[:at] for at, c in enumerate(owner) if c == ".")}
                return [owner, *(path for path in users if path not in above and path != owner)]
        return users


def _count(counts: dict[str, int], key: str, by: int = 1) -> None:
    counts[key] = counts.get(key, 0) + by


def _notes(model: TaggedModel, result: Figures, shapes: _Shapes) -> Iterator[str]:
    if not shapes.there:
        yield f"{model.path.name} holds no sizes: read the model itself for bytes and multiply-adds"
        return
    if not any(costs.parameters for costs in result.modules.values()):
        yield "the module tree has no parameters: a trace of the PyTorch model brings them"
    if lost := sum(1 for n in model.nodes.values() if n.scope is None and not n.is_constant):
        yield f"{lost} nodes without a tag are in no module's figures"
    kinds = Counter(
        node.op_type
        for node in model.nodes.values()
        if node.name in result.nodes and result.nodes[node.name].multiply_adds is None
    )
    if kinds:
        some = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(5))
        yield (
            f"multiply-adds of {kinds.total()} nodes are not known ({some}): their sizes are open "
            "(--dim NAME=SIZE), or no table has them"
        )
    if bodies := sum(n.op_type in ("Loop", "Scan") and not n.domain for n in model.nodes.values()):
        yield f"bodies of {bodies} loops count as if they ran once"


def unsure(model: TaggedModel, below: float = UNSURE) -> list[Node]:
    """Nodes whose tags are unsure or contested, the least sure first."""
    found = [
        node
        for node in model.nodes.values()
        if not node.is_constant and (node.confidence < below or is_contested(node))
    ]
    return sorted(found, key=lambda node: (node.tag is not None, node.confidence))


def is_contested(node: Node) -> bool:
    """Whether evidence spoke for other modules, too; that others read what it makes is none."""
    return any(context.evidence != "consumer" for context in node.contexts)


def module_json(model: TaggedModel, figures: Figures) -> list[dict[str, Any]]:
    """The modules of the operation metadata, each with its costs: what `htp analyze --json` prints."""
    return [
        {**entry, "costs": as_json(figures.modules[entry["path"]])}
        for entry in model.metadata["hierarchy"]["modules"]
    ]


def whole(weight_bytes: Mapping[str, int]) -> int:
    """Bytes of all types together."""
    return sum(weight_bytes.values())


def short(number: int) -> str:
    """1234567 as "1.23 M"."""
    for power, letter in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if number >= 10**power:
            return f"{number / 10**power:.3g} {letter}"
    return str(number)


def short_costs(costs: ModuleCosts) -> tuple[str, str, str]:
    """Parameters, bytes and multiply-adds with all modules below; ≥ where some are not known."""
    return (
        short(costs.total_parameters),
        _at_least(whole(costs.total_weight_bytes), "weight_bytes", costs),
        _at_least(costs.total_multiply_adds, "multiply_adds", costs),
    )


def _at_least(value: int, figure: str, costs: ModuleCosts) -> str:
    if not costs.unknown.get(figure):
        return short(value)
    return f"≥ {short(value)}" if value else "?"
