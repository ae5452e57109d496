"""From a PyTorch model to a tagged ONNX file in one call."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import native, tagging
from .errors import BadInput, ExportFailed, HTPError, MissingPackage, TraceFailed
from .files import Outputs
from .model import TaggedModel

if TYPE_CHECKING:
    import torch

    from .capture import Call

Exporter = Literal["auto", "torchscript", "dynamo"]
Progress = Callable[[str], None]


@dataclass
class Settings:
    opset: int | None
    dynamic_shapes: Any
    options: dict[str, Any]
    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str, text: str) -> Iterator[None]:
        """Announces a step and measures it."""
        self.progress(text)
        begin = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - begin
            self.seconds[name] = self.seconds.get(name, 0.0) + spent


def export(
    model: torch.nn.Module,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    output: tagging.StrPath = "model.onnx",
    *,
    exporter: Exporter = "auto",
    opset: int | None = None,
    dynamic_shapes: Any = None,
    outline: bool = False,
    dag: bool = True,
    graphml: bool = False,
    trace: bool = True,
    tag_storage: tagging.TagStorage = "metadata",
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> TaggedModel:
    """Exports a model with one of PyTorch's exporters, tags every node, and writes all outputs.

    Beside `output` (NAME.onnx): NAME.ops.json (what is known of every node), NAME.dag.json (the
    DAG of every module), NAME.trace.json (the trace, to tag other forms of the model), and with
    `graphml` NAME.graphml. With `outline`, the model has one function for every module.

    `exporter` "auto" takes the torch.export-based one ("dynamo") and, where that fails, the
    TorchScript-based one. `dynamic_shapes` is as for torch.export, or "auto" for the batch of
    every input and the length of what has the form (batch, length). `options` go to
    torch.onnx.export. The model is in evaluation mode while it is exported, and afterwards as it
    was, also when the export fails; then no output is left behind, either.
    """
    capture = _capture()
    import torch

    if not isinstance(model, torch.nn.Module) or isinstance(model, torch.jit.ScriptModule):
        raise BadInput(f"expected an nn.Module, found a {type(model).__name__}")
    if exporter not in ("auto", "torchscript", "dynamo"):
        raise BadInput(f"exporter is {exporter!r}, expected 'auto', 'torchscript' or 'dynamo'")
    target = Path(output)
    sides = tagging.SideFiles(dag=dag, graphml=graphml)
    final_trace = target.with_suffix(".trace.json")

    with (
        native.Standby("htp-onnx") as tagger,
        Outputs(target, *([final_trace] if trace else [])) as outputs,
    ):
        for side in sides.paths(target).values():
            Outputs(side)  # to fail before the work starts
        call = capture.Call(model, args, kwargs or {})
        tagger.start()  # it loads while the exporter works
        shapes = capture.automatic_shapes(call) if dynamic_shapes == "auto" else dynamic_shapes
        settings = Settings(opset, shapes, dict(options or {}), progress or (lambda text: None))
        with capture.untouched(model):
            raw = _export(exporter, call, outputs.folder, settings)
        data = [f for f in outputs.folder.iterdir() if f not in (raw, outputs.folder / _TRACE)]
        outputs.add(*(target.parent / f.name for f in data))
        command = [
            str(raw),
            tagging.tag_option([f"trace={tagging.quoted(outputs.folder / _TRACE)}"]),
            *(["--htp-outline"] if outline else []),
            *tagging.storage_options(tag_storage),
        ]
        with settings.step("tag", "tagging"):
            tagged = tagging.write(command, target, outputs, sides, tagger)
        if trace:
            (outputs.folder / _TRACE).rename(outputs[final_trace])
        tagged.seconds = settings.seconds
        return tagged


_TRACE = "captured.json"


def _capture() -> Any:
    try:
        from . import capture
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "torch":
            raise MissingPackage("torch", "htp.export", "torch") from None
        raise
    return capture


def _export(exporter: Exporter, call: Call, folder: Path, settings: Settings) -> Path:
    """Exports and traces into `folder`; gives back the untagged model."""
    if exporter == "torchscript":
        return _with_torchscript(call, folder, settings)
    if exporter == "dynamo":
        return _with_dynamo(call, folder, settings)
    try:
        return _with_dynamo(call, folder, settings)
    except (ExportFailed, MissingPackage) as first:
        settings.progress(f"{_summary(first)}; trying the torchscript exporter")
        try:
            return _with_torchscript(call, folder, settings)
        except HTPError as second:
            raise ExportFailed(f"both exporters failed.\n{first}\n{second}") from second


def _with_torchscript(call: Call, folder: Path, settings: Settings) -> Path:
    return _with(_capture().export_torchscript, "torchscript", "dynamo", call, folder, settings)


def _with_dynamo(call: Call, folder: Path, settings: Settings) -> Path:
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        raise MissingPackage("onnxscript", "the dynamo exporter", "torch") from None
    return _with(_capture().export_dynamo, "dynamo", "torchscript", call, folder, settings)


def _with(
    exporter: Callable[..., None],
    name: str,
    other: str,
    call: Call,
    folder: Path,
    settings: Settings,
) -> Path:
    raw, traced = folder / "raw.onnx", folder / _TRACE
    traced.unlink(missing_ok=True)

    def captured(trace: Any) -> None:
        with settings.step("trace", "writing the trace"):
            traced.write_text(json.dumps(trace, separators=(",", ":")), encoding="utf-8")

    try:
        with settings.step("export", f"exporting with the {name} exporter"):
            exporter(
                call,
                raw,
                opset=settings.opset,
                shapes=settings.dynamic_shapes,
                options=settings.options,
                captured=captured,
            )
    except HTPError:
        raise
    except Exception as error:
        if name == "torchscript" and not traced.exists():
            raise TraceFailed(_advice("tracing the model", error, other)) from error
        raise ExportFailed(_advice(f"the {name} exporter", error, other)) from error
    return raw


def _advice(what: str, error: BaseException, other: str) -> str:
    return f"{what} failed: {_summary(error)}\ntry exporter='{other}' (--exporter {other})"


def _summary(error: BaseException) -> str:
    """The first sentence of an error, and the first line of what caused it, without colours."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) and cause not in causes:
        causes.append(cause)
    outer = _first_line(error)
    if len(causes) == 1:
        return outer
    return (
        f"{re.split(r'[.:;]? *$|[.] ', outer, maxsplit=1)[0]}, because of {_first_line(causes[-1])}"
    )


def _first_line(error: BaseException) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if isinstance(error, HTPError) else f"{type(error).__name__}: {line}"
