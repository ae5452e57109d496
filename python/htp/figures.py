"""The costs of modules: parameters, bytes, activations, multiply-adds, and the confidence of their tags.

The native programs add them up (`--module-figures`, `--op-figures`). `htp analyze`, the report, `Module.costs` and the
page of `htp view` all show the same numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import native
from .model import TaggedModel
from .records import Node
from .sizes import start_figures

#: Tags with a lower confidence are worth a look.
UNSURE = 0.9


@dataclass
class NodeCosts:
    """What is known about one operation; None means unknown."""

    multiply_adds: int | None = None
    activation_bytes: int | None = None  # of the values that it makes
    types: list[str] = field(default_factory=list)  # of these values, such as f32[1,16,128]


@dataclass
class ModuleCosts:
    """The costs of a module's own code, and (total) including all modules below it. Anything shared counts once.

    Sums include only known values; `unknown` says how many nodes are missing from each.
    """

    parameters: int = 0  # its own elements, as in PyTorch, without buffers
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
    unsure: int = 0  # number of these nodes with a confidence below 0.9
    evidence: dict[str, int] = field(default_factory=dict)  # nodes by kind


@dataclass
class Figures:
    """The costs of all modules, by path, and of all nodes except constants, by name."""

    modules: dict[str, ModuleCosts]
    nodes: dict[str, NodeCosts]
    notes: list[str] = field(default_factory=list)  # what they do not include, and why
    dims: dict[str, int] = field(default_factory=dict)


def figures_of(
    model: TaggedModel,
    dims: Mapping[str, int] | None = None,
    running: native.Running | None = None,
) -> Figures:
    """The figures of a model. Sizes are inferred from the file; `dims` gives those of its inputs' symbolic dimensions.

    `running` is the result of start_figures, for callers that do other work in the meantime. A model that was read with
    its figures has only those of modules, not of nodes; metadata without its model has only what the metadata
    determines.
    """
    given = dict(dims or {})
    if model.has_figures:
        entries = model.metadata["hierarchy"]["modules"]
        modules = {entry["path"]: ModuleCosts(**entry["costs"]) for entry in entries}
        return Figures(modules, {}, model.metadata["notes"], given)
    if running := running or start_figures(model.path, dims):
        found = json.loads(running.read())
        modules = {p: ModuleCosts(**m["costs"]) for p, m in zip(model.modules, found["modules"])}
        nodes = {name: NodeCosts(**entry) for name, entry in found["nodes"].items()}
        return Figures(modules, nodes, found["notes"], given)
    return _without_sizes(model)


def _without_sizes(model: TaggedModel) -> Figures:
    """The figures that metadata alone determines: parameters, and the confidence of tags."""
    nodes = [node for node in model.nodes.values() if not node.is_constant]
    result = Figures({path: ModuleCosts() for path in model.modules}, {})
    result.nodes = {node.name: NodeCosts() for node in nodes}
    result.notes.append(
        f"{model.path.name} contains no sizes: read the model itself for bytes and multiply-adds"
    )
    parents = {child: module.path for module in model.modules.values() for child in module.children}

    def above(paths: Iterable[str]) -> set[str]:
        found: set[str] = set()
        for start in paths:
            path: str | None = start
            while path is not None and path not in found:
                found.add(path)
                path = parents.get(path)
        return found

    owners: dict[str, list[tuple[str, int]]] = {}
    for module in model.modules.values():
        for parameter in module.parameters:
            if parameter.kind == "parameter":
                size = math.prod(parameter.shape)
                result.modules[module.path].parameters += size
                name = parameter.tied or f"{module.path}.{parameter.name}".lstrip(".")
                owners.setdefault(name, []).append((module.path, size))
    for those in owners.values():
        for path in above(path for path, _ in those):
            result.modules[path].total_parameters += those[-1][1]
    for initializer in model.initializers.values():
        for path in above(scope for scope in initializer.scopes if scope in parents or not scope):
            unknown = result.modules[path].unknown
            unknown["weight_bytes"] = unknown.get("weight_bytes", 0) + 1
    below: dict[str, list[Node]] = {}
    for node in nodes:
        for path in above([node.scope] if node.scope is not None else []):
            below.setdefault(path, []).append(node)
    for path, those_nodes in below.items():
        costs, sure = result.modules[path], [node.confidence for node in those_nodes]
        costs.confidence, costs.lowest_confidence = round(math.fsum(sure) / len(sure), 6), min(sure)
        costs.unsure = sum(confidence < UNSURE for confidence in sure)
        costs.unknown |= dict.fromkeys(("multiply_adds", "activation_bytes"), len(sure))
        for node in those_nodes:
            costs.evidence[node.evidence or "none"] = (
                costs.evidence.get(node.evidence or "none", 0) + 1
            )
    return result


def as_json(costs: NodeCosts | ModuleCosts) -> dict[str, Any]:
    return dict(vars(costs))


def unsure(model: TaggedModel, below: float = UNSURE) -> list[Node]:
    """Nodes whose tags are uncertain or contested, the least certain first."""
    found = [
        node
        for node in (model.unsure_nodes if model.has_figures else model.nodes).values()
        if not node.is_constant and (node.confidence < below or is_contested(node))
    ]
    return sorted(found, key=lambda node: (node.tag is not None, node.confidence))


def is_contested(node: Node) -> bool:
    """Whether there is also evidence for other modules; merely being read by them is no evidence."""
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
    """Parameters, bytes and multiply-adds including all modules below; with ≥ if some are unknown."""
    return (
        short(costs.total_parameters),
        _at_least(whole(costs.total_weight_bytes), "weight_bytes", costs),
        _at_least(costs.total_multiply_adds, "multiply_adds", costs),
    )


def _at_least(value: int, figure: str, costs: ModuleCosts) -> str:
    if not costs.unknown.get(figure):
        return short(value)
    return f"≥ {short(value)}" if value else "?"
