"""How long each node ran in an engine: what every reader of profiles gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .errors import BadInput


@dataclass(eq=False)
class Kernel:
    """One node as an engine ran it. Times are microseconds, over all runs."""

    name: str
    op_type: str = ""
    index: str = ""  # the engine's own number: tells nodes of one name apart
    provider: str = ""
    microseconds: float = 0.0  # without the nodes in its bodies
    executions: int = 0
    parts: tuple[str, ...] = ()  # names of what it was made from, where the engine says so
    added: bool = False  # by the engine, which changes layouts: the model has no such node
    sources: list[Kernel] = field(default_factory=list, repr=False)  # whose results it takes
    users: list[Kernel] = field(default_factory=list, repr=False)  # who takes its results


@dataclass
class Times:
    """What a profile says."""

    kernels: list[Kernel]  # in the order in which they first ran
    runs: int  # that the times are of
    model_microseconds: float | None = None  # of these runs, with what lies between the nodes
    run_microseconds: list[float] = field(default_factory=list)  # of the nodes, of every run
    engine: str = ""  # where the file says it

    @property
    def microseconds(self) -> float:
        return sum(kernel.microseconds for kernel in self.kernels)


def microseconds(text: str, where: str, unit: str = "microseconds") -> float:
    """A time as a file has it."""
    try:
        spent = float(text)
    except ValueError:
        raise BadInput(f"{where}: {text!r} is no number of {unit}") from None
    if not math.isfinite(spent) or spent < 0:
        raise BadInput(f"{where}: {text!r} is no time")
    return spent * {"microseconds": 1, "milliseconds": 1000}[unit]
