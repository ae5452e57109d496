"""A cache of compiled programs, keyed by their source, so that a layer is compiled once for all models.

The key is the digest of the program's text without locations, with the compiler's version and flags.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from ..errors import BadInput


def default_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "htp" / "iree"


class Cache:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"cannot use {folder} as a cache: {error.strerror}") from error

    @staticmethod
    def key(digest: str, identity: str) -> str:
        return hashlib.sha256(f"{digest}\n{identity}".encode()).hexdigest()

    def get(self, key: str, target: Path) -> bool:
        """Copies a cached program to `target`. Returns whether there is one."""
        try:
            shutil.copyfile(self._place(key), target)
        except OSError:
            return False
        return True

    def put(self, key: str, source: Path) -> None:
        """Adds a program. Concurrent processes see the complete file or none."""
        handle, part = tempfile.mkstemp(dir=self.folder, prefix=".part-")
        os.close(handle)
        try:
            shutil.copyfile(source, part)
            os.replace(part, self._place(key))
        except OSError:  # a full disk must not fail the compilation
            Path(part).unlink(missing_ok=True)

    def _place(self, key: str) -> Path:
        return self.folder / f"{key}.vmfb"
