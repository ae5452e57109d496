# A file whose nodes are not in topological order: sorted in MLIR, with the places that export restores.
#
# RUN: %python %s %t.onnx
# RUN: htp-opt %t.onnx | FileCheck %s
# RUN: htp-opt %t.onnx -o %t.mlir
# RUN: htp-opt %t.mlir -o %t.out.onnx
# RUN: cmp %t.onnx %t.out.onnx
#
# CHECK:      "onnx.Cast"
# CHECK-SAME:   onnx.position = 3
# CHECK:      "onnx.Relu"
# CHECK-SAME:   onnx.position = 0
# CHECK:      "onnx.If"
# CHECK:        onnx.position = 1
#
# Only what others wait for moves: Abs could run before the Cast, but stays where it is.
# CHECK:      "onnx.Abs"
# CHECK-SAME:   onnx.position = 2
#
# Nothing is noted where the order is right already.
# RUN: %python %s %t.sorted.onnx sorted
# RUN: htp-opt %t.sorted.onnx | FileCheck %s --check-prefix=SORTED
# SORTED-NOT: onnx.position

import sys

from onnx import TensorProto, helper

FLOAT, BOOL = TensorProto.FLOAT, TensorProto.BOOL


def body(name):
    """A branch that reads a value of the graph around it."""
    node = helper.make_node("Neg", ["cast"], [name], name=f"neg_{name}")
    return helper.make_graph([node], name, [], [helper.make_tensor_value_info(name, FLOAT, [4])])


nodes = [
    helper.make_node("Relu", ["cast"], ["y"], name="relu"),
    helper.make_node("If", ["b"], ["z"], name="if", then_branch=body("t"), else_branch=body("e")),
    helper.make_node("Abs", ["a"], ["w"], name="abs"),
    helper.make_node("Cast", ["x"], ["cast"], name="cast", to=FLOAT),
]
if sys.argv[2:] == ["sorted"]:
    nodes = nodes[3:] + nodes[:3]
inputs = [
    helper.make_tensor_value_info("x", TensorProto.FLOAT16, [4]),
    helper.make_tensor_value_info("b", BOOL, []),
    helper.make_tensor_value_info("a", FLOAT, [4]),
]
outputs = [helper.make_tensor_value_info(n, FLOAT, [4]) for n in ("y", "z", "w")]
model = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs), ir_version=8)
with open(sys.argv[1], "wb") as file:
    file.write(model.SerializeToString(deterministic=True))
