"""Collects warnings for the user during the work, each only once."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .errors import HTPWarning

#: Packages whose warnings are about their own internals, which a user cannot change.
_INNER = ("torch", "onnxscript", "onnx_ir", "onnx")
#: Phrases in those of the exporters' many warnings that are about the user's model.
_ABOUT_THE_MODEL = ("might not be accurate", "incorrect results")


class Notices:
    """Warnings of one run."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def warn(self, text: str) -> None:
        if text not in self.texts:
            self.texts.append(text)

    def add(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.warn(text)

    def issue(self, stacklevel: int = 2) -> None:
        """Issues them as Python warnings, attributed to the caller."""
        for text in self.texts:
            warnings.warn(text, HTPWarning, stacklevel=stacklevel + 1)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Within the block, warnings about the user's model are collected and those about PyTorch's internals are
        dropped; all others are issued again at the end."""
        others: list[tuple[Any, type[Warning], str, int]] = []
        fixed: dict[str, dict[str, None]] = {}  # lines of code, by what became constant there

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: Any = None,
            line: Any = None,
        ) -> None:
            text = str(message).strip()
            if category.__name__ == "TracerWarning":
                where = _users_line() or (filename, lineno)
                what = text.partition(". ")[0].partition(" might cause the trace")[0].rstrip(".")
                fixed.setdefault(what, {})[f"{_short(where[0])}:{where[1]}"] = None
            elif serious := [s for s in text.split(". ") if any(p in s for p in _ABOUT_THE_MODEL)]:
                self.warn(f"PyTorch warns: {serious[0].strip().rstrip('.')}")
            elif not _is_inner(filename) and not issubclass(
                category, (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
            ):
                others.append((message, category, filename, lineno))

        try:
            with warnings.catch_warnings(), _silent(_INNER):
                warnings.simplefilter("always")
                warnings.showwarning = show
                yield
        finally:
            for what, lines in fixed.items():
                self.warn(
                    f"{_listed(list(lines))}: {what}: the exported model keeps what the example inputs gave"
                )
            for message, category, file, line in others:
                warnings.warn_explicit(message, category, file, line)


def _listed(places: list[str], most: int = 6) -> str:
    more = f" and {len(places) - most} more" if len(places) > most else ""
    return ", ".join(places[:most]) + more


@contextlib.contextmanager
def _silent(packages: tuple[str, ...]) -> Iterator[None]:
    """Within the block, these packages log nothing, while the user's own code still does."""
    present = [
        logger
        for name, logger in logging.root.manager.loggerDict.items()
        if isinstance(logger, logging.Logger)
        and not logger.disabled
        and name.partition(".")[0] in packages
    ]
    above = [(logger, logger.level) for logger in map(logging.getLogger, packages)]
    for logger in present:
        logger.disabled = True
    for logger, _ in above:  # for loggers that are created later
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger in present:
            logger.disabled = False
        for logger, level in above:
            logger.setLevel(level)


def _short(file: str) -> str:
    """A path relative to the current folder, or to where packages are installed."""
    head, found, tail = file.rpartition("/site-packages/")
    if found:
        return tail
    here = f"{os.getcwd()}/"
    return file.removeprefix(here)


def _is_inner(file: str) -> bool:
    parts = Path(file).parts
    if "site-packages" in parts:
        parts = parts[len(parts) - parts[::-1].index("site-packages") :]
        return bool(parts) and parts[0] in _INNER
    return file.startswith("<") or Path(file).parent == Path(__file__).parent


def _users_line() -> tuple[str, int] | None:
    """The innermost running line outside PyTorch and this package."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        own = Path(file).parent == Path(__file__).parent
        if not own and not _is_inner(file) and not file.endswith("/warnings.py"):
            return file, frame.f_lineno
        frame = frame.f_back
    return None
