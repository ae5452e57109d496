"""Runs compiled models with IREE's runtime."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import BadInput, HTPError, MissingPackage
from .folder import programs, read_manifest

_TYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "i1": "bool",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
    **{
        f"{sign}i{bits}": f"{'u' * (sign == 'u')}int{bits}"
        for sign in "su"
        for bits in (8, 16, 32, 64)
    },
}


@dataclass(frozen=True)
class Tensor:
    """An input, an output or a weight. A dynamic dimension is given by its name, or None."""

    name: str
    type: str
    shape: tuple[int | str | None, ...]

    @property
    def dtype(self) -> str:
        """Its element type in numpy."""
        if self.type not in _TYPES:
            raise BadInput(f"{self.name!r} has the element type {self.type}, which numpy lacks")
        return _TYPES[self.type]


def _tensor(entry: Mapping[str, Any]) -> Tensor:
    return Tensor(entry["name"], entry["type"], tuple(entry["shape"]))


class CompiledModel:
    """A model that `htp.compile` made. Call it with its inputs, in order or by name; it returns its outputs by
    name."""

    def __init__(self, path: str | os.PathLike[str], *, driver: str = "local-task") -> None:
        self.path = Path(path)
        self._manifest = read_manifest(self.path)
        self.inputs = [_tensor(entry) for entry in self._manifest["inputs"]]
        self.outputs = [_tensor(entry) for entry in self._manifest["outputs"]]
        self._runtime, self._numpy = _packages()
        try:
            self._load(driver)
        except (RuntimeError, ValueError) as error:
            raise HTPError(f"IREE cannot load {self.path}: {_first_line(error)}") from error

    @cached_property
    def layers(self) -> dict[str, list[str]]:
        """The modules whose calls each layer runs."""
        return {layer["name"]: layer["calls"] for layer in self._manifest["layers"]}

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        feeds = [
            self._fitting(t, value) for t, value in zip(self.inputs, self._ordered(args, kwargs))
        ]
        try:
            results = self._entry(*feeds)
        except (RuntimeError, ValueError) as error:
            raise HTPError(f"{self.path} does not run: {_first_line(error)}") from error
        if not isinstance(results, (list, tuple)):
            results = [results]
        return {t.name: self._numpy.asarray(r) for t, r in zip(self.outputs, results)}

    def _load(self, driver: str) -> None:
        runtime = self._runtime
        config = runtime.Config(driver)
        modules = [
            runtime.VmModule.mmap(config.vm_instance, str(self._existing(f"{p['name']}.vmfb")))
            for p in programs(self._manifest)
        ]
        context = runtime.SystemContext(vm_modules=modules, config=config)
        main = context.modules.main
        if weights := self._manifest["weights"]:
            main["set_weights"](*(self._weight(entry, config.device) for entry in weights))
        self._entry = main[self._manifest["entry"]]

    def _existing(self, name: str) -> Path:
        file = self.path / name
        if not file.is_file():
            raise BadInput(f"{self.path} lacks {name}: compile the model again")
        return file

    @cached_property
    def _bytes(self) -> Any:
        return self._numpy.memmap(self._existing("weights.bin"), mode="r")

    def _weight(self, entry: Mapping[str, Any], device: Any) -> Any:
        tensor = _tensor(entry)
        raw = self._bytes[entry["offset"] : entry["offset"] + entry["bytes"]]
        return self._runtime.asdevicearray(device, raw.view(tensor.dtype).reshape(tensor.shape))

    def _ordered(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        names = [tensor.name for tensor in self.inputs]
        if unknown := [name for name in kwargs if name not in names]:
            raise BadInput(
                f"{self.path} has no input {unknown[0]!r}; it has {', '.join(map(repr, names))}"
            )
        if len(args) > len(names):
            raise BadInput(f"{self.path} takes {len(names)} inputs, found {len(args)}")
        given = {**dict(zip(names, args)), **kwargs}
        if missing := [name for name in names if name not in given]:
            raise BadInput(f"input {missing[0]!r} is missing")
        return [given[name] for name in names]

    def _fitting(self, tensor: Tensor, value: Any) -> Any:
        array = self._numpy.ascontiguousarray(value)
        if array.dtype != tensor.dtype:
            raise BadInput(f"input {tensor.name!r} is {array.dtype}, expected {tensor.dtype}")
        # ascontiguousarray turns a scalar into a vector
        array = array.reshape(self._numpy.shape(value))
        if len(array.shape) != len(tensor.shape) or any(
            isinstance(wanted, int) and size != wanted
            for size, wanted in zip(array.shape, tensor.shape)
        ):
            wanted = ", ".join("?" if size is None else str(size) for size in tensor.shape)
            raise BadInput(f"input {tensor.name!r} has shape {array.shape}, expected ({wanted})")
        return array


def load_compiled(path: str | os.PathLike[str], *, driver: str = "local-task") -> CompiledModel:
    """Loads a model that `htp.compile` made. `driver` is one of IREE's: local-task (all processors) or
    local-sync (the calling thread)."""
    return CompiledModel(path, driver=driver)


def _packages() -> tuple[Any, Any]:
    try:
        import iree.runtime
        import numpy
    except ImportError:
        raise MissingPackage("iree-base-runtime", "running a compiled model", "iree") from None
    return iree.runtime, numpy


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), repr(error))
