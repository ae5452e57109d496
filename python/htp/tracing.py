"""Makes a trace.json from the graph that the TorchScript exporter traces anyway.

Tracing a model once more, saving it, and having htp-trace load LibTorch to read it would take half as long as
an export. The exporter's own graph has the same information: while `forward` runs, every call of a module is a
block of that graph, in execution order.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from . import torchfeatures
from .modules import describe_modules, describe_tensor, document, memory

#: Represents a value of the graph: a dict as in trace.json, or a list for the items of a list or tuple.
Thing = Any

#: A line of the Python stack in a trace, or in a scripted function.
_FRAME = re.compile(r'(?:  File ")?(.*)(?:\(|", line )(\d+)(?:\): .*|, in .*|)$')
_CALL = "prim::TracedModuleForward"
_NONE: Thing = {"constant": None}
#: Operations that only pass values on.
_WIRES = {
    "prim::NumToTensor",
    "aten::Int",
    "aten::ScalarImplicit",
    "aten::IntImplicit",
    "aten::FloatImplicit",
    "prim::unchecked_cast",
    "prim::unchecked_unwrap_optional",
}
_BRANCHES = {"aten::__is__", "aten::__isnot__", "prim::If"}
#: Operations that are not recorded if their results are known.
_TRANSPARENT = _BRANCHES | {
    "prim::CallFunction",
    "prim::ListConstruct",
    "prim::TupleConstruct",
    "prim::DictConstruct",
    "prim::ListUnpack",
    "prim::TupleUnpack",
    "prim::TupleIndex",
    "aten::__getitem__",
}


@contextlib.contextmanager
def observed(
    model: torch.nn.Module,
    input_names: list[str],
    captured: Callable[[Callable[[], dict[str, Any]]], None],
) -> Iterator[None]:
    """Within the block, an export of `model` with the TorchScript-based exporter passes a function that reads its trace
    to `captured`, before the graph is translated. Does nothing if this PyTorch does not expose the graph."""
    if not torchfeatures.exporter_graph():
        yield
        return
    original = torch._C._create_graph_by_tracing

    def create(function: Callable[..., Any], inputs: Any, *rest: Any) -> Any:
        def traced(*tensors: Any) -> Any:
            result = function(*tensors)
            state = torch._C._get_tracing_state()
            results = result if isinstance(result, tuple) else (result,)
            values = [torch._C._get_value_trace(tensor) for tensor in results]
            torch._C._set_tracing_state(None)  # what happens here is not part of the model
            try:
                captured(
                    lambda: _Reader(model, names).read(state.graph(), inputs, input_names, values)
                )
            finally:
                torch._C._set_tracing_state(state)
            return result

        names = _Names(torch.jit._trace._trace_module_map or {})
        torch.jit._trace._trace_module_map = names
        return original(traced, inputs, *rest)

    torch._C._create_graph_by_tracing = create
    try:
        yield
    finally:
        torch._C._create_graph_by_tracing = original


class _Names(dict[torch.nn.Module, str]):
    """The exporter's names of modules. The exporter looks one up whenever a call of a module begins, so this records
    which modules run, in order. Hooks could do that, too, but every operation records the Python stack, and hooks make
    that deeper by two frames per module."""

    def __init__(self, names: Mapping[torch.nn.Module, str]) -> None:
        super().__init__(names)
        self.asked: list[torch.nn.Module] = []

    def get(self, module: torch.nn.Module, default: Any = None) -> Any:
        name = super().get(module, default)
        if name:
            self.asked.append(module)
        return name

    def __getitem__(self, module: torch.nn.Module) -> str:
        """PyTorch before 2.7 looks up names in this way, after checking that the module is contained."""
        name = super().__getitem__(module)
        if name:
            self.asked.append(module)
        return name


# --- the graph -----------------------------------------------------------------------------------


class GraphReader:
    """Walks a graph and records its operations. Subclasses know how the graph says which module runs, and which nodes
    are not operations."""

    def __init__(self, modules: list[dict[str, Any]], parameters: dict[Any, str]) -> None:
        self.modules, self.parameters = modules, parameters
        self.things: dict[int, Thing] = {}
        self.ops: list[dict[str, Any]] = []
        self.module, self.call = "", 0
        self.constants = self.values = 0
        self.kept: list[torch.Tensor] = []  # kept alive so that their memory is not reused

    def special(self, node: Any, kind: str) -> bool:
        """Reads a node that only this kind of graph has. Returns whether it is one."""
        raise NotImplementedError

    def document(
        self, inputs: list[dict[str, Any]], outputs: list[dict[str, Any]]
    ) -> dict[str, Any]:
        return document("torchscript", self.modules, inputs, outputs, _live(self.ops, outputs))

    def walk(self, nodes: Any) -> None:
        for node in nodes:
            kind = node.kind()
            if kind == "prim::Constant":
                value = node.output()
                self.things[value.unique()] = self.constant(value.toIValue())
            elif self.special(node, kind):
                continue
            elif kind in _WIRES:
                self.things[node.output().unique()] = self.thing(node.inputsAt(0))
            elif kind in _TRANSPARENT and self.passes_on(node, kind):
                continue
            else:
                self.add(node, kind)

    @contextlib.contextmanager
    def running(self, entry: dict[str, Any]) -> Iterator[None]:
        """Within the block, operations belong to a new call of a module."""
        around = self.module, self.call
        self.module, self.call = entry["path"], entry["calls"]
        entry["calls"] += 1
        yield
        self.module, self.call = around

    def add(self, node: Any, kind: str) -> None:
        """Records an operation."""
        op: dict[str, Any] = {
            "kind": kind,
            "module": self.module,
            "call": self.call,
            "inputs": [self.argument(self.thing(value)) for value in inputs_of(node)],
            "outputs": [self.make(value) for value in outputs_of(node)],
        }
        if source := _source(node):
            op["source"] = source
        if kind.startswith("prim::") and (blocks := list(node.blocks())):
            op["blocks"] = [self.block(block) for block in blocks]
        self.ops.append(op)

    def block(self, block: Any) -> dict[str, Any]:
        """Records a body of control flow, which only scripted functions have."""
        around, self.ops = self.ops, []
        inputs = [self.make(value) for value in block.inputs()]
        self.walk(block.nodes())
        outputs = [self.argument(self.thing(value)) for value in block.outputs()]
        ops, self.ops = self.ops, around
        return {"inputs": inputs, "outputs": outputs, "ops": ops}

    # Nodes that are not operations.

    def passes_on(self, node: Any, kind: str) -> bool:
        """If the node is not an operation of its own, notes its results. Returns whether that is so."""
        if kind == "prim::CallFunction":
            return self.calls(node)
        if kind in _BRANCHES:
            return self.branches(node, kind)
        inputs = [self.thing(value) for value in inputs_of(node)]
        outputs: list[Thing]
        if kind in ("prim::ListConstruct", "prim::TupleConstruct"):
            outputs = [inputs]
        elif kind == "prim::DictConstruct":
            outputs = [inputs[1::2]]
        elif kind in ("prim::ListUnpack", "prim::TupleUnpack"):
            whole = inputs[0]
            outputs = whole if isinstance(whole, list) else [whole] * node.outputsSize()
        else:  # an item
            index = inputs[1].get("constant") if isinstance(inputs[1], dict) else None
            if not isinstance(inputs[0], list) or not isinstance(index, int):
                return False
            outputs = [inputs[0][index]]
        self.things.update(zip((value.unique() for value in outputs_of(node)), outputs))
        return True

    def calls(self, node: Any) -> bool:
        """Replaces a call of a scripted function by the function's body."""
        called, *arguments = inputs_of(node)
        function = torchfeatures.scripted_function(str(called.type()))
        if function is None:
            return False
        around, outer = self.things, [self.thing(value) for value in arguments]
        self.things = {v.unique(): thing for v, thing in zip(function.graph.inputs(), outer)}
        self.walk(function.graph.nodes())
        results = [self.thing(value) for value in function.graph.outputs()]
        self.things = around | {v.unique(): thing for v, thing in zip(outputs_of(node), results)}
        return True

    def branches(self, node: Any, kind: str) -> bool:
        """Replaces a branch that the trace decides (`if mask is None`) by the body that is taken."""
        inputs = [self.thing(value) for value in inputs_of(node)]
        if kind != "prim::If":
            if inputs[1] != _NONE:
                return False
            same = (inputs[0] == _NONE) == (kind == "aten::__is__")
            self.things[node.output().unique()] = {"constant": same}
            return True
        if inputs[0] not in ({"constant": True}, {"constant": False}):
            return False
        taken = list(node.blocks())[0 if inputs[0]["constant"] else 1]
        self.walk(taken.nodes())
        for value, result in zip(outputs_of(node), taken.outputs()):
            self.things[value.unique()] = self.thing(result)
        return True

    # Values.

    def thing(self, value: Any) -> Thing:
        return self.things.get(value.unique(), _NONE)

    def make(self, value: Any) -> dict[str, Any]:
        """A new value."""
        made: dict[str, Any] = {"value": self.values}
        self.values += 1
        self.things[value.unique()] = dict(made)
        kind = value.type()
        if kind.kind() == "TensorType" and (sizes := kind.sizes()) is not None and kind.dtype():
            made |= {"shape": sizes, "dtype": str(kind.dtype()).removeprefix("torch.")}
        return made

    def constant(self, value: Any) -> Thing:
        if isinstance(value, float) and not math.isfinite(value):
            name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            return {"constant": name}
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"constant": value}
        if isinstance(value, (list, tuple)):
            return [self.constant(item) for item in value]
        # Last, because the check for a tensor takes longest.
        return self.tensor(value) if isinstance(value, torch.Tensor) else {"constant": str(value)}

    def tensor(self, tensor: torch.Tensor) -> Thing:
        """A parameter or buffer if it is one; else a number, or a constant of the root."""
        key = memory(tensor)
        if key not in self.parameters:
            if tensor.dim() == 0 and not tensor.is_complex():
                return self.constant(tensor.item())
            path = f"CONSTANTS.c{self.constants}"
            self.constants += 1
            self.modules[0]["parameters"].append(describe_tensor(path, "constant", tensor))
            self.parameters[key] = path
            self.kept.append(tensor)
        return {"parameter": self.parameters[key]}

    def argument(self, thing: Thing) -> dict[str, Any]:
        """An argument as in trace.json."""
        if isinstance(thing, list):
            return {"list": [self.argument(item) for item in thing]}
        return dict(thing)


class _Reader(GraphReader):
    """Reads the graph of the TorchScript exporter, in which every call of a module is a block."""

    def __init__(self, model: torch.nn.Module, names: _Names) -> None:
        super().__init__(*describe_modules(model))
        self.entry = dict(zip(model.modules(), self.modules))
        self.names = names
        self.asked = iter(names.asked)  # the modules in the order of their calls

    def read(self, graph: Any, tensors: Any, names: list[str], results: Any) -> dict[str, Any]:
        """`tensors` are the arguments of the graph. The first are the model's inputs, called `names`; the others are
        parameters."""
        inputs = []
        values = list(graph.inputs())
        assert len(values) == len(tensors), "each argument is one input of the graph"
        for place, (value, tensor) in enumerate(zip(values, tensors)):
            if place < len(names):
                inputs.append({"name": names[place], **self.make(value)})
            else:
                self.things[value.unique()] = self.tensor(tensor)
        self.walk(graph.nodes())
        return self.document(inputs, [self.argument(self.things[v.unique()]) for v in results])

    def special(self, node: Any, kind: str) -> bool:
        if kind != _CALL:
            return False
        module = next(self.asked, None)
        scope = node.s("scope")
        if module is None or scope != self.names[module]:
            raise RuntimeError(
                f"the trace calls {scope!r}, but the model calls {type(module).__name__}"
            )
        with self.running(self.entry[module]):
            for block in node.blocks():
                self.walk(block.nodes())
        return True


# PyTorch's iterators would take ten times as long.


def inputs_of(node: Any) -> list[Any]:
    return [node.inputsAt(i) for i in range(node.inputsSize())]


def outputs_of(node: Any) -> list[Any]:
    return [node.outputsAt(i) for i in range(node.outputsSize())]


def _source(node: Any) -> dict[str, Any] | None:
    """The innermost line of Python code outside PyTorch itself."""
    lines = node.sourceRange().splitlines()
    outside = (line for line in lines if "/torch/" not in line)
    for line in itertools.chain(outside, lines):  # if all is PyTorch's code, its innermost line
        if frame := _FRAME.match(line):
            return {"file": frame[1], "line": int(frame[2])}
    return None


def _live(ops: list[dict[str, Any]], outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The operations without those whose results are unused, such as sizes that only Python code read."""
    used: set[int] = set()
    _use(outputs, used)
    kept = []
    for op in reversed(ops):
        makes = op["outputs"]
        # A name that ends in "_" means an in-place operation.
        if not makes or op["kind"].endswith("_") or any(r["value"] in used for r in makes):
            _use_all(op, used)
            kept.append(op)
    return kept[::-1]


def _use_all(op: dict[str, Any], used: set[int]) -> None:
    _use(op["inputs"], used)
    for block in op.get("blocks", ()):
        _use(block["outputs"], used)
        for inner in block["ops"]:
            _use_all(inner, used)


def _use(things: list[dict[str, Any]], used: set[int]) -> None:
    """Adds the numbers of all values among `things`."""
    for thing in things:
        if "value" in thing:
            used.add(thing["value"])
        elif "list" in thing:
            _use(thing["list"], used)
