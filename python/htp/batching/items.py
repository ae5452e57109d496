"""Work items: which models to tag, and which trace or reference to use for each."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import BadInput
from ..version import __version__

#: Suffixes of files beside a model that are a trace of it, best first.
TRACES = (".trace.json", ".pt2", ".pt")
FILES = ("model", "trace", "reference", "overrides", "policy")
KEYS = (*FILES, "name", "force", "tag_storage")


@dataclass(frozen=True)
class Item:
    """One model and how to tag it; plain data, so that it can be sent to another machine."""

    name: str  # the tagged model's path below the output folder
    model: str
    trace: str | None = None
    reference: str | None = None
    overrides: str | None = None
    policy: str | None = None
    force: bool = False
    tag_storage: str = "metadata"

    @property
    def files(self) -> list[Path]:
        """All files that it reads; external data is assumed to be named after its model."""
        named = [Path(path) for key in FILES if (path := getattr(self, key))]
        data = [Path(f"{path}.data") for path in (self.model, self.reference) if path]
        return named + [path for path in data if path.exists()]

    @property
    def size(self) -> int:
        """The size in bytes of those of its files that exist."""
        return sum(path.stat().st_size for path in self.files if path.exists())

    def key(self) -> str:
        """Changes if the options, the files (judged by size and time, as make does) or HTP's version change."""
        seen: list[Any] = [__version__, asdict(self)]
        for path in self.files:
            status = path.stat() if path.exists() else None
            seen.append([str(path), status and [status.st_size, status.st_mtime_ns]])
        return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Refused:
    """A source that could not become a work item."""

    where: str
    why: str


def find_items(
    sources: Iterable[str | os.PathLike[str]], output: str
) -> tuple[list[Item], list[Refused]]:
    """The items of folders, globs, ONNX files and manifests (JSON lines), in order. Files in the output folder
    are ignored."""
    items: list[Item] = []
    refused: list[Refused] = []
    for source in sources:
        text = os.fspath(source)
        path = Path(text)
        if path.is_dir():
            found = (p for p in path.rglob("*.onnx") if p.is_file())
            items += _of_files(found, path, output)
        elif path.suffix in (".jsonl", ".ndjson"):
            for entry in _manifest(path):
                (items if isinstance(entry, Item) else refused).append(entry)  # type: ignore[arg-type]
        elif glob.has_magic(text):
            matches = [Path(m) for m in glob.glob(text, recursive=True)]
            items += _of_files((p for p in matches if p.is_file()), _fixed_part(text), output)
        elif path.is_file():
            items += _of_files([path], path.parent, output)
        else:
            raise BadInput(
                f"{text}: no such folder, ONNX file, glob or manifest (JSON lines, NAME.jsonl)"
            )
    if not items and not refused:
        raise BadInput(f"no ONNX file in {', '.join(map(str, sources))}")
    return _distinct(items, refused), refused


def _of_files(paths: Iterable[Path], base: Path, output: str) -> Iterator[Item]:
    inside = Path(output).resolve() if "://" not in output else None
    for path in sorted(paths):
        if inside is not None and inside in path.resolve().parents:
            continue
        stem = path.with_suffix("")
        trace = next((f"{stem}{s}" for s in TRACES if Path(f"{stem}{s}").is_file()), None)
        yield Item(path.relative_to(base).as_posix(), str(path), trace)


def _fixed_part(pattern: str) -> Path:
    """The folder that a glob starts from."""
    parts = []
    for part in Path(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        parts.append(part)
    return Path(*parts)


def _manifest(path: Path) -> Iterator[Item | Refused]:
    """The lines of a manifest; paths in it are relative to it. A broken line does not affect the others."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _entry(json.loads(line), path.parent)
        except (ValueError, TypeError) as error:
            yield Refused(f"{path}:{number}", str(error))


def _entry(entry: Any, folder: Path) -> Item:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("model"), str):
        raise ValueError('expected an object with "model", the path of an ONNX file')
    if unknown := [key for key in entry if key not in KEYS]:
        raise ValueError(f"unknown key {unknown[0]!r}, expected one of {', '.join(KEYS)}")
    for key in ("name", *FILES):
        if not isinstance(entry.get(key, ""), str):
            raise ValueError(f"{key!r} must be a string, found {entry[key]!r}")
    if not isinstance(entry.get("force", False), bool):
        raise ValueError(f"'force' must be true or false, found {entry['force']!r}")
    if entry.get("tag_storage", "metadata") not in ("metadata", "attribute", "none"):
        raise ValueError(
            f"'tag_storage' must be metadata, attribute or none, found {entry['tag_storage']!r}"
        )
    paths: dict[str, Any] = {key: str(folder / entry[key]) for key in FILES if key in entry}
    name = PurePosixPath(entry.get("name", _name_of(entry["model"])))
    if name.is_absolute() or ".." in name.parts:
        raise ValueError(f"'name' must stay below the output folder, found {str(name)!r}")
    rest = {key: entry[key] for key in ("force", "tag_storage") if key in entry}
    return Item(str(name if name.suffix == ".onnx" else f"{name}.onnx"), **paths, **rest)


def _name_of(model: str) -> str:
    path = PurePosixPath(Path(model).as_posix())
    return path.name if path.is_absolute() or ".." in path.parts else str(path)


def _distinct(items: list[Item], refused: list[Refused]) -> list[Item]:
    """Refuses items whose output is that of an earlier one."""
    first: dict[str, Item] = {}
    for item in items:
        other = first.setdefault(item.name, item)
        if other is not item and other != item:
            refused.append(
                Refused(
                    item.model,
                    f"its output {item.name} is also that of {other.model}: give it a name",
                )
            )
    return list(first.values())
