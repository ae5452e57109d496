"""Tags ONNX models with the native programs, and reads tags back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, overload

from . import native
from .errors import BadInput
from .files import Outputs
from .holding import Held, StrPath, existing, held, held_trace, kept
from .model import TaggedModel, read_metadata
from .notices import Notices
from .onnxfile import check_tagged

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .recording import Trace

_Model = TypeVar("_Model")
TagStorage = Literal["metadata", "compact", "attribute", "none"]


@dataclass(frozen=True)
class SideFiles:
    """Which files are written beside a tagged model, named after it."""

    dag: bool = True
    metadata: bool = True
    graphml: bool = False

    def paths(self, model: Path) -> dict[str, Path]:
        """The path of each file, by the program's option for it."""
        wanted = {
            "dag-json": (self.dag, ".dag.json"),
            "op-metadata": (self.metadata, ".ops.json"),
            "graphml": (self.graphml, ".graphml"),
        }
        return {
            option: model.with_suffix(suffix)
            for option, (chosen, suffix) in wanted.items()
            if chosen
        }


def read_input(path: StrPath) -> list[str]:
    """The beginning of a command line that reads a tagged model."""
    file = existing(path)
    check_tagged(file)
    return [str(file)]


def write(
    source: Sequence[str],
    target: Path,
    outputs: Outputs,
    sides: SideFiles,
    program: native.Standby,
    notices: Notices | None = None,
) -> TaggedModel:
    """Runs the native program into `outputs`; the files get their final names at the end of the caller's block."""
    paths = sides.paths(target)
    outputs.add(*paths.values())
    metadata = outputs.folder / target.with_suffix(".ops.json").name
    options = [f"--{option}={outputs[path]}" for option, path in paths.items()]
    if not sides.metadata:
        options.append(f"--op-metadata={metadata}")
    with program:
        program.run(*source, "-o", outputs[target], *options)
        if notices:
            notices.add(program.warnings)
    return TaggedModel(target, metadata.read_bytes())


class TagOptions(TypedDict, total=False):
    """The options of `tag`."""

    trace: StrPath | Trace | Mapping[str, Any] | None
    reference: Any
    run: Any
    inputs: StrPath | Mapping[str, Any] | None
    overrides: StrPath | None
    policy: StrPath | None
    force: bool
    tag_storage: TagStorage
    dag: bool
    graphml: bool
    progress: Callable[[str], None]


@overload
def tag(
    model: StrPath | TaggedModel, output: StrPath | None = None, **options: Unpack[TagOptions]
) -> TaggedModel: ...


@overload
def tag(model: Any, output: StrPath, **options: Unpack[TagOptions]) -> TaggedModel: ...


@overload
def tag(model: _Model, output: None = None, **options: Unpack[TagOptions]) -> _Model: ...


def tag(
    model: Any,
    output: StrPath | None = None,
    *,
    trace: StrPath | Trace | Mapping[str, Any] | None = None,
    reference: Any = None,
    run: Any = None,
    inputs: StrPath | Mapping[str, Any] | None = None,
    overrides: StrPath | None = None,
    policy: StrPath | None = None,
    force: bool = False,
    tag_storage: TagStorage = "metadata",
    dag: bool = True,
    graphml: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> Any:
    """Tags an ONNX model: a path, bytes, an onnx.ModelProto, an onnx_ir.Model or a torch.onnx.ONNXProgram.

    If the model is a path, writes `output` (by default NAME.tagged.onnx) with its DAG and operation metadata
    beside it, and returns a TaggedModel. A model in memory is returned in the same form with its tags, and
    nothing is written unless `output` is given.

    `trace` is a trace.json, a `.pt` or `.pt2` archive of the PyTorch model, or the result of `htp.trace`; an
    ONNXProgram contains its own. `reference` is the same model, tagged before an optimizer ran. `run` is the
    PyTorch model, as `htp.execute` takes it, or the result of that: both models are run on the same `inputs` (by
    default the PyTorch model's own), and what makes equal values is tagged alike. A trace, a reference or a PyTorch
    model that is another one is an error, or with `force` a warning. `overrides` (maps names of nodes, or of values
    that they make, to modules) and `policy` (rules for resolving conflicts) are JSON files.
    """
    sides = SideFiles(dag=dag, graphml=graphml)
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(held(model))
        if source.kind == "program" and trace is None and reference is None:
            trace = _own_trace(model)
        options = source_options(
            stack, source.path, trace, reference, Run(run, inputs, force, progress)
        )
        for name, path in (("overrides", overrides), ("policy", policy)):
            if path:
                options.append(f"{name}={native.quoted(existing(path))}")
        if force:
            options.append("force")
        flags = [tag_option(options), *storage_options(tag_storage)]
        return _made(source, flags, output, ".tagged.onnx", sides)


@dataclass(frozen=True)
class Run:
    """What is to be run, and how."""

    model: Any = None
    inputs: StrPath | Mapping[str, Any] | None = None
    force: bool = False
    progress: Callable[[str], None] = lambda text: None

    @contextlib.contextmanager
    def held(self, path: Path) -> Iterator[Path | None]:
        """Within the block, what it shows of the model at `path` is a file."""
        if self.model is None:
            if self.inputs is not None:
                raise BadInput("inputs are for a run, but no PyTorch model is given to be run")
            yield None
            return
        from .executing.files import held_execution

        with held_execution(path, self.model, self.inputs, self.force, self.progress) as file:
            yield file


def source_options(
    stack: contextlib.ExitStack, path: Path, trace: Any, reference: Any, run: Run
) -> list[str]:
    """The options of --htp-tag for what else is known about the model at `path`."""
    given = (
        ("trace", stack.enter_context(held_trace(trace))),
        ("reference", stack.enter_context(held(reference)).path if reference else None),
        ("executed", stack.enter_context(run.held(path))),
    )
    return [f"{name}={native.quoted(file)}" for name, file in given if file]


def apply_overrides(model: StrPath, overrides: StrPath) -> TaggedModel:
    """Corrects the tags of a tagged file in place, and in the files beside it."""
    file = existing(model)
    read_input(file)
    paths = SideFiles(graphml=True).paths(file)
    sides = SideFiles(*(paths[name].exists() for name in ("dag-json", "op-metadata", "graphml")))
    options = [f"overrides={native.quoted(existing(overrides))}"]
    with held(file) as source:
        corrected: TaggedModel = _made(source, [tag_option(options)], file, ".onnx", sides)
        return corrected


def _own_trace(program: Any) -> dict[str, Any] | None:
    """The trace that a torch.onnx.ONNXProgram contains, if any."""
    if program.exported_program is None:
        return None
    from .archives import read_exported

    return read_exported(program.exported_program)


def _made(
    source: Held, flags: Sequence[str], output: StrPath | None, suffix: str, sides: SideFiles
) -> Any:
    """Runs the native program on a model and issues its warnings. Returns a TaggedModel if files are written, else
    the result in the form of the input."""
    in_memory = output is None and not source.is_file
    target = Path(output) if output is not None else source.path.with_suffix(suffix)
    notices = Notices()
    try:
        with Outputs(target) as outputs:
            command = [str(source.path), *flags, *data_options(source.path, target)]
            program = native.Standby(native.program_for(source.path))
            if in_memory:
                with program:
                    program.run(*command, "-o", outputs[target])
                notices.add(program.warnings)
            else:
                tagged = write(command, target, outputs, sides, program, notices)
                outputs.add_data(target.with_suffix(".ops.json"))
        if in_memory:
            return source.returned(target)
    finally:
        notices.issue(stacklevel=3)
    tagged.warnings, tagged.replaced = notices.texts, outputs.replaced
    return tagged


def data_options(source: Path, target: Path) -> list[str]:
    """Options with which a model that is written beside another one shares its external data instead of copying it."""
    same = source.parent.resolve() == target.parent.resolve()
    return ["--external-data=link"] if same else []


def tag_option(options: Sequence[str]) -> str:
    return f"--htp-tag={' '.join(options)}" if options else "--htp-tag"


def storage_options(storage: TagStorage) -> list[str]:
    return [] if storage == "metadata" else [f"--tag-storage={storage}"]


def outline(
    model: Any,
    output: StrPath | None = None,
    *,
    classes: Sequence[str] = (),
    modules: Sequence[str] = (),
    max_depth: int | None = None,
    dag: bool = False,
) -> Any:
    """Turns a tagged model into one with a function for every module, or only for those of `classes` or `modules`,
    nested at most `max_depth` deep. Equal modules share a function. Takes and returns a model as `tag` does.
    """
    options = [
        f"{name}={','.join(v)}" for name, v in (("classes", classes), ("modules", modules)) if v
    ]
    if max_depth is not None:
        options.append(f"max-depth={max_depth}")
    flag = f"--htp-outline={' '.join(options)}" if options else "--htp-outline"
    with held(model) as source:
        read_input(source.path)
        return _made(source, [flag], output, ".outlined.onnx", SideFiles(dag=dag, metadata=False))


def extract(model: Any, module: str, output: StrPath | None = None) -> Any:
    """Extracts one module, given by its path or tag, as a separate model. If the model is a path, writes `output` (by
    default NAME.MODULE.onnx) and returns its path. For a model in memory, returns the module in the same form, unless
    `output` says where to write it."""
    with held(model) as source:
        tagged = load(source.path)
        written = tagged.extract(module, output)
        return written if source.is_file or output is not None else source.returned(written)


def load(model: Any, *, nodes: bool = True) -> TaggedModel:
    """Reads a tagged model: a path, its operation metadata (.ops.json), or what `tag` takes. Reading a path needs
    neither torch nor onnx. Without `nodes`, the result has only modules and statistics, which is much less to read for
    a large model."""
    file, folder = kept(model)
    if file.suffix == ".json":
        return TaggedModel(file, read_metadata(file))
    metadata = "--op-metadata" if nodes else "--module-metadata"
    running = native.Running(native.program_for(file), [*read_input(file), metadata])
    tagged = TaggedModel(file, running.read())
    tagged.folder = folder
    return tagged
