"""The command `htp batch`: many models."""

from __future__ import annotations

import argparse
import re
import sys

from ..errors import BadInput
from .commands import Commands
from .console import Console, count, printable

BATCH = """\
Tag many models, here or on a Ray cluster

SOURCE is a folder (all .onnx files in it), a glob, an ONNX file, or a manifest (NAME.jsonl). Of NAME.onnx the trace is
NAME.trace.json, NAME.pt2 or NAME.pt beside it. FOLDER gets the tagged models, table.csv (table.parquet with pyarrow),
index.html, and a record of each model in records/. A failure stops no other model. Run the same command again: what is
done and unchanged is skipped, what failed is tried again. Exit code 1 where a model failed.

examples:
  htp batch models/ -o tagged/
  htp batch 'zoo/**/*.onnx' -o tagged/ --jobs 4 --memory 8G
  htp batch manifest.jsonl -o tagged/
  htp batch optimized/ -o tagged/ --reference original.onnx
  htp batch manifest.jsonl -o s3://bucket/tagged --ray auto

manifest.jsonl, paths relative to it, one object in each line:
  {"model": "a.onnx", "trace": "a.trace.json"}
  {"model": "a-int8.onnx", "reference": "a.tagged.onnx", "name": "quantized/a.onnx"}
keys: model, trace, reference, overrides, policy, name (of the output), force, tag_storage

--ray ADDRESS: auto, HOST:PORT or ray://HOST:PORT. htp is installed on every machine of the cluster, and paths mean the
same there; FOLDER may be a URL that fsspec knows.
"""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def register(commands: Commands) -> None:
    parser = commands.add("batch", BATCH, run_batch)
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="folder, glob, .onnx, .jsonl")
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help="where results go")
    parser.add_argument("--jobs", metavar="N", type=int, help="models at once: one a processor")
    parser.add_argument(
        "--memory", metavar="SIZE", help="for all of them, as 8G: half of what is free"
    )
    parser.add_argument("--ray", metavar="ADDRESS", help="run on this Ray cluster")
    parser.add_argument("--fresh", action="store_true", help="do again what is done already")
    known = parser.add_mutually_exclusive_group()
    known.add_argument("--trace", metavar="FILE", help="of all models that have none of their own")
    known.add_argument(
        "--reference", metavar="FILE", help="likewise: the same model, tagged before"
    )
    parser.add_argument("--force", action="store_true", help="also with those of another model")


def size_of(text: str) -> int:
    found = re.fullmatch(r"([0-9.]+)\s*([KMGT]?)i?B?", text.strip(), re.I)
    try:
        assert found is not None
        return int(float(found[1]) * _UNITS[found[2].upper()])
    except (AssertionError, ValueError):
        raise BadInput(f"--memory {text!r}: expected a size, such as 8G or 500M") from None


def run_batch(options: argparse.Namespace, console: Console) -> int:
    from ..batching import batch

    shown = not console.quiet and not console.json and sys.stderr.isatty()

    def progress(done: int, total: int, failed: int, left: float) -> None:
        text = f"{done} of {total}, {failed} failed, about {_duration(left)} left"
        print(f"\r\033[Khtp: {text}", end="", file=sys.stderr, flush=True)

    try:
        result = batch(
            options.sources,
            options.output,
            jobs=options.jobs,
            memory=size_of(options.memory) if options.memory else None,
            ray=options.ray,
            fresh=options.fresh,
            options={key: getattr(options, key) for key in ("trace", "reference", "force")},
            progress=progress if shown else None,
        )
    finally:
        if shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    for record in result.failures:
        console.problem(f"{record['name']}: {record['error']}")
    for refused in result.refused:
        console.problem(f"{refused.where}: {refused.why}")
    for note in result.notes:
        console.remark(note)
    if result.stopped:
        console.problem(f"stopped: {result.stopped}; what was done stays, run it again to go on")
    good = len(result.records) - len(result.failures)
    console.note(
        f"{printable(result.output)}: {count(good, 'model')} tagged ({result.skipped} of them before), "
        f"{len(result.failures)} failed, {len(result.refused)} refused"
    )
    for file in result.files:
        console.note(f"  {printable(result.output)}/{file}")
    console.result(
        {
            "ok": result.ok,
            "output": result.output,
            "done": result.done,
            "skipped": result.skipped,
            "stopped": result.stopped,
            "models": result.records,
            "refused": [vars(refused) for refused in result.refused],
            "files": result.files,
        }
    )
    return 0 if result.ok else 1


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
