"""HTP: which nn.Module did this ONNX node come from?

    import htp

    tagged = htp.export(model, args, "model.onnx")
    tagged.node("/encoder/layer.0/attention/self/MatMul").tag
    tagged.nodes_in("encoder.layer.0")

Reading tags needs no other package; exporting needs torch. All tagging is done by the native
program htp-opt.
"""

from __future__ import annotations

from importlib import metadata as _metadata

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
from .explaining import explain
from .export import export
from .iree import Compilation, CompiledModel, load_compiled
from .iree import compile_model as compile
from .model import Context, Initializer, Module, Node, Parameter, TaggedModel
from .profiling import Profile, profile
from .selecting import Selection, select
from .tagging import load, outline, tag

try:
    __version__ = _metadata.version("htp")
except _metadata.PackageNotFoundError:  # a source tree on the path
    __version__ = "0.1.0"

__all__ = [
    "BadInput",
    "Compilation",
    "CompiledModel",
    "Context",
    "Difference",
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
    "TraceFailed",
    "compile",
    "diff",
    "explain",
    "export",
    "load",
    "load_compiled",
    "outline",
    "profile",
    "select",
    "tag",
]
