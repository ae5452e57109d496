"""Models that are wrong: exit code 1, one error that names the file and the node or tensor, no output.

RUN: rm -rf %t && mkdir %t && %python %s %t htp-opt | FileCheck %s
"""

import subprocess
import sys
from pathlib import Path

from onnx import ModelProto, NodeProto, TensorProto
from onnx.helper import (
    make_attribute,
    make_function,
    make_graph,
    make_model,
    make_node,
    make_opsetid,
    make_tensor,
    make_tensor_value_info,
)

FOLDER, PROGRAM = Path(sys.argv[1]), sys.argv[2]
FLOAT = TensorProto.FLOAT


def check(name, model):
    """Prints "name: message" if everything is as it should be."""
    source, target = FOLDER / f"{name}.onnx", FOLDER / f"{name}.out.onnx"
    source.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    done = subprocess.run([PROGRAM, source, "-o", target], capture_output=True, text=True)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    assert done.returncode == 1, f"{name}: exit code {done.returncode}"
    assert not target.exists(), f"{name}: left an output"
    assert len(errors) == 1, f"{name}: {done.stderr}"
    assert source.name in errors[0], f"{name} is not named in: {errors[0]}"
    print(f"{name}: {errors[0].split('error: ', 1)[1]}")


def model_of(*nodes, inputs=("x",), outputs=("y",), **fields):
    graph = make_graph(
        nodes,
        "g",
        [make_tensor_value_info(i, FLOAT, [2, 3]) for i in inputs],
        [make_tensor_value_info(o, FLOAT, [2, 3]) for o in outputs],
        **fields,
    )
    return make_model(graph, opset_imports=[make_opsetid("", 21)])


def relu(source="x", target="y", **fields):
    return make_node("Relu", [source], [target], **fields)


def with_tensor(**fields):
    model = model_of(relu())
    lists = {key: fields.pop(key) for key in list(fields) if isinstance(fields[key], list)}
    tensor = model.graph.initializer.add(name="w", **fields)
    for key, values in lists.items():
        getattr(tensor, key).extend(values)
    return model


# CHECK: cycle: node 'first' (Add) uses value 'b', which depends on its own output through node 'second' (Relu): the graph has a cycle
check(
    "cycle",
    model_of(
        make_node("Add", ["x", "b"], ["a"], name="first"), relu("a", "b", name="second"), relu("b")
    ),
)
# CHECK: self: node 'loop' (Add) uses value 'y', {{.*}} the graph has a cycle
check("self", model_of(make_node("Add", ["x", "y"], ["y"], name="loop")))
# CHECK: undefined: node #0 (Relu) uses value 'nope', which nothing produces
check("undefined", model_of(relu("nope")))
# CHECK: undefined-output: graph output 'y' is a value that nothing produces
check("undefined-output", model_of(relu("x", "z")))
# CHECK: twice: node 'again' (Relu) defines value 'y', which is already defined
check("twice", model_of(relu(), relu(name="again")))
# CHECK: twice-input: graph input 'x' defines value 'x', which is already defined
check("twice-input", model_of(relu(), inputs=("x", "x")))
# CHECK: twice-initializer: initializer 'w' is defined twice
check("twice-initializer", model_of(relu(), initializer=[make_tensor("w", FLOAT, [1], [1.0])] * 2))

# CHECK: no-operator: node 'r' has no operator
check("no-operator", model_of(NodeProto(input=["x"], output=["y"], name="r")))
# CHECK: inputs: node 'mm': 'onnx.MatMul' op has 1 inputs, but version 13 of MatMul has 2
check("inputs", model_of(make_node("MatMul", ["x"], ["y"], name="mm")))
# CHECK: outputs: node 'r': 'onnx.Relu' op has 2 outputs, but version 14 of Relu has 1
check("outputs", model_of(make_node("Relu", ["x"], ["y", "z"], name="r")))
# CHECK: attribute: node 'r': 'onnx.Relu' op has an attribute 'alpha', which version 14 of Relu does not have
check("attribute", model_of(relu(name="r", alpha=1.0)))
# CHECK: attribute-type: node 'c': 'onnx.Concat' op has attribute 'axis' = 1.500000e+00 : f32, but version 13 of Concat wants an integer
check("attribute-type", model_of(make_node("Concat", ["x"], ["y"], name="c", axis=1.5)))
# CHECK: attribute-missing: node 'Concat#0': 'onnx.Concat' op has no attribute 'axis', which version 13 of Concat requires
check("attribute-missing", model_of(make_node("Concat", ["x"], ["y"])))
repeated = model_of(make_node("Concat", ["x"], ["y"], name="c", axis=1))
repeated.graph.node[0].attribute.append(make_attribute("axis", 1))
# CHECK: attribute-twice: node 'c' (Concat) has attribute 'axis' twice
check("attribute-twice", repeated)

negative = model_of(relu())
negative.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -3
# CHECK: negative-input: graph input 'x' has a negative dimension, -3
check("negative-input", negative)
# CHECK: negative: initializer 'w' has a negative dimension, -2
check("negative", with_tensor(data_type=FLOAT, dims=[-2], raw_data=b"1234"))
# CHECK: overflow: initializer 'w' has dimensions whose product overflows
check("overflow", with_tensor(data_type=FLOAT, dims=[2**40, 2**40], raw_data=b"1234"))
# CHECK: short: initializer 'w' has 4 bytes of data, but tensor<2xf32> takes 8
check("short", with_tensor(data_type=FLOAT, dims=[2], raw_data=b"1234"))
# CHECK: long: initializer 'w' has 12 bytes of data, but tensor<2xf32> takes 8
check("long", with_tensor(data_type=FLOAT, dims=[2], float_data=[1.0, 2.0, 3.0]))
# CHECK: empty: initializer 'w' has 0 bytes of data, but tensor<1099511627776xf32> takes 4398046511104
check("empty", with_tensor(data_type=FLOAT, dims=[2**40]))
# CHECK: strings: initializer 'w' has 1 strings of data, but tensor<2x!onnx.String> takes 2
check("strings", with_tensor(data_type=TensorProto.STRING, dims=[2], string_data=[b"x"]))
# CHECK: data-type: initializer 'w' has data type 99, which ONNX does not have
check("data-type", with_tensor(data_type=99, dims=[2], raw_data=b"12"))
# CHECK: data-twice: initializer 'w' has its data twice, in float_data and raw_data
check("data-twice", with_tensor(data_type=FLOAT, dims=[1], raw_data=b"1234", float_data=[1.0]))
# CHECK: wrong-field: initializer 'w' has its data in int64_data, but elements of type FLOAT belong in float_data
check("wrong-field", with_tensor(data_type=FLOAT, dims=[1], int64_data=[1]))
constant = TensorProto(data_type=FLOAT, dims=[5], raw_data=b"1234")
# CHECK: constant: node 'c' (Constant) attribute 'value' has 4 bytes of data, but tensor<5xf32> takes 20
check("constant", model_of(make_node("Constant", [], ["y"], name="c", value=constant)))

branch = make_graph(
    [relu("nope", "r", name="inner")], "b", [], [make_tensor_value_info("r", FLOAT, None)]
)
# CHECK: branch: node 'inner' (Relu) uses value 'nope', which nothing produces
check("branch", model_of(make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch)))
good = make_graph([relu("x", "r")], "b", [], [make_tensor_value_info("r", FLOAT, None)])
# CHECK: one-branch: node 'if': 'onnx.If' op has no attribute 'else_branch', which version 21 of If requires
check("one-branch", model_of(make_node("If", ["x"], ["y"], name="if", then_branch=good)))
calls = model_of(make_node("F", ["x"], ["y"], domain="d"))
calls.functions.append(
    make_function("d", "F", ["a"], ["b"], [relu("nope", "b")], [make_opsetid("", 21)])
)
# CHECK: function: node #0 (Relu) uses value 'nope', which nothing produces
check("function", calls)

# CHECK: no-graph: {{.*}}no graph
check("no-graph", ModelProto(ir_version=8))


def field(number, payload):
    """A length-delimited field, by hand: the depth is beyond what protobuf builds."""
    size, prefix = len(payload), bytes([number << 3 | 2])
    while size > 127:
        prefix += bytes([size & 127 | 128])
        size >>= 7
    return prefix + bytes([size]) + payload


graph = b""
for _ in range(5000):
    graph = field(1, field(5, field(6, graph)))
# CHECK: deep: {{.+}}
check("deep", field(7, graph))
