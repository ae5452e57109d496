#!/usr/bin/env python3
"""Compile outlined models with IREE, layer by layer, run them, and compare with ONNX Runtime.

    iree_check.py CORPUS [--htp-opt PROGRAM] [--work FOLDER] [NAME[/VARIANT] ...]

Each model of the corpus is tagged with its trace. `flat`: IREE imports the tagged file as it is. `layered`: `htp compile`
outlines it, compiles every layer and the model around them as separate files, and links them at run time; nothing is
inlined first. Both must give ONNX Runtime's outputs for the original graph (1e-4), and the line lists the layers. If IREE
cannot compile the exporter's own file either, the line says at which op it stops.
"""

import argparse
import os
import re
import subprocess
import sys

import iree.runtime
import numpy as np
import onnxruntime

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
sys.path.insert(0, os.path.join(ROOT, "python"))

import htp

DEFAULT = ["bert_tiny", "resnet", "gpt2", "llama"]
TRACES = {"ts": "trace.pt", "dynamo": "trace.pt2"}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        message = re.search(r"error: (.*)", done.stderr)
        op = re.search(r'torch.operator "([\w.]+)"', done.stderr)
        raise RuntimeError(
            f"{os.path.basename(command[0])} stops at {op[1] if op else 'the model'}: "
            f"{(message or [done.stderr[-300:]])[0][:300]}"
        )


def program(name):
    """A program of the same Python environment."""
    return os.path.join(os.path.dirname(sys.executable), name)


def run_flat(model, base, inputs):
    run(program("iree-import-onnx"), model, "-o", f"{base}.mlir", "--opset-version", "17")
    run(
        program("iree-compile"),
        f"{base}.mlir",
        "-o",
        f"{base}.vmfb",
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    )
    with open(f"{base}.vmfb", "rb") as file:
        module = iree.runtime.load_vm_flatbuffer(file.read(), driver="local-sync")
    names = [
        name for name in module.vm_module.function_names if "$" not in name and "__init" not in name
    ]
    outputs = module[names[0]](*inputs)
    return [
        np.asarray(value)
        for value in (outputs if isinstance(outputs, (list, tuple)) else [outputs])
    ]


def run_layered(model, base, inputs):
    """The outputs, and how many calls each layer has."""
    made = htp.compile(model, f"{base}.iree", cache=f"{base}.cache", jobs=1)
    outputs = htp.load_compiled(made.path, driver="local-sync")(*inputs)
    return list(outputs.values()), {p.name: len(p.calls) for p in made.programs if p.calls}


def difference(got, expected):
    if len(got) != len(expected):
        raise RuntimeError(f"{len(got)} outputs, expected {len(expected)}")
    return max(
        float(np.max(np.abs(a.astype(np.float64) - b))) for a, b in zip(got, expected) if a.size
    )


def check(options, name, variant):
    folder = f"{options.corpus}/{name}"
    source = f"{folder}/{variant}.onnx"
    base = f"{options.work}/{name}.{variant}"
    tagged = f"{base}.tagged.onnx"
    run(options.htp_opt, source, f"--htp-tag=trace={folder}/{TRACES[variant]}", "-o", tagged)
    reference = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    with np.load(f"{folder}/inputs.npz") as arrays:
        inputs = {value.name: arrays[value.name] for value in reference.get_inputs()}
    expected = reference.run(None, inputs)
    feeds = list(inputs.values())
    try:
        flat = difference(run_flat(tagged, base, feeds), expected)
    except RuntimeError as error:
        flat = None
        print(f"{name}/{variant}: flat: not compiled: {error}", flush=True)
    try:
        got, layers = run_layered(tagged, base, feeds)
    except htp.HTPError:
        if flat is None:
            return
        raise
    worst = difference(got, expected)
    if not worst < 1e-4 or (flat is not None and not flat < 1e-4):
        raise RuntimeError(f"differs from ONNX Runtime by {worst}, flat by {flat}")
    calls = ", ".join(f"{layer} x {count}" for layer, count in layers.items()) or "no layers"
    print(f"{name}/{variant}: ok, difference {worst:.1e} (flat {flat}): {calls}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--htp-opt", default=f"{BUILD}/bin/htp-opt")
    parser.add_argument("--work", default=f"{BUILD}/iree")
    parser.add_argument("only", nargs="*")
    options = parser.parse_intermixed_args()
    os.makedirs(options.work, exist_ok=True)
    failed = 0
    names = options.only or DEFAULT
    for name, variant in [
        (name, variant) for name in sorted(os.listdir(options.corpus)) for variant in TRACES
    ]:
        if name not in names and f"{name}/{variant}" not in names:
            continue
        try:
            check(options, name, variant)
        except Exception as error:  # the other models are still worth a try
            failed += 1
            print(f"{name}/{variant}: FAILED: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
