"""How long each node ran in an engine: the result of every profile reader."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .errors import BadInput


@dataclass(eq=False)
class Kernel:
    """One node as an engine ran it. Times are in microseconds, summed over all runs."""

    name: str
    op_type: str = ""
    index: str = ""  # the engine's own number, which distinguishes nodes with the same name
    provider: str = ""
    microseconds: float = 0.0  # without the nodes in its subgraphs
    executions: int = 0
    parts: tuple[str, ...] = ()  # names of the nodes it was made from, if the engine records them
    added: bool = False  # by the engine, to change a layout: the model has no such node
    sources: list[Kernel] = field(
        default_factory=list, repr=False
    )  # kernels whose results it takes
    users: list[Kernel] = field(default_factory=list, repr=False)  # kernels that take its results


@dataclass
class Times:
    """The contents of a profile."""

    kernels: list[Kernel]  # in the order in which they first ran
    runs: int  # how many runs the times cover
    model_microseconds: float | None = None  # of these runs, including time between the nodes
    run_microseconds: list[float] = field(default_factory=list)  # of the nodes, for every run
    engine: str = ""  # if the file says it

    @property
    def microseconds(self) -> float:
        return sum(kernel.microseconds for kernel in self.kernels)


def microseconds(text: str, where: str, unit: str = "microseconds") -> float:
    """Parses a time from a file, in microseconds."""
    try:
        spent = float(text)
    except ValueError:
        raise BadInput(f"{where}: {text!r} is not a number of {unit}") from None
    if not math.isfinite(spent) or spent < 0:
        raise BadInput(f"{where}: {text!r} is not a valid time")
    return spent * {"microseconds": 1, "milliseconds": 1000}[unit]
