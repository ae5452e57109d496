"""Runs IREE's compiler on one file, and sums up its errors in one sentence."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from ..errors import HTPError, MissingPackage

PACKAGE = "iree-base-compiler"
PROCESSOR = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
]


class CompileFailed(HTPError):
    """IREE cannot compile the model."""


class Compiler:
    """IREE's compiler and its flags; compiles for this machine's processor by default."""

    def __init__(self, flags: tuple[str, ...] = ()) -> None:
        self.program = _find()
        self.version = _version()
        chosen = {flag.partition("=")[0] for flag in flags}
        self.flags = [*flags]
        if not any(flag.startswith("--iree-hal-target") for flag in chosen):
            self.flags += PROCESSOR
            if "--iree-llvmcpu-target-cpu" not in chosen:
                self.flags.append("--iree-llvmcpu-target-cpu=host")

    @property
    def identity(self) -> str:
        """Everything that the result depends on, except the program itself."""
        host = _processor() if any(flag.endswith("=host") for flag in self.flags) else ""
        return "\n".join([self.version, host, *sorted(self.flags)])

    def run(self, source: Path, target: Path, *, mode: str | None, threads: bool) -> None:
        command = [str(self.program), str(source), "-o", str(target), *self.flags]
        if mode:
            command.append(f"--compile-mode={mode}")
        if not threads:  # other files are compiled at the same time
            command.append("--mlir-disable-threading")
        done = subprocess.run(command, capture_output=True, text=True, errors="backslashreplace")
        if done.returncode:
            text = source.read_text(encoding="utf-8", errors="replace")
            raise CompileFailed(explain(done.stderr, source.stem, done.returncode, text))


def _find() -> Path:
    """The compiler's binary; the package's script would start a second Python."""
    try:
        spec = importlib.util.find_spec("iree.compiler")
    except ModuleNotFoundError:
        spec = None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        program = Path(folder) / "_mlir_libs" / "iree-compile"
        if program.is_file() and os.access(program, os.X_OK):
            return program
    if found := shutil.which("iree-compile"):
        return Path(found)
    raise MissingPackage(PACKAGE, "compiling", "iree")


def _version() -> str:
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _processor() -> str:
    """What `host` stands for, because machines may share a cache."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"{platform.machine()} {platform.processor()} {platform.node()}"
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    return f"{platform.machine()} {found[1].strip() if found else platform.node()}"


def explain(stderr: str, name: str, status: int, text: str = "") -> str:
    """IREE's first error as a sentence. If it names a line of Python, the operators and modules of that line
    are looked up in the program's text."""
    if status < 0:
        return f"IREE's compiler was terminated by signal {-status} while compiling {name!r}"
    error = next((line for line in stderr.splitlines() if "error: " in line), "")
    place, _, reason = error.partition("error: ")
    reason = reason or (stderr.strip().splitlines() or ["no message"])[-1]
    operator = re.search(r'torch\.operator "onnx\.(\w+)"', stderr)
    if "failed to legalize" in reason and "torch.operator" in reason and operator:
        reason = f"it does not support the operator {operator[1]} as it is used here"
    reason = reason.partition(": %")[0]
    return f"IREE cannot compile {name!r}: {reason}{_where(place, text)}"


def _where(place: str, text: str) -> str:
    """Describes the location that a message starts with: `net.py:12:0: `, or a line of the program's text."""
    found = re.match(r"\s*(?:\[.*?\] )?(.+?):(\d+):\d+: ", place)
    if not found:
        return ""
    file, number = found[1], int(found[2])
    lines = text.splitlines()
    if file.endswith(".mlir"):
        lines, parts = lines[number - 1 : number], []
    else:
        lines = [line for line in lines if f'{file}":{number}:' in line]
        parts = [f"{file}:{number}"]
    modules = dict.fromkeys(re.findall(r'htp\.scope = "([^"]+)"', "\n".join(lines)))
    operators = dict.fromkeys(re.findall(r'torch\.operator "onnx\.(\w+)"', "\n".join(lines)))
    if modules:
        parts.insert(0, f"module {', '.join(map(repr, modules))}")
    if operators:
        parts.insert(0, f"operator {', '.join(operators)}")
    return f" ({'; '.join(parts)})" if parts else ""
