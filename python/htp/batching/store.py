"""Where results go: a folder, or any place that fsspec supports (s3://bucket/…)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from ..errors import BadInput, MissingPackage


class Store:
    """Files below one place, addressed by name. Files are written completely or not at all."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.is_remote = "://" in place
        if self.is_remote:
            try:
                import fsspec
            except ImportError:
                raise MissingPackage("fsspec", f"writing to {place}", "ray") from None
            try:
                self._files, self._root = fsspec.core.url_to_fs(place)
            except (ValueError, ImportError) as error:
                raise BadInput(f"cannot write to {place}: {error}") from error
        else:
            try:
                Path(place).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise BadInput(f"cannot write to {place}: {error.strerror}") from error
            if not os.access(place, os.W_OK | os.X_OK):
                raise BadInput(f"cannot write to {place}: permission denied")

    def path(self, name: str) -> Path:
        """The path of a file in a local store; creates the folders that it needs."""
        path = Path(self.place) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def size(self, name: str) -> int | None:
        """The size of a file in bytes; None if it does not exist."""
        try:
            if self.is_remote:
                return int(self._files.info(f"{self._root}/{name}")["size"])
            return (Path(self.place) / name).stat().st_size
        except FileNotFoundError:
            return None

    def read(self, name: str) -> bytes | None:
        try:
            if self.is_remote:
                data: bytes = self._files.cat_file(f"{self._root}/{name}")
                return data
            return (Path(self.place) / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        if self.is_remote:
            self._make_parent(name)
            self._files.pipe_file(f"{self._root}/{name}", data)
            return
        target = self.path(name)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            part.write_bytes(data)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def put(self, file: Path, name: str) -> None:
        """Moves a file into the store (copies it if the store is remote)."""
        if self.is_remote:
            self._make_parent(name)
            self._files.put_file(str(file), f"{self._root}/{name}")
        else:
            shutil.move(file, self.path(name))

    def _make_parent(self, name: str) -> None:
        self._files.makedirs(f"{self._root}/{name}".rpartition("/")[0], exist_ok=True)

    # Records: the result of each item.

    def record(self, name: str) -> dict[str, Any] | None:
        data = self.read(f"records/{name}.json")
        try:
            found = json.loads(data) if data else None
        except ValueError:  # truncated by a full disk
            return None
        return found if isinstance(found, dict) else None

    def write_record(self, name: str, record: dict[str, Any]) -> None:
        text = json.dumps(record, indent=1, ensure_ascii=False)
        self.write(f"records/{name}.json", f"{text}\n".encode())
