# RUN: %python %s %t.onnx
# RUN: htp-opt %t.onnx --htp-tag -o %t.tagged.onnx 2>&1 | FileCheck %s
# RUN: %python %s --size %t.tagged.onnx

# Modules nested 1,000 deep: what other tools read would be the third power of that, and is left out, with a word.

# CHECK: warning: 937 modules lie more than 64 levels deep: the keys that other tools read {{.*}} are left out of their nodes

import os
import sys

import onnx
from onnx import helper

DEPTH = 1000


def write(path):
    nodes, value = [], "x"
    for i in range(DEPTH):
        name = "/m" * (i + 1) + "/Relu"
        nodes.append(helper.make_node("Relu", [value], [f"v{i}"], name=name))
        value = f"v{i}"
    ends = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2]) for n in ("x", value)]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def check(path):
    size = os.path.getsize(path)
    assert size < 10_000_000, size
    keys = [{p.key for p in n.metadata_props} for n in onnx.load(path).graph.node]
    assert "namespace" in keys[10] and "namespace" not in keys[100]
    assert all("htp.scope" in k for k in keys)


if __name__ == "__main__":
    check(sys.argv[2]) if sys.argv[1] == "--size" else write(sys.argv[1])
