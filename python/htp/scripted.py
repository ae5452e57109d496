"""Makes a trace.json from a TorchScript module: one that was loaded, or that torch.jit.trace has just made.

The result equals what htp-trace reads from a `.pt` archive. Follows `forward` through the graphs of the methods
that it calls; the graph's attributes say which instance runs an operation.
"""

from __future__ import annotations

from typing import Any

import torch

from .modules import describe_modules
from .tracing import GraphReader, Thing, inputs_of, outputs_of


def read_script(
    script: torch.jit.ScriptModule,
    model: torch.nn.Module | None = None,
    names: list[str] | None = None,
) -> dict[str, Any]:
    """The trace of a TorchScript module. `model` is the module it was traced from, if available; `names` are those
    of its inputs."""
    return _Reader(script, model).read(script, names)


class _Reader(GraphReader):
    def __init__(
        self, script: torch.jit.ScriptModule, model: torch.nn.Module | None = None
    ) -> None:
        super().__init__(*describe_modules(script if model is None else model))
        self.aliases = {
            alias: entry["path"] for entry in self.modules for alias in entry.get("aliases", ())
        }
        self.entry = {entry["path"]: entry for entry in self.modules}
        self.paths: dict[torch.nn.Module, str] = {script: ""}
        self.assigned: dict[tuple[str, str], Thing] = {}

    def read(self, script: torch.jit.ScriptModule, names: list[str] | None) -> dict[str, Any]:
        graph = _graph(script, "forward")
        _, *values = graph.inputs()
        inputs: list[dict[str, Any]] = []
        arguments = [self.input(value, value.type(), inputs) for value in values]
        for made, name in zip(inputs, names or ()):
            made["name"] = name
        results = self.invoke(script, "forward", arguments)
        return self.document(inputs, list(self.flat(results)))

    def input(self, value: Any, kind: Any, inputs: list[dict[str, Any]]) -> Thing:
        """An argument of the model; tuples are flattened, as exporters do."""
        if kind.kind() == "TupleType":
            return [self.input(value, element, inputs) for element in kind.elements()]
        made = self.make(value)
        inputs.append({"name": value.debugName().rpartition(".")[0] or value.debugName(), **made})
        return {"value": made["value"]}

    def flat(self, thing: Thing) -> Any:
        if isinstance(thing, list):
            for item in thing:
                yield from self.flat(item)
        else:
            yield self.argument(thing)

    # Modules.

    def special(self, node: Any, kind: str) -> bool:
        if kind == "prim::GetAttr":
            owner = self.thing(node.inputsAt(0))
            if not isinstance(owner, torch.nn.Module):
                return False
            self.things[node.output().unique()] = self.attribute(owner, node.s("name"))
            return True
        if kind == "prim::SetAttr":
            owner, value = (self.thing(value) for value in inputs_of(node))
            if isinstance(owner, torch.nn.Module):
                self.assigned[self.paths[owner], node.s("name")] = value
            return True
        if kind == "prim::CallMethod":
            owner, *arguments = (self.thing(value) for value in inputs_of(node))
            if not isinstance(owner, torch.nn.Module):
                return False
            results = self.invoke(owner, node.s("name"), arguments)
            self.things |= {v.unique(): thing for v, thing in zip(outputs_of(node), [results])}
            return True
        return False

    def attribute(self, owner: torch.nn.Module, name: str) -> Thing:
        path = self.paths[owner]
        if (path, name) in self.assigned:
            return self.assigned[path, name]
        value = getattr(owner, name)
        full = f"{path}.{name}" if path else name
        if isinstance(value, torch.nn.Module):
            self.paths.setdefault(value, self.known(full))
            return value
        if isinstance(value, torch.Tensor) and any(
            p["name"] == name for p in self.entry[path]["parameters"]
        ):
            return {"parameter": full}
        return self.constant(value)

    def known(self, path: str) -> str:
        return self.aliases.get(path, path)

    def invoke(self, owner: torch.nn.Module, method: str, arguments: list[Thing]) -> Thing:
        """The results of a method. A method that another method of the same module calls belongs to the same call."""
        entry = self.entry[self.paths[owner]]
        graph = _graph(owner, method)
        around = self.things
        self.things = {
            value.unique(): thing for value, thing in zip(graph.inputs(), [owner, *arguments])
        }
        if entry["path"] == self.module and entry["calls"]:
            self.walk(graph.nodes())
        else:
            with self.running(entry):
                self.walk(graph.nodes())
        results = [self.thing(value) for value in graph.outputs()]
        self.things = around
        return results[0] if len(results) == 1 else results

    def argument(self, thing: Thing) -> dict[str, Any]:
        if isinstance(thing, torch.nn.Module):
            return {"constant": None}
        return super().argument(thing)


def _graph(owner: Any, method: str) -> Any:
    """The graph of a method. In a freshly traced module, a Python attribute hides it."""
    found = getattr(owner, method)
    return found.graph if hasattr(found, "graph") else owner._c._get_method(method).graph
