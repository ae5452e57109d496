"""Checks a tagged model: whether it is valid ONNX, whether its tags are complete and agree with the module tree, and
whether it computes the same as another. The native program checks the tags; this module collects its findings."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import native
from .errors import HTPError, MissingPackage, NotTagged, ProgramFailed
from .holding import held
from .model import TaggedModel
from .onnxfile import has_functions, is_mlir, raw_nodes
from .tagging import load, read_input

#: At most this many problems of one kind are listed; the rest are counted.
SHOWN = 20


@dataclass
class Check:
    name: str
    problems: list[str] = field(default_factory=list)
    skipped: str = ""

    @property
    def ok(self) -> bool:
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        state = "skipped" if self.skipped else "passed" if self.ok else "failed"
        return {"check": self.name, "state": state, "problems": self.problems, "why": self.skipped}


def validate(model: Any, *, contamination: bool = False, numeric: Any = None) -> list[Check]:
    """Runs all checks of a model: a path, or what `htp.tag` takes. `numeric` is a model whose outputs in ONNX Runtime
    must be equal."""
    with held(model) as source:
        if not numeric:
            return _checks(source.path, contamination, None)
        with held(numeric) as other:
            return _checks(source.path, contamination, other.path)


def _checks(file: Path, contamination: bool, numeric: Path | None) -> list[Check]:
    checks = [_onnx(file)]
    try:
        model = load(file)
    except NotTagged as error:
        return [*checks, Check("tags", [str(error)])]
    except ProgramFailed as error:
        return [*checks, Check("tags", str(error).splitlines()[:SHOWN])]
    with _flat(file) as flat:
        checks += [_tags(flat, model), *_verify(flat, contamination)]
    if numeric:
        checks.append(_numeric(file, numeric, model))
    return checks


@contextmanager
def _flat(file: Path) -> Iterator[Path]:
    """The model with its outlined functions inlined, because tags in functions are relative. It is written beside the
    model, so that external data need not be copied."""
    if is_mlir(file) or not has_functions(file):
        yield file
        return
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".onnx") as flat:
        native.run("htp-onnx", file, "--htp-inline", "-o", flat.name)
        yield Path(flat.name)


def _onnx(file: Path) -> Check:
    check = Check("onnx")
    if is_mlir(file):
        check.skipped = "not an ONNX file"
        return check
    try:
        import onnx
    except ImportError:
        check.skipped = "onnx is not installed"
        return check
    try:
        onnx.checker.check_model(str(file))
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        check.problems = lines[:SHOWN] or [type(error).__name__]
    return check


def _tags(file: Path, model: TaggedModel) -> Check:
    """Checks that every node in the file has a tag and a scope that agree with the tree in the file."""
    check = Check("tags")
    if is_mlir(file):
        check.skipped = "not an ONNX file"
        return check
    tags = {path: module.tag for path, module in model.modules.items()}
    count = 0
    for node in raw_nodes(file):
        problem = _problem(node.metadata, tags)
        if problem:
            count += 1
            if count <= SHOWN:
                check.problems.append(f"{node.op_type} {node.label!r}: {problem}")
    if count > SHOWN:
        check.problems.append(f"… and {count - SHOWN} more")
    return check


def _problem(metadata: dict[str, str], tags: dict[str, str]) -> str:
    tag, scope = metadata.get("htp.tag"), metadata.get("htp.scope")
    if tag is None or scope is None:
        return f"no {'htp.tag' if tag is None else 'htp.scope'}"
    if scope not in tags:
        return f"htp.scope is {scope!r}, which is not a module in the tree"
    if tag != tags[scope]:
        return f"htp.tag is {tag!r}, but the module {scope!r} has the tag {tags[scope]!r}"
    return ""


def _verify(file: Path, contamination: bool) -> list[Check]:
    """The findings of --htp-verify-tags: errors, and operations of another layer as warnings."""
    checks = [Check("tree"), *([Check("contamination")] if contamination else [])]
    verifying = native.Running(
        native.program_for(file), [*read_input(file), "--htp-verify-tags", "-o", os.devnull]
    )
    try:
        verifying.wait()
    except ProgramFailed as error:
        checks[0].problems = _errors(str(error))
        if contamination:
            checks[1].skipped = "the tags do not agree with the tree"
        return checks
    if contamination:
        checks[1].problems = [
            line for line in verifying.warnings.splitlines() if "is contaminated" in line
        ]
    return checks


def _errors(text: str) -> list[str]:
    """The errors in a program's messages, or all lines if none is an error."""
    lines = text.splitlines()
    return [line for line in lines if "error:" in line][:SHOWN] or lines[:SHOWN]


def _numeric(file: Path, reference: Path, model: TaggedModel) -> Check:
    """Checks that the outputs equal those of another model (the untagged or the flat one) for the same inputs."""
    check = Check("numeric")
    try:
        import numpy
        import onnxruntime
    except ImportError:
        raise MissingPackage("onnxruntime", "the numeric check", "onnx") from None
    onnxruntime.set_default_logger_severity(4)
    try:
        sessions = [
            onnxruntime.InferenceSession(str(f), providers=["CPUExecutionProvider"])
            for f in (reference, file)
        ]
        feeds = _feeds(sessions[0], numpy)
        wanted, found = (session.run(None, feeds) for session in sessions)
    except Exception as error:
        check.problems = [str(error).splitlines()[0]]
        return check
    for output, a, b in zip(sessions[0].get_outputs(), wanted, found):
        if problem := _difference(a, b, numpy):
            where = f" (made by the module {_maker(model, output.name)})"
            check.problems.append(f"output {output.name!r}{where}: {problem} in {reference}")
    return check


def _difference(wanted: Any, found: Any, numpy: Any) -> str:
    """How two outputs differ: the number of different values, and the worst of them."""
    if wanted.shape != found.shape:
        return f"its shape is {list(found.shape)}, {list(wanted.shape)}"
    close = numpy.isclose(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)
    if close.all():
        return ""
    error = numpy.where(close, 0, numpy.abs(found.astype(float) - wanted.astype(float)))
    error = numpy.where(numpy.isnan(error), numpy.inf, error)
    worst = numpy.unravel_index(int(error.argmax()), error.shape)
    place = list(map(int, worst))
    return (
        f"{int((~close).sum())} of {close.size} values differ, most at {place}: "
        f"{found[worst]} here, {wanted[worst]}"
    )


def _maker(model: TaggedModel, output: str) -> str:
    try:
        return repr(model.node(output).scope)
    except HTPError:
        return "unknown"


def _feeds(session: Any, numpy: Any) -> dict[str, Any]:
    generator = numpy.random.default_rng(0)
    feeds = {}
    for value in session.get_inputs():
        shape = [size if isinstance(size, int) else 2 for size in value.shape]
        kind = value.type.removeprefix("tensor(").removesuffix(")")
        if kind in ("float", "double", "float16"):
            name = {"float": "float32", "double": "float64"}.get(kind, kind)
            feeds[value.name] = generator.standard_normal(shape).astype(name)
        elif kind == "bool":
            feeds[value.name] = numpy.ones(shape, dtype=bool)
        else:
            feeds[value.name] = generator.integers(0, 2, shape).astype(kind)
    return feeds
