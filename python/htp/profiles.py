"""Reads profiles (how long each node ran) from ONNX Runtime's JSON, OpenVINO's files, or a CSV from any other engine."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from . import openvino_profiles
from .errors import BadInput
from .kernel_times import Kernel, Times, microseconds

_SUFFIX = "_kernel_time"


def read_times(path: str | os.PathLike[str], warmup: int = 0, *, calm: bool = False) -> Times:
    """Reads a profile of ONNX Runtime or OpenVINO, or a CSV of `name,microseconds`. For ONNX Runtime, the first
    `warmup` runs are left out, and with `calm` also the slower half of the others: if all runs do the same work, it
    was disturbed."""
    file = Path(path)
    try:
        text = file.read_bytes().decode("utf-8-sig", errors="surrogateescape")
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from error
    if text.lstrip().startswith(("[", "{")):
        return _of_onnxruntime(text, file, warmup, calm)
    if warmup:
        raise BadInput(f"{file} does not separate runs: none can be left out as warm-up")
    if text.lstrip().startswith("<"):
        return openvino_profiles.of_graph(text, file)
    if openvino_profiles.is_report(text):
        return openvino_profiles.of_report(text, file)
    return _of_csv(text, file)


def _of_onnxruntime(text: str, file: Path, warmup: int, calm: bool) -> Times:
    try:
        events = json.loads(text)
    except ValueError:  # a program that ended early leaves the array unterminated
        try:
            events = json.loads(text.rstrip().rstrip(",") + "]")
        except ValueError as error:
            raise BadInput(f"{file} is not a profile: {error}") from error
    if isinstance(events, dict):
        events = events.get("traceEvents")
    if not isinstance(events, list):
        raise BadInput(f"{file} is not a profile of ONNX Runtime: it has no list of events")
    try:
        return times_of(events, warmup, str(file), calm=calm)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadInput(f"{file} is not a profile of ONNX Runtime: {error!r}") from error


def times_of(
    events: Iterable[dict[str, Any]], warmup: int, source: str, *, calm: bool = False
) -> Times:
    """The times of the nodes in ONNX Runtime's events, without the warm-up runs."""
    complete = [e for e in events if isinstance(e, dict) and e.get("ph") == "X"]
    runs = sorted(
        (e for e in complete if e.get("cat") == "Session" and e["name"] == "model_run"),
        key=lambda event: event["ts"],
    )
    nodes = [e for e in complete if e.get("cat") == "Node" and str(e["name"]).endswith(_SUFFIX)]
    if not nodes:
        raise BadInput(f"{source} has no times of nodes")
    if runs and len(runs) <= warmup:
        raise BadInput(f"{source} has only {len(runs)} runs, of which {warmup} are for warm-up")
    spans = [(run["ts"], run["ts"] + run["dur"]) for run in runs[warmup:]]
    if not runs:  # the program ended early: everything counts as one run
        spans = [(float("-inf"), float("inf"))]
    placed = [
        (event, spent, run)
        for event, spent in _own_times(nodes)
        if (run := _run_of(event["ts"], spans)) is not None
    ]
    of_runs = [0.0] * len(spans)
    for _, spent, run in placed:
        of_runs[run] += spent
    fastest = sorted(range(len(spans)), key=lambda run: of_runs[run])
    kept = set(fastest[: (len(spans) + 1) // 2] if calm else fastest)
    result = Times([], len(kept), run_microseconds=of_runs, engine="ONNX Runtime")
    if runs:
        result.model_microseconds = float(sum(spans[run][1] - spans[run][0] for run in kept))
    _add_kernels(result, (item for item in placed if item[2] in kept))
    if not result.kernels:
        raise BadInput(f"{source} has no times of nodes within its runs")
    return result


def _add_kernels(result: Times, placed: Iterable[tuple[dict[str, Any], float, int]]) -> None:
    kernels: dict[tuple[str, str, str], Kernel] = {}
    for event, spent, _ in placed:
        name, args = event["name"].removesuffix(_SUFFIX), event.get("args", {})
        key = (name, str(args.get("op_name", "")), str(args.get("node_index", "")))
        kernel = kernels.get(key)
        if kernel is None:
            kernel = kernels[key] = Kernel(*key, str(args.get("provider", "")))
            result.kernels.append(kernel)
        kernel.microseconds += spent
        kernel.executions += 1


def _run_of(time: float, runs: list[tuple[float, float]]) -> int | None:
    """The run that contains a time; runs do not overlap and are in order."""
    low, high = 0, len(runs)
    while low < high:
        middle = (low + high) // 2
        if runs[middle][1] < time:
            low = middle + 1
        else:
            high = middle
    return low if low < len(runs) and runs[low][0] <= time else None


def _own_times(events: list[dict[str, Any]]) -> list[tuple[dict[str, Any], float]]:
    """Each event with its own time, without that of nodes in its subgraphs: the time of an If includes its
    branch, which must not count twice."""
    order = sorted(events, key=lambda e: (e["ts"], -e["dur"]))
    own = [float(event["dur"]) for event in order]
    open_: dict[Any, list[int]] = {}  # of each thread, events that have not ended yet
    for i, event in enumerate(order):
        stack = open_.setdefault(event.get("tid"), [])
        while stack and order[stack[-1]]["ts"] + order[stack[-1]]["dur"] <= event["ts"]:
            stack.pop()
        if stack:
            own[stack[-1]] = max(0.0, own[stack[-1]] - event["dur"])
        stack.append(i)
    return list(zip(order, own))


def _of_csv(text: str, file: Path) -> Times:
    kernels: dict[str, Kernel] = {}
    for line, row in _rows(text, file):
        where = f"{file}, line {line}"
        if len(row) != 2:
            hint = "; put names with a comma in quotes" if len(row) > 2 else ""
            raise BadInput(f"{where}: expected name,microseconds, found {','.join(row)!r}{hint}")
        name, spent = row[0].strip(), row[1].strip()
        if line == 1 and spent and not any(letter.isdigit() for letter in spent):
            if spent.lower().lstrip("+-") not in ("nan", "inf", "infinity"):
                continue  # a heading
        if not name:
            raise BadInput(f"{where}: {spent!r} has no name")
        kernel = kernels.setdefault(name, Kernel(name))
        kernel.microseconds += microseconds(spent, where)
        kernel.executions += 1
    if not kernels:
        raise BadInput(f"{file} has no times: expected lines of name,microseconds")
    return Times(list(kernels.values()), 1)


def _rows(text: str, file: Path) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not empty, with their numbers."""
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        for row in rows:
            if any(cell.strip() for cell in row):
                yield rows.line_num, row
    except csv.Error as error:
        raise BadInput(f"{file}, line {rows.line_num}: {error}") from error
