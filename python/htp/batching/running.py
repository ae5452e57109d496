"""Runs work items: decides which are due and how many run at once, reports progress, and writes the tables."""

from __future__ import annotations

import concurrent.futures
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import BadInput, HTPError
from . import table
from .items import Item, Refused, find_items
from .store import Store
from .work import DiskFull, do_item

#: Estimated memory of a native process: a base, 1.5 times the size of its files (measured: 1.25 for a model that
#: is all weights), and for the graph 28 times the size of trace.json (26,000 nodes: 7 MB, 198 MB in all).
_BASE, _FILES, _GRAPH = 64 << 20, 1.5, 28
#: Without a trace.json, it is unknown how much of a model is weights; at most this many bytes count as graph.
_MOST_GRAPH = 16 << 20
#: Called after each item with: items done, items in total, failures, estimated seconds left.
Progress = Callable[[int, int, int, float], None]
Record = dict[str, Any]


@dataclass
class Batch:
    """The result of a batch."""

    output: str
    records: list[Record]  # of all models, in the order of the sources
    done: int = 0  # in this run
    skipped: int = 0  # finished earlier and unchanged
    refused: list[Refused] = field(default_factory=list)
    files: list[str] = field(default_factory=list)  # tables and the index
    notes: list[str] = field(default_factory=list)
    stopped: str = ""  # why some were not attempted

    @property
    def failures(self) -> list[Record]:
        return [record for record in self.records if record["status"] != "ok"]

    @property
    def ok(self) -> bool:
        return not self.failures and not self.refused and not self.stopped


def batch(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    memory: int | None = None,
    ray: str | None = None,
    fresh: bool = False,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Batch:
    """Tags many models: folders, globs, or manifests of JSON lines, into `output`.

    A model NAME.onnx is tagged with NAME.trace.json, NAME.pt2 or NAME.pt beside it; a manifest names the files
    for each model: {"model": …, "trace": …, "reference": …}. Beside the tagged models, `output` receives
    records (one per model), table.csv, table.parquet if pyarrow is installed, and index.html.

    At most `jobs` models are processed at once (default: number of processors), and only as many as fit into
    `memory` bytes (default: half of the free memory). With `ray`, the address of a cluster, they are processed
    there; `output` must then be a place that all machines can reach, a folder or a URL that fsspec supports.
    Finished models that have not changed are skipped, unless `fresh` is set; failed ones are retried. One
    failure does not stop the other models.
    """
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    place = os.fspath(output)
    items, refused = find_items(list(sources), place)
    if options:
        items = [_with(item, options) for item in items]
    store = Store(place)
    known = {} if fresh else _known(items, store)
    todo = [item for item in items if item.name not in known]
    result = Batch(place, [], skipped=len(known), refused=refused)
    records = dict(known)
    try:
        if ray is not None:
            from .remote import run_on_ray

            running = run_on_ray(todo, place, ray, result.notes)
        else:
            running = _run_here(
                todo, place, jobs or os.cpu_count() or 1, memory or _half_of_memory()
            )
        begin = time.monotonic()
        for record in running:
            records[record["name"]] = record
            result.done += 1
            if progress:
                spent = time.monotonic() - begin
                left = spent / result.done * (len(todo) - result.done)
                failed = sum(r["status"] != "ok" for r in records.values())
                progress(result.done, len(todo), failed, left)
    except DiskFull as error:
        result.stopped = str(error)
    finally:
        result.records = [records[item.name] for item in items if item.name in records]
        _write_tables(result, store, items)
    return result


def _with(item: Item, options: Mapping[str, Any]) -> Item:
    """An item with the options of the whole batch, except those it sets itself."""
    import dataclasses

    own = {key: value for key, value in options.items() if value and not getattr(item, key)}
    return dataclasses.replace(item, **own)


def _known(items: list[Item], store: Store) -> dict[str, Record]:
    """The records of finished items: they succeeded, nothing has changed, and their files exist."""
    known = {}
    for item in items:
        record = store.record(item.name)
        if (
            record
            and record.get("status") == "ok"
            and record.get("key") == item.key()
            and all(store.size(name) == size for name, size in record["files"].items())
        ):
            known[item.name] = record
    return known


def _write_tables(result: Batch, store: Store, items: list[Item]) -> None:
    """Writes the tables. A full disk must not hide the results."""
    try:
        result.files = table.write(result.records, result.refused, items, store, result.notes)
    except OSError as error:
        result.stopped = result.stopped or f"the table could not be written: {error.strerror}"


# --- on this machine -----------------------------------------------------------------------------


class _Room:
    """Memory that items share. An item that needs more than the total runs alone."""

    def __init__(self, most: int) -> None:
        self.most, self.used, self.holders = most, 0, 0
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, size: int) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self.holders or self.used + size <= self.most)
            self.used += size
            self.holders += 1
        try:
            yield
        finally:
            with self._changed:
                self.used -= size
                self.holders -= 1
                self._changed.notify_all()


def _half_of_memory() -> int:
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2 or _BASE


def need_of(item: Item) -> int:
    """Roughly how many bytes of memory an item needs."""
    try:
        traced = item.trace and item.trace.endswith(".json")
        graph = os.stat(item.trace if traced and item.trace else item.model).st_size
    except OSError:
        return _BASE  # the item will fail immediately
    return int(_BASE + _FILES * item.size + _GRAPH * (graph if traced else min(graph, _MOST_GRAPH)))


def _run_here(items: list[Item], place: str, jobs: int, memory: int) -> Iterator[Record]:
    """Yields the records of items as they finish. Threads suffice: native processes do the work."""
    if jobs < 1:
        raise BadInput(f"jobs is {jobs}, expected 1 or more")
    room, stopping = _Room(memory), threading.Event()

    def do(item: Item) -> Record | None:
        with room.taken(need_of(item)):
            return None if stopping.is_set() else do_item(item, place)

    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    try:
        waiting = {pool.submit(do, item) for item in items}
        full: HTPError | None = None
        while waiting:
            ended, waiting = concurrent.futures.wait(
                waiting, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in ended:
                try:
                    if record := future.result():
                        yield record
                except DiskFull as error:
                    full = error
                    stopping.set()
        if full:
            raise full
    finally:
        stopping.set()
        pool.shutdown(cancel_futures=True)
