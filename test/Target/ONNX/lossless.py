"""Models that use what the format allows, one corner each; all must come back equal.

RUN: rm -rf %t && %python %s %t && htp-roundtrip %t | FileCheck %s
CHECK: {{^}}[[N:[0-9]+]] models: [[N]] equal directly, [[N]] through text, [[N]] through bytecode
"""

import struct
import sys
from pathlib import Path

import numpy as np
from onnx import (
    AttributeProto,
    ModelProto,
    NodeProto,
    SparseTensorProto,
    StringStringEntryProto,
    TensorProto,
    TypeProto,
    helper,
)
from onnx.helper import make_graph, make_node, make_tensor, make_tensor_value_info

OUT = Path(sys.argv[1])
OUT.mkdir(parents=True)
FLOAT = TensorProto.FLOAT


def save(name, model):
    (OUT / f"{name}.onnx").write_bytes(model.SerializeToString())


def model_of(*nodes, inputs=("x",), outputs=("y",), opset=21, **fields):
    graph = make_graph(
        nodes,
        "g",
        [make_tensor_value_info(i, FLOAT, [2, 3]) for i in inputs],
        [make_tensor_value_info(o, FLOAT, [2, 3]) for o in outputs],
        **fields,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def relu(**fields):
    return make_node("Relu", ["x"], ["y"], **fields)


def entry(key, value):
    return StringStringEntryProto(key=key, value=value)


def metadata():
    model = model_of(relu(name="n", doc_string='d\x01"\\\n'))
    graph = model.graph
    for owner in (model, graph, graph.node[0], graph.input[0], graph.output[0]):
        owner.metadata_props.extend([entry("b", "2"), entry("a", ""), entry("b", "again")])
    model.metadata_props.add().key = "no value"
    model.doc_string = "über\n"
    graph.doc_string = ""
    model.model_version = -1
    model.producer_name = ""
    model.domain = "a.b"
    graph.input[0].doc_string = "in"
    graph.output[0].type.denotation = "IMAGE"
    graph.output[0].type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    save("metadata", model)


def metadata_of_nodes():
    """In every place that a node can have; alike, odd, and in two runs."""
    inner = helper.make_graph(
        [relu(name="inner")], "inner", [], [make_tensor_value_info("y", FLOAT, [2])]
    )
    node = make_node("If", ["x"], ["y"], name="n", then_branch=inner, else_branch=inner)
    model = model_of(node, relu(name="odd"))
    model.graph.node[1].output[0] = "z"
    function = helper.make_function(
        "my.domain", "F", ["a"], ["b"], [make_node("Relu", ["a"], ["b"])], model.opset_import
    )
    model.functions.append(function)
    step = model.training_info.add().algorithm.node.add(op_type="Relu")
    nodes = [*model.graph.node, model.functions[0].node[0], step]
    nodes += [attribute.g.node[0] for attribute in model.graph.node[0].attribute]
    for i, owner in enumerate(nodes):
        owner.metadata_props.extend([entry("b", str(i)), entry("", ""), entry("b", "x" * 5000)])
    model.graph.node[1].metadata_props.add().value = "no key"
    data = model.SerializeToString()
    save("metadata-of-nodes", model)
    # A span of HTP's own, as a file may have it, too.
    for owner in nodes[:3]:
        owner.MergeFromString(b"\xf8\xff\xff\xff\x0f\x00")
    assert model.SerializeToString() != data
    save("metadata-and-spans", model)


def empty_fields():
    model = model_of(relu())
    node = model.graph.node[0]
    node.name = node.domain = node.overload = node.doc_string = ""
    save("set-but-empty", model)
    node.domain = "ai.onnx"
    model.opset_import.add(domain="ai.onnx", version=21)
    save("domain-spelled-out", model)
    bare = ModelProto()
    bare.graph.node.add(op_type="Relu", input=["x"], output=["y"])
    bare.graph.input.add(name="x")
    bare.graph.output.add(name="y")
    save("bare", bare)
    bare.graph.node.add(op_type="Foo", input=["", "y", ""], output=["", "z", ""])
    bare.graph.node.add(op_type="Print", input=["z"])
    save("missing-inputs-and-outputs", bare)
    nothing = ModelProto()
    nothing.graph.SetInParent()
    save("nothing", nothing)


def dims():
    model = model_of(relu())
    shape = model.graph.input[0].type.tensor_type.shape
    del shape.dim[:]
    shape.dim.add(dim_param="batch")
    shape.dim.add(dim_param="a,b:1")
    shape.dim.add()
    shape.dim.add(dim_value=0)
    shape.dim.add(dim_param="")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    save("dim-params", model)
    del shape.dim[:]
    shape.dim.add(dim_param="batch")
    shape.dim.add(dim_param="seq + 1")
    save("plain-dim-params", model)
    shape.ClearField("dim")
    save("scalar", model)
    model.graph.input[0].type.tensor_type.elem_type = 0
    save("no-element-type", model)
    # A type that is there and says nothing.
    for value in (
        model.graph.input[0],
        model.graph.output[0],
        model.graph.value_info.add(name="y"),
    ):
        value.type.Clear()
        value.type.SetInParent()
    save("empty-type", model)
    del model.graph.value_info[:]
    model.graph.output[0].ClearField("type")
    save("no-type", model)


def value_infos():
    nodes = [relu(), make_node("Neg", ["y"], ["z"]), make_node("Abs", ["z"], ["u"])]
    model = model_of(*nodes, outputs=("u",))
    info = model.graph.value_info
    info.append(make_tensor_value_info("z", FLOAT, ["n", 3]))
    info.append(make_tensor_value_info("y", FLOAT, None))
    info.append(make_tensor_value_info("nobody", FLOAT, ["n", 3]))
    info.append(make_tensor_value_info("u", FLOAT, [7]))
    info.append(make_tensor_value_info("x", TensorProto.INT8, [7], doc_string="contradicts"))
    info.add(name="z")
    info.add()
    save("value-infos", model)


TYPED = {
    FLOAT: [0.0, -1.5, float("inf")],
    TensorProto.DOUBLE: [0.1, -1e300, 3.0],
    TensorProto.INT64: [-1, 2**62, 3],
    TensorProto.UINT64: [2**64 - 1, 0, 3],
    TensorProto.UINT32: [2**32 - 1, 0, 3],
    TensorProto.INT32: [-(2**31), 0, 3],
    TensorProto.INT16: [-(2**15), 0, 3],
    TensorProto.UINT16: [2**16 - 1, 0, 3],
    TensorProto.INT8: [-128, 0, 3],
    TensorProto.UINT8: [255, 0, 3],
    TensorProto.BOOL: [True, False, True],
    TensorProto.COMPLEX64: [1 + 2j, 0, -1j],
    TensorProto.COMPLEX128: [1 + 2j, 0, -1j],
    TensorProto.STRING: [b"a", b"", b'\xff\x00"'],
}
# The types whose elements ONNX stores as bit patterns in int32_data.
BITS = {
    "FLOAT16": 16,
    "BFLOAT16": 16,
    "FLOAT4E2M1": 4,
    "INT4": 4,
    "UINT4": 4,
    "INT2": 2,
    "UINT2": 2,
}


def raw_size(data_type, count):
    name = TensorProto.DataType.Name(data_type)
    if data_type in TYPED:
        return count * np.dtype(helper.tensor_dtype_to_np_dtype(data_type)).itemsize
    return (count * BITS.get(name, 8) + 7) // 8


def tensors():
    """Every data type in typed fields and raw; no, few and many elements."""
    for data_type in TensorProto.DataType.values():
        if data_type == TensorProto.UNDEFINED:
            continue
        for count in (0, 3, 40):
            model = model_of(relu())
            add = model.graph.initializer.add
            if data_type in TYPED:
                values = (TYPED[data_type] * 14)[:count]
                add().CopyFrom(make_tensor("typed", data_type, [count], values))
            else:
                tensor = add(name="typed", data_type=data_type, dims=[count])
                wide = BITS.get(TensorProto.DataType.Name(data_type)) == 16
                entries = raw_size(data_type, count) // (2 if wide else 1)
                tensor.int32_data.extend(
                    (i * 37) % (1 << 16 if wide else 64) for i in range(entries)
                )
                if entries:
                    tensor.int32_data[-1] = 1
            if data_type != TensorProto.STRING:
                raw = add(name="raw", data_type=data_type, dims=[count], doc_string="doc")
                # Any bits at all: a bool of 7, padding that is not zero, signalling NaNs.
                raw.raw_data = bytes((i * 151 + 7) % 256 for i in range(raw_size(data_type, count)))
                raw.metadata_props.append(entry("k", "v"))
            add(name="none", data_type=data_type, dims=[0, 4]).data_location = TensorProto.DEFAULT
            save(f"tensor-{TensorProto.DataType.Name(data_type)}-{count}", model)
    model = model_of(relu())
    model.graph.initializer.append(make_tensor("scalar", FLOAT, [], [1.0]))
    nan = model.graph.initializer.add(name="nan", data_type=FLOAT, dims=[4])
    nan.raw_data = struct.pack("<4I", 0x7F800001, 0xFFC00001, 0x80000000, 0x00000001)
    wide = model.graph.initializer.add(name="wide", data_type=TensorProto.INT8, dims=[2])
    wide.int32_data.extend([255, 1000])
    model.graph.initializer[0].segment.begin = 0
    model.graph.initializer[0].segment.end = 1
    save("tensor-odd", model)


def sparse(name):
    value = SparseTensorProto(dims=[3, 4])
    value.values.CopyFrom(make_tensor(name, FLOAT, [2], [1.5, 2.5]))
    value.indices.CopyFrom(make_tensor("", TensorProto.INT64, [2], [1, 7]))
    return value


def subgraph(name="sub"):
    info = make_tensor_value_info(name + "_in", FLOAT, [2])
    return make_graph([], name, [info], [info])


def attributes():
    model = ModelProto()
    model.opset_import.add(domain="custom", version=1)
    node = model.graph.node.add(op_type="Thing", domain="custom", output=["y"])
    add = node.attribute.add
    kind = AttributeProto
    add(name="z", type=kind.INT, i=-5, doc_string="out of order")
    add(name="f", type=kind.FLOAT, f=float("nan"))
    add(name="s", type=kind.STRING, s=b"\xff\x00text")
    add(name="ints", type=kind.INTS, ints=[1, -(2**63)])
    add(name="floats", type=kind.FLOATS, floats=[0.1, -0.0])
    add(name="strings", type=kind.STRINGS, strings=[b"", b"\n"])
    add(name="no ints", type=kind.INTS)
    add(name="no floats", type=kind.FLOATS)
    add(name="no strings", type=kind.STRINGS)
    add(name="no graphs", type=kind.GRAPHS)
    add(name="untyped", i=3)
    add(name="nothing")
    add(name="int without value", type=kind.INT)
    add(name="two values", type=kind.INT, i=3, f=1.0)
    add(name="ref", type=kind.FLOAT, ref_attr_name="alpha")
    add(name="function_name", type=kind.STRING, s=b"taken")
    add(name="domain_name", type=kind.INT, i=1)
    add(name="onnx_node_name", type=kind.INT, i=1)
    add(name="onnx.metadata_props", type=kind.INT, i=1)
    add(name="htp.tag", type=kind.STRING, s=b"x")
    add(name="", type=kind.INT, i=1)
    add(name="t", type=kind.TENSOR, t=make_tensor("named", FLOAT, [2], [1, 2]))
    add(name="tensors", type=kind.TENSORS, tensors=[make_tensor("", FLOAT, [2], [1, 2])])
    add(name="tp", type=kind.TYPE_PROTO, tp=helper.make_tensor_type_proto(FLOAT, [1, "n"]))
    add(name="tp2", type=kind.TYPE_PROTO, tp=helper.make_tensor_type_proto(FLOAT, [1, 2]))
    add(name="tps", type=kind.TYPE_PROTOS, type_protos=[TypeProto()])
    add(name="sparse", type=kind.SPARSE_TENSOR, sparse_tensor=sparse("v"))
    add(name="sparses", type=kind.SPARSE_TENSORS, sparse_tensors=[sparse("v")] * 2)
    add(name="g", type=kind.GRAPH, g=subgraph())
    add(name="gs", type=kind.GRAPHS, graphs=[subgraph("a"), subgraph("b")])
    save("attributes", model)
    save("cast-to-unknown", model_of(make_node("Cast", ["x"], ["y"], to=99)))


def graphs():
    """Both orders of branches, names that repeat in them, values from outside, initializers inside."""

    def branch(value):
        graph = make_graph(
            [
                make_node("Add", ["x", "c"], ["t"]),
                make_node("Mul", ["t", "outer"], ["r"], name="same"),
            ],
            "branch",
            [],
            [make_tensor_value_info("r", FLOAT, None)],
            [make_tensor("c", FLOAT, [1], [value])],
            value_info=[make_tensor_value_info("t", FLOAT, [2, "q"])],
        )
        graph.doc_string = "b"
        return graph

    for order in (0, 1):
        branches = [("then_branch", branch(1.0)), ("else_branch", branch(2.0))]
        node = make_node("If", ["cond"], ["y"])
        for name, graph in branches[:: 1 if order else -1]:
            node.attribute.add(name=name, type=AttributeProto.GRAPH, g=graph)
        model = model_of(make_node("Neg", ["x"], ["outer"]), node)
        model.graph.input.append(make_tensor_value_info("cond", TensorProto.BOOL, []))
        save(f"if-{order}", model)
    outer = make_graph([], "empty", [], [make_tensor_value_info("x", FLOAT, [2, 3])])
    save(
        "outer-value", model_of(make_node("If", ["x"], ["y"], then_branch=outer, else_branch=outer))
    )
    result = make_tensor_value_info("y", FLOAT, None)
    shadow = make_graph([make_node("Neg", ["x"], ["y"])], "s", [], [result])
    save(
        "shadowed", model_of(make_node("If", ["x"], ["y"], then_branch=shadow, else_branch=shadow))
    )
    save("repeated-outputs", model_of(relu(), outputs=("y", "y", "x")))


def initializers():
    model = model_of(make_node("Sum", ["x", "b", "w", "s"], ["y"]), inputs=("x", "b", "a"))
    for name in ("w", "a", "x2", "b"):
        model.graph.initializer.append(make_tensor(name, FLOAT, [1], [1.0]))
    model.graph.sparse_initializer.append(sparse("s"))
    save("defaults-out-of-order", model)
    model = model_of(make_node("Sum", ["x", "b"], ["y"]), inputs=("x", "b"))
    model.graph.initializer.append(make_tensor("b", TensorProto.INT64, [1], [1]))
    save("default-contradicts", model)
    save("unused", model_of(relu(), initializer=[make_tensor("u", FLOAT, [1], [1.0])]))
    unnamed = model_of(relu(), initializer=[make_tensor("u", FLOAT, [1], [1.0])])
    unnamed.graph.initializer[0].ClearField("name")
    save("initializer-without-name", unnamed)
    unnamed.graph.input.add().CopyFrom(make_tensor_value_info("", FLOAT, [1]))
    save("default-without-name", unnamed)
    del unnamed.graph.input[1:], unnamed.graph.initializer[:]
    unnamed.graph.sparse_initializer.append(sparse("s"))
    unnamed.graph.sparse_initializer[0].values.ClearField("name")
    save("sparse-without-name", unnamed)
    direct = model_of(outputs=("w",))
    direct.graph.initializer.append(make_tensor("w", FLOAT, [1], [1.0]))
    save("initializer-is-output", direct)


def model_fields():
    model = model_of(relu())
    annotation = model.graph.quantization_annotation.add(tensor_name="x")
    annotation.quant_parameter_tensor_names.append(entry("SCALE_TENSOR", "s"))
    training = model.training_info.add()
    training.algorithm.CopyFrom(subgraph())
    training.algorithm.node.append(relu())
    training.update_binding.append(entry("a", "b"))
    model.configuration.add(name="two", num_devices=2, device=["a", "b"])
    device = model.graph.node[0].device_configurations.add(configuration_id="two", pipeline_stage=1)
    spec = device.sharding_spec.add(tensor_name="x", device=[0, -1])
    spec.index_to_device_group_map.add(key=-1, value=[0, 1])
    spec.sharded_dim.add(axis=-1).simple_sharding.add(dim_param="n", num_shards=2)
    save("training-quantization-devices", model)


def functions():
    def function(overload):
        proto = helper.make_function(
            "my.domain",
            "F",
            ["a", "b"],
            ["c", "a"],
            [make_node("Gemm", ["a", "b"], ["c"])],
            [helper.make_opsetid("", 17)],
            ["alpha"],
            [helper.make_attribute("beta", 1.0)],
        )
        proto.node[0].attribute.add(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="alpha")
        proto.overload = overload
        proto.doc_string = "doc"
        proto.metadata_props.append(entry("k", "v"))
        proto.value_info.append(make_tensor_value_info("c", FLOAT, ["m", 3]))
        return proto

    call = make_node("F", ["x", "x"], ["y", ""], domain="my.domain", overload="two", alpha=2.0)
    model = model_of(call)
    model.opset_import.add(domain="my.domain", version=1)
    model.functions.extend([function("one"), function("two")])
    # Named as the function that holds the graph here.
    model.functions.append(helper.make_function("", "main_graph", [], [], [], []))
    save("functions", model)


def names():
    odd = ["a b", "ä", '"', "%0", "/x/y.1", "x:0", "1"]
    nodes = [make_node("Identity", [a], [b], name=b) for a, b in zip(["x", *odd], odd)]
    nodes.append(make_node("Relu", ["1"], ["y"], name=odd[0]))
    model = model_of(*nodes)
    model.graph.initializer.append(make_tensor("w w", FLOAT, [40], range(40)))
    model.graph.initializer.append(make_tensor("", FLOAT, [40], range(40)))
    save("odd-names", model)
    model = ModelProto()
    model.graph.input.add(name="x")
    for op_type, domain in (
        ("Return", None),
        ("Custom", ""),
        ("Yield", "a"),
        ("NoValue", None),
        ("EntryPoint", None),
        ("a b.c", None),
        ("", None),
        ("LinearRegressor", None),
        ("LinearRegressor", "ai.onnx.ml"),
        ("Future", None),
        ("Future", "ai.onnx.ml"),
        ("Relu", "com.microsoft"),
        ("Constant", "x"),
    ):
        node = NodeProto(op_type=op_type, output=[f"o{len(model.graph.node)}"])
        if domain is not None:
            node.domain = domain
        if op_type == "LinearRegressor":
            node.input.append("x")
        model.graph.node.append(node)
    save("odd-operators", model)


def types():
    model = model_of(relu())
    tensor = helper.make_tensor_type_proto(TensorProto.STRING, ["n"])
    sequence = helper.make_sequence_type_proto(tensor)
    add = model.graph.input.add
    add(name="seq").type.CopyFrom(sequence)
    add(name="opt").type.CopyFrom(helper.make_optional_type_proto(sequence))
    add(name="map").type.CopyFrom(helper.make_map_type_proto(TensorProto.INT64, tensor))
    add(name="sparse").type.CopyFrom(helper.make_sparse_tensor_type_proto(FLOAT, [3, None]))
    opaque = add(name="opaque").type.opaque_type
    opaque.domain, opaque.name = "d", "n"
    add(name="bare seq").type.sequence_type.SetInParent()
    add(name="bare map").type.map_type.SetInParent()
    add(name="bare opaque").type.opaque_type.SetInParent()
    add(name="bare tensor").type.tensor_type.SetInParent()
    for data_type in TensorProto.DataType.values():
        proto = helper.make_tensor_type_proto(data_type, [1])
        add(name=f"t{data_type}").type.CopyFrom(proto)
    save("types", model)


def unknown_fields():
    """Fields of tomorrow's format, in several messages."""
    extra = b"\xc2\x3e\x03abc"  # field 1000, three bytes
    model = model_of(relu(), initializer=[make_tensor("w", FLOAT, [1], [1.0])])
    graph = model.graph
    for owner in (graph.node[0], graph.initializer[0], graph.input[0], graph, model):
        owner.MergeFromString(extra)
    save("unknown-fields", model)


for make in (
    metadata,
    metadata_of_nodes,
    empty_fields,
    dims,
    value_infos,
    tensors,
    attributes,
    graphs,
    initializers,
    model_fields,
    functions,
    names,
    types,
    unknown_fields,
):
    make()
