# Another tool has made the types of an outlined model's graph more specific than those of its functions. A copy says the same, and so
# does the model without functions.
# RUN: rm -rf %t && mkdir %t && %python %s %t
# RUN: htp-opt %t/model.onnx --htp-tag --htp-outline=min-ops=1 -o %t/outlined.onnx
# RUN: %python %s %t %t/outlined.onnx
# RUN: htp-opt %t/specific.onnx -o %t/copy.onnx
# RUN: cmp %t/specific.onnx %t/copy.onnx
# RUN: htp-opt %t/specific.onnx --htp-inline | FileCheck %s
# RUN: htp-opt %t/specific.onnx --htp-inline -o %t/inlined.onnx
# RUN: htp-opt %t/inlined.onnx | FileCheck %s --check-prefix=INLINED

# CHECK: onnx.value_info = [{name = "h", stated = tensor<2x3xf32>}]
# INLINED: "onnx.Relu"{{.*}} -> tensor<2x3xf32>
import sys

import onnx
from onnx import TensorProto, helper


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


if len(sys.argv) == 2:
    nodes = [
        helper.make_node("Relu", ["x"], ["h"], "/act/Relu"),
        helper.make_node("Neg", ["h"], ["y"], "/Neg"),
    ]
    ends = [value(name, [None, 3]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], value_info=[value("h", [None, 3])])
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    onnx.save(model, f"{sys.argv[1]}/model.onnx")
else:
    model = onnx.load(sys.argv[2])
    assert model.functions, "the test is about a call"
    [info] = model.graph.value_info
    info.type.tensor_type.shape.dim[0].dim_value = 2
    onnx.save(model, f"{sys.argv[1]}/specific.onnx")
