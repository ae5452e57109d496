"""The parts of a tagged model: modules, nodes, weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import BadInput

if TYPE_CHECKING:
    from .figures import ModuleCosts
    from .model import TaggedModel


_Record = TypeVar("_Record")


@dataclass(frozen=True)
class Context:
    """Another module to which a node could belong."""

    tag: str
    scope: str
    evidence: str
    confidence: float


@dataclass(frozen=True)
class Node:
    """An operation of the model."""

    name: str
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tags: tuple[str, ...]  # its own tag first, then those of the modules that share it
    tag: str | None = None
    scope: str | None = None  # path of the deepest nn.Module
    call: int = 0
    evidence: str = ""
    confidence: float = 0.0
    contexts: tuple[Context, ...] = ()
    reason: str = ""
    source: str | None = None  # the line of Python code, FILE:LINE, if known

    @property
    def is_constant(self) -> bool:
        return self.op_type == "Constant" and not self.domain


@dataclass(frozen=True)
class Initializer:
    """A weight, with all modules that use it."""

    name: str
    tags: tuple[str, ...]
    scopes: tuple[str, ...]
    parameter: str | None = None


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    tied: str | None = None


@dataclass(frozen=True)
class Module:
    """An nn.Module of the model that was exported."""

    path: str
    class_name: str
    qualified: str
    torch_nn: bool
    tag: str
    calls: int
    own_nodes: int  # number of nodes that its own code made, without constants
    total_nodes: int  # including all modules below
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    children: tuple[str, ...] = field(default=(), compare=False)
    _model: TaggedModel | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes that it and all modules below it made, by name, without constants."""
        model = self._of()
        return {node.name: node for node in model.nodes_in(self.path)}

    @property
    def costs(self) -> ModuleCosts:
        """Parameters, bytes, activations, multiply-adds and confidence (docs/Viewing.md)."""
        return self._of().figures.modules[self.path]

    def _of(self) -> TaggedModel:
        if self._model is None:
            raise BadInput(f"the module {self.path!r} belongs to no model")
        return self._model


def _filled(cls: type[_Record], **fields: Any) -> _Record:
    """Makes a record from all of its fields. The constructor of a frozen dataclass sets them one by one, which would
    be a good part of the time of reading a large model."""
    record = cls.__new__(cls)
    record.__dict__.update(fields)
    return record


def node_from(name: str, entry: Mapping[str, Any]) -> Node:
    line = entry.get("source")
    source = f"{line['file']}:{line['line']}" if line else None
    if entry["tag"] is None:
        return Node(
            name,
            entry["op_type"],
            entry["domain"],
            tuple(entry["inputs"]),
            tuple(entry["outputs"]),
            (),
            source=source,
        )
    return _filled(
        Node,
        name=name,
        op_type=entry["op_type"],
        domain=entry["domain"],
        inputs=tuple(entry["inputs"]),
        outputs=tuple(entry["outputs"]),
        tags=tuple(entry["tags"]),
        tag=entry["tag"],
        scope=entry["scope"],
        call=entry["call"],
        evidence=entry["evidence"],
        confidence=entry["confidence"],
        contexts=tuple(Context(**context) for context in entry["contexts"]),
        reason=entry["reason"],
        source=source,
    )


def _parameter_from(entry: Mapping[str, Any]) -> Parameter:
    return _filled(
        Parameter,
        name=entry["name"],
        kind=entry["kind"],
        shape=tuple(entry["shape"]),
        dtype=entry["dtype"],
        tied=entry.get("tied"),
    )


def module_from(
    entry: Mapping[str, Any], children: tuple[str, ...], model: TaggedModel | None = None
) -> Module:
    return _filled(
        Module,
        path=entry["path"],
        class_name=entry["class"],
        qualified=entry["qualified"],
        torch_nn=entry["torch_nn"],
        tag=entry["tag"],
        calls=entry["calls"],
        own_nodes=entry["nodes"],
        total_nodes=entry["total_nodes"],
        parameters=tuple([_parameter_from(each) for each in entry["parameters"]]),
        aliases=tuple(entry.get("aliases", ())),
        children=children,
        _model=model,
    )
