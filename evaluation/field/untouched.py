"""Checks that an export left a model, its inputs and PyTorch unchanged.

A snapshot visits every attribute of every module and the inputs, and records identity, class and contents. It
keeps everything that it saw alive, so that no id is reused.
"""

from __future__ import annotations

import logging
import types
import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch.nn.parameter import UninitializedTensorMixin
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack as dispatch_modes

DEPTH = 12
# Attributes of classes and functions are code; those of the others are PyTorch's own bookkeeping.
OPAQUE = (type, types.FunctionType, types.MethodType, types.ModuleType, types.BuiltinFunctionType)


class Snapshot:
    def __init__(self, model: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        self.found: dict[str, Any] = {}
        self._alive: list[Any] = []
        self._seen: dict[int, str] = {}
        for path, module in model.named_modules(remove_duplicate=False):
            self._module(f"model{'.' if path else ''}{path}", module)
        for name, tensor in _state(model).items():
            self.found[f"state_dict {name}"] = _contents(tensor)
        for i, value in enumerate(inputs):
            self._value(f"inputs[{i}]", value, 0)
        self._surroundings()

    def differences(self, other: Snapshot) -> list[str]:
        """Differences from another snapshot; none if nothing changed."""
        places = [p for p in self.found.keys() | other.found.keys()]
        changed = [p for p in places if self.found.get(p) != other.found.get(p)]
        return sorted(changed, key=lambda p: (len(p), p))

    def _module(self, place: str, module: torch.nn.Module) -> None:
        cls = type(module)
        own = {k: id(v) for k, v in vars(cls).items() if not k.startswith("__")}
        self._alive += [module, cls, *vars(cls).values()]
        scripted = isinstance(module, torch.jit.ScriptModule)
        self.found[place] = (id(module), cls, module.training, None if scripted else own)
        # The order of attributes is part of it: named_parameters() follows it.
        self.found[f"{place} attributes"] = list(vars(module))
        for name, value in vars(module).items():
            self._value(f"{place}.__dict__[{name!r}]", value, 0)

    def _value(self, place: str, value: Any, depth: int) -> None:
        self._alive.append(value)
        if isinstance(value, torch.Tensor):
            self.found[place] = (id(value), *_contents(value))
            if value.grad is not None if value.is_leaf else False:
                self._value(f"{place}.grad", value.grad, depth + 1)
            return
        if isinstance(value, bool | int | float | complex | str | bytes | None):
            self.found[place] = (type(value), repr(value))
            return
        self.found[place] = (id(value), type(value))
        if (
            depth > DEPTH
            or isinstance(value, OPAQUE)
            or self._seen.setdefault(id(value), place) != place
        ):
            return
        if isinstance(value, torch.nn.Module):
            return  # every module is looked at once, under its own path
        if isinstance(value, Mapping):
            self.found[f"{place} keys"] = [repr(key) for key in value]
            for key in list(value):
                self._value(f"{place}[{key!r}]", value[key], depth + 1)
        elif isinstance(value, list | tuple):
            self.found[f"{place} length"] = len(value)
            for i, item in enumerate(value):
                self._value(f"{place}[{i}]", item, depth + 1)
        elif isinstance(value, set | frozenset):
            self.found[f"{place} elements"] = sorted(map(repr, value))
        inner = getattr(value, "__dict__", None)
        if isinstance(inner, dict) and not type(value).__module__.startswith("torch._"):
            self.found[f"{place} attributes"] = list(inner)
            for name, item in list(inner.items()):
                self._value(f"{place}.{name}", item, depth + 1)

    def _surroundings(self) -> None:
        """State of PyTorch or the process that an export could leave changed."""
        module = torch.nn.Module
        hooks = torch.nn.modules.module
        self.found |= {
            "random numbers": torch.get_rng_state().numpy().tobytes(),
            "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
            "default type": torch.get_default_dtype(),
            "modes": len(dispatch_modes()),
            "torch.export.export": torch.export.export,
            "Module": (module.__call__, module._call_impl, module.__getattr__, module.__setattr__),
            "global hooks": (
                len(hooks._global_forward_hooks),
                len(hooks._global_forward_pre_hooks),
            ),
            "in export": torch.onnx.is_in_onnx_export(),
            "logging": logging.root.manager.disable,
            "warnings": (warnings.showwarning, len(warnings.filters)),
        }


def _state(model: torch.nn.Module) -> dict[str, Any]:
    return {k: v for k, v in model.state_dict().items() if isinstance(v, torch.Tensor)}


def _contents(tensor: torch.Tensor) -> tuple[Any, ...]:
    if isinstance(tensor, UninitializedTensorMixin):
        return (type(tensor), "uninitialized", tensor.requires_grad)
    form = (type(tensor), tensor.dtype, tuple(tensor.shape), tensor.requires_grad, tensor.is_leaf)
    if tensor.is_quantized:
        return (*form, tensor.detach().dequantize().numpy().tobytes())
    plain = tensor.detach().resolve_conj().contiguous().cpu()
    plain = torch.view_as_real(plain) if plain.is_complex() else plain
    return (*form, bytes(plain.flatten().view(torch.uint8).numpy()) if plain.numel() else b"")
