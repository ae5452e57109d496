#!/usr/bin/env python3
"""Checks the answers of --htp-attach-hierarchy alone against the truth of the corpus.

    direct_evidence.py CORPUS [--programs build/bin] [--variants ts dynamo …] [--no-trace]

Direct evidence (the exporter's notes, scopes in names, parameters) may be silent, but never wrong. For each
graph, this runs htp-opt with the matching trace and counts the nodes except Constants: how many have an answer,
and how many a wrong one. It also strips the tagged file again and compares the bytes with the original. Fails
if an answer is wrong, if fewer than 90 % of ts and dynamo are answered, or if stripping does not restore the
original.
"""

import argparse
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx

from tagging import FITTING

GOAL = 0.9  # of the nodes of ts and dynamo


def opt(programs: Path, *args) -> str:
    run = subprocess.run([programs / "htp-opt", *args], capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"htp-opt {' '.join(map(str, args))}: {run.stderr[:2000]}")
    return run.stderr


def answers(path: Path):
    for node in onnx.load(path, load_external_data=False).graph.node:
        yield node, {p.key: p.value for p in node.metadata_props}


def check(programs: Path, source: Path, trace: Path | None, show: int) -> collections.Counter:
    counts = collections.Counter()
    truth = json.loads(
        (source.parent / f"{source.name.removesuffix('.onnx')}.truth.json").read_text()
    )
    with tempfile.TemporaryDirectory() as folder:
        tagged, stripped = Path(folder) / "tagged.onnx", Path(folder) / "stripped.onnx"
        attach = f"--htp-attach-hierarchy=trace={trace}" if trace else "--htp-attach-hierarchy"
        said = opt(programs, source, attach, "-o", tagged)
        counts["warnings"] += "warning:" in said
        for (node, props), want in zip(answers(tagged), truth, strict=True):
            if node.op_type == "Constant":
                continue
            counts["nodes"] += 1
            if "htp.scope" not in props:
                continue
            counts["answered"] += 1
            want = want if isinstance(want, list) else [want]
            if want != [None] and props["htp.scope"] not in want:
                counts["wrong"] += 1
                if counts["wrong"] <= show:
                    print(
                        f"  {node.op_type} {node.name or list(node.output)}: {props['htp.evidence']} says "
                        f"'{props['htp.scope']}', the truth is {want}"
                    )
        opt(programs, tagged, "--htp-strip", "-o", stripped)
        counts["not restored"] += source.read_bytes() != stripped.read_bytes()
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--programs", type=Path, default=Path("build/bin"))
    parser.add_argument("--variants", nargs="+", default=["ts", "dynamo"])
    parser.add_argument("--models", nargs="+")
    parser.add_argument(
        "--traces", type=Path, help="folder with MODEL.TRACE.json files, instead of the archives"
    )
    parser.add_argument("--no-trace", action="store_true", help="from the model alone")
    parser.add_argument("--show", type=int, default=3, help="wrong answers to print a graph")
    args = parser.parse_args()
    failed = False
    for variant in args.variants:
        total = collections.Counter()
        for source in sorted(args.corpus.glob(f"*/{variant}.onnx")):
            model = source.parent.name
            if args.models and model not in args.models:
                continue
            name = FITTING[variant.split(".")[0]]
            trace = args.traces / f"{model}.{name}.json" if args.traces else source.parent / name
            counts = check(args.programs, source, None if args.no_trace else trace, args.show)
            total.update(counts)
            if counts["wrong"] or counts["not restored"] or counts["warnings"]:
                print(f"{model}/{variant}: {dict(counts)}")
        share = total["answered"] / max(1, total["nodes"])
        print(
            f"{variant}: {total['nodes']} nodes, {total['answered']} answered ({share:.2%}), "
            f"{total['wrong']} wrong, {total['not restored']} not restored, {total['warnings']} with warnings"
        )
        failed |= (
            bool(total["wrong"] or total["not restored"])
            or (variant in ("ts", "dynamo") and share < GOAL)
            or not total["nodes"]
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
