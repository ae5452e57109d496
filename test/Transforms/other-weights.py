"""The same architecture with other weights is told apart, in 4 bits too, where the model has a table that is no weight:
it is equal in both.

RUN: rm -rf %t && mkdir %t && %python %s %t htp-onnx | FileCheck %s
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx.helper import make_node

sys.path.insert(0, str(Path(__file__).resolve().parent / "Inputs"))

from stored_weights import (  # noqa: E402
    LAYERS,
    SIZE,
    initializer,
    model_of,
    packed,
    plain,
    weights,
    write_trace,
)

FOLDER, PROGRAM = Path(sys.argv[1]), sys.argv[2]
TABLE = np.cos(np.arange(SIZE, dtype=np.float32))
SEEDS = {"a": 0, "b": 1}


def write(path, store, seed):
    """Every layer has a bias, which stays as it is; the table is the first thing that is read."""
    nodes = [make_node("Mul", ["y0", "table"], ["x0"])]
    tensors = [initializer("table", TABLE)]
    biases = np.random.default_rng(seed + 100).standard_normal((LAYERS, SIZE)).astype(np.float32)
    for i, (weight, bias) in enumerate(zip(weights(seed), biases)):
        some, more = store(i, weight)
        some[-1].input[0], some[-1].output[0] = f"x{i}", f"p{i}"
        target = f"x{i + 1}" if i + 1 < LAYERS else f"y{LAYERS}"
        some.append(make_node("Add", [f"p{i}", f"b{i}"], [target]))
        for node in some:  # names that are kept say that it is the same model
            node.name = f"/layer{i}/{node.op_type}"
        nodes += some
        tensors += [*more, initializer(f"b{i}", bias)]
    path.write_bytes(model_of(nodes, tensors).SerializeToString())


def tag(source, given, *more):
    command = [PROGRAM, source, f"--htp-tag={given}", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    told = "of another model: " in done.stderr
    assert told or not done.returncode, done.stderr
    return "told" if told else "accepted"


for name, seed in SEEDS.items():
    write_trace(FOLDER / f"{name}.trace.json", weights(seed))
    write(FOLDER / f"{name}.plain.onnx", plain, seed)
    write(FOLDER / f"{name}.packed.onnx", packed, seed)
    trace = f"trace={FOLDER / name}.trace.json"
    tagged = FOLDER / f"{name}.tagged.onnx"
    assert tag(FOLDER / f"{name}.plain.onnx", trace, "-o", tagged) == "accepted"
for form in ("plain", "packed"):
    for kind, ending in (("trace", "trace.json"), ("reference", "tagged.onnx")):
        for own in SEEDS:
            outcomes = [
                tag(FOLDER / f"{own}.{form}.onnx", f"{kind}={FOLDER / of}.{ending}", "-o=")
                for of in SEEDS
            ]
            print(form, kind, own, *outcomes)

# CHECK:      plain trace a accepted told
# CHECK-NEXT: plain trace b told accepted
# CHECK-NEXT: plain reference a accepted told
# CHECK-NEXT: plain reference b told accepted
# CHECK-NEXT: packed trace a accepted told
# CHECK-NEXT: packed trace b told accepted
# CHECK-NEXT: packed reference a accepted told
# CHECK-NEXT: packed reference b told accepted
