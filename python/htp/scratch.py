"""Folders for files that are being made. A run that is killed cannot remove its folder; the next run does.

A folder is locked for as long as the process that made it lives, so a folder that can be locked is a leftover. The
lock is a file in the folder and is removed with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

_LOCK = ".htp-lock"
#: What tempfile.mkdtemp adds to a prefix.
_SUFFIX = re.compile("[a-z0-9_]{8}")


class Scratch:
    """A folder that is removed at the end of the block, or with the object.

    with Scratch("htp-scratch-") as folder:
        write(folder / "model.onnx")
    """

    def __init__(self, prefix: str, beside: Path | None = None) -> None:
        parent = Path(beside or tempfile.gettempdir())
        _remove_leftovers(parent, prefix)
        self.path, lock = _make(parent, prefix)
        self._finalizer = weakref.finalize(self, _remove, self.path, lock)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def remove(self) -> None:
        self._finalizer()

    def files(self) -> Iterator[Path]:
        """The files made in the folder, sorted by name."""
        return (f for f in sorted(self.path.iterdir()) if f.is_file() and f.name != _LOCK)


def _make(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new folder and its lock. If a run that removes leftovers deletes it before it is locked, tries again."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        if _locked(lock) is not False and os.fstat(lock).st_nlink:
            return folder, lock
        os.close(lock)


def _locked(handle: int) -> bool | None:
    """Whether this process got the lock; None if the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove(folder: Path, lock: int) -> None:
    """Removes a folder. The lock is released last, so that no other run removes the same folder."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.close(lock)


def _remove_leftovers(parent: Path, prefix: str) -> None:
    """Removes folders with this prefix that killed runs left in `parent`: those that can be locked."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and _SUFFIX.fullmatch(entry.name[len(prefix) :]):
                with contextlib.suppress(OSError):
                    _remove_if_free(Path(entry.path))


def _remove_if_free(folder: Path) -> None:
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        folder.rmdir()  # only if it is empty: its process was killed before it made the lock
        return
    if _locked(handle):
        _remove(folder, handle)
    else:
        os.close(handle)
