"""Runs PyTorch's exporters on a model and captures the trace that they make anyway.

Loaded only where it is needed, because it imports torch.
"""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from . import shapes
from .calls import Call
from .exported import read_program
from .notices import Notices
from .scripted import read_script
from .shapes import dims_of
from .state import untouched
from .tracing import observed

__all__ = [
    "Call",
    "dims_of",
    "export_dynamo",
    "export_script",
    "export_torchscript",
    "initialized",
    "trace_export",
    "trace_script",
    "untouched",
    "unwrap_parts",
    "unwrapped",
]

#: Called with a function that reads the trace of a model, before the exporter translates it.
Captured = Callable[[Callable[[], dict[str, Any]]], None]
#: Models with more bytes keep their weights in a separate file, which tagging does not rewrite.
LARGE = 1 << 30


# --- the model -----------------------------------------------------------------------------------


def unwrapped(model: Any) -> Any:
    """The module inside wrappers that only change how it runs: torch.compile, data parallelism."""
    while True:
        if type(model).__name__ == "OptimizedModule" and hasattr(model, "_orig_mod"):
            model = model._orig_mod  # torch.compile; its class is not public
        elif isinstance(
            model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)
        ) and isinstance(model.module, torch.nn.Module):
            model = model.module
        else:
            return model


def unwrap_parts(model: torch.nn.Module) -> None:
    """Removes the wrappers from all submodules; `untouched` restores them."""
    for module in model.modules():
        for name, child in list(module._modules.items()):
            if child is not None and (inner := unwrapped(child)) is not child:
                module._modules[name] = inner
        if getattr(module, "_compiled_call_impl", None) is not None:
            module.__dict__["_compiled_call_impl"] = None
    if any(unwrapped(module) is not module for module in model.modules()):
        unwrap_parts(model)  # a wrapper within a wrapped module


def initialized(
    model: torch.nn.Module, args: Any, kwargs: Any, notices: Notices
) -> torch.nn.Module:
    """The model, or, if it has lazy modules that have not run, a copy that has: running would permanently turn
    them into other modules."""
    tensors = [*model.parameters(), *model.buffers()]
    if not any(is_lazy(tensor) for tensor in tensors):
        return model
    notices.warn(
        "lazy modules that have not run yet are exported with the weights that they would get from "
        "this call; the model itself is not changed"
    )
    ready = copy.deepcopy(model)
    with torch.no_grad():
        ready(*args, **kwargs)
    return ready


class Buffers:
    """Which of a model's buffers a forward pass writes to."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.saved = [
            (name, buffer, buffer._version, buffer.clone())
            for name, buffer in model.named_buffers()
            if not buffer.is_inference() and not is_lazy(buffer)
        ]

    def written(self) -> list[str]:
        return [name for name, buffer, version, _ in self.saved if buffer._version != version]

    def restore(self) -> None:
        for _, buffer, version, contents in self.saved:
            if buffer._version != version:
                buffer.detach().copy_(contents)


# --- the exporters -------------------------------------------------------------------------------


def export_torchscript(
    call: Call,
    path: Path,
    *,
    opset: int | None,
    dims: shapes.Dims,
    options: Mapping[str, Any],
    notices: Notices,
    captured: Captured,
) -> None:
    """Runs torch.onnx.export with the TorchScript-based exporter. `captured` receives the exporter's own
    trace, so nothing is traced twice."""
    settings = {
        "input_names": call.input_names,
        "output_names": call.output_names,  # filled by tracing, read afterwards
        "dynamic_axes": shapes.for_torchscript(dims),
        "opset_version": opset,
        **options,
    }
    buffers = Buffers(call.model)
    seen = False

    def see(read: Callable[[], dict[str, Any]]) -> None:
        nonlocal seen
        seen = True
        captured(read)

    def export(written: Sequence[str]) -> None:
        with (
            notices.listening(),
            _mute(torch._C, "_jit_onnx_log"),
            torch.compiler.set_stance("force_eager"),
            call.flat(written),
            observed(call.model, call.input_names, see),
        ):
            torch.onnx.export(call.model, call.tensors, os.fspath(path), dynamo=False, **settings)

    export(())
    if written := buffers.written():
        # The exporter drops writes to a buffer, but not to a copy of one.
        buffers.restore()
        export(written)
        _warn_of_state(written, notices)
    if not seen:
        with notices.listening():
            captured(lambda: trace_script(call))


def export_script(
    call: Call,
    path: Path,
    *,
    opset: int | None,
    dims: shapes.Dims,
    options: Mapping[str, Any],
    notices: Notices,
) -> None:
    """Runs torch.onnx.export on a model that is already TorchScript, so nothing is traced."""
    arguments = tuple(call.arguments[name] for name in call.positions if name in call.arguments)
    with notices.listening():
        with torch.no_grad():
            call.name_outputs(call.model(*arguments))
        torch.onnx.export(
            call.model,
            arguments,
            os.fspath(path),
            dynamo=False,
            input_names=call.input_names,
            output_names=call.output_names,
            dynamic_axes=shapes.for_torchscript(dims),
            opset_version=opset,
            **options,
        )


def export_dynamo(
    call: Call,
    path: Path,
    *,
    opset: int | None,
    dims: shapes.Dims,
    options: Mapping[str, Any],
    notices: Notices,
    captured: Captured,
    external_data: bool | None,
) -> None:
    """Runs torch.onnx.export with the torch.export-based exporter. `captured` receives the trace of the
    program that the exporter itself captured, so nothing is traced twice."""
    flat = not call.is_plain
    settings = {
        "opset_version": opset,
        "dynamic_shapes": shapes.for_dynamo(call, dims, flat=flat),
        "input_names": call.input_names,
        "output_names": call.output_names,  # filled by tracing, read afterwards
        **options,
    }
    saving = {
        name: settings.pop(key)
        for key, name in (
            ("keep_initializers_as_inputs", "keep_initializers_as_inputs"),
            ("export_params", "include_initializers"),
        )
        if key in settings
    }
    large = sum(t.nbytes for t in _tensors(call.model)) > LARGE
    args, kwargs = (call.tensors, {}) if flat else (call.args, call.kwargs)
    with (
        notices.listening(),
        call.flat() if flat else call.flat_outputs(),
        _observed_export(call.model, captured) as seen,
    ):
        # A dict at the end means keyword arguments; a dict argument before it remains an argument.
        program = torch.onnx.export(
            call.model, (*args, kwargs), dynamo=True, verbose=False, **settings
        )
        assert program is not None
        if program.exported_program is not None:
            signature = program.exported_program.graph_signature
            _warn_of_state(signature.buffers_to_mutate.values(), notices)
        program.save(
            os.fspath(path),
            external_data=large if external_data is None else external_data,
            **saving,
        )
    if not seen:
        with notices.listening():
            captured(lambda: trace_export(call))


def trace_export(call: Call) -> dict[str, Any]:
    """Traces a model with torch.export, without exporting it to ONNX."""
    flat = not call.is_plain
    args, kwargs = (call.tensors, {}) if flat else (call.args, call.kwargs)
    with torch.no_grad(), call.flat() if flat else call.flat_outputs():
        program = torch.export.export(call.model, args, kwargs, strict=False)
    return read_program(call.model, program)


def trace_script(call: Call) -> dict[str, Any]:
    """Traces a model with torch.jit.trace."""
    with torch.no_grad(), torch.compiler.set_stance("force_eager"), call.flat():
        traced = torch.jit.trace(call.model, call.tensors, strict=False, check_trace=False)
    return read_script(traced, call.model, call.input_names)


def _tensors(model: torch.nn.Module) -> list[torch.Tensor]:
    """The tensors of a model's state; a quantized module's state contains more than tensors."""
    return [t for t in model.state_dict().values() if isinstance(t, torch.Tensor)]


@contextlib.contextmanager
def _observed_export(model: torch.nn.Module, captured: Captured) -> Iterator[list[bool]]:
    """Within the block, `captured` receives the trace of the program that an exporter captures. The list is
    non-empty once that has happened."""
    original = torch.export.export
    found: list[bool] = []

    def export(*args: Any, **kwargs: Any) -> torch.export.ExportedProgram:
        program = original(*args, **kwargs)
        if not found:  # a second capture would be that of a submodule
            found.append(True)
            captured(lambda: read_program(model, program))
        return program

    torch.export.export = export
    try:
        with _quiet_capture():
            yield found
    finally:
        torch.export.export = original


def _quiet_capture() -> contextlib.AbstractContextManager[None]:
    try:
        from torch.export import _trace  # slow to load
    except ImportError:
        return contextlib.nullcontext()
    return _mute(_trace, "print")


@contextlib.contextmanager
def _mute(module: Any, function: str) -> Iterator[None]:
    """Within the block, silences a function of PyTorch that prints: if an export fails, it prints the graph so
    far, but the error already says what is wrong."""
    before = vars(module).get(function)
    setattr(module, function, lambda *_, **__: None)
    try:
        yield
    finally:
        if before is None:
            delattr(module, function)
        else:
            setattr(module, function, before)


def _warn_of_state(buffers: Any, notices: Notices) -> None:
    for name in buffers:
        notices.warn(
            f"forward writes to the buffer {name!r}: an ONNX model keeps no state, so every run of the "
            "exported model starts with the buffer's current value"
        )
