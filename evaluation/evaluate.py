#!/usr/bin/env python3
"""Tag every model of the corpus in every way, score the tags, and write docs/Accuracy.md.

    evaluate.py [--bin build/bin] [--work build/evaluation] [--set corpus|heldout] [--modes NAME ...] [--models NAME ...]

Exports what is missing (half an hour for everything, once), runs htp-trace and htp-opt, and judges their output with
corpus/score.py. With --set, --modes or --models, the tables are only printed.
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

import onnx

import report
import tagging
from score import COUNTS, score, told

SETS = ("corpus", "heldout")


def exported(name: str, work: Path, models: list[str], core: bool) -> Path:
    """The folder of a set's exports. Makes missing ones, two models at a time."""
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


def hooked(name: str, folder: Path, models: list[str]) -> None:
    """Writes the forward hooks' truth about exported graphs, if it is missing."""
    script = [sys.executable, HERE / "corpus/hooks.py", folder, "--set", name, *models]
    print(f"running the models of {name} with forward hooks", flush=True)
    subprocess.run(script, check=True)


def judge_by_hooks(job: tagging.Job) -> None:
    """Compares the same tags with what every module computed, which no exporter recorded."""
    file = job.source.with_suffix(".hooks.json")
    if job.error or not file.exists():
        return
    import hook_truth
    import hooks

    nodes = onnx.load(job.target, load_external_data=False).graph.node
    verdict = vars(hook_truth.judge(nodes, hooks.read(file)))
    job.wrong = verdict.pop("wrong")
    job.hooks = verdict


def blind_nodes(job: tagging.Job, truth: list) -> int:
    """How many nodes of a file that could not be tagged would have been judged."""
    if job.mode.reference or not job.source.exists():
        return 0
    nodes = onnx.load(job.source, load_external_data=False).graph.node
    return sum(want is not None and not told(node) for node, want in zip(nodes, truth))


def judge(job: tagging.Job, corpus: Path) -> None:
    folder = corpus / job.model
    judge_by_hooks(job)
    tags = {m["path"]: m["tag"] for m in json.loads((folder / "tree.json").read_text())}
    truth = json.loads(job.source.with_suffix(".truth.json").read_text())
    if not job.error:
        given = job.mode.reference
        job.score = score(job.source, job.target, truth, tags, job.answers, reference=given)
        return
    known = sum(t is not None for t in truth)
    counts = {"nodes": len(truth), "scored": known, "blind": blind_nodes(job, truth)}
    job.score = dict.fromkeys(COUNTS, 0) | counts


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

    # Files tagged as exported come first, because they are the references of other modes.
    for reference in (False, True):
        with ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(one, [j for j in jobs if j.mode.reference == reference]))
    return jobs


def looked_at() -> frozenset[str]:
    from heldout import LOOKED_AT

    return LOOKED_AT


def results_in(path: Path | None) -> list[dict]:
    """What field_check.py or deployed_check.py wrote with --json, if it ran."""
    return (
        [json.loads(line) for line in path.read_text().splitlines()]
        if path and path.exists()
        else []
    )


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
    parser.add_argument(
        "--field", type=Path, help="results of field_check.py --json, for its table"
    )
    parser.add_argument(
        "--deployed", type=Path, help="results of deployed_check.py --json, for its tables"
    )
    parser.add_argument(
        "--wrong", type=Path, help="write what the hooks' truth found wrong (not of unseen models)"
    )
    parser.add_argument("--corpus", type=Path, help="a folder that export.py wrote, for --set")
    args = parser.parse_args()
    if args.corpus and not args.set:
        parser.error("--corpus needs --set")

    results = {}
    for name in [args.set] if args.set else SETS:
        # Other tools' variants double the time and say little more about held-out models.
        core = args.core or name == "heldout"
        corpus = args.corpus or exported(name, args.work, args.models, core)
        hooked(name, corpus, args.models)
        results[name] = evaluate(corpus, args.work / f"{name}-tagged", args, core)
    shown = report.sections(results, looked_at())
    text, met = report.markdown(shown, results_in(args.field), results_in(args.deployed))
    print(text)
    if args.wrong:
        seen = [j for name, part in shown.items() if name != "unseen" for j in part if j.wrong]
        wrong = [{"file": j.file, "variant": j.mode.name, "wrong": j.wrong} for j in seen]
        args.wrong.write_text(json.dumps(wrong, indent=1))
    if not (args.set or args.modes or args.models or args.core):
        (ROOT / "docs/Accuracy.md").write_text(text)
        print("docs/Accuracy.md written")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
