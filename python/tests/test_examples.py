"""The examples and the tutorial run as written."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT


def run(command, folder, launcher=None):
    """A command with `htp` being the one under test: of this source tree, or an installed one."""
    env = dict(os.environ)
    if launcher is None:
        env["PYTHONPATH"] = str(ROOT / "python")
        launcher = folder / "bin/htp"
        if not launcher.exists():
            launcher.parent.mkdir()
            launcher.write_text(f'#!/bin/sh\nexec {sys.executable} -m htp "$@"\n')
            launcher.chmod(0o755)
    else:
        env.pop("PYTHONPATH", None)
    env["PATH"] = f"{launcher.parent}:{env['PATH']}"
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    result = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=900
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def run_tutorial(folder, launcher=None, python=sys.executable):
    """Runs all blocks in order, except the one that installs. Returns what they print."""
    text = (ROOT / "docs/Tutorial.md").read_text()
    blocks = re.findall(r"^```(\w+)( install)?\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) > 6
    shown = ""
    for language, install, code in blocks:
        if install:
            continue
        if language == "text":  # the output of the previous command, or a part of it
            lines = shown.splitlines()
            assert not [line for line in code.splitlines() if line.rstrip() not in lines]
            continue
        shell = ["bash", "-euo", "pipefail", "-c", code]
        shown += run(shell if language == "sh" else [python, "-c", code], folder, launcher)
    assert "/BertModel/BertEncoder/BertLayer.0" in shown
    assert re.search(r"BertLayer +2", shown), "two layers, one function"
    assert (folder / "bert.report.md").exists()


@pytest.mark.parametrize("name", ["plain", "transformer", "vision", "decoder"])
def test_example(name, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    shown = run([sys.executable, f"examples/{name}.py"], tmp_path)
    assert shown.strip()
    assert list(tmp_path.glob("*.ops.json"))


def test_tutorial(tmp_path):
    """With this source tree's programs; test_install.py does it with an installed package."""
    run_tutorial(tmp_path)
