"""Native programs that are started before they are needed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import torch
from conftest import NET

import htp
from htp import native


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[native.Running]:
    """The programs that a test started."""
    programs: list[native.Running] = []
    original = native.Running.__init__

    def init(self: native.Running, *args, **kwargs) -> None:
        original(self, *args, **kwargs)
        programs.append(self)

    monkeypatch.setattr(native.Running, "__init__", init)
    return programs


def test_arguments_come_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / """ a "quoted" 'folder' with \\ back\\\\slashes,\ttabs and\nlines """
    folder.mkdir()
    with native.Standby("htp-opt") as program:
        program.start()
        program.run(NET, "-o", folder / "out.onnx", "")
    assert (folder / "out.onnx").exists()


def test_a_program_that_is_not_needed_ends(started: list[native.Running]) -> None:
    with native.Standby("htp-opt") as program:
        program.start()
        program.start()
    (running,) = started
    assert running.process.returncode == -signal.SIGKILL


def test_a_program_without_its_parent_ends(started: list[native.Running]) -> None:
    with native.Standby("htp-opt") as program:
        program.start()
        started[0].process.stdin.close()
        assert started[0].process.wait(timeout=60) == 1


def test_a_forked_process_keeps_no_program_waiting(tmp_path: Path) -> None:
    done, hold = os.pipe()
    with native.Standby("htp-opt") as program:
        program.start()
        child = os.fork()
        if not child:  # lives until the parent lets go
            os.close(hold)
            os.read(done, 1)
            os._exit(0)
        before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("the program still waits"))
        signal.alarm(30)
        try:
            program.run(NET, "-o", tmp_path / "out.onnx")
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
            os.close(hold)
            os.close(done)
            os.waitpid(child, 0)
    assert (tmp_path / "out.onnx").exists()


def test_an_export_that_fails_leaves_no_program(
    tmp_path: Path, started: list[native.Running]
) -> None:
    class NoExport(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigvals(x).real

    with pytest.raises(htp.ExportFailed):
        htp.export(NoExport(), (torch.eye(2),), output=tmp_path / "m.onnx", exporter="torchscript")
    assert [running.process.returncode for running in started] == [-signal.SIGKILL]
    assert not list(tmp_path.iterdir())


def test_a_program_that_does_not_start_is_told_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "htp-opt"
    broken.write_text("#!/nowhere\n")
    broken.chmod(0o755)
    monkeypatch.setattr(native, "candidates", lambda name: [broken])
    for exporter in ("torchscript", "dynamo"):
        with pytest.raises(htp.MissingProgram, match="does not start"):
            htp.export(
                torch.nn.Linear(2, 2),
                (torch.ones(1, 2),),
                output=tmp_path / "m.onnx",
                exporter=exporter,
            )
    assert list(tmp_path.iterdir()) == [broken]
