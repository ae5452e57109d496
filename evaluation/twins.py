#!/usr/bin/env python3
"""Check that a trace or tagged file of the same architecture with other weights is detected.

    twins.py [--corpus DIR] [--work DIR] [--bin DIR] [--models NAME ...] [--json FILE] [--jobs N]

Every architecture of the corpus is made twice: as in the corpus, and from another seed (its twin: every name, shape and
node is the same, no parameter is). Each file, as exported and after 4-bit quantization in both formats (MatMulNBits,
blockwise DequantizeLinear), with names kept and removed, from both exporters, is tagged with the trace of its own model
and of the twin, and with either as reference. The twin's must be refused or flagged, in the sense of wrong_pairs.py; the
own must be neither. Each architecture counts as a pair, which is right if all of its files are. Exits with 1 if one is not.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "corpus"), str(HERE / "deployed")]

import onnx
from wrong_pairs import FLAG, SECONDS, outcome, verdict_of

#: Which trace is of a graph.
GRAPHS = {"ts": "trace.pt", "dynamo": "trace.pt2"}
SIDES = ("a", "b")
FORMS = ("exported", "nbits4", "blocks4")
OK = ("refused", "flagged")


@dataclass
class Attempt:
    model: str
    graph: str
    form: str
    names: str
    kind: str  # 'trace' or 'reference'
    file: str  # whose file: 'a' or 'b'
    of: str  # whose trace or reference
    outcome: str = ""
    said: str = ""

    @property
    def own(self) -> bool:
        return self.file == self.of

    @property
    def right(self) -> bool:
        return self.outcome == "silent" if self.own else self.outcome in OK


# --- making ------------------------------------------------------------------------------------


def export(name: str, folder: Path, seed: int) -> None:
    """Graphs of fixed sizes and traces, as corpus/export.py makes them."""
    from export import Export, attempt, write_json

    import models

    made = Export(name, *models.MODELS[name], str(folder), core=True, seed=seed)
    made.variants = {}
    attempt(made.result, "dynamo", made.dynamo, False)
    attempt(made.result, "pt2", made.archive, False)
    made.call_positionally()
    attempt(made.result, "ts", made.torchscript, False)
    attempt(made.result, "pt", made.trace)
    write_json(folder / "done.json", made.result)


def four_bit(source: Path, target: Path, form: str) -> bool:
    """Quantizes a model to 4 bits. Returns whether anything was: a model without matrix products has nothing to quantize."""
    from onnxruntime.quantization import QuantFormat
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    model = onnx.load(source)
    style = QuantFormat.QOperator if form == "nbits4" else QuantFormat.QDQ
    if form == "blocks4":  # 4-bit integers are of opset 21
        from onnx import version_converter

        if all(o.version < 21 for o in model.opset_import if o.domain in ("", "ai.onnx")):
            model = version_converter.convert_version(model, 21)
    quantizer = MatMulNBitsQuantizer(
        model, bits=4, block_size=32, is_symmetric=True, quant_format=style
    )
    quantizer.process()
    made = quantizer.model.model
    small = (onnx.TensorProto.INT4, onnx.TensorProto.UINT4)
    stored = any(t.data_type in small for t in made.graph.initializer)
    if not stored and not any(n.op_type == "MatMulNBits" for n in made.graph.node):
        return False
    onnx.checker.check_model(made)  # where two products share a weight, it may define a value twice
    onnx.save(made, target)
    return True


def make_forms(folder: Path, source: Path, said: list[str]) -> None:
    import forms

    folder.mkdir(parents=True, exist_ok=True)
    for graph in GRAPHS:
        exported = source / f"{graph}.onnx"
        for form in FORMS if exported.exists() else ():
            kept = folder / f"{graph}.{form}.kept.onnx"
            bare = folder / f"{graph}.{form}.removed.onnx"
            if bare.exists():
                continue
            try:
                if form == "exported":
                    onnx.save(onnx.load(exported), kept)
                elif not four_bit(exported, kept, form):
                    said.append(f"{source}: {graph} has nothing to store in 4 bits")
                    continue
                forms.without_names(kept, bare)
            except Exception as error:  # due to that program, not HTP
                kept.unlink(missing_ok=True)
                said.append(f"{source}: {graph}.{form}: {type(error).__name__}: {str(error)[:150]}")


# --- tagging -----------------------------------------------------------------------------------


class Check:
    def __init__(self, programs: Path, work: Path) -> None:
        self.programs, self.work = programs, work

    def run(self, program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [self.programs / program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)

    def folder(self, model: str, side: str) -> Path:
        return self.work / model / f"{side}.forms"

    def prepare(self, model: str, side: str, source: Path) -> list[str]:
        """Traces as JSON, and the tagged exports, with these programs."""
        folder, said = self.folder(model, side), []
        for graph, archive in GRAPHS.items():
            trace, reference = (folder / f"{graph}.{x}" for x in ("trace.json", "reference.onnx"))
            for old in (trace, reference):
                old.unlink(missing_ok=True)
            if not (source / archive).exists() or not (source / f"{graph}.onnx").exists():
                said.append(f"{source}: no {graph} or no {archive}")
                continue
            done = self.run("htp-trace", source / archive, "-o", trace)
            if not done.returncode:
                tag = f"--htp-tag=trace={trace}"
                done = self.run("htp-opt", source / f"{graph}.onnx", tag, "-o", reference)
            if done.returncode:
                said.append(f"{source}: {done.stderr.strip()[:200]}")
        return said

    def attempt(self, one: Attempt) -> Attempt:
        ending = "trace.json" if one.kind == "trace" else "reference.onnx"
        given = self.folder(one.model, one.of) / f"{one.graph}.{ending}"
        file = self.folder(one.model, one.file) / f"{one.graph}.{one.form}.{one.names}.onnx"
        if not given.exists() or not file.exists():
            one.outcome = "missing"
            return one
        metadata = file.with_suffix(f".{one.kind}.{one.of}.json")
        metadata.unlink(missing_ok=True)
        flags = [f"--htp-tag={one.kind}={given}", f"--op-metadata={metadata}", "-o="]
        try:
            done = self.run("htp-opt", file, *flags)
        except subprocess.TimeoutExpired:
            one.outcome = "hangs"
            return one
        one.outcome = outcome(done.returncode, done.stderr, verdict_of(metadata, one.kind))
        if done.returncode not in (0, 1):
            one.outcome = "crashes"
        lines = [x for x in done.stderr.splitlines() if "error: " in x or FLAG.search(x)]
        one.said = lines[0].partition(": ")[2][:300] if lines else ""
        metadata.unlink(missing_ok=True)
        return one


def attempts(models: list[str]) -> list[Attempt]:
    return [
        Attempt(model, graph, form, names, kind, file, of)
        for model in models
        for graph in GRAPHS
        for form in FORMS
        for names in ("kept", "removed")
        for kind in ("trace", "reference")
        for file in SIDES
        for of in SIDES
    ]


# --- counting ----------------------------------------------------------------------------------


def table(done: list[Attempt]) -> str:
    """A line for each form: pairs that are right in all of its files, and the verdicts on the files."""
    lines = [
        "| form | names | given | pairs right | twin's: refused, flagged, silent | own: accepted, not |",
        "|" + " --- |" * 6,
    ]
    keys = sorted(
        {(a.form, a.names, a.kind) for a in done}, key=lambda k: (FORMS.index(k[0]), k[1:])
    )
    for key in keys:
        part = [a for a in done if (a.form, a.names, a.kind) == key]
        pairs = {a.model for a in part}
        bad = {a.model for a in part if not a.right}
        other = Counter(a.outcome for a in part if not a.own)
        own = Counter(a.outcome for a in part if a.own)
        silent = sum(other.values()) - other["refused"] - other["flagged"]
        cells = [*key, f"{len(pairs - bad)} of {len(pairs)}"]
        cells.append(f"{other['refused']}, {other['flagged']}, {silent}")
        cells.append(f"{own['silent']}, {sum(own.values()) - own['silent']}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    import models

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, help="has the exports of the first of each pair")
    parser.add_argument("--bin", type=Path, default=HERE.parent / "build/bin")
    parser.add_argument("--work", type=Path, default=HERE.parent / "build/evaluation/twins")
    parser.add_argument("--models", nargs="+", default=list(models.MODELS))
    parser.add_argument("--json", type=Path, help="one line a file")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--make-only", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    check = Check(options.bin, options.work)
    said: list[str] = []
    sources = {}
    for model in options.models:
        for seed, side in enumerate(SIDES):
            source = options.work / model / side
            if side == "a" and options.corpus and (options.corpus / model / "done.json").exists():
                source = options.corpus / model
            if not (source / "done.json").exists():
                export(model, source, seed)
                print(model, side, (source / "done.json").read_text(), flush=True)
            make_forms(check.folder(model, side), source, said)
            sources[model, side] = source
    if options.make_only:
        print("\n".join(said))
        return 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for lines in pool.map(lambda item: check.prepare(*item[0], item[1]), sources.items()):
            said += lines
        done = list(pool.map(check.attempt, attempts(options.models)))
    done = [a for a in done if a.outcome != "missing"]
    if options.json:
        options.json.write_text("".join(json.dumps(asdict(a)) + "\n" for a in done))
    print("\n".join(said))
    print(table(done))
    bad = [a for a in done if not a.right]
    for form in FORMS:
        pairs = {a.model for a in done if a.form == form}
        wrong = {a.model for a in bad if a.form == form}
        print(f"{form}: {len(pairs - wrong)} of {len(pairs)} pairs right")
    for a in bad[:40]:
        whose = "its own" if a.own else "its twin's"
        print(f"  {a.outcome}: {a.model}/{a.graph}.{a.form}.{a.names}, {whose} {a.kind} {a.said}")
    return 1 if bad or not done else 0


if __name__ == "__main__":
    sys.exit(main())
