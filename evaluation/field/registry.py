"""The list of field models, and how they are built.

A builder returns (model, inputs); `inputs()` draws (args, kwargs) with PyTorch's random number generator. So a
check can build a fresh model as often as it needs, and two inputs of the same form differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedTensorMixin

BOTH = ("torchscript", "dynamo")
Inputs = Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]
Check = Callable[[Any, str], list[str]]


@dataclass(frozen=True)
class Case:
    name: str
    difficulty: str
    build: Callable[[], tuple[nn.Module, Inputs]]
    # (TaggedModel, exporter) -> problems, for what only this model can show.
    check: Check | None = None
    tolerance: float = 1e-3
    train: bool = False  # whether the model is in training mode when it is exported
    as_built: bool = False  # whether its parameters are left as they are
    # Exporters with which HTP must succeed although PyTorch alone fails.
    demanded: tuple[str, ...] = ()
    external: bool = False  # whether weights go to a file of their own, however small they are

    def make(self) -> tuple[nn.Module, Inputs]:
        """Makes the same model each time, with distinct parameters, because equal ones could not be told apart."""
        torch.manual_seed(0)
        model, inputs = self.build()
        with torch.no_grad():
            for parameter in () if self.as_built else model.parameters():
                if isinstance(parameter, UninitializedTensorMixin) or parameter.is_inference():
                    continue
                if parameter.is_floating_point():
                    parameter.add_(torch.randn_like(parameter) * 0.02)
        model.train(self.train)
        return model, inputs

    def inputs(self, inputs: Inputs, number: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        torch.manual_seed(1 + number)
        return inputs()


CASES: dict[str, Case] = {}


def case(difficulty: str, **options: Any) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Registers a builder under its own name."""

    def register(build: Callable[[], Any]) -> Callable[[], Any]:
        if build.__name__ in CASES:
            raise ValueError(f"two field models are named {build.__name__}")
        CASES[build.__name__] = Case(build.__name__, difficulty, build, **options)
        return build

    return register


def drawn(*shapes: tuple[int, ...]) -> Inputs:
    """Normal numbers of these shapes, as positional arguments."""
    return lambda: (tuple(torch.randn(shape) for shape in shapes), {})


def tokens(length: int = 8, vocabulary: int = 64) -> torch.Tensor:
    return torch.randint(3, vocabulary, (1, length))


class Block(nn.Module):
    """The usual inside of a field model: two parameters of each kind, and a little code."""

    def __init__(self, width: int = 8, out: int | None = None) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.lin = nn.Linear(width, out or width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.lin(self.norm(x)))
