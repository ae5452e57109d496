"""What modules cost: parameters, bytes, activations, multiply-adds, and how sure their tags are.

They are added up from groups of operations and weights that are alike: each alone, where all of them are known by
name, or as the native program has counted them.

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
from typing import Any, NamedTuple

from . import native
from .costs import Operation, Tensor, has_products, multiply_adds, no_products
from .model import TaggedModel
from .records import Node
from .sizes import start_shapes

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
    start_shapes gave, for who has other work meanwhile. Of a model that was read with its contents alone, there
    are figures of modules and none of nodes."""
    result = Figures({path: ModuleCosts() for path in model.modules}, {}, dims=dict(dims or {}))
    if model.has_contents:
        groups, weights = _groups_of_contents(model), _weights_of_contents(model)
        there = True
    else:
        shapes = _Shapes.of(running or start_shapes(model.path, dims))
        groups, weights = _groups_of_nodes(model, shapes, result), _weights(model, shapes)
        there = shapes.there
    _Sums(model, result).add(groups, weights)
    result.notes = list(_notes(model, result, groups, there))
    return result


def as_json(costs: NodeCosts | ModuleCosts) -> dict[str, Any]:
    return dict(vars(costs))


class _Shapes:
    """Types of values and attributes of operations, from htp-opt."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.there = bool(document)
        self.values = {
            name: _same(element, None if shape is None else tuple(shape))
            for name, (element, shape) in document.get("values", {}).items()
        }
        self.attributes: Mapping[str, Mapping[str, Any]] = document.get("attributes", {})

    @classmethod
    def of(cls, running: native.Running | None) -> _Shapes:
        return cls(json.loads(running.read()) if running else {})

    def tensors(self, names: Iterable[str]) -> list[Tensor | None]:
        return [self.values.get(name) if name else None for name in names]


class _Group(NamedTuple):
    """Operations that are alike; `scope` is None where they have no tag."""

    scope: str | None
    op_type: str
    domain: str
    evidence: str
    confidence: float
    costs: NodeCosts
    number: int = 1


class _Weight(NamedTuple):
    """Weights that are alike."""

    users: list[str]
    tensor: Tensor | None
    number: int = 1

    @property
    def bytes(self) -> int:
        return self.number * ((self.tensor.bytes if self.tensor else None) or 0)


def _groups_of_nodes(model: TaggedModel, shapes: _Shapes, result: Figures) -> list[_Group]:
    """Every node that is no constant; what it costs is one of the results, too."""
    groups = []
    for node in model.nodes.values():
        if not node.is_constant:
            costs = result.nodes[node.name] = _node_costs(node, shapes)
            what = (node.scope, node.op_type, node.domain, node.evidence, node.confidence)
            groups.append(_Group(*what, costs))
    return groups


def _groups_of_contents(model: TaggedModel) -> list[_Group]:
    paths = list(model.modules)
    kinds = model.metadata["kinds"]
    costs = [_kind_costs(kind) for kind in kinds]
    return [
        _Group(
            None if module is None else paths[module],
            kinds[kind]["op_type"],
            kinds[kind]["domain"],
            evidence,
            confidence,
            costs[kind],
            count,
        )
        for module, kind, evidence, confidence, _, count in model.metadata["operations"]
    ]


def _kind_costs(kind: Mapping[str, Any]) -> NodeCosts:
    inputs, outputs = ([_tensor(given) for given in kind[key]] for key in ("inputs", "outputs"))
    operation = Operation(kind["op_type"], kind["domain"], inputs, outputs, kind["attributes"])
    sizes = [tensor.bytes for tensor in outputs if tensor is not None]
    return NodeCosts(
        multiply_adds(operation),
        None if None in sizes else sum(sizes),  # type: ignore[arg-type]
    )


def _tensor(given: list[Any] | None) -> Tensor | None:
    """Of a kind: None where nothing is given, without a rank what is no tensor."""
    if given is None:
        return None
    element, shape = given or ("", None)
    return _same(element, None if shape is None else tuple(shape))


#: A model has few kinds of values, and each is asked for its size.
_same = cache(Tensor)


def _weights(model: TaggedModel, shapes: _Shapes) -> list[_Weight]:
    return [
        _Weight(
            _users(
                model,
                list(initializer.scopes),
                None if not initializer.parameter else initializer.parameter.rpartition(".")[0],
            ),
            shapes.values.get(name),
        )
        for name, initializer in model.initializers.items()
    ]


def _weights_of_contents(model: TaggedModel) -> list[_Weight]:
    paths = list(model.modules)
    return [
        _Weight(
            _users(model, [paths[user] for user in users], None if owner is None else paths[owner]),
            _tensor(given),
            count,
        )
        for users, owner, given, count in model.metadata["weights"]
    ]


def _users(model: TaggedModel, users: list[str], owner: str | None) -> list[str]:
    """The modules that read a weight, of which `owner` declares the parameter. Where modules are functions, all
    that is seen is which call takes it; the module that declares it lies deeper."""
    modules = model.modules
    if owner is not None and owner in modules and model.metadata["functions"]:
        above = {"", *(owner[:at] for at, c in enumerate(owner) if c == ".")}
        return [owner, *(path for path in users if path not in above and path != owner)]
    return [path for path in users if path in modules]


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
    """Adds up what nodes, parameters and weights cost along the paths of the tree: first what belongs to one
    module, then up the tree, and then what several share, which counts once above them."""

    def __init__(self, model: TaggedModel, result: Figures) -> None:
        self.model, self.modules = model, result.modules
        self.parents = {
            child: module.path for module in model.modules.values() for child in module.children
        }

    def add(self, groups: Iterable[_Group], weights: Iterable[_Weight]) -> None:
        shared = [weight for weight in weights if not self._add_weight(weight)]
        owners = self._add_parameters()
        confidences: dict[str, dict[float, int]] = {path: {} for path in self.modules}
        for group in groups:
            if group.scope is not None:
                self._add_group(group, confidences[group.scope])
        self._add_up(confidences)
        for weight in shared:
            for costs in self._above(weight.users):
                _add_bytes(weight, costs.total_weight_bytes, costs.unknown)
        for size, paths in owners:
            for costs in self._above(paths):
                costs.total_parameters += size

    def _above(self, paths: Iterable[str]) -> Iterator[ModuleCosts]:
        """The modules at these paths and all above them, each once."""
        seen: set[str] = set()
        for start in paths:
            path: str | None = start
            while path is not None and path not in seen:
                seen.add(path)
                yield self.modules[path]
                path = self.parents.get(path)

    def _add_group(self, group: _Group, confidences: dict[float, int]) -> None:
        module, count = self.modules[group.scope or ""], group.number
        if group.costs.multiply_adds is None:
            _count(module.unknown, "multiply_adds", count)
        else:
            module.multiply_adds += count * group.costs.multiply_adds
        if group.costs.activation_bytes is None:
            _count(module.unknown, "activation_bytes", count)
        else:
            module.activation_bytes += count * group.costs.activation_bytes
        _count(module.evidence, group.evidence or "none", count)
        confidences[group.confidence] = confidences.get(group.confidence, 0) + count

    def _add_up(self, confidences: dict[str, dict[float, int]]) -> None:
        """Children first; parents come first in the tree."""
        for path in reversed(self.modules):
            module, below = self.modules[path], confidences.pop(path)
            module.total_multiply_adds += module.multiply_adds
            module.total_activation_bytes += module.activation_bytes
            if below:
                module.confidence = _mean(below)
                module.lowest_confidence = min(below)
                if module.lowest_confidence < UNSURE:
                    module.unsure = sum(n for c, n in below.items() if c < UNSURE)
            parent = self.parents.get(path)
            if parent is None:
                continue
            above = self.modules[parent]
            above.total_parameters += module.total_parameters
            above.total_multiply_adds += module.total_multiply_adds
            above.total_activation_bytes += module.total_activation_bytes
            _merge(above.unknown, module.unknown)
            _merge(above.evidence, module.evidence)
            _merge(above.total_weight_bytes, module.total_weight_bytes)
            _merge(confidences[parent], below)

    def _add_parameters(self) -> list[tuple[int, list[str]]]:
        """Adds those of one module to it, and gives back sizes and modules of those that several have."""
        owners: dict[str, tuple[int, list[str]]] = {}
        for module in self.model.modules.values():
            start = f"{module.path}." if module.path else ""
            for parameter in module.parameters:
                if parameter.kind != "parameter":
                    continue
                name = parameter.tied or f"{start}{parameter.name}"
                size = math.prod(parameter.shape)
                self.modules[module.path].parameters += size
                if name in owners:
                    owners[name] = (size, [*owners[name][1], module.path])
                else:
                    owners[name] = (size, [module.path])
        shared = []
        for size, paths in owners.values():
            if len(paths) == 1:
                self.modules[paths[0]].total_parameters += size
            else:
                shared.append((size, paths))
        return shared

    def _add_weight(self, weight: _Weight) -> bool:
        """To the modules that read it; whether it is one alone, which the sums up the tree are for."""
        alone = len(weight.users) == 1
        for path in dict.fromkeys(weight.users):
            module = self.modules[path]
            if weight.tensor is not None and weight.tensor.bytes is not None:
                _count(module.weight_bytes, weight.tensor.element, weight.bytes)
            if alone:
                _add_bytes(weight, module.total_weight_bytes, module.unknown)
        return alone


def _mean(counts: Mapping[float, int]) -> float:
    if len(counts) == 1:
        return round(next(iter(counts)), 6)
    return round(math.fsum(c * n for c, n in counts.items()) / sum(counts.values()), 6)


def _add_bytes(weight: _Weight, known: dict[str, int], unknown: dict[str, int]) -> None:
    if weight.tensor is None or weight.tensor.bytes is None:
        _count(unknown, "weight_bytes", weight.number)
    else:
        _count(known, weight.tensor.element, weight.bytes)


def _merge(counts: dict[Any, int], more: Mapping[Any, int]) -> None:
    for key, by in more.items():
        counts[key] = counts.get(key, 0) + by


def _count(counts: dict[str, int], key: str, by: int = 1) -> None:
    counts[key] = counts.get(key, 0) + by


def _notes(
    model: TaggedModel, result: Figures, groups: Iterable[_Group], there: bool
) -> Iterator[str]:
    if not there:
        yield f"{model.path.name} holds no sizes: read the model itself for bytes and multiply-adds"
        return
    if not any(costs.parameters for costs in result.modules.values()):
        yield "the module tree has no parameters: a trace of the PyTorch model brings them"
    if lost := sum(group.number for group in groups if group.scope is None):
        yield f"{lost} nodes without a tag are in no module's figures"
    kinds = Counter[str]()
    for group in groups:
        if group.costs.multiply_adds is None:
            kinds[group.op_type] += group.number
    if kinds:
        some = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(5))
        yield (
            f"multiply-adds of {kinds.total()} nodes are not known ({some}): their sizes are open "
            "(--dim NAME=SIZE), or no table has them"
        )
    if bodies := sum(g.number for g in groups if g.op_type in ("Loop", "Scan") and not g.domain):
        yield f"bodies of {bodies} loops count as if they ran once"


def unsure(model: TaggedModel, below: float = UNSURE) -> list[Node]:
    """Nodes whose tags are unsure or contested, the least sure first."""
    found = [
        node
        for node in (model.unsure_nodes if model.has_contents else model.nodes).values()
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
