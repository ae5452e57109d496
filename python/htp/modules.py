"""The parts of trace.json (docs/formats/trace.md) that all traces have in common."""

from __future__ import annotations

from typing import Any

import torch

from .sketches import sketch


def document(
    source: str,
    modules: list[dict[str, Any]],
    inputs: list[dict[str, Any]],
    outputs: list[dict[str, Any]],
    ops: list[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "format": "htp-trace",
        "version": 1,
        "producer": {"name": "htp.export", "source": source},
        "modules": modules,
        "inputs": inputs,
        "outputs": outputs,
        "ops": ops,
    }


def describe_modules(model: torch.nn.Module) -> tuple[list[dict[str, Any]], dict[Any, str]]:
    """The module tree in the form of trace.json, in which no module has run yet, and the first path of each
    parameter and buffer, keyed by its memory."""
    described: dict[torch.nn.Module, dict[str, Any]] = {}
    first: dict[Any, str] = {}
    pending = [("", model)]
    while pending:
        path, module = pending.pop()
        if module in described:  # the paths of its children follow from this one
            described[module].setdefault("aliases", []).append(path)
            continue
        described[module] = _described(path, module, first)
        start = f"{path}." if path else ""
        children = [(start + name, child) for name, child in module._modules.items()]
        pending += [(name, child) for name, child in reversed(children) if child is not None]
    return list(described.values()), first


def _described(path: str, module: torch.nn.Module, first: dict[Any, str]) -> dict[str, Any]:
    package, name = _class_of(module)
    qualified = f"{package}.{name}" if package else name
    tensors = [("parameter", *item) for item in module._parameters.items()]
    tensors += [("buffer", *item) for item in module._buffers.items()]
    parameters = []
    for kind, attribute, tensor in tensors:
        if tensor is None:
            continue
        full = f"{path}.{attribute}" if path else attribute
        parameters.append(describe_tensor(attribute, kind, tensor))
        if (same := first.setdefault(memory(tensor), full)) != full:
            parameters[-1]["tied"] = same
    return {
        "path": path,
        "class": name.rpartition(".")[2],
        "qualified": qualified,
        "torch_nn": bool(path) and qualified.startswith("torch.nn."),
        "calls": 0,
        "parameters": parameters,
    }


def _class_of(module: torch.nn.Module) -> tuple[str, str]:
    """The Python module and the name of the user's class. PyTorch gives a parametrized module a new class, and
    keeps only the name for a scripted one."""
    if isinstance(module, torch.jit.ScriptModule):
        # "__torch__.models.___torch_mangle_7.Block"
        parts = str(module._c._type().qualified_name()).split(".")
        kept = [p for p in parts if p != "__torch__" and not p.startswith("___torch_mangle_")]
        return ".".join(kept[:-1]), kept[-1]
    cls = type(module)
    if torch.nn.utils.parametrize.is_parametrized(module) and cls.__name__.startswith(
        "Parametrized"
    ):
        cls = cls.__bases__[0]
    return cls.__module__, cls.__qualname__


def describe_tensor(name: str, kind: str, tensor: torch.Tensor) -> dict[str, Any]:
    dtype = str(tensor.dtype).removeprefix("torch.")
    described = {"name": name, "kind": kind, "shape": list(tensor.shape), "dtype": dtype}
    if text := sketch(tensor):
        described["sketch"] = text
    return described


def memory(tensor: torch.Tensor) -> Any:
    """A key that is equal for tensors with the same memory: tied weights, or a buffer as a constant in the graph."""
    if tensor.layout is not torch.strided or not tensor.numel():
        return id(tensor)
    return tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype
