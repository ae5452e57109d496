"""Folders that a killed run leaves behind, and their removal."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT

from htp.scratch import Scratch

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT / "python")}

HOLD = """
import sys, time
from pathlib import Path
from htp.scratch import Scratch
scratch = Scratch(".out.", Path(sys.argv[1]))
(scratch.path / "half").write_text("half")
print("made", flush=True)
time.sleep(60)
"""


def holder(folder: Path) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stdout.readline() == "made\n"
    return process


def test_a_folder_goes_with_its_block_and_with_its_object(tmp_path):
    with Scratch("a-", tmp_path) as folder:
        (folder / "file").write_text("x")
        assert folder.parent == tmp_path
    assert not list(tmp_path.iterdir())
    scratch = Scratch("a-", tmp_path)
    assert list(tmp_path.iterdir()) == [scratch.path]
    del scratch
    assert not list(tmp_path.iterdir())


def test_what_a_killed_run_left_goes_and_what_a_living_one_has_stays(tmp_path):
    dead, living = holder(tmp_path), holder(tmp_path)
    dead.kill()
    dead.wait()
    assert len(list(tmp_path.iterdir())) == 2
    (tmp_path / ".out.notes").mkdir()  # somebody else's
    (tmp_path / ".out.notes" / "file").write_text("x")
    with Scratch(".out.", tmp_path) as folder:
        left = {path.name for path in tmp_path.iterdir()} - {folder.name, ".out.notes"}
        assert len(left) == 1, "that of the living run"
        assert (tmp_path / left.pop() / "half").exists()
    living.kill()
    living.wait()
    Scratch(".out.", tmp_path).remove()
    assert [path.name for path in tmp_path.iterdir()] == [".out.notes"]


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_command_that_is_asked_to_end_leaves_nothing(tmp_path, kind):
    (tmp_path / "slow.py").write_text(
        "import time\ndef build():\n    open('begun', 'w').close()\n    time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "htp", "export", "slow.py:build", "-o", "out.onnx"],
        cwd=tmp_path,
        env=ENVIRONMENT | {"TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        stderr=subprocess.PIPE,
        text=True,
        # Under nohup, or in the background of a script, signals are ignored and must stay ignored.
        preexec_fn=lambda: signal.signal(kind, signal.SIG_DFL),
    )
    for _ in range(600):
        if (tmp_path / "begun").exists():
            break
        time.sleep(0.1)
    process.send_signal(kind)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + kind
    assert "Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} == {"slow.py", "begun"}
