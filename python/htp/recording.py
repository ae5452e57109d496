"""Traces a PyTorch model without exporting it, for users who already have an ONNX file."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .archives import read_archive, read_exported
from .errors import BadInput, HTPError, MissingPackage, TraceFailed
from .exporting import Progress, arguments_of, load_capture, summary
from .files import Outputs, Written
from .holding import StrPath, existing
from .notices import Notices

if TYPE_CHECKING:
    import torch

    from .calls import Call

Tracer = Literal["auto", "export", "torchscript"]


class Trace(Written):
    """A trace that was written."""

    @property
    def source(self) -> str:
        """The tracer that made it: torchscript or export."""
        return str(self.document["producer"]["source"])

    @property
    def statistics(self) -> dict[str, int]:
        modules = self.document["modules"]
        tensors = [tensor for module in modules for tensor in module["parameters"]]
        known = Counter(key for tensor in tensors for key in ("sketch", "hash") if key in tensor)
        return {
            "modules": len(modules),
            "ops": len(self.document["ops"]),
            "parameters": len(tensors),
            "sketches": known["sketch"],
            "fingerprints": known["hash"],
        }


def trace(
    model: torch.nn.Module | torch.export.ExportedProgram | StrPath,
    args: Any = (),
    f: StrPath | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    tracer: Tracer = "auto",
    progress: Progress | None = None,
) -> Trace:
    """Writes the trace of a model (docs/formats/trace.md), for `htp.tag(…, trace=…)`.

    `model` is an nn.Module with an example call (`args`, `kwargs`), or something that already contains a
    trace: a torch.export program, a TorchScript module, or an archive of either (`.pt2`, `.pt`). `f` is the
    file to write, by default model.trace.json, or NAME.trace.json beside an archive. The trace contains
    sketches of all parameters, which identify them in optimized and quantized forms of the model.

    With `tracer="auto"`, torch.export is used or, if that fails, torch.jit.trace. The model is in evaluation
    mode while it is traced, and is restored afterwards.
    """
    if tracer not in ("auto", "export", "torchscript"):
        raise BadInput(f"tracer is {tracer!r}, expected 'auto', 'export' or 'torchscript'")
    say = progress or (lambda text: None)
    notices = Notices()
    archive = existing(model) if isinstance(model, (str, os.PathLike)) else None
    target = Path(f) if f is not None else (archive or Path("model")).with_suffix(".trace.json")
    try:
        with Outputs(target) as outputs:
            if archive is not None:
                say(f"reading {archive}")
                document = read_archive(archive)
            else:
                document = _traced(model, args, kwargs, tracer, notices, say)
            text = json.dumps(document, separators=(",", ":"))
            outputs[target].write_text(text, encoding="utf-8")
    finally:
        notices.issue()
    return Trace(target, document, notices.texts, outputs.replaced)


def _traced(
    model: Any,
    args: Any,
    kwargs: Mapping[str, Any] | None,
    tracer: Tracer,
    notices: Notices,
    say: Progress,
) -> dict[str, Any]:
    capture = load_capture("htp.trace")
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        return read_exported(model)
    model = capture.unwrapped(model)
    if isinstance(model, torch.jit.ScriptModule):
        from .scripted import read_script

        return read_script(model)
    if not isinstance(model, torch.nn.Module):
        raise BadInput(
            f"expected an nn.Module, or an archive of one, found a {type(model).__name__}"
        )
    args, kwargs = arguments_of(model, args, kwargs)
    with capture.untouched(model, (args, kwargs), notices.warn):
        capture.unwrap_parts(model)
        ready = capture.initialized(model, args, kwargs, notices)
        call = capture.Call(ready, args, kwargs, notices.warn)
        try:
            return _capture(call, tracer, notices, say)
        except HTPError:
            notices.texts.clear()  # they describe a trace that failed
            raise


def _capture(call: Call, tracer: Tracer, notices: Notices, say: Progress) -> dict[str, Any]:
    if tracer == "torchscript":
        return _with("torch.jit.trace", call, notices, say)
    if tracer == "export":
        return _with("torch.export", call, notices, say)
    try:
        return _with("torch.export", call, notices, say)
    except TraceFailed as first:
        notices.warn(f"{first}; traced with torch.jit.trace instead")
        try:
            return _with("torch.jit.trace", call, notices, say)
        except TraceFailed as second:
            raise TraceFailed(f"both tracers failed.\n{first}\n{second}") from second


def _with(name: str, call: Call, notices: Notices, say: Progress) -> dict[str, Any]:
    capture = load_capture("htp.trace")
    say(f"tracing with {name}")
    trace = capture.trace_export if name == "torch.export" else capture.trace_script
    try:
        with notices.listening():
            document: dict[str, Any] = trace(call)
    except (HTPError, MissingPackage):
        raise
    except Exception as error:
        raise TraceFailed(f"{name} failed: {summary(error)}") from error
    document["producer"]["name"] = "htp.trace"
    return document
