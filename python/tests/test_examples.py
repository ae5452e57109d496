"""The examples and the tutorial run as they are written."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT


def run(command, folder):
    """A command with `htp` and `python` being those under test."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    launcher = bin_folder / "htp"
    if not launcher.exists():
        launcher.write_text(f'#!/bin/sh\nexec {sys.executable} -m htp "$@"\n')
        launcher.chmod(0o755)
        (folder / "examples").symlink_to(ROOT / "examples")
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "python"),
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
    }
    result = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.mark.parametrize("name", ["plain", "transformer", "vision", "decoder"])
def test_example(name, tmp_path):
    shown = run([sys.executable, f"examples/{name}.py"], _prepared(tmp_path))
    assert shown.strip()
    assert list(tmp_path.glob("*.ops.json"))


def _prepared(folder):
    run(["true"], folder)
    return folder


def test_tutorial(tmp_path):
    """All blocks in order, but for the one that installs (test_install.py has it)."""
    text = (ROOT / "docs/Tutorial.md").read_text()
    blocks = re.findall(r"^```(\w+)( install)?\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) > 6
    shown = ""
    for language, install, code in blocks:
        if install:
            continue
        shell = ["bash", "-euo", "pipefail", "-c", code]
        shown += run(shell if language == "sh" else [sys.executable, "-c", code], tmp_path)
    assert "/BertModel/BertEncoder/BertLayer.0" in shown
    assert re.search(r"BertLayer +2", shown), "two layers, one function"
    assert (tmp_path / "bert.report.md").exists()
