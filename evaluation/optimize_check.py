#!/usr/bin/env python3
"""Check that MLIR's own --cse --canonicalize on the corpus does not change what models compute.

    optimize_check.py CORPUS [--bin build/bin] [--work DIR] [NAME[/VARIANT] ...]

Each graph is sent through `htp-opt --cse --canonicalize`. The result must pass onnx.checker with full_check. In ONNX Runtime
it must give exactly the bytes that the original gives when both run without ONNX Runtime's own optimizations (which would see
different graphs and may round differently), and the same to 1e-5 with them. Prints a line for each graph, with how many nodes
were saved, and the totals; fails if one differs, or if no node was saved anywhere.
"""

import argparse
import collections
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

VARIANTS = ("ts", "dynamo", "ts-dyn", "dynamo-dyn")
HERE = Path(__file__).resolve().parent


def infer(path: Path, inputs: dict, optimize: bool) -> list:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimize else levels.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = {value.name for value in session.get_inputs()}
    return session.run(None, {name: value for name, value in inputs.items() if name in names})


def difference(got: list, want: list) -> float:
    if [(a.shape, a.dtype) for a in got] != [(a.shape, a.dtype) for a in want]:
        return float("inf")
    pairs = [(a.astype(np.float64), b.astype(np.float64)) for a, b in zip(got, want) if a.size]
    return max((float(np.max(np.abs(a - b))) for a, b in pairs), default=0.0)


def nodes(path: Path) -> int:
    return len(onnx.load(path, load_external_data=False).graph.node)


def check(programs: Path, source: Path, work: Path) -> tuple[str, int, int]:
    """What is wrong with the optimized graph, or nothing, and the nodes before and after."""
    work.mkdir(parents=True, exist_ok=True)
    target = work / f"{source.parent.name}.{source.name}"
    done = subprocess.run(
        [programs / "htp-opt", source, "--cse", "--canonicalize", "-o", target],
        capture_output=True,
        text=True,
    )
    before = nodes(source)
    if done.returncode:
        return done.stderr.strip().splitlines()[0], before, before
    after = nodes(target)
    try:
        onnx.checker.check_model(str(target), full_check=True)
        with np.load(source.parent / "inputs.npz") as arrays:
            inputs = dict(arrays)
        plain = difference(*(infer(p, inputs, optimize=False) for p in (target, source)))
        optimized = difference(*(infer(p, inputs, optimize=True) for p in (target, source)))
    except Exception as error:  # a failed check must not hide the others
        return f"{type(error).__name__}: {str(error).splitlines()[0]}", before, after
    if plain:
        return f"outputs differ by {plain:.1e}", before, after
    return ("" if optimized < 1e-5 else f"optimized, differs by {optimized:.1e}"), before, after


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--bin", type=Path, default=HERE.parent / "build/bin")
    parser.add_argument("--work", type=Path, default=HERE.parent / "build/optimized")
    parser.add_argument("only", nargs="*")
    args = parser.parse_intermixed_args()
    totals = collections.Counter()
    for source in sorted(args.corpus.glob("*/*.onnx")):
        name, variant = source.parent.name, source.stem
        if variant not in VARIANTS:
            continue
        if args.only and name not in args.only and f"{name}/{variant}" not in args.only:
            continue
        problem, before, after = check(args.bin, source, args.work)
        totals.update(graphs=1, passed=not problem, before=before, after=after)
        print(f"{name}/{variant}: {problem or 'equal'}, {before} nodes -> {after}", flush=True)
    print(
        f"of {totals['graphs']} graphs {totals['passed']} equal, "
        f"{totals['before']} nodes -> {totals['after']}"
    )
    return 1 if totals["passed"] < totals["graphs"] or totals["after"] >= totals["before"] else 0


if __name__ == "__main__":
    sys.exit(main())
