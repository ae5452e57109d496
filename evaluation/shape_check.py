#!/usr/bin/env python3
"""Check that shape inference in an outlined function alone finds what it finds in the flat model.

    shape_check.py MODEL.onnx ... [--htp-opt PROGRAM] [--work FOLDER]

Each tagged model is outlined. Every function becomes a separate model with only the types of its inputs, and ONNX's shape
inference (with data propagation) runs on it. Counted are the values made by the function whose types the flat model's inference
knows to the last dimension (a symbolic one counts as known), and those among them that the function's own inference knows as
well. Exit code 1 if one is missing.
"""

import argparse
import os
import subprocess
import sys

import onnx

BUILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build")


def known(value):
    """The element type and dimensions, if all of them are known; None for a symbolic dimension."""
    tensor = value.type.tensor_type
    if not tensor.elem_type or not tensor.HasField("shape"):
        return None
    dims = []
    for dim in tensor.shape.dim:
        if not dim.HasField("dim_value") and not dim.HasField("dim_param"):
            return None
        dims.append(dim.dim_value if dim.HasField("dim_value") else None)
    return tensor.elem_type, tuple(dims)


def inferred(model):
    """The inferred ValueInfo, by name."""
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    values = {v.name: v for v in [*graph.input, *graph.output, *graph.value_info]}
    for tensor in graph.initializer:
        values[tensor.name] = onnx.helper.make_tensor_value_info(
            tensor.name, tensor.data_type, list(tensor.dims)
        )
    return values


def alone(function, model, types):
    """The function's body as a model: typed inputs, no weights."""
    graph = onnx.helper.make_graph(
        list(function.node),
        function.name,
        [types[name] for name in function.input],
        [onnx.helper.make_empty_tensor_value_info(name) for name in function.output],
    )
    return onnx.helper.make_model(
        graph,
        functions=list(model.functions),
        opset_imports=[*model.opset_import],
        ir_version=model.ir_version,
    )


def check(options, path):
    base = os.path.join(options.work, os.path.basename(path))
    subprocess.run([options.htp_opt, path, "--htp-outline", "-o", base], check=True)
    flat, outlined = onnx.load(path), onnx.load(base)
    types = inferred(flat)
    total = found = skipped = 0
    for function in outlined.functions:
        if any(name not in types for name in function.input):
            skipped += 1
            continue
        own = inferred(alone(function, outlined, types))
        for name in (name for node in function.node for name in node.output if name):
            expected = known(types[name]) if name in types else None
            if expected is None:
                continue
            total += 1
            got = known(own[name]) if name in own else None
            found += got is not None
            if got is None and options.verbose:
                print(f"  {function.name}: {name} is {expected}, not found")
    print(
        f"{os.path.basename(path)}: {found} of {total} values in {len(outlined.functions) - skipped} functions"
        + (f", {skipped} functions have inputs without a type" if skipped else ""),
        flush=True,
    )
    return found == total and total > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--htp-opt", default=f"{BUILD}/bin/htp-opt")
    parser.add_argument("--work", default=f"{BUILD}/shapes")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    return 0 if all([check(options, path) for path in options.models]) else 1


if __name__ == "__main__":
    sys.exit(main())
