"""Of a node that reads the weight of one layer and a bias that is equal in all of them, the weight says whose it is.
A single integer that is equal to a parameter (a zero point or an axis to a counter) is not that parameter.

RUN: rm -rf %t && mkdir %t && %python %s %t htp-onnx | FileCheck %s
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto
from onnx.helper import (
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor,
    make_tensor_value_info,
)

sys.path.insert(0, str(Path(__file__).resolve().parent / "Inputs"))

from stored_weights import SIZE, initializer, weights  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from models import fingerprint  # noqa: E402

FOLDER, PROGRAM = Path(sys.argv[1]), sys.argv[2]
PARTS = dict(zip(("query", "key", "value", "other"), weights(0)))
BIAS = np.zeros(SIZE, np.float32)


def described(name, array):
    shape = {"name": name, "kind": "parameter", "shape": list(array.shape), "dtype": "float32"}
    return shape | {"hash": "0" * 16, "values_hash": fingerprint(array)}


# Four layers read the same value, and what they make is added up: nothing but the weights tells them apart.
modules = [{"path": "", "class": "Net", "qualified": "n.Net", "torch_nn": False, "calls": 1}]
# XXH3-64 of eight zero bytes.
count = {
    "name": "count",
    "kind": "buffer",
    "shape": [],
    "dtype": "int64",
    "hash": "c77b3abb6f87acd9",
}
modules[0]["parameters"] = [count | {"values_hash": fingerprint(np.zeros(1, np.int32))}]
ops = []
for i, (name, weight) in enumerate(PARTS.items()):
    module = {"path": name, "class": "Part", "qualified": "n.Part", "torch_nn": False, "calls": 1}
    modules.append(module | {"parameters": [described("weight", weight), described("bias", BIAS)]})
    inputs = [{"value": 0}, {"parameter": f"{name}.weight"}, {"parameter": f"{name}.bias"}]
    op = {"kind": "aten::linear", "module": name, "call": 0, "inputs": inputs}
    ops.append(op | {"outputs": [{"value": i + 1}]})
for i in range(3):
    inputs = [{"value": i + 4 if i else 1}, {"value": i + 2}, {"constant": 1}]
    op = {"kind": "aten::add", "module": "", "call": 0, "inputs": inputs}
    ops.append(op | {"outputs": [{"value": i + 5}]})
trace = {"format": "htp-trace", "version": 1, "producer": {"name": "by hand"}, "modules": modules}
trace |= {"ops": ops, "outputs": [{"value": 7}]}
trace["inputs"] = [{"value": 0, "name": "x", "shape": [1, SIZE], "dtype": "float32"}]
(FOLDER / "trace.json").write_text(json.dumps(trace))

# An optimizer stored the bias once, and put the products into another order.
order = ("other", "key", "value", "query")
nodes = [make_node("Gemm", ["x", f"w{n}", "b"], [f"y{n}"]) for n in range(4)]
nodes += [
    make_node("Add", ["y0" if not n else f"s{n}", f"y{n + 1}"], [f"s{n + 1}"]) for n in range(3)
]
tensors = [initializer(f"w{n}", PARTS[name].T) for n, name in enumerate(order)]
ends = [make_tensor_value_info(n, TensorProto.FLOAT, [1, SIZE]) for n in ("x", "s3")]
tensors += [initializer("b", BIAS), make_tensor("zero", TensorProto.UINT8, [], [0])]
tensors.append(make_tensor("axis", TensorProto.INT64, [1], [0]))
graph = make_graph(nodes, "g", ends[:1], ends[1:], tensors)
model = make_model(graph, opset_imports=[make_opsetid("", 21)], ir_version=10)
(FOLDER / "model.onnx").write_bytes(model.SerializeToString())

facts = FOLDER / "facts.json"
flags = [f"--htp-tag=trace={FOLDER / 'trace.json'}", f"--op-metadata={facts}", "-o="]
subprocess.run([PROGRAM, FOLDER / "model.onnx", *flags], check=True)
written = json.loads(facts.read_text())
for name in ("zero", "axis"):
    print(name, written["initializers"].get(name, {}).get("parameter"))
for node in written["nodes"].values():
    print(node["op_type"], node["outputs"][0], node["scope"] or "root")

# CHECK:      zero None
# CHECK-NEXT: axis None
# CHECK-NEXT: Gemm y0 other
# CHECK-NEXT: Gemm y1 key
# CHECK-NEXT: Gemm y2 value
# CHECK-NEXT: Gemm y3 query
# CHECK-NEXT: Add s1 root
# CHECK-NEXT: Add s2 root
# CHECK-NEXT: Add s3 root
