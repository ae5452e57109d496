#!/usr/bin/env python3
"""Send models through htp-opt and compare the results field by field.

    roundtrip.py [--bin build/bin] [--work build/roundtrip] [--corpus DIR ...] [SUITE ...]

Suites: `data` (the files in the onnx package), `node` (what onnx.backend.test generates), `producers` (models of other tools),
`corpus` (every file in the given export folders). Each model goes directly (.onnx -> .onnx), through MLIR text and through
bytecode. Prints the count of each form, how many inputs and how many of their outputs onnx.checker accepts, and every model
that came back different. --in-process uses htp-roundtrip, which processes thousands of models in one process and compares them
itself.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import onnx

HERE = Path(__file__).resolve().parent
FORMS = {"direct": None, "text": ".mlir", "bytecode": ".mlirbc"}


@dataclass
class Suite:
    name: str
    counts: dict
    total: int
    failures: list
    checked: dict = field(default_factory=lambda: {"inputs": 0, "outputs": 0})

    def __str__(self) -> str:
        counts = ", ".join(f"{form} {n}" for form, n in self.counts.items())
        line = f"{self.name}: of {self.total} models equal: {counts}"
        if not self.checked["inputs"]:
            return line
        return (
            f"{line}; onnx.checker accepts {self.checked['inputs']} inputs, "
            f"and {self.checked['outputs']} of their outputs"
        )


def data_files(work: Path):
    """The models inside the installed onnx package."""
    return sorted((Path(onnx.__file__).parent / "backend/test/data").rglob("*.onnx"))


def node_files(work: Path):
    """The models of onnx's backend tests, written once."""
    folder = work / "node"
    if not (folder / "done").exists():
        from onnx.backend.test.case.node import collect_testcases

        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for i, case in enumerate(collect_testcases(None)):
            (folder / f"{i:04}-{case.name}.onnx").write_bytes(case.model.SerializeToString())
        (folder / "done").touch()
    return sorted(folder.glob("*.onnx"))


def producer_files(work: Path):
    import producers

    folder = work / "producers"
    folder.mkdir(parents=True, exist_ok=True)
    return [Path(make(str(folder))) for make in producers.PRODUCERS]


def opt(programs: Path, source: Path, target: Path) -> str:
    done = subprocess.run(
        [programs / "htp-opt", source, "-o", target], capture_output=True, text=True
    )
    return (
        ""
        if done.returncode == 0
        else (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]
    )


def normal(path: Path) -> bytes:
    return onnx.load(path, load_external_data=False).SerializeToString(deterministic=True)


def external_files(path: Path) -> list[Path]:
    model = onnx.load(path, load_external_data=False)
    tensors = onnx.external_data_helper._get_all_tensors(model)
    return [path.parent / e.value for t in tensors for e in t.external_data if e.key == "location"]


def accepted(path: Path) -> bool:
    try:
        onnx.checker.check_model(str(path))
    except Exception:
        return False
    return True


def round_trip(programs: Path, source: Path, form: str, folder: Path) -> str:
    """The error in the conversion through one form, or nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    target, middle = folder / "out.onnx", FORMS[form]
    if middle:
        between = folder / f"between{middle}"
        error = opt(programs, source, between) or opt(programs, between, target)
    else:
        error = opt(programs, source, target)
    if error:
        return error
    if normal(source) != normal(target):
        return "comes back different"
    lost = [f.name for f in external_files(target) if not f.exists()]
    return f"external data is not beside the output: {lost[0]}" if lost else ""


def run_suite(name: str, files: list[Path], programs: Path, work: Path, jobs: int) -> Suite:
    suite = Suite(name, dict.fromkeys(FORMS, 0), len(files), [])

    def one(indexed):
        index, source = indexed
        errors = {}
        for form in FORMS:
            folder = work / "out" / f"{name}-{index}-{form}"
            errors[form] = round_trip(programs, source, form, folder)
            if form == "direct":
                before = accepted(source)
                after = before and accepted(folder / "out.onnx")
            shutil.rmtree(folder, ignore_errors=True)
        return source, errors, before, after

    with ThreadPoolExecutor(jobs) as pool:
        for source, errors, before, after in pool.map(one, enumerate(files)):
            suite.checked["inputs"] += before
            suite.checked["outputs"] += after
            if before and not after:
                suite.failures.append(f"{source.name}: onnx.checker no longer accepts it")
            for form, error in errors.items():
                suite.counts[form] += not error
                if error:
                    suite.failures.append(f"{source.name} ({form}): {error}")
    return suite


def files_of(name: str, work: Path, corpora: list[Path]) -> list[Path]:
    makers = {
        "data": data_files,
        "node": node_files,
        "producers": producer_files,
        "corpus": lambda work: sorted(f for c in corpora for f in c.glob("*/*.onnx")),
    }
    return makers[name](work)


def run_in_process(name: str, files: list[Path], programs: Path) -> Suite:
    done = subprocess.run([programs / "htp-roundtrip", *files], capture_output=True, text=True)
    found = re.match(r"(\d+) models: (\d+) equal directly, (\d+) through text, (\d+) ", done.stdout)
    failures = [line for line in done.stderr.splitlines() if line.endswith(": differs")]
    if not found or (done.returncode and not failures):
        failures.append(
            f"htp-roundtrip ended with exit code {done.returncode}: {done.stderr[-300:]}"
        )
    total, *equal = map(int, found.groups()) if found else (0, 0, 0, 0)
    return Suite(name, dict(zip(FORMS, equal)), total, failures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=HERE.parent / "build/bin")
    parser.add_argument("--work", type=Path, default=HERE.parent / "build/roundtrip")
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--show", type=int, default=20, help="failures to print for each suite")
    parser.add_argument("suites", nargs="*", default=["data", "node", "producers"])
    args = parser.parse_args()
    bad = 0
    for name in args.suites:
        files = files_of(name, args.work, args.corpus)
        if args.in_process:
            suite = run_in_process(name, files, args.bin)
        else:
            suite = run_suite(name, files, args.bin, args.work, args.jobs)
        print(suite, flush=True)
        for line in suite.failures[: args.show]:
            print(f"  {line}")
        bad += len(suite.failures) + (suite.total == 0)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
