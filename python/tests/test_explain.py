"""`htp explain` on nodes that are hard to place: its output makes sense to a person."""

from __future__ import annotations

import re
from pathlib import Path

import onnx
import pytest
import torch
from conftest import example

import htp
from htp.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """BERT-tiny with a mask: tagged, traced, without names, optimized by ONNX Runtime."""
    import onnxruntime

    folder = tmp_path_factory.mktemp("explain")
    found = {name: folder / f"{name}.onnx" for name in ("tagged", "plain", "anon", "ort")}
    found["trace"] = folder / "model.pt"
    model, inputs = example("transformer").build()
    model.eval().config.return_dict = False
    torch.jit.trace(model, example_kwarg_inputs=inputs, strict=False).save(found["trace"])
    htp.export(model, kwargs=inputs, output=found["tagged"], exporter="torchscript")
    htp.native.run("htp-opt", found["tagged"], "--htp-strip", "-o", found["plain"])
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(found["ort"])
    onnxruntime.InferenceSession(found["plain"], options, providers=["CPUExecutionProvider"])
    onnx.save(anonymous(onnx.load(found["plain"])), found["anon"])
    return found


def anonymous(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without any names except those of its inputs and outputs."""
    graph = model.graph
    kept = {value.name for value in [*graph.input, *graph.output]}
    names: dict[str, str] = {}

    def renamed(name: str) -> str:
        return name if not name or name in kept else names.setdefault(name, f"v{len(names)}")

    for tensor in graph.initializer:
        tensor.name = renamed(tensor.name)
    for node in graph.node:
        node.name = ""
        node.input[:] = [renamed(name) for name in node.input]
        node.output[:] = [renamed(name) for name in node.output]
    del graph.value_info[:]
    return model


def handle(node: onnx.NodeProto) -> str:
    return node.name or node.output[0]


def nodes_of(file: Path, op_type: str) -> list[onnx.NodeProto]:
    return [node for node in onnx.load(file).graph.node if node.op_type == op_type]


PLACED = re.compile(r"(?s)^node '.+' \(\w+\) belongs to .+\n    evidence: .+, confidence [0-9.]+")


def test_a_residual_add_without_a_name(files):
    """Adds with two activations: the trace has one for each."""
    constants = {t.name for t in onnx.load(files["anon"]).graph.initializer}
    adds = [n for n in nodes_of(files["anon"], "Add") if not constants & set(n.input)]
    text = htp.explain(files["anon"], handle(adds[-1]), trace=files["trace"])
    assert PLACED.match(text)
    assert "aten::add" in text and "believed" in text
    assert "such steps are known to make such nodes" in text
    assert re.search(r"\n    2\. .*: believed [0-9.]+ %\n +- ", text), "why the second lost"


def test_the_mask(files):
    where = nodes_of(files["plain"], "Where") or nodes_of(files["plain"], "Slice")
    text = htp.explain(files["tagged"], handle(where[0]))
    assert PLACED.match(text)
    assert "    reads: " in text and "    read by: " in text


def test_a_node_that_reads_a_constant_of_all_layers(files):
    model = onnx.load(files["anon"])
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in model.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    made = {n.output[0] for n in model.graph.node if n.op_type == "Constant"}
    made |= {t.name for t in model.graph.initializer}
    shared = max((name for name in readers if name in made), key=lambda name: len(readers[name]))
    text = htp.explain(files["anon"], handle(readers[shared][0]), trace=files["trace"])
    assert PLACED.match(text)
    assert re.search(r"'\w+', a constant|the parameter '", text)


def test_a_node_that_an_optimizer_fused(files):
    before = {node.op_type for node in onnx.load(files["plain"]).graph.node}
    fused = [n for n in onnx.load(files["ort"]).graph.node if n.op_type not in before]
    assert fused, "ONNX Runtime fuses something"
    text = htp.explain(files["ort"], handle(fused[0]), reference=files["tagged"])
    assert PLACED.match(text)
    assert f"could have made this {fused[0].op_type}" in text or "no step of" in text


def test_a_product_in_an_anonymous_file(files):
    text = htp.explain(
        files["anon"], handle(nodes_of(files["anon"], "MatMul")[0]), trace=files["trace"]
    )
    assert "evidence: parameter (it reads a parameter of the module)" in text
    assert "it reads a parameter that this step reads" in text


def test_the_command(files, capsys):
    name = handle(nodes_of(files["plain"], "MatMul")[0])
    assert main(["explain", str(files["tagged"]), name]) == 0
    assert PLACED.match(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("model", "node", "message"),
    [("tagged", "nonsense", "no node, and no value of one, is called 'nonsense'"), ("plain", "x", "carries no tags")],
)  # fmt: skip
def test_what_cannot_be_explained(files, model, node, message):
    with pytest.raises(htp.HTPError, match=message):
        htp.explain(files[model], node)
