"""The parts of PyTorch that HTP uses beyond the public interface, and whether the installed version has them. If not, a
public function does the same with more work."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from typing import Any

from .errors import BadInput

#: The oldest PyTorch with all public functions that HTP uses (torch.compiler.set_stance is the newest).
LEAST = (2, 6)


@dataclass(frozen=True)
class Path:
    """How something is done with the installed PyTorch."""

    what: str
    private: bool
    how: str


def check_version() -> None:
    """Raises if PyTorch is too old. Does not import it, because importing from an old one may fail."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return  # reported when it is imported
    found = re.match(r"(\d+)\.(\d+)", version)
    if found and (int(found[1]), int(found[2])) < LEAST:
        least = ".".join(map(str, LEAST))
        raise BadInput(
            f"torch {version} is too old; HTP needs {least} or newer: pip install --upgrade 'torch>={least}'"
        )


def exporter_graph() -> bool:
    """Whether the graph that the TorchScript exporter traces can be observed while it is made."""
    import torch

    functions = (
        "_create_graph_by_tracing",
        "_get_tracing_state",
        "_set_tracing_state",
        "_get_value_trace",
    )
    inside, tracing = getattr(torch, "_C", None), getattr(torch.jit, "_trace", None)
    return all(hasattr(inside, name) for name in functions) and hasattr(
        tracing, "_trace_module_map"
    )


def numbers(kind: str) -> dict[Any, int]:
    """The numbers of types, layouts and memory formats in PyTorch's archives; empty if they are not known, and then
    names are used."""
    try:
        from torch._export.serde import serialize
    except ImportError:
        return {}
    found: dict[Any, int] = getattr(serialize, f"_TORCH_TO_SERIALIZE_{kind}", {})
    return found


def scripted_function(name: str) -> Any:
    """A scripted function by its qualified name, for its graph; None if it cannot be accessed."""
    import torch

    try:
        return torch.jit._state._python_cu.find_function(name)
    except AttributeError:
        return None


def paths() -> list[Path]:
    """How each of these things is done with the installed PyTorch."""
    private = exporter_graph()
    return [
        Path(
            "trace of the torchscript exporter",
            private,
            "the exporter's own graph" if private else "a second trace with torch.jit.trace",
        ),
        Path(
            "trace of the dynamo exporter",
            True,
            "the program that it captures, or else a second one with torch.export",
        ),
        Path(
            "numbers of types in traces",
            bool(numbers("DTYPE")),
            "those of PyTorch" if numbers("DTYPE") else "names instead of numbers",
        ),
    ]
