"""`pip install .` in a new virtual environment gives a command that works.

Builds everything once more (from the compiler's cache where there is one), so it runs only where
HTP_TEST_INSTALL is set, as in CI.
"""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

pytestmark = pytest.mark.skipif(
    not os.environ.get("HTP_TEST_INSTALL"), reason="set HTP_TEST_INSTALL=1 to build the wheel"
)


def test_pip_install(tmp_path, net):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    binaries = tmp_path / "venv/bin"
    subprocess.run([binaries / "pip", "install", "-q", ROOT], check=True)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def htp(*arguments):
        command = [binaries / "htp", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)

    doctor = htp("doctor")
    assert doctor.returncode == 0, doctor.stdout
    assert "venv/lib" in doctor.stdout, "the programs come from the wheel"
    assert "/Net/Block.0" in htp("analyze", net).stdout
    missing = htp("export", "examples/plain.py", "-o", "m.onnx")
    assert missing.returncode == 1 and "pip install 'htp[torch]'" in missing.stderr
