# Small files that ask for endless inference: 24 functions that call each other twice, vectors of 2³¹ elements. They are read at
# once, what is not inferred is said, and nothing else changes. A claim that the data does not keep is an error, as soon.
# RUN: rm -rf %t && mkdir %t && %python %s %t
# RUN: htp-opt %t/calls.onnx -o %t/out.onnx 2>&1 | FileCheck %s --check-prefix=CALLS
# RUN: cmp %t/calls.onnx %t/out.onnx
# RUN: bash -c 'ulimit -v 4000000; %htp_tools/htp-onnx %t/vector.onnx -o %t/out.onnx' 2>&1 | FileCheck %s --check-prefix=VECTOR
# RUN: cmp %t/vector.onnx %t/out.onnx
# RUN: bash -c 'ulimit -v 4000000; %htp_tools/htp-opt %t/floats.onnx' 2>&1 | FileCheck %s --check-prefix=FLOATS --implicit-check-not=remark
# RUN: bash -c 'ulimit -v 4000000; %htp_tools/htp-opt %t/reshaped.onnx' 2>&1 | FileCheck %s --check-prefix=RESHAPED
# RUN: bash -c 'ulimit -v 4000000; %htp_tools/htp-opt %t/parts.onnx --onnx-infer-shapes' | FileCheck %s --check-prefix=PARTS
# RUN: bash -c 'ulimit -v 4000000; %htp_tools/htp-onnx %t/claim.onnx -o %t/out.onnx; test $? = 1' 2>&1 | FileCheck %s --check-prefix=CLAIM
# RUN: bash -c 'ulimit -v 4000000; %htp_tools/htp-opt %t/many.onnx' 2>&1 | FileCheck %s --check-prefix=MANY
# RUN: htp-opt %t/usual.onnx | FileCheck %s --check-prefix=USUAL

# CALLS: remark: types of what functions compute were not inferred: their calls of each other are too many, or have no end
# VECTOR: remark: shapes that depend on values were not inferred: a vector of integers has more than 65536 elements
# It need not be integers, nor a length that the file states. Other shapes are followed as ever.
# FLOATS: "onnx.Mul"{{.*}} -> tensor<2147483648xf32>
# FLOATS: "onnx.Expand"{{.*}} -> tensor<2147483648xi64>
# FLOATS: "onnx.Reshape"{{.*}} -> tensor<2x3xf32>
# RESHAPED: remark: shapes that depend on values were not inferred: a vector of integers has more than 65536 elements
# RESHAPED: "onnx.Reshape"{{.*}} -> tensor<2147483648xi64>
# RESHAPED: "onnx.Mul"{{.*}} -> tensor<2147483648xi64>
# RESHAPED: "onnx.Reshape"{{.*}} -> tensor<2x3xf32>
# A Split into more parts than it has outputs, or into fewer.
# PARTS: "onnx.Split"{{.*}}num_outputs = 2147483647{{.*}} -> (none, none)
# PARTS: "onnx.Split"{{.*}}num_outputs = 1 : si64{{.*}} -> (none, none)
# PARTS: "onnx.Split"{{.*}}num_outputs = 2 : si64{{.*}} -> (tensor<2xf32>, tensor<2xf32>)
# A constant may claim more than it holds.
# CLAIM: error: node 'c' (Constant) attribute 'value' has 8 bytes of data, but tensor<1099511627776xi64> takes 8796093022208
# MANY: remark: shapes that depend on values were not inferred: vectors have more than 4194304 elements together
# MANY: "onnx.Mul"{{.*}} -> tensor<65536xi64>
# MANY: "onnx.Reshape"{{.*}} -> tensor<2x3xf32>
# A number that is large and no length: values are followed as ever.
# USUAL: "onnx.Reshape"{{.*}} -> tensor<2x100000xf32>
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
VALUES = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]


def save(name, nodes, functions=(), inputs=(), **numbers):
    tensors = [numpy_helper.from_array(np.array(n, np.int64), k) for k, n in numbers.items()]
    graph = helper.make_graph(nodes, "g", [*VALUES[:1], *inputs], VALUES[1:], tensors)
    model = helper.make_model(graph, opset_imports=OPSETS, functions=functions, ir_version=8)
    onnx.save(model, Path(sys.argv[1]) / name)


def call(i, x, y):
    return helper.make_node(f"F{i}", [x], [y], domain="f")


bodies = [[call(i + 1, "x", "t"), call(i + 1, "t", "y")] for i in range(23)]
bodies.append([helper.make_node("Relu", ["x"], ["y"])])
functions = [
    helper.make_function("f", f"F{i}", ["x"], ["y"], body, OPSETS) for i, body in enumerate(bodies)
]
relu = helper.make_node("Relu", ["m"], ["y"])  # the model does not say what type m has
save("calls.onnx", [call(0, "x", "m"), relu], functions)

fill = helper.make_node(
    "ConstantOfShape", ["s"], ["c"], value=numpy_helper.from_array(np.array([1]))
)
cast = helper.make_node("Cast", ["c"], ["d"], to=TensorProto.INT64)
save("vector.onnx", [fill, cast, helper.make_node("Expand", ["x", "d"], ["y"])], s=[2**31])
# [2] and [3] joined to a shape, beside a vector that is none.
join = helper.make_node("Concat", ["s", "t"], ["c"], axis=0)
reshape = helper.make_node("Reshape", ["x", "c"], ["r"])
beside = [join, reshape, helper.make_node("Relu", ["r"], ["y"])]
square = helper.make_node("Mul", ["v", "v"], ["w"])
# The length of such a vector is a shape as any other.
size = [helper.make_node("Shape", ["w"], ["n"]), helper.make_node("Expand", ["one", "n"], ["e"])]
floats = helper.make_tensor_value_info("v", TensorProto.FLOAT, [2**31])
save("floats.onnx", [square, *size, *beside], inputs=[floats], s=[2], t=[3], one=[1])
matrix = helper.make_tensor_value_info("m", TensorProto.INT64, [2**16, 2**15])
flat = helper.make_node("Reshape", ["m", "all"], ["v"])
save("reshaped.onnx", [flat, square, *beside], inputs=[matrix], s=[2], t=[3], all=[-1])
splits = [
    helper.make_node("Split", ["v"], [f"a{n}", f"b{n}"], num_outputs=n) for n in (2**31 - 1, 1, 2)
]
four = helper.make_tensor_value_info("v", TensorProto.FLOAT, [4])
OPSETS[0].version = 18
save("parts.onnx", [*splits, helper.make_node("Relu", ["b2"], ["y"])], inputs=[four])
OPSETS[0].version = 17
claim = numpy_helper.from_array(np.array([1]))
claim.dims[0] = 2**40
constant = helper.make_node("Constant", [], ["i"], "c", value=claim)
gather = helper.make_node("Gather", ["s", "i"], ["g"], axis=0)
save("claim.onnx", [constant, gather, helper.make_node("Expand", ["x", "g"], ["y"])], s=[2, 3])
# 65,536 numbers, multiplied a thousand times.
chain = [helper.make_node("Mul", ["i", f"i{n}" if n else "i"], [f"i{n + 1}"]) for n in range(1000)]
longs = helper.make_tensor_value_info("i", TensorProto.INT64, [65536])
save("many.onnx", [*chain, *beside], inputs=[longs], s=[2], t=[3])
save("usual.onnx", beside, s=[2], t=[100000])
