"""Runs `pip install .` from a fresh clone in a new virtual environment, then the tutorial's commands as written.

Needs what `make setup` installs. The programs are built again, from the compiler cache if there is one, which takes a
minute or two after `make build`; without a cache it takes as long as the build itself.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from conftest import ROOT
from test_examples import run_tutorial


def run(*command, cwd=None):
    """Runs a command without the environment variables that would leak into the new environment."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True
    )


def clone_into(folder: Path) -> Path:
    """This tree as a clone, including changes that are not committed yet."""
    listing = run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).stdout
    for name in listing.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def pip_install(clone: Path, environment: Path):
    run(sys.executable, "-m", "venv", environment)
    return run(environment / "bin/pip", "--disable-pip-version-check", "install", ".", cwd=clone)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A new virtual environment with HTP alone in it: its bin folder."""
    folder = tmp_path_factory.mktemp("install")
    clone = clone_into(folder / "clone")
    (clone / ".venv").symlink_to(ROOT / ".venv")  # `make setup`
    ended = pip_install(clone, folder / "venv")
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    return folder / "venv/bin"


def test_without_any_extra(environment, tmp_path, net):
    doctor = run(environment / "htp", "doctor")
    assert doctor.returncode == 0, doctor.stdout
    for program in ("htp-opt", "htp-onnx"):
        assert f"site-packages/htp/bin/{program}" in doctor.stdout, "it comes from the wheel"
    assert "Block.0" in run(environment / "htp", "analyze", net).stdout
    viewed = run(environment / "htp", "view", net, "-o", tmp_path / "net.html")
    assert viewed.returncode == 0, viewed.stderr
    assert '"htp-view"' in (tmp_path / "net.html").read_text(), "the wheel carries the page"
    missing = run(environment / "htp", "export", ROOT / "examples/plain.py", cwd=tmp_path)
    assert missing.returncode == 1 and "pip install 'htp[torch]'" in missing.stderr


def test_tutorial(environment, tmp_path):
    """Uses the packages of this environment instead of downloading torch again."""
    here = sysconfig.get_path("purelib")
    there = next((environment.parent / "lib").glob("python*/site-packages"))
    (there / "extras.pth").write_text(here + "\n")
    run_tutorial(tmp_path, environment / "htp", environment / "python")


def test_before_make_setup(tmp_path):
    """A clear message, not one about a missing compiler."""
    ended = pip_install(clone_into(tmp_path / "clone"), tmp_path / "venv")
    assert ended.returncode != 0
    shown = " ".join((ended.stdout + ended.stderr).split())
    assert "HTP is built with what is not here: LibTorch" in shown
    assert "Run 'make setup' in" in shown and "then 'pip install .' there" in shown
