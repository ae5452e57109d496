#!/usr/bin/env python3
"""Properties that must hold for every model, tested on random ones.

properties.py --bin build/bin [--count 200] [--seed 1] [--only NUMBER …] [--keep FOLDER]

strip     a model that is tagged and stripped equals the original
inline    a tagged model that is outlined and inlined equals the original; outlined, it computes the same, and onnx.checker accepts it
extract   an extracted module computes what it computes in the model
threads   one thread or many: the same bytes
names     other names of values: the same tags
order     initializers or nodes in another order: the same tags
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import onnx
import onnxruntime
from random_models import SHAPE, random_model, rename_values, reorder

SILENT = onnxruntime.SessionOptions()
SILENT.log_severity_level = 4
SILENT.intra_op_num_threads = 1
SILENT.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
PROPERTIES: dict[str, Callable[["Case"], None]] = {}


def holds(function: Callable[["Case"], None]) -> Callable[["Case"], None]:
    PROPERTIES[function.__name__] = function
    return function


class Case:
    """A random model, as a file and tagged."""

    def __init__(self, programs: Path, folder: Path, seed: object):
        self.programs, self.folder, self.random = programs, folder, Random(f"case {seed}")
        self.model = random_model(seed)
        self.source = self.save("source.onnx", self.model)
        self.tagged = self.htp(self.source, "--htp-tag", "tagged.onnx")
        self.checked, self.expected = self.judge()

    def judge(self) -> tuple[bool, dict[str, np.ndarray] | None]:
        """Whether onnx.checker accepts the model (not where it is out of order), and what ONNX Runtime makes of it, where it takes
        it (not where two nodes have one name)."""
        try:
            onnx.checker.check_model(self.model)
            checked = True
        except onnx.checker.ValidationError:
            checked = False
        try:
            return checked, run(self.source, self.inputs())
        except Exception:
            return checked, None

    def save(self, name: str, model: onnx.ModelProto) -> Path:
        path = self.folder / name
        path.write_bytes(model.SerializeToString())
        return path

    def htp(
        self, source: Path, option: str, name: str, *more: str, program: str = "htp-onnx"
    ) -> Path:
        target = self.folder / name
        command = [self.programs / program, source, option, *more, "-o", target]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise AssertionError(f"{option}: exit code {done.returncode}: {done.stderr[:600]}")
        return target

    def inputs(self) -> dict[str, np.ndarray]:
        count = int(np.prod(SHAPE))
        x = (np.arange(count, dtype=np.float32) / 5 - 0.7).reshape(SHAPE)
        return {"x": x, "y": np.sin(x)}


def run(model: onnx.ModelProto | Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    data = model.read_bytes() if isinstance(model, Path) else model.SerializeToString()
    session = onnxruntime.InferenceSession(data, SILENT, providers=["CPUExecutionProvider"])
    wanted = {i.name: inputs[i.name] for i in session.get_inputs()}
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, wanted)))


def require_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert list(one) == list(other), f"outputs {list(other)}, expected {list(one)}"
    for name in one:
        assert np.array_equal(one[name], other[name], equal_nan=True), f"output {name} differs"


def require_equal(one: Path, other: Path) -> None:
    if one.read_bytes() != other.read_bytes():
        a, b = onnx.load(one), onnx.load(other)
        assert a == b, f"{other.name} is not {one.name}"


def scopes(path: Path) -> dict[str, str]:
    """The module of every node that computes something, by the first value that it makes."""
    model = onnx.load(path)
    found = {}
    for node in model.graph.node:
        if node.op_type == "Constant":
            continue
        entries = {entry.key: entry.value for entry in node.metadata_props}
        found[node.output[0]] = f"{entries['htp.scope']}#{entries.get('htp.call', '')}"
    return found


@holds
def strip(case: Case) -> None:
    require_equal(case.source, case.htp(case.tagged, "--htp-strip", "stripped.onnx"))


@holds
def inline(case: Case) -> None:
    outlined = case.htp(case.tagged, "--htp-outline=min-ops=1", "outlined.onnx")
    require_equal(case.tagged, case.htp(outlined, "--htp-inline", "inlined.onnx"))
    if case.checked:
        onnx.checker.check_model(outlined)
    if case.expected is not None:
        require_same(case.expected, run(outlined, case.inputs()))


@holds
def extract(case: Case) -> None:
    """Checks a few extracted modules, whose inputs and expected outputs are taken from the whole model."""
    if case.expected is None:
        return
    modules = sorted({scope.split("#")[0] for scope in scopes(case.tagged).values()} - {""})
    for module in case.random.sample(modules, min(3, len(modules))):
        option = f"--htp-extract=module={module}"
        part = onnx.load(case.htp(case.tagged, option, "part.onnx"))
        whole = onnx.load(case.source)
        needed = [v.name for v in [*part.graph.input, *part.graph.output]]
        known = {v.name for v in [*whole.graph.input, *whole.graph.output]}
        for name in dict.fromkeys(needed):
            if name not in known:
                whole.graph.output.add().name = name
        types = {v.name: v for v in onnx.shape_inference.infer_shapes(whole).graph.output}
        for output in whole.graph.output:
            output.CopyFrom(types[output.name])
        values = case.inputs() | run(whole, case.inputs())
        expected = {o.name: values[o.name] for o in part.graph.output}
        require_same(expected, run(part, values))


@holds
def threads(case: Case) -> None:
    for option in ("--htp-tag", "--htp-outline=min-ops=1"):
        source = case.source if option == "--htp-tag" else case.tagged
        many = case.htp(source, option, "many.onnx", program="htp-opt")
        one = case.htp(source, option, "one.onnx", "--mlir-disable-threading", program="htp-opt")
        assert one.read_bytes() == many.read_bytes(), option


@holds
def names(case: Case) -> None:
    changed = onnx.load(case.source)
    rename_values(changed, case.random, plain=True)
    tagged = case.htp(case.save("renamed.onnx", changed), "--htp-tag", "renamed.tagged.onnx")
    assert list(scopes(tagged).values()) == list(scopes(case.tagged).values())


@holds
def order(case: Case) -> None:
    changed = onnx.load(case.source)
    reorder(changed.graph.initializer, case.random)
    reorder(changed.graph.node, case.random)
    tagged = case.htp(case.save("reordered.onnx", changed), "--htp-tag", "reordered.tagged.onnx")
    assert scopes(tagged) == scopes(case.tagged)


def failures(programs: Path, seed: object, keep: Path | None = None) -> list[str]:
    """The properties that do not hold for the model of this seed."""
    found = []
    with tempfile.TemporaryDirectory(prefix="htp-properties-") as folder:
        try:
            case = Case(programs, Path(folder), seed)
        except AssertionError as error:
            return [f"{seed}: {error}"]
        for name, check in PROPERTIES.items():
            try:
                check(case)
            except Exception as error:  # the checker and ONNX Runtime have their own classes
                found.append(f"{seed}: {name}: {error}")
        if found and keep:
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(case.source, keep / f"{str(seed).replace('/', '-')}.onnx")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="*")
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    numbers = args.only or range(args.count)
    bad = 0
    for number in numbers:
        found = failures(args.bin.resolve(), f"{args.seed}/{number}", args.keep)
        bad += bool(found)
        for line in found:
            print(line, flush=True)
    print(f"{len(numbers) - bad} of {len(numbers)} models: everything holds")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
