"""What every module call of a PyTorch model takes and returns, as sketches. Needs torch."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from .. import nested
from ..diff_programs import Program
from ..errors import BadInput
from .sketching import Sketch, sketch


@dataclass
class ModuleCall:
    """One run of one module. Tensors are numbers of `Observation.tensors`."""

    module: str
    number: int
    parent: int | None
    takes: list[int] = field(default_factory=list)
    returns: list[int] = field(default_factory=list)
    #: Whether calls inside it, or a tensor that it returns, cannot be seen.
    blind: bool = False


@dataclass
class Observation:
    """One run of a model: its calls in the order in which they began."""

    calls: list[ModuleCall] = field(default_factory=list)
    tensors: list[Sketch] = field(default_factory=list)
    #: The names of the tensors among them that the model was called with.
    inputs: dict[int, str] = field(default_factory=dict)


class Observer:
    """Hooks that record an Observation. No tensor outlives its module call because of them."""

    def __init__(self, program: Program) -> None:
        self.program, self.seen = program, Observation()
        self.stack: list[int] = []
        self.count: Counter[str] = Counter()
        #: by identity: the tensor, its version, and its number
        self.known: dict[int, tuple[weakref.ref[torch.Tensor], int, int | None]] = {}

    def run(self) -> Observation:
        for name, tensor in self.program.tensors.items():
            if (number := self._number(tensor)) is not None:
                self.seen.inputs[number] = name
        self.program.forward(self._leave, self._enter)
        results = [self.seen.tensors[i] for i in self.seen.calls[0].returns]
        if any(s.nan for s in results):
            raise BadInput(
                f"{self.program.path} returns NaN for these inputs: nothing can be compared, expected "
                "inputs for which its results are numbers"
            )
        return self.seen

    def _enter(self, module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        parent = self.stack[-1] if self.stack else None
        path = self.program.paths[module]
        call = ModuleCall(path, self.count[path], parent)
        call.blind = isinstance(module, torch.jit.ScriptModule)
        self.count[path] += 1
        call.takes = [n for n in self._numbers((args, kwargs)) if n is not None]
        self.stack.append(len(self.seen.calls))
        self.seen.calls.append(call)

    def _leave(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        call = self.seen.calls[self.stack.pop()]
        numbers = list(self._numbers(output))
        call.returns = [n for n in numbers if n is not None]
        call.blind |= not numbers or None in numbers

    def _numbers(self, value: Any) -> Iterator[int | None]:
        return (self._number(tensor) for _, tensor in nested.tensors(value, ""))

    def _number(self, tensor: torch.Tensor) -> int | None:
        """The number of a tensor with these contents; None if it cannot be sketched."""
        before, version, found = self.known.get(id(tensor), (None, 0, None))
        if version == tensor._version and before and before() is tensor:
            return found
        number: int | None = None
        if (made := _sketch(tensor)) is not None:
            number = len(self.seen.tensors)
            self.seen.tensors.append(made)
        self.known[id(tensor)] = (weakref.ref(tensor), tensor._version, number)
        return number


def _sketch(tensor: torch.Tensor) -> Sketch | None:
    if tensor.layout is not torch.strided or tensor.is_quantized:
        return None
    tensor = tensor.detach()
    if tensor.is_complex():  # as exporters represent them
        tensor = torch.view_as_real(tensor.resolve_conj())
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    return sketch(tensor.cpu().contiguous().numpy())


def observe(program: Program) -> Observation:
    """Runs the model on its inputs."""
    return Observer(program).run()
