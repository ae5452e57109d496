#!/usr/bin/env python3
"""Extract every module of the corpus, run it alone, and compare.

    extract_check.py CORPUS [--htp-opt PROGRAM] [--work FOLDER] [--models FILE] [NAME[/VARIANT] ...]

Each call of each module that owns ops becomes a separate model. It must load in ONNX Runtime and, given the values of the
whole graph, compute the values of the whole graph. With --models (the corpus's models.py) PyTorch runs too, and the tensor that
a module's forward returns must be among the outputs of the extracted model.

The TorchScript-based exporter folds a batch norm into the convolution before it: the graph's Conv then computes what PyTorch's
batch norm returns, and nothing in the graph computes what the convolution returns. Such a module is counted separately as folded,
if its output is that of a module that owns no ops and has a parameter that is no longer in the graph.
"""

import argparse
import glob
import importlib.util
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

BUILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build")

TRACES = {"ts": "trace.pt", "dynamo": "trace.pt2"}
MOST_CALLS = 64


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


def first_tensor(output):
    """What a forward returns, or the first item of it; None if that is not a tensor."""
    import torch

    first = output[0] if isinstance(output, (tuple, list)) and output else output
    # A copy: the next module may add to the tensor in place.
    return first.clone().numpy() if torch.is_tensor(first) else None


class Reference:
    """PyTorch's results for a model of the corpus."""

    def __init__(self, models, name, example):
        import torch

        torch.manual_seed(0)
        build, inputs = models.MODELS[name]
        model = build().eval()
        inputs()
        for parameter in model.parameters():
            parameter.data.add_(torch.randn_like(parameter) * 0.02)
        self.root = type(model).__name__
        self.outputs = {}  # path -> what each call returned
        self.parameters = {
            path: [tensor.detach().numpy() for tensor in module.parameters(recurse=False)]
            for path, module in model.named_modules()
        }
        for path, module in model.named_modules():
            module.register_forward_hook(
                lambda _, __, output, path=path: self.outputs.setdefault(path, []).append(
                    first_tensor(output)
                )
            )
        with torch.no_grad():
            model(**{key: torch.from_numpy(value) for key, value in example.items()})

    def output(self, path, call):
        calls = self.outputs.get("" if path == self.root else path, [])
        return calls[call] if call < len(calls) else None

    def folded(self, values, extracted, stored):
        """The module that returns one of `values`, has no ops and lost a parameter; or None."""
        for path, calls in self.outputs.items():
            parameters = self.parameters[path]
            if path in extracted or not parameters or calls[0] is None:
                continue
            in_graph = [any(same(mine, tensor, 0) for tensor in stored) for mine in parameters]
            if not all(in_graph) and any(same(value, calls[0], 1e-4) for value in values):
                return path
        return None


def extract(options, tagged, folder):
    """Makes a folder for each call. Returns the error if not even the first call's models could be made."""
    shutil.rmtree(folder, ignore_errors=True)
    for call in range(MOST_CALLS):
        target = f"{folder}/{call}"
        os.makedirs(target, exist_ok=True)
        command = [tagged, f"--htp-extract=module=** call={call}", "-o", f"{target}/%.onnx"]
        done = subprocess.run(
            [options.htp_opt, *command], capture_output=True, text=True, check=False
        )
        if done.returncode:
            # It ends with the error that no module has this many calls.
            ended = call and "owns ops in that call" in done.stderr
            return None if ended else done.stderr.strip()[:300]
    return f"more than {MOST_CALLS} calls"


def check_module(path, values):
    """Runs an extracted model. Returns its outputs, and raises if they differ from those of the whole graph."""
    run = session(path)
    names = [value.name for value in run.get_outputs()]
    got = run.run(names, {value.name: values[value.name] for value in run.get_inputs()})
    wrong = [key for key, value in zip(names, got) if not same(value, values[key], 1e-5)]
    if wrong:
        raise ValueError(f"other values of {wrong[:3]}")
    return got


def check(options, models, name, variant, counts):
    folder = f"{options.corpus}/{name}"
    tagged = f"{options.work}/{name}.{variant}.tagged.onnx"
    parts = f"{options.work}/{name}.{variant}"
    trace = f"--htp-tag=trace={folder}/{TRACES[variant]}"
    done = subprocess.run(
        [options.htp_opt, f"{folder}/{variant}.onnx", trace, "-o", tagged],
        capture_output=True,
        text=True,
        check=False,
    )
    error = done.stderr.strip()[:300] if done.returncode else extract(options, tagged, parts)
    if error:
        counts["failed"] += 1
        print(f"{name}/{variant}: FAILED: {error}")
        return
    with np.load(f"{folder}/inputs.npz") as arrays:
        inputs = dict(arrays)
    values = all_values(tagged, inputs)
    reference = Reference(models, name, inputs) if models else None
    stored = [numpy_helper.to_array(tensor) for tensor in onnx.load(tagged).graph.initializer]
    files = sorted(glob.glob(f"{parts}/*/*.onnx"))
    extracted = {os.path.basename(path).removesuffix(".onnx") for path in files}
    for path in files:
        module = os.path.basename(path).removesuffix(".onnx")
        call = int(os.path.basename(os.path.dirname(path)))
        label = f"{name}/{variant} {module}" + (f" call {call}" if call else "")
        counts["modules"] += 1
        try:
            got = check_module(path, values)
            counts["equal"] += 1
        except Exception as error:  # one module must not hide the others
            counts["failed"] += 1
            print(f"{label}: FAILED: {str(error)[:300]}")
            continue
        expected = reference.output(module, call) if reference else None
        if expected is None:
            continue
        if any(same(value, expected, 1e-4) for value in got):
            counts["as_pytorch"] += 1
        elif into := reference.folded(got, extracted, stored):
            counts["folded"] += 1
            print(f"{label}: folded with {into}")
        else:
            counts["unlike"] += 1
            print(f"{label}: PyTorch's output is not among those of the extracted model")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--htp-opt", default=f"{BUILD}/bin/htp-opt")
    parser.add_argument("--work", default=f"{BUILD}/extracted")
    parser.add_argument("--models", help="the corpus's models.py, to compare with PyTorch")
    parser.add_argument("only", nargs="*")
    options = parser.parse_intermixed_args()
    os.makedirs(options.work, exist_ok=True)
    models = None
    if options.models:
        spec = importlib.util.spec_from_file_location("models", options.models)
        models = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(models)
    counts = dict.fromkeys(("modules", "equal", "failed", "as_pytorch", "folded", "unlike"), 0)
    for name in sorted(os.listdir(options.corpus)):
        for variant in TRACES:
            label = f"{name}/{variant}"
            if not os.path.exists(f"{options.corpus}/{label}.onnx"):
                continue
            if not options.only or name in options.only or label in options.only:
                check(options, models, name, variant, counts)
    print(
        f"{counts['equal']} of {counts['modules']} modules compute the values of the whole graph; of those whose forward "
        f"returns a tensor {counts['as_pytorch']} give what PyTorch's forward hooks see, {counts['folded']} are folded with "
        f"the module after them, {counts['unlike']} differ"
    )
    return 0 if counts["modules"] and not counts["failed"] and not counts["unlike"] else 1


if __name__ == "__main__":
    sys.exit(main())
