"""The forms in which callers hold a model: a path, bytes, an onnx.ModelProto, an onnx_ir.Model, a
torch.onnx.ONNXProgram.

The native programs read files. A model in memory is written to a file in a temporary folder, and the result is
read from there into the same form. Packages are never imported just to test for their types: if the caller holds
an object of one, it is already loaded.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Union

from .errors import BadInput
from .model import TaggedModel
from .scratch import Scratch

StrPath = Union[str, os.PathLike[str]]
Kind = Literal["path", "bytes", "proto", "ir", "program"]
#: Larger models keep their weights in a separate file: protobuf files are limited to 2 GiB.
_LARGE = 1536 << 20


def existing(path: StrPath) -> Path:
    file = Path(path)
    if file.is_dir():
        raise BadInput(f"{file} is a folder, expected a file")
    if not file.exists():
        raise BadInput(f"{file}: no such file")
    return file


def kind_of(model: Any) -> Kind:
    """The form in which a model is held. Raises if it is not a model."""
    if isinstance(model, (str, os.PathLike, TaggedModel)):
        return "path"
    if isinstance(model, (bytes, bytearray, memoryview)):
        return "bytes"
    if _is(model, "onnx", "ModelProto"):
        return "proto"
    if _is(model, "onnx_ir", "Model"):
        return "ir"
    if _is(model, "torch.onnx", "ONNXProgram"):
        return "program"
    hint = ": export it with htp.export" if _is(model, "torch.nn", "Module") else ""
    raise BadInput(
        "expected an ONNX model as a path, bytes, an onnx.ModelProto, an onnx_ir.Model or a "
        f"torch.onnx.ONNXProgram, found a {type(model).__name__}{hint}"
    )


def _is(model: Any, package: str, name: str) -> bool:
    cls = getattr(sys.modules.get(package), name, None)
    return isinstance(cls, type) and isinstance(model, cls)


class Held:
    """A model as a file: the caller's own, or one in `folder`."""

    def __init__(self, model: Any, folder: Path) -> None:
        self.model, self.kind = model, kind_of(model)
        if self.kind == "path":
            self.path = existing(model.path if isinstance(model, TaggedModel) else model)
        else:
            self.path = folder / "model.onnx"
            _WRITERS[self.kind](model, self.path)

    @property
    def is_file(self) -> bool:
        return self.kind == "path"

    def returned(self, path: Path) -> Any:
        """Reads what a program wrote, in the form of the original."""
        return _READERS[self.kind](path, self.model)


@contextlib.contextmanager
def held(model: Any) -> Iterator[Held]:
    """Within the block, a model is a file."""
    if kind_of(model) == "path":
        yield Held(model, Path())
        return
    with Scratch("htp-scratch-") as folder:
        yield Held(model, folder)


def kept(model: Any) -> tuple[Path, Scratch | None]:
    """A model as a file, which exists as long as the returned Scratch."""
    if kind_of(model) == "path":
        return Held(model, Path()).path, None
    folder = Scratch("htp-scratch-")
    return Held(model, folder.path).path, folder


@contextlib.contextmanager
def held_trace(trace: Any) -> Iterator[Path | None]:
    """Within the block, a trace is a file that the native programs can read. `trace` is a path, the result of
    `htp.trace`, or the document itself."""
    from . import archives

    if trace is None:
        yield None
        return
    document = trace
    if not isinstance(trace, Mapping):
        path = existing(getattr(trace, "path", trace))
        if not archives.is_archive(path) or not archives.obstacle():
            yield path
            return
        document = archives.read_archive(path)
    with Scratch("htp-scratch-") as folder:
        path = folder / "trace.json"
        path.write_text(json.dumps(document, separators=(",", ":")), encoding="utf-8")
        yield path


# --- writing -------------------------------------------------------------------------------------


def _write_bytes(model: Any, path: Path) -> None:
    path.write_bytes(model)


def _write_proto(model: Any, path: Path) -> None:
    tensors = (t for t in model.graph.initializer if t.data_location == t.EXTERNAL)
    if tensor := next(tensors, None):
        raise BadInput(
            f"weights of this ModelProto are external data (for example {tensor.name!r}), and it does not "
            "know in which folder: pass the model's path, or load it with its external data"
        )
    try:
        data = model.SerializeToString()
    except Exception as error:
        raise BadInput(
            f"this ModelProto cannot be serialized ({type(error).__name__}): if it exceeds 2 GiB, save it with "
            "external data and pass its path"
        ) from error
    path.write_bytes(data)


def _write_ir(model: Any, path: Path) -> None:
    import onnx_ir

    size = sum(value.const_value.nbytes for value in model.graph.initializers.values())
    onnx_ir.save(model, path, external_data=f"{path.name}.data" if size > _LARGE else None)


def _write_program(program: Any, path: Path) -> None:
    _write_ir(program.model, path)


_WRITERS = {
    "bytes": _write_bytes,
    "proto": _write_proto,
    "ir": _write_ir,
    "program": _write_program,
}


# --- reading -------------------------------------------------------------------------------------


def _read_bytes(path: Path, _: Any) -> bytes:
    return path.read_bytes()


def _read_proto(path: Path, _: Any) -> Any:
    import onnx

    return onnx.load(str(path))


def _read_ir(path: Path, _: Any) -> Any:
    import onnx_ir

    # External weights would be loaded on first use, when the temporary folder is gone.
    return onnx_ir.external_data.load_to_model(onnx_ir.load(path))


def _read_program(path: Path, given: Any) -> Any:
    return type(given)(_read_ir(path, None), given.exported_program)


_READERS = {
    "bytes": _read_bytes,
    "proto": _read_proto,
    "ir": _read_ir,
    "program": _read_program,
}
