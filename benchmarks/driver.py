#!/usr/bin/env python3
"""How long a custom compiler takes for 32 layers compared with 2, if it compiles module by module.

    benchmarks/driver.py [--build FOLDER] [--work FOLDER] [--rounds N] [--check]

The compiler is examples/compiler, built against an install tree of this build. It imports, tags and outlines a model, lowers
each function to linalg, and compiles it with stock MLIR and LLVM, through a cache. Measured are processor seconds of complete
runs with an empty cache, alternately: the least of --rounds each. With --check, the exit code says whether the bound holds.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from measure import Figure, execute, table

ROOT = pathlib.Path(__file__).resolve().parent.parent
LLVM = "/usr/lib/llvm-22"
LIMIT = 1.5
FEW, MANY = 2, 32


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def built(build, work):
    """The example, built as a user would, and the htp-opt that is installed beside it."""
    cmake = pathlib.Path(sys.executable).parent / "cmake"
    run(cmake, "--install", build, "--prefix", work / "installed")
    run(
        cmake, "-G", "Ninja", "-S", ROOT / "examples/compiler", "-B", work / "build", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_PREFIX_PATH={work / 'installed'};{os.environ.get('LLVM_ROOT', LLVM)}",
    )  # fmt: skip
    run(cmake, "--build", work / "build")
    return work / "build/compiler", work / "installed/bin/htp-opt"


def written(layers, htp_opt, work):
    """A model with this many equal layers, as in lit's consumer test."""
    text, model = work / f"{layers}.mlir", work / f"{layers}.onnx"
    run(sys.executable, ROOT / "test/Inputs/layers.py", "write", layers, text)
    run(htp_opt, text, "-o", model)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/driver-bench")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--check", action="store_true", help="fail where the bound does not hold")
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    compiler, htp_opt = built(options.build, work)
    models = {layers: written(layers, htp_opt, work) for layers in (FEW, MANY)}
    best = dict.fromkeys(models, float("inf"))
    for _ in range(options.rounds):
        for layers, model in models.items():
            shutil.rmtree(work / "cache", ignore_errors=True)
            taken = execute([compiler, model, "--cache", work / "cache"]).cpu
            best[layers] = min(best[layers], taken)
    figure = Figure(
        f"compiler of one's own: {MANY} layers / {FEW}",
        best[MANY] / best[FEW],
        LIMIT,
        "x",
        f"{best[FEW]:.3f} s, {best[MANY]:.3f} s",
    )
    print(table([figure]))
    return 1 if options.check and not figure.holds else 0


if __name__ == "__main__":
    sys.exit(main())
