"""Print the metadata of an ONNX file, an entry a line: model, inputs, initializers, nodes, functions."""

import sys

import onnx


def show(what, message):
    for entry in message.metadata_props:
        print(f"{what}: {entry.key} = {entry.value}")


def show_nodes(nodes):
    for node in nodes:
        show(node.op_type, node)


model = onnx.load(sys.argv[1], load_external_data=False)
print("ir_version", model.ir_version)
show("model", model)
show("graph", model.graph)
for value in model.graph.input:
    show(f"input {value.name}", value)
for tensor in model.graph.initializer:
    show(f"initializer {tensor.name}", tensor)
show_nodes(model.graph.node)
for function in model.functions:
    show(f"function {function.name}", function)
    show_nodes(function.node)
