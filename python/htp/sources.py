"""Loads a model that is given on the command line, and makes example inputs for it."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import torchfeatures
from .errors import BadInput, HTPError, HTPWarning, MissingPackage


@dataclass
class Source:
    """A model with an example call."""

    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    name: str


def load_source(
    text: str,
    specs: Mapping[str, Any] | None,
    *,
    batch: int = 1,
    cache: bool = False,
    arrays: Mapping[str, Any] | None = None,
) -> Source:
    """Loads a Hugging Face name or local folder, `package.module:factory`, or a `.py` file[:factory].

    A factory returns the model, or a pair of the model and its inputs (a tuple of positional or a dict of
    keyword arguments). If neither the factory nor `specs` gives inputs, they are `arrays` (by name) or, without
    these, made from the model's config. With `cache`, the call of a decoder is its second step: one more token, with the cache that the
    first step returned.
    """
    torchfeatures.check_version()
    try:
        import torch
    except ImportError:
        raise MissingPackage("torch", "htp export", "torch") from None
    head, _, factory = text.rpartition(":")
    if head.endswith(".py") or text.endswith(".py"):
        path, factory = (head, factory) if head.endswith(".py") else (text, "")
        made = _call_factory(_load_file(Path(path)), factory, text)
        name = Path(path).stem
    elif head and not os.path.isdir(text):
        made = _call_factory(_load_module(head), factory, text)
        name = factory
    else:
        made = _from_pretrained(text, cache)
        name = Path(text.rstrip("/")).name
    model, inputs = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if not isinstance(model, torch.nn.Module):
        raise BadInput(f"{text} returned a {type(model).__name__}, expected an nn.Module")
    if specs is not None:
        inputs = inputs_from_specs(specs, batch)
    elif inputs is None and arrays:
        inputs = _from_arrays(model, arrays)
    elif inputs is None:
        inputs = inputs_from_config(model, batch)
    if cache:
        inputs = _next_step(model, inputs)
    if isinstance(inputs, Mapping):
        return Source(model, (), dict(inputs), name)
    return Source(
        model, tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,), {}, name
    )


def _from_arrays(model: Any, arrays: Mapping[str, Any]) -> Any:
    """Arguments by name, if the model has arguments of these names, otherwise by position."""
    import inspect

    import torch

    tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    known = inspect.signature(model.forward).parameters
    return tensors if all(name in known for name in tensors) else tuple(tensors.values())


def _load_file(path: Path) -> Any:
    if not path.is_file():
        raise BadInput(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # classes look up their module by name
    with _local_imports(path.parent):
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise BadInput(f"cannot load {path}: {type(error).__name__}: {error}") from error
    return module


def _load_module(name: str) -> Any:
    with _local_imports(Path.cwd()):
        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise BadInput(f"cannot import {name}: {error}") from error


@contextlib.contextmanager
def _local_imports(folder: Path) -> Any:
    sys.path.insert(0, str(folder.resolve()))
    try:
        yield
    finally:
        sys.path.remove(str(folder.resolve()))


def _call_factory(module: Any, factory: str, text: str) -> Any:
    name = factory or "build"
    made = getattr(module, name, None)
    if made is None:
        hint = "" if factory else f"; choose another factory with {text}:FACTORY"
        raise BadInput(f"{module.__file__ or module.__name__} has no {name!r}{hint}")
    if not callable(made):
        return made
    try:
        import torch

        return made if isinstance(made, torch.nn.Module) else made()
    except HTPError:
        raise
    except Exception as error:
        raise BadInput(f"{text} failed: {type(error).__name__}: {error}") from error


def _from_pretrained(name: str, cache: bool) -> Any:
    """A Hugging Face model by name or folder; made from its config if there are no weights."""
    try:
        import transformers
    except ImportError:
        raise MissingPackage("transformers", f"loading {name!r}", "transformers") from None
    folder = Path(name)
    try:
        config = transformers.AutoConfig.from_pretrained(name)
        if getattr(config, "use_cache", False) and not cache:
            config.use_cache = False
            warnings.warn(
                "the model is exported without its key/value cache (--use-cache keeps it)",
                HTPWarning,
                stacklevel=3,
            )
        cls = _class_of(config, transformers)
        if folder.is_dir() and not any(
            f.suffix in (".bin", ".safetensors") for f in folder.iterdir()
        ):
            return cls(config) if cls else transformers.AutoModel.from_config(config)  # type: ignore[no-untyped-call]
        return (cls or transformers.AutoModel).from_pretrained(name, config=config)
    except (OSError, ValueError, ImportError, KeyError) as error:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        raise BadInput(f"cannot load {name!r}: {first}") from error


def _class_of(config: Any, transformers: Any) -> Any:
    """The class that the model was saved from, according to its config."""
    names = getattr(config, "architectures", None) or []
    return getattr(transformers, names[0], None) if names else None


def _next_step(model: Any, inputs: Any) -> dict[str, Any]:
    """The inputs of the step after a call: the cache that it returned, and one more token."""
    import torch

    if not isinstance(inputs, Mapping):
        raise BadInput("--use-cache needs inputs by name")
    try:
        with torch.no_grad():
            cache = getattr(model.eval()(**inputs, use_cache=True), "past_key_values", None)
    except TypeError as error:
        raise BadInput(f"--use-cache: {error}") from error
    if cache is None:
        raise BadInput(f"--use-cache: {type(model).__name__} returns no past_key_values")
    tokens = "decoder_input_ids" if "decoder_input_ids" in inputs else "input_ids"
    step = {**inputs, tokens: inputs[tokens][:, -1:], "past_key_values": cache, "use_cache": True}
    if tokens == "input_ids" and "attention_mask" in inputs:
        mask = inputs["attention_mask"]
        step["attention_mask"] = torch.cat([mask, mask[:, -1:]], dim=1)
    return step


# --- inputs --------------------------------------------------------------------------------------

_TYPES = "float32 float16 bfloat16 float64 int64 int32 int16 int8 uint8 bool".split()


def read_specs(text: str) -> dict[str, Any]:
    """Reads --input-specs: JSON, or a JSON file."""
    try:
        content = text if text.lstrip().startswith("{") else Path(text).read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot read {text}: {error.strerror}") from error
    try:
        specs = json.loads(content)
    except ValueError as error:
        raise BadInput(f"--input-specs is not JSON: {error}") from error
    if not isinstance(specs, dict) or not specs:
        raise BadInput(
            f'--input-specs must be {{"name": {{"shape": […], "dtype": …}}}}, found {specs!r}'
        )
    return specs


def inputs_from_specs(specs: Mapping[str, Any], batch: int = 1) -> dict[str, Any]:
    """Makes tensors from specifications: shape, dtype, range ([low, high], inclusive), or value."""
    import torch

    inputs = {}
    generator = torch.Generator().manual_seed(0)
    for name, spec in specs.items():
        where = f"input spec {name!r}"
        if not isinstance(spec, Mapping):
            raise BadInput(f"{where} must be an object with shape and dtype, found {spec!r}")
        unknown = set(spec) - {"shape", "dtype", "range", "value"}
        if unknown:
            raise BadInput(f"{where} has {sorted(unknown)}, expected shape, dtype, range and value")
        dtype = spec.get("dtype", "float32")
        if dtype not in _TYPES:
            raise BadInput(f"{where} has dtype {dtype!r}, expected one of {', '.join(_TYPES)}")
        if "value" in spec:
            inputs[name] = torch.tensor(spec["value"], dtype=getattr(torch, dtype))
            continue
        shape = spec.get("shape")
        if not isinstance(shape, list) or not all(isinstance(d, int) and d >= 0 for d in shape):
            raise BadInput(f"{where} has shape {shape!r}, expected a list of sizes")
        inputs[name] = _filled(where, shape, dtype, spec.get("range"), generator)
        if batch > 1 and shape and shape[0] == 1:
            inputs[name] = torch.cat([inputs[name]] * batch)
    return inputs


def _filled(where: str, shape: list[int], dtype: str, bounds: Any, generator: Any) -> Any:
    import torch

    kind = getattr(torch, dtype)
    if bounds is not None and (
        not isinstance(bounds, list)
        or len(bounds) != 2
        or not all(isinstance(b, (int, float)) for b in bounds)
        or bounds[0] > bounds[1]
    ):
        raise BadInput(f"{where} has range {bounds!r}, expected [low, high]")
    if kind.is_floating_point:
        low, high = bounds or (0.0, 1.0)
        return (low + (high - low) * torch.rand(shape, generator=generator)).to(kind)
    low, high = bounds or (0, 1)
    return torch.randint(int(low), int(high) + 1, shape, generator=generator).to(kind)


def inputs_from_config(model: Any, batch: int = 1) -> dict[str, Any]:
    """Makes inputs for a model that describes them: by its main input, its forward and its config."""
    import torch

    config = getattr(model, "config", None)
    main = getattr(model, "main_input_name", None)
    if config is None or main is None:
        raise BadInput(
            f"{type(model).__name__} does not say what inputs it takes: pass them (--input-specs of htp export, "
            "--run of htp tag), or let the factory return (model, inputs)"
        )
    import inspect

    names = inspect.signature(model.forward).parameters
    text = getattr(config, "text_config", config)
    inputs: dict[str, Any] = {}
    if main in ("pixel_values", "input_values", "input_features") or "pixel_values" in names:
        if "pixel_values" in names:
            inputs["pixel_values"] = _image(config, batch)
        elif main == "input_values":
            inputs[main] = torch.randn(batch, 16000)
        else:
            bins = getattr(config, "num_mel_bins", 80)
            length = 2 * getattr(config, "max_source_positions", 1500)
            inputs[main] = torch.randn(batch, bins, length)
    if "input_ids" in names:
        length = min(16, getattr(text, "max_position_embeddings", None) or 16)
        vocabulary = getattr(text, "vocab_size", None) or 100
        inputs["input_ids"] = torch.randint(min(3, vocabulary - 1), vocabulary, (batch, length))
        if "attention_mask" in names:
            inputs["attention_mask"] = torch.ones(batch, length, dtype=torch.long)
        if getattr(config, "is_encoder_decoder", False) and "decoder_input_ids" in names:
            inputs["decoder_input_ids"] = inputs["input_ids"][:, :8].clone()
    if not inputs:
        raise BadInput(
            f"no inputs could be made for {type(model).__name__} (main input {main!r}): "
            "pass --input-specs"
        )
    return inputs


def _image(config: Any, batch: int) -> Any:
    import torch

    vision = getattr(config, "vision_config", config)
    size = getattr(vision, "image_size", None) or 224
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    return torch.randn(batch, getattr(vision, "num_channels", None) or 3, height, width)
