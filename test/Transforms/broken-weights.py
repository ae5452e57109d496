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


def tagged(source, given):
    """Exit code, messages, and what was found: by node its module, by initializer its parameter."""
    facts, target = source.with_suffix(".json"), source.with_suffix(".tagged.onnx")
    command = [PROGRAM, source, f"--htp-tag={given}", f"--op-metadata={facts}", "-o", target]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), f"{source.name}: {done.returncode} {done.stderr}"
    messages = [x for x in done.stderr.splitlines() if "error: " in x or "warning: " in x]
    said = [x.split("error: ")[-1].split("warning: ")[-1] for x in messages]
    found = {} if done.returncode else json.loads(facts.read_text())
    return done.returncode, said, found


def parameters(found):
    """Of stored weights. No node and no initializer is another layer's, whatever is broken."""
    for node in found["nodes"].values():
        layer = max(int(name[1:]) for name in node["outputs"])
        layer -= node["outputs"][0].startswith("y")  # y1 is what layer0 makes
        assert node["scope"] in ("", f"layer{layer}"), node
    known = {}
    for name, tensor in found["initializers"].items():
        parameter = tensor.get("parameter")
        assert parameter in (None, f"layer{name[1:]}.weight"), f"{name} is {parameter}"
        if name[0] in "qw":
            known[int(name[1:])] = parameter
    return known


def check(name, model, recognised):
    """`recognised`: whether the sketch of the hurt weight is still that of its parameter."""
    source = FOLDER / f"{name}.onnx"
    source.write_bytes(model.SerializeToString())
    code, said, found = tagged(source, f"trace={FOLDER / 'trace.json'}")
    print(f"{name}: exit code {code}", *said, sep="\n  ")
    if code:
        return
    known = parameters(found)
    assert bool(known.pop(HURT)) == recognised, name
    assert all(known.values()), f"{name}: the others are as they were: {known}"
    # And as a reference of what was not hurt.
    whole = FOLDER / f"whole-{name.split('-')[name.startswith('whole-')]}.onnx"
    code, said, found = tagged(whole, f"reference={FOLDER / name}.tagged.onnx")
    assert not code, f"{name} as a reference: {said}"
    parameters(found)


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
    check("eight_bits-scales-nan", model_with(eight_bits, scales=scale), False)
    check("eight_bits-scales-zero", model_with(eight_bits, scales=np.zeros_like(scale)), False)

    for title, hurt in (
        ("scales-few", dict(scales=np.ones(rows - 1, np.float32))),
        ("scales-many", dict(scales=np.ones((rows, 2), np.float32))),
        ("scales-none", dict(scales=np.ones(0, np.float32))),
        ("zeros-few", dict(zeros=np.zeros(rows - 1, np.int8))),
    ):
        check(f"eight_bits-{title}", model_with(eight_bits, **hurt), False)

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
        check(f"packed-{title}", model_with(packed, **hurt), False)
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

# CHECK:      whole-plain: exit code 0
# CHECK-NEXT: whole-eight_bits: exit code 0
# CHECK-NEXT: whole-packed: exit code 0
# CHECK-NEXT: whole-table: exit code 0
# CHECK-NEXT: plain-nan: exit code 0
# CHECK-NEXT: plain-infinity: exit code 0
# CHECK-NEXT: plain-one-nan: exit code 0
# CHECK-NEXT: plain-equal: exit code 0
# CHECK-NEXT: plain-zero: exit code 0
# CHECK-NEXT: eight_bits-scales-nan: exit code 0
# CHECK-NEXT: eight_bits-scales-zero: exit code 0
# CHECK-NEXT: eight_bits-scales-few: exit code 0
# CHECK-NEXT: at "DequantizeLinear#6": quantized weights that cannot be read: 63 scales, expected 1 or 64
# CHECK-NEXT: eight_bits-scales-many: exit code 0
# CHECK-NEXT: : 128 scales, expected 1 or 64
# CHECK-NEXT: eight_bits-scales-none: exit code 0
# CHECK-NEXT: : 0 scales, expected 1 or 64
# CHECK-NEXT: eight_bits-zeros-few: exit code 0
# CHECK-NEXT: : 63 zero points, expected one for each of 64 scales
# CHECK-NEXT: packed-short: exit code 0
# CHECK-NEXT: at "MatMulNBits#3": quantized weights that cannot be read: 1024 bytes of packed weights, expected 2048
# CHECK-NEXT: packed-scales-few: exit code 0
# CHECK-NEXT: : 64 scales, expected 128
# CHECK-NEXT: packed-zeros-few: exit code 0
# CHECK-NEXT: : zero points of shape 63, expected them for 128 blocks
# CHECK-NEXT: packed-huge: exit code 0
# CHECK-NEXT: : weights of 4611686018427387904 x 4611686018427387904 elements
# CHECK-NEXT: packed-negative: exit code 0
# CHECK-NEXT: : weights of -1 x 64 elements
# CHECK-NEXT: packed-bits-0: exit code 0
# CHECK-NEXT: : blocks of 32 elements of 0 bits
# CHECK-NEXT: packed-block-0: exit code 0
# CHECK-NEXT: : blocks of 0 elements of 4 bits
# CHECK-NEXT: table-bits-0: exit code 0
# CHECK-NEXT: : elements of 0 bits
# CHECK-NEXT: table-block-0: exit code 0
# CHECK-NEXT: : blocks of 0 elements of 4 bits
# CHECK-NEXT: data-gone: exit code 1
# CHECK-NEXT: tensor 'w3': external data 'gone.data' cannot be opened
# CHECK-NEXT: data-short: exit code 1
# CHECK-NEXT: tensor 'w3': external data 'gone.data' is too short: it has 16380 bytes, the tensor needs 16384
