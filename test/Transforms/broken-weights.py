"""Weights that are broken or say nothing: no crash, no parameter that is not theirs, and a message where the
file is wrong.

RUN: rm -rf %t && mkdir %t && %python %s %t htp-onnx | FileCheck %s
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto

sys.path.insert(0, str(Path(__file__).resolve().parent / "Inputs"))

from stored_weights import (  # noqa: E402
    BLOCK,
    SIZE,
    eight_bits,
    four_bits,
    model_of,
    packed,
    plain,
    table,
    weights,
    write_trace,
)

FOLDER, PROGRAM = Path(sys.argv[1]), sys.argv[2]
HURT, VALUE = 3, weights(0)


def model_with(store, **hurt):
    nodes, tensors = [], []
    for i, weight in enumerate(VALUE):
        options = dict(hurt) if i == HURT else {}
        own = options.pop("weight", weight)
        some, more = store(i, own, **options)
        nodes += some
        tensors += more
    return model_of(nodes, tensors)


def check(name, model, recognised):
    """`recognised`: whether the sketch of the hurt weight is still that of its parameter."""
    source, target = FOLDER / f"{name}.onnx", FOLDER / f"{name}.json"
    source.write_bytes(model.SerializeToString())
    command = [PROGRAM, source, f"--htp-tag=trace={FOLDER / 'trace.json'}"]
    done = subprocess.run(
        [*command, f"--op-metadata={target}", "-o="], capture_output=True, text=True
    )
    messages = [x for x in done.stderr.splitlines() if "error: " in x or "warning: " in x]
    said = [x.split("error: ")[-1].split("warning: ")[-1] for x in messages]
    print(f"{name}: exit code {done.returncode}", *said, sep="\n  ")
    if done.returncode:
        assert done.returncode == 1, f"{name}: {done.stderr}"
        return
    facts = json.loads(target.read_text())
    for key, tensor in facts["initializers"].items():
        if parameter := tensor.get("parameter"):
            assert parameter == f"layer{key[1:]}.weight", f"{name}: {key} is {parameter}"
        if key in (f"q{HURT}", f"w{HURT}"):
            recognised_now = bool(parameter)
        elif key[0] in "qw":
            assert parameter, f"{name}: {key} is as it was"
    assert recognised_now == recognised, f"{name}: {recognised_now}"


def main():
    write_trace(FOLDER / "trace.json", VALUE)
    rows, blocks = SIZE, SIZE // BLOCK
    for store in (plain, eight_bits, packed, table):
        check(f"whole-{store.__name__}", model_with(store), True)

    other = VALUE[0]  # what a reader that looks past the end, or at too little, might take it for
    nan, infinite, partly = (VALUE[HURT].copy() for _ in range(3))
    nan[:] = np.nan
    infinite[:, 1] = np.inf
    partly[5, 7] = np.nan
    for title, weight, recognised in (
        ("nan", nan, False),
        ("infinity", infinite, False),
        ("one-nan", partly, True),
        ("equal", np.full_like(nan, 0.5), False),
        ("zero", np.zeros_like(nan), False),
    ):
        check(f"plain-{title}", model_with(plain, weight=weight), recognised)
    scale = np.full(rows, np.nan, np.float32)
    check("scales-nan", model_with(eight_bits, scales=scale), False)
    check("scales-zero", model_with(eight_bits, scales=scale * 0 + 0), False)

    for title, hurt in (
        ("scales-few", dict(scales=np.ones(rows - 1, np.float32))),
        ("scales-many", dict(scales=np.ones((rows, 2), np.float32))),
        ("scales-none", dict(scales=np.ones(0, np.float32))),
        ("zeros-few", dict(zeros=np.zeros(rows - 1, np.int8))),
    ):
        check(f"eight-{title}", model_with(eight_bits, **hurt), False)

    data = four_bits(other)[0]
    for title, hurt in (
        ("short", dict(data=data[: rows // 2])),
        ("scales-few", dict(data=data, scales=np.ones((rows, blocks - 1), np.float32))),
        ("zeros-few", dict(data=data, zeros=np.zeros(rows - 1, np.uint8))),
        ("huge", dict(N=1 << 62, K=1 << 62)),
        ("negative", dict(N=-1)),
        ("bits-0", dict(bits=0)),
        ("block-0", dict(block_size=0)),
    ):
        check(f"four-{title}", model_with(packed, **hurt), False)
    for title, hurt in (("bits-0", dict(bits=0)), ("block-0", dict(block_size=0))):
        check(f"table-{title}", model_with(table, **hurt), False)

    model = model_with(plain)
    tensor = next(t for t in model.graph.initializer if t.name == f"w{HURT}")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "gone.data"), ("offset", "0"), ("length", str(4 * SIZE**2))):
        tensor.external_data.add(key=key, value=value)
    check("data-gone", model, False)
    (FOLDER / "gone.data").write_bytes(VALUE[0].T.tobytes()[:-4])
    check("data-short", model, False)


main()
