"""Selects nodes by the modules that they came from, as lists of names for quantizers and compilers."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .errors import BadInput
from .model import Module, Node, TaggedModel
from .onnxfile import is_mlir, raw_nodes
from .tagging import StrPath, load

SelectFormat = Literal["names", "json", "onnxruntime", "olive"]
FORMATS: tuple[SelectFormat, ...] = ("names", "json", "onnxruntime", "olive")


@dataclass(frozen=True)
class Selection:
    """Nodes of a model that were selected by module."""

    model: TaggedModel
    patterns: tuple[str, ...]
    modules: tuple[Module, ...]  # that match; modules below them are included implicitly
    nodes: tuple[Node, ...]  # in file order
    names: tuple[str, ...]  # of the nodes, as in the file
    nameless: int = 0  # nodes without a name in the file, which no list of names can contain

    def __len__(self) -> int:
        return len(self.nodes)

    def formatted(self, form: SelectFormat) -> Any:
        """The selection in the format of a tool: a list of names, or an object."""
        if form in ("names", "onnxruntime"):
            return list(self.names)
        if form == "olive":
            return {"nodes_to_exclude": list(self.names)}
        return self.as_json()

    def as_json(self) -> dict[str, Any]:
        return {
            "file": str(self.model.path),
            "patterns": list(self.patterns),
            "modules": [module.path for module in self.modules],
            "nameless": self.nameless,
            "nodes": [
                {"name": n.name, "op_type": n.op_type, "module": n.scope, "tag": n.tag}
                for n in self.nodes
            ],
        }


def select(
    model: StrPath | TaggedModel,
    *patterns: str,
    classes: bool = False,
    op_types: Iterable[str] | None = None,
    own: bool = False,
    invert: bool = False,
) -> Selection:
    """Selects the nodes of all modules that match one of the patterns.

    A pattern is a path ('encoder.layer.0'), a tag, or a glob over paths: `*` is any text within one
    component, `**` any number of components, `[0-11]` a number from 0 to 11, `[abc]` and `?` one
    character. With `classes`, it is the name of a class (`Bert*Attention`). A module includes all modules
    below it, or with `own` only the nodes that its own code made. `op_types` keeps only nodes of these
    types, and `invert` selects all other nodes (of these types). Constants are never selected.
    """
    if not patterns:
        raise BadInput("no pattern given to select modules")
    tagged = model if isinstance(model, TaggedModel) else load(model)
    chosen: dict[str, Module] = {}
    for pattern in patterns:
        found = _of_class(tagged, pattern) if classes else _at_path(tagged, pattern)
        chosen.update((module.path, module) for module in found)
    modules = [module for path, module in tagged.modules.items() if path in chosen]
    inside = set(chosen) if own else _with_all_below(tagged, modules)
    kinds = _known_types(tagged, op_types)
    nodes = [
        node
        for node in tagged.nodes.values()
        if not node.is_constant
        and (kinds is None or node.op_type in kinds)
        and (node.scope in inside) != invert
    ]
    names = _names(tagged, nodes)
    return Selection(
        tagged,
        tuple(patterns),
        tuple(modules),
        tuple(nodes),
        tuple(name for name in names if name),
        sum(not name for name in names),
    )


def _at_path(model: TaggedModel, pattern: str) -> list[Module]:
    """Modules whose path, or another path to them, matches."""
    if not re.search(r"[*?\[]", pattern):
        return [model.module(pattern)]  # accepts a tag, too; the error lists similar names
    matches = path_matcher(pattern)
    found = [m for m in model.modules.values() if any(map(matches, (m.path, *m.aliases)))]
    if not found:
        raise BadInput(
            f"no module of {model.path} matches {pattern!r}{_close(pattern, model.modules)}"
        )
    return found


def _of_class(model: TaggedModel, pattern: str) -> list[Module]:
    expression = re.compile(_component(pattern))
    found = [
        module
        for module in model.modules.values()
        if expression.fullmatch(module.class_name) or expression.fullmatch(module.qualified)
    ]
    if not found:
        known = dict.fromkeys(module.class_name for module in model.modules.values())
        raise BadInput(
            f"no module of {model.path} has the class {pattern!r}{_close(pattern, known)}"
        )
    return found


def path_matcher(pattern: str) -> Callable[[str], bool]:
    """A function that tells whether a path matches a glob. Only `**` matches dots, and it may match nothing."""
    parts = pattern.split(".") if pattern else []
    expressions = [None if part == "**" else re.compile(_component(part)) for part in parts]

    def matches(path: str) -> bool:
        names = path.split(".") if path else []
        # i in reached: the names so far can be matched by the first i parts
        reached = _skipping({0}, expressions)
        for name in names:
            following = set()
            for i in reached:
                if i == len(expressions):
                    continue
                expression = expressions[i]
                if expression is None:
                    following.add(i)
                elif expression.fullmatch(name):
                    following.add(i + 1)
            reached = _skipping(following, expressions)
        return len(expressions) in reached

    return matches


def _skipping(reached: set[int], expressions: Sequence[re.Pattern[str] | None]) -> set[int]:
    """Adds the positions reached by letting `**` match no component."""
    result = set(reached)
    for i, expression in enumerate(expressions):
        if i in result and expression is None:
            result.add(i + 1)
    return result


def _component(glob: str) -> str:
    """A regular expression for one component of a glob. In a plain glob, `[0-11]` would match the digits 0 and 1,
    which is not what is meant by a range of layers."""
    result, at = "", 0
    while at < len(glob):
        if (numbers := re.compile(r"\[(\d+)-(\d+)\]").match(glob, at)) and len(numbers[0]) > 5:
            first, last = int(numbers[1]), int(numbers[2])
            if last < first or last - first > 100_000:
                raise BadInput(f"{numbers[0]} in {glob!r} is not a range of numbers")
            result += f"(?:{'|'.join(map(str, range(first, last + 1)))})"
            at = numbers.end()
        elif letters := re.compile(r"\[(!?)([^\]]+)\]").match(glob, at):
            inner = re.sub(r"[\\\[\]^&~|]", r"\\\g<0>", letters[2])
            result += f"[{'^' if letters[1] else ''}{inner}]"
            at = letters.end()
        else:
            result += {"*": ".*", "?": "."}.get(glob[at]) or re.escape(glob[at])
            at += 1
    try:
        re.compile(result)
    except re.error:
        raise BadInput(f"{glob!r} is not a valid glob: check its brackets") from None
    return result


def _with_all_below(model: TaggedModel, modules: Iterable[Module]) -> set[str]:
    inside: set[str] = set()
    pending = [module.path for module in modules]
    while pending:
        path = pending.pop()
        if path not in inside:
            inside.add(path)
            pending += model.modules[path].children
    return inside


def _known_types(model: TaggedModel, op_types: Iterable[str] | None) -> set[str] | None:
    if op_types is None:
        return None
    kinds = set(op_types)
    known = dict.fromkeys(node.op_type for node in model.nodes.values())
    for kind in sorted(kinds):
        if kind not in known:
            raise BadInput(f"{model.path} has no node of the type {kind!r}{_close(kind, known)}")
    return kinds


def names_in_file(model: TaggedModel, file: Path) -> dict[str, str]:
    """Maps HTP's name of each node to its name in the file. HTP makes up names (`Add#17`) for nodes without one, and
    for all but the first of those that share a name; no other tool knows them."""
    nodes, raw = list(model.nodes.values()), list(raw_nodes(file))
    if [node.op_type for node in nodes] == [entry.op_type for entry in raw]:
        return {node.name: entry.name for node, entry in zip(nodes, raw)}
    by_output = {entry.outputs[0]: entry.name for entry in raw if any(entry.outputs)}
    return {
        node.name: by_output.get(node.outputs[0], node.name) if any(node.outputs) else node.name
        for node in nodes
    }


def _names(model: TaggedModel, nodes: Sequence[Node]) -> list[str]:
    if model.path.suffix == ".json" or is_mlir(model.path) or not model.path.exists():
        return [node.name for node in nodes]
    names = names_in_file(model, model.path)
    return [names[node.name] for node in nodes]


def _close(name: str, known: Iterable[str]) -> str:
    """Names that may have been meant, found without the wildcards of a glob if necessary."""
    names = [n for n in known if n]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if not near:
        plain = re.sub(r"\[[^\]]*\]", "0", name.replace("*", "").strip("."))
        near = difflib.get_close_matches(plain, names, n=3, cutoff=0.4)
    return f"; similar names: {', '.join(map(repr, near))}" if near else ""
