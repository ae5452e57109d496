#!/usr/bin/env python3
"""What compiling layer by layer costs compared with compiling the whole model, with the real IREE.

    benchmarks/compile.py [--quick] [--check] [--work FOLDER] [NAME ...]

Flat is what IREE's users do: iree-import-onnx and iree-compile on the exported file. Layered is `htp compile` on the same
file with an empty cache, including htp's own part. Both are processes, measured alternately in processor seconds including
children (the least of --rounds each). Both compile for this processor, one file at a time and without threads, so that a
busy machine does not affect the result. The outputs of both must equal those of ONNX Runtime (1e-4), and their run times
are compared as well (processor time of one thread, medians of alternating calls).

Models are built from transformers' configurations with random weights, all of them distinct, as after training.
--quick runs only two small models. With --check, the exit code says whether the bounds hold.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
import warnings

from measure import Figure, execute, table

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import compile_models  # noqa: E402

FLAGS = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--mlir-disable-threading",
]
CALLS = 30  # of each side, for run times
TOLERANCE = 1e-4


def script(name):
    """A program of the same Python environment."""
    return pathlib.Path(sys.executable).parent / name


def flat_commands(model, base):
    return [
        [script("iree-import-onnx"), model, "-o", f"{base}.flat.mlir"],
        [script("iree-compile"), f"{base}.flat.mlir", "-o", f"{base}.flat.vmfb", *FLAGS],
    ]


def layered_command(model, folder, cache):
    """`htp compile`, as the user calls it."""
    flags = [f"--flag={flag}" for flag in FLAGS]
    return [
        sys.executable, "-m", "htp", "compile", model, "-o", folder, "--cache", cache, "--jobs", "1", *flags, "-q",
    ]  # fmt: skip


class Case:
    """A model, exported once; flat and layered forms of it."""

    def __init__(self, name, work):
        self.name = name
        self.base = work / name
        self.model = work / f"{name}.onnx"
        self.folder, self.cache = work / f"{name}.iree", work / f"{name}.cache"
        if not self.model.exists():
            compile_models.export(name, self.model)

    def flat(self):
        return sum(execute(command).cpu for command in flat_commands(self.model, self.base))

    def layered(self, *, fresh=True):
        if fresh:
            shutil.rmtree(self.cache, ignore_errors=True)
        return execute(layered_command(self.model, self.folder, self.cache)).cpu

    def both(self, rounds):
        """(flat, layered): the least of each, run alternately."""
        pairs = [(self.flat(), self.layered()) for _ in range(rounds)]
        return min(flat for flat, _ in pairs), min(layered for _, layered in pairs)

    def compare_outputs(self):
        """(largest difference to ONNX Runtime, run time of the layered form / flat)."""
        import iree.runtime
        import numpy
        import onnxruntime

        import htp
        from htp.running import inputs_for

        session = onnxruntime.InferenceSession(self.model, providers=["CPUExecutionProvider"])
        sizes = compile_models.sizes(self.name)
        feeds = inputs_for(session, None, sizes, numpy, self.model).feeds
        expected = session.run(None, feeds)
        layered = htp.load_compiled(self.folder, driver="local-sync")
        whole = iree.runtime.load_vm_flatbuffer_file(f"{self.base}.flat.vmfb", driver="local-sync")
        names = [n for n in whole.vm_module.function_names if "$" not in n and "__" not in n]
        entry = whole[names[0]]

        def run_flat():
            results = entry(*feeds.values())
            results = results if isinstance(results, (list, tuple)) else [results]
            return [numpy.asarray(result) for result in results]

        def run_layered():
            return list(layered(**feeds).values())

        worst = max(
            float(numpy.max(numpy.abs(got - want)))
            for results in (run_flat(), run_layered())
            for got, want in zip(results, expected, strict=True)
        )
        times = {run_flat: [], run_layered: []}
        for _ in range(CALLS):
            for run, seconds in times.items():
                start = time.process_time()  # all work is done by this thread
                run()
                seconds.append(time.process_time() - start)
        flat, layers = (statistics.median(times[run]) for run in (run_flat, run_layered))
        return worst, layers / flat, f"{1000 * flat:.2f} ms flat, {1000 * layers:.2f} ms layered"


def measure(case, limit, rounds):
    flat, layered = case.both(rounds)
    worst, slower, times = case.compare_outputs()
    return [
        Figure(
            f"{case.name}: compile, layered / flat",
            layered / flat,
            limit,
            "x",
            f"{flat:.2f} s flat, {layered:.2f} s layered",
        ),
        Figure(f"{case.name}: run, layered / flat", slower, 1.1, "x", times),
        Figure(f"{case.name}: difference to ONNX Runtime", worst / TOLERANCE, 1, "of 1e-4"),
    ]


def grown(work, rounds):
    """From 16 to 64 layers."""
    small, large = Case("llama16", work), Case("llama64", work)
    pairs = [(small.layered(), large.layered()) for _ in range(rounds)]
    less, more = (min(side) for side in zip(*pairs))
    beside = f"{less:.2f} s, {more:.2f} s"
    return Figure("llama: compile, 64 layers / 16 layers", more / less, 1.3, "x", beside)


def changed(work, name, what, limit, rounds):
    """Compiling again after a change, with the cache of the previous model, alternately with flat."""
    base, other = Case("llama32", work), Case(name, work)
    base.layered()

    def once():
        shutil.rmtree(other.cache, ignore_errors=True)
        shutil.copytree(base.cache, other.cache)
        return other.layered(fresh=False)

    pairs = [(base.flat(), once()) for _ in range(rounds)]
    flat, again = (min(side) for side in zip(*pairs))
    beside = f"{flat:.2f} s flat, {again:.2f} s"
    return Figure(f"llama32: {what}, again / flat", again / flat, limit, "x", beside)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", default=str(ROOT / "build/compile-bench"))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check", action="store_true", help="fail where a bound does not hold")
    parser.add_argument("only", nargs="*", metavar="NAME")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    subprocess.run([script("iree-compile"), "--version"], check=True, stdout=subprocess.DEVNULL)
    limits = compile_models.QUICK if options.quick else compile_models.LIMITS
    figures = []
    for name, limit in limits.items():
        if options.only and name not in options.only:
            continue
        made = measure(Case(name, work), limit, options.rounds)
        figures += made
        print(table(made), flush=True)
    if "llama32" in limits and (not options.only or "llama32" in options.only):
        figures += [
            grown(work, options.rounds),
            changed(work, "llama32_all", "the layer's code changed", 0.25, options.rounds),
            changed(work, "llama32_one", "one of 32 layers changed", 0.25, options.rounds),
        ]
    print(table(figures))
    return 1 if options.check and not all(figure.holds for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
