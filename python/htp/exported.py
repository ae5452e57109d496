"""Makes a trace.json from the program that torch.export captured for the torch.export-based exporter.

The result equals what htp-trace reads from a `.pt2` archive, but no archive has to be written.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch.export.graph_signature import InputKind

from . import torchfeatures
from .modules import describe_modules, describe_tensor, document

_KINDS = {
    InputKind.PARAMETER: "parameter",
    InputKind.BUFFER: "buffer",
    InputKind.CONSTANT_TENSOR: "constant",
}
_FRAME = re.compile(r'File "(.*)", line (\d+)')
Thing = dict[str, Any]


def read_program(model: torch.nn.Module, program: torch.export.ExportedProgram) -> dict[str, Any]:
    """The trace of a model that torch.export captured."""
    return Reader(describe_modules(model)[0]).read(program)


class Reader:
    def __init__(self, modules: list[dict[str, Any]]) -> None:
        self.modules = modules
        self.entry = {entry["path"]: entry for entry in self.modules}
        self.aliases = {
            alias: entry["path"] for entry in self.modules for alias in entry.get("aliases", ())
        }
        self.calls: dict[str, int] = {}  # number of the call, by the stack of running instances
        self.things: dict[torch.fx.Node, Thing] = {}
        self.ops: list[dict[str, Any]] = []
        self.values = 0

    def read(self, program: torch.export.ExportedProgram) -> dict[str, Any]:
        specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
        inputs = []
        for node in program.graph.nodes:
            if node.op != "placeholder":
                continue
            spec = specs[node.name]
            if spec.kind in _KINDS:
                self.things[node] = {"parameter": self.parameter(spec, program)}
            elif spec.kind is InputKind.USER_INPUT and isinstance(
                node.meta.get("val"), torch.Tensor
            ):
                inputs.append(self.make(node, node.name, node.meta["val"]))
        outputs = self.walk(program.graph_module)
        outputs = [output for output in _flat(outputs) if "constant" not in output]
        return document("export", self.modules, inputs, outputs, self.ops)

    def parameter(self, spec: Any, program: torch.export.ExportedProgram) -> str:
        """The path of the parameter that an argument stands for. A constant tensor belongs to the module whose
        path is a prefix of its name."""
        path = str(spec.target)
        if spec.kind is InputKind.CONSTANT_TENSOR and path in program.constants:
            owner = path
            while owner not in self.entry:
                owner = owner.rpartition(".")[0]
            name = path.removeprefix(f"{owner}.") if owner else path
            listed = self.entry[owner]["parameters"]
            if all(parameter["name"] != name for parameter in listed):
                listed.append(describe_tensor(name, "constant", program.constants[path]))
            return path
        owner, dot, name = path.rpartition(".")
        return f"{self.known(owner)}{dot}{name}"

    # Operations.

    def walk(self, graph: torch.fx.GraphModule) -> list[Thing]:
        """Records the operations of a graph. Returns its results."""
        for node in graph.graph.nodes:
            if node.op == "output":
                return [self.argument(argument) for argument in node.args[0]]
            if node.op == "call_function" and node.target is not operator.getitem:
                self.add(graph, node)
        return []

    def add(self, graph: torch.fx.GraphModule, node: torch.fx.Node) -> None:
        bodies = [
            getattr(graph, str(argument.target))
            for argument in node.args
            if isinstance(argument, torch.fx.Node) and argument.op == "get_attr"
        ]
        arguments = [*node.args, *(node.kwargs[name] for name in _keywords(node))]
        inputs = [self.argument(a) for a in arguments if not _is_body(a)]
        if len(bodies) == 1:  # a wrapper, such as one that sets grad mode
            results = self.block(bodies[0], inputs, captures=True)["outputs"]
            self.bind(node, results)
            return
        module, call = self.running(node)
        op = {"kind": _kind(node.target), "module": module, "call": call, "inputs": inputs}
        captures = op["kind"] == "higher_order::cond"
        blocks = []
        around = self.ops
        for body in bodies:
            self.ops = []
            block = self.block(body, inputs, captures=captures)
            blocks.append(block | {"ops": self.ops})
        self.ops = around
        op["outputs"] = list(self.results(node))
        if source := _source(node.meta.get("stack_trace") or ""):
            op["source"] = source
        if blocks:
            op["blocks"] = blocks
        self.ops.append(op)

    def block(
        self, body: torch.fx.GraphModule, inputs: list[Thing], *, captures: bool
    ) -> dict[str, Any]:
        """Records a subgraph. With `captures`, it reads its operands directly; otherwise (a loop's body) its
        inputs are values of its own."""
        places = [node for node in body.graph.nodes if node.op == "placeholder"]
        operands = [thing for thing in _flat(inputs) if "constant" not in thing]
        assert len(places) <= len(operands), "each input of a subgraph is an operand"
        made = []
        for node, operand in zip(places, operands[len(operands) - len(places) :]):
            if captures:
                self.things[node] = operand
            else:
                made.append(self.make(node, node.name, node.meta.get("val")))
        return {"inputs": made, "outputs": self.walk(body)}

    def running(self, node: torch.fx.Node) -> tuple[str, int]:
        """The innermost module that was running, and the number of its call."""
        path, call, key = "", 0, ""
        for instance, (where, cls) in (node.meta.get("nn_module_stack") or {}).items():
            if instance == cls:  # an op that PyTorch adds itself
                continue
            # Only the instance that was called again has a different name, so the key includes all names
            # of the stack.
            key += f"{instance};"
            path = self.known(".".join(part.partition("@")[0] for part in where.split(".")))
            entry = self.entry[path]
            if key not in self.calls:
                self.calls[key] = entry["calls"]
                entry["calls"] += 1
            call = self.calls[key]
        return path, call

    def known(self, path: str) -> str:
        """The path in the tree for a path that may use an alias of a module."""
        tail = ""
        head = path
        while head not in self.entry:
            if head in self.aliases:
                return self.known(self.aliases[head] + tail)
            head, _, last = head.rpartition(".")
            tail = f".{last}{tail}"
        return head

    # Values.

    def make(self, node: torch.fx.Node | None, name: str, value: Any) -> Thing:
        """Makes a new value; `value` is its stand-in from tracing, with shape and type."""
        made: Thing = {"value": self.values, "name": name}
        self.values += 1
        if node is not None:
            self.things[node] = {"value": made["value"]}
        if isinstance(value, torch.Tensor):
            made["shape"] = [size if isinstance(size, int) else None for size in value.shape]
            made["dtype"] = str(value.dtype).removeprefix("torch.")
        return made

    def results(self, node: torch.fx.Node) -> Iterator[Thing]:
        """The results of a node: one value, or those that other nodes extract from it."""
        value = node.meta.get("val")
        if not isinstance(value, (list, tuple)):
            if value is not None:
                yield self.make(node, node.name, value)
            return
        takers: dict[int, list[torch.fx.Node]] = {}
        for user in node.users:
            if user.target is operator.getitem:
                takers.setdefault(int(user.args[1]), []).append(user)  # type: ignore[arg-type]
        made = []
        for index, part in enumerate(value):
            first = takers.get(index, [None])[0]
            name = first.name if first else f"{node.name}_unused_{index}"
            made.append(self.make(first, name, part))
            for other in takers.get(index, ()):
                self.things[other] = {"value": made[-1]["value"]}
        self.things[node] = {"list": [{"value": thing["value"]} for thing in made]}
        yield from made

    def bind(self, node: torch.fx.Node, results: list[Thing]) -> None:
        """Makes the results of a subgraph those of the wrapper that calls it."""
        self.things[node] = {"list": results}
        for user in node.users:
            if user.target is operator.getitem:
                self.things[user] = results[int(user.args[1])]  # type: ignore[arg-type]

    def argument(self, value: Any) -> Thing:
        """An argument as in trace.json; types, layouts and memory formats are numbers, as in an archive."""
        if isinstance(value, torch.fx.Node):
            return self.things.get(value, {"constant": None})
        if isinstance(value, (list, tuple)):
            return {"list": [self.argument(item) for item in value]}
        if isinstance(value, float) and not math.isfinite(value):
            name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            return {"constant": name}
        if isinstance(value, torch.device):
            return {"constant": value.type}
        for kind, name in (
            (torch.dtype, "DTYPE"),
            (torch.layout, "LAYOUT"),
            (torch.memory_format, "MEMORY_FORMAT"),
        ):
            if isinstance(value, kind) and value in (numbers := torchfeatures.numbers(name)):
                return {"constant": int(numbers[value])}
        plain = value is None or isinstance(value, (bool, int, float, str))
        return {"constant": value if plain else str(value)}


def _is_body(argument: Any) -> bool:
    return isinstance(argument, torch.fx.Node) and argument.op == "get_attr"


def _keywords(node: torch.fx.Node) -> list[str]:
    """The names of a node's keyword arguments, in the order of the operator's schema."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return list(node.kwargs)
    return [a.name for a in schema.arguments if a.name in node.kwargs]


def _kind(target: Any) -> str:
    """`aten::linear`, `_operator::mul`, `higher_order::cond`."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target._schema.name)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order::{target.name()}"
    return f"{target.__module__}::{target.__name__}"


def _flat(things: list[Thing]) -> Iterator[Thing]:
    for thing in things:
        if "list" in thing:
            yield from _flat(thing["list"])
        else:
            yield thing


def _source(traceback: str) -> dict[str, Any] | None:
    """The innermost line of Python code outside PyTorch itself; the innermost frame comes last."""
    frames = _FRAME.findall(traceback)[::-1]
    for file, line in frames:
        if "/torch/" not in file:
            return {"file": file, "line": int(line)}
    return {"file": frames[0][0], "line": int(frames[0][1])} if frames else None
