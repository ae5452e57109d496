"""The results of a PyTorch model's module calls, recorded by forward hooks. Needs torch."""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from . import nested
from .calls import Call as ExampleCall
from .capture import unwrapped
from .diff_graphs import Call, Graph, Pair, label
from .errors import BadInput, HTPError
from .exporting import arguments_of, summary
from .recording import trace
from .state import untouched

_Hook = Callable[[Any, Any, Any], Any]


@dataclass
class _Values:
    """The results of one run: arrays by name, in the order in which the calls returned."""

    arrays: dict[str, Any] = field(default_factory=dict)
    calls: dict[Call, list[str]] = field(default_factory=dict)
    #: by identity: the first value that a tensor was seen as, and the tensor itself, to keep it alive
    first: dict[int, tuple[str, torch.Tensor]] = field(default_factory=dict)
    same: dict[str, str] = field(
        default_factory=dict
    )  # values that an inner module already returned
    count: Counter[str] = field(default_factory=Counter)  # calls of each module

    @functools.cached_property
    def places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.arrays)}


class Program:
    """A PyTorch model with an example call."""

    def __init__(self, name: str, model: Any, args: Any, kwargs: Mapping[str, Any] | None) -> None:
        self.path = name
        self.model = unwrapped(model)
        self.args, self.kwargs = arguments_of(self.model, args, kwargs)
        self.call = ExampleCall(self.model, self.args, self.kwargs, lambda text: None)
        self.given: dict[str, torch.Tensor] = {}  # inputs that replace those of the example call
        self.paths = {module: path for path, module in self.model.named_modules()}
        self.classes = {path: type(module).__name__ for module, path in self.paths.items()}
        self.seen = _Values()

    # --- inputs

    @property
    def feeds(self) -> dict[str, Any]:
        """The tensors that it is called with, by the names that an export gives them."""
        return {name: _array(tensor) for name, tensor in self.tensors.items()}

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The tensors themselves."""
        return {x.name: self.given.get(x.name, x.tensor) for x in self.call.leaves}

    def give(self, arrays: Mapping[str, Any]) -> None:
        """Replaces inputs of the example call, by name, or all of them in order."""
        names = self.call.input_names
        if not set(arrays) <= set(names):
            if len(arrays) != len(names):  # another export's names, in the same order
                unknown = next(name for name in arrays if name not in names)
                raise BadInput(
                    f"{self.path} has no input {unknown!r}; it has {', '.join(map(repr, names))}"
                )
            arrays = dict(zip(names, arrays.values()))
        for leaf in self.call.leaves:
            if leaf.name in arrays:
                array = arrays[leaf.name]
                if len(array.shape) != leaf.tensor.dim():
                    raise BadInput(
                        f"input {leaf.name!r} has the shape {list(array.shape)}, but {self.path} "
                        f"takes {list(leaf.tensor.shape)}"
                    )
                self.given[leaf.name] = torch.from_numpy(array.copy()).to(leaf.tensor.dtype)

    # --- running

    def run(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The results of every module call. Contents in `given` replace those values in the computation."""
        values = _Values()

        def hook(module: torch.nn.Module, inputs: Any, output: Any) -> Any:
            path = self.paths[module]
            call = (path, values.count[path])
            values.count[path] += 1
            return _look(call, inputs, output, values, given)

        self.forward(hook)
        if given is None:
            self.seen = values
        return values.arrays

    def forward(self, leave: _Hook, enter: _Hook | None = None) -> None:
        """Runs the model, with a hook at the end of every module call, and perhaps one at its beginning."""
        with self._ready(leave, enter), torch.no_grad():
            new = {id(x.tensor): self.given.get(x.name, x.tensor) for x in self.call.leaves}
            args, kwargs = nested.replaced((self.call.args, self.call.kwargs), new)
            try:
                self.model(*args, **kwargs)
            except HTPError:
                raise
            except Exception as error:
                raise BadInput(f"{self.path} does not run: {summary(error)}") from error

    @contextlib.contextmanager
    def _ready(self, leave: _Hook, enter: _Hook | None) -> Iterator[None]:
        """Puts the model in evaluation mode with hooks on every module, and restores it afterwards."""
        with untouched(self.model, (self.args, self.kwargs), lambda text: None):
            handles = [module.register_forward_hook(leave) for module in self.paths]
            for module in self.paths if enter else ():
                handles.append(
                    module.register_forward_pre_hook(enter, prepend=True, with_kwargs=True)
                )
            try:
                yield
            finally:
                for handle in handles:
                    handle.remove()

    def run_given(self, given: Mapping[str, Any], feeds: Mapping[str, Any]) -> dict[str, Any]:
        return self.run(given)

    # --- modules

    def class_name(self, path: str) -> str:
        return self.classes.get(path, "")

    def is_called_often(self, path: str) -> bool:
        return self.seen.count[path] > 1

    def place(self, value: str) -> float:
        """The position of a value in execution order."""
        return self.seen.places.get(value, -1)

    def write_trace(self, folder: Path) -> Path:
        """Writes its trace, for tagging an ONNX file of it."""
        return trace(self.model, self.args, folder / "trace.json", kwargs=self.kwargs).path


def _look(
    call: Call, inputs: Any, output: Any, values: _Values, given: Mapping[str, Any] | None
) -> Any:
    """Records the results of a module call. Returns the output with replacements, or None without any."""
    replaced: dict[int, torch.Tensor] = {}
    handed = {id(tensor) for _, tensor in nested.tensors(inputs, "")}
    for name, tensor in nested.tensors(output, ""):
        if id(tensor) in handed:
            continue  # a module that returns its input, as Dropout does, computes nothing
        value = f"{call[0]}:{name or 'output'}" + (f"@{call[1]}" if call[1] else "")
        if (array := _array(tensor)) is None:
            continue
        known, _ = values.first.setdefault(id(tensor), (value, tensor))
        if known != value:
            values.same[value] = known
        values.arrays[value] = array
        values.calls.setdefault(call, []).append(value)
        if given is not None and value in given:
            replaced[id(tensor)] = torch.from_numpy(given[value].copy()).to(tensor.dtype)
    return nested.replaced(output, replaced) if replaced else None


def _array(tensor: torch.Tensor) -> Any:
    """A copy as a NumPy array, because PyTorch may write into the tensor later; None if NumPy cannot hold it.
    NumPy has no bfloat16, so that becomes float32."""
    tensor = tensor.detach()
    if tensor.is_complex() or tensor.is_sparse or tensor.is_quantized:
        return None
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor.clone()).cpu().numpy()


def pairs_of_programs(one: Program, two: Program) -> tuple[list[Pair], list[str]]:
    """Pairs the values of two PyTorch models by name."""
    pairs: list[Pair] = []
    missing: list[str] = []
    for call, values in one.seen.calls.items():
        found = [value for value in values if value in two.seen.arrays]
        pairs += [(call, value, value) for value in found]
        if len(found) < len(values):
            missing.append(label(call, one.is_called_often(call[0])))
    return pairs, missing


def pairs_with_graph(
    program: Program, graph: Graph, arrays: Mapping[str, Any]
) -> tuple[list[Pair], list[str]]:
    """Pairs a PyTorch model's values with a graph's: values of one shape and kind that leave the same module
    call, in order, if both have equally many."""
    leaving = {**graph.boundaries, ("", 0): graph.results}
    pairs: list[Pair] = []
    missing: list[str] = []
    seen = program.seen
    # If several modules became one node, its value is that of the last to run.
    last: dict[Call, Call] = {}
    for call in seen.calls:
        if (home := graph.absorbed.get(call)) is not None:
            last[home] = call
    home_of = {call: home for home, call in last.items()}
    gone = {*graph.absorbed, *graph.absorbed.values()} - {*home_of}
    partner: dict[str, str] = {}
    for call, values in seen.calls.items():
        partner |= {a: partner[b] for a in values if (b := seen.same.get(a)) in partner}
        if call not in gone:
            ours = _by_form([v for v in values if v not in partner], seen.arrays)
            known = {partner[v] for v in values if v in partner}
            place = home_of.get(call, call)
            theirs = _by_form([v for v in leaving.get(place, []) if v not in known], arrays)
            for form, group in ours.items():
                if len(group) == len(theirs.get(form, [])):
                    partner |= zip(group, theirs[form])
        pairs += [(call, value, partner[value]) for value in values if value in partner]
        if any(v not in partner for v in values) and (call in leaving or call in gone):
            missing.append(label(call, program.is_called_often(call[0])))
    return pairs, missing


def _by_form(values: list[str], arrays: Mapping[str, Any]) -> dict[tuple[Any, ...], list[str]]:
    forms: dict[tuple[Any, ...], list[str]] = {}
    for value in values:
        if (array := arrays.get(value)) is not None:
            forms.setdefault((array.shape, kind_of(array)), []).append(value)
    return forms


def kind_of(array: Any) -> str:
    """The kind of an array's elements, regardless of width and sign: f, i or b."""
    kind: str = array.dtype.kind
    return "i" if kind == "u" else kind
