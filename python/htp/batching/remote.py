"""Runs work items on a Ray cluster: Ray schedules them, and retries items whose worker was lost."""

from __future__ import annotations

import re
import socket
import warnings
from collections.abc import Iterator
from typing import Any

from ..errors import BadInput, HTPError, MissingPackage
from .items import Item
from .store import Store
from .work import DiskFull, do_item

#: How often an item is retried after its worker or its machine was lost.
RETRIES = 3
#: How many items per processor are handed to Ray at once; a model zoo is not queued as a whole.
_AHEAD = 4


def run_on_ray(
    items: list[Item], place: str, address: str, notes: list[str]
) -> Iterator[dict[str, Any]]:
    """Yields the records of items as they finish. Each is written by the worker that made it; a retried item
    replaces only its own files."""
    ray = _ray()
    connected = _connect(ray, address)
    try:
        from .running import need_of

        work = ray.remote(max_retries=RETRIES, num_cpus=1)(do_item)
        ahead = max(2, int(_AHEAD * ray.cluster_resources().get("CPU", 1)))
        most = max((node["Resources"].get("memory", 0) for node in ray.nodes()), default=0)
        todo = iter(items)
        running: dict[Any, Item] = {}
        while True:
            while len(running) < ahead and (item := next(todo, None)):
                need = min(need_of(item), int(most)) if most else None
                running[work.options(memory=need).remote(item, place)] = item
            if not running:
                return
            ended, _ = ray.wait(list(running))
            for reference in ended:
                yield _record(ray, reference, running.pop(reference), place)
    finally:
        if connected:
            ray.shutdown()


def _record(ray: Any, reference: Any, item: Item, place: str) -> dict[str, Any]:
    try:
        record: dict[str, Any] = ray.get(reference)
        return record
    except ray.exceptions.RayTaskError as error:
        cause = error.cause if isinstance(getattr(error, "cause", None), Exception) else error
        if isinstance(cause, DiskFull):
            raise DiskFull(str(cause)) from error
        reason = f"{type(cause).__name__}: {cause}".splitlines()[0]
    except ray.exceptions.RayError as error:
        reason = (
            f"the worker was lost {RETRIES + 1} times ({str(error).splitlines()[0].strip()}): "
            "does it need more memory than a machine has?"
        )
    record = {"name": item.name, "key": "", "status": "failed", "figures": {}, "warnings": []}
    record |= {"error": reason, "files": {}, "seconds": 0.0}
    Store(place).write_record(item.name, record)
    return record


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingPackage("ray", "htp batch --ray", "ray") from None
    return ray


def _knock(address: str) -> None:
    """Raises if nothing listens at the address; Ray itself would keep trying for minutes."""
    found = re.fullmatch(r"(?:ray://)?\[?([^/\]]+)\]?:(\d+)", address)
    if not found:
        return  # auto, local: Ray reports these immediately
    try:
        socket.create_connection((found[1], int(found[2])), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise BadInput(f"no Ray cluster at {address!r}: {error}") from error


def _connect(ray: Any, address: str) -> bool:
    """Connects unless the process is already connected. Returns whether it did."""
    if ray.is_initialized():
        return False
    _knock(address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except HTPError:
        raise
    except (
        Exception
    ) as error:  # ConnectionError, ValueError or RuntimeError, depending on the form of the address
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise BadInput(f"no Ray cluster at {address!r}: {first}") from error
    return True
