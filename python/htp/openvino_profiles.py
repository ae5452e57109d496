"""Reads OpenVINO's profiles: the graph that it executed, with times (XML), or benchmark_app's report of counters.

`ov.serialize(compiled.get_runtime_model(), "executed.xml")` and `benchmark_app -pc -exec_graph_path` write the graph.
It says which nodes were fused and who takes the results of nodes that OpenVINO added; the report has only names.
"""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

from .errors import BadInput
from .kernel_times import Kernel, Times, microseconds

ENGINE = "OpenVINO"
_HEADING = "layerName;"
_COLUMNS = ("layerName", "execStatus", "layerType", "realTime (ms)")


def of_graph(text: str, file: Path) -> Times:
    """Reads the executed graph. OpenVINO's times in it are means over all runs."""
    try:
        root = ElementTree.fromstring(text.encode("utf-8", errors="surrogateescape"))
    except (ElementTree.ParseError, ValueError) as error:
        raise BadInput(f"{file} is not a profile: {error}") from error
    layers: dict[str, Kernel] = {}
    executed: list[tuple[float, Kernel]] = []
    for layer in root.iterfind("./layers/layer"):
        name, data = layer.get("name", ""), layer.find("data")
        said = data.attrib if data is not None else {}
        parts = tuple(part for part in said.get("originalLayersNames", "").split(",") if part)
        kernel = Kernel(name, layer.get("type", ""), parts=parts, added=not parts)
        layers[layer.get("id", "")] = kernel
        spent = said.get("execTimeMcs", "not_executed")
        if spent != "not_executed":
            where = f"{file}, layer {name!r}"
            kernel.microseconds, kernel.executions = microseconds(spent, where), 1
            order = said.get("execOrder", "0")
            executed.append((microseconds(order, f"{where}, execOrder"), kernel))
    for edge in root.iterfind("./edges/edge"):
        source, user = (layers.get(edge.get(key, "")) for key in ("from-layer", "to-layer"))
        if source is None or user is None:
            raise BadInput(f"{file} is incomplete: an edge refers to a layer that does not exist")
        source.users.append(user)
        user.sources.append(source)
    constant = _constant(list(layers.values()))
    kernels = [k for _, k in sorted(executed, key=lambda item: item[0]) if k not in constant]
    if not kernels:
        raise BadInput(
            f"{file} has no times: expected the executed graph of a model that was compiled with PERF_COUNT "
            "and run"
        )
    return Times(kernels, 1, engine=ENGINE)


def _constant(layers: list[Kernel]) -> set[Kernel]:
    """The layers computed from weights alone. OpenVINO runs them when it loads a model, not in every run."""
    missing = {layer: len(layer.sources) for layer in layers}
    pending = [layer for layer in layers if layer.op_type == "Const"]
    found = set(pending)
    while pending:
        for user in pending.pop().users:
            missing[user] -= 1
            if missing[user] == 0 and user not in found:
                found.add(user)
                pending.append(user)
    return found


def is_report(text: str) -> bool:
    return text.lstrip().startswith(_HEADING)


def of_report(text: str, file: Path) -> Times:
    """Reads benchmark_app's report of counters: a table for every request, each with a line for its total."""
    kernels: dict[tuple[str, str], Kernel] = {}
    columns: dict[str, int] = {}
    tables = 0
    rows = csv.reader(text.splitlines(), delimiter=";", quoting=csv.QUOTE_NONE)
    for row in rows:
        where = f"{file}, line {rows.line_num}"
        if not any(cell.strip() for cell in row):
            continue
        if row[0] == _HEADING.rstrip(";"):
            columns = {name.strip(): place for place, name in enumerate(row)}
            if lacking := [name for name in _COLUMNS if name not in columns]:
                raise BadInput(f"{where}: the report has no column {lacking[0]!r}")
            tables += 1
            continue
        if len(row) <= max(columns[name] for name in _COLUMNS):
            raise BadInput(f"{where}: expected {len(columns)} columns, found {';'.join(row)!r}")
        name, status, kind, spent = (row[columns[column]] for column in _COLUMNS)
        taken = microseconds(spent, where, "milliseconds")
        if not status.upper().endswith("EXECUTED"):
            continue  # optimized out, or the line of the total
        kernel = kernels.setdefault((name, kind), Kernel(name, kind, added=kind == "Reorder"))
        kernel.microseconds += taken
        kernel.executions += 1
    if not kernels:
        raise BadInput(f"{file} has no times: no layer was executed")
    return Times(list(kernels.values()), tables, engine=ENGINE)
