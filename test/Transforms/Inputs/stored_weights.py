"""A chain of linear layers without names, its weights stored in several ways, and its trace, in which nothing but
sketches says whose a weight is."""

import json
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, numpy_helper
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))

import torch  # noqa: E402

from htp.sketches import sketch  # noqa: E402

LAYERS, SIZE, BLOCK = 6, 64, 32


def weights(seed):
    shape = (LAYERS, SIZE, SIZE)
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def write_trace(path, values):
    modules = [{"path": "", "class": "Net", "qualified": "n.Net", "torch_nn": False, "calls": 1}]
    modules[0]["parameters"] = []
    ops = []
    for i, weight in enumerate(values):
        name = f"layer{i}"
        parameter = {"name": "weight", "kind": "parameter", "shape": [SIZE, SIZE]}
        parameter |= {"dtype": "float32", "sketch": sketch(torch.from_numpy(weight))}
        module = {"path": name, "class": "Part", "qualified": "n.Part", "torch_nn": False}
        modules.append(module | {"calls": 1, "parameters": [parameter]})
        inputs = [{"value": i}, {"parameter": f"{name}.weight"}]
        op = {"kind": "aten::linear", "module": name, "call": 0, "inputs": inputs}
        ops.append(op | {"outputs": [{"value": i + 1}]})
    trace = {"format": "htp-trace", "version": 1, "producer": {"name": "by hand"}}
    trace |= {"modules": modules, "ops": ops, "outputs": [{"value": LAYERS}]}
    trace["inputs"] = [{"value": 0, "name": "x", "shape": [1, SIZE], "dtype": "float32"}]
    path.write_text(json.dumps(trace))


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


def model_of(nodes, tensors):
    ends = [make_tensor_value_info(n, TensorProto.FLOAT, [1, SIZE]) for n in ("y0", f"y{LAYERS}")]
    graph = make_graph(nodes, "g", ends[:1], ends[1:], initializer=tensors)
    opsets = [make_opsetid("", 21), make_opsetid("com.microsoft", 1)]
    return make_model(graph, opset_imports=opsets, ir_version=10)
