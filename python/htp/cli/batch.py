"""The command `htp batch`: tags many models."""

from __future__ import annotations

import argparse
import re
import sys

from ..errors import BadInput
from .commands import Commands
from .console import Console, count, printable

BATCH = """\
Tag many models, here or on a Ray cluster

SOURCE is a folder (all .onnx files in it), a glob, an ONNX file, or a manifest (NAME.jsonl). The trace of NAME.onnx is
NAME.trace.json, NAME.pt2 or NAME.pt beside it. FOLDER receives the tagged models, table.csv (and table.parquet, with
pyarrow), index.html, and a record of each model in records/. One failure does not stop the other models. If you run
the same command again, finished models that have not changed are skipped, failed ones are retried. Exit code 1 if a
model failed.

examples:
  htp batch models/ -o tagged/
  htp batch 'zoo/**/*.onnx' -o tagged/ --jobs 4 --memory 8G
  htp batch manifest.jsonl -o tagged/
  htp batch optimized/ -o tagged/ --reference original.onnx
  htp batch manifest.jsonl -o s3://bucket/tagged --ray auto

manifest.jsonl has one object per line, with paths relative to the manifest:
  {"model": "a.onnx", "trace": "a.trace.json"}
  {"model": "a-int8.onnx", "reference": "a.tagged.onnx", "name": "quantized/a.onnx"}
keys: model, trace, reference, overrides, policy, name (of the output), force, tag_storage

--ray ADDRESS: auto, HOST:PORT or ray://HOST:PORT. htp must be installed on every machine of the cluster, and paths must
mean the same there; FOLDER may be a URL that fsspec supports.
"""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def register(commands: Commands) -> None:
    parser = commands.add("batch", BATCH, run_batch)
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="folder, glob, .onnx, .jsonl")
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help="where results go")
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=int,
        help="models to process at once (default: number of processors)",
    )
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory limit for all of them, e.g. 8G (default: half of the free memory)",
    )
    parser.add_argument("--ray", metavar="ADDRESS", help="run on this Ray cluster")
    parser.add_argument("--fresh", action="store_true", help="process finished models again")
    known = parser.add_mutually_exclusive_group()
    known.add_argument("--trace", metavar="FILE", help="trace for models without one of their own")
    known.add_argument(
        "--reference", metavar="FILE", help="reference for models without one of their own"
    )
    parser.add_argument(
        "--force", action="store_true", help="accept a trace or reference of another model"
    )


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
        console.problem(
            f"stopped: {result.stopped}; finished models are kept, run the command again to continue"
        )
    good = len(result.records) - len(result.failures)
    console.note(
        f"{printable(result.output)}: {count(good, 'model')} tagged ({result.skipped} of them earlier), "
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
