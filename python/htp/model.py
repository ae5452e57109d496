"""A tagged model: which module each node came from, as read from the native programs' output."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import native
from .errors import BadInput, MissingPackage
from .files import Outputs
from .records import Context, Initializer, Module, Node, Parameter, module_from, node_from

if TYPE_CHECKING:
    import networkx
    import pandas

    from .figures import Figures

__all__ = ["Context", "Initializer", "Module", "Node", "Parameter", "TaggedModel"]


class TaggedModel:
    """A tagged ONNX file. Made by `htp.export`, `htp.tag` and `htp.load`."""

    def __init__(self, path: str | os.PathLike[str], metadata: Mapping[str, Any] | bytes) -> None:
        self.path = Path(path)
        self._metadata = metadata
        self.seconds: dict[str, float] = {}  # the time of each step of an export
        self.warnings: list[str] = []  # HTP's warnings when it was made
        self.replaced: list[Path] = []  # files that were overwritten
        self.folder: Any = None  # keeps the temporary folder of its file alive, if there is one

    def __repr__(self) -> str:
        s = self.statistics
        return (
            f"TaggedModel({str(self.path)!r}: {s['nodes']} nodes, {s['modules']} modules, "
            f"{100 * s['coverage']:.1f} % tagged, {100 * s['placed_share']:.1f} % placed)"
        )

    def _repr_html_(self) -> str:
        """The representation in a notebook: figures, a treemap and the module tree."""
        from .notebook import html

        return html(self)

    def __len__(self) -> int:
        """The number of modules. A tagged model is a mapping from paths to modules, parents first."""
        return len(self.modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._known(path) in self.modules

    def __getitem__(self, path: str) -> Module:
        """Like `module`, but raises the error of Python's mappings."""
        try:
            return self.module(path)
        except BadInput as error:
            raise KeyError(str(error)) from None

    @cached_property
    def metadata(self) -> Mapping[str, Any]:
        """The operation metadata. It is parsed on first use, because after an export often only the files are
        wanted."""
        given = self._metadata
        return _parsed(given, self.path) if isinstance(given, bytes) else given

    @property
    def statistics(self) -> Mapping[str, Any]:
        """Counts, coverage, evidence and confidence."""
        statistics: Mapping[str, Any] = self.metadata["statistics"]
        return statistics

    @property
    def exporter(self) -> str | None:
        """Which of PyTorch's exporters made the model, if known."""
        return self._producer.get("exporter")

    @property
    def fallback(self) -> str | None:
        """Why that exporter was not the first choice, if it was not."""
        return self._producer.get("fallback")

    @property
    def _producer(self) -> Mapping[str, str]:
        producer: Mapping[str, str] = self.metadata.get("producer", {})
        return producer

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Every node by its name, in file order."""
        if "nodes" not in self.metadata:
            raise BadInput(f"{self.path} was read without its nodes")
        return {name: node_from(name, entry) for name, entry in self.metadata["nodes"].items()}

    @property
    def has_figures(self) -> bool:
        """Whether it was read with the costs of its modules instead of its nodes."""
        return "unsure" in self.metadata

    @cached_property
    def unsure_nodes(self) -> dict[str, Node]:
        """For a model that was read with its figures: the nodes worth a look, in file order."""
        return {name: node_from(name, entry) for name, entry in self.metadata["unsure"].items()}

    @cached_property
    def op_counts(self) -> dict[str, dict[str, int]]:
        """For each path, how many operations of each type the module's own code made, except constants."""
        counts: dict[str, dict[str, int]] = {path: {} for path in self.modules}
        for node in self.nodes.values():
            if node.scope in counts and not node.is_constant:
                of_module = counts[node.scope]
                of_module[node.op_type] = of_module.get(node.op_type, 0) + 1
        return counts

    @cached_property
    def initializers(self) -> dict[str, Initializer]:
        return {
            name: Initializer(
                name, tuple(entry["tags"]), tuple(entry["scopes"]), entry["parameter"]
            )
            for name, entry in self.metadata["initializers"].items()
        }

    @cached_property
    def modules(self) -> dict[str, Module]:
        """Every module by its path, parents first; the root's path is ''."""
        entries = self.metadata["hierarchy"]["modules"]
        paths = {entry["path"] for entry in entries}
        children: dict[str, list[str]] = {path: [] for path in paths}
        for entry in entries:
            if entry["path"]:
                children[_parent(entry["path"], paths)].append(entry["path"])
        return {e["path"]: module_from(e, tuple(children[e["path"]]), self) for e in entries}

    @cached_property
    def figures(self) -> Figures:
        """The costs of each module and each node, computed on first use."""
        from .figures import figures_of

        return figures_of(self)

    def node(self, name: str) -> Node:
        """The node with this name, or the node that makes the value with this name."""
        if name in self.nodes:
            return self.nodes[name]
        if name in self._producers:
            return self.nodes[self._producers[name]]
        raise BadInput(f"{self.path} has no node or value named {name!r}{_close(name, self.nodes)}")

    def module(self, path: str) -> Module:
        """The module with this path ('encoder.layer.0') or tag ('/BertModel/BertEncoder'). A module that is
        registered under several names can be found by each."""
        known = self._known(path)
        if known in self.modules:
            return self.modules[known]
        for module in self.modules.values():
            if path and not module.torch_nn and module.tag == path.rstrip("/"):
                return module
        raise BadInput(f"{self.path} has no module {path!r}{_close(path, self.modules)}")

    def _known(self, path: str) -> str:
        """The path in the tree for a path that may use an alias of a module."""
        head, tail = path, ""
        while head:
            if head in self._aliases:
                return self._known(self._aliases[head] + tail)
            head, _, last = head.rpartition(".")
            tail = f".{last}{tail}"
        return path

    @cached_property
    def _aliases(self) -> dict[str, str]:
        return {alias: m.path for m in self.modules.values() for alias in m.aliases}

    def nodes_in(self, path: str, *, constants: bool = False) -> list[Node]:
        """The nodes that a module and all modules below it made."""
        module = self.module(path)
        inside = set(self._below(module))
        return [
            node
            for node in self.nodes.values()
            if node.scope in inside and (constants or not node.is_constant)
        ]

    def tree(self, *, torch_nn: bool = True) -> str:
        """The module tree as text, with the number of nodes that each module made."""
        lines = []
        for branch, name, module in self.branches(torch_nn=torch_nn):
            calls = f", {module.calls} calls" if module.calls > 1 else ""
            label = f"{name}: " if name else ""
            lines.append(f"{branch}{label}{module.class_name} ({module.total_nodes}{calls})")
        return "\n".join(lines)

    def branches(self, *, torch_nn: bool = True) -> Iterator[tuple[str, str, Module]]:
        """Every module of the tree, after the lines that lead to it and its path relative to its parent."""
        pending = [("", "", "", self.modules[""])]
        while pending:
            branch, below, name, module = pending.pop()
            yield branch, name, module
            start = f"{module.path}." if module.path else ""
            children = list(self.shown_below(module, torch_nn))
            for child in reversed(children):
                last = child is children[-1]
                lines = ("└─ ", "   ") if last else ("├─ ", "│  ")
                name = child.path.removeprefix(start)
                pending.append((below + lines[0], below + lines[1], name, child))

    def shown_below(self, module: Module, torch_nn: bool) -> Iterator[Module]:
        """The direct children of a module; if those of torch.nn are left out, their children instead."""
        pending = list(reversed(module.children))
        while pending:
            child = self.modules[pending.pop()]
            if torch_nn or not child.torch_nn:
                yield child
            else:
                pending += reversed(child.children)

    def extract(self, path: str, output: str | os.PathLike[str] | None = None) -> Path:
        """Writes one module as a separate model to `output`, and returns its path."""
        from .tagging import data_options

        module = self.module(path)
        name = module.path or module.class_name
        target = Path(output or self.path.with_name(f"{self.path.stem}.{name}.onnx"))
        with Outputs(target) as outputs:
            native.run(
                native.program_for(self.path),
                self.path,
                "--htp-attach-hierarchy",
                f"--htp-extract=module={native.quoted(module.path)}",
                *data_options(self.path, target),
                "-o",
                outputs[target],
            )
            outputs.add_data()
        self.replaced = outputs.replaced
        return target

    def outline(self, output: str | os.PathLike[str] | None = None) -> TaggedModel:
        """The same model with one function for every module; equal modules share one."""
        from .tagging import outline

        return outline(self.path, output)

    def to_networkx(self) -> networkx.DiGraph:
        """The nodes except constants, with everything known about them, and their edges."""
        try:
            import networkx
        except ImportError:
            raise MissingPackage("networkx", "to_networkx()", "graph") from None
        graph = networkx.DiGraph(name=self.path.stem)
        for node in self.nodes.values():
            if not node.is_constant:
                graph.add_node(
                    node.name,
                    op_type=node.op_type,
                    tag=node.tag,
                    scope=node.scope,
                    call=node.call,
                    evidence=node.evidence,
                    confidence=node.confidence,
                )
        graph.add_edges_from(self.edges())
        return graph

    def to_dataframe(self, rows: Literal["modules", "nodes"] = "modules") -> pandas.DataFrame:
        """A table with a row for every module, by path, or for every node except constants, by name. It contains
        everything known about them, including their costs."""
        try:
            import pandas
        except ImportError:
            raise MissingPackage("pandas", "to_dataframe()", "dataframe") from None
        from .notebook import module_rows, node_rows

        found = module_rows(self) if rows == "modules" else node_rows(self)
        table = pandas.DataFrame(found)
        return table.set_index("path" if rows == "modules" else "name")

    def edges(self) -> Iterator[tuple[str, str]]:
        """Pairs of nodes in which the second reads a value that the first makes, except constants."""
        for node in self.nodes.values():
            if node.is_constant:
                continue
            for producer in dict.fromkeys(self._producers.get(value) for value in node.inputs):
                if producer and not self.nodes[producer].is_constant:
                    yield producer, node.name

    @cached_property
    def tag_counts(self) -> Mapping[str, int]:
        """How many nodes carry each tag, except constants."""
        counts = Counter[str]()
        for module in self.modules.values():
            if module.own_nodes:
                counts[module.tag] += module.own_nodes
        return counts

    @cached_property
    def _producers(self) -> dict[str, str]:
        return {value: node.name for node in self.nodes.values() for value in node.outputs if value}

    def _below(self, module: Module) -> Iterator[str]:
        pending = [module.path]
        while pending:
            path = pending.pop()
            yield path
            pending += self.modules[path].children


def _parent(path: str, paths: set[str]) -> str:
    """The nearest ancestor that is in the tree; modules that never ran may be missing."""
    while path:
        path = path.rpartition(".")[0]
        if path in paths:
            return path
    return ""


def _close(name: str, names: Mapping[str, Any]) -> str:
    import difflib

    close = difflib.get_close_matches(name, names, n=3)
    return f"; similar names: {', '.join(map(repr, close))}" if close else ""


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads an operation metadata file."""
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {error}") from error
    return _parsed(text, path)


def _parsed(text: bytes, path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        metadata = json.loads(text)
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from error
    if not isinstance(metadata, dict) or metadata.get("format") != "htp-op-metadata":
        raise BadInput(f"{path} is not HTP's operation metadata")
    if metadata.get("version") != 1:
        raise BadInput(f"{path} has version {metadata.get('version')!r}, expected 1")
    return metadata
