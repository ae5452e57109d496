#!/usr/bin/env python3
"""Check htp.export on every field model with both exporters.

    field_check.py [--exporters torchscript dynamo] [--json FILE] [--report FILE] [--jobs N] [MODEL[/EXPORTER] ...]

First runs plain torch.onnx.export, to know what PyTorch can do. Then requires of htp.export:
  * it works wherever PyTorch does, and with caches and output classes that PyTorch alone does not support;
    if PyTorch fails, it either gives a correct result or raises an HTPError;
  * inputs and outputs are complete, including caches, and equal PyTorch's on two inputs;
  * the model, its inputs and PyTorch are unchanged, also after a failure, which leaves no file;
  * no node that reads a module's parameters is tagged elsewhere with a confidence of 0.9 or more;
  * the model's own check passes (field/: `check`).
Each case runs in a separate process with a time limit. Results are JSON lines (--json) and a table;
exits with 1 if any case is bad.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE), str(HERE / "corpus")]

import hook_truth
import hooks
import onnx
import onnxruntime as ort
import torch
from field import CASES, Case
from field.readers import Readers, misplaced, with_and_without_wrappers
from field.untouched import Snapshot
from field.values import (
    arguments,
    array,
    cache_names,
    different,
    feeds,
    in_pytree_order,
    leaves,
    positional,
)

import htp

EXPORTERS = ("torchscript", "dynamo")
SECONDS = 180
#: Where tagged files are kept, if anywhere.
KEEP: Path | None = None
#: beyond PyTorch: right where torch.onnx.export fails or is wrong. as wrong: the same wrong values as in its file.
#: declined: both fail, HTP with a clear error. bad: all else.
STATES = ("good", "beyond PyTorch", "as wrong", "declined", "bad")


# --- what PyTorch says ---------------------------------------------------------------------------


class Wanted:
    """What PyTorch computes for both inputs, each by a fresh model."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.outputs, self.orders, self.inputs = [], [], []
        for number in range(2):
            model, inputs = case.make()
            args, kwargs = case.inputs(inputs, number)
            self.inputs.append(copies(arguments(model, args, kwargs)))
            with torch.no_grad(), eager():
                output = model.eval()(*positional(args), **kwargs)
            self.outputs.append([(path, array(t).copy()) for path, t in leaves(output)])
            self.orders.append([array(t).copy() for t in in_pytree_order(output)])

    def problems(self, session: ort.InferenceSession, any_order: bool = False) -> list[str]:
        """Differences between a session's outputs and PyTorch's."""
        found = []
        for number, title in enumerate(("the example", "another input")):
            try:
                got = session.run(None, feeds(session, self.inputs[number]))
            except Exception as error:
                found.append(f"does not run on {title}: {first_line(error)}")
                break
            want = [value for _, value in self.outputs[number]]
            said = compare(got, want, self.case.tolerance)
            if said and any_order:
                said = compare(got, self.orders[number], self.case.tolerance)
            found += [f"{title}: {line}" for line in said]
        return found


def copies(found: list[Any]) -> list[Any]:
    """Copies of inputs, because a forward may write into them."""
    return [(path, tensor.detach().clone()) for path, tensor in found]


@contextlib.contextmanager
def eager() -> Iterator[None]:
    """Within the block, modules wrapped by torch.compile run without being compiled: the results are the same."""
    torch.compiler.set_stance("force_eager")
    try:
        yield
    finally:
        torch.compiler.set_stance("default")


def compare(got: list[Any], want: list[Any], tolerance: float) -> list[str]:
    if len(got) != len(want):
        return [f"{len(got)} outputs instead of {len(want)}"]
    said = [different(a, b, tolerance) for a, b in zip(got, want)]
    return [f"output {i} {line}" for i, line in enumerate(said) if line]


def session_of(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def baseline(case: Case, exporter: str, wanted: Wanted, folder: Path) -> tuple[str, str, int]:
    """('ok', 'wrong' or 'fails', why, number of inputs) of torch.onnx.export itself."""
    model, inputs = case.make()
    args, kwargs = case.inputs(inputs, 0)
    path = folder / "plain.onnx"
    try:
        if exporter == "dynamo":
            program = torch.onnx.export(
                model.eval(), positional(args), kwargs=kwargs, dynamo=True, verbose=False
            )
            program.save(str(path))
        else:
            torch.onnx.export(
                model.eval(),
                positional(args),
                str(path),
                kwargs=kwargs,
                dynamo=False,
            )
    except Exception as error:
        return "fails", first_line(error), 0
    try:
        session = session_of(path)
    except Exception as error:
        return "wrong", f"does not load: {first_line(error)}", 0
    problems = wanted.problems(session, any_order=True)
    return ("wrong", problems[0], 0) if problems else ("ok", "", len(session.get_inputs()))


# --- what HTP does -------------------------------------------------------------------------------


def check(case: Case, exporter: str, folder: Path) -> dict[str, Any]:
    begin = time.monotonic()
    result: dict[str, Any] = {
        "case": case.name,
        "exporter": exporter,
        "difficulty": case.difficulty,
    }
    wanted = Wanted(case)
    plain, why, count = baseline(case, exporter, wanted, folder)
    result |= {"torch": plain, "torch_error": why}
    target = folder / "out" / "m.onnx"
    target.parent.mkdir()
    model, inputs = case.make()
    args, kwargs = case.inputs(inputs, 0)
    before = Snapshot(model, (args, kwargs))
    tagged, problems, notes = None, [], []
    with weights_outside() if case.external else contextlib.nullcontext():
        try:
            tagged = htp.export(model, args, kwargs=kwargs, output=target, exporter=exporter)
        except htp.HTPError as error:
            result["error"] = str(error)
            if plain == "ok" or exporter in case.demanded:
                whose = "PyTorch exports it" if plain == "ok" else "HTP must export it"
                problems.append(f"{whose}, htp.export says: {first_line(error)}")
            if left := [f.name for f in target.parent.iterdir()]:
                problems.append(f"the failed export left {left}")
        except Exception as error:
            result["error"] = "".join(traceback.format_exception(error)[-4:])
            problems.append(f"{type(error).__name__} instead of an HTPError: {first_line(error)}")
    changed = before.differences(Snapshot(model, (args, kwargs)))
    if changed:
        problems.append(f"changed by the export: {'; '.join(changed[:4])} ({len(changed)} in all)")
    if tagged is not None:
        made, said = judge(case, exporter, tagged, wanted, plain, count)
        problems += made
        notes += said
        result["hooks"] = by_hooks(case, exporter, tagged, wanted)
    state = "bad" if problems else "declined" if tagged is None else "good"
    if state == "good" and plain != "ok":
        state = "as wrong" if any(OWN in line for line in notes) else "beyond PyTorch"
    seconds = round(time.monotonic() - begin, 1)
    return result | {"state": state, "problems": problems, "notes": notes, "seconds": seconds}


def judge(
    case: Case, exporter: str, tagged: Any, wanted: Wanted, plain: str, count: int
) -> tuple[list[str], list[str]]:
    """Problems and notes about a tagged file."""
    problems, notes = [], []
    try:
        session = session_of(tagged.path)
    except Exception as error:
        return wrong_as_pytorch(plain, [f"does not load: {first_line(error)}"])
    said = wanted.problems(session)
    made, more = wrong_as_pytorch(plain, said)
    problems, notes = problems + made, notes + more
    if len(session.get_inputs()) < count:
        problems.append(f"{len(session.get_inputs())} inputs, PyTorch's exporter has {count}")
    problems += unnamed_caches(session, wanted)
    model, inputs = case.make()
    readers = Readers(model)
    with eager():
        readers.run(*case.inputs(inputs, 0))
    read, sure, unsure = misplaced(onnx.load(tagged.path), readers)
    problems += [f"tagged elsewhere with confidence: {line}" for line in sure[:3]]
    notes += [f"{read} nodes read parameters"] + [f"unsure: {line}" for line in unsure[:3]]
    if case.check:
        problems += case.check(tagged, exporter)
    if case.external:
        problems += second_export(case, exporter, tagged, wanted)
    return problems, notes


def by_hooks(case: Case, exporter: str, tagged: Any, wanted: Wanted) -> dict[str, Any]:
    """Judges the tags by what every module computed. This figure is reported but decides nothing here."""
    model, inputs = case.make()
    args, kwargs = case.inputs(inputs, 0)
    graph = onnx.load(tagged.path)
    try:
        with eager():
            calls = hook_truth.observe(model.eval(), positional(args), kwargs)
        values = hook_truth.graph_values(graph, feeds(session_of(tagged.path), wanted.inputs[0]))
    except (
        Exception
    ) as error:  # bfloat16 that ONNX Runtime does not run, a module that takes no hook
        return {"unknown": first_line(error)}
    for call in calls:
        call.paths = tuple(sorted(with_and_without_wrappers(call.paths)))
    truth = hook_truth.HookTruth(graph.graph, values, calls)
    verdict = hook_truth.judge(graph.graph.node, truth.regions)
    if KEEP:
        keep(KEEP / case.name / f"{exporter}.onnx", graph, tagged.path, truth)
    return {**vars(verdict), "excluded": dict(truth.excluded)}


def keep(target: Path, graph: onnx.ModelProto, source: Path, truth: hook_truth.HookTruth) -> None:
    """The tagged file with its trace and its truth, for fit.py."""
    target.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(graph, target)
    trace = source.with_suffix(".trace.json")
    if trace.exists():
        target.with_suffix(".trace.json").write_bytes(trace.read_bytes())
    target.with_suffix(".hooks.json").write_text(hooks.to_json(truth))


def wrong_as_pytorch(plain: str, said: list[str]) -> tuple[list[str], list[str]]:
    """If PyTorch's own file is no better, the problems are PyTorch's: a note, not a problem of HTP."""
    return ([], [f"{OWN}: {line}" for line in said]) if plain == "wrong" else (said, [])


OWN = "as PyTorch's own"


def unnamed_caches(session: ort.InferenceSession, wanted: Wanted) -> list[str]:
    """Inputs and outputs that lack the conventional names of caches."""
    inputs = {value.name for value in session.get_inputs()}
    outputs = {value.name for value in session.get_outputs()}
    given = [
        name for name in cache_names(wanted.inputs[0], "past_key_values") if name not in inputs
    ]
    made = [name for name in cache_names(wanted.outputs[0], "present") if name not in outputs]
    return [
        f"no {kind} named {names[:2]}"
        for kind, names in (("input", given), ("output", made))
        if names
    ]


# --- weights in a file of their own --------------------------------------------------------------


@contextlib.contextmanager
def weights_outside() -> Iterator[None]:
    """Within the block, weights of any size go to a separate file."""
    from htp import capture

    before, capture.LARGE = capture.LARGE, 0
    try:
        yield
    finally:
        capture.LARGE = before


def second_export(case: Case, exporter: str, tagged: Any, wanted: Wanted) -> list[str]:
    """Another model of the same kind into the same folder must not touch the first one's weights."""
    model, inputs = case.make()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(-1)
    args, kwargs = case.inputs(inputs, 0)
    problems = []
    if exporter == "dynamo" and not tagged.path.with_name("m.onnx.data").exists():
        there = sorted(f.name for f in tagged.path.parent.iterdir())
        problems.append(f"no m.onnx.data beside the model: {there}")
    with weights_outside():
        htp.export(
            model,
            args,
            kwargs=kwargs,
            output=tagged.path.with_name("other.onnx"),
            exporter=exporter,
        )
    said = wanted.problems(session_of(tagged.path))
    return problems + [f"after another export into the folder: {line}" for line in said]


# --- processes -----------------------------------------------------------------------------------


def first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else ""
    return (
        text[:300] if isinstance(error, htp.HTPError) else f"{type(error).__name__}: {text[:300]}"
    )


class Child:
    """One case in a separate process, forked after all imports, so that starting it costs nothing."""

    def __init__(self, name: str, exporter: str, seconds: float) -> None:
        self.name, self.exporter, self.folder = name, exporter, tempfile.TemporaryDirectory()
        self.limit = seconds
        self.deadline = time.monotonic() + seconds
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._run()

    def _run(self) -> None:
        os.setsid()  # so that its child processes can be killed with it
        folder = Path(self.folder.name)
        log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 1)
        os.dup2(log, 2)
        try:
            torch.set_num_threads(1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = check(CASES[self.name], self.exporter, folder)
        except BaseException as error:
            where = "".join(traceback.format_exception(error)[-3:])
            result = self._failed(f"the check itself failed: {first_line(error)}", where)
        (folder / "part.json").write_text(json.dumps(result))
        (folder / "part.json").rename(folder / "result.json")
        os._exit(0)

    def _failed(self, problem: str, error: str = "") -> dict[str, Any]:
        case = CASES[self.name]
        known = {"case": case.name, "exporter": self.exporter, "difficulty": case.difficulty}
        more = {"torch": "?", "state": "bad", "problems": [problem], "notes": [], "seconds": 0}
        return known | more | {"error": error}

    def poll(self) -> dict[str, Any] | None:
        """The result, once there is one."""
        ended, status = os.waitpid(self.pid, os.WNOHANG)
        late = time.monotonic() > self.deadline
        if not ended and not late:
            return None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # including programs that outlived it
        if not ended:
            os.waitpid(self.pid, 0)
        made = Path(self.folder.name, "result.json")
        if made.exists():
            result = json.loads(made.read_text())
        elif late:
            result = self._failed(f"no end after {self.limit:.0f} s")
        else:
            log = Path(self.folder.name, "log").read_text(errors="replace")[-500:]
            result = self._failed(f"the process died with status {status}", log)
        self.folder.cleanup()
        return result


def run_all(
    cases: list[tuple[str, str]], jobs: int = 1, seconds: float = SECONDS
) -> Iterator[dict[str, Any]]:
    """Yields the results of models and exporters as they finish."""
    waiting = list(cases)
    running: list[Child] = []
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(Child(*waiting.pop(0), seconds))
        for child in list(running):
            if (result := child.poll()) is not None:
                running.remove(child)
                yield result
        time.sleep(0.02)


# --- the report ----------------------------------------------------------------------------------


def summary(results: list[dict[str, Any]]) -> str:
    """One row per exporter. PyTorch's own failures are shown but not counted."""
    lines = [
        "| exporter | cases | PyTorch manages | " + " | ".join(STATES) + " |",
        "|" + " --- |" * (3 + len(STATES)),
    ]
    for exporter in sorted({r["exporter"] for r in results}):
        mine = [r for r in results if r["exporter"] == exporter]
        states = Counter(r["state"] for r in mine)
        managed = sum(r["torch"] == "ok" for r in mine)
        cells = [exporter, len(mine), managed, *(states[s] for s in STATES)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def failures(results: list[dict[str, Any]]) -> str:
    lines = []
    for r in results:
        if r["state"] == "bad":
            lines.append(
                f"\n### {r['case']} / {r['exporter']} ({r['difficulty']}; PyTorch: {r['torch']})"
            )
            lines += [f"- {problem}" for problem in r["problems"]]
            error = [line for line in r.get("error", "").splitlines() if line.strip()]
            lines += [f"      {line[:200]}" for line in error[:6]]
    for r in results:
        if r["state"] == "as wrong":
            lines.append(f"\n### {r['case']} / {r['exporter']}: as wrong as PyTorch's own file")
            lines += [f"- {note}" for note in r["notes"] if OWN in note]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", metavar="MODEL[/EXPORTER]", help=", ".join(CASES))
    parser.add_argument("--exporters", nargs="+", choices=EXPORTERS, default=list(EXPORTERS))
    parser.add_argument("--json", type=Path, help="results, one line each")
    parser.add_argument("--report", type=Path, help="the table and the bad cases, as text")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the limit of one case")
    parser.add_argument("--keep", type=Path, help="a folder for the tagged files and their truth")
    options = parser.parse_args()
    global KEEP
    KEEP = options.keep
    cases = []
    for entry in options.models or CASES:
        name, _, exporter = entry.partition("/")
        if name not in CASES or exporter not in ("", *EXPORTERS):
            parser.error(f"no field model {entry}")
        cases += [(name, e) for e in ([exporter] if exporter else options.exporters)]
    results = []
    for result in run_all(cases, options.jobs, options.seconds):
        results.append(result)
        head = f"{result['case']:24} {result['exporter']:12} {result['state']:15}"
        print(
            f"{head} {result['seconds']:5.1f} s  {'; '.join(result['problems'])[:200]}", flush=True
        )
        if options.json:
            with options.json.open("a" if len(results) > 1 else "w") as file:
                file.write(json.dumps(result) + "\n")
        if options.report:
            options.report.write_text(summary(results) + failures(results))
    print("\n" + summary(results))
    return 1 if not results or any(r["state"] == "bad" for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
