"""Tags ONNX files with the native programs, and reads tags back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import native
from .errors import BadInput
from .files import Outputs
from .model import TaggedModel, read_metadata, temporary_folder
from .notices import Notices
from .onnxfile import check_tagged

StrPath = str | os.PathLike[str]
TagStorage = Literal["metadata", "attribute", "none"]


@dataclass(frozen=True)
class SideFiles:
    """What is written beside a tagged model, named after it."""

    dag: bool = True
    metadata: bool = True
    graphml: bool = False

    def paths(self, model: Path) -> dict[str, Path]:
        """Each file by htp-opt's option for it."""
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


def existing(path: StrPath) -> Path:
    file = Path(path)
    if file.is_dir():
        raise BadInput(f"{file} is a folder, expected a file")
    if not file.exists():
        raise BadInput(f"{file}: no such file")
    return file


def read_input(path: StrPath) -> list[str]:
    """The start of a command line that reads a tagged model."""
    file = existing(path)
    check_tagged(file)
    return [str(file)]


def write(
    source: Sequence[str],
    target: Path,
    outputs: Outputs,
    sides: SideFiles,
    program: native.Standby | None = None,
    notices: Notices | None = None,
) -> TaggedModel:
    """Runs htp-opt into `outputs`; the files get their names when the caller's block ends."""
    paths = sides.paths(target)
    outputs.add(*paths.values())
    metadata = outputs.folder / target.with_suffix(".ops.json").name
    options = [f"--{option}={outputs[path]}" for option, path in paths.items()]
    if not sides.metadata:
        options.append(f"--op-metadata={metadata}")
    with program or native.Standby("htp-opt") as program:
        program.run(*source, "-o", outputs[target], *options)
        if notices:
            notices.add(program.warnings)
    return TaggedModel(target, metadata.read_bytes())


def tag(
    model: StrPath,
    output: StrPath | None = None,
    *,
    trace: StrPath | None = None,
    reference: StrPath | None = None,
    overrides: StrPath | None = None,
    policy: StrPath | None = None,
    force: bool = False,
    tag_storage: TagStorage = "metadata",
    dag: bool = True,
    graphml: bool = False,
) -> TaggedModel:
    """Tags an ONNX file.

    `trace` is a trace.json, a `.pt` or a `.pt2` archive of the PyTorch model; `reference` is the
    same model, tagged before an optimizer ran. One that is of another model is refused; `force` goes
    on with a warning. `overrides` (name of a node, or of a value that it makes, to module) and
    `policy` (rules for conflicts) are JSON files. Writes `output` (by default NAME.tagged.onnx) and
    its DAG and operation metadata beside it.
    """
    source = existing(model)
    target = Path(output) if output else source.with_suffix(".tagged.onnx")
    options = [
        f"{name}={native.quoted(existing(path))}"
        for name, path in (
            ("trace", trace),
            ("reference", reference),
            ("overrides", overrides),
            ("policy", policy),
        )
        if path
    ]
    if force:
        options.append("force")
    command = [str(source), tag_option(options), *storage_options(tag_storage)]
    return _written(command, target, SideFiles(dag=dag, graphml=graphml))


def _written(command: Sequence[str], target: Path, sides: SideFiles) -> TaggedModel:
    """Runs htp-opt, and says what it warned of and which files were there before."""
    notices = Notices()
    try:
        with Outputs(target) as outputs:
            tagged = write(command, target, outputs, sides, notices=notices)
    finally:
        notices.issue(stacklevel=3)
    tagged.warnings, tagged.replaced = notices.texts, outputs.replaced
    return tagged


def tag_option(options: Sequence[str]) -> str:
    return f"--htp-tag={' '.join(options)}" if options else "--htp-tag"


def storage_options(storage: TagStorage) -> list[str]:
    return [] if storage == "metadata" else [f"--tag-storage={storage}"]


def outline(
    model: StrPath, output: StrPath | None = None, *, options: Sequence[str] = (), dag: bool = False
) -> TaggedModel:
    """Turns a tagged model into one with a function for every module, equal ones shared."""
    source = existing(model)
    target = Path(output) if output else source.with_suffix(".outlined.onnx")
    flag = f"--htp-outline={' '.join(options)}" if options else "--htp-outline"
    return _written([*read_input(source), flag], target, SideFiles(dag=dag, metadata=False))


def load(path: StrPath) -> TaggedModel:
    """Reads a tagged model, or the operation metadata (.ops.json) of one. Needs no torch, no onnx."""
    file = existing(path)
    if file.suffix == ".json":
        return TaggedModel(file, read_metadata(file))
    with temporary_folder() as folder:
        metadata = Path(folder) / "ops.json"
        native.run("htp-opt", *read_input(file), f"--op-metadata={metadata}")
        return TaggedModel(file, read_metadata(metadata))
