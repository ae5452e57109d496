"""Compiles a tagged model with IREE: each distinct layer once, with a cache."""

from __future__ import annotations

import os
import shutil
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import native
from ..errors import BadInput, HTPWarning
from ..onnxfile import has_functions, is_mlir
from ..scratch import Scratch
from ..tagging import StrPath, read_input
from .cache import Cache, default_folder
from .compiler import Compiler
from .folder import MANIFEST, programs, read_manifest

#: Modules with fewer operations stay in the main program: calling another file would cost as much as it saves.
LEAST_OPERATIONS = 8


@dataclass(frozen=True)
class Program:
    """A program that was compiled, or found in the cache."""

    name: str
    calls: tuple[str, ...]  # paths of the modules whose calls it runs; empty for the main program
    cached: bool
    seconds: float


@dataclass
class Compilation:
    """The result of `htp.compile`."""

    path: Path
    programs: list[Program] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def compiled(self) -> list[str]:
        """Names of the programs that were not in the cache."""
        return [program.name for program in self.programs if not program.cached]


def compile_model(
    model: StrPath,
    output: StrPath,
    *,
    classes: Iterable[str] = (),
    jobs: int | None = None,
    flags: Sequence[str] = (),
    cache: StrPath | None = None,
    progress: Callable[[str], None] | None = None,
) -> Compilation:
    """Compiles a tagged model with IREE into a folder that `htp.load_compiled` runs.

    Each distinct layer is a file of its own, compiled once no matter how often the model calls it. If the
    same layer was compiled before, for any model, it is taken from the cache. Layers are the outermost
    modules that the model calls repeatedly, or the modules of `classes`. `flags` are passed to
    iree-compile; unless they select a target, it compiles for this machine's processor. `jobs` files are
    compiled at once (default: number of processors).
    """
    start = time.perf_counter()
    target = Path(output)
    if target.exists() and not target.is_dir():
        raise BadInput(f"cannot write {target}: it is a file, expected a folder")
    if jobs is not None and jobs < 1:
        raise BadInput(f"cannot run {jobs} jobs, expected at least 1")
    say = progress or (lambda text: None)
    compiler = Compiler(tuple(flags))
    store = Cache(Path(cache) if cache else default_folder())
    target.parent.mkdir(parents=True, exist_ok=True)
    with Scratch(f".{target.name}.", target.parent) as scratch:
        made = scratch / "made"
        made.mkdir()
        say(f"outlining {model}")
        manifest = write_folder(model, made, classes)
        if open_layers := layers_with_open_sizes(made, manifest):
            warnings.warn(
                f"sizes in the signature of {', '.join(open_layers)} are unknown, although the model's inputs "
                "are fixed: IREE does not broadcast dimensions of unknown size, so compare the "
                "outputs (htp.load_compiled) with those of ONNX Runtime",
                HTPWarning,
                stacklevel=2,
            )
        done = _compile_all(made, manifest, compiler, store, jobs or os.cpu_count() or 1, say)
        _move(made, target)
    return Compilation(target, done, time.perf_counter() - start)


def write_folder(model: StrPath, folder: Path, classes: Iterable[str] = ()) -> dict[str, Any]:
    """Runs the native program, which writes a file for each distinct layer and one for the rest."""
    source = read_input(model)
    file = source[0]
    options = [f"min-ops={LEAST_OPERATIONS}"]
    if chosen := list(classes):
        options = [f"classes={','.join(chosen)}", "min-ops=1"]
    if not is_mlir(model) and has_functions(
        model
    ):  # outlined differently, and ONNX functions have no types
        with Scratch("htp-scratch-") as scratch:
            flat = scratch / "flat.onnx"
            native.run("htp-onnx", file, "--htp-inline", "-o", flat)
            return _emit([str(flat), "--htp-attach-hierarchy"], options, folder)
    return _emit(source, options, folder)


def layers_with_open_sizes(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """Layers that take or return tensors of unknown size in a model whose inputs are fixed."""
    if any(not isinstance(size, int) for t in manifest["inputs"] for size in t["shape"]):
        return []
    found = []
    for layer in manifest["layers"]:
        text = (folder / f"{layer['name']}.mlir").read_text(encoding="utf-8")
        signatures = [part.partition("{\n")[0] for part in text.split("func.func")[1:]]
        if any("?" in signature for signature in signatures):
            found.append(layer["name"])
    return found


def _emit(source: Sequence[str], options: Sequence[str], folder: Path) -> dict[str, Any]:
    outline = f"--htp-outline={' '.join(options)}"
    native.run("htp-onnx", *source, "--onnx-infer-shapes", outline, "--emit=iree", "-o", folder)
    return read_manifest(folder)


def _compile_all(
    folder: Path,
    manifest: dict[str, Any],
    compiler: Compiler,
    cache: Cache,
    jobs: int,
    say: Callable[[str], None],
) -> list[Program]:
    identity = compiler.identity
    done: dict[str, Program] = {}
    missing: list[tuple[dict[str, Any], str]] = []
    for program in programs(manifest):
        name, key = program["name"], cache.key(program["digest"], identity)
        if cache.get(key, folder / f"{name}.vmfb"):
            done[name] = Program(name, tuple(program.get("calls", ())), True, 0.0)
        else:
            missing.append((program, key))

    def compile_one(program: dict[str, Any], key: str) -> Program:
        start = time.perf_counter()
        name = program["name"]
        result = folder / f"{name}.vmfb"
        compiler.run(
            folder / f"{name}.mlir",
            result,
            mode=program.get("mode"),
            threads=min(jobs, len(missing)) == 1,
        )
        cache.put(key, result)
        calls = tuple(program.get("calls", ()))
        return Program(name, calls, False, time.perf_counter() - start)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        running = [pool.submit(compile_one, *work) for work in missing]
        try:
            for future in as_completed(running):
                made = future.result()
                done[made.name] = made
                say(f"compiled {made.name} ({len(done)} of {len(programs(manifest))} files)")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [done[program["name"]] for program in programs(manifest)]


def _move(made: Path, target: Path) -> None:
    """Moves the result into place, the manifest last: without it, the folder does not count as a model."""
    target.mkdir(exist_ok=True)
    (target / MANIFEST).unlink(missing_ok=True)
    for file in sorted(made.iterdir(), key=lambda file: file.name == MANIFEST):
        shutil.move(str(file), target / file.name)
