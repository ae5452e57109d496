"""Functions made by outlining import the opsets they need, however the model spells its own imports."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper

from htp import native

IMPORTS = {
    "plain": [("", 17)],
    "spelled out": [("ai.onnx", 17)],
    "both spellings": [("", 17), ("ai.onnx", 17)],
    "twice": [("", 17), ("", 17)],
    "with another domain": [("", 17), ("com.microsoft", 1)],
    "another domain, spelled out": [("ai.onnx", 17), ("com.microsoft", 1)],
}


def two_layers(imports):
    nodes, weights, value = [], [], "x"
    for i in range(2):
        weight = f"layer.{i}.fc.weight"
        data = np.arange(4, dtype=np.float32).reshape(2, 2) + i
        weights.append(onnx.numpy_helper.from_array(data, weight))
        nodes += [
            helper.make_node("MatMul", [value, weight], [f"a{i}"], name=f"/layer.{i}/fc/MatMul"),
            helper.make_node("Relu", [f"a{i}"], [f"b{i}"], name=f"/layer.{i}/act/Relu"),
        ]
        value = f"b{i}"
        if ("com.microsoft", 1) in imports:
            name, domain = f"/layer.{i}/more/FusedMatMul", "com.microsoft"
            nodes.append(
                helper.make_node("FusedMatMul", [value, weight], [f"c{i}"], name, domain=domain)
            )
            value = f"c{i}"
    nodes.append(helper.make_node("Identity", [value], ["y"]))
    x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2, 2]) for n in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    opsets = [helper.make_opsetid(domain, version) for domain, version in imports]
    return helper.make_model(graph, ir_version=8, opset_imports=opsets)


def result(path):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.ones((2, 2), np.float32)})[0]


@pytest.mark.parametrize("imports", IMPORTS.values(), ids=IMPORTS)
def test_outlined_functions_run_and_come_back(tmp_path, imports):
    flat, outlined, back = (tmp_path / f"{n}.onnx" for n in ("flat", "outlined", "back"))
    onnx.save(two_layers(imports), flat)
    native.run("htp-opt", flat, "--htp-tag", "--htp-outline", "-o", outlined)
    made = onnx.load(outlined)
    onnx.checker.check_model(made)
    assert made.functions
    for function in made.functions:
        domains = [entry.domain for entry in function.opset_import]
        assert len(domains) == len(set(domains)), "one import for each domain"
        assert {n.domain for n in function.node} <= set(domains)
    np.testing.assert_array_equal(result(outlined), result(flat))
    native.run("htp-opt", outlined, "--htp-inline", "--htp-strip", "-o", back)
    assert onnx.load(back) == onnx.load(flat)
