"""Reads metadata, node names and the opset of an ONNX file without the onnx package."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import BadInput, NotTagged

_OPSET_IMPORT, _METADATA_PROPS, _FUNCTIONS = 8, 14, 25  # of ModelProto
_KEY, _VALUE = 1, 2  # of StringStringEntryProto


def _varint(data: mmap.mmap | bytes, at: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")


def _wire(data: mmap.mmap | bytes, begin: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(number, wire type, begin, end) of every field between two offsets; for a number, its value instead of
    `begin`."""
    at = begin
    while at < end:
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 2:
            size, at = _varint(data, at)
            if at + size > end:
                raise ValueError("it is truncated")
            yield tag >> 3, kind, at, at + size
            at += size
        elif kind == 0:
            value, at = _varint(data, at)
            yield tag >> 3, kind, value, at
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError("its contents are not a protobuf message")


def _fields(data: mmap.mmap | bytes, begin: int, end: int) -> list[tuple[int, int, int]]:
    """(number, begin, end) of every length-delimited field between two offsets."""
    return [(number, a, b) for number, kind, a, b in _wire(data, begin, end) if kind == 2]


def model_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The model's metadata_props. Reads no more of the file than necessary."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise BadInput(f"{path} is empty")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _read(data)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path} is not an ONNX file: {error}") from error
    except IndexError as error:
        raise BadInput(f"{path} is not an ONNX file: it is truncated") from error


def _read(data: mmap.mmap) -> dict[str, str]:
    metadata = {}
    for number, begin, end in _fields(data, 0, len(data)):
        if number != _METADATA_PROPS:
            continue
        key, value = _entry(data, begin, end)
        metadata[key] = value
    return metadata


def _entry(data: mmap.mmap, begin: int, end: int) -> tuple[str, str]:
    """Key and value of a StringStringEntryProto."""
    entry = {_KEY: "", _VALUE: ""}
    for number, first, last in _fields(data, begin, end):
        entry[number] = data[first:last].decode("utf-8", "replace")
    return entry[_KEY], entry[_VALUE]


def opset(path: str | os.PathLike[str]) -> int:
    """The opset version of ONNX's own operators that a model declares; 0 if none."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for number, begin, end in _fields(data, 0, len(data)):
            if number != _OPSET_IMPORT:
                continue
            domain, version = b"", 0
            for part, kind, a, b in _wire(data, begin, end):
                if part == 1 and kind == 2:
                    domain = data[a:b]
                elif part == 2 and kind == 0:
                    version = a
            if domain in (b"", b"ai.onnx"):
                return version
    return 0


def is_mlir(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix in (".mlir", ".mlirbc")


def has_tree(path: str | os.PathLike[str]) -> bool:
    """Whether an ONNX file carries a module tree."""
    return "htp.hierarchy" in model_metadata(path)


def has_tags(path: str | os.PathLike[str]) -> bool:
    """Whether its nodes have tags as well. Optimizers drop the metadata of nodes but keep that of the model."""
    metadata = model_metadata(path)
    if "htp.hierarchy" not in metadata:
        return False
    if metadata.get("htp.storage") == "attribute":
        return True  # optimizers keep attributes, or refuse the model
    keys = (key for node in raw_nodes(path) for key in node.metadata)
    has_nodes = next(raw_nodes(path), None) is not None
    return not has_nodes or any(key.startswith("htp.") for key in keys)


def check_tagged(path: str | os.PathLike[str]) -> None:
    """Raises if an ONNX file carries no tags."""
    if is_mlir(path) or has_tags(path):  # htp-opt checks .mlir files
        return
    if has_tree(path):
        raise NotTagged(
            f"{path} was tagged, but its nodes have lost their tags: optimizers drop them. Tag it again with "
            f"'htp tag {path} --reference TAGGED.onnx', where TAGGED.onnx is the model before optimization"
        )
    raise NotTagged(
        f"{path} carries no tags: tag it with 'htp tag {path} --trace trace.json', "
        "or export the model with 'htp export'"
    )


@dataclass(frozen=True)
class RawNode:
    """A node as it is in the file."""

    name: str
    op_type: str
    outputs: tuple[str, ...]
    metadata: dict[str, str]

    @property
    def label(self) -> str:
        return self.name or (self.outputs[0] if self.outputs else self.op_type)


def has_functions(path: str | os.PathLike[str]) -> bool:
    """Whether an ONNX model contains functions, as an outlined one does."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return any(number == _FUNCTIONS for number, _, _ in _fields(data, 0, len(data)))


def raw_nodes(path: str | os.PathLike[str]) -> Iterator[RawNode]:
    """Yields every node of a model in order, including those in subgraphs and functions. Weights are skipped."""
    try:
        with (
            open(path, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            for number, begin, end in _fields(data, 0, len(data)):
                if number == 7:  # ModelProto.graph
                    yield from _graph_nodes(data, begin, end, of_node=1)
                elif number == _FUNCTIONS:
                    yield from _graph_nodes(data, begin, end, of_node=7)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path} is not an ONNX file: {error}") from error
    except IndexError as error:
        raise BadInput(f"{path} is not an ONNX file: it is truncated") from error


def _graph_nodes(data: mmap.mmap, begin: int, end: int, of_node: int) -> Iterator[RawNode]:
    for number, first, last in _fields(data, begin, end):
        if number == of_node:
            yield from _node(data, first, last)


def _node(data: mmap.mmap, begin: int, end: int) -> Iterator[RawNode]:
    texts: dict[int, list[str]] = {2: [], 3: [""], 4: [""]}  # output, name, op_type
    metadata: dict[str, str] = {}
    bodies: list[tuple[int, int]] = []
    for number, first, last in _fields(data, begin, end):
        if number in texts:
            texts[number].append(data[first:last].decode("utf-8", "replace"))
        elif number == 9:  # metadata_props
            key, value = _entry(data, first, last)
            metadata[key] = value
        elif number == 5:  # attribute: g, graphs
            bodies += [(a, b) for n, a, b in _fields(data, first, last) if n in (6, 11)]
    yield RawNode(texts[3][-1], texts[4][-1], tuple(texts[2]), metadata)
    for first, last in bodies:
        yield from _graph_nodes(data, first, last, of_node=1)
