"""Makes a trace.json from archives that PyTorch saved: TorchScript (`.pt`) and torch.export (`.pt2`).

htp-trace reads them if it can: it links LibTorch and was built for one version of it. If another version is
installed, PyTorch itself loads the archive, and its graph is read here.
"""

from __future__ import annotations

import importlib.metadata
import json
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import native, torchfeatures
from .errors import BadInput, HTPError, MissingPackage, MissingProgram

if TYPE_CHECKING:
    import torch

MODULES = "htp.modules.json"


def is_archive(path: Path) -> bool:
    """Whether a file is a PyTorch archive, judged by its contents."""
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"PK"
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error


def obstacle() -> str:
    """Why htp-trace cannot read archives here; empty if it can."""
    try:
        program = native.find("htp-trace")
    except MissingProgram:
        return "htp-trace is not installed"
    try:
        installed = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return "torch is not installed" if program.parent == native.PACKAGE / "bin" else ""
    note = program.with_name("htp-trace.torch")  # written by the build
    built = note.read_text(encoding="utf-8").strip() if note.is_file() else installed
    if _release(built) != _release(installed):
        return f"htp-trace was built for torch {built}, but {installed} is installed"
    return ""


def _release(version: str) -> list[str]:
    """The release series of a version, such as 2.13 of 2.13.0+cpu: LibTorch's ABI is stable within one."""
    return version.split("+")[0].split(".")[:2]


def read_archive(path: Path) -> dict[str, Any]:
    """The trace in an archive, read by htp-trace or by PyTorch itself."""
    why = obstacle()
    if not why:
        document: dict[str, Any] = json.loads(native.run("htp-trace", path))
        return document
    return _read_with_torch(path, why)


def _read_with_torch(path: Path, why: str) -> dict[str, Any]:
    torchfeatures.check_version()
    try:
        import torch
    except ImportError:
        raise MissingPackage("torch", f"reading {path} ({why})", "torch") from None
    kind = _kind(path)
    try:
        if kind == "script":
            from .scripted import read_script

            with torch.no_grad():
                return read_script(torch.jit.load(str(path), map_location="cpu"))
        extra = {MODULES: ""}
        return read_exported(torch.export.load(str(path), extra_files=extra), extra[MODULES])
    except HTPError:
        raise
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        raise BadInput(
            f"torch {torch.__version__} cannot read {path} ({type(error).__name__}: {first}); {why}"
        ) from error


def _kind(path: Path) -> str:
    """What an archive contains, judged by the names of its records."""
    try:
        with zipfile.ZipFile(path) as archive:
            # Records are in a folder named after the archive, except in programs written before PyTorch 2.7.
            names = [name.partition("/")[2] or name for name in archive.namelist()]
    except (OSError, zipfile.BadZipFile) as error:
        raise BadInput(
            f"{path}: expected a PyTorch archive (.pt or .pt2), which is a zip file ({error})"
        ) from None
    if "constants.pkl" in names and "data.pkl" in names:
        return "script"
    if any(n.startswith("models/") or n == "serialized_exported_program.json" for n in names):
        return "export"
    raise BadInput(
        f"{path}: expected a TorchScript (.pt) or torch.export (.pt2) archive; save "
        "torch.jit.trace(model, inputs) with its save(), or torch.export.export(model, inputs) "
        "with torch.export.save()"
    )


# --- a torch.export program, without its model ---------------------------------------------------


def read_exported(program: torch.export.ExportedProgram, modules: str = "") -> dict[str, Any]:
    """The trace of a program without its model. A program does not mention modules that never ran; `modules`
    is the contents of the extra file htp.modules.json (docs/formats/trace.md), which lists all of them."""
    from .exported import Reader

    classes = dict(_ran(program))
    classes.setdefault("", "Module")
    aliases = _add_listed(classes, modules)
    order = {entry.fqn: place for place, entry in enumerate(program.module_call_graph)}
    paths = sorted(classes, key=lambda path: order.get(path, len(order)) if path else -1)
    entries = {path: _entry(path, classes[path], aliases.get(path, [])) for path in paths}
    _add_parameters(entries, program)
    return Reader(list(entries.values())).read(program)


def _ran(program: torch.export.ExportedProgram) -> Iterator[tuple[str, str]]:
    """The path and the class of each module that ran."""
    import torch

    for graph in program.graph_module.modules():
        if not isinstance(graph, torch.fx.GraphModule):
            continue
        for node in graph.graph.nodes:
            for instance, (where, cls) in (node.meta.get("nn_module_stack") or {}).items():
                if instance != cls:
                    name = cls if isinstance(cls, str) else f"{cls.__module__}.{cls.__qualname__}"
                    yield ".".join(part.partition("@")[0] for part in where.split(".")), name


def _add_listed(classes: dict[str, str], modules: str) -> dict[str, list[str]]:
    """Adds the modules that never ran. Returns the other paths of modules that have several."""
    found: dict[str, list[str]] = {}
    for entry in json.loads(modules) if modules else ():
        paths = [entry["path"], *entry.get("aliases", ())]
        first = next((path for path in paths if path in classes), paths[0])
        classes.setdefault(first, entry["qualified"])
        if others := [path for path in paths if path not in classes]:
            found[first] = others
    return found


def _entry(path: str, qualified: str, aliases: Sequence[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "path": path,
        "class": qualified.rpartition(".")[2],
        "qualified": qualified,
        "torch_nn": bool(path) and qualified.startswith("torch.nn."),
        "calls": 0,
        "parameters": [],
    }
    return entry | ({"aliases": list(aliases)} if aliases else {})


def _add_parameters(
    entries: dict[str, dict[str, Any]], program: torch.export.ExportedProgram
) -> None:
    """Adds each parameter to the deepest module whose path is a prefix of its own."""
    import torch

    from .modules import describe_tensor, memory

    signature = program.graph_signature
    kinds = dict.fromkeys(signature.parameters, "parameter") | dict.fromkeys(
        signature.buffers, "buffer"
    )
    tensors = {**program.state_dict, **program.constants}
    first: dict[Any, str] = {}
    for path in [*kinds, *(path for path in tensors if path not in kinds)]:
        tensor = tensors.get(path)
        kind = kinds.get(path, "constant" if path in program.constants else "parameter")
        if not isinstance(tensor, torch.Tensor) or kind == "constant":
            continue  # the reader adds the constants that are used
        owner = path.rpartition(".")[0]
        while owner not in entries:
            owner = owner.rpartition(".")[0]
        described = describe_tensor(path.removeprefix(f"{owner}."), kind, tensor)
        if (same := first.setdefault(memory(tensor), path)) != path:
            described["tied"] = same
        entries[owner]["parameters"].append(described)
