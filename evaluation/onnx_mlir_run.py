#!/usr/bin/env python3
"""Compile outlined models to libraries with a real onnx-mlir, run them, and compare with ONNX Runtime.

    onnx_mlir_run.py --compiler ONNX-MLIR [--bin build/bin] [--work FOLDER] [--flags "-O3"] MODEL.onnx ...

Each tagged model (NAME.onnx with its example inputs in NAME.inputs.npz, as `htp export` writes them) is compiled flat and
outlined, both from `htp-opt --onnx-infer-shapes [--htp-outline] --emit=onnx-mlir`. Printed are the processor seconds that
onnx-mlir takes for each, and how far the outputs of the library are from those of ONNX Runtime. Exit code 1 if an outlined
model does not compile, does not run, or differs by more than 1e-4. A model that onnx-mlir does not compile flat proves
nothing, and is only counted.

onnx-mlir is not available as a package; docs/onnx-mlir.md says what was built.
"""

import argparse
import ctypes
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 1e-4


class NotCompiled(Exception):
    """onnx-mlir does not take the flat model."""


class Library:
    """A compiled model, called through onnx-mlir's C runtime, which the library contains."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        for name, result, arguments in (
            ("omTensorCreate", pointer, [pointer, pointer, number, ctypes.c_int]),
            ("omTensorListCreate", pointer, [pointer, number]),
            ("omTensorListGetSize", number, [pointer]),
            ("omTensorListGetOmtByIndex", pointer, [pointer, number]),
            ("omTensorGetDataPtr", pointer, [pointer]),
            ("omTensorGetShape", pointer, [pointer]),
            ("omTensorGetRank", number, [pointer]),
            ("omTensorGetDataType", ctypes.c_int, [pointer]),
            ("run_main_graph", pointer, [pointer]),
        ):
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, arguments

    def run(self, arrays):
        call, kept = self.library, [np.ascontiguousarray(array) for array in arrays]
        tensors = (ctypes.c_void_p * len(kept))()
        for place, array in enumerate(kept):
            shape = (ctypes.c_int64 * array.ndim)(*array.shape)
            kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            tensors[place] = call.omTensorCreate(array.ctypes.data, shape, array.ndim, kind)
        outputs = call.run_main_graph(call.omTensorListCreate(tensors, len(kept)))
        if not outputs:
            raise RuntimeError("the library returns no outputs")
        tensors = (
            call.omTensorListGetOmtByIndex(outputs, n)
            for n in range(call.omTensorListGetSize(outputs))
        )
        return [self._array(tensor) for tensor in tensors]

    def _array(self, tensor):
        call = self.library
        rank = call.omTensorGetRank(tensor)
        shape = (ctypes.c_int64 * rank).from_address(call.omTensorGetShape(tensor)) if rank else ()
        dtype = onnx.helper.tensor_dtype_to_np_dtype(call.omTensorGetDataType(tensor))
        count = int(np.prod(list(shape), dtype=np.int64))
        data = ctypes.string_at(call.omTensorGetDataPtr(tensor), count * dtype.itemsize)
        return np.frombuffer(data, dtype).reshape(tuple(shape))


def seconds(command):
    """Processor time of a command and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-400:]
        raise RuntimeError(f"{Path(command[0]).name} ends with {done.returncode}: {said}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compiled(options, model, outlined):
    """(the library, the seconds that onnx-mlir took)"""
    base = options.work / f"{model.stem}.{'outlined' if outlined else 'flat'}"
    passes = ["--onnx-infer-shapes", *(["--htp-outline"] if outlined else [])]
    source = base.with_name(base.name + ".mlir")
    seconds([options.bin / "htp-opt", model, *passes, "--emit=onnx-mlir", "-o", source])
    flags = [*options.flags.split(), "--EmitLib", "-o", base, source]
    try:
        return base.with_name(base.name + ".so"), seconds([options.compiler, *flags])
    except RuntimeError as error:
        if outlined:
            raise
        raise NotCompiled(f"not compiled flat: {error}") from error


def difference(outputs, expected):
    if [a.shape for a in outputs] != [b.shape for b in expected]:
        raise RuntimeError("the outputs have other shapes")
    pairs = zip(outputs, expected)
    return max(float(np.abs(a.astype(float) - b).max(initial=0)) for a, b in pairs)


def check(options, model):
    with np.load(model.with_suffix(".inputs.npz")) as arrays:
        inputs = dict(arrays)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    feeds = {value.name: inputs[value.name] for value in session.get_inputs()}
    expected = session.run(None, feeds)
    said = []
    for outlined in (False, True):
        library, spent = compiled(options, model, outlined)
        worst = difference(Library(library).run(feeds.values()), expected)
        said.append(f"{'outlined' if outlined else 'flat'} {spent:.2f} s, difference {worst:.1e}")
        if worst > TOLERANCE:
            raise RuntimeError(said[-1])
    return "; ".join(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--compiler", required=True, type=Path, help="the program onnx-mlir")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/bin")
    parser.add_argument("--work", type=Path, default=ROOT / "build/onnx-mlir-run")
    parser.add_argument("--flags", default="-O3", help="default: %(default)s")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    failed = skipped = 0
    for model in options.models:
        try:
            said = check(options, model)
        except NotCompiled as error:
            skipped += 1
            said = str(error)
        except Exception as error:
            failed += 1
            said = f"failed: {error}"
        print(f"{model.name}: {said}", flush=True)
    print(f"{len(options.models)} models, {skipped} not compiled flat, {failed} failed")
    return 1 if failed or skipped == len(options.models) else 0


if __name__ == "__main__":
    sys.exit(main())
