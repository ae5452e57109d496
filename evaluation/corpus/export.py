#!/usr/bin/env python3
"""Export models with both PyTorch exporters, with the true module of every node.

    export.py OUT [NAME ...] [--set corpus|heldout] [--core] [--force]

For each model NAME, OUT/NAME/ contains:
    ts.onnx, dynamo.onnx       the TorchScript-based and the torch.export-based exporter's graph
    ts-dyn.onnx, dynamo-dyn.onnx   the same with dynamic batch and sequence lengths
    trace.pt                   torch.jit.trace of the same model (for LibTorch)
    trace.pt2, trace-dyn.pt2   torch.export archives of the same model, static and dynamic shapes
    inputs.npz                 example inputs; outputs.npz: PyTorch's outputs for them
    tree.json                  every nn.Module: path, class, whether torch.nn defines it, tag
    VARIANT.truth.json         for each node of VARIANT.onnx, in order: the module's path, or a list
                               of paths that are all correct (see truth.py), or null
    GRAPH.VARIANT.onnx         what variants.py makes of each graph, with its truth if known
    done.json                  node counts, or why a step failed (that line is also printed)

A model with a done.json is skipped, so a second run takes a second (--force exports it again); after
a run with --core, only the further variants are made.
Some models cannot be exported with both exporters, which is due to PyTorch. --core leaves out the
further variants.
"""

import argparse
import importlib
import json
import logging
import os
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
import transformers

import truth as facts
import variants


def write_json(path, value):
    with open(path, "w") as file:
        json.dump(value, file)


def attempt(result, what, action, *args):
    try:
        result[what] = action(*args)
    except Exception as error:  # whatever PyTorch or another tool cannot do is reported
        result[what] = f"{type(error).__name__}: {str(error)[:100]}"


def save_variants(result, folder, file, graph, truth, example, wanted):
    """`example`: inputs that fit the graph."""
    for variant, make in wanted.items():
        attempt(
            result,
            f"{file}.{variant}",
            save_variant,
            folder,
            file,
            variant,
            make,
            example,
            graph,
            truth,
        )


def save_variant(folder, file, variant, make, example, graph, truth):
    target = f"{folder}/{file}.{variant}.onnx"
    make(f"{folder}/{file}.onnx", target, example)
    after = onnx.load(target).graph
    if variant != "anon":  # the same nodes in the same order
        truth = facts.survivors(graph, truth, after)
    write_json(f"{folder}/{file}.{variant}.truth.json", truth)
    return len(after.node)


def add_further(folder):
    """The variants that --core left out, made from the graphs that it wrote."""
    result = json.loads(Path(folder, "done.json").read_text())
    example = dict(np.load(f"{folder}/inputs.npz"))
    twice = {name: np.concatenate([value, value]) for name, value in example.items()}
    for file in ("ts", "ts-dyn", "dynamo", "dynamo-dyn"):
        if Path(folder, f"{file}.truth.json").exists():
            graph = onnx.load(f"{folder}/{file}.onnx").graph
            truth = json.loads(Path(folder, f"{file}.truth.json").read_text())
            inputs = twice if file.endswith("-dyn") else example
            save_variants(result, folder, file, graph, truth, inputs, variants.FURTHER)
    result["core"] = False
    write_json(f"{folder}/done.json", result)
    return result


class Export:
    """One model's exports: its graphs, traces and variants, and the result of each step."""

    def __init__(self, name, build, inputs, folder, core, distinct=True, seed=0):
        os.makedirs(folder, exist_ok=True)
        torch.manual_seed(seed)
        self.model, self.example, self.folder = build().eval(), inputs(), folder
        for parameter in self.model.parameters() if distinct else ():  # no two alike
            parameter.data.add_(torch.randn_like(parameter) * 0.02)
        self.variants = variants.CORE if core else {**variants.CORE, **variants.FURTHER}
        tree = facts.tree_of(self.model)
        write_json(f"{folder}/tree.json", tree)
        self.paths = {m["path"] for m in tree}
        self.aliases = facts.aliases_of(self.model)
        self.contents = {p.detach().numpy().tobytes() for p in self.model.parameters()}
        self.partners = facts.convolution_partners(self.model)
        self.result = {"model": name, "core": core, "modules": len(tree)}
        # A batch of 1 would become constant in a dynamic export.
        self.twice = {k: torch.cat([v, v]) for k, v in self.example.items()}
        # What may vary: the batch, and the sequence of a (batch, sequence) input.
        self.free = {k: range(1 + (v.dim() == 2)) for k, v in self.example.items()}
        self.shapes = {k: {d: torch.export.Dim.AUTO for d in dims} for k, dims in self.free.items()}

    def run(self):
        attempt(self.result, "dynamo", self.dynamo, False)
        attempt(self.result, "dynamo-dyn", self.dynamo, True)
        attempt(self.result, "pt2", self.archive, False)
        attempt(self.result, "pt2-dyn", self.archive, True)
        self.call_positionally()
        self.save_values()
        attempt(self.result, "ts", self.torchscript, False)
        attempt(self.result, "ts-dyn", self.torchscript, True)
        attempt(self.result, "pt", self.trace)
        write_json(f"{self.folder}/done.json", self.result)
        return self.result

    def dynamo(self, dynamic):
        program = torch.onnx.export(
            self.model,
            (),
            kwargs=self.twice if dynamic else self.example,
            dynamo=True,
            verbose=False,
            dynamic_shapes=self.shapes if dynamic else None,
        )
        file = "dynamo-dyn" if dynamic else "dynamo"
        program.save(f"{self.folder}/{file}.onnx")
        graph = onnx.load(f"{self.folder}/{file}.onnx").graph
        return self.save_variants(file, graph, facts.truth_dynamo(graph, self.paths))

    def archive(self, dynamic):
        program = torch.export.export(
            self.model,
            (),
            kwargs=self.twice if dynamic else self.example,
            dynamic_shapes=self.shapes if dynamic else None,
        )
        torch.export.save(program, f"{self.folder}/trace{'-dyn' if dynamic else ''}.pt2")
        return True

    def call_positionally(self):
        """The TorchScript exporter and tracer pass inputs by position, and a dict as a result is
        in their way."""
        model, keys, cls = self.model, list(self.example), type(self.model)
        more = {"return_dict": False} if issubclass(cls, transformers.PreTrainedModel) else {}
        model.forward = lambda *args: cls.forward(model, **dict(zip(keys, args)), **more)

    def save_values(self):
        with torch.no_grad():
            outputs = self.model(*self.example.values())
        outputs = [
            t for t in (outputs if isinstance(outputs, tuple) else [outputs]) if torch.is_tensor(t)
        ]
        np.savez(f"{self.folder}/inputs.npz", **{k: v.numpy() for k, v in self.example.items()})
        np.savez(f"{self.folder}/outputs.npz", *[t.numpy() for t in outputs])

    def torchscript(self, dynamic):
        file = "ts-dyn" if dynamic else "ts"
        axes = {k: {d: f"{k}_{d}" for d in dims} for k, dims in self.free.items()}
        torch.onnx.export(
            self.model,
            tuple((self.twice if dynamic else self.example).values()),
            f"{self.folder}/{file}.onnx",
            dynamo=False,
            opset_version=17,
            input_names=list(self.example),
            dynamic_axes=axes if dynamic else None,
        )
        graph = onnx.load(f"{self.folder}/{file}.onnx").graph
        parameters = {n for n, _ in self.model.named_parameters(remove_duplicate=False)}
        return self.save_variants(
            file, graph, facts.truth_torchscript(graph, self.paths, parameters)
        )

    def trace(self):
        traced = torch.jit.trace(
            self.model, tuple(self.example.values()), strict=False, check_trace=False
        )
        traced.save(f"{self.folder}/part.pt")  # a failed save leaves a broken file
        os.replace(f"{self.folder}/part.pt", f"{self.folder}/trace.pt")
        return True

    def save_variants(self, file, graph, truth):
        truth = list(
            facts.folded(graph, facts.aliased(truth, self.aliases), self.contents, self.partners)
        )
        write_json(f"{self.folder}/{file}.truth.json", truth)
        example = self.twice if file.endswith("-dyn") else self.example
        example = {name: value.numpy() for name, value in example.items()}
        save_variants(self.result, self.folder, file, graph, truth, example, self.variants)
        return len(graph.node)


def complete(args, name):
    """Whether an earlier run has made everything that is requested."""
    done = Path(args.out, name, "done.json")
    return done.exists() and (args.core or not json.loads(done.read_text())["core"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("names", nargs="*", help="all models of the set where none is given")
    parser.add_argument("--set", default="corpus", choices=("corpus", "heldout"))
    parser.add_argument("--core", action="store_true", help="only anon and ort as variants")
    parser.add_argument("--force", action="store_true", help="export again what is there")
    parser.add_argument("--list", action="store_true", help="only print what is not exported yet")
    args = parser.parse_intermixed_args()
    models = importlib.import_module("models" if args.set == "corpus" else "heldout").MODELS
    unknown = [n for n in args.names if n not in models]
    if unknown:
        parser.error(f"no model {', '.join(unknown)} in {args.set}; there are: {', '.join(models)}")
    todo = [n for n in args.names or models if args.force or not complete(args, n)]
    if args.list:
        print("\n".join(todo))
        return
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    for name in todo:
        folder = f"{args.out}/{name}"
        if not args.force and Path(folder, "done.json").exists():
            result = add_further(folder)
        else:
            result = Export(name, *models[name], folder, args.core).run()
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
