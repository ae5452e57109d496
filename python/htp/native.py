"""Finds and runs the native programs: htp-onnx, htp-opt and htp-trace."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Union

from .errors import BadInput, MissingProgram, ProgramFailed
from .onnxfile import is_mlir

PACKAGE = Path(__file__).resolve().parent
_Argument = Union[str, os.PathLike[str]]
#: The largest pipe that Linux gives an unprivileged user. A program that writes megabytes waits for its reader less
#: often than with the default of 64 KiB.
_PIPE = 1 << 20
#: fcntl.F_SETPIPE_SZ, which Python defines since 3.10.
_SET_PIPE_SIZE = 1031


def candidates(name: str) -> list[Path]:
    """Where a program may be, best first: in the wheel, in the wheel htp-mlir, in the build folder of a source tree,
    on the PATH."""
    places = [
        PACKAGE / "bin" / name,
        PACKAGE.parent / "htp_mlir" / "bin" / name,
        PACKAGE.parent.parent / "build" / "bin" / name,
    ]
    found = shutil.which(name)
    return places + ([Path(found)] if found else [])


def find(name: str) -> Path:
    """The path of a program."""
    for place in candidates(name):
        if place.is_file() and os.access(place, os.X_OK):
            return place
    wheel = "htp-mlir" if name == "htp-opt" else "htp"
    raise MissingProgram(
        f"{name} was not found beside the package, in a build folder or on the PATH: "
        f"install its wheel ({wheel}), 'pip install .' in a clone, or build it with 'make build'"
    )


def program_for(model: _Argument) -> str:
    """htp-onnx for ONNX files: it starts instantly and is in every wheel. htp-opt for MLIR files: it knows all
    dialects."""
    return "htp-opt" if is_mlir(model) else "htp-onnx"


def torch_library_folder() -> Path | None:
    """The folder of LibTorch's libraries in this environment. Finds it without importing torch."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "lib"
    return folder if folder.is_dir() else None


def environment() -> dict[str, str]:
    """Environment variables with which htp-trace loads the LibTorch of this Python environment. The other programs
    may start htp-trace, too."""
    env = dict(os.environ)
    if folder := torch_library_folder():
        before = env.get("LD_LIBRARY_PATH")
        env["LD_LIBRARY_PATH"] = f"{folder}:{before}" if before else str(folder)
    return env


def quoted(text: _Argument) -> str:
    """Quotes a path or a module's name as the value of a pass option."""
    text = os.fspath(text)
    if '"' in text or "\n" in text:
        raise BadInput(f"{text!r}: a pass option cannot contain quotes or line breaks")
    return f'"{text}"'


class Running:
    """A native program that was started but has not been waited for."""

    def __init__(
        self, name: str, arguments: Sequence[_Argument], stdin: int = subprocess.DEVNULL
    ) -> None:
        self.name = name
        self.warnings = ""  # its output on standard error, after `wait`
        self.command = [str(find(name)), *(os.fspath(argument) for argument in arguments)]
        try:
            self.process = subprocess.Popen(
                self.command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
            )
        except OSError as error:
            raise MissingProgram(
                f"{self.command[0]} does not start: {error.strerror}{_platform(error)}"
            ) from error

        with contextlib.suppress(OSError):
            fcntl.fcntl(self.process.stdout or -1, _SET_PIPE_SIZE, _PIPE)

    def wait(self, text: bytes | None = None) -> str:
        """Passes the program its input, if any, and returns what it printed. Raises if it failed."""
        return self.read(text).decode("utf-8", "replace")

    def read(self, text: bytes | None = None) -> bytes:
        """The same, but returns bytes."""
        try:
            out, err = self.process.communicate(text)
        except BaseException:
            self.stop()
            raise
        if self.process.returncode:
            raise ProgramFailed(
                self.name, message(self.name, err, self.process.returncode), self.process.returncode
            )
        self.warnings = err.decode("utf-8", "backslashreplace")
        return out

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()


class Standby:
    """A native program that will be run once. After `start`, it loads while other work is done (loading is a good
    part of a short run), and then waits for its arguments: a response file on standard input.

    with Standby("htp-opt") as program:
        program.start(); …; program.run("model.onnx", "-o", "out.onnx")
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._running: Running | None = None
        find(name)

    def __enter__(self) -> Standby:
        return self

    def __exit__(self, *_: object) -> None:
        if self._running and self._running.process.returncode is None:
            self._running.stop()

    def start(self) -> None:
        """Starts the program. Errors are reported when it runs."""
        with contextlib.suppress(MissingProgram):
            self._started()

    def run(self, *arguments: _Argument) -> str:
        """Runs the program to completion and returns what it printed."""
        return self._started().wait(b"\n".join(map(_escaped, arguments)))

    @property
    def warnings(self) -> list[str]:
        """The program's warnings, after it ran."""
        return warnings_in(self._running.warnings) if self._running else []

    def _started(self) -> Running:
        if self._running is None:
            watch = f"--exit-with-parent={os.getpid()}"  # it must not outlive this process
            self._running = Running(self.name, [watch, "@/dev/stdin"], stdin=subprocess.PIPE)
            _waiting.add(self._running)
        return self._running


def _escaped(argument: _Argument) -> bytes:
    """Escapes an argument as a word of a response file."""
    return re.sub(rb"""[\s\\"']""", rb"\\\g<0>", os.fsencode(argument)) or b'""'


#: Programs that wait for end of file on their standard input. A process that Python forks in the meantime must not
#: keep the write end of that pipe open.
_waiting: weakref.WeakSet[Running] = weakref.WeakSet()


def _leave_waiting() -> None:
    for running in _waiting:
        if running.process.stdin:
            running.process.stdin.close()


os.register_at_fork(after_in_child=_leave_waiting)


def warnings_in(stderr: str) -> list[str]:
    """The warnings among a program's messages, without their locations and notes."""
    lines = (line.partition("warning: ") for line in stderr.splitlines())
    return [text for _, found, text in lines if found]


def message(name: str, stderr: bytes, status: int) -> str:
    """The message of a failed program, without the stack dump of a crash."""
    lines = stderr.decode("utf-8", "backslashreplace").splitlines()
    if any("version `GLIBC" in line for line in lines):
        return f"{name} does not start: {lines[-1].rpartition(': ')[2]}{_platform(None)}"
    if status == 127 or any("error while loading shared libraries" in line for line in lines):
        return f"{name} does not start: {lines[-1] if lines else 'no message'} (see 'htp doctor')"
    if status < 0:
        reason = signal.Signals(-status).name
        first = next((line for line in lines if line.strip()), "")
        return f"{name} was terminated by {reason}" + (f": {first}" if first else "")
    return "\n".join(line for line in lines if line.strip())


def _platform(error: OSError | None) -> str:
    """Says which platform HTP's wheels are for, if the error may mean that they are installed on another."""
    if error is not None and error.errno != errno.ENOEXEC:
        return ""
    import platform  # slow to load

    libc = " ".join(part for part in platform.libc_ver() if part) or "an unknown C library"
    return (
        "; HTP's wheels are for Linux on x86-64 with glibc 2.31 or newer, but this is "
        f"{platform.system()} on {platform.machine()} with {libc}: build HTP from source"
    )


def run(name: str, *arguments: _Argument) -> str:
    """Runs a program to completion and returns what it printed."""
    return Running(name, arguments).wait()
