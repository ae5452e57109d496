"""Writes figures of nodes for Model Explorer (ai-edge-model-explorer) in its per-node data format, a file per figure.

Model Explorer finds nodes by their names in the ONNX file and adds up the values of a layer's nodes. So a module's own
time is spread evenly over its nodes, and the sum that is shown is the module's time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Optional

from . import tagging
from .errors import BadInput
from .files import Outputs
from .model import TaggedModel
from .onnxfile import is_mlir
from .records import Node
from .selecting import names_in_file
from .viewing import read_diff, read_times

_GRADIENT = [
    {"stop": 0, "bgColor": "#dfe7ee"},
    {"stop": 0.5, "bgColor": "#f2d7a8"},
    {"stop": 1, "bgColor": "#b64a43"},
]


def write_node_data(
    model: TaggedModel,
    prefix: tagging.StrPath,
    *,
    profile: tagging.StrPath | None = None,
    diff: tagging.StrPath | None = None,
) -> tuple[list[Path], list[Path], int]:
    """Writes PREFIX.confidence.json, PREFIX.multiply_adds.json, and time and error if they are given.

    Returns the files, those among them that were replaced, and the number of nodes without a name in the file, which
    Model Explorer cannot find.
    """
    if model.path.suffix == ".json" or is_mlir(model.path):
        raise BadInput(
            f"{model.path} is not an ONNX file: Model Explorer finds nodes by their names in that"
        )
    names = names_in_file(model, model.path)
    nodes = [node for node in model.nodes.values() if not node.is_constant]
    named = {names[node.name]: node for node in nodes if names[node.name]}
    files = {
        Path(f"{prefix}.{key}.json"): _data(title, named, value)
        for key, (title, value) in _figures(model, profile, diff).items()
    }
    with Outputs(*files) as outputs:
        for target, data in files.items():
            outputs[target].write_text(json.dumps(data), encoding="utf-8")
    return list(files), outputs.replaced, len(nodes) - len(named)


_Value = Callable[[Node], Optional[float]]


def _figures(
    model: TaggedModel, profile: tagging.StrPath | None, diff: tagging.StrPath | None
) -> dict[str, tuple[str, _Value]]:
    places = {path: index for index, path in enumerate(model.modules)}
    found: dict[str, tuple[str, _Value]] = {
        "confidence": ("confidence of the tag", lambda node: node.confidence),
        "multiply_adds": ("multiply-adds", lambda n: model.figures.nodes[n.name].multiply_adds),
    }
    if profile:
        times = read_times(profile, places, model)["self"]
        own = {path: max(1, module.own_nodes) for path, module in model.modules.items()}

        def time_of(node: Node) -> float | None:
            if node.scope is None or times[places[node.scope]] is None:
                return None
            return float(times[places[node.scope]]) / own[node.scope]

        found["time"] = ("time in µs, a module's own time spread over its nodes", time_of)
    if diff:
        errors = read_diff(diff, places, model)["relative"]
        found["error"] = (
            "relative error of the module",
            lambda node: None if node.scope is None else errors[places[node.scope]],
        )
    return found


def _data(title: str, named: Mapping[str, Node], value: _Value) -> dict[str, Any]:
    values = {name: value(node) for name, node in named.items()}
    return {
        "name": title,
        "results": {name: {"value": v} for name, v in values.items() if v is not None},
        "gradient": _GRADIENT,
    }
