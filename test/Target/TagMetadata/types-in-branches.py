# Two blocks with a branch share a function. The first one's branch does not say what type it gives, the second one's does: that type is
# not known in the function, and comes back with the call.
# RUN: %python %s %t.onnx
# RUN: htp-opt %t.onnx --htp-tag -o %t.tagged.onnx
# RUN: htp-opt %t.tagged.onnx --htp-outline -o %t.outlined.onnx
# RUN: htp-opt %t.outlined.onnx | FileCheck %s
# RUN: htp-opt %t.outlined.onnx --htp-inline -o %t.inlined.onnx
# RUN: cmp %t.tagged.onnx %t.inlined.onnx

# CHECK: call @block({{.*}}#htp.tag<"block.0">
# CHECK: call @block({{.*}}#htp.tag<"block.1">
# CHECK-LABEL: func.func private @block
# CHECK: onnx.Yield %{{.*}} : none
# CHECK: onnx.Yield %{{.*}} : tensor<4xf32>
import sys

import onnx
from onnx import TensorProto, helper


def value(name, shape=(4,)):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def block(i, x, y, typed):
    scope, node = f"/block.{i}", helper.make_node
    then = helper.make_graph(
        [node("Relu", [x], [f"{scope}/then"], f"{scope}/Relu")],
        "then",
        [],
        [value(f"{scope}/then") if typed else onnx.ValueInfoProto(name=f"{scope}/then")],
    )
    other = helper.make_graph(
        [node("Neg", [x], [f"{scope}/else"], f"{scope}/Neg")], "else", [], [value(f"{scope}/else")]
    )
    return [
        node("ReduceSum", [x], [f"{scope}/sum"], f"{scope}/ReduceSum", keepdims=0),
        node("Greater", [f"{scope}/sum", "zero"], [f"{scope}/go"], f"{scope}/Greater"),
        node("If", [f"{scope}/go"], [y], f"{scope}/If", then_branch=then, else_branch=other),
    ]


zero = helper.make_tensor("zero", TensorProto.FLOAT, [], [0])
nodes = [*block(0, "x", "a", typed=False), *block(1, "a", "y", typed=True)]
graph = helper.make_graph(nodes, "main", [value("x")], [value("y")], [zero])
opsets = [helper.make_opsetid("", 17)]
onnx.save(helper.make_model(graph, ir_version=8, opset_imports=opsets), sys.argv[1])
