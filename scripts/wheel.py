#!/usr/bin/env python3
"""Build the release files into dist/: the wheel htp, the wheel htp-mlir, and the source archive.

    wheel.py [htp] [htp-mlir] [sdist] [--dist dist]          (default: all three)

auditwheel finds the oldest systems that a wheel runs on, writes that into its name, and bundles libraries
that are not on every Linux. Fails if a wheel needs more than it promises.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv/bin/python"
MB = 1_000_000
#: What each wheel promises: the oldest glibc, and the most bytes.
PROMISES = {
    "htp": ("manylinux_2_31_x86_64", 15 * MB),
    "htp-mlir": ("manylinux_2_36_x86_64", 200 * MB),
}
#: The user's PyTorch has these.
TORCH = ("libtorch.so", "libtorch_cpu.so", "libc10.so")


def run(*command: object, **options: str) -> None:
    env = {**os.environ, "PATH": f"{PYTHON.parent}:{os.environ['PATH']}", **options}
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT, env=env)


def built(project: Path, folder: Path, build: str, *settings: str) -> Path:
    """The wheel as this machine makes it, for this machine alone. From nothing: what is compiled is in
    the compiler's cache, and a folder that was configured once is not configured the same way again."""
    shutil.rmtree(ROOT / build, ignore_errors=True)
    flags = [part for setting in settings for part in ("-C", setting)]
    pip = (PYTHON, "-m", "pip", "--disable-pip-version-check", "--quiet", "wheel")
    run(*pip, project, "--no-deps", "--no-build-isolation", "-w", folder, *flags)
    return next(folder.glob("*.whl"))


def repaired(wheel: Path, name: str, dist: Path) -> Path:
    """The wheel for all supported systems."""
    tag, most = PROMISES[name]
    for old in dist.glob(f"{name.replace('-', '_')}-[0-9]*.whl"):
        old.unlink()
    excluded = [part for library in TORCH for part in ("--exclude", library)]
    command = (PYTHON.parent / "auditwheel", "repair", wheel, "--plat", tag, "-w", dist, "--strip")
    llvm = subprocess.run(
        ["llvm-config-22", "--libdir"], capture_output=True, text=True, check=True
    )
    run(*command, *excluded, LD_LIBRARY_PATH=llvm.stdout.strip())
    made = max(
        dist.glob(f"{name.replace('-', '_')}-[0-9]*.whl"), key=lambda path: path.stat().st_mtime
    )
    if not made.name.endswith(f"-{tag}.whl"):
        sys.exit(f"error: {made.name} is not for {tag} alone")
    if made.stat().st_size > most:
        sys.exit(
            f"error: {made.name} has {made.stat().st_size} bytes, at most {most} were promised"
        )
    return made


def make_htp(dist: Path, work: Path) -> Path:
    build = "build-wheel-portable"
    settings = ("cmake.define.HTP_PORTABLE=ON", f"build-dir={build}")
    wheel = built(ROOT, work, build, *settings, "build.targets=htp-onnx;htp-trace")
    return repaired(wheel, "htp", dist)


def make_mlir(dist: Path, work: Path) -> Path:
    return repaired(built(ROOT / "python/htp-mlir", work, "build-wheel-mlir"), "htp-mlir", dist)


def make_sdist(dist: Path, work: Path) -> Path:
    """What git tracks, and nothing else: a source archive must not depend on stray files."""
    del work
    code = f"import scikit_build_core.build as b; print(b.build_sdist({str(dist)!r}))"
    run(PYTHON, "-c", code)
    return max(dist.glob("htp-*.tar.gz"), key=lambda path: path.stat().st_mtime)


MAKERS = {"htp": make_htp, "htp-mlir": make_mlir, "sdist": make_sdist}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", nargs="*", choices=[*MAKERS, []], default=[])
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    options.dist.mkdir(parents=True, exist_ok=True)
    dist = options.dist.resolve()
    for name in options.what or MAKERS:
        with tempfile.TemporaryDirectory() as work:
            made = MAKERS[name](dist, Path(work))
        print(f"{made}: {made.stat().st_size / MB:.1f} MB")


if __name__ == "__main__":
    main()
