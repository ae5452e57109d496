#!/usr/bin/env python3
"""Extract every module of the corpus, run it alone, and compare.

    extract_check.py CORPUS [--htp-opt PROGRAM] [--work FOLDER] [--models FILE] [NAME[/VARIANT] ...]

Each module that owns ops becomes a model of its own. It must load in ONNX Runtime and, fed with the values of the whole
graph, compute the values of the whole graph. With --models (the corpus's models.py) PyTorch runs too, and the tensor that a
module's forward returns must be among the outputs of the extracted model. Prints the counts.
"""

import argparse
import glob
import importlib.util
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime

TRACES = {"ts": "trace.pt", "dynamo": "trace.pt2"}


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def all_values(path, inputs):
    """Every value that a node of the graph makes, and the inputs, by name."""
    model = onnx.load(path)
    known = {output.name for output in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in known:
                model.graph.output.append(onnx.ValueInfoProto(name=name))
                known.add(name)
    run = session(model.SerializeToString())
    fed = {value.name for value in run.get_inputs()}
    names = [value.name for value in run.get_outputs()]
    values = dict(inputs)
    values.update(zip(names, run.run(names, {k: v for k, v in inputs.items() if k in fed})))
    return values


def same(left, right, tolerance):
    left, right = np.asarray(left), np.asarray(right)
    return left.shape == right.shape and np.allclose(
        left.astype(np.float64),
        right.astype(np.float64),
        rtol=tolerance,
        atol=tolerance,
        equal_nan=True,
    )


def torch_outputs(models, name, example):
    """For each module that is called once and returns a tensor (first of a tuple): that tensor."""
    import torch

    torch.manual_seed(0)
    build, inputs = models.MODELS[name]
    model = build().eval()
    inputs()
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.02)
    seen = {}

    def hook(path):
        def record(_, __, output):
            first = output[0] if isinstance(output, (tuple, list)) and output else output
            # A copy: the next module may add to the tensor in place.
            seen.setdefault(path, []).append(first.clone() if torch.is_tensor(first) else None)

        return record

    for path, module in model.named_modules():
        module.register_forward_hook(hook(path))
    with torch.no_grad():
        model(**{key: torch.from_numpy(value) for key, value in example.items()})
    return {
        path: calls[0].numpy()
        for path, calls in seen.items()
        if len(calls) == 1 and calls[0] is not None
    }


def check(options, models, name, variant, counts):
    folder = f"{options.corpus}/{name}"
    tagged = f"{options.work}/{name}.{variant}.tagged.onnx"
    parts = f"{options.work}/{name}.{variant}"
    os.makedirs(parts, exist_ok=True)
    trace = f"--htp-tag=trace={folder}/{TRACES[variant]}"
    for command in (
        [f"{folder}/{variant}.onnx", trace, "-o", tagged],
        [tagged, "--htp-extract=module=**", "-o", f"{parts}/%.onnx"],
    ):
        done = subprocess.run(
            [options.htp_opt, *command], capture_output=True, text=True, check=False
        )
        if done.returncode:
            counts["failed"] += 1
            print(f"{name}/{variant}: FAILED: {done.stderr.strip()[:300]}")
            return
    with np.load(f"{folder}/inputs.npz") as arrays:
        inputs = dict(arrays)
    values = all_values(tagged, inputs)
    hooked = torch_outputs(models, name, inputs) if models else {}
    for path in sorted(glob.glob(f"{parts}/*.onnx")):
        module = os.path.basename(path).removesuffix(".onnx")
        counts["modules"] += 1
        try:
            run = session(path)
            outputs = [value.name for value in run.get_outputs()]
            got = run.run(outputs, {value.name: values[value.name] for value in run.get_inputs()})
            wrong = [key for key, value in zip(outputs, got) if not same(value, values[key], 1e-5)]
            if wrong:
                raise ValueError(f"other values of {wrong[:3]}")
            counts["equal"] += 1
        except Exception as error:  # one module must not hide the others
            counts["failed"] += 1
            print(f"{name}/{variant} {module}: FAILED: {str(error)[:300]}")
            continue
        if module in hooked:
            counts["hooked"] += 1
            if any(same(value, hooked[module], 1e-4) for value in got):
                counts["as_pytorch"] += 1
            else:
                print(f"{name}/{variant} {module}: PyTorch's output is not among {outputs[:4]}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--htp-opt", default="htp-opt")
    parser.add_argument("--work", default="extracted")
    parser.add_argument("--models", help="the corpus's models.py, to compare with PyTorch")
    parser.add_argument("only", nargs="*")
    options = parser.parse_intermixed_args()
    models = None
    if options.models:
        spec = importlib.util.spec_from_file_location("models", options.models)
        models = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(models)
    counts = {"modules": 0, "equal": 0, "failed": 0, "hooked": 0, "as_pytorch": 0}
    for name in sorted(os.listdir(options.corpus)):
        for variant in TRACES:
            label = f"{name}/{variant}"
            if not os.path.exists(f"{options.corpus}/{label}.onnx"):
                continue
            if not options.only or name in options.only or label in options.only:
                check(options, models, name, variant, counts)
    print(
        f"{counts['equal']} of {counts['modules']} modules compute the values of the whole graph; "
        f"{counts['as_pytorch']} of {counts['hooked']} give what PyTorch's forward hooks see"
    )
    return 0 if counts["modules"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
