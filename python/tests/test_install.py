"""`pip install .` in a new virtual environment gives a command that works.

Builds everything once more (from the compiler's cache where there is one), so it runs only where
HTP_TEST_INSTALL is set, as in CI.
"""

import os
import subprocess
import sys
import sysconfig

import pytest
from conftest import ROOT
from test_examples import run_tutorial

pytestmark = pytest.mark.skipif(
    not os.environ.get("HTP_TEST_INSTALL"), reason="set HTP_TEST_INSTALL=1 to build the wheel"
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A new virtual environment with HTP alone in it: its bin folder."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "-q", ROOT], check=True)
    return folder / "bin"


def test_without_any_extra(environment, tmp_path, net):
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def htp(*arguments):
        command = [environment / "htp", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)

    doctor = htp("doctor")
    assert doctor.returncode == 0, doctor.stdout
    assert "site-packages/htp/bin/htp-opt" in doctor.stdout, "the programs come from the wheel"
    assert "/Net/Block.0" in htp("analyze", net).stdout
    missing = htp("export", "examples/plain.py", "-o", "m.onnx")
    assert missing.returncode == 1 and "pip install 'htp[torch]'" in missing.stderr


def test_tutorial(environment, tmp_path):
    """With the extras of this environment, instead of downloading torch once more."""
    here = sysconfig.get_path("purelib")
    there = next((environment.parent / "lib").glob("python*/site-packages"))
    (there / "extras.pth").write_text(here + "\n")
    run_tutorial(tmp_path, environment / "htp", environment / "python")
