#!/usr/bin/env python3
"""Write, for graphs that export.py made, which modules their nodes belong to according to hook_truth.py.

    hooks.py OUT [NAME ...] [--set corpus|heldout]

VARIANT.hooks.json beside each VARIANT.onnx has a list with an entry for every node, in order: null, or
{"paths": [...], "exact": bool}, and the counts of what was left out. Variants that round weights are skipped,
because their values no longer equal PyTorch's. Existing files are not made again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import sys
import warnings
from pathlib import Path

import hook_truth
import numpy as np
import onnx
import torch

GRAPHS = ("ts", "ts-dyn", "dynamo", "dynamo-dyn")
#: The anonymous graph is the graph itself under other names.
VARIANTS = ("", "ort", "onnxsim", "onnxscript")


def built(build, inputs):
    """The model as export.py makes it; the two must agree number by number."""
    torch.manual_seed(0)
    model = build().eval()
    inputs()
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.02)
    return model


def padded(example: dict) -> dict:
    """The example with a mask that masks something. Where nothing is masked PyTorch passes no mask at all, and
    what a module takes in the graph could not be seen."""
    masks = [key for key in example if key.endswith("attention_mask")]
    changed = {key: example[key].copy() for key in masks}
    for mask in changed.values():
        mask[..., -(mask.shape[-1] // 4) :] = 0
    return {**example, **changed}


def write(folder: Path, name: str, models: dict) -> dict[str, str]:
    """A step that failed, and why."""
    failed, calls = {}, {}
    example = padded(dict(np.load(folder / "inputs.npz")))
    twice = {key: np.concatenate([value, value]) for key, value in example.items()}
    for graph in GRAPHS:
        for variant in VARIANTS:
            source = folder / f"{graph}{'.' if variant else ''}{variant}.onnx"
            target = source.with_suffix(".hooks.json")
            if not source.exists() or target.exists():
                continue
            dynamic = graph.endswith("-dyn")
            feeds = twice if dynamic else example
            try:
                if dynamic not in calls:
                    given = {key: torch.from_numpy(value.copy()) for key, value in feeds.items()}
                    calls[dynamic] = hook_truth.observe(built(*models[name]), (), given)
                text = regions(source, feeds, calls[dynamic])
            except Exception as error:  # ONNX Runtime's own ops do not always run again
                failed[source.name] = f"{type(error).__name__}: {str(error)[:100]}"
                continue
            target.write_text(text)
            if not variant and (folder / f"{graph}.anon.onnx").exists():
                (folder / f"{graph}.anon.hooks.json").write_text(text)
    return failed


def regions(source: Path, feeds: dict, calls: list) -> str:
    model = onnx.load(source)
    return to_json(hook_truth.HookTruth(model.graph, hook_truth.graph_values(model, feeds), calls))


def to_json(truth: hook_truth.HookTruth) -> str:
    known = [None if r is None else {"paths": r.paths, "exact": r.exact} for r in truth.regions]
    return json.dumps({"nodes": known, "excluded": truth.excluded})


def read(path: Path) -> list[hook_truth.Region | None]:
    entries = json.loads(path.read_text())["nodes"]
    return [e and hook_truth.Region(tuple(e["paths"]), e["exact"]) for e in entries]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--set", default="corpus", choices=("corpus", "heldout"))
    args = parser.parse_intermixed_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    models = importlib.import_module("models" if args.set == "corpus" else "heldout").MODELS
    there = sorted(f.parent.name for f in args.out.glob("*/done.json"))
    for name in args.names or there:
        failed = write(args.out / name, name, models)
        for file, why in failed.items():
            print(f"{name}/{file}: {why}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
