#!/usr/bin/env python3
"""Tag every model of the corpus in every way, score the tags, and write docs/Accuracy.md.

    evaluate.py [--bin build/bin] [--work build/evaluation] [--set corpus|heldout] [--modes NAME ...] [--models NAME ...]

Exports what is not there yet (half an hour for everything, once), runs htp-trace and htp-opt, and judges their output with
corpus/score.py. With --set, --modes or --models the tables are only printed.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "corpus"))

import report
import tagging
from score import score

SETS = ("corpus", "heldout")


def exported(name: str, work: Path, models: list[str], core: bool) -> Path:
    """The folder of a set's exports, made where they are missing. Two models at a time."""
    folder = work / name
    script = [
        sys.executable,
        HERE / "corpus/export.py",
        folder,
        "--set",
        name,
        *(["--core"] if core else []),
    ]
    listing = subprocess.run(
        [*script, "--list", *models], capture_output=True, text=True, check=True
    )
    todo = listing.stdout.split()
    if todo:
        print(f"exporting {len(todo)} models of {name} to {folder}", flush=True)

    def one(model):
        subprocess.run([*script, model], check=True, stdout=subprocess.DEVNULL)
        print(f"  {model}", flush=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, todo))
    return folder


def judge(job: tagging.Job, corpus: Path) -> None:
    folder = corpus / job.model
    tags = {m["path"]: m["tag"] for m in json.loads((folder / "tree.json").read_text())}
    truth = json.loads(job.source.with_suffix(".truth.json").read_text())
    if not job.error:
        job.score = score(job.source, job.target, truth, tags, job.answers)
        return
    job.score = dict.fromkeys(("covered", "exact", "tag", "contaminated"), 0)
    job.score |= {"nodes": len(truth), "scored": sum(t is not None for t in truth)}


def evaluate(corpus: Path, work: Path, args, core: bool = False) -> list[tagging.Job]:
    for error in tagging.run_traces(corpus, work, args.bin, args.jobs):
        print(f"htp-trace: {error}", flush=True)
    modes = [m for m in tagging.MODES if not (core and m.variant in tagging.FURTHER)]
    modes = [m for m in modes if not args.modes or m.name in args.modes]
    jobs = [
        j for j in tagging.jobs_of(corpus, work, modes) if not args.models or j.model in args.models
    ]
    print(f"tagging {len(jobs)} files of {corpus.name}", flush=True)

    def one(job):
        tagging.run(job, args.bin)
        judge(job, corpus)

    # What is tagged as exported is the reference of other modes: it comes first.
    for reference in (False, True):
        with ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(one, [j for j in jobs if j.mode.reference == reference]))
    return jobs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/bin")
    parser.add_argument("--work", type=Path, default=ROOT / "build/evaluation")
    parser.add_argument("--set", choices=SETS)
    parser.add_argument("--modes", nargs="*", choices=[m.name for m in tagging.MODES])
    parser.add_argument("--models", nargs="*", default=[])
    parser.add_argument(
        "--core", action="store_true", help="export only the variants that the goals name"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--corpus", type=Path, help="a folder that export.py wrote, for --set")
    args = parser.parse_args()
    if args.corpus and not args.set:
        parser.error("--corpus needs --set")

    results = {}
    for name in [args.set] if args.set else SETS:
        # Other tools' variants double the time and say little more about held-out models.
        core = args.core or name == "heldout"
        corpus = args.corpus or exported(name, args.work, args.models, core)
        results[name] = evaluate(corpus, args.work / f"{name}-tagged", args, core)
    text, met = report.markdown(results)
    print(text)
    if not (args.set or args.modes or args.models or args.core):
        (ROOT / "docs/Accuracy.md").write_text(text)
        print("docs/Accuracy.md written")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
