"""Runs PyTorch's exporters on a model, captures the trace, and leaves the model as it was.

Only this file and what it is called from need torch.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .errors import BadInput
from .exported import read_program
from .tracing import observed

log = logging.getLogger("htp")


# --- the model's state ---------------------------------------------------------------------------


@contextlib.contextmanager
def untouched(model: torch.nn.Module) -> Iterator[None]:
    """Leaves the model as it was, also after an exception: attributes, parameters, hooks, mode,
    buffers, and PyTorch's random numbers. Inside the model is in evaluation mode, as both
    exporters want it."""
    before = [(module, _snapshot(module.__dict__)) for module in model.modules()]
    buffers = [(b, b._version, b.clone()) for b in model.buffers() if not b.is_inference()]
    grad = torch.is_grad_enabled()
    try:
        with torch.random.fork_rng(devices=[]):
            model.eval()
            yield
    finally:
        torch.set_grad_enabled(grad)
        for module, saved in before:
            _restore(module.__dict__, saved)
        with torch.no_grad():
            for buffer, version, contents in buffers:
                if buffer._version != version:
                    buffer.copy_(contents)


def _snapshot(attributes: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Each attribute, and a shallow copy of those that a forward pass could grow."""
    return {
        name: (value, value.copy() if isinstance(value, dict | list | set) else None)
        for name, value in attributes.items()
    }


def _restore(attributes: dict[str, Any], saved: Mapping[str, tuple[Any, Any]]) -> None:
    for name in attributes.keys() - saved.keys():
        del attributes[name]
    for name, (value, contents) in saved.items():
        attributes[name] = value
        if contents is None:
            continue
        value.clear()
        if isinstance(value, list):
            value.extend(contents)
        else:
            value.update(contents)


# --- the call ------------------------------------------------------------------------------------


@dataclasses.dataclass
class Leaf:
    """A tensor among the arguments: an input of the exported model."""

    name: str
    tensor: torch.Tensor
    path: tuple[Any, ...]  # where it is in (args, kwargs)


class Call:
    """An example call of a model, as the flat list of named tensors that the TorchScript exporter
    understands."""

    def __init__(
        self, model: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        self.model, self.args, self.kwargs = model, tuple(args), dict(kwargs)
        self.forward: Callable[..., Any] = model.forward
        self.parameters = _parameter_names(self.forward, self.args, self.kwargs)
        leaves, self.structure = pytree.tree_flatten_with_path((self.args, self.kwargs))
        self.values = [value for _, value in leaves]
        taken: set[str] = set()
        self.leaves = [
            Leaf(_unique(self._name(path), taken), value, path)
            for path, value in leaves
            if isinstance(value, torch.Tensor)
        ]
        self.output_names: list[str] = []  # known when forward has run
        if not self.leaves:
            raise BadInput("the example call has no tensor: pass args or kwargs")

    def _name(self, path: tuple[Any, ...]) -> str:
        """The name of an argument, and of the place within it where it holds several tensors."""
        keys = [_key(part) for part in path]
        head = self.parameters[int(keys[1])] if keys[0] == "0" else keys[1]
        return "_".join([head, *keys[2:]])

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        return tuple(leaf.tensor for leaf in self.leaves)

    @property
    def input_names(self) -> list[str]:
        return [leaf.name for leaf in self.leaves]

    @contextlib.contextmanager
    def positional(self) -> Iterator[None]:
        """Inside, the model's forward takes the tensors alone, in order, and gives back tensors.

        The TorchScript exporter turns keywords into positions, which a forward with another order
        of arguments, or with keyword-only ones, rejects ("got multiple values for argument").
        `untouched` puts the model's own forward back, too; this is for nested use.
        """
        places = [i for i, v in enumerate(self.values) if isinstance(v, torch.Tensor)]

        def forward(*tensors: torch.Tensor) -> Any:
            values = list(self.values)
            for place, tensor in zip(places, tensors, strict=True):
                values[place] = tensor
            args, kwargs = pytree.tree_unflatten(values, self.structure)
            return self._flat(self.forward(*args, **kwargs))

        before = self.model.__dict__.get("forward")
        self.model.__dict__["forward"] = forward
        try:
            yield
        finally:
            if before is None:
                self.model.__dict__.pop("forward", None)
            else:
                self.model.__dict__["forward"] = before

    def _flat(self, output: Any) -> Any:
        """The tensors of an output: itself, or a tuple of all that it holds."""
        if isinstance(output, torch.Tensor):
            self.output_names[:] = ["output"]
            return output
        found = list(_tensors(output))
        if not found:
            raise BadInput(f"the model's output, a {type(output).__name__}, holds no tensor")
        taken = set(self.input_names)
        self.output_names[:] = [_unique(name, taken) for name, _ in found]
        return tuple(tensor for _, tensor in found)


def _parameter_names(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[str]:
    """The names of the positional arguments; also a check that the call fits."""
    try:
        signature = inspect.signature(forward)
    except (TypeError, ValueError):
        return [f"input_{i}" for i in range(len(args))]
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise BadInput(f"the inputs do not fit the model's forward: {error}") from error
    names = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}_{i}" for i in range(len(args) - len(names))]
    return names


def _key(part: Any) -> str:
    """One step of a pytree path: an index, a key or an attribute."""
    for attribute in ("key", "idx", "name"):
        if hasattr(part, attribute):
            return str(getattr(part, attribute))
    return str(part)


def _unique(name: str, taken: set[str]) -> str:
    candidate, count = name, 0
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    taken.add(candidate)
    return candidate


def _tensors(output: Any, name: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors in an output with names that say where they were."""
    for path, value in pytree.tree_flatten_with_path(output)[0]:
        inner = "_".join([part for part in [name] if part] + [_key(part) for part in path])
        if isinstance(value, torch.Tensor):
            yield (inner if inner and not inner[0].isdigit() else f"output_{inner or 0}"), value
        elif isinstance(value, Mapping):  # a container that PyTorch does not know
            for key, item in value.items():
                yield from _tensors(item, "_".join(filter(None, [inner, str(key)])))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            for item in dataclasses.fields(value):
                yield from _tensors(getattr(value, item.name), item.name)
        elif value is not None and not isinstance(value, bool | int | float | str):
            log.warning("an output of type %s is left out: it is no tensor", type(value).__name__)


# --- dynamic shapes ------------------------------------------------------------------------------


def automatic_shapes(call: Call) -> dict[str, dict[int, Any]]:
    """Batch of every input, and the length of what has the form (batch, length)."""
    auto = torch.export.Dim.AUTO
    return {
        leaf.name: {
            axis: auto for axis in range(min(leaf.tensor.dim(), 1 + (leaf.tensor.dim() == 2)))
        }
        for leaf in call.leaves
    }


def dynamic_axes(call: Call, shapes: Any) -> dict[str, dict[int, str]] | None:
    """torch.export's dynamic_shapes in the form of the TorchScript exporter."""
    if not shapes:
        return None
    if not isinstance(shapes, Mapping):
        shapes = dict(zip(call.input_names, shapes))
    axes: dict[str, dict[int, str]] = {}
    unknown = set(shapes) - set(call.input_names)
    if unknown:
        raise BadInput(f"dynamic_shapes names {sorted(unknown)}, the inputs are {call.input_names}")
    for name, dims in shapes.items():
        pairs = dims.items() if isinstance(dims, Mapping) else enumerate(dims or ())
        chosen = {
            int(axis): _axis_name(name, int(axis), dim)
            for axis, dim in pairs
            if dim is not None and not isinstance(dim, int) and dim is not torch.export.Dim.STATIC
        }
        if chosen:
            axes[name] = chosen
    return axes


def _axis_name(name: str, axis: int, dim: Any) -> str:
    if isinstance(dim, str):
        return dim
    own = getattr(dim, "__name__", None)
    return own if isinstance(own, str) else f"{name}_{axis}"


# --- the exporters -------------------------------------------------------------------------------


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """PyTorch warns about its own inner workings; a user of HTP can do nothing about them."""
    level = logging.root.manager.disable
    logging.disable(max(level, logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


def export_torchscript(
    call: Call,
    path: str | os.PathLike[str],
    *,
    opset: int | None,
    shapes: Any,
    options: Any,
    captured: Callable[[dict[str, Any]], None],
) -> None:
    """torch.onnx.export with the TorchScript-based exporter. `captured` gets the trace that the
    exporter itself made, before it is translated: nothing is traced twice."""
    settings = {
        "input_names": call.input_names,
        "output_names": call.output_names,  # read after tracing, which fills it
        "dynamic_axes": dynamic_axes(call, shapes),
        "opset_version": opset or 17,
        **options,
    }
    with quiet(), call.positional(), observed(call.model, call.input_names, captured):
        torch.onnx.export(call.model, call.tensors, os.fspath(path), dynamo=False, **settings)


def export_dynamo(
    call: Call,
    path: str | os.PathLike[str],
    *,
    opset: int | None,
    shapes: Any,
    options: Any,
    captured: Callable[[dict[str, Any]], None],
) -> None:
    """torch.onnx.export with the torch.export-based exporter. `captured` gets the trace of the program
    that the exporter itself captured, before it is translated: nothing is traced twice."""
    settings = {"opset_version": opset, "dynamic_shapes": shapes, **options}
    large = sum(t.nbytes for t in call.model.state_dict().values()) > LARGE
    with quiet(), _observed_export(call.model, captured):
        program = torch.onnx.export(
            call.model, call.args, kwargs=call.kwargs, dynamo=True, verbose=False, **settings
        )
        assert program is not None
        program.save(os.fspath(path), external_data=large)


#: Models of more bytes keep their weights in a file of their own, which tagging does not rewrite.
LARGE = 1 << 30


@contextlib.contextmanager
def _observed_export(
    model: torch.nn.Module, captured: Callable[[dict[str, Any]], None]
) -> Iterator[None]:
    original = torch.export.export
    found = False

    def export(*args: Any, **kwargs: Any) -> torch.export.ExportedProgram:
        nonlocal found
        program = original(*args, **kwargs)
        if not found:  # a second capture would be of a submodule
            found = True
            captured(read_program(model, program))
        return program

    torch.export.export = export
    try:
        yield
    finally:
        torch.export.export = original
