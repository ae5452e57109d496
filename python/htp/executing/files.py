"""Runs both forms of a model and writes what was found: docs/formats/executed.md."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..diffing import open_program
from ..errors import BadInput
from ..files import Outputs, Written
from ..holding import StrPath, existing, held
from ..notices import Notices
from ..running import read_inputs
from ..scratch import Scratch

if TYPE_CHECKING:
    from ..diff_programs import Program
    from .calls import Observation
    from .graph import Executable

Progress = Callable[[str], None]


class Execution(Written):
    """What one run of both forms showed, in a file that was written."""


def execute(
    model: Any,
    program: Any,
    f: StrPath = "model.executed.json",
    *,
    inputs: StrPath | Mapping[str, Any] | None = None,
    force: bool = False,
    progress: Progress = lambda text: None,
) -> Execution:
    """Runs an ONNX model and the PyTorch model that it was made from on the same inputs, and writes which of its values are
    what module calls took and returned, for `htp.tag(…, run=…)`.

    `model` is what `htp.tag` takes. `program` is a pair of an nn.Module and its inputs (a tuple or a dict), or what
    `htp export` takes, such as `model.py:build`. `inputs` (an .npz file, or arrays by name) replaces its inputs. A
    PyTorch model whose results have nothing to do with those of the graph is an error, or with `force` a warning.
    """
    target = Path(f)
    notices = Notices()
    try:
        with held(model) as source, Outputs(target) as outputs:
            document = examined(source.path, program, inputs, force, notices, progress)
            text = json.dumps(document, separators=(",", ":"))
            outputs[target].write_text(text, encoding="utf-8")
    finally:
        notices.issue()
    return Execution(target, document, notices.texts, outputs.replaced)


@contextlib.contextmanager
def held_execution(
    path: Path,
    run: Any,
    inputs: StrPath | Mapping[str, Any] | None,
    force: bool,
    progress: Progress,
) -> Iterator[Path]:
    """Within the block, what a run of the model at `path` shows is a file. `run` is that file, the result of `execute`, or
    the PyTorch model to run."""
    if isinstance(run, Execution) or _is_file(run):
        if inputs is not None:
            raise BadInput("inputs have no effect on a run that is already recorded")
        yield existing(run.path if isinstance(run, Execution) else run)
        return
    notices = Notices()
    try:
        document = examined(path, run, inputs, force, notices, progress)
    finally:
        notices.issue(stacklevel=4)
    with Scratch("htp-scratch-") as folder:
        file = folder / "executed.json"
        file.write_text(json.dumps(document, separators=(",", ":")), encoding="utf-8")
        yield file


def _is_file(run: Any) -> bool:
    return isinstance(run, (str, os.PathLike)) and os.fspath(run).endswith(".json")


def examined(
    path: Path,
    program: Any,
    inputs: StrPath | Mapping[str, Any] | None,
    force: bool,
    notices: Notices,
    progress: Progress,
) -> dict[str, Any]:
    """The document about a file and a PyTorch model."""
    arrays = read_inputs(inputs) if inputs is not None else None
    known = open_program(program, "--run", arrays)
    from .calls import observe
    from .graph import Executable

    graph = Executable(path)
    if arrays is not None:
        known.give(arrays)
    progress(f"running {known.path}")
    seen = observe(known)
    progress(f"running {path}")
    return compared(known, seen, graph, force, notices)


def compared(
    known: Program, seen: Observation, graph: Executable, force: bool, notices: Notices
) -> dict[str, Any]:
    """The document about a run of a PyTorch model and a graph that is run now."""
    from ..modules import describe_modules
    from .ties import NEAR, OTHER, Ties

    ties = Ties(seen, graph.run(known.feeds))
    if (apart := ties.apart(graph.results)) > NEAR:
        text = (
            f"{graph.path} is not of {known.path}, or has other weights: on the same inputs their results "
            f"differ by {apart:.0%} of their length, expected less than {NEAR:.0%}"
        )
        if apart > OTHER and not force:
            raise BadInput(text)
        notices.warn(text)
    if not ties.value:
        notices.warn(f"no value of {graph.path} is the result of a module call of {known.path}")
    modules, _ = describe_modules(known.model)
    for module in modules:
        module["calls"] = sum(call.module == module["path"] for call in seen.calls)
    return {
        "format": "htp-executed",
        "version": 1,
        "modules": modules,
        "calls": ties.calls(),
        "unclear": ties.unclear,
    }
