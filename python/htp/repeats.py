"""Repeated layers: sibling modules with equal contents, which are shown as one (`24 × BertLayer`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from .model import TaggedModel
from .records import Module


@dataclass(frozen=True)
class Layers:
    """Equal modules with the same parent; the first represents all. Most groups have one module."""

    modules: tuple[Module, ...]

    @property
    def first(self) -> Module:
        return self.modules[0]

    def __len__(self) -> int:
        return len(self.modules)

    @property
    def label(self) -> str:
        """`24 × BertLayer`, or `BertLayer` if it is alone."""
        times = f"{len(self)} × " if len(self) > 1 else ""
        return f"{times}{self.first.class_name}"

    @property
    def short_tag(self) -> str:
        """Like the label, but a single module is shown as the last part of its tag: `BertLayer.0`."""
        return self.label if len(self) > 1 else self.first.tag.rpartition("/")[2]

    def names(self, start: str) -> str:
        """Their paths without the prefix `start`: `layer.0 … 23`, `query, key, value`."""
        names = [module.path.removeprefix(start) for module in self.modules]
        if len(names) == 1:
            return names[0]
        heads = {name.rpartition(".")[0] for name in names}
        lasts = [name.rpartition(".")[2] for name in names]
        head = heads.pop() if len(heads) == 1 else None
        if head is not None and all(last.isdecimal() for last in lasts):
            numbers = [int(last) for last in lasts]
            if numbers == list(range(numbers[0], numbers[-1] + 1)):
                dot = f"{head}." if head else ""
                return f"{dot}{numbers[0]} … {numbers[-1]}"
        if len(names) > 4:
            return f"{', '.join(names[:3])} … {names[-1]}"
        return ", ".join(names)


class Repeats:
    """Groups the modules of a model. Two are equal if their classes, operations, parameters and children are."""

    def __init__(self, model: TaggedModel) -> None:
        self.model = model
        self._numbers: dict[Hashable, int] = {}
        self._kinds: dict[str, int] = {}
        if model.has_figures:  # nodes were not read; the native program has compared the modules
            entries = model.metadata["hierarchy"]["modules"]
            self._kinds = {entry["path"]: entry["kind"] for entry in entries}
            return
        ops, kinds = model.op_counts, self._kinds
        for module in reversed(list(model.modules.values())):  # children before parents
            parts = (
                module.class_name,
                module.calls,
                tuple(sorted(ops[module.path].items())),
                tuple([(p.name, p.kind, p.shape, p.dtype) for p in module.parameters]),
                tuple([(self._last(module, c), kinds[c]) for c in module.children]),
            )
            kinds[module.path] = self._numbers.setdefault(parts, len(self._numbers))

    @staticmethod
    def _last(module: Module, child: str) -> str:
        return child.removeprefix(f"{module.path}.")

    def kind(self, path: str) -> int:
        """A number that is equal for equal modules."""
        return self._kinds[path]

    def below(self, module: Module, *, torch_nn: bool = True) -> list[Layers]:
        """The direct children of a module, equal ones grouped, in the order of the first of each group."""
        groups: dict[int, list[Module]] = {}
        for child in self.model.shown_below(module, torch_nn):
            groups.setdefault(self._kinds[child.path], []).append(child)
        return [Layers(tuple(group)) for group in groups.values()]

    def tree(self, *, torch_nn: bool = True) -> Iterator[tuple[str, str, Layers]]:
        """Like TaggedModel.branches, with equal modules in one line: yields the lines that lead to it, the path
        relative to the parent, and the modules."""
        pending = [("", "", "", Layers((self.model.modules[""],)))]
        while pending:
            branch, stem, name, layers = pending.pop()
            yield branch, name, layers
            start = f"{layers.first.path}." if layers.first.path else ""
            groups = self.below(layers.first, torch_nn=torch_nn)
            for group in reversed(groups):
                lines = ("└─ ", "   ") if group is groups[-1] else ("├─ ", "│  ")
                pending.append((stem + lines[0], stem + lines[1], group.names(start), group))

    def groups(self) -> list[Layers]:
        """All repeated layers, the outermost first; repetitions inside them are listed once."""
        return [layers for _, _, layers in self.tree() if len(layers) > 1]
