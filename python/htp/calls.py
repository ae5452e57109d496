"""An example call of a model: the tensors that go in and come out, and their names."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from . import nested
from .errors import BadInput


@dataclasses.dataclass
class Leaf:
    """A tensor among the arguments: an input of the exported model."""

    name: str
    tensor: torch.Tensor
    argument: str  # the parameter of forward that holds it


class Call:
    """An example call of a model, and the flat list of named tensors that a graph takes instead."""

    def __init__(
        self,
        model: torch.nn.Module,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        warn: Callable[[str], None],
    ) -> None:
        self.model, self.warn = model, warn
        self.args, self.kwargs = nested.copied((tuple(args), dict(kwargs)))
        self.forward: Callable[..., Any] = model.forward
        self.positions = _parameter_names(self.forward, self.args, self.kwargs)
        self.arguments = dict(zip(self.positions, self.args)) | self.kwargs
        self.leaves = list(self._leaves())
        self.output_names: list[str] = []  # known once forward has run
        self._chosen_outputs: Sequence[str] = ()
        if not self.leaves:
            raise BadInput("the example call has no tensors: pass args or kwargs")
        for argument, value in self.arguments.items():
            # A flag selects a variant of the model; a number is data that could have been an ONNX input.
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                warn(
                    f"the argument {argument!r} is not a tensor: the exported model keeps {value!r}"
                )

    def _leaves(self) -> Iterator[Leaf]:
        taken: set[str] = set()
        for argument, value in self.arguments.items():
            for name, tensor in nested.tensors(value, argument):
                yield Leaf(unique(name, taken), tensor, argument)

    def choose_names(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Sets the names that the user wants, in order; if there are fewer, the rest keep theirs."""
        for what, names in (("input_names", inputs), ("output_names", outputs)):
            if isinstance(names, str) or len(set(names)) != len(names):
                raise BadInput(f"{what} must be a list of distinct names, found {names!r}")
        if len(inputs) > len(self.leaves):
            raise BadInput(
                f"input_names has {len(inputs)} names, but the call has {len(self.leaves)} tensors: "
                f"{', '.join(self.input_names)}"
            )
        for leaf, name in zip(self.leaves, inputs):
            leaf.name = str(name)
        self._chosen_outputs = outputs

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        return tuple(leaf.tensor for leaf in self.leaves)

    @property
    def input_names(self) -> list[str]:
        return [leaf.name for leaf in self.leaves]

    @property
    def identifiers(self) -> list[str]:
        """The names as Python identifiers: `past_key_values_0_key`."""
        taken: set[str] = set()
        return [unique(_identifier(leaf.name), taken) for leaf in self.leaves]

    @property
    def is_plain(self) -> bool:
        """Whether PyTorch's own pytree finds the same tensors in the arguments, in the same order."""
        try:
            found = pytree.tree_leaves((self.args, self.kwargs))
        except Exception:
            return False
        found = [value for value in found if isinstance(value, torch.Tensor)]
        return len(found) == len(self.leaves) and all(
            a is b.tensor for a, b in zip(found, self.leaves)
        )

    @contextlib.contextmanager
    def flat(self, written: Sequence[str] = ()) -> Iterator[None]:
        """Within the block, the model's forward takes only the tensors, in order, and returns tensors.

        The TorchScript exporter turns keywords into positions, which a forward with a different order of
        arguments, or with keyword-only ones, rejects ("got multiple values for argument"). Neither exporter
        looks inside caches or user-defined objects. Buffers in `written` are copied first, as part of the
        traced code.
        """
        names = self.identifiers

        def forward(*tensors: torch.Tensor) -> Any:
            new = dict(zip((id(leaf.tensor) for leaf in self.leaves), tensors))
            args, kwargs = nested.replaced((self.args, self.kwargs), new)
            with self._copied_buffers(written):
                output = self.name_outputs(self.forward(*args, **kwargs))
            self._check_changes(args, kwargs, tensors, output)
            return output

        forward.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        )
        with self._replaced(forward):
            yield

    @contextlib.contextmanager
    def _copied_buffers(self, names: Sequence[str]) -> Iterator[None]:
        owners = [
            (self.model.get_submodule(n.rpartition(".")[0]), n.rpartition(".")[2]) for n in names
        ]
        before = [owner._buffers[name] for owner, name in owners]
        for (owner, name), buffer in zip(owners, before):
            assert buffer is not None
            owner._buffers[name] = buffer.clone()
        try:
            yield
        finally:
            for (owner, name), buffer in zip(owners, before):
                owner._buffers[name] = buffer

    @contextlib.contextmanager
    def flat_outputs(self) -> Iterator[None]:
        """Within the block, the model's forward takes its usual arguments but returns only tensors."""

        def forward(*args: Any, **kwargs: Any) -> Any:
            return self.name_outputs(self.forward(*args, **kwargs))

        with contextlib.suppress(TypeError, ValueError):
            forward.__signature__ = inspect.signature(self.forward)  # type: ignore[attr-defined]
        with self._replaced(forward):
            yield

    @contextlib.contextmanager
    def _replaced(self, forward: Callable[..., Any]) -> Iterator[None]:
        attributes = self.model.__dict__
        before = attributes.get("forward")
        attributes["forward"] = forward
        try:
            yield
        finally:
            if before is None:
                attributes.pop("forward", None)
            else:
                attributes["forward"] = before

    def name_outputs(self, output: Any) -> Any:
        """Names the tensors of an output and returns them: the output itself if it is a tensor, else a tuple."""
        taken = set(self.input_names)
        if isinstance(output, torch.Tensor):
            found = [("output", output)]
        else:
            found = list(nested.tensors(output, "", left_out=self._left_out, cache="present"))
        if not found:
            raise BadInput(f"the model's output, a {type(output).__name__}, contains no tensor")
        if len(self._chosen_outputs) > len(found):
            raise BadInput(
                f"output_names has {len(self._chosen_outputs)} names, but the model returns {len(found)} tensors"
            )
        names = [name if not name[:1].isdigit() else f"output_{name}" for name, _ in found]
        names[: len(self._chosen_outputs)] = self._chosen_outputs
        self.output_names[:] = [unique(name, taken) for name in names]
        results = tuple(tensor for _, tensor in found)
        return output if isinstance(output, torch.Tensor) else results

    def _left_out(self, name: str, kind: type) -> None:
        self.warn(f"the output {name!r} is a {kind.__name__}, not a tensor, and is left out")

    def _check_changes(self, args: Any, kwargs: Any, given: Any, output: Any) -> None:
        """Warns if forward changes an object that it was given and does not return it: the change is lost."""
        known = {id(tensor) for tensor in given}
        known |= {id(t) for t in (output if isinstance(output, tuple) else (output,))}
        for argument, value in (dict(zip(self.positions, args)) | kwargs).items():
            changed = [name for name, t in nested.tensors(value, argument) if id(t) not in known]
            if changed:
                self.warn(
                    f"forward changes its argument {argument!r} ({changed[0]}), "
                    "but the changed value is not an output of the model"
                )


def _parameter_names(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[str]:
    """The names of the positional arguments; also checks that the call fits forward's signature."""
    if isinstance(forward, torch.ScriptMethod):
        return [argument.name for argument in forward.schema.arguments[1:]]
    try:
        signature = inspect.signature(forward)
    except (TypeError, ValueError):
        return [f"input_{i}" for i in range(len(args))]
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise BadInput(f"the inputs do not fit the model's forward: {error}") from error
    names = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}_{i}" for i in range(len(args) - len(names))]
    return names


def unique(name: str, taken: set[str]) -> str:
    candidate, count = name, 0
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    taken.add(candidate)
    return candidate


def _identifier(name: str) -> str:
    text = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    return text if text.isidentifier() else f"input_{text}"
