"""The released wheel on bare systems that debootstrap makes: only Debian and Python, without network. Debian 11 has the
oldest glibc and the oldest Python that the wheel supports. `HTP_WHEEL_SUITES="bullseye bookworm trixie"` selects other
systems, as `make wheel-check` does.

Takes a minute to build the wheel from the compiler cache, and a minute and a half per system.
"""

import ast
import ensurepip
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch
from conftest import ROOT, example

import htp

SUITES = os.environ.get("HTP_WHEEL_SUITES", "bullseye bookworm").split()
#: pip asks Python before 3.10 for distutils, which is a package of its own there.
WITH_DISTUTILS = {"bullseye"}
TYPE_CHECKS = {"isinstance", "issubclass"}
#: Loads everything that is in the wheel. What needs more than Python says so.
EVERY_MODULE = """
import compileall, importlib, pkgutil, htp
assert compileall.compile_dir(htp.__path__[0], quiet=1, force=True)
names = {module.name for module in pkgutil.walk_packages(htp.__path__, "htp.")}
for name in sorted(names - {"htp.__main__"}):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name in ("numpy", "torch"), (name, error)
        names.remove(name)
print(len(names))
"""


def run(*command, cwd=None):
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel that `make wheel` builds from this tree; HTP_DIST names a folder with an existing one."""
    dist = os.environ.get("HTP_DIST")
    folder = Path(dist) if dist else tmp_path_factory.mktemp("dist")
    if not dist:
        made = run(sys.executable, ROOT / "scripts/wheel.py", "htp", "--dist", folder)
        assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    return next(folder.glob("htp-*.whl"))


def test_what_is_in_it(wheel):
    assert wheel.name == f"htp-{htp.__version__}-py3-none-manylinux_2_31_x86_64.whl"
    assert wheel.stat().st_size < 15_000_000
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    programs = {name for name in names if name.startswith("htp/bin/htp")}
    assert programs == {"htp/bin/htp-onnx", "htp/bin/htp-trace", "htp/bin/htp-trace.torch"}
    assert not [name for name in names if ".so" in name], "all is static, but LibTorch"
    assert "Requires-Python: >=3.9" in metadata
    assert "Requires-Dist: torch>=2.6; extra == 'torch'" in metadata.replace('"', "'")


def test_unions_for_python_39():
    """It knows `A | B` of types in annotations alone, which nobody evaluates. What needs PyTorch is not loaded in
    the bare systems, and ruff does not look into calls."""
    for file in sorted((ROOT / "python/htp").rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in TYPE_CHECKS:
                found = [n for n in ast.walk(call.args[1]) if isinstance(n, ast.BitOr)]
                assert not found, f"{file}:{call.lineno}: a tuple of types is meant"


def test_before_make_setup(tmp_path):
    command = (sys.executable, ROOT / "scripts/wheel.py", "htp", "--dist", tmp_path)
    made = run("env", f"HTP_SYSROOT={tmp_path}", *command)
    shown = " ".join((made.stdout + made.stderr).split())
    assert made.returncode and "HTP is built with what is not here: Debian 11's C library." in shown


def test_older_glibc(wheel, tmp_path):
    asked = ("--no-index", "--only-binary=:all:", "--target", tmp_path)
    install = (sys.executable, "-m", "pip", "install", *asked, wheel, "--platform")
    ended = run(*install, "manylinux_2_30_x86_64")
    assert ended.returncode and "is not a supported wheel on this platform" in ended.stderr
    ended = run(*install, "manylinux_2_31_x86_64")
    assert ended.returncode == 0, ended.stderr


def test_htp_trace(wheel, tmp_path):
    """Linked with Debian 11's libstdc++, which it shares with LibTorch, it reads the same as the other build."""
    model, inputs = example("plain").build()
    torch.jit.trace(model.eval(), inputs).save(tmp_path / "m.pt")
    torch.export.save(torch.export.export(model, inputs), tmp_path / "m.pt2")
    (tmp_path / "broken.pt").write_bytes(b"PK\x03\x04")
    with zipfile.ZipFile(wheel) as archive:
        program = Path(archive.extract("htp/bin/htp-trace", tmp_path))
    program.chmod(0o755)
    (tmp_path / "torch").symlink_to(Path(torch.__file__).parent)  # beside htp in site-packages
    for name, status in (("m.pt", 0), ("m.pt2", 0), ("broken.pt", 1)):
        here = run(htp.native.find("htp-trace"), tmp_path / name)
        from_wheel = run(program, tmp_path / name)
        assert (from_wheel.returncode, from_wheel.stdout) == (status, here.stdout)
        assert from_wheel.stderr.splitlines()[:1] == here.stderr.splitlines()[:1]


def mirror():
    """The archive that apt is configured with here."""
    found = run("apt-get", "indextargets", "--format", "$(SITE)").stdout.split()
    return found[0] if found else None


@pytest.fixture(scope="session", params=SUITES)
def system(request, tmp_path_factory):
    """A bare system: (its folder, a function that runs a command in it)."""
    if os.geteuid() != 0:
        pytest.skip("only root makes a system to change into")
    for program in ("debootstrap", "chroot", "unshare", "apt-get"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    if run("unshare", "--mount", "true").returncode:
        pytest.skip("no namespace of its own for /proc can be made here")
    archive = mirror()
    if archive is None:
        pytest.skip("apt knows no archive to make a system from")
    root = tmp_path_factory.mktemp("system") / request.param
    distutils = ",python3-distutils" if request.param in WITH_DISTUTILS else ""
    flags = ("--variant=minbase", f"--include=python3{distutils}")
    made = run("debootstrap", *flags, request.param, root, archive)
    if made.returncode:
        pytest.skip(f"no {request.param} could be made: {(made.stdout + made.stderr)[-300:]}")
    # In a separate namespace, so that nothing stays mounted, whatever happens.
    enter = f'mount -t proc proc {root}/proc && exec chroot {root} "$@"'

    def inside(*command):
        return run("unshare", "--mount", "--net", "sh", "-c", enter, "sh", *command)

    yield root, inside
    shutil.rmtree(root)


@pytest.fixture(scope="session")
def installed(system, wheel):
    """`pip install` of the file, without network. pip comes with Python's own sources."""
    root, inside = system
    pip = Path(next(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl")))
    shutil.copy(pip, root / "tmp")
    shutil.copy(wheel, root / "tmp")
    flags = ("--no-index", "--break-system-packages", "--root-user-action=ignore")
    ended = inside("python3", f"/tmp/{pip.name}/pip", "install", *flags, f"/tmp/{wheel.name}")
    assert ended.returncode == 0, ended.stderr
    return root, inside


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A model made on another machine, with its trace."""
    folder = tmp_path_factory.mktemp("model")
    model, inputs = example("transformer").build()
    tagged = htp.export(model, (), folder / "bert.onnx", kwargs=inputs)
    htp.native.run("htp-onnx", tagged.path, "--htp-strip", "-o", folder / "plain.onnx")
    return folder


def test_its_python(installed):
    _, inside = installed
    loaded = inside("python3", "-c", EVERY_MODULE)
    assert loaded.returncode == 0, loaded.stdout + loaded.stderr
    assert int(loaded.stdout) > 50


def test_bare_system(installed, model):
    root, inside = installed
    shutil.copytree(model, root / "work", dirs_exist_ok=True)

    def command(*arguments, status=0):
        ended = inside("sh", "-c", 'cd /work && exec htp "$@"', "htp", *arguments)
        assert ended.returncode == status, ended.stdout + ended.stderr
        return ended.stdout, ended.stderr

    assert command("--version")[0] == f"htp {htp.__version__}\n"
    tagged, _ = command("tag", "plain.onnx", "--trace", "bert.trace.json", "-o", "t.onnx", "--json")
    assert json.loads(tagged)["statistics"]["placed_share"] > 0.95
    here = htp.tag(model / "plain.onnx", model / "t.onnx", trace=model / "bert.trace.json")
    assert (root / "work/t.onnx").read_bytes() == here.path.read_bytes(), "the same here and there"
    assert "BertLayer.0" in command("analyze", "t.onnx")[0]
    assert "BertLayer" in command("outline", "t.onnx", "-o", "o.onnx")[0]
    assert "layer.0" in command("extract", "t.onnx", "encoder.layer.0", "-o", "l.onnx")[0]
    for name in ("t", "o", "l"):
        shown, _ = command("validate", f"{name}.onnx", *(["--check-contamination"][: name == "t"]))
        assert (
            "onnx           skipped: onnx is not installed" in shown
            and "tags           ok" in shown
        )
    assert command("compare", "t.onnx", "bert.onnx", "--only", "modules")[0]
    _, error = command("tag", "plain.onnx", "--trace", "bert.pt2", status=1)
    assert "no such file" in error
    (root / "work/bert.pt2").write_bytes(b"PK\x03\x04")
    _, error = command("tag", "plain.onnx", "--trace", "bert.pt2", status=1)
    assert "torch is not installed" in error and "pip install 'htp[torch]'" in error
    (root / "work/m.mlir").write_text("module {}")
    _, error = command("analyze", "m.mlir", status=1)
    assert "htp-opt was not found" in error and "htp-mlir" in error
    doctor, _ = command("doctor")
    assert "htp-onnx" in doctor and "pip install" in doctor


def test_mlir_wheel(wheel, net, tmp_path):
    """htp-opt with its own libMLIR, which `htp` finds. Needs the wheel from `make wheel`, which takes minutes to build."""
    found = list(wheel.parent.glob("htp_mlir-*.whl"))
    if not found:
        pytest.skip("there is no htp-mlir wheel: make wheel, then HTP_DIST=dist")
    assert found[0].name.endswith("-py3-none-manylinux_2_36_x86_64.whl")
    assert found[0].stat().st_size < 200_000_000
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    installed = run(tmp_path / "venv/bin/pip", "install", "--no-index", wheel, found[0])
    assert installed.returncode == 0, installed.stderr
    programs = tmp_path / "venv/bin"
    made = run("env", "-u", "PYTHONPATH", programs / "htp-opt", net, "-o", tmp_path / "net.mlir")
    assert made.returncode == 0, made.stderr
    libraries = run(
        "ldd", next((tmp_path / "venv/lib").glob("*/site-packages/htp_mlir/bin/htp-opt"))
    )
    assert "libMLIR" in libraries.stdout and "/usr/lib/llvm" not in libraries.stdout
    shown = run("env", "-u", "PYTHONPATH", programs / "htp", "analyze", tmp_path / "net.mlir")
    assert shown.returncode == 0 and "modules" in shown.stdout, shown.stderr
