"""Runs ONNX models in ONNX Runtime: sessions, and given or generated inputs."""

from __future__ import annotations

import ast
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import BadInput, MissingPackage

#: Sizes of symbolic dimensions that are not given: of a first axis, which is a batch, and of others.
_BATCH, _SIZE = 1, 16
#: Example inputs are stored only up to this many bytes.
_KEPT = 1 << 24
_FLOATS = {"float": "float32", "double": "float64", "float16": "float16"}


def packages(purpose: str) -> tuple[Any, Any]:
    """(onnxruntime, numpy)."""
    try:
        import numpy
        import onnxruntime
    except ImportError:
        raise MissingPackage("onnxruntime", purpose, "onnx") from None
    return onnxruntime, numpy


def provider_name(runtime: Any, name: str | None) -> str:
    """The full name of a provider, which may be abbreviated, such as `cpu` and `cuda`. The default is the CPU."""
    if name is None:
        return "CPUExecutionProvider"
    available: list[str] = runtime.get_available_providers()
    for known in available:
        if name.lower() in (known.lower(), known.lower().removesuffix("executionprovider")):
            return known
    raise BadInput(f"ONNX Runtime here has no provider {name!r}, only {', '.join(available)}")


def first_line(error: Exception) -> str:
    """The message of an ONNX Runtime error, without error codes and source locations."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), repr(error))
    if text.startswith("[ONNXRuntimeError]"):
        text = text.split(" : ", 3)[-1]
    return re.sub(
        r"^Load model from .* failed: ?(This is an invalid model\. )?(Error: )?", "", text
    )


def open_session(path: Path, options: Any, provider: str, runtime: Any) -> Any:
    options.log_severity_level = 4
    providers = list(dict.fromkeys([provider, "CPUExecutionProvider"]))
    try:
        return runtime.InferenceSession(str(path), options, providers=providers)
    except Exception as error:
        raise BadInput(f"ONNX Runtime cannot load {path}: {first_line(error)}") from error


def open_proto(proto: Any, file: Path, path: Path, options: Any, runtime: Any) -> Any:
    """A session for a model in memory that was read from `file`, where its external data is; `path` is what messages call
    it."""
    options.log_severity_level = 4
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(file.resolve().parent)
    )
    try:
        return runtime.InferenceSession(
            proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise BadInput(f"ONNX Runtime cannot load {path}: {first_line(error)}") from error


def run_session(session: Any, feeds: Mapping[str, Any], path: Path, made_up: str = "") -> list[Any]:
    try:
        results: list[Any] = session.run(None, dict(feeds))
        return results
    except Exception as error:
        hint = f" ({made_up})" if made_up else ""
        raise BadInput(f"{path} does not run: {first_line(error)}{hint}") from error


@dataclass
class Inputs:
    """The inputs of a run."""

    feeds: dict[str, Any]
    sizes: dict[str, int] = field(default_factory=dict)  # of symbolic dimensions
    guessed: dict[str, int] = field(default_factory=dict)  # those among them that were not given

    @property
    def hint(self) -> str:
        """If sizes were guessed, how to run the model with others."""
        if not self.guessed:
            return ""
        sizes = ", ".join(f"{name}={size}" for name, size in self.guessed.items())
        return f"sizes were guessed: {sizes}; use --dim NAME=SIZE or --inputs FILE.npz for others"


def inputs_for(
    session: Any,
    given: str | os.PathLike[str] | Mapping[str, Any] | None,
    dims: Mapping[str, int] | None,
    numpy: Any,
    path: Path,
) -> Inputs:
    """Inputs from a file or a mapping, or those that an export stored beside the model. Missing inputs are
    generated from the model's shapes: integers are 0 or 1, which every vocabulary has, and masks let everything
    through."""
    wanted = session.get_inputs()
    names = [value.name for value in wanted]
    found = read_inputs(given) if given is not None or dims else _kept(path, wanted, numpy)
    if unknown := [name for name in found if name not in names]:
        raise BadInput(f"{path} has no input {unknown[0]!r}; it has {', '.join(map(repr, names))}")
    inputs = Inputs({}, dict(dims or {}))
    used: set[str] = set()
    for value in wanted:
        if value.name in found:
            inputs.feeds[value.name] = _fitting(value, found[value.name], numpy)
    for value in wanted:  # sizes of given inputs also apply to the others
        for name, size in zip(value.shape, getattr(inputs.feeds.get(value.name), "shape", ())):
            if isinstance(name, str):
                inputs.sizes.setdefault(name, size)
    _guess(wanted, inputs)
    generator = numpy.random.default_rng(0)
    for value in wanted:
        shape = _sizes(value, inputs, used)
        if value.name not in inputs.feeds:
            inputs.feeds[value.name] = _made(value, shape, generator, numpy)
    if missing := [name for name in dims or {} if name not in used]:
        known = dict.fromkeys(d for v in wanted for d in v.shape if isinstance(d, str))
        raise BadInput(
            f"{path} has no dimension {missing[0]!r}; it has {', '.join(known) or 'fixed shapes only'}"
        )
    return inputs


def for_the_other(arrays: Mapping[str, Any], wanted: list[Any], path: Path) -> dict[str, Any]:
    """One model's inputs, adapted to those of another (`wanted`, as in its file), which may use other names and types
    and may lack inputs that nothing reads."""
    import onnx

    names = [value.name for value in wanted]
    if not set(names) <= set(arrays):
        if len(names) != len(arrays):
            raise BadInput(f"{path} takes {len(names)} inputs, but the other model {len(arrays)}")
        arrays = dict(zip(names, arrays.values()))
    return {
        value.name: arrays[value.name].astype(
            onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        )
        for value in wanted
    }


def kept_inputs(model: Path) -> Path:
    """Where an export stores the inputs of its example call."""
    return Path(model).with_suffix(".inputs.npz")


def keep_inputs(file: Path, tensors: Mapping[str, Any]) -> bool:
    """Writes the inputs of an example call, unless they are large or have a type that NumPy lacks."""
    try:
        import numpy

        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}
    except (ImportError, TypeError, RuntimeError):
        return False
    if sum(array.nbytes for array in arrays.values()) > _KEPT:
        return False
    with open(file, "wb") as opened:
        numpy.savez_compressed(opened, **arrays)
    return True


def _kept(path: Path, wanted: list[Any], numpy: Any) -> dict[str, Any]:
    """The inputs stored beside a model, if they are complete and fit; they may be left from another export."""
    file = kept_inputs(path)
    if not file.is_file():
        return {}
    try:
        found = read_inputs(file)
        if set(found) != {value.name for value in wanted}:
            return {}
        return {value.name: _fitting(value, found[value.name], numpy) for value in wanted}
    except BadInput:
        return {}


def read_inputs(given: str | os.PathLike[str] | Mapping[str, Any] | None) -> dict[str, Any]:
    """Arrays by name, from an .npz file or a mapping."""
    import numpy

    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {name: numpy.asarray(value) for name, value in given.items()}
    try:
        with numpy.load(given, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        reason = (
            error.strerror
            if isinstance(error, OSError) and error.strerror
            else "it is not an .npz file"
        )
        raise BadInput(f"cannot read inputs from {given}: {reason}") from error


def _dtype(value: Any) -> str:
    kind: str = value.type.removeprefix("tensor(").removesuffix(")")
    return _FLOATS.get(kind, kind)


def _fitting(value: Any, array: Any, numpy: Any) -> Any:
    wanted = _dtype(value)
    if str(array.dtype) != wanted:
        raise BadInput(f"input {value.name!r} is {array.dtype}, but the model takes {wanted}")
    fits = len(array.shape) == len(value.shape) and all(
        not isinstance(size, int) or size == given for size, given in zip(value.shape, array.shape)
    )
    if not fits:
        shape = ", ".join("?" if size is None else str(size) for size in value.shape)
        raise BadInput(
            f"input {value.name!r} has the shape {list(array.shape)}, but the model takes [{shape}]"
        )
    return array


def _guess(wanted: list[Any], inputs: Inputs) -> None:
    """Guesses sizes for all symbolic dimensions without one. Plain names come first, because sums are computed from
    them. A dimension without a name is called INPUT.AXIS."""
    open_ = [
        (name or f"{value.name}.{axis}", _BATCH if axis == 0 else _SIZE)
        for value in wanted
        if value.name not in inputs.feeds
        for axis, name in enumerate(value.shape)
        if not isinstance(name, int)
    ]
    for name, size in sorted(open_, key=lambda dimension: not dimension[0].isidentifier()):
        if _evaluated(name, inputs.sizes, set()) is None:
            inputs.sizes[name] = inputs.guessed[name] = size
    _cover_caches(wanted, inputs)


def _cover_caches(wanted: list[Any], inputs: Inputs) -> None:
    """Makes a decoder's mask as long as its caches and the new tokens together; exporters often give that length a
    name of its own."""
    shapes = {value.name: value.shape for value in wanted if value.name not in inputs.feeds}
    kept = next((s for n, s in shapes.items() if n.startswith("past") and len(s) == 4), None)
    new = next((shapes[n] for n in ("input_ids", "inputs_embeds") if n in shapes), None)
    mask = shapes.get("attention_mask", [])
    if kept is None or new is None or len(mask) != 2 or mask[1] not in inputs.guessed:
        return
    lengths = [inputs.sizes.get(size, size) for size in (kept[2], new[1])]
    if all(isinstance(length, int) for length in lengths):
        inputs.sizes[mask[1]] = inputs.guessed[mask[1]] = sum(lengths)


def _sizes(value: Any, inputs: Inputs, used: set[str]) -> list[int]:
    """A size for each dimension of an input."""
    return [
        size
        if isinstance(size, int)
        else _evaluated(size or f"{value.name}.{axis}", inputs.sizes, used) or 0
        for axis, size in enumerate(value.shape)
    ]


def _evaluated(name: str, sizes: Mapping[str, int], used: set[str]) -> int | None:
    """The size of a dimension, or of an expression such as `past_length + length`; None if unknown."""
    if name in sizes:
        used.add(name)
        return sizes[name]

    def value(tree: ast.expr) -> int:
        if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
            return tree.value
        if isinstance(tree, ast.Name):
            used.add(tree.id)
            return sizes[tree.id]
        if isinstance(tree, ast.BinOp):
            left, right = value(tree.left), value(tree.right)
            if isinstance(tree.op, ast.Add):
                return left + right
            if isinstance(tree.op, ast.Sub):
                return left - right
            if isinstance(tree.op, ast.Mult):
                return left * right
            if isinstance(tree.op, ast.FloorDiv):
                return left // right
        raise KeyError(name)

    try:
        return value(ast.parse(name, mode="eval").body)
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError, RecursionError):
        return None


def _made(value: Any, shape: list[int], generator: Any, numpy: Any) -> Any:
    kind = _dtype(value)
    if kind in _FLOATS.values():
        return generator.standard_normal(shape).astype(kind)
    if kind == "bool" or "mask" in value.name.lower():
        return numpy.ones(shape, dtype=kind)
    try:
        return generator.integers(0, 2, shape).astype(kind)
    except TypeError:
        raise BadInput(
            f"input {value.name!r} is {value.type}, which cannot be generated: pass it with --inputs"
        ) from None
