"""Models shared by the tests; each is exported once."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import htp  # noqa: E402
from htp import native  # noqa: E402

NET = ROOT / "test/Target/Inputs/net.mlir"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"examples/{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tagged ONNX file, made without PyTorch."""
    path = tmp_path_factory.mktemp("net") / "net.onnx"
    native.run("htp-opt", NET, "-o", path)
    return path


@pytest.fixture(scope="session", params=["torchscript", "dynamo"])
def plain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """The model of 30 lines, exported: (TaggedModel, model, args)."""
    model, args = example("plain").build()
    folder = tmp_path_factory.mktemp(request.param)
    tagged = htp.export(model, args, output=folder / "plain.onnx", exporter=request.param)
    return tagged, model, args


@pytest.fixture
def run_htp():
    """Runs the command in a separate process."""

    def run(*arguments: object, cwd: Path | None = None, env: dict[str, str] | None = None):
        import os

        return subprocess.run(
            [sys.executable, "-m", "htp", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python"), **(env or {})},
        )

    return run


@pytest.fixture(scope="session")
def thousands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagged model with 26,000 operations, like large models."""
    import synthetic

    folder = tmp_path_factory.mktemp("thousands")
    return synthetic.write(folder / "thousands.onnx", blocks=26, experts=65, ops=10)
