#!/usr/bin/env python3
"""Count how often answers on each ground are right, and write lib/Transforms/Evidence/Worth.inc.

    fit.py [--bin build/bin] [--work build/evaluation] [--check] [--only GROUND ...] [--counts FILE]

Tags every file of the corpus, the held-out set, the field models and the deployed forms in the work folder (`make eval`
makes them), reads from htp-opt's remarks on which ground each node got its tag, and judges it: by what the module computed
(hooks) if that is known, otherwise by the exporter's notes before they were removed. If a node still carries its note, it
only counts if hooks know the answer, because the note tells the tagger the answer.

Confidences decide between answers, so a new table may change a few of them: run it again until nothing changes.
--check writes nothing, and fails if the table would change.

--only counts single grounds, such as new ones, on whatever is in the work folder, and keeps the counts of all others.

Prints the table, and how well it holds for architectures to which it was not fitted: each is judged by the counts of all
others, and so are the models of the held-out set that nobody inspected, which never enter the table.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "corpus"), str(HERE / "deployed")]

import deployed_check
import figures
import forms
import genai
import hooks
import onnx
import yaml

import heldout
import tagging
import variants

GROUNDS = ROOT / "lib/Transforms/Evidence/Grounds.inc"
WORTH = ROOT / "lib/Transforms/Evidence/Worth.inc"
#: A bin of answers of like confidence that is smaller proves nothing, and one may be so far from what it says.
LEAST_ANSWERS, FARTHEST = 100, 0.05


@dataclass
class File:
    """A file to tag, and what is known about its nodes."""

    set: str
    model: str
    source: Path
    options: str
    told: bool = False  # whether its nodes carry the notes that the truth is read from
    nodes: frozenset[int] | None = None  # those that are counted, if not all are
    located: bool = False  # whether tags are dropped, and made again from locations
    grounds: str = ""  # what those begin with that are counted, if not all are


# --- which files -------------------------------------------------------------------------------


def exported(name: str, work: Path, programs: Path, jobs: int) -> Iterator[File]:
    """The corpus, or the held-out set, in all variants."""
    corpus, tagged = work / name, work / f"{name}-tagged"
    if not corpus.is_dir():
        return
    tagging.run_traces(corpus, tagged, programs, jobs)
    missing = 0
    for job in tagging.jobs_of(corpus, tagged, tagging.MODES):
        reference = re.search(r"reference=(\S+)", job.options)
        if reference and not Path(reference[1]).exists():
            missing += 1
            continue
        yield File(name, job.model, job.source, job.options, told=not job.mode.variant)
    if missing:
        print(f"warning: {missing} files of {name} lack their reference, which evaluate.py makes")


def bare(files: list[File], folder: Path) -> Iterator[File]:
    """Files as exported, but every other node without a name, and no trace: neighbours and patterns decide."""
    for file in files:
        if file.told and not file.options and file.set == "corpus":
            target = folder / file.model / file.source.name
            target.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(RecursionError):
                nodes = variants.half_anonymous(str(file.source), str(target))
                facts = file.source.with_suffix(".truth.json").read_text()
                target.with_suffix(".truth.json").write_text(facts)
                yield File("half", file.model, target, "", nodes=frozenset(nodes))


def located(files: list[File]) -> Iterator[File]:
    """Files as exported and traced, whose tags were dropped by a pass."""
    for file in files:
        if file.told and file.options and file.set == "corpus":
            yield dataclasses.replace(file, set="located", located=True)


def field(work: Path) -> Iterator[File]:
    """Field models, as written by field_check.py --keep, with one difficulty each, judged only by hooks."""
    for truth in sorted(work.glob("*/*.hooks.json")):
        source = truth.with_name(truth.name.replace(".hooks.json", ".onnx"))
        trace = source.with_suffix(".trace.json")
        options = ["", *([f"trace={trace}"] if trace.exists() else [])]
        for given in options:
            yield File("field", truth.parent.name, source, given, told=True)


def deployed(work: Path, programs: Path) -> Iterator[File]:
    kinds = [*forms.FORMS, *(f"genai-{p}" for p in genai.PRECISIONS)]
    for folder in sorted(p.parent for p in work.glob("*/done.json")):
        deployed_check.prepare(folder, programs)
        for graph in deployed_check.GRAPHS:
            for form in kinds:
                for names in figures.NAMES:
                    file = folder / f"{graph}.{form}.{names}.onnx"
                    if not file.with_suffix(".truth.json").exists():
                        continue
                    for source in figures.SOURCES:
                        if given := deployed_check.option(folder, graph, source, file):
                            yield File("deployed", folder.name, file, given, told=False)
                    # With a trace, alignments may decide before a new ground has a worth. Without one, hardly anything
                    # is known of the other nodes, which is not how files are usually tagged.
                    if given := deployed_check.executed_beside(file):
                        yield File("deployed", folder.name, file, given, grounds="executed")


# --- what htp-opt says -------------------------------------------------------------------------


class Loader(yaml.CSafeLoader):
    """Reads LLVM's remarks, whose documents have tags (`!Analysis`)."""


Loader.add_multi_constructor("!", lambda loader, _, node: loader.construct_mapping(node, deep=True))


def grounds_of(remarks: Path) -> dict[str, str]:
    """The ground of every node, by the name of its first value. The last word counts."""
    found = {}
    with open(remarks, encoding="utf-8", errors="replace") as text:
        for remark in yaml.load_all(text, Loader):
            values = {k: v for entry in remark["Args"] for k, v in entry.items()}
            found[str(values["value"])] = remark["Name"]
    return found


def without_tags(text: str) -> str:
    """MLIR after a pass that drops unknown attributes but keeps locations."""
    parts, end = [], 0
    for start in re.finditer(r"htp\.tag = #htp\.tag<", text):
        parts.append(text[end : start.start()])
        end, depth = start.end(), 1
        while depth:
            depth += {"<": 1, ">": -1}.get(text[end], 0)
            end += 1
        parts.append("onnx.dropped")
    return "".join([*parts, text[end:]])


def tag(file: File, programs: Path, folder: Path) -> tuple[list[onnx.NodeProto], dict[str, str]]:
    target, remarks, source = folder / "tagged.onnx", folder / "remarks.yaml", file.source
    flag = f"--htp-tag={file.options}" if file.options else "--htp-tag"
    if file.located:
        text = folder / "tagged.mlir"
        made = [programs / "htp-opt", source, flag, "-mlir-print-debuginfo", "-o", text]
        if subprocess.run(made, capture_output=True).returncode:
            return [], {}
        source = folder / "located.mlir"
        source.write_text(without_tags(text.read_text()))
        flag = "--htp-attach-hierarchy=from=locations"
    ask = ["--remark-format=yaml", "--remarks-filter-analyse=htp-ground"]
    done = subprocess.run(
        [programs / "htp-opt", source, flag, "-o", target]
        + [*ask, f"--remarks-output-file={remarks}"],
        capture_output=True,
    )
    if done.returncode:
        return [], {}  # refused: no answers to count
    return list(onnx.load(target, load_external_data=False).graph.node), grounds_of(remarks)


def judged(file: File, programs: Path) -> collections.Counter[tuple[str, bool]]:
    """How many nodes got each ground, right or wrong."""
    written, seen = (file.source.with_suffix(f".{kind}.json") for kind in ("truth", "hooks"))
    notes = json.loads(written.read_text()) if written.exists() else itertools.repeat(None)
    regions = hooks.read(seen) if seen.exists() else itertools.repeat(None)
    counts: collections.Counter[tuple[str, bool]] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        nodes, grounds = tag(file, programs, Path(folder))
    for number, (node, note, region) in enumerate(zip(nodes, notes, regions)):
        if file.nodes is not None and number not in file.nodes:
            continue
        ground = grounds.get(node.output[0]) if node.output else None
        if ground is None or node.op_type == "Constant" or not ground.startswith(file.grounds):
            continue
        scope = {p.key: p.value for p in node.metadata_props}.get("htp.scope")
        if region is not None:
            counts[ground, region.holds(scope)] += 1
        elif note is not None and not file.told:
            counts[ground, scope in (note if isinstance(note, list) else [note])] += 1
    return counts


# --- the table ---------------------------------------------------------------------------------

#: (set, model) -> ground -> [right, answers]
Counts = dict[tuple[str, str], dict[str, list[int]]]


def count(files: list[File], programs: Path, jobs: int) -> Counts:
    counts: Counts = {}
    with ThreadPoolExecutor(jobs) as pool:
        for file, found in zip(files, pool.map(lambda file: judged(file, programs), files)):
            own = counts.setdefault((file.set, file.model), {})
            for (ground, right), number in found.items():
                entry = own.setdefault(ground, [0, 0])
                entry[0] += number * right
                entry[1] += number
    return counts


def total(counts: Counts, ground: str, leave_out: str = "") -> tuple[int, int]:
    entries = [c[ground] for (_, model), c in counts.items() if ground in c and model != leave_out]
    return sum(e[0] for e in entries), sum(e[1] for e in entries)


def worth(right: int, answers: int) -> float:
    """As in Ground.cpp."""
    return min(round((right + 1) / (answers + 2) * 1000), 999) / 1000


def known_grounds() -> dict[str, str]:
    """Key -> name, in the order of Grounds.inc."""
    rows = re.findall(r'^HTP_GROUND\((\w+), \w+, "([^"]+)"', GROUNDS.read_text(), re.M)
    return {key: name for name, key in rows}


def table(counts: Counts, only: list[str]) -> str:
    """The file. Unless the list is empty, grounds that are not in it keep their counts."""
    before = re.findall(r"^HTP_WORTH\((\w+), (\d+), (\d+)\)", WORTH.read_text(), re.M)
    kept = {name: (int(right), int(answers)) for name, right, answers in before}
    lines = [
        "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
        "//",
        "// Written by `make fit`; not to be edited. Answers on each ground whose truth was",
        "// known, and how many of them were right: HTP_WORTH(ground, right, answers).",
        "",
        "// clang-format off",
        "",
    ]
    for key, name in known_grounds().items():
        right, answers = kept.get(name, (0, 0)) if only and key not in only else total(counts, key)
        if answers:
            lines.append(f"HTP_WORTH({name}, {right}, {answers})")
    return "\n".join([*lines, "", "// clang-format on", "", "#undef HTP_WORTH", ""])


# --- how well it holds -------------------------------------------------------------------------


def bins(answers: list[tuple[float, int, int]]) -> list[tuple[int, int, float, float]]:
    """(tenth, answers, mean confidence, share that is right) of (confidence, right, number)."""
    tenths = collections.defaultdict(lambda: [0, 0.0, 0])
    for confidence, right, number in answers:
        entry = tenths[min(9, int(confidence * 10))]
        entry[0] += number
        entry[1] += confidence * number
        entry[2] += right
    return [(k, n, said / n, right / n) for k, (n, said, right) in sorted(tenths.items())]


def unfitted(fitted: Counts, judged_: Counts) -> list[tuple[float, int, int]]:
    """Each model's answers with the confidences computed from the counts of all other models."""
    known = known_grounds()
    return [
        (worth(*total(fitted, ground, leave_out=model)), right, number)
        for (_, model), own in judged_.items()
        for ground, (right, number) in own.items()
        if ground in known
    ]


def report(title: str, answers: list[tuple[float, int, int]]) -> bool:
    print(f"\n{title}\n\n| confidence | answers | mean confidence | share that is right |  |")
    print("| --- | --- | --- | --- | --- |")
    good = True
    for tenth, number, said, right in bins(answers):
        counts = number >= LEAST_ANSWERS
        off = counts and abs(said - right) > FARTHEST
        good &= not off
        verdict = "**off**" if off else "" if counts else "too few to tell"
        print(
            f"| {tenth / 10} to {(tenth + 1) / 10} | {number} | {said:.3f} | {right:.3f} | {verdict} |"
        )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/bin")
    parser.add_argument("--work", type=Path, default=ROOT / "build/evaluation")
    parser.add_argument("--deployed", type=Path, help="default: deployed in the work folder")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument(
        "--only", nargs="+", metavar="GROUND", default=[], help="count these, and keep the others"
    )
    parser.add_argument("--counts", type=Path, help="keep the counts as JSON")
    args = parser.parse_args()
    files = [f for s in ("corpus", "heldout") for f in exported(s, args.work, args.bin, args.jobs)]
    files += [*bare(files, args.work / "half"), *located(files)]
    files += field(args.work / "field")
    files += deployed(args.deployed or args.work / "deployed", args.bin)
    if not files:
        print(f"error: {args.work} holds no exports, run `make eval` first", file=sys.stderr)
        return 1
    print(f"tagging {len(files)} files", flush=True)
    counts = count(files, args.bin, args.jobs)
    if args.counts:
        args.counts.write_text(json.dumps([[*k, v] for k, v in counts.items()]))
    fitted = {k: v for k, v in counts.items() if k[0] != "heldout" or k[1] in heldout.LOOKED_AT}
    for key in known_grounds():
        right, answers = total(fitted, key)
        said = f"{worth(right, answers):.3f}"
        print(f"{key:22} {right:7} of {answers:7} right: {said if answers else 'never seen'}")
    good = report("Architectures, each by the counts of all others", unfitted(fitted, fitted))
    others = {k: v for k, v in counts.items() if k not in fitted}
    good &= report("Models that never entered the table", unfitted(fitted, others))
    new = table(fitted, args.only)
    changed = not WORTH.exists() or new != WORTH.read_text()
    if args.check:
        print(f"\n{WORTH.name} is {'not what the files say' if changed else 'as it should be'}")
        return 1 if changed or not good else 0
    if changed:
        WORTH.write_text(new)
        print(f"\n{WORTH.name} changed: build, and run this again")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
