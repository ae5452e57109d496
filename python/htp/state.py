"""Restores a model and the inputs of an example call, whatever an export does to them."""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import logging
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.parameter import is_lazy

#: Containers are restored through the methods of these base classes, because a subclass may override `update` or
#: `clear`, for example to forbid changes.
_CONTAINERS: tuple[type, ...] = (collections.OrderedDict, dict, list, set, collections.deque)
#: Types that no forward pass changes, or whose contents must not be touched.
_OPAQUE = (
    str,
    bytes,
    bool,
    int,
    float,
    complex,
    type,
    enum.Enum,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    functools.partial,
    logging.Logger,
    weakref.ref,
    torch.dtype,
    torch.device,
    torch.Size,
    torch.Generator,
)
#: A model from which more objects can be reached refers to something that is not part of it.
_MOST_OBJECTS = 200_000
#: Parameters are copied up to this many bytes; a forward pass that writes to one is rare.
_MOST_PARAMETERS = 256 << 20


@contextlib.contextmanager
def untouched(model: torch.nn.Module, inputs: Any, warn: Callable[[str], None]) -> Iterator[None]:
    """Restores the model and its inputs at the end of the block, even after an exception: attributes of every kind
    and their contents, parameters, buffers, hooks, the mode of every module, and the state of PyTorch's random
    number generator. Within the block, the model is in evaluation mode, as both exporters expect."""
    saved = _Snapshot(model, inputs)
    grad = torch.is_grad_enabled()
    try:
        with torch.random.fork_rng(devices=[]):
            model.eval()
            yield
    finally:
        torch.set_grad_enabled(grad)
        saved.restore(warn)


class _Snapshot:
    """Shallow copies of all reachable containers and attributes, and copies of the tensors that a forward pass may
    write to. Anything that did not change is not written again."""

    def __init__(self, model: torch.nn.Module, inputs: Any) -> None:
        self.modes = [(module, module.training) for module in model.modules()]
        self.containers: list[tuple[Any, type, list[tuple[Any, ...]]]] = []
        self.objects: list[tuple[Any, type, dict[str, Any]]] = []
        self.tensors: list[tuple[torch.Tensor, int, torch.Tensor | None]] = []
        self._room = _MOST_PARAMETERS
        self._walk([model, inputs])

    def _walk(self, pending: list[Any]) -> None:
        seen: set[int] = set()
        while pending and len(seen) < _MOST_OBJECTS:
            value = pending.pop()
            if value is None or isinstance(value, _OPAQUE) or id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, torch.Tensor):
                self._save_tensor(value)
                continue
            base = next((base for base in _CONTAINERS if isinstance(value, base)), None)
            if base is not None:
                contents = _contents(value, base)
                self.containers.append((value, base, contents))
                pending += (part for item in contents for part in item)
            elif isinstance(value, tuple):
                pending += value
            attributes = getattr(value, "__dict__", None)
            if type(attributes) is dict:
                self.objects.append((value, type(value), dict(attributes)))
                pending += attributes.values()

    def _save_tensor(self, tensor: torch.Tensor) -> None:
        if is_lazy(tensor) or tensor.is_inference() or tensor.is_meta:
            return
        if isinstance(tensor, torch.nn.Parameter):
            size = tensor.nbytes if tensor.layout is torch.strided else self._room + 1
            if size > self._room:
                self.tensors.append((tensor, tensor._version, None))
                return
            self._room -= size
        with torch.no_grad(), contextlib.suppress(RuntimeError, NotImplementedError):
            self.tensors.append((tensor, tensor._version, tensor.detach().clone()))

    def restore(self, warn: Callable[[str], None]) -> None:
        """Restores each part separately, so that a failure in one does not affect the others."""
        for what in (self._restore_objects, self._restore_modes, self._restore_tensors):
            try:
                what(warn)
            except Exception as error:
                warn(f"the model could not be fully restored: {type(error).__name__}: {error}")

    def _restore_objects(self, _: Callable[[str], None]) -> None:
        for value, cls, attributes in self.objects:
            if type(value) is not cls:
                value.__class__ = cls
            now = value.__dict__
            if not _same(list(now.items()), list(attributes.items())):
                now.clear()
                now.update(attributes)
        for value, base, contents in self.containers:
            if not _same(_contents(value, base), contents):
                _refill(value, base, contents)

    def _restore_modes(self, _: Callable[[str], None]) -> None:
        """Restores the mode of every module, which scripted modules do not keep as a Python attribute."""
        for module, mode in self.modes:
            if module.training != mode:
                module.training = mode

    def _restore_tensors(self, warn: Callable[[str], None]) -> None:
        for tensor, version, contents in self.tensors:
            if contents is None:
                if tensor._version != version:
                    warn(
                        "the model's forward wrote to a parameter of shape "
                        f"{list(tensor.shape)}, which keeps the new contents"
                    )
            elif tensor.shape != contents.shape or tensor.dtype != contents.dtype:
                tensor.data = contents
            elif not _same_values(tensor, version, contents):
                with torch.no_grad():
                    tensor.detach().copy_(contents)


def _contents(value: Any, base: type) -> list[tuple[Any, ...]]:
    """The entries of a container, in order."""
    if issubclass(base, dict):
        return list(base.items(value))
    return [(item,) for item in base.__iter__(value)]  # type: ignore[attr-defined]


def _same(now: list[tuple[Any, ...]], then: list[tuple[Any, ...]]) -> bool:
    """Whether these are the same objects, not only equal ones."""
    return len(now) == len(then) and all(
        a is b for one, other in zip(now, then) for a, b in zip(one, other)
    )


def _refill(value: Any, base: type, contents: list[tuple[Any, ...]]) -> None:
    base.clear(value)  # type: ignore[attr-defined]
    adding: dict[type, str] = {list: "append", collections.deque: "append", set: "add"}
    add = adding.get(base, "__setitem__")
    for entry in contents:
        getattr(base, add)(value, *entry)


def _same_values(tensor: torch.Tensor, version: int, contents: torch.Tensor) -> bool:
    """Compares values, because writes through `.data` do not change a tensor's version."""
    try:
        return torch.equal(tensor, contents)
    except (RuntimeError, NotImplementedError):
        return tensor._version == version
