"""Which files are tagged in which way, and the runs of htp-trace and htp-opt that do it."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

GRAPHS = ("ts", "ts-dyn", "dynamo", "dynamo-dyn")
FITTING = {
    "ts": "trace.pt",
    "ts-dyn": "trace.pt",
    "dynamo": "trace.pt2",
    "dynamo-dyn": "trace-dyn.pt2",
}
OTHER = {
    "ts": "trace.pt2",
    "ts-dyn": "trace.pt2",
    "dynamo": "trace.pt",
    "dynamo-dyn": "trace.pt",
}
# The torch.export trace with the opposite kind of shapes: dynamic for the TorchScript exporter's graph, static for the other's.
OTHER_SHAPES = {"ts-dyn": "trace-dyn.pt2", "dynamo-dyn": "trace.pt2"}


@dataclass(frozen=True)
class Mode:
    """One row of the tables: a form of every graph, and what the tagger receives with it."""

    name: str
    variant: str  # "" is the graph as exported
    traces: dict | None = None  # graph -> trace file, None: from the model alone
    reference: bool = False  # the same graph, tagged before the variant was made


MODES = [
    Mode("as exported", "", FITTING),
    Mode("as exported, no trace", ""),
    Mode("anon", "anon", FITTING),
    Mode("anon, other trace", "anon", OTHER),
    Mode("anon, trace of other shapes", "anon", OTHER_SHAPES),
    Mode("ort", "ort", FITTING),
    Mode("ort, reference", "ort", reference=True),
]
FURTHER = ("onnxsim", "onnxscript", "int8", "qdq", "fp16")
MODES += [Mode(v, v, FITTING) for v in FURTHER]
MODES += [Mode(f"{v}, reference", v, reference=True) for v in FURTHER]


@dataclass
class Job:
    mode: Mode
    model: str
    graph: str
    source: Path
    target: Path
    options: str
    error: str = ""
    seconds: float = 0.0
    score: dict = field(default_factory=dict)
    hooks: dict = field(default_factory=dict)  # counts by hook_truth.py, if available
    wrong: list = field(default_factory=list)  # descriptions of what is wrong
    answers: list = field(default_factory=list)  # (confidence, right) of every blind node

    @property
    def file(self):
        return f"{self.model}/{self.source.name}"


def trace_json(folder: Path, trace: str, work: Path) -> Path:
    return work / "traces" / folder.name / f"{trace}.json"


def run_traces(corpus: Path, work: Path, programs: Path, jobs: int) -> list[str]:
    """trace.pt -> trace.pt.json and so on, so that htp-opt does not load LibTorch each time: once for a trace and a
    build of htp-trace, which writes more than the one before."""
    built = (programs / "htp-trace").stat().st_mtime

    def convert(trace: Path) -> str:
        out = trace_json(trace.parent, trace.name, work)
        if out.exists() and out.stat().st_mtime > max(built, trace.stat().st_mtime):
            return ""
        out.parent.mkdir(parents=True, exist_ok=True)
        run = subprocess.run(
            [programs / "htp-trace", trace, "-o", out], capture_output=True, text=True
        )
        return "" if run.returncode == 0 else f"{trace}: {run.stderr.strip()}"

    traces = sorted(corpus.glob("*/trace*.pt*"))
    with ThreadPoolExecutor(jobs) as pool:
        return [error for error in pool.map(convert, traces) if error]


def jobs_of(corpus: Path, work: Path, modes: list[Mode]) -> list[Job]:
    found = []
    for folder in sorted(p.parent for p in corpus.glob("*/tree.json")):
        for mode in modes:
            for graph in GRAPHS:
                name = f"{graph}.{mode.variant}" if mode.variant else graph
                source = folder / f"{name}.onnx"
                if not source.with_suffix(".truth.json").exists():
                    continue  # this combination of model, exporter and tool does not work
                options = []
                if mode.traces:
                    if not (folder / mode.traces.get(graph, "none")).exists():
                        continue
                    options.append(f"trace={trace_json(folder, mode.traces[graph], work)}")
                if mode.reference:
                    # Some models cannot be traced; their tags come only from the model itself.
                    first = MODES[0] if (folder / FITTING[graph]).exists() else MODES[1]
                    options.append(f"reference={tagged(work, first, folder.name, graph)}")
                target = tagged(work, mode, folder.name, name)
                found.append(Job(mode, folder.name, graph, source, target, " ".join(options)))
    return found


def tagged(work: Path, mode: Mode, model: str, name: str) -> Path:
    return work / "tagged" / mode.name.replace(", ", "-").replace(" ", "-") / model / f"{name}.onnx"


def run(job: Job, programs: Path) -> None:
    """Tags one file. A failure is recorded in the job and counts as a file without tags."""
    job.target.parent.mkdir(parents=True, exist_ok=True)
    job.target.unlink(missing_ok=True)
    flag = f"--htp-tag={job.options}" if job.options else "--htp-tag"
    start = time.monotonic()
    try:
        done = subprocess.run(
            [programs / "htp-opt", job.source, flag, "-o", job.target],
            capture_output=True,
            text=True,
            timeout=120,
        )
    except subprocess.TimeoutExpired:
        job.error = "no answer after 120 s"
        return
    job.seconds = time.monotonic() - start
    if done.returncode or not job.target.exists():
        lines = [x for x in done.stderr.splitlines() if "error" in x] or done.stderr.splitlines()
        job.error = lines[0] if lines else f"exit code {done.returncode}"
