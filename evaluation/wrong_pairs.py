#!/usr/bin/env python3
"""Check that the trace or tagged file of another model is refused, or at least reported.

    wrong_pairs.py CORPUS [--bin DIR] [--work DIR] [--json FILE] [--jobs N]

For every ordered pair of 12 different models of the corpus (a folder that corpus/export.py wrote), the graph of one, as
exported and anonymous, is tagged with the trace of the other, and with the other as reference. Each of the 132 pairs must be
  refused   htp-opt ends with an error, or
  flagged   it warns that this is of another model, or `statistics.fit` of the operation metadata says so;
anything else is *silent*: a warning that also appears with the right one is useless. The right trace and the right reference
of every variant of the 12 models must be neither. Exits with 1 if a pair is silent or a right one is not accepted.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "corpus")]

import tagging

#: Encoders, decoders, convolutions, a state-space model, and three that are nearly the same architecture.
MODELS = (
    "bert_tiny", "distilbert", "albert", "gpt2", "llama", "opt",
    "t5", "vit", "resnet", "convnext", "mamba", "swin",
)  # fmt: skip
FLAG = re.compile(r"warning: .*(another|not of this) model")
SECONDS = 120


@dataclass
class Attempt:
    model: str  # whose graph
    variant: str  # which form of it
    kind: str  # 'trace' or 'reference'
    of: str  # whose trace or reference
    outcome: str = ""
    said: str = ""
    verdict: str = ""  # what statistics.fit says, if anything

    @property
    def right(self) -> bool:
        return self.model == self.of


def outcome(status: int, stderr: str, verdict: str) -> str:
    """refused, flagged, or silent: what a user would notice."""
    if status:
        return "refused"
    if FLAG.search(stderr) or verdict not in ("", "fits"):
        return "flagged"
    return "silent"


def verdict_of(metadata: Path, kind: str) -> str:
    """The verdict of `statistics.fit` about a trace or a reference; '' if this htp-opt has none."""
    if not metadata.exists():
        return ""
    fits = json.loads(metadata.read_text())["statistics"].get("fit", [])
    return next((fit["verdict"] for fit in fits if fit.get("source") == kind), "")


class Check:
    def __init__(self, corpus: Path, programs: Path, work: Path) -> None:
        self.corpus, self.programs, self.work = corpus, programs, work

    def graph(self, model: str, variant: str) -> Path:
        return self.corpus / model / f"{variant}.onnx"

    def trace(self, model: str, graph: str) -> Path | None:
        """The trace that fits a graph of the model, or any other if that one could not be made."""
        for name in (tagging.FITTING[graph], "trace.pt", "trace.pt2"):
            if (self.corpus / model / name).exists():
                return tagging.trace_json(self.corpus / model, name, self.work)
        return None

    def reference(self, model: str, graph: str) -> Path | None:
        """The tagged export of the model; by another exporter if it cannot be exported with this one."""
        if not self.graph(model, graph).exists():
            graph = next(g for g in tagging.GRAPHS if self.graph(model, g).exists())
        target = self.work / "references" / model / f"{graph}.onnx"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            trace = self.trace(model, graph)
            flag = f"--htp-tag=trace={trace}" if trace else "--htp-tag"
            self._htp_opt(self.graph(model, graph), flag, "-o", target)
        return target if target.exists() else None

    def _htp_opt(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.programs / "htp-opt", *arguments], capture_output=True, text=True, timeout=SECONDS
        )

    def attempt(self, one: Attempt) -> Attempt:
        graph = one.variant.partition(".")[0]
        given = (self.trace if one.kind == "trace" else self.reference)(one.of, graph)
        if given is None:
            one.outcome = "missing"
            return one
        folder = self.work / "attempts"
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"{one.model}-{one.variant}-{one.kind}-{one.of}"
        metadata = folder / f"{stem}.ops.json"
        metadata.unlink(missing_ok=True)
        try:
            done = self._htp_opt(
                self.graph(one.model, one.variant),
                f"--htp-tag={one.kind}={given}",
                f"--op-metadata={metadata}",
                "-o",
                folder / f"{stem}.onnx",
            )
        except subprocess.TimeoutExpired:
            one.outcome, one.said = "hangs", f"no end after {SECONDS} s"
            return one
        one.verdict = verdict_of(metadata, one.kind)
        one.outcome = outcome(done.returncode, done.stderr, one.verdict)
        lines = [x for x in done.stderr.splitlines() if "error: " in x or FLAG.search(x)]
        one.said = lines[0][:200] if lines else ""
        if done.returncode not in (0, 1):
            one.outcome = "crashes"
        metadata.unlink(missing_ok=True)
        (folder / f"{stem}.onnx").unlink(missing_ok=True)
        return one


def attempts(corpus: Path, models: list[str]) -> list[Attempt]:
    """All wrong pairs on static graphs of both exporters, and the right ones in all variants."""
    found = []
    for model in models:
        files = sorted(f.name.removesuffix(".onnx") for f in (corpus / model).glob("*.onnx"))
        for variant in files:
            graph, _, form = variant.partition(".")
            for kind in ("trace", "reference"):
                if kind == "trace" or form:  # a graph is not a reference for itself
                    found.append(Attempt(model, variant, kind, model))
                if graph in ("ts", "dynamo") and form in ("", "anon"):
                    others = [other for other in models if other != model]
                    found += [Attempt(model, variant, kind, other) for other in others]
    return found


def silent_pairs(wrong: list[Attempt]) -> dict[str, list[tuple[str, str]]]:
    """For each kind, the pairs that were accepted in at least one form."""
    found = defaultdict(set)
    for one in wrong:
        if one.outcome not in ("refused", "flagged", "missing"):
            found[one.kind].add((one.model, one.of))
    return {kind: sorted(pairs) for kind, pairs in found.items()}


def table(done: list[Attempt]) -> str:
    outcomes = ("refused", "flagged", "silent", "missing", "hangs", "crashes")
    lines = [
        "| given | files | " + " | ".join(outcomes) + " |",
        "|" + " --- |" * (2 + len(outcomes)),
    ]
    for right in (False, True):
        for kind in ("trace", "reference"):
            mine = [a for a in done if a.kind == kind and a.right == right]
            counts = Counter(a.outcome for a in mine)
            title = f"{'the right' if right else 'a wrong'} {kind}"
            lines.append(
                f"| {title} | {len(mine)} | " + " | ".join(str(counts[o]) for o in outcomes) + " |"
            )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--bin", type=Path, default=HERE.parent / "build/bin")
    parser.add_argument("--work", type=Path, default=HERE.parent / "build/evaluation/wrong-pairs")
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    missing = [m for m in options.models if not (options.corpus / m / "tree.json").exists()]
    if missing:
        parser.error(f"{options.corpus} has no {', '.join(missing)}: run corpus/export.py")
    for error in tagging.run_traces(options.corpus, options.work, options.bin, options.jobs):
        print(f"htp-trace: {error}", flush=True)
    check = Check(options.corpus, options.bin, options.work)
    for model in options.models:  # before the threads, so that none is made twice
        for graph in tagging.GRAPHS:
            if check.graph(model, graph).exists():
                check.reference(model, graph)
    with ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(check.attempt, attempts(options.corpus, options.models)))
    if options.json:
        options.json.write_text("".join(json.dumps(asdict(one)) + "\n" for one in done))
    wrong, right = [a for a in done if not a.right], [a for a in done if a.right]
    pairs = len(options.models) * (len(options.models) - 1)
    silent = silent_pairs(wrong)
    print(table(done))
    for kind in ("trace", "reference"):
        bad = silent.get(kind, [])
        print(f"{kind}: {pairs - len(bad)} of {pairs} pairs are refused or flagged in all forms")
        print("".join(f"  silent: {a} with the {kind} of {b}\n" for a, b in bad[:20]), end="")
    unjust = [a for a in right if a.outcome not in ("silent", "missing")]
    print(f"{len(right) - len(unjust)} of {len(right)} right ones are accepted")
    for a in unjust[:20]:
        print(f"  {a.outcome}: {a.model}/{a.variant} with its own {a.kind}: {a.said or a.verdict}")
    return 1 if unjust or silent or not wrong else 0


if __name__ == "__main__":
    sys.exit(main())
