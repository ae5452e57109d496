"""Output files: written all or not at all, and checked to be writable before any work starts."""

from __future__ import annotations

import contextlib
import filecmp
import mmap
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from .errors import BadInput, HTPError
from .scratch import Scratch


@dataclass
class Written:
    """A JSON document that was written."""

    path: Path
    document: Mapping[str, Any]
    warnings: list[str] = field(default_factory=list)
    replaced: list[Path] = field(default_factory=list)


def check_writable(path: Path) -> None:
    """Raises if `path` cannot be written."""
    folder = path.parent
    if path.is_dir():
        raise BadInput(f"cannot write {path}: it is a folder")
    if not folder.is_dir():
        raise BadInput(f"cannot write {path}: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise BadInput(f"cannot write {path}: permission denied")


def name_for_data(model: Path) -> str:
    """A name for a model such that its data file (NAME.data) replaces none that another model needs."""
    name, count = model.name, 1
    while not _is_free(model.with_name(f"{name}.data"), model):
        count += 1
        name = f"{model.stem}-{count}{model.suffix}"
    return name


def _is_free(data: Path, model: Path) -> bool:
    """Whether a data file may be written: it does not exist, or only the model that is replaced with it
    refers to it."""
    if not data.exists():
        return True
    users = [f for f in data.parent.glob("*.onnx") if f.is_file() and _mentions(f, data.name)]
    return users == [model]


def _mentions(model: Path, name: str) -> bool:
    if not model.stat().st_size:
        return False
    with open(model, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return text.find(os.fsencode(name)) >= 0


class Outputs:
    """Files that appear together if the block succeeds, and not at all if it fails.

    with Outputs(a, b) as outputs:
        write(outputs[a]); write(outputs[b])

    They are written in a folder beside the first of them, so that moving them is a rename.
    """

    def __init__(self, *targets: Path) -> None:
        self.targets = list(targets)
        self.replaced: list[Path] = []  # files that were there before, once the block has ended
        for target in targets:
            check_writable(target)
        self._scratch: Scratch | None = None

    @property
    def folder(self) -> Path:
        assert self._scratch is not None, "used outside its with block"
        return self._scratch.path

    def __enter__(self) -> Outputs:
        first = self.targets[0]
        self._scratch = Scratch(f".{first.name}.", first.parent)
        return self

    def __getitem__(self, target: Path) -> Path:
        if target not in self.targets:
            raise KeyError(target)
        return self.folder / target.name

    def add(self, *targets: Path) -> None:
        """More files to move at the end."""
        for target in targets:
            check_writable(target)
            self.targets.append(target)

    def add_data(self, *other: Path) -> None:
        """Also moves everything else that was written beside the first file, such as a model's external data,
        except `other` files and data that already exists with the same contents."""
        assert self._scratch is not None, "used outside its with block"
        known = {target.name for target in self.targets} | {path.name for path in other}
        for made in self._scratch.files():
            if made.name in known:
                continue
            target = self.targets[0].with_name(made.name)
            if not target.exists():
                self.add(target)
            elif not made.samefile(target) and not filecmp.cmp(made, target, shallow=False):
                raise BadInput(
                    f"cannot write {target}, the model's data: a different file of that name exists"
                )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                first = self.targets[0]
                if not (self.folder / first.name).exists():
                    raise HTPError(f"{first} was not written")
                for target in self.targets:
                    if (made := self.folder / target.name).exists():
                        if target.exists():
                            self.replaced.append(target)
                        self._move(made, target)
        finally:
            assert self._scratch is not None
            self._scratch.remove()

    @staticmethod
    def _move(made: Path, target: Path) -> None:
        try:
            os.replace(made, target)
        except (
            OSError
        ):  # another file system: copy beside it first, so that no partial file is visible
            part = target.with_name(f".{target.name}.part")
            try:
                shutil.copyfile(made, part)
                os.replace(part, target)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    part.unlink()
