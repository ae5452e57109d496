"""Writes the page of `htp view`: one HTML file with a model's modules, figures and graph, which works without a network.

The page itself is built from viewer/ (TypeScript) into viewer/page.html of this package. This module makes the document
that it shows, from the same figures as `htp analyze --json`, and inserts it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from . import native, tagging
from .errors import BadInput, HTPError
from .figures import module_json, unsure
from .files import Outputs
from .model import TaggedModel
from .profiling import read_profile
from .repeats import Repeats

TEMPLATE = native.PACKAGE / "viewer" / "page.html"
_DATA, _NO_NETWORK, _OWN_SERVER = "{{data}}", "connect-src 'none'", "connect-src 'self'"


def view(
    model: tagging.StrPath | TaggedModel,
    output: tagging.StrPath | None = None,
    *,
    profile: tagging.StrPath | None = None,
    diff: tagging.StrPath | None = None,
) -> Path:
    """Writes the page of a tagged model, by default NAME.html beside it, and returns its path.

    `profile` and `diff` are output files of `htp profile --json` and `htp diff --json`, for time and error by module.
    """
    tagged = model if isinstance(model, TaggedModel) else tagging.load(model)
    target = Path(output) if output else tagged.path.with_suffix(".html")
    text = page(document(tagged, profile=profile, diff=diff))
    with Outputs(target) as outputs:
        outputs[target].write_text(text, encoding="utf-8")
    tagged.replaced = outputs.replaced
    return target


def page(content: Mapping[str, Any]) -> str:
    """The HTML of the page that shows a document."""
    try:
        template = TEMPLATE.read_text(encoding="utf-8")
    except OSError as error:
        raise HTPError(f"{TEMPLATE} is missing: 'make viewer' builds it") from error
    # No name may end the element or begin another, so the JSON is plain ASCII without "<".
    data = json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    if content.get("edit"):
        template = template.replace(_NO_NETWORK, _OWN_SERVER, 1)
    before, found, after = template.partition(_DATA)
    if not found:
        raise HTPError(f"{TEMPLATE} has no placeholder for data: rebuild it with 'make viewer'")
    return before + data + after


def document(
    model: TaggedModel,
    *,
    profile: tagging.StrPath | None = None,
    diff: tagging.StrPath | None = None,
    edit: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Everything that the page shows. Modules and nodes are referred to by number, repeated texts are stored once."""
    from . import __version__

    places = {path: index for index, path in enumerate(model.modules)}
    repeats = Repeats(model)
    parents = {child: module.path for module in model.modules.values() for child in module.children}
    modules = [
        {
            **{key: value for key, value in entry.items() if key != "parameters"},
            "parent": places[parents[entry["path"]]] if entry["path"] else -1,
            "kind": repeats.kind(entry["path"]),
        }
        for entry in module_json(model, model.figures)
    ]
    return {
        "format": "htp-view",
        "version": 1,
        "file": model.path.name,
        "producer": f"htp {__version__}",
        "statistics": model.statistics,
        "notes": model.figures.notes,
        "modules": modules,
        "repeated": [
            {
                "class": group.first.class_name,
                "modules": [places[module.path] for module in group.modules],
            }
            for group in repeats.groups()
        ],
        **_nodes(model, places),
        "profile": read_times(profile, places, model) if profile else None,
        "diff": read_diff(diff, places, model) if diff else None,
        "edit": dict(edit) if edit else None,
    }


class _Texts:
    """Numbers texts; equal texts get the same number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    @property
    def list(self) -> list[str]:
        return list(self.numbers)


def _nodes(model: TaggedModel, places: Mapping[str, int]) -> dict[str, Any]:
    """All operations except constants, column by column, and the edges between them."""
    nodes = [node for node in model.nodes.values() if not node.is_constant]
    numbers = {node.name: index for index, node in enumerate(nodes)}
    ops, evidence, types, reasons, sources = (_Texts() for _ in range(5))
    costs = [model.figures.nodes[node.name] for node in nodes]
    columns = {
        "name": [node.name for node in nodes],
        "op": [ops(f"{n.domain}.{n.op_type}" if n.domain else n.op_type) for n in nodes],
        "module": [-1 if node.scope is None else places[node.scope] for node in nodes],
        "evidence": [evidence(node.evidence) for node in nodes],
        "confidence": [node.confidence for node in nodes],
        "multiply_adds": [cost.multiply_adds for cost in costs],
        "activation_bytes": [cost.activation_bytes for cost in costs],
        "types": [types(", ".join(cost.types)) for cost in costs],
        "source": [sources(node.source or "") for node in nodes],
    }
    return {
        "nodes": columns,
        "unsure": [numbers[node.name] for node in unsure(model)],
        "contexts": [
            [index, places.get(c.scope, -1), evidence(c.evidence), c.confidence]
            for index, node in enumerate(nodes)
            for c in node.contexts
        ],
        "reasons": [[i, reasons(node.reason)] for i, node in enumerate(nodes) if node.reason],
        "handles": [[numbers[name], handle] for name, handle in _handles(model)],
        "edges": [number for a, b in model.edges() for number in (numbers[a], numbers[b])],
        "names": {
            "ops": ops.list,
            "evidence": evidence.list,
            "types": types.list,
            "reasons": reasons.list,
            "sources": sources.list,
        },
    }


def _handles(model: TaggedModel) -> Iterator[tuple[str, str]]:
    """For nodes whose name is missing in the file or not unique, a value that they make, to name them in overrides.
    HTP calls such nodes `Add#17`, after their type or after the shared name."""
    made_up = {name for name in model.nodes if re.search(r"#\d+$", name)}
    shared = {name.rpartition("#")[0] for name in made_up}
    makers = {value: node.name for node in model.nodes.values() for value in node.outputs if value}
    for node in model.nodes.values():
        name = node.name
        is_alone = name not in made_up and name not in shared and makers.get(name, name) == name
        if not node.is_constant and not is_alone:
            if made := next((value for value in node.outputs if value), None):
                yield name, made


def read_times(
    path: tagging.StrPath, places: Mapping[str, int], model: TaggedModel
) -> dict[str, Any]:
    """Reads a profile, with the times by module in the order of `places`."""
    found = read_profile(path)
    try:
        rows = [
            (m["path"], m["self_microseconds"], m["total_microseconds"]) for m in found["modules"]
        ]
        kept = ("source", "runs", "node_microseconds", "model_microseconds", "attributed")
        result = {"file": Path(found["file"]).name, **{key: found[key] for key in kept}}
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path} is incomplete: {error!r}") from error
    _check_same(path, "profile", [row[0] for row in rows], places, model)
    own: list[float | None] = [None] * len(places)
    total: list[float | None] = [None] * len(places)
    for name, self_time, total_time in rows:
        if name in places:
            own[places[name]], total[places[name]] = self_time, total_time
    return {**result, "self": own, "total": total}


def read_diff(
    path: tagging.StrPath, places: Mapping[str, int], model: TaggedModel
) -> dict[str, Any]:
    """Reads a comparison, with the largest errors by module in the order of `places`."""
    try:
        found = json.loads(tagging.existing(path).read_bytes())
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} is not JSON output of 'htp diff': {error}") from error
    if not isinstance(found, dict) or found.get("format") != "htp-diff":
        raise BadInput(f"{path} is not JSON output of 'htp diff'")
    if found.get("version") != 1:
        raise BadInput(f"{path} has version {found.get('version')!r}, expected 1")
    try:
        rows = [(c["module"], c["relative"], c["added"], c["parts"]) for c in found["comparisons"]]
        first = found["first"]["module"] if found["first"] else None
        names = [Path(found[key]).name for key in ("first_file", "second_file")]
        rest = {"tolerance": found["tolerance"], "equal": found["equal"]}
        missing = len(found["missing"])
    except (KeyError, TypeError) as error:
        raise BadInput(f"{path} is incomplete: {error!r}") from error
    _check_same(path, "comparison", [row[0] for row in rows], places, model)
    relative: list[float | None] = [None] * len(places)
    added: list[float | None] = [None] * len(places)
    parts = [False] * len(places)
    for name, part, own, is_parted in rows:
        if name not in places:
            continue
        index = places[name]
        relative[index] = _larger(relative[index], part)
        added[index] = _larger(added[index], own)
        parts[index] |= bool(is_parted)
    return {
        **rest,
        "first_file": names[0],
        "second_file": names[1],
        "first": places.get(first, -1) if first is not None else -1,
        "relative": relative,
        "added": added,
        "parts": parts,
        "missing": missing,
    }


def _larger(known: float | None, value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return known
    return value if known is None else max(known, value)


def _check_same(
    path: tagging.StrPath,
    what: str,
    found: Iterable[str],
    places: Mapping[str, int],
    model: TaggedModel,
) -> None:
    names = {name for name in found if name}
    if names and len(places) > 1 and not names & set(places):
        raise BadInput(f"{path} is a {what} of another model: {model.path} has none of its modules")
