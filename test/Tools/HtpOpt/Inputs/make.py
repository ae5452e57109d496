"""Makes the models of the tests in this folder: make.py KIND FILE."""

import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def weight(rows=64):
    values = numpy.arange(rows * 64, dtype=numpy.float32).reshape(rows, 64)
    return numpy_helper.from_array(values, "fc.weight")


def model(*initializers):
    """x @ fc.weight: small, and its weight (16 KB) large enough to be a span."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "fc.weight"], ["y"], name="/fc/MatMul")],
        "main_graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 64])],
        list(initializers) or [weight()],
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def length_delimited(number, payload):
    size, prefix = len(payload), bytes([number << 3 | 2])
    while size >= 0x80:
        prefix += bytes([size & 0x7F | 0x80])
        size >>= 7
    return prefix + bytes([size]) + payload


def nested(levels):
    """Graphs in attributes of nodes of graphs; no protobuf library builds this."""
    graph = length_delimited(2, b"innermost")
    for level in range(levels):
        attribute = length_delimited(1, b"body") + length_delimited(6, graph)
        node = length_delimited(3, b"loop%d" % level) + length_delimited(5, attribute)
        graph = length_delimited(1, node)
    return length_delimited(7, graph)


def external(path, location="m.data", offset=None, length=None, size=16384):
    tensor = weight()
    data = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in ("location", location), ("offset", offset), ("length", length):
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    if size is not None and not os.path.isabs(location):
        with open(os.path.join(os.path.dirname(path), "m.data"), "wb") as file:
            file.write(data[:size])
    return model(tensor).SerializeToString()


def make(kind, path):
    whole = model().SerializeToString()
    folder = os.path.dirname(path)
    match kind:
        case "plain":
            return whole
        case "empty":
            return b""
        case "truncated":
            return whole[:5000]
        case "corrupt":  # a length in the middle of the weight's fields
            name = whole.index(b"B\tfc.weight")
            return whole[:name] + b"B\xff\xff\x7f" + whole[name + 2 :]
        case "nested":
            return nested(5000)
        case "image":
            return b"\x89PNG\r\n\x1a\n" + bytes(range(256))
        case "no-graph":
            return onnx.ModelProto(ir_version=8).SerializeToString()
        case "external":
            return external(path, length=16384)
        case "external-huge":  # 3 GB, all of them a hole
            tensor = TensorProto(name="fc.weight", dims=[3, 2**28], data_type=TensorProto.FLOAT)
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="m.data")
            with open(os.path.join(folder, "m.data"), "wb") as file:
                file.truncate(3 * 2**30)
            return model(tensor).SerializeToString()
        case "external-missing":
            return external(path, location="elsewhere.data", size=None)
        case "external-short":
            return external(path, length=16384, size=100)
        case "external-offset":
            return external(path, offset=2**64 - 1, length=16384)
        case "external-number":
            return external(path, offset="-4")
        case "external-length":
            return external(path, length=400)
        case "external-absolute":
            return external(path, location="/etc/passwd")
        case "external-parent":
            return external(path, location="../m.data", size=None)
        case "external-link":
            link = os.path.join(folder, "link.data")
            if not os.path.lexists(link):
                os.symlink("/etc/passwd", link)
            return external(path, location="link.data", size=None)
    sys.exit(f"make.py: unknown kind {kind}")


def main():
    kind, path = sys.argv[1:]
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    contents = make(kind, path)
    with open(path, "wb") as file:
        file.write(contents)


main()
