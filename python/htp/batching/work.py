"""Processes one work item: tags a model and leaves a record of the result. Runs on any machine."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import BadInput, HTPError
from ..holding import existing, held_trace
from ..native import Running, program_for, quoted, warnings_in
from ..scratch import Scratch
from ..tagging import storage_options, tag_option
from .items import Item
from .store import Store

#: The statistics of a model that the table shows.
FIGURES = (
    "nodes",
    "modules",
    "initializers",
    "constants",
    "coverage",
    "placed_share",
    "confidence",
    "shared",
    "contested",
    "contaminated",
)


class DiskFull(HTPError):
    """The disk is full: all other items would fail as well."""


def do_item(item: Item, place: str) -> dict[str, Any]:
    """Tags one model into a store. Its record is written last, so it means that all files are there."""
    store, begin = Store(place), time.perf_counter()
    record: dict[str, Any] = {"name": item.name, "key": "", "status": "ok", "figures": {}}
    record |= {"warnings": [], "error": "", "files": {}}
    try:
        record["key"] = item.key()
        _tag(item, store, record)
    except HTPError as error:
        record |= {"status": "failed", "error": str(error), "files": {}}
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(_full(store)) from error
        record |= {"status": "failed", "error": str(error), "files": {}}
    except Exception as error:  # one model must not stop the others
        record |= {"status": "failed", "error": f"{type(error).__name__}: {error}", "files": {}}
    if "No space left on device" in record["error"]:
        raise DiskFull(_full(store))
    record["seconds"] = round(time.perf_counter() - begin, 3)
    try:
        store.write_record(item.name, record)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(_full(store)) from error
        raise
    return record


def _full(store: Store) -> str:
    return f"no space left in {store.place}"


@contextlib.contextmanager
def _work_folder(item: Item, store: Store) -> Iterator[Path]:
    """A folder beside the target, if that is local, so that moving the result is a rename. Leftovers of a
    killed worker for the same item are removed with it."""
    if store.is_remote:
        with Scratch("htp-scratch-") as folder:
            yield folder
        return
    beside = store.path(item.name).parent
    prefix = f".htp-{hashlib.sha256(item.name.encode()).hexdigest()[:12]}-"
    try:
        yield Path(tempfile.mkdtemp(prefix=prefix, dir=beside))
    finally:
        for left in beside.glob(f"{prefix}*"):
            shutil.rmtree(left, ignore_errors=True)


def _tag(item: Item, store: Store, record: dict[str, Any]) -> None:
    with _work_folder(item, store) as folder, held_trace(item.trace) as trace:
        target = folder / Path(item.name).name
        options = [f"trace={quoted(trace)}"] if trace else []
        for key in ("reference", "overrides", "policy"):
            if path := getattr(item, key):
                options.append(f"{key}={quoted(existing(path))}")
        if item.force:
            options.append("force")
        model = existing(item.model)
        running = Running(
            program_for(model),
            [
                model,
                tag_option(options),
                *storage_options(item.tag_storage),  # type: ignore[arg-type]
                f"--exit-with-parent={os.getpid()}",
                f"--module-metadata={folder / 'statistics.json'}",
                "-o",
                target,
            ],
        )
        running.wait()
        record["warnings"] = warnings_in(running.warnings)
        record["figures"] = _figures(folder / "statistics.json")
        (folder / "statistics.json").unlink()
        _put_all(item, folder, store, record["files"])


def _put_all(item: Item, folder: Path, store: Store, files: dict[str, int]) -> None:
    """Moves the model and its external data into the store, the model last."""
    place = item.name.rpartition("/")[0]
    before = (store.record(item.name) or {}).get("files", {})
    made = {f"{place}/{path.name}" if place else path.name: path for path in folder.iterdir()}
    for name in sorted(made, key=lambda name: (name == item.name, name)):
        size = made[name].stat().st_size
        if name != item.name and name not in before and store.size(name) not in (None, size):
            raise BadInput(f"{name}, the model's data, would replace that of another model")
        store.put(made[name], name)
        files[name] = size


def _figures(file: Path) -> dict[str, Any]:
    from ..model import read_metadata

    statistics = read_metadata(file)["statistics"]
    figures = {name: statistics[name] for name in FIGURES}
    for fit in statistics.get("fit", ()):
        figures |= {"source": fit["source"], "verdict": fit["verdict"]}
    return figures
