#!/usr/bin/env python3
"""Outline the corpus, and check that only the form of the models changes.

    outline_check.py CORPUS [--htp-opt PROGRAM] [--work FOLDER] [NAME[/VARIANT] ...]

Each graph is tagged with its trace and outlined. The outlined model must
  - pass onnx.checker with full_check,
  - give in ONNX Runtime what the original graph gives (1e-5) and what PyTorch gave (1e-4),
  - become the tagged model again by --htp-inline, equal in every field: nodes, names, order, metadata, types.
Prints a line for each graph and the totals, with the share of modules that had to be split.
"""

import argparse
import json
import os
import re
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime

BUILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build")

VARIANTS = {
    "ts": "trace.pt",
    "dynamo": "trace.pt2",
    "ts-dyn": "trace.pt",
    "dynamo-dyn": "trace-dyn.pt2",
}


class Failure(Exception):
    """A failed check."""


def run(*command):
    """Runs a program. Returns its output on standard error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{command[0]} {' '.join(command[2:])}: {done.stderr.strip()[:500]}")
    return done.stderr


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def infer(path, inputs):
    """The outputs of a model for those of `inputs` that it has."""
    model = session(path)
    names = {value.name for value in model.get_inputs()}
    return model.run(None, {name: value for name, value in inputs.items() if name in names})


def difference(left, right):
    """The largest difference of two lists of arrays."""
    if len(left) != len(right):
        raise Failure(f"{len(left)} outputs, expected {len(right)}")
    worst = 0.0
    for a, b in zip(left, right):
        if a.shape != b.shape:
            raise Failure(f"output of shape {a.shape}, expected {b.shape}")
        if a.size:
            worst = max(worst, float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)))))
    return worst


def first_difference(left, right):
    """The first difference between two models, or None."""
    for kind in ("node", "initializer", "input", "output", "value_info"):
        a, b = getattr(left.graph, kind), getattr(right.graph, kind)
        if len(a) != len(b):
            return f"{len(a)} {kind}s, expected {len(b)}"
        for i, (x, y) in enumerate(zip(a, b)):
            if x.SerializeToString(deterministic=True) != y.SerializeToString(deterministic=True):
                return f"{kind} {i}: {str(x)[:400]}\nexpected {str(y)[:400]}"
    if list(left.metadata_props) != list(right.metadata_props):
        return "the model's metadata"
    if left.opset_import != right.opset_import or left.functions:
        return "opset imports or functions"
    return None if left == right else "another field"


def load_arrays(path):
    with np.load(path) as arrays:
        return dict(arrays)


def constant_operands(model):
    """Operands of functions that are the same in all calls, although they are not parameters of a module."""
    functions = {function.name: function for function in model.functions}
    bodies = [model.graph, *functions.values()]
    calls = [(body, node) for body in bodies for node in body.node if node.op_type in functions]
    passed = {}  # for each function and input: what its calls pass, None if that is not a constant
    known = {}

    def contents(body, name):
        if id(body) not in known:
            known[id(body)] = {
                node.output[0]: node.attribute[0].SerializeToString()
                for node in body.node
                if node.op_type == "Constant" and not is_parameter(node)
            } | {
                tensor.name: (tuple(tensor.dims), onnx.numpy_helper.to_array(tensor).tobytes())
                for tensor in getattr(body, "initializer", [])
                if not is_parameter(tensor)
            }
        return known[id(body)].get(name)

    for body, node in calls:
        for index, name in enumerate(node.input):
            passed.setdefault((node.op_type, index), set()).add(contents(body, name))
    return [
        f"{function} input {index} ({functions[function].input[index]})"
        for (function, index), values in passed.items()
        if len(values) == 1 and None not in values
    ]


def is_parameter(what):
    return any(entry.key == "htp.parameter" for entry in what.metadata_props)


def check(options, name, variant, counts):
    folder = f"{options.corpus}/{name}"
    source = f"{folder}/{variant}.onnx"
    base = f"{options.work}/{name}.{variant}"
    tagged, outlined, inlined = (
        f"{base}.tagged.onnx",
        f"{base}.outlined.onnx",
        f"{base}.inlined.onnx",
    )
    trace = f"{folder}/{VARIANTS[variant]}"
    run(options.htp_opt, source, f"--htp-tag=trace={trace}", "-o", tagged)
    said = run(options.htp_opt, tagged, "--htp-outline=summary=true", "-o", outlined)
    run(options.htp_opt, outlined, "--htp-inline", "-o", inlined)

    onnx.checker.check_model(outlined, full_check=True)
    inputs = load_arrays(f"{folder}/inputs.npz")
    expected = infer(source, inputs)
    got = infer(outlined, inputs)
    to_original = difference(got, expected)
    if to_original >= 1e-5:
        raise Failure(f"differs from the original graph by {to_original}")
    torch_outputs = list(load_arrays(f"{folder}/outputs.npz").values())
    # Tensors of nested outputs come after those that PyTorch returns directly.
    to_torch = difference(got[: len(torch_outputs)], torch_outputs)
    if to_torch >= 1e-4:
        raise Failure(f"differs from PyTorch by {to_torch}")
    where = first_difference(onnx.load(inlined), onnx.load(tagged))
    if where:
        raise Failure(f"inlined, differs from the tagged model in {where}")

    model = onnx.load(outlined)
    if outside := constant_operands(model):
        raise Failure(f"constants that all calls pass alike are operands: {', '.join(outside)}")
    splits = re.findall(r"remark: (module '.*)", said)
    counts["modules"] += int(re.search(r"remark: outlined (\d+) calls", said).group(1))
    counts["split"] += len(splits)
    ops = len(model.graph.node) + sum(len(f.node) for f in model.functions)
    print(
        f"{name}/{variant}: ok, {len(onnx.load(source).graph.node)} nodes -> {ops} in "
        f"{len(model.functions)} functions, {len(splits)} split, "
        f"difference {to_original:.1e} / {to_torch:.1e}"
    )
    for split in splits:
        print("    " + split)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--htp-opt", default=f"{BUILD}/bin/htp-opt")
    parser.add_argument("--work", default=f"{BUILD}/outlined")
    parser.add_argument("only", nargs="*")
    options = parser.parse_intermixed_args()
    os.makedirs(options.work, exist_ok=True)
    counts = {"graphs": 0, "passed": 0, "modules": 0, "split": 0}
    for name in sorted(os.listdir(options.corpus)):
        for variant in VARIANTS:
            label = f"{name}/{variant}"
            if not os.path.exists(f"{options.corpus}/{label}.onnx"):
                continue
            if options.only and name not in options.only and label not in options.only:
                continue
            counts["graphs"] += 1
            try:
                check(options, name, variant, counts)
                counts["passed"] += 1
            except Exception as error:  # a failed check must not hide the others
                print(f"{label}: FAILED: {error}")
            sys.stdout.flush()
    print(json.dumps(counts))
    print(
        f"{counts['passed']} of {counts['graphs']} graphs; {counts['split']} of "
        f"{counts['modules']} module calls split"
    )
    return 0 if counts["graphs"] and counts["passed"] == counts["graphs"] else 1


if __name__ == "__main__":
    sys.exit(main())
