"""HTP: which nn.Module did this ONNX node come from?

    import htp

    tagged = htp.export(model, args, "model.onnx")
    tagged.node("/encoder/layer.0/attention/self/MatMul").tag
    tagged.nodes_in("encoder.layer.0")

Reading tags needs no other package; exporting needs torch. All tagging is done by the native
programs. Names are loaded on first use, so that `htp --version` does not load everything.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .batching import Batch, batch
    from .comparison import Comparison, baseline, compare
    from .diffing import Difference, diff
    from .errors import (
        BadInput,
        ExportFailed,
        HTPError,
        HTPWarning,
        MissingPackage,
        MissingProgram,
        NotTagged,
        ProgramFailed,
        TraceFailed,
    )
    from .executing.files import Execution, execute
    from .explaining import explain
    from .exporting import export
    from .iree import Compilation, CompiledModel, load_compiled
    from .iree import compile_model as compile
    from .model import Context, Initializer, Module, Node, Parameter, TaggedModel
    from .profiling import Profile, profile
    from .recording import Trace, trace
    from .selecting import Selection, select
    from .tagging import extract, load, outline, tag
    from .validation import Check, validate
    from .viewing import view

#: The public names that each module defines.
_MODULES = {
    "batching": "Batch batch",
    "comparison": "Comparison baseline compare",
    "diffing": "Difference diff",
    "errors": "BadInput ExportFailed HTPError HTPWarning MissingPackage MissingProgram NotTagged ProgramFailed TraceFailed",
    "executing.files": "Execution execute",
    "explaining": "explain",
    "exporting": "export",
    "iree": "Compilation CompiledModel load_compiled compile",
    "model": "Context Initializer Module Node Parameter TaggedModel",
    "profiling": "Profile profile",
    "recording": "Trace trace",
    "selecting": "Selection select",
    "tagging": "extract load outline tag",
    "validation": "Check validate",
    "viewing": "view",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
#: Public names that differ from those in the defining module.
_ORIGINAL = {"compile": "compile_model"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(
            importlib.import_module(f".{_HOMES[name]}", __name__), _ORIGINAL.get(name, name)
        )
        globals()[name] = value
        return value
    try:
        return importlib.import_module(f".{name}", __name__)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


__all__ = [
    "__version__",
    "BadInput",
    "Batch",
    "Check",
    "Comparison",
    "Compilation",
    "CompiledModel",
    "Context",
    "Difference",
    "Execution",
    "ExportFailed",
    "HTPError",
    "HTPWarning",
    "Initializer",
    "MissingPackage",
    "MissingProgram",
    "Module",
    "Node",
    "NotTagged",
    "Parameter",
    "Profile",
    "ProgramFailed",
    "Selection",
    "TaggedModel",
    "Trace",
    "TraceFailed",
    "baseline",
    "batch",
    "compare",
    "compile",
    "diff",
    "execute",
    "explain",
    "export",
    "extract",
    "load",
    "load_compiled",
    "outline",
    "profile",
    "select",
    "tag",
    "trace",
    "validate",
    "view",
]
