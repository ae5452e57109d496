"""What HTP takes from PyTorch beyond its public interface, and whether this PyTorch has it. Where it has not,
a public function does the same, if with more work."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from typing import Any

from .errors import BadInput

#: The oldest PyTorch that has all public functions that HTP uses (torch.compiler.set_stance).
LEAST = (2, 6)


@dataclass(frozen=True)
class Path:
    """Which way something is done here."""

    what: str
    private: bool
    how: str


def check_version() -> None:
    """Raises where PyTorch is too old. Does not import it: an old one may lack what is imported."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return  # whoever imports it says so
    found = re.match(r"(\d+)\.(\d+)", version)
    if found and (int(found[1]), int(found[2])) < LEAST:
        least = ".".join(map(str, LEAST))
        raise BadInput(
            f"torch {version} is too old, HTP needs {least} or newer: pip install --upgrade 'torch>={least}'"
        )


def exporter_graph() -> bool:
    """Whether the graph that the TorchScript exporter traces can be seen while it is made."""
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
    """PyTorch's numbers of types, layouts and memory formats in its archives; none where they are not
    known, and then names stand for them."""
    try:
        from torch._export.serde import serialize
    except ImportError:
        return {}
    found: dict[Any, int] = getattr(serialize, f"_TORCH_TO_SERIALIZE_{kind}", {})
    return found


def scripted_function(name: str) -> Any:
    """A scripted function by its qualified name, for its graph; None where it is not to be had."""
    import torch

    try:
        return torch.jit._state._python_cu.find_function(name)
    except AttributeError:
        return None


def paths() -> list[Path]:
    """What is done in which way with this PyTorch."""
    private = exporter_graph()
    return [
        Path(
            "trace of the torchscript exporter",
            private,
            "the exporter's own graph" if private else "torch.jit.trace, once more",
        ),
        Path(
            "trace of the dynamo exporter",
            True,
            "the program that it captures; torch.export, once more, where none is seen",
        ),
        Path(
            "numbers of types in traces",
            bool(numbers("DTYPE")),
            "PyTorch's" if numbers("DTYPE") else "names instead",
        ),
    ]
