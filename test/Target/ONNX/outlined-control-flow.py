# Modules and control flow: a body goes with its node, whatever modules its own nodes are of; what it captures is an operand.
# The outlined model is valid, computes the same, and comes back byte for byte.
# RUN: %python %s %t.onnx
# RUN: htp-opt %t.onnx --htp-tag -o %t.tagged.onnx
# RUN: htp-opt %t.tagged.onnx --htp-outline -o %t.outlined.onnx
# RUN: %python %s %t.onnx %t.outlined.onnx | FileCheck %s
# RUN: htp-opt %t.outlined.onnx --htp-inline -o %t.inlined.onnx
# RUN: cmp %t.tagged.onnx %t.inlined.onnx
# RUN: htp-opt %t.tagged.onnx --htp-outline="min-ops=1 torch-nn=true" -o %t.all.onnx
# RUN: %python %s %t.onnx %t.all.onnx

# Two blocks with a branch each share a function, and the branch's submodule stays in the branch.
# A module that runs only in a branch of the model itself stays in it.
# CHECK: functions ['block', 'repeat']
# CHECK: calls ['block', 'block', 'repeat']
# CHECK: the same
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper


def value(name, kind=TensorProto.FLOAT, shape=(4,)):
    return helper.make_tensor_value_info(name, kind, shape)


def block(i, x, y):
    """if x.sum() > 0: x * w + m (a submodule of the block) else: x - m, and m comes from outside."""
    scope, graph = f"/block.{i}", helper.make_graph
    node = helper.make_node
    then = graph(
        [
            node("Mul", [x, f"block.{i}.w"], [f"{scope}/inner/Mul_output_0"], f"{scope}/inner/Mul"),
            node(
                "Add", [f"{scope}/inner/Mul_output_0", "m"], [f"{scope}/then"], f"{scope}/inner/Add"
            ),
        ],
        "then",
        [],
        [value(f"{scope}/then")],
    )
    other = graph(
        [node("Sub", [x, "m"], [f"{scope}/else"], f"{scope}/Sub")],
        "else",
        [],
        [value(f"{scope}/else")],
    )
    return [
        node("ReduceSum", [x], [f"{scope}/sum"], f"{scope}/ReduceSum", keepdims=0),
        node(
            "Greater", [f"{scope}/sum", "zero"], [f"{scope}/Greater_output_0"], f"{scope}/Greater"
        ),
        node(
            "If",
            [f"{scope}/Greater_output_0"],
            [y],
            f"{scope}/If",
            then_branch=then,
            else_branch=other,
        ),
    ]


def loop(x, y):
    """for _ in range(3): x = relu(x + m), of a module whose loop's body is another module's."""
    node = helper.make_node
    body = helper.make_graph(
        [
            node("Identity", ["go"], ["go_on"], "/repeat/Identity"),
            node("Add", ["carried", "m"], ["/repeat/step/Add_output_0"], "/repeat/step/Add"),
            node("Relu", ["/repeat/step/Add_output_0"], ["next"], "/repeat/step/Relu"),
        ],
        "body",
        [value("i", TensorProto.INT64, ()), value("go", TensorProto.BOOL, ()), value("carried")],
        [value("go_on", TensorProto.BOOL, ()), value("next")],
    )
    return [
        node("Neg", [x], ["/repeat/Neg_output_0"], "/repeat/Neg"),
        node("Loop", ["three", "", "/repeat/Neg_output_0"], [y], "/repeat/Loop", body=body),
    ]


def head(x, y):
    """if x.sum() > 0: relu(-x), of a module that runs nowhere else, else: x."""
    node, graph = helper.make_node, helper.make_graph
    then = graph(
        [
            node("Neg", [x], ["/head/Neg_output_0"], "/head/Neg"),
            node("Relu", ["/head/Neg_output_0"], ["/head/Relu_output_0"], "/head/Relu"),
        ],
        "then",
        [],
        [value("/head/Relu_output_0")],
    )
    other = graph([node("Identity", [x], ["same"], "/Identity")], "else", [], [value("same")])
    return [
        node("ReduceSum", [x], ["/ReduceSum_output_0"], "/ReduceSum", keepdims=0),
        node("Greater", ["/ReduceSum_output_0", "zero"], ["/Greater_output_0"], "/Greater"),
        node("If", ["/Greater_output_0"], [y], "/If", then_branch=then, else_branch=other),
    ]


def make():
    tensor = helper.make_tensor
    graph = helper.make_graph(
        [*block(0, "x", "a"), *block(1, "a", "b"), *loop("b", "c"), *head("c", "y")],
        "main",
        [value("x"), value("m")],
        [value("y")],
        [
            tensor("block.0.w", TensorProto.FLOAT, [4], [1, 2, 3, 4]),
            tensor("block.1.w", TensorProto.FLOAT, [4], [4, 3, 2, 1]),
            tensor("zero", TensorProto.FLOAT, [], [0]),
            tensor("three", TensorProto.INT64, [], [3]),
        ],
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def run(path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    values = np.array([-1.5, 0.5, 1.0, 2.0], np.float32)
    return [
        session.run(None, {"x": sign * values, "m": values[::-1].copy()})[0] for sign in (1, -1)
    ]


if len(sys.argv) == 2:
    onnx.save(make(), sys.argv[1])
else:
    onnx.checker.check_model(sys.argv[2], full_check=True)
    model = onnx.load(sys.argv[2])
    names = sorted(function.name for function in model.functions)
    print("functions", names)
    print("calls", [node.op_type for node in model.graph.node if node.op_type in names])
    for expected, got in zip(run(sys.argv[1]), run(sys.argv[2])):
        np.testing.assert_array_equal(expected, got)
    print("the same")
