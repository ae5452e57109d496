"""Which module reads which parameter, observed while PyTorch runs, and whether the tags agree.

A node that reads a parameter belongs to the module that owns it, or to a module that was running while
PyTorch read it (nn.MultiheadAttention reads its out_proj's weight itself). Parameters are identified by
their contents and the exporter's name for them, never by what HTP wrote.
"""

from __future__ import annotations

import contextlib
import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn.parameter import UninitializedTensorMixin
from torch.overrides import TorchFunctionMode

from .values import positional

CONFIDENT = 0.9
# Wrappers that are not part of the user's model: a path is correct with and without them.
WRAPPERS = ("_orig_mod", "module")


class Readers(TorchFunctionMode):
    """Runs a model and remembers, for every parameter and buffer, the modules that read it."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model
        self.paths = defaultdict(list)  # module -> its paths
        for path, module in model.named_modules(remove_duplicate=False):
            self.paths[id(module)].append(path)
        self.owners = defaultdict(set)  # tensor -> paths of the modules that are right
        self.tensors: dict[str, torch.Tensor] = {}
        for path, module in model.named_modules(remove_duplicate=False):
            own = [
                *module.named_parameters("", False, False),
                *module.named_buffers("", False, False),
            ]
            for name, tensor in own:
                if isinstance(tensor, UninitializedTensorMixin):
                    continue
                self.tensors[f"{path}.{name}" if path else name] = tensor
                self.owners[id(tensor)] |= {path, *self._scripted(path)}
        self.stack: list[int] = []

    def _scripted(self, path: str) -> Iterator[str]:
        """The ScriptModules on a path: calls inside them cannot be observed, so one of these may represent them."""
        modules = dict(self.model.named_modules(remove_duplicate=False))
        parts = path.split(".") if path else []
        for i in range(len(parts) + 1):
            prefix = ".".join(parts[:i])
            if isinstance(modules.get(prefix), torch.jit.ScriptModule):
                yield prefix

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not self.stack or not any(isinstance(v, torch.Tensor) for v in _flat(result)):
            return result  # the shape of a parameter is not the parameter
        for value in _flat((args, kwargs or {})):
            if isinstance(value, torch.Tensor) and id(value) in self.owners:
                self.owners[id(value)] |= set(self.paths[self.stack[-1]])
        return result

    def run(self, args: Any, kwargs: dict[str, Any]) -> Readers:
        def enter(module: Any, _: Any) -> None:
            self.stack.append(id(module))

        def leave(module: Any, _: Any, __: Any) -> None:
            self.stack.pop()

        hooks = torch.nn.modules.module
        with contextlib.ExitStack() as kept:
            kept.callback(hooks.register_module_forward_pre_hook(enter).remove)
            kept.callback(hooks.register_module_forward_hook(leave, always_call=True).remove)
            kept.enter_context(both_branches())
            kept.enter_context(torch.no_grad())
            with self:
                self.model(*positional(args), **kwargs)
        return self

    def named(self, path: str) -> set[str]:
        """The correct modules for a parameter with this name, or without one."""
        return (
            with_and_without_wrappers(self.owners[id(self.tensors[path])])
            if path in self.tensors
            else set()
        )

    def contents(self, transposed: bool = False) -> dict[bytes, set[str]]:
        """The correct modules for an initializer with these bytes."""
        found: dict[bytes, set[str]] = defaultdict(set)
        for tensor in self.tensors.values():
            if (
                tensor.is_quantized
                or not tensor.is_floating_point()
                or tensor.dtype == torch.bfloat16
            ):
                continue
            array = tensor.detach().cpu().numpy()
            if array.size < 2 or (array == array.flat[0]).all():
                continue  # zeros and ones are everywhere
            form = np.ascontiguousarray(array.T) if transposed else array
            found[form.tobytes()] |= with_and_without_wrappers(self.owners[id(tensor)])
        return found

    def right(self, tensor: onnx.TensorProto) -> set[str]:
        """The modules that may read an initializer; none if it is not a parameter.

        With a parameter's name it is that one, and all that have the same contents: an exporter keeps one of
        equal ones. Without a name it is one where it is transposed: that is how the TorchScript exporter
        writes weights. As it is, it may be what a module made of its parameter, folded into a constant (all
        rows of an embedding), which is its caller's to read."""
        contents = numpy_helper.to_array(tensor).tobytes()
        named = self.named(tensor.name)
        return (
            named | self._as_is.get(contents, set())
            if named
            else self._transposed.get(contents, set())
        )

    @functools.cached_property
    def _as_is(self) -> dict[bytes, set[str]]:
        return self.contents()

    @functools.cached_property
    def _transposed(self) -> dict[bytes, set[str]]:
        return self.contents(transposed=True)


def with_and_without_wrappers(paths: Iterable[str]) -> set[str]:
    """The paths with and without the names that DataParallel and torch.compile add to them."""
    kept = {".".join(p for p in path.split(".") if p not in WRAPPERS) for path in paths}
    return kept | set(paths)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _flat(item)
    elif isinstance(value, dict):
        yield from _flat(list(value.values()))
    else:
        yield value


@contextlib.contextmanager
def both_branches() -> Iterator[None]:
    """torch.cond in plain Python, so that modules in both branches are seen to run."""
    original = torch.cond

    def cond(predicate: Any, yes: Any, no: Any, operands: Any = ()) -> Any:
        results = yes(*operands), no(*operands)
        return results[0 if bool(predicate) else 1]

    torch.cond = cond
    try:
        yield
    finally:
        torch.cond = original


def all_nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from all_nodes(inner)


def initializers(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from initializers(inner)


def misplaced(model: onnx.ModelProto, readers: Readers) -> tuple[int, list[str], list[str]]:
    """How many nodes read parameters directly, and those that are certainly, or possibly, tagged elsewhere."""
    right = {tensor.name: readers.right(tensor) for tensor in initializers(model.graph)}
    count, sure, unsure = 0, [], []
    for node in all_nodes(model.graph):
        wanted = set().union(*(right.get(name, set()) for name in node.input))
        if not wanted:
            continue
        count += 1
        notes = {p.key: p.value for p in node.metadata_props}
        if notes.get("htp.scope") in wanted:
            continue
        line = (
            f"{node.op_type} {node.name or node.output[0]} reads {[n for n in node.input if right.get(n)]}, "
            f"is {notes.get('htp.scope')!r} ({notes.get('htp.evidence')}, {notes.get('htp.confidence')}), "
            f"right: {sorted(wanted)[:4]}"
        )
        confident = float(notes.get("htp.confidence", 0)) >= CONFIDENT
        (sure if confident else unsure).append(line)
    return count, sure, unsure
