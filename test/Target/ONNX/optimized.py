"""CSE and canonicalization leave a model that ONNX Runtime runs with equal outputs, and make it smaller.

RUN: rm -rf %t && mkdir %t && %python %s %t htp-opt | FileCheck %s
CHECK: equal outputs
CHECK-NEXT: 4 of 6 nodes
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto
from onnx.helper import (
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor,
    make_tensor_value_info,
)

FOLDER, PROGRAM = Path(sys.argv[1]), sys.argv[2]


def info(name, shape=(2, 3)):
    return make_tensor_value_info(name, TensorProto.FLOAT, shape)


# Both branches read a value that CSE merges with another; so is one of the outputs.
branches = {
    name: make_graph([make_node(op, ["b"], [name])], name, [], [info(name)])
    for name, op in (("then", "Neg"), ("else", "Abs"))
}
nodes = [
    make_node("Add", ["x", "w"], ["a"], name="first"),
    make_node("Add", ["x", "w"], ["b"], name="second"),
    make_node("Sqrt", ["a"], ["dead"]),
    make_node("Exp", ["a"], ["y"]),
    make_node("If", ["c"], ["z"], then_branch=branches["then"], else_branch=branches["else"]),
    make_node("Mul", ["y", "z"], ["r"]),
]
inputs = [info("x"), make_tensor_value_info("c", TensorProto.BOOL, [])]
graph = make_graph(
    nodes,
    "g",
    inputs,
    [info("r"), info("b")],
    [make_tensor("w", TensorProto.FLOAT, [3], [1, 2, 3])],
)
model = make_model(graph, opset_imports=[make_opsetid("", 17)], ir_version=8)
source, target = FOLDER / "in.onnx", FOLDER / "out.onnx"
onnx.save(model, source)
subprocess.run([PROGRAM, source, "--cse", "--canonicalize", "-o", target], check=True)
optimized = onnx.load(target)
onnx.checker.check_model(optimized, full_check=True)


def run(path, condition):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    return session.run(["r", "b"], {"x": x, "c": np.array(condition)})


for condition in (True, False):
    for a, b in zip(run(source, condition), run(target, condition)):
        np.testing.assert_array_equal(a, b)
print("equal outputs")
# The dead node is gone, and the two sums are one.
print(len(optimized.graph.node), "of", len(nodes), "nodes")
