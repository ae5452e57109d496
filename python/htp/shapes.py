"""Dynamic shapes: converts the forms of torch.export and torch.onnx.export for either exporter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import nested
from .calls import Call
from .errors import BadInput

#: For each input name, the dynamic axes and the names or objects that stand for their sizes.
Dims = dict[str, dict[int, Any]]


def dims_of(call: Call, shapes: Any, axes: Any) -> Dims:
    """The dynamic axes of every input: from torch.export's `dynamic_shapes` ("auto" chooses them), or
    from `dynamic_axes`."""
    if shapes is not None and axes is not None:
        raise BadInput("give either dynamic_shapes or dynamic_axes, not both")
    if axes is not None:
        return _from_axes(call, axes)
    if isinstance(shapes, str):
        if shapes != "auto":
            raise BadInput(f"dynamic_shapes is {shapes!r}, expected a structure, or 'auto'")
        return _automatic(call)
    return _from_shapes(call, shapes) if shapes else {}


def _automatic(call: Call) -> Dims:
    """Makes dynamic the batch size of every input, the length of inputs of shape (batch, length), and the length of
    a cache (batch, heads, length, size)."""
    auto = torch.export.Dim.AUTO
    found: Dims = {}
    for leaf in call.leaves:
        rank = leaf.tensor.dim()
        chosen = [0, 1] if rank == 2 else [0, 2] if "." in leaf.name and rank == 4 else [0]
        sizes = leaf.tensor.shape  # a length of 1 is a decoder step, which stays fixed
        found[leaf.name] = {a: auto for a in chosen if a < rank and (a == 0 or sizes[a] > 1)}
    return found


def _from_axes(call: Call, axes: Mapping[str, Any]) -> Dims:
    inputs = set(call.input_names)
    return {
        name: dict(dims) if isinstance(dims, Mapping) else {a: f"{name}_{a}" for a in dims}
        for name, dims in axes.items()
        if name in inputs  # others are outputs, whose axes follow from those of the inputs
    }


def _from_shapes(call: Call, shapes: Any) -> Dims:
    if not isinstance(shapes, Mapping):
        shapes = dict(zip(call.arguments, shapes))
    names = {id(leaf.tensor): leaf.name for leaf in call.leaves}
    found: Dims = {}
    for name, spec in shapes.items():
        if name in call.arguments:
            for tensor, dims in _paired(call.arguments[name], spec):
                found[names[id(tensor)]] = _dims(dims)
        elif name in names.values():
            found[name] = _dims(spec)
        else:
            raise BadInput(
                f"dynamic_shapes has {name!r}, but the inputs are {', '.join(call.input_names)}"
            )
    return {name: dims for name, dims in found.items() if dims}


def _paired(value: Any, spec: Any) -> Iterator[tuple[torch.Tensor, Any]]:
    """Yields every tensor of an argument with its part of the specification, which has the same structure. For an
    object, the specification is a list with one entry per tensor, or one entry for all of them."""
    if spec is None:
        return
    if isinstance(value, torch.Tensor):
        yield value, spec
    elif isinstance(value, Mapping) and isinstance(spec, Mapping):
        for key, part in spec.items():
            yield from _paired(value.get(key), part)
    elif isinstance(value, (list, tuple)) and isinstance(spec, (list, tuple)):
        for item, part in zip(value, spec):
            yield from _paired(item, part)
    else:
        held = [tensor for _, tensor in nested.tensors(value, "")]
        parts = list(pytree.tree_leaves(spec, is_leaf=_is_dims)) if not _is_dims(spec) else [spec]
        parts = parts * len(held) if len(parts) == 1 else parts
        if len(parts) != len(held):
            raise BadInput(f"dynamic_shapes has {len(parts)} entries for {len(held)} tensors")
        yield from zip(held, parts)


def _is_dims(spec: Any) -> bool:
    return isinstance(spec, Mapping) and all(isinstance(key, int) for key in spec)


def _dims(spec: Any) -> dict[int, Any]:
    pairs = spec.items() if isinstance(spec, Mapping) else enumerate(spec or ())
    return {
        int(axis): dim
        for axis, dim in pairs
        if dim is not None and not isinstance(dim, int) and dim is not torch.export.Dim.STATIC
    }


def for_torchscript(dims: Dims) -> dict[str, dict[int, str]] | None:
    """The axes as `dynamic_axes`, in which every axis has a name."""
    return {
        name: {axis: _axis_name(name, axis, dim) for axis, dim in chosen.items()}
        for name, chosen in dims.items()
    } or None


def _axis_name(name: str, axis: int, dim: Any) -> str:
    if isinstance(dim, str):
        return dim
    own = getattr(dim, "__name__", None)
    return own if isinstance(own, str) else f"{name}_{axis}"


def for_dynamo(call: Call, dims: Dims, *, flat: bool) -> Any:
    """The axes as torch.export's `dynamic_shapes`: by the arguments of forward, or of the flattened forward."""
    if not dims:
        return None
    if flat:
        return {
            identifier: dims.get(leaf.name)
            for identifier, leaf in zip(call.identifiers, call.leaves)
        }
    names = {id(leaf.tensor): leaf.name for leaf in call.leaves}
    return {
        argument: pytree.tree_map(lambda leaf: dims.get(names.get(id(leaf), "")), value)
        for argument, value in call.arguments.items()
    }
