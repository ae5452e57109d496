"""Finds out what is installed, what is missing, and what it is needed for."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any

from . import archives, native, torchfeatures
from .errors import HTPError


@dataclass
class Finding:
    name: str
    found: bool
    detail: str
    needed: bool  # nothing works without it
    purpose: str
    remedy: str = ""  # what to do if it is missing

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


#: What each package is needed for, and the extra of htp that installs it.
PACKAGES = {
    "torch": ("export, trace", "torch"),
    "onnxscript": ("export with the dynamo exporter", "torch"),
    "transformers": ("export of Hugging Face models", "transformers"),
    "onnx": ("validate: the ONNX checker; compare: values", "onnx"),
    "onnxruntime": ("profile, diff; validate: the numeric check", "onnx"),
    "numpy": ("profile, diff, compile", "onnx"),
    "iree-base-compiler": ("compile", "iree"),
    "iree-base-runtime": ("running compiled models", "iree"),
    "pyarrow": ("batch: a Parquet table", "ray"),
    "ray": ("batch on many machines", "ray"),
    "networkx": ("TaggedModel.to_networkx()", "graph"),
    "rich": ("tables in colour", "rich"),
}


def diagnose() -> list[Finding]:
    findings = [
        Finding("python", True, f"{platform.python_version()} at {sys.executable}", True, "")
    ]
    findings.append(_program("htp-onnx", "everything", True, "pip install htp"))
    findings.append(_program("htp-opt", "MLIR files", False, "pip install htp-mlir"))
    findings.append(_tracer())
    for package, (purpose, extra) in PACKAGES.items():
        try:
            version = importlib.metadata.version(package)
            findings.append(Finding(package, True, version, False, purpose))
        except importlib.metadata.PackageNotFoundError:
            remedy = f"pip install 'htp[{extra}]'"
            findings.append(Finding(package, False, "not installed", False, purpose, remedy))
    return [*findings, *_paths()]


def _paths() -> list[Finding]:
    """How things are done with the installed PyTorch."""
    try:
        torchfeatures.check_version()
        return [Finding(path.what, True, path.how, False, "") for path in torchfeatures.paths()]
    except ImportError:
        return []
    except HTPError as error:
        return [
            Finding("torch", False, str(error), False, "export, trace", "pip install 'htp[torch]'")
        ]


def _tracer() -> Finding:
    """htp-trace, or PyTorch as its substitute."""
    finding = _program(
        "htp-trace", "tagging with a .pt or .pt2 archive", False, "pip install 'htp[torch]'"
    )
    if why := archives.obstacle():
        finding.detail = f"{why}: archives are read with PyTorch itself"
        finding.found = "torch is not" not in why
    return finding


def _program(name: str, purpose: str, needed: bool, remedy: str) -> Finding:
    """Whether a program exists and starts: a library may be missing, or the wrong LibTorch may be found."""
    try:
        path = native.find(name)
        result = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            env=native.environment(),
            timeout=60,
        )
    except (HTPError, OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, False, str(error), needed, purpose, remedy)
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        reason = (
            lines[-1].rpartition("error while ")[2] if lines else f"exit code {result.returncode}"
        )
        if "libtorch" in reason or "libc10" in reason:
            reason = "it needs the libraries of torch, which were not found"
        return Finding(name, False, f"does not start: {reason}", needed, purpose, remedy)
    return Finding(name, True, str(path), needed, purpose)
