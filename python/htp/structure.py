"""What a tagged model is made of, module by module: operations, parameters, constants. Used to compare exports of one
model, and to store one as a baseline for later ones."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .errors import BadInput, HTPWarning
from .model import TaggedModel
from .onnxfile import is_mlir

FORMAT = "htp-structure"


@dataclass
class Part:
    """One module, without the modules below it."""

    cls: str
    ops: dict[str, int] = field(default_factory=dict)
    #: how often each digest of an operation's type and attributes occurs
    attributes: dict[str, int] = field(default_factory=dict)
    #: element type, sorted sizes and digest of each parameter, independent of transposition
    parameters: dict[str, list[Any]] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)


@dataclass
class Structure:
    source: str
    modules: dict[str, Part]
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    contents: bool = True  # whether values and attributes could be read

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "version": 1, **asdict(self)}


def structure_of(model: TaggedModel) -> Structure:
    """The structure of a tagged model. Values and attributes are read from its ONNX file, if there is one."""
    parts = {path: Part(module.class_name) for path, module in model.modules.items()}
    for path, part in parts.items():
        part.ops = dict(sorted(model.op_counts[path].items()))
    result = Structure(str(model.path), parts)
    if (proto := _proto(model.path)) is not None:
        _add_contents(result, model, proto)
    else:
        result.contents = False
        for initializer in model.initializers.values():
            if initializer.parameter:
                _add_parameter(result, model, initializer.parameter, [])
    return result


def _proto(path: Path) -> Any:
    if path.suffix == ".json" or is_mlir(path):
        return None
    try:
        import onnx
    except ImportError:
        warnings.warn(
            "onnx is not installed: shapes, values and attributes are not compared",
            HTPWarning,
            stacklevel=4,
        )
        return None
    try:
        return onnx.load(str(path))
    except Exception as error:
        raise BadInput(f"{path}: {str(error).splitlines()[0]}") from error


def _add_contents(result: Structure, model: TaggedModel, proto: Any) -> None:
    import onnx

    used = _scopes_of_values(model)
    for tensor in proto.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        entry = model.initializers.get(tensor.name)
        if entry and entry.parameter:
            description = [str(array.dtype), sorted(array.shape), _digest(array, ordered=False)]
            _add_parameter(result, model, entry.parameter, description)
        elif (scope := used.get(tensor.name)) is not None:
            _count(
                result.modules[scope].constants,
                f"{array.dtype} {list(array.shape)} {_digest(array, ordered=True)}",
            )
    result.inputs = [value.name for value in proto.graph.input]
    result.outputs = [value.name for value in proto.graph.output]
    graphs = [proto.graph, *proto.functions]
    while graphs:
        for node in graphs.pop().node:
            _add_attributes(result, node)
            for attribute in node.attribute:
                graphs += [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]


def _add_attributes(result: Structure, node: Any) -> None:
    scope = next((p.value for p in node.metadata_props if p.key == "htp.scope"), None)
    if scope not in result.modules or not node.attribute:
        return
    parts = sorted(a.SerializeToString() for a in node.attribute if not a.HasField("g"))
    digest = hashlib.sha1(b"\0".join(parts)).hexdigest()[:12]
    if node.op_type == "Constant":
        _count(result.modules[scope].constants, digest)
    else:
        _count(result.modules[scope].attributes, f"{node.op_type} {digest}")


def _digest(array: Any, *, ordered: bool) -> str:
    """A digest of the values; by default of the sorted values, because exporters may store a weight transposed."""
    import numpy

    if not ordered and array.dtype.kind in "fiub":
        array = numpy.sort(array, axis=None)
    return hashlib.sha1(numpy.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def _scopes_of_values(model: TaggedModel) -> dict[str, str]:
    """The module of the first operation that reads each value."""
    scopes: dict[str, str] = {}
    for node in model.nodes.values():
        for value in node.inputs:
            if value and node.scope is not None:
                scopes.setdefault(value, node.scope)
    return scopes


def _add_parameter(
    result: Structure, model: TaggedModel, path: str, description: list[Any]
) -> None:
    """Adds a parameter to the module that owns it; a tied parameter to that of its first name."""
    owner, _, name = path.rpartition(".")
    module = model.modules.get(owner)
    parameters = module.parameters if module else ()
    if tied := next((p.tied for p in parameters if p.name == name), None):
        owner, _, name = tied.rpartition(".")
    if owner in result.modules:
        result.modules[owner].parameters[name] = description


def _count(counts: dict[str, int], key: str) -> None:
    counts[key] = counts.get(key, 0) + 1


# --- files ---------------------------------------------------------------------------------------


def read_structure(path: Path) -> Structure | None:
    """Reads a stored structure; None if the file is something else."""
    if path.suffix != ".json":
        return None
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: {error}") from error
    if not isinstance(found, Mapping) or found.get("format") != FORMAT:
        return None
    if found.get("version") != 1:
        raise BadInput(f"{path} has version {found.get('version')!r}, expected 1")
    try:
        modules = {name: Part(**part) for name, part in found["modules"].items()}
        rest = {key: found[key] for key in ("source", "inputs", "outputs", "contents")}
        return Structure(modules=modules, **rest)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} is not a baseline that HTP wrote: {error}") from error
