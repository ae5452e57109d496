# Metadata entries without a key, without a value, or with neither, are nobody's tags and stay what they are, wherever
# they stand and whatever they are called.
# RUN: %python %s %t.onnx
# RUN: htp-opt %t.onnx -o %t.plain.onnx
# RUN: htp-opt %t.onnx --htp-tag -o %t.tagged.onnx
# RUN: htp-opt %t.tagged.onnx -o %t.copy.onnx
# RUN: cmp %t.tagged.onnx %t.copy.onnx
# RUN: htp-opt %t.tagged.onnx --htp-strip -o %t.stripped.onnx
# RUN: cmp %t.plain.onnx %t.stripped.onnx
# RUN: %python %s --check %t.onnx %t.stripped.onnx
import sys

import onnx
from onnx import TensorProto, helper, numpy_helper

#: None: the field is not set.
ENTRIES = [
    ("htp.tag", None),
    (None, None),
    ("", "an empty key"),
    (None, "no key"),
    ("namespace", None),
    ("", ""),
    ("htp.hierarchy", None),
    ("plain", "pair"),
]


def add_entries(message):
    for key, value in ENTRIES:
        entry = message.metadata_props.add()
        if key is not None:
            entry.key = key
        if value is not None:
            entry.value = value


def write(path):
    import numpy

    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in ("x", "y")]
    weight = numpy_helper.from_array(numpy.ones(2, numpy.float32), "fc.weight")
    node = helper.make_node("Mul", ["x", "fc.weight"], ["h"], name="/fc/Mul")
    call = helper.make_node("Twice", ["h"], ["y"], name="/act/Twice", domain="local")
    body = [helper.make_node("Add", ["a", "a"], ["b"], name="/act/Add")]
    function = helper.make_function(
        "local", "Twice", ["a"], ["b"], body, [helper.make_opsetid("", 18)]
    )
    graph = helper.make_graph([node, call], "g", ends[:1], ends[1:], [weight])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, functions=[function], opset_imports=opsets, ir_version=10)
    places = [model, model.graph, model.functions[0], model.functions[0].node[0]]
    places += [*model.graph.node, *model.graph.initializer, *model.graph.input]
    for place in places:
        add_entries(place)
    onnx.save(model, path)


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        before, after = map(onnx.load, sys.argv[2:])
        assert before == after, after
    else:
        write(sys.argv[1])
