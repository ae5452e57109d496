#!/usr/bin/env python3
"""Compile outlined models with IREE, run them, and compare with ONNX Runtime.

    iree_check.py CORPUS [--htp-opt PROGRAM] [--work FOLDER] [NAME[/VARIANT] ...]

Each model of the corpus is tagged with its trace and outlined; IREE imports the result, compiles it for the CPU, and must give
ONNX Runtime's outputs for the original graph (1e-4). IREE's importer does not know model-local functions: ONNX's own inliner
expands them first. Where IREE does not compile the exporter's own file either, the line says on which op it stops.
"""

import argparse
import os
import re
import subprocess
import sys

import iree.runtime
import numpy as np
import onnx
import onnx.inliner
import onnxruntime

BUILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build")

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


def compile_and_run(model, base, inputs):
    flat = f"{base}.flat.onnx"
    onnx.save(onnx.inliner.inline_local_functions(onnx.load(model)), flat)
    run(program("iree-import-onnx"), flat, "-o", f"{base}.mlir", "--opset-version", "17")
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


def check(options, name, variant):
    folder = f"{options.corpus}/{name}"
    source = f"{folder}/{variant}.onnx"
    base = f"{options.work}/{name}.{variant}"
    trace = f"--htp-tag=trace={folder}/{TRACES[variant]}"
    run(options.htp_opt, source, trace, "-o", f"{base}.tagged.onnx")
    run(options.htp_opt, f"{base}.tagged.onnx", "--htp-outline", "-o", f"{base}.outlined.onnx")
    reference = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    with np.load(f"{folder}/inputs.npz") as arrays:
        inputs = {value.name: arrays[value.name] for value in reference.get_inputs()}
    expected = reference.run(None, inputs)
    try:
        compile_and_run(source, f"{base}.source", list(inputs.values()))
    except RuntimeError as error:
        print(f"{name}/{variant}: not compiled as exported either: {error}", flush=True)
        return
    for form in ("tagged", "outlined"):
        got = compile_and_run(f"{base}.{form}.onnx", f"{base}.{form}", list(inputs.values()))
        worst = max(float(np.max(np.abs(a - b))) for a, b in zip(got, expected) if a.size)
        if len(got) != len(expected) or not worst < 1e-4:
            raise RuntimeError(f"{form}: differs from ONNX Runtime by {worst}")
        print(f"{name}/{variant} {form}: ok, difference {worst:.1e}", flush=True)


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
