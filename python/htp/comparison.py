"""Differences between two tagged models: what each module is made of, and nodes of the same name whose tags
differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .aspects import ASPECTS, Aspect
from .errors import BadInput
from .files import Outputs
from .holding import StrPath, existing, kind_of
from .model import TaggedModel
from .structure import Part, Structure, read_structure, structure_of
from .tagging import load


@dataclass
class Difference:
    """One thing that differs."""

    aspect: Aspect
    module: str
    what: str

    def as_json(self) -> dict[str, str]:
        return dict(vars(self))


@dataclass
class Comparison:
    """All differences, and names that only one of the two models has."""

    differences: list[Difference] = field(default_factory=list)
    nodes_removed: list[str] = field(default_factory=list)
    nodes_added: list[str] = field(default_factory=list)
    modules_removed: list[str] = field(default_factory=list)
    modules_added: list[str] = field(default_factory=list)
    moved: list[dict[str, str | None]] = field(default_factory=list)
    same: int = 0
    modules: int = 0  # that both have
    unknown: list[str] = field(default_factory=list)  # what could not be compared

    @property
    def equal(self) -> bool:
        return not self.differences

    def as_json(self) -> dict[str, Any]:
        found = [difference.as_json() for difference in self.differences]
        return {"equal": self.equal, **vars(self), "differences": found}


def compare(before: Any, after: Any, *, only: Iterable[str] = ASPECTS) -> Comparison:
    """Compares two tagged models: paths, or what `htp.tag` takes. The first may be a baseline that
    `htp.baseline` wrote. If both are models, nodes are compared by name. What modules are made of does not
    depend on names, so the results of different exporters can be compared with
    `only=("modules", "parameters")`."""
    wanted = list(only)
    first, second = _comparable(before), _comparable(after)
    if unknown := [name for name in wanted if name not in ASPECTS]:
        raise BadInput(f"unknown aspect {unknown[0]!r}, expected some of {', '.join(ASPECTS)}")
    result = Comparison()
    old, new = (x if isinstance(x, Structure) else structure_of(x) for x in (first, second))
    _compare_modules(old, new, result)
    if isinstance(first, TaggedModel) and isinstance(second, TaggedModel):
        _compare_nodes(first, second, result)
    result.differences = [d for d in result.differences if d.aspect in wanted]
    return result


def _comparable(model: Any) -> TaggedModel | Structure:
    if isinstance(model, (TaggedModel, Structure)):
        return model
    if kind_of(model) == "path" and (structure := read_structure(existing(model))):
        return structure
    return load(model)


def baseline(model: Any, output: StrPath) -> list[Path]:
    """Writes what a tagged model is made of as a JSON baseline that `compare` reads. Returns the files that it
    replaced."""
    target = Path(output)
    structure = structure_of(model if isinstance(model, TaggedModel) else load(model))
    with Outputs(target) as outputs:
        text = json.dumps(structure.as_json(), indent=1, ensure_ascii=False)
        outputs[target].write_text(f"{text}\n", encoding="utf-8")
    return outputs.replaced


def _compare_modules(old: Structure, new: Structure, result: Comparison) -> None:
    result.modules_removed = [path for path in old.modules if path not in new.modules]
    result.modules_added = [path for path in new.modules if path not in old.modules]
    say = result.differences.append
    for path in result.modules_removed:
        say(Difference("modules", path, f"{old.modules[path].cls}: only in the first"))
    for path in result.modules_added:
        say(Difference("modules", path, f"{new.modules[path].cls}: only in the second"))
    contents = old.contents and new.contents
    if not contents:
        result.unknown = ["shapes and values of parameters", "constants", "attributes"]
    for path, part in old.modules.items():
        if path in new.modules:
            result.modules += 1
            result.differences += _compare_parts(path, part, new.modules[path], contents)
    if contents:
        for what, one, other in (
            ("inputs", old.inputs, new.inputs),
            ("outputs", old.outputs, new.outputs),
        ):
            if one != other:
                say(Difference("interface", "", f"{what}: {_listed(one)} -> {_listed(other)}"))


def _compare_parts(path: str, old: Part, new: Part, contents: bool) -> list[Difference]:
    found = []
    if old.cls != new.cls:
        found.append(Difference("modules", path, f"class {old.cls} -> {new.cls}"))
    if text := _changed(old.ops, new.ops):
        found.append(Difference("ops", path, text))
    if contents and old.ops == new.ops and (kinds := _kinds(old.attributes, new.attributes)):
        found.append(Difference("attributes", path, f"attributes of {', '.join(kinds)}"))
    for name in sorted(old.parameters.keys() | new.parameters.keys()):
        one, other = old.parameters.get(name), new.parameters.get(name)
        if text := _parameter(one, other, contents):
            found.append(Difference("parameters", path, f"{name}: {text}"))
    if contents and old.constants != new.constants:
        count = sum((Counter(old.constants) - Counter(new.constants)).values())
        more = sum((Counter(new.constants) - Counter(old.constants)).values())
        found.append(
            Difference("constants", path, f"{count} only in the first, {more} only in the second")
        )
    return found


def _parameter(one: list[Any] | None, other: list[Any] | None, contents: bool) -> str:
    if one is None or other is None:
        return f"only in the {'first' if other is None else 'second'}"
    if not contents or one == other:
        return ""
    if one[:2] != other[:2]:
        return f"{one[0]} {one[1]} -> {other[0]} {other[1]}"
    return "values differ"


def _changed(old: Mapping[str, int], new: Mapping[str, int]) -> str:
    """`Gemm 2 -> 0, MatMul 0 -> 2`."""
    kinds = sorted(old.keys() | new.keys())
    return ", ".join(
        f"{kind} {old.get(kind, 0)} -> {new.get(kind, 0)}"
        for kind in kinds
        if old.get(kind, 0) != new.get(kind, 0)
    )


def _kinds(old: Mapping[str, int], new: Mapping[str, int]) -> list[str]:
    keys = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
    return sorted({key.partition(" ")[0] for key in keys})


def _listed(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def _compare_nodes(before: TaggedModel, after: TaggedModel, result: Comparison) -> None:
    """Adds nodes of the same name whose tags differ, and how many names only one model has."""
    result.nodes_removed = [name for name in before.nodes if name not in after.nodes]
    result.nodes_added = [name for name in after.nodes if name not in before.nodes]
    for name, old in before.nodes.items():
        new = after.nodes.get(name)
        if new is None:
            continue
        if (old.tag, old.scope) == (new.tag, new.scope):
            result.same += 1
            continue
        result.moved.append(
            {
                "node": name,
                "tag_before": old.tag,
                "tag_after": new.tag,
                "scope_before": old.scope,
                "scope_after": new.scope,
            }
        )
        result.differences.append(
            Difference("tags", old.scope or "", f"{name} now belongs to {new.scope!r}")
        )
    gone, come = len(result.nodes_removed), len(result.nodes_added)
    if gone or come:
        result.differences.append(
            Difference(
                "tags", "", f"{gone} node names only in the first, {come} only in the second"
            )
        )
