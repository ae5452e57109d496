"""Finds the tensors in a model's inputs and outputs, with names that say where they are, and replaces them.

PyTorch's pytree only knows lists, tuples, dicts and registered types. Users' models also take and return
dataclasses, caches, and objects of their own, and none of their tensors may get lost.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import torch

#: Called with the name and the type of a value that contains no tensor, and so cannot be an input or output of a
#: model.
LeftOut = Callable[[str, type], None]
#: Types that never contain tensors.
_PLAIN = (str, bytes, type, torch.dtype, torch.device, torch.Size, torch.Generator)
#: Attributes of a cache's layer, and what they are called in exported decoders.
_CACHE_NAMES = {"keys": "key", "values": "value"}


def tensors(
    value: Any, name: str, *, left_out: LeftOut | None = None, cache: str | None = None
) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields every tensor in a value, in order, with its name. `cache` is the name to use for a cache; by default,
    it is named after its position."""
    yield from _Walk(left_out, cache).tensors(value, name, frozenset())


@dataclasses.dataclass
class _Walk:
    left_out: LeftOut | None
    cache: str | None

    def tensors(
        self, value: Any, name: str, above: frozenset[int]
    ) -> Iterator[tuple[str, torch.Tensor]]:
        if isinstance(value, torch.Tensor):
            yield name, value
            return
        if value is None or isinstance(value, _PLAIN) or id(value) in above:
            return
        found = isinstance(value, (Mapping, list, tuple, set)) or _layers(value) is not None
        for inner, item in _cache_entries(value, name, self.cache) or _entries(value, name):
            for each in self.tensors(item, inner, above | {id(value)}):
                found = True
                yield each
        if not found and self.left_out:
            self.left_out(name, type(value))


def _entries(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The parts of a value, with names."""
    items: Iterable[tuple[Any, Any]]
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        items = zip(value._fields, value)
    elif isinstance(value, (list, tuple, collections.deque)):
        items = enumerate(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    elif _is_object(value):
        items = vars(value).items()
    else:
        return
    for key, item in items:
        yield (f"{name}_{key}" if name else str(key)), item


def _is_object(value: Any) -> bool:
    """Whether it is an object whose attributes may hold tensors; modules and functions do not count."""
    return (
        hasattr(value, "__dict__")
        and not callable(value)
        and not isinstance(value, torch.nn.Module)
        and type(value).__module__ not in ("builtins", "types", "logging")
    )


# --- caches --------------------------------------------------------------------------------------


def _cache_entries(value: Any, place: str, called: str | None) -> list[tuple[str, Any]]:
    """The tensors of a decoder's cache, with their conventional names: `past_key_values.0.key`,
    `present.0.decoder.value`. Empty if the value is not a cache."""
    name = place if called is None else called
    own, cross = (getattr(value, f"{kind}_attention_cache", None) for kind in ("self", "cross"))
    if _layers(own) is not None and _layers(cross) is not None:
        return [
            entry
            for pair in zip(_layers(own) or (), _layers(cross) or ())
            for part, (index, layer) in zip(("decoder", "encoder"), pair)
            for entry in _layer_entries(layer, f"{name}.{index}.{part}")
        ]
    if (layers := _layers(value)) is not None:
        return [e for index, layer in layers for e in _layer_entries(layer, f"{name}.{index}")]
    if place == "past_key_values" and _is_legacy_cache(value):
        pair = ("key", "value")
        quad = ("decoder.key", "decoder.value", "encoder.key", "encoder.value")
        return [
            (f"{name}.{index}.{part}", tensor)
            for index, layer in enumerate(value)
            for part, tensor in zip(pair if len(layer) == 2 else quad, layer)
        ]
    return []


def _layers(value: Any) -> list[tuple[int, Any]] | None:
    layers = getattr(value, "layers", None)
    if not isinstance(layers, list) or isinstance(value, torch.nn.Module):
        return None
    if all(hasattr(layer, "keys") and hasattr(layer, "values") for layer in layers) or any(
        isinstance(item, torch.Tensor) for layer in layers for item in _attributes(layer).values()
    ):
        return list(enumerate(layers))
    return None


def _layer_entries(layer: Any, name: str) -> list[tuple[str, Any]]:
    return [
        (f"{name}.{_CACHE_NAMES.get(key, key)}", item)
        for key, item in _attributes(layer).items()
        if isinstance(item, torch.Tensor)
    ]


def _attributes(value: Any) -> dict[str, Any]:
    return getattr(value, "__dict__", {})


def _is_legacy_cache(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and bool(value)
        and all(
            isinstance(layer, (tuple, list))
            and len(layer) in (2, 4)
            and all(isinstance(item, torch.Tensor) for item in layer)
            for layer in value
        )
    )


# --- replacing tensors ---------------------------------------------------------------------------


class _Others(Protocol):
    def get(self, key: int, tensor: torch.Tensor) -> torch.Tensor: ...


class _Copies:
    def get(self, key: int, tensor: torch.Tensor) -> torch.Tensor:
        copied = tensor.detach().clone()
        return copied.requires_grad_(tensor.requires_grad)


def copied(value: Any) -> Any:
    """A copy with copied tensors, so that in-place changes do not affect the originals. A tensor that occurs twice
    is copied twice, because each occurrence is an input."""
    return replaced(value, _Copies())


def replaced(
    value: Any, new: _Others | Mapping[int, Any], made: dict[int, Any] | None = None
) -> Any:
    """A copy of a value in which tensors are replaced; `new` is keyed by the ids of the old ones. Everything that
    may hold a tensor is copied, even if it holds none yet: an empty cache will be filled."""
    if isinstance(value, torch.Tensor):
        return new.get(id(value), value)
    made = {} if made is None else made
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, tuple):
        parts = [replaced(item, new, made) for item in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, (list, collections.deque, dict)):
        result = made[id(value)] = copy.copy(value)
        base: Any = next(
            b
            for b in (collections.OrderedDict, dict, list, collections.deque)
            if isinstance(value, b)
        )
        keys = list(base.keys(value)) if issubclass(base, dict) else range(len(value))
        for key in keys:
            base.__setitem__(result, key, replaced(base.__getitem__(value, key), new, made))
    elif _is_object(value) and not isinstance(value, _PLAIN):
        result = made[id(value)] = copy.copy(value)
    else:
        return value
    for key, item in _attributes(value).items():
        result.__dict__[key] = replaced(item, new, made)
    return result
