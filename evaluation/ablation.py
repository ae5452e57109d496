#!/usr/bin/env python3
"""How much each number of the alignment matters: changes one number at a time, tags exported models, and scores the tags.

    ablation.py CORPUS [--bin build/bin] [--models NAME ...] [--jobs N]

CORPUS is a folder that export.py wrote (build/evaluation/corpus after `make eval`). Each number of
include/HTP/Alignment/Parameters.inc is set to the value that disables its rule, then to half and to twice its value. Only forms
without names are tagged, because only there the alignment alone places the nodes. Writes the table into docs/Alignment.md.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "corpus"))

from score import score  # noqa: E402

NUMBERS = ROOT / "include/HTP/Alignment/Parameters.inc"
PAGE = ROOT / "docs/Alignment.md"
BEGIN, END = "<!-- ablation: begin -->", "<!-- ablation: end -->"
FORMS = ("ts.anon", "ts-dyn.anon", "dynamo.anon", "dynamo.ort")
TRACES = {"ts": "trace.pt", "ts-dyn": "trace.pt", "dynamo": "trace.pt2"}
ENTRY = re.compile(r"^HTP_PARAMETER\((\w+), (\w+), ([^,]+), ([^,]+), \"([^\"]+)\", \"(.+)\"\)$")


@dataclass(frozen=True)
class Number:
    type: str
    name: str
    value: str
    neutral: str
    unit: str
    meaning: str

    def shown(self, text: str) -> str:
        return text.removesuffix("f")


def numbers() -> list[Number]:
    return [
        Number(*found.groups())
        for line in NUMBERS.read_text().splitlines()
        if (found := ENTRY.match(line))
    ]


@dataclass(frozen=True)
class Case:
    model: Path
    form: str

    @property
    def file(self) -> Path:
        return self.model / f"{self.form}.onnx"

    @property
    def trace(self) -> Path:
        return self.model / TRACES[self.form.split(".")[0]]


def traced(case: Case, bin_folder: Path, folder: Path) -> Path:
    """trace.json, made once, because an archive would be read again for each number."""
    target = folder / f"{case.model.name}.{case.trace.name}.json"
    if not target.exists():
        subprocess.run(
            [bin_folder / "htp-trace", case.trace, "-o", target], check=True, capture_output=True
        )
    return target


def wrong_nodes(case: Case, change: str, bin_folder: Path, folder: Path) -> tuple[int, int]:
    """How many nodes are tagged wrongly, and how many have a known truth."""
    target = folder / f"{case.model.name}.{case.form}.{abs(hash(change))}.onnx"
    options = f"trace={folder / f'{case.model.name}.{case.trace.name}.json'} force=true"
    if change:
        options += f" numbers={change}"
    command = [bin_folder / "htp-onnx", case.file, f"--htp-tag={options}", "-o", target]
    done = subprocess.run(command, capture_output=True)
    truth = json.loads(case.file.with_suffix(".truth.json").read_text())
    known = sum(t is not None for t in truth)
    if done.returncode:
        return known, known
    tags = {m["path"]: m["tag"] for m in json.loads((case.model / "tree.json").read_text())}
    counts = score(case.file, target, truth, tags, [], reference=False)
    target.unlink()
    return counts["scored"] - counts["exact"], counts["scored"]


def measure(
    cases: list[Case], change: str, args: argparse.Namespace, folder: Path
) -> tuple[int, int]:
    with ThreadPoolExecutor(args.jobs) as pool:
        counts = list(pool.map(lambda case: wrong_nodes(case, change, args.bin, folder), cases))
    return sum(c[0] for c in counts), sum(c[1] for c in counts)


def changed(number: Number, factor: float) -> str:
    value = float(number.shown(number.value)) * factor
    return f"{number.name}={round(value) if number.type == 'int' else f'{value:g}'}"


def row(
    number: Number, base: int, cases: list[Case], args: argparse.Namespace, folder: Path
) -> str:
    def more(change: str) -> str:
        difference = measure(cases, change, args, folder)[0] - base
        return f"{difference:+d}" if difference else "0"

    neutral = f"{number.name}={number.shown(number.neutral)}"
    cells = [
        f"`{number.name}`", number.shown(number.value), number.unit, number.meaning, more(neutral),
        more(changed(number, 0.5)), more(changed(number, 2)),
    ]  # fmt: skip
    print(" ".join(cells[:2]), cells[4:], flush=True)
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/bin")
    parser.add_argument("--models", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    models = [
        m
        for m in sorted(args.corpus.iterdir())
        if m.is_dir() and (not args.models or m.name in args.models)
    ]
    cases = [
        c
        for m in models
        for form in FORMS
        if (c := Case(m, form)).file.exists() and c.trace.exists()
    ]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for case in cases:
            traced(case, args.bin, folder)
        base, known = measure(cases, "", args, folder)
        print(
            f"{len(cases)} files of {len(models)} models, {known} nodes, {base} wrong", flush=True
        )
        rows = [row(number, base, cases, args, folder) for number in numbers()]
    lines = [
        BEGIN,
        "How many more nodes are wrong without the rule, with half the number, and with twice the number. "
        f"Measured on {len(cases)} files without names from {len(models)} models of the corpus ({known} nodes with known truth, "
        f"of which {base} are wrong with the numbers as they are).",
        "",
        "| number | value | unit | what it is | without | half | double |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *rows,
        END,
    ]
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    PAGE.write_text(before + "\n".join(lines) + rest.split(END)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
