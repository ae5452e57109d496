"""What is installed, what is missing, and what each is needed for."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any

from . import native
from .errors import HTPError


@dataclass
class Finding:
    name: str
    found: bool
    detail: str
    needed: bool  # nothing works without it
    purpose: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


PACKAGES = {
    "torch": "export",
    "onnxscript": "export with the dynamo exporter",
    "transformers": "export of Hugging Face models",
    "onnx": "validate: the ONNX checker",
    "onnxruntime": "validate: the numeric check",
    "networkx": "TaggedModel.to_networkx()",
    "rich": "tables in colour",
}


def diagnose() -> list[Finding]:
    findings = [
        Finding("python", True, f"{platform.python_version()} at {sys.executable}", True, "")
    ]
    findings.append(_program("htp-opt", "everything", True))
    findings.append(_program("htp-onnx", "export", True))
    findings.append(_program("htp-trace", "tagging with a .pt or .pt2 archive", False))
    for package, purpose in PACKAGES.items():
        try:
            version = importlib.metadata.version(package)
            findings.append(Finding(package, True, version, False, purpose))
        except importlib.metadata.PackageNotFoundError:
            findings.append(Finding(package, False, "not installed", False, purpose))
    return findings


def _program(name: str, purpose: str, needed: bool) -> Finding:
    """Found, and able to start: a library may be missing, or the wrong LibTorch be found."""
    try:
        path = native.find(name)
        result = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            env=native.environment(name),
            timeout=60,
        )
    except (HTPError, OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, False, str(error), needed, purpose)
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        reason = (
            lines[-1].rpartition("error while ")[2] if lines else f"exit code {result.returncode}"
        )
        if "libtorch" in reason or "libc10" in reason:
            reason = "it needs the libraries of torch, which were not found"
        return Finding(name, False, f"does not start: {reason}", needed, purpose)
    return Finding(name, True, str(path), needed, purpose)
