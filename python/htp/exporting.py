"""From a PyTorch model to a tagged ONNX file in one call."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import native, tagging, torchfeatures
from .errors import BadInput, ExportFailed, HTPError, MissingPackage, TraceFailed
from .files import Outputs, name_for_data
from .model import TaggedModel
from .notices import Notices
from .onnxfile import opset as opset_of
from .running import keep_inputs, kept_inputs

if TYPE_CHECKING:
    import torch

    from .calls import Call

Exporter = Literal["auto", "torchscript", "dynamo"]
Progress = Callable[[str], None]

#: Options of torch.onnx.export that only one of its exporters has.
_DYNAMO_ONLY = {
    "custom_translation_table",
    "report",
    "optimize",
    "verify",
    "profile",
    "dump_exported_program",
    "artifacts_dir",
}
_TORCHSCRIPT_ONLY = {
    "operator_export_type",
    "do_constant_folding",
    "custom_opsets",
    "autograd_inlining",
}
#: Options of torch.onnx.export that HTP does not support, and why or what to do instead.
_UNSUPPORTED = {
    "export_modules_as_functions": "it is called modules_as_functions here",
    "training": "models are always exported in evaluation mode",
    "fallback": "exporter='auto' tries one exporter, then the other",
}


@dataclass
class Settings:
    exporter: Exporter
    opset: int | None
    dims: Any
    options: dict[str, Any]
    external_data: bool | None
    progress: Progress
    notices: Notices
    producer: dict[str, str] = field(default_factory=dict)  # goes into the trace
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
    args: Any = (),
    f: tagging.StrPath | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    output: tagging.StrPath | None = None,
    exporter: Exporter = "auto",
    dynamo: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    opset: int | None = None,
    dynamic_shapes: Any = None,
    dynamic_axes: Any = None,
    external_data: bool | None = None,
    outline: bool = False,
    modules_as_functions: bool | Collection[type | str] = False,
    dag: bool = True,
    graphml: bool = False,
    trace: bool = True,
    inputs: bool = True,
    tag_storage: tagging.TagStorage = "metadata",
    progress: Progress | None = None,
    options: Mapping[str, Any] | None = None,
    **more_options: Any,
) -> TaggedModel:
    """Exports a model with one of PyTorch's exporters, tags every node, and writes all outputs.

    Takes the arguments of torch.onnx.export, in the same order and with the same names: `f` (or `output`,
    by default model.onnx) is the file to write. Beside NAME.onnx, it writes NAME.ops.json (what is known
    about every node), NAME.dag.json (the DAG of every module), NAME.trace.json (the trace, for tagging
    other forms of the model), NAME.inputs.npz (the tensors of the example call, up to 16 MB, which
    `htp.profile` and `htp.diff` use; not with `inputs=False`), and with `graphml` NAME.graphml. With
    `outline` or `modules_as_functions=True`, the model has one function for every module;
    `modules_as_functions={Layer}` makes functions only of modules of these classes. Equal modules share a
    function; weights are its inputs, constants are inside it. Weights of more than 1 GiB in total, or any
    weights with `external_data=True`, go to NAME.onnx.data.

    With `exporter="auto"`, the torch.export-based exporter ("dynamo") is used or, if that fails, the
    TorchScript-based one; the result's `exporter` says which. `dynamic_shapes` is as for torch.export, or
    "auto" for the batch size of every input, the length of inputs of shape (batch, length), and the length
    of a cache. Caches are inputs and outputs: `past_key_values.0.key`, `present.0.key`.

    The model is in evaluation mode during the export, and is restored afterwards, even if the export fails;
    in that case, no output is left behind. Anything that could not become part of the ONNX model is
    reported as a warning (HTPWarning, also in `warnings` of the result).
    """
    capture = load_capture()
    model = _check_model(capture.unwrapped(model))
    if dynamo is not None and exporter == "auto":
        exporter = "dynamo" if dynamo else "torchscript"
    if exporter not in ("auto", "torchscript", "dynamo"):
        raise BadInput(f"exporter is {exporter!r}, expected 'auto', 'torchscript' or 'dynamo'")
    options = _check_options({**(options or {}), **more_options}, exporter)
    if exporter == "auto" and options.keys() & _DYNAMO_ONLY:
        exporter = "dynamo"
    target = _target(f, output)
    args, kwargs = arguments_of(model, args, kwargs)
    sides = tagging.SideFiles(dag=dag, graphml=graphml)
    final_trace, final_inputs = target.with_suffix(".trace.json"), kept_inputs(target)
    notices = Notices()
    settings = Settings(
        exporter,
        opset_version or opset,
        None,
        dict(options),
        external_data,
        progress or (lambda text: None),
        notices,
    )
    try:
        with (
            native.Standby("htp-onnx") as tagger,
            Outputs(
                target, *([final_trace] if trace else []), *([final_inputs] if inputs else [])
            ) as outputs,
        ):
            for side in sides.paths(target).values():
                Outputs(side)  # fails before the work starts if it cannot be written
            tagger.start()  # it loads while the exporter works
            with capture.untouched(model, (args, kwargs), notices.warn):
                capture.unwrap_parts(model)
                ready = capture.initialized(model, args, kwargs, notices)
                call = capture.Call(ready, args, kwargs, notices.warn)
                call.choose_names(input_names or (), output_names or ())
                settings.dims = capture.dims_of(call, dynamic_shapes, dynamic_axes)
                if inputs:
                    keep_inputs(outputs[final_inputs], dict(zip(call.input_names, call.tensors)))
                raw = _export(call, outputs.folder, name_for_data(target), settings)
            outputs.add(*(target.parent / f.name for f in raw.parent.iterdir() if f != raw))
            captured = outputs.folder / _TRACE
            traced = [f"trace={native.quoted(captured)}"] if captured.exists() else []
            command = [
                str(raw),
                tagging.tag_option(traced),
                "--external-data=link",
                *_outlining(outline, modules_as_functions),
                *tagging.storage_options(tag_storage),
            ]
            with settings.step("tag", "tagging"):
                tagged = tagging.write(command, target, outputs, sides, tagger, notices)
            if trace and traced:
                captured.rename(outputs[final_trace])
    finally:
        notices.issue()
    tagged.replaced = outputs.replaced
    tagged.warnings = notices.texts
    tagged.seconds = settings.seconds
    return tagged


_TRACE = "captured.json"


# --- arguments -----------------------------------------------------------------------------------


def load_capture(purpose: str = "htp.export") -> Any:
    """Imports what needs torch, or says that torch is missing."""
    torchfeatures.check_version()
    try:
        from . import capture
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "torch":
            raise MissingPackage("torch", purpose, "torch") from None
        raise
    return capture


def _check_model(model: Any) -> torch.nn.Module:
    import torch

    if isinstance(model, torch.nn.Module):
        return model
    kind = type(model).__name__
    if isinstance(model, (torch.export.ExportedProgram, torch.jit.ScriptFunction)):
        raise BadInput(
            f"a {kind} does not record its modules: pass the nn.Module that it was made from"
        )
    raise BadInput(f"expected an nn.Module, found a {kind}")


def _check_options(options: Mapping[str, Any], exporter: str) -> Mapping[str, Any]:
    """Checks that options for torch.onnx.export exist and are supported by the chosen exporter."""
    import torch

    known = set(inspect.signature(torch.onnx.export).parameters) | {"fallback"}
    for name in options:
        if name in _UNSUPPORTED:
            raise BadInput(f"htp.export has no option {name!r}: {_UNSUPPORTED[name]}")
        if name not in known:
            raise BadInput(f"neither htp.export nor torch.onnx.export has an option {name!r}")
        if name in _DYNAMO_ONLY and exporter == "torchscript":
            raise BadInput(f"{name!r} is an option of the dynamo exporter only")
        if name in _TORCHSCRIPT_ONLY and exporter != "torchscript":
            raise BadInput(f"{name!r} needs exporter='torchscript', the only one that has it")
    return {name: value for name, value in options.items() if name != "verbose"}


def _outlining(outline: bool, classes: bool | Collection[type | str]) -> list[str]:
    """The option that turns modules into functions: all of them, or those of some classes."""
    if isinstance(classes, bool):
        return ["--htp-outline"] if outline or classes else []
    names = [c if isinstance(c, str) else f"{c.__module__}.{c.__qualname__}" for c in classes]
    if not names:
        raise BadInput("modules_as_functions names no class: pass True for all modules")
    return [f"--htp-outline=classes={','.join(names)}"]


def _target(f: Any, output: Any) -> Path:
    if isinstance(f, Mapping):
        raise BadInput("the third argument is the file to write: pass inputs by name as kwargs=…")
    if f is not None and output is not None:
        raise BadInput("give either f or output, not both")
    chosen = f if f is not None else output if output is not None else "model.onnx"
    if not isinstance(chosen, (str, os.PathLike)):
        raise BadInput(f"the file to write must be a path, found a {type(chosen).__name__}")
    return Path(chosen)


def arguments_of(
    model: torch.nn.Module, args: Any, kwargs: Mapping[str, Any] | None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Interprets the example call as torch.onnx.export does: a single value is the only argument, and a dict at
    the end holds keyword arguments if forward accepts them."""
    if isinstance(args, Mapping):
        args = (args,)
    elif not isinstance(args, (tuple, list)):
        args = (args,)
    args = tuple(args)
    if kwargs is None and args and isinstance(args[-1], Mapping) and _fits(model, args):
        return args[:-1], dict(args[-1])
    return args, dict(kwargs or {})


def _fits(model: torch.nn.Module, args: tuple[Any, ...]) -> bool:
    try:
        inspect.signature(model.forward).bind(*args[:-1], **args[-1])
    except (TypeError, ValueError):
        return False
    return True


# --- the exporters -------------------------------------------------------------------------------


def _export(call: Call, folder: Path, name: str, settings: Settings) -> Path:
    """Exports and traces into `folder`. Returns the untagged model, in a folder of its own with its data."""
    import torch

    raw = folder / "exported" / name
    if isinstance(call.model, torch.jit.ScriptModule):
        return _with_script(call, folder, raw, settings)
    if settings.exporter == "torchscript":
        return _with_torchscript(call, folder, raw, settings)
    if settings.exporter == "dynamo":
        return _with_dynamo(call, folder, raw, settings)
    try:
        return _with_dynamo(call, folder, raw, settings)
    except (ExportFailed, MissingPackage) as first:
        settings.producer["fallback"] = summary(first)
        settings.notices.warn(f"{summary(first)}; exported with the torchscript exporter instead")
        try:
            return _with_torchscript(call, folder, raw, settings)
        except HTPError as second:
            settings.notices.texts.clear()  # they describe an export that failed
            raise ExportFailed(f"both exporters failed.\n{first}\n{second}") from second


def _with_torchscript(call: Call, folder: Path, raw: Path, settings: Settings) -> Path:
    _with("torchscript", load_capture().export_torchscript, call, folder, raw, settings)
    return _gather_data(raw, settings.external_data)


def _with_dynamo(call: Call, folder: Path, raw: Path, settings: Settings) -> Path:
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        raise MissingPackage("onnxscript", "the dynamo exporter", "torch") from None
    _with(
        "dynamo",
        load_capture().export_dynamo,
        call,
        folder,
        raw,
        settings,
        external_data=settings.external_data,
    )
    if settings.opset and (found := opset_of(raw)) != settings.opset:
        raise ExportFailed(
            f"the dynamo exporter wrote opset {found} instead of opset {settings.opset}: "
            "it could not convert the model"
        )
    return raw


def _with_script(call: Call, folder: Path, raw: Path, settings: Settings) -> Path:
    """Exports a model that is already TorchScript; its trace is read from an archive of it."""
    if settings.exporter == "dynamo":
        raise ExportFailed("the dynamo exporter does not take scripted models: use torchscript")

    def export_script(call: Call, path: Path, *, captured: Any, **rest: Any) -> None:
        load_capture().export_script(call, path, **rest)
        archive = folder / "captured.pt"
        call.model.save(str(archive))
        captured(lambda: json.loads(native.run("htp-trace", archive)))

    _with("torchscript", export_script, call, folder, raw, settings)
    return _gather_data(raw, settings.external_data)


def _with(
    name: str,
    exporter: Callable[..., None],
    call: Call,
    folder: Path,
    raw: Path,
    settings: Settings,
    **rest: Any,
) -> None:
    traced = folder / _TRACE
    traced.unlink(missing_ok=True)
    shutil.rmtree(raw.parent, ignore_errors=True)
    raw.parent.mkdir()
    ran = False
    settings.producer["exporter"] = name

    def captured(read: Callable[[], Any]) -> None:
        nonlocal ran
        ran = True
        with settings.step("trace", "writing the trace"):
            try:
                trace = read()
            except Exception as error:
                settings.notices.warn(
                    f"the trace of the model could not be read ({summary(error)}): "
                    "the tags are based only on what the exporter wrote into the file"
                )
                return
            trace["producer"] |= settings.producer
            traced.write_text(json.dumps(trace, separators=(",", ":")), encoding="utf-8")

    try:
        with settings.step("export", f"exporting with the {name} exporter"):
            exporter(
                call,
                raw,
                opset=settings.opset,
                dims=settings.dims,
                options=settings.options,
                notices=settings.notices,
                captured=captured,
                **rest,
            )
    except HTPError:
        raise
    except Exception as error:
        if name == "torchscript" and not ran:
            raise TraceFailed(f"tracing the model failed: {summary(error)}") from error
        raise ExportFailed(f"the {name} exporter failed: {summary(error)}") from error


def _gather_data(raw: Path, external_data: bool | None) -> Path:
    """Gathers external data in one file named after the model. The TorchScript exporter writes weights beyond
    2 GiB into a separate file per parameter."""
    files = [file for file in raw.parent.iterdir() if file != raw]
    if not files and not external_data:
        return raw
    try:
        import onnx
    except ImportError:
        raise MissingPackage("onnx", "external data of the torchscript exporter", "onnx") from None
    model = onnx.load(str(raw))
    for file in files:
        file.unlink()
    onnx.save_model(
        model,
        str(raw),
        save_as_external_data=True,
        location=f"{raw.name}.data",
        size_threshold=0 if external_data else 1024,
    )
    return raw


def summary(error: BaseException) -> str:
    """The first sentence of an error, and the first line of what caused it, without colours."""
    causes = [error]
    while (cause := _cause(causes[-1])) and cause not in causes:
        if isinstance(cause, HTPError) and not causes[-1].__cause__:
            break  # the error of the first exporter, which was being handled
        causes.append(cause)
    outer = _first_line(error)
    if len(causes) == 1 or isinstance(error, HTPError):
        return outer
    return (
        f"{re.split(r'[.:;]? *$|[.] ', outer, maxsplit=1)[0]}, because of {_first_line(causes[-1])}"
    )


def _cause(error: BaseException) -> BaseException | None:
    """The cause or context of an error; None after `raise … from None`."""
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _first_line(error: BaseException) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if isinstance(error, HTPError) else f"{type(error).__name__}: {line}"
