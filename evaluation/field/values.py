"""The tensors of a call, with names; how they are passed to ONNX Runtime; and when two are equal.

This is the judge's own reading of inputs and outputs: it must not use HTP's.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import torch

Leaf = tuple[tuple[str, ...], torch.Tensor]


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Every tensor in a value, including caches, with its path."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif hasattr(value, "self_attention_cache"):  # transformers' EncoderDecoderCache
        own, cross = (
            list(c.layers) for c in (value.self_attention_cache, value.cross_attention_cache)
        )
        for i, layer in enumerate(own):
            yield from _layer(layer, (*path, str(i), "decoder"))
            if i < len(cross):
                yield from _layer(cross[i], (*path, str(i), "encoder"))
    elif hasattr(value, "layers") and hasattr(value, "get_seq_length"):  # transformers' caches
        for i, layer in enumerate(value.layers):
            yield from _layer(layer, (*path, str(i)))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, (*path, str(key)))
    elif isinstance(value, tuple | list):
        names = getattr(value, "_fields", range(len(value)))
        for name, item in zip(names, value):
            yield from leaves(item, (*path, str(name)))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name), (*path, field.name))


def _layer(layer: Any, path: tuple[str, ...]) -> Iterator[Leaf]:
    yield from leaves({"key": layer.keys, "value": layer.values}, path)


def in_pytree_order(value: Any) -> list[torch.Tensor]:
    """As PyTorch's own exporter orders them: a DynamicCache has all keys before all values."""
    return [t for t in torch.utils._pytree.tree_leaves(value) if isinstance(t, torch.Tensor)]


def positional(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


def arguments(model: torch.nn.Module, args: Any, kwargs: Mapping[str, Any]) -> list[Leaf]:
    """The tensors of a call, named after forward's parameters."""
    args = positional(args)
    names = [f"input_{i}" for i in range(len(args))]
    try:
        parameters = inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    for i, parameter in enumerate(parameters):
        if parameter.kind is parameter.VAR_POSITIONAL:
            names[i:] = [f"{parameter.name}_{k}" for k in range(len(args) - i)]
            break
        if i < len(names):
            names[i] = parameter.name
    found = [leaf for name, value in zip(names, args) for leaf in leaves(value, (name,))]
    return found + [leaf for name, value in kwargs.items() for leaf in leaves(value, (name,))]


def cache_names(found: list[Leaf], prefix: str) -> dict[str, torch.Tensor]:
    """The tensors of past_key_values under the names that the ecosystem uses."""
    named = {}
    for path, tensor in found:
        if len(path) in (3, 4) and path[0] == "past_key_values":
            kind = {"0": "key", "1": "value"}.get(path[-1], path[-1])
            named[".".join([prefix, *path[1:-1], kind])] = tensor
    return named


def feeds(session: Any, found: list[Leaf]) -> dict[str, np.ndarray]:
    """The inputs of a session, by name, or in order if the names do not match but the counts do."""
    named = cache_names(found, "past_key_values")
    for path, tensor in found:
        for sign in "_.":
            named.setdefault(sign.join(path), tensor)
    wanted = [value.name for value in session.get_inputs()]
    if all(name in named for name in wanted):
        return {name: array(named[name]) for name in wanted}
    if len(wanted) != len(found):
        raise ValueError(f"inputs {wanted}, the call has {['_'.join(p) for p, _ in found]}")
    return {name: array(tensor) for name, (_, tensor) in zip(wanted, found)}


def array(tensor: torch.Tensor) -> np.ndarray:
    plain = tensor.detach().resolve_conj().cpu()
    if plain.dtype == torch.bfloat16:  # which NumPy has from another package
        return plain.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return plain.numpy()


def different(got: np.ndarray, want: np.ndarray, tolerance: float) -> str:
    """Why two arrays differ, or nothing."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if got.dtype.kind in "biu":
        return "" if (got == want).all() else f"{int((got != want).sum())} of {got.size} differ"
    if got.dtype == ml_dtypes.bfloat16:
        got, want = got.astype(np.float64), want.astype(np.float64)
    a, b = got.astype(np.complex128), want.astype(np.complex128)
    far = np.abs(a - b) > tolerance * (1 + np.abs(b))
    far &= ~(np.isnan(a) & np.isnan(b)) & ~(a == b)
    far |= np.isnan(a) != np.isnan(b)
    return f"differs by {np.nanmax(np.abs(a - b)):.1e}" if far.any() else ""
