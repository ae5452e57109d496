#!/usr/bin/env python3
"""Check that onnx-mlir itself accepts what --emit=onnx-mlir writes.

    onnx_mlir_check.py --verifier ONNX-MLIR-OPT [--bin build/bin] [--work DIR] [--corpus DIR ...] [SUITE ...]

ONNX-MLIR-OPT is onnx-mlir's own `onnx-mlir-opt`, or any mlir-opt with its dialect; HTP does not include one. Suites: those of
roundtrip.py (`data`, `node`, `producers`, `corpus`), and `tagged` and `outlined` (the corpus after --htp-tag, and after
--htp-outline). Each model is written for onnx-mlir, parsed and verified there, and the result is read by htp-opt again and
becomes ONNX. Prints the three counts, and every model that failed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import roundtrip

from tagging import FITTING

HERE = Path(__file__).resolve().parent
STEPS = ("written", "accepted", "read again")


def run(*command) -> str:
    """The first complaint of a program that fails, or nothing."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    return (lines or [f"exit code {done.returncode}: {done.stderr[-300:]}"])[0]


def passes_of(suite: str, source: Path) -> list[str]:
    if suite not in ("tagged", "outlined"):
        return []
    trace = source.parent / FITTING[source.name.split(".")[0]]
    outline = ["--htp-outline"] if suite == "outlined" else []
    return [f"--htp-tag=trace={trace}", *outline]


def check(args, suite: str, source: Path) -> list[str]:
    """The error, after one empty entry for each successful step."""
    with tempfile.TemporaryDirectory(dir=args.work) as name:
        strict, printed, back = (Path(name) / n for n in ("m.mlir", "printed.mlir", "m.onnx"))
        htp_opt = args.bin / "htp-opt"
        commands = (
            [htp_opt, source, *passes_of(suite, source), "--emit=onnx-mlir", "-o", strict],
            [args.verifier, strict, *args.passes, "-o", printed],
            [htp_opt, printed, "-o", back],
        )
        said = []
        for command in commands:
            said.append(run(*command))
            if said[-1]:
                break
        if args.keep and said[-1] and strict.exists():
            args.keep.mkdir(parents=True, exist_ok=True)
            strict.rename(args.keep / f"{source.parent.name}-{source.stem}.mlir")
        return said


def run_suite(args, suite: str) -> int:
    kind = suite if suite in ("data", "node", "producers") else "corpus"
    files = roundtrip.files_of(kind, args.work, args.corpus)
    counts, failures = dict.fromkeys(STEPS, 0), []
    with ThreadPoolExecutor(args.jobs) as pool:
        for source, said in zip(files, pool.map(lambda f: check(args, suite, f), files)):
            for step, problem in zip(STEPS, said):
                counts[step] += not problem
            if said[-1]:
                failures.append(f"{source.parent.name}/{source.name}: {said[-1]}")
    shown = ", ".join(f"{n} {step}" for step, n in counts.items())
    print(f"{suite}: of {len(files)} models {shown}", flush=True)
    for line in failures[: args.show]:
        print(f"  {line}")
    return len(failures) + (not files)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verifier", type=Path, required=True)
    parser.add_argument("--passes", nargs="+", default=[], help="options for the verifier, too")
    parser.add_argument("--bin", type=Path, default=HERE.parent / "build/bin")
    parser.add_argument("--work", type=Path, default=HERE.parent / "build/roundtrip")
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, help="folder for what was rejected")
    parser.add_argument("--show", type=int, default=20, help="failures to print for each suite")
    parser.add_argument("suites", nargs="*", default=["data", "node", "producers"])
    args = parser.parse_intermixed_args()
    args.work.mkdir(parents=True, exist_ok=True)
    return 1 if sum(run_suite(args, suite) for suite in args.suites) else 0


if __name__ == "__main__":
    sys.exit(main())
