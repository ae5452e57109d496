"""Errors and warnings, each with one clear message."""

from __future__ import annotations


class HTPError(Exception):
    """Any error that HTP reports to its user. The message is complete: no traceback is needed."""


class HTPWarning(UserWarning):
    """Something was left out, guessed or frozen, so the result may not be what the user expects."""


class MissingProgram(HTPError):
    """A native program is not installed or does not start."""


class MissingPackage(HTPError):
    """An optional Python package is not installed."""

    def __init__(self, package: str, purpose: str, extra: str | None = None) -> None:
        wanted = f"htp[{extra}]" if extra else package
        super().__init__(
            f"{purpose} needs {package}, which is not installed: pip install '{wanted}'"
        )
        self.package = package


class ProgramFailed(HTPError):
    """A native program ended with an error; the message is its own."""

    def __init__(self, program: str, message: str, status: int) -> None:
        super().__init__(message or f"{program} ended with exit code {status} and no message")
        self.program, self.status = program, status


class ExportFailed(HTPError):
    """PyTorch's exporter failed."""


class TraceFailed(HTPError):
    """The model could not be traced."""


class NotTagged(HTPError):
    """The model carries no tags."""


class BadInput(HTPError):
    """An argument, a file or an input specification is invalid."""
