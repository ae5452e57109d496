"""Weights that are broken or say nothing: no crash, no parameter that is not theirs, and a message where the
file is wrong.

RUN: rm -rf %t && mkdir %t && %python %s %t htp-onnx %htp_src/python | FileCheck %s
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, numpy_helper
from onnx.helper import (
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor_value_info,
)

FOLDER, PROGRAM = Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, sys.argv[3])

import torch  # noqa: E402

from htp.sketches import sketch  # noqa: E402

LAYERS, SIZE, BLOCK, HURT = 6, 64, 32, 3
VALUE = np.random.default_rng(0).standard_normal((LAYERS, SIZE, SIZE)).astype(np.float32)


def write_trace():
    """A chain of linear layers; nothing but the sketch says whose a weight is."""
    modules = [{"path": "", "class": "Net", "qualified": "n.Net", "torch_nn": False, "calls": 1}]
    modules[0]["parameters"] = []
    ops = []
    for i, weight in enumerate(VALUE):
        path = f"layer{i}"
        parameter = {"name": "weight", "kind": "parameter", "shape": [SIZE, SIZE]}
        parameter |= {"dtype": "float32", "sketch": sketch(torch.from_numpy(weight))}
        module = {"path": path, "class": "Part", "qualified": "n.Part", "torch_nn": False}
        modules.append(module | {"calls": 1, "parameters": [parameter]})
        inputs = [{"value": i}, {"parameter": f"{path}.weight"}]
        op = {"kind": "aten::linear", "module": path, "call": 0, "inputs": inputs}
        ops.append(op | {"outputs": [{"value": i + 1}]})
    trace = {"format": "htp-trace", "version": 1, "producer": {"name": "by hand"}}
    trace |= {"modules": modules, "ops": ops, "outputs": [{"value": LAYERS}]}
    trace["inputs"] = [{"value": 0, "name": "x", "shape": [1, SIZE], "dtype": "float32"}]
    (FOLDER / "trace.json").write_text(json.dumps(trace))


def initializer(name, array):
    return numpy_helper.from_array(np.ascontiguousarray(array), name)


# --- how a weight is stored: gives nodes and initializers of layer i, the product's name is y<i + 1> ------------


def plain(i, weight):
    return [make_node("MatMul", [f"y{i}", f"w{i}"], [f"y{i + 1}"])], [
        initializer(f"w{i}", weight.T)
    ]


def eight_bits(i, weight, scales=None, zeros=None):
    """One scale a row of the parameter, a column of what is stored."""
    own = np.abs(weight).max(axis=1) / 127
    data = np.round(weight / own[:, None]).astype(np.int8).T
    scales = own.astype(np.float32) if scales is None else scales
    zeros = np.zeros(SIZE, np.int8) if zeros is None else zeros
    nodes = [
        make_node("DequantizeLinear", [f"q{i}", f"s{i}", f"z{i}"], [f"d{i}"], axis=1),
        make_node("MatMul", [f"y{i}", f"d{i}"], [f"y{i + 1}"]),
    ]
    arrays = {"q": data, "s": scales, "z": zeros}
    return nodes, [initializer(f"{k}{i}", v) for k, v in arrays.items()]


def four_bits(weight):
    blocks = weight.reshape(SIZE, SIZE // BLOCK, BLOCK)
    scales = (np.abs(blocks).max(axis=2) / 7).astype(np.float32)
    codes = (np.round(blocks / scales[:, :, None]) + 8).astype(np.uint8)
    return codes[:, :, ::2] | codes[:, :, 1::2] << 4, scales


def packed(i, weight, data=None, scales=None, zeros=None, **attributes):
    own, own_scales = four_bits(weight)
    data = own if data is None else data
    arrays = {"q": data, "s": own_scales if scales is None else scales}
    if zeros is not None:
        arrays["z"] = zeros
    inputs = [f"y{i}", *(f"{k}{i}" for k in arrays)]
    how = dict(K=SIZE, N=SIZE, bits=4, block_size=BLOCK) | attributes
    node = make_node("MatMulNBits", inputs, [f"y{i + 1}"], domain="com.microsoft", **how)
    return [node], [initializer(f"{k}{i}", v) for k, v in arrays.items()]


def table(i, weight, **attributes):
    """A table of rows in blocks, of which some are gathered; for the third input of a product it makes no sense,
    but the file is about the table."""
    data, scales = four_bits(weight)
    how = dict(bits=4, block_size=BLOCK, quantize_axis=1, gather_axis=0) | attributes
    inputs = [f"q{i}", f"all{i}", f"s{i}"]
    nodes = [
        make_node("GatherBlockQuantized", inputs, [f"d{i}"], domain="com.microsoft", **how),
        make_node("Transpose", [f"d{i}"], [f"t{i}"], perm=[1, 0]),
        make_node("MatMul", [f"y{i}", f"t{i}"], [f"y{i + 1}"]),
    ]
    arrays = {"q": data.reshape(SIZE, -1), f"all{i}": np.arange(SIZE), "s": scales}
    return nodes, [initializer(k if k[0] == "a" else f"{k}{i}", v) for k, v in arrays.items()]


# --- running ---------------------------------------------------------------------------------------------------


def model_with(store, **hurt):
    nodes, tensors = [], []
    for i, weight in enumerate(VALUE):
        options = dict(hurt) if i == HURT else {}
        own = options.pop("weight", weight)
        some, more = store(i, own, **options)
        nodes += some
        tensors += more
    ends = [make_tensor_value_info(n, TensorProto.FLOAT, [1, SIZE]) for n in ("y0", f"y{LAYERS}")]
    graph = make_graph(nodes, "g", ends[:1], ends[1:], initializer=tensors)
    opsets = [make_opsetid("", 21), make_opsetid("com.microsoft", 1)]
    return make_model(graph, opset_imports=opsets, ir_version=10)


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
    write_trace()
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
