"""htp.export: from a model to all outputs in one call."""

import dataclasses
import json
from pathlib import Path

import numpy
import pytest
import torch
from conftest import ROOT, example

import htp

jsonschema = pytest.importorskip("jsonschema")
onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def outputs_of(path, feeds):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    return session.run(None, dict(zip(names, feeds)))


def test_every_node_is_tagged_and_runs(plain):
    tagged, model, args = plain
    assert tagged.statistics["coverage"] == 1
    blocks = {node.tag for node in tagged.nodes_in("blocks.1")}
    assert blocks == {"/Net/Block.1"}
    assert len(tagged.nodes_in("blocks.1")) >= len(tagged.nodes_in("blocks.0")) > 2
    with torch.no_grad():
        want = model.eval()(*args).numpy()
    (found,) = outputs_of(tagged.path, [a.numpy() for a in args])
    numpy.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)


def test_the_files_beside_it(plain):
    tagged, _, _ = plain
    names = sorted(file.name for file in tagged.path.parent.iterdir())
    assert names == [
        "plain.dag.json",
        "plain.inputs.npz",
        "plain.onnx",
        "plain.ops.json",
        "plain.trace.json",
    ]
    for file, schema in (("dag", "dag"), ("ops", "op-metadata"), ("trace", "trace")):
        found = json.loads((tagged.path.parent / f"plain.{file}.json").read_text())
        rules = json.loads((ROOT / f"docs/formats/{schema}.schema.json").read_text())
        jsonschema.Draft202012Validator(rules).validate(found)
    alone = htp.load(tagged.path)
    for name, node in tagged.nodes.items():  # reasons are in the sidecar only
        assert dataclasses.replace(node, reason="") == dataclasses.replace(
            alone.node(name), reason=""
        )


def test_the_whole_tree_is_there(plain):
    tagged, model, _ = plain
    assert list(tagged.modules) == [name for name, _ in model.named_modules()]


def test_dag_equals_networkx(plain):
    tagged, _, _ = plain
    dag = json.loads(tagged.path.with_suffix(".dag.json").read_text())["/Net"]
    graph = tagged.to_networkx()
    assert list(graph.nodes) == dag["nodes"]
    assert sorted(map(list, graph.edges)) == sorted(dag["edges"])


def test_extract_and_outline(plain, tmp_path):
    tagged, model, args = plain
    block = tagged.extract("blocks.1", tmp_path / "block.onnx")
    x = torch.randn(1, 8)
    with torch.no_grad():
        want = model.blocks[1](x).numpy()
    (found,) = outputs_of(block, [x.numpy()])
    numpy.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)

    outlined = tagged.outline(tmp_path / "outlined.onnx")
    functions = outlined.metadata["functions"].items()
    blocks = [call["scope"] for name, f in functions if "Block" in name for call in f["calls"]]
    assert sorted(blocks) == ["blocks.0", "blocks.1", "blocks.2"]
    assert outlined.statistics["nodes"] == tagged.statistics["nodes"]
    feeds = [a.numpy() for a in args]
    for a, b in zip(outputs_of(tagged.path, feeds), outputs_of(outlined.path, feeds)):
        numpy.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
def test_a_keyword_only_model_of_transformers(exporter, tmp_path):
    """Without HTP, the TorchScript exporter fails: got multiple values for argument."""
    model, inputs = example("transformer").build()
    model.train()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    attributes = [dict(vars(m)) for m in model.modules()]
    inputs = dict(reversed(inputs.items()))  # a different order than forward's
    tagged = htp.export(model, kwargs=inputs, output=tmp_path / "m.onnx", exporter=exporter)
    assert tagged.statistics["coverage"] == 1
    assert len(tagged.modules) == 48
    attention = tagged.module("encoder.layer.0.attention.self")
    assert attention.tag == "/BertModel/BertEncoder/BertLayer.0/BertAttention/BertSelfAttention"
    assert model.training and "forward" not in vars(model)
    assert [dict(vars(m)) for m in model.modules()] == attributes
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())


def test_dynamic_shapes(tmp_path):
    model, args = example("plain").build()
    for exporter in ("torchscript", "dynamo"):
        tagged = htp.export(
            model,
            (torch.randn(2, 8),),
            output=tmp_path / f"{exporter}.onnx",
            exporter=exporter,
            dynamic_shapes={"x": {0: torch.export.Dim("batch")}},
        )
        (found,) = outputs_of(tagged.path, [numpy.zeros((5, 8), dtype=numpy.float32)])
        assert found.shape == (5, 2)


def test_outlined_in_one_call(tmp_path):
    model, args = example("plain").build()
    tagged = htp.export(
        model, args, output=tmp_path / "m.onnx", exporter="torchscript", outline=True, graphml=True
    )
    assert set(tagged.metadata["functions"]) >= {"Block"}
    assert (tmp_path / "m.graphml").exists()
    outputs_of(tagged.path, [args[0].numpy()])


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
def test_modules_of_a_class_as_functions(exporter, tmp_path):
    """One function for all of them, with weights as inputs and constants inside."""
    model, args = example("plain").build()
    for parameter in model.parameters():  # exporters store equal ones once
        parameter.data.add_(torch.randn_like(parameter))
    block = type(model.blocks[0])
    tagged = htp.export(
        model, args, tmp_path / "m.onnx", exporter=exporter, modules_as_functions={block}
    )
    functions = tagged.metadata["functions"]
    assert list(functions) == ["Block"] and len(functions["Block"]["calls"]) == 3
    file = onnx.load(str(tagged.path))
    initializers = {i.name for i in file.graph.initializer}
    calls = [n for n in file.graph.node if n.op_type == "Block"]
    passed = [[name for name in call.input if name in initializers] for call in calls]
    assert all(len(names) == len(passed[0]) for names in passed)
    assert not set(passed[0]) & set(passed[1]), "what all calls pass alike is inside"
    outputs_of(tagged.path, [a.numpy() for a in args])
    with pytest.raises(htp.HTPError, match="no module is of class 'Blok'; did you mean 'Block'"):
        htp.export(model, args, tmp_path / "n.onnx", modules_as_functions={"Blok"})


# --- what goes wrong -----------------------------------------------------------------------------


class Fails(torch.nn.Module):
    def forward(self, x):
        raise ValueError("no such luck")


class NoExport(torch.nn.Module):
    """Runs, but has an operator that no exporter can translate."""

    def forward(self, x):
        return torch.linalg.eigvals(x).real


def empty(folder: Path) -> bool:
    return not list(folder.iterdir())


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo", "auto"])
def test_a_model_that_does_not_trace(exporter, tmp_path):
    model = Fails()
    with pytest.raises(htp.HTPError, match="no such luck") as error:
        htp.export(model, (torch.ones(1),), output=tmp_path / "m.onnx", exporter=exporter)
    assert "\x1b" not in str(error.value)
    assert empty(tmp_path)
    assert "forward" not in vars(model) and model.training


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo", "auto"])
def test_an_exporter_that_fails(exporter, tmp_path, capfd):
    """The message says why and recommends only what was tried, and PyTorch prints no graph."""
    with pytest.raises(htp.ExportFailed, match="linalg_eig") as error:
        htp.export(NoExport(), (torch.eye(2),), tmp_path / "m.onnx", exporter=exporter)
    assert "try" not in str(error.value)
    assert ("both exporters failed" in str(error.value)) == (exporter == "auto")
    assert empty(tmp_path)
    assert capfd.readouterr().out == ""


def test_an_output_that_cannot_be_written(tmp_path):
    class Never(torch.nn.Module):
        def forward(self, x):
            raise AssertionError("the work has started")

    for output in (tmp_path / "no/such/folder/m.onnx", tmp_path):
        with pytest.raises(htp.BadInput, match="cannot write"):
            htp.export(Never(), (torch.ones(1),), output=output)
    (tmp_path / "m.dag.json").mkdir()
    with pytest.raises(htp.BadInput, match=r"m\.dag\.json: it is a folder"):
        htp.export(Never(), (torch.ones(1),), output=tmp_path / "m.onnx")


def test_wrong_arguments(tmp_path):
    with pytest.raises(htp.BadInput, match="expected an nn.Module, found a str"):
        htp.export("bert", output=tmp_path / "m.onnx")
    with pytest.raises(htp.BadInput, match="exporter is 'tensorrt'"):
        htp.export(Fails(), (torch.ones(1),), tmp_path / "m.onnx", exporter="tensorrt")


def test_a_missing_program(tmp_path, monkeypatch):
    monkeypatch.setattr(htp.native, "candidates", lambda name: [])
    with pytest.raises(htp.MissingProgram, match="htp-onnx was not found"):
        htp.export(Fails(), (torch.ones(1),), tmp_path / "m.onnx")
    assert empty(tmp_path)


def test_a_cause_that_the_error_disowns_is_none():
    """inspect.Signature.bind raises its TypeError from None, out of a StopIteration."""
    from htp.exporting import summary

    def bind():
        try:
            next(iter(()))
        except StopIteration:
            raise TypeError("missing a required argument: 'x'") from None

    try:
        try:
            bind()
        except TypeError as error:
            raise RuntimeError("the export failed. More words") from error
    except RuntimeError as chained:
        assert summary(chained) == (
            "RuntimeError: the export failed, because of TypeError: missing a required argument: 'x'"
        )


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
def test_a_dict_alone_is_an_argument(exporter, tmp_path):
    """PyTorch takes a dict at the end as keyword arguments, which this forward does not have."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(4, 2)

        def forward(self, batch, flag=None):
            return self.fc(batch["x"])

    x = torch.randn(3, 4)
    net = Net().eval()
    made = htp.export(net, ({"x": x},), tmp_path / "net.onnx", exporter=exporter)
    (found,) = outputs_of(made.path, [x.numpy()])
    torch.testing.assert_close(torch.from_numpy(found), net({"x": x}).detach())


def test_a_failure_is_not_explained_by_the_one_before():
    """The second exporter runs while the error of the first is being handled."""
    from htp.errors import ExportFailed
    from htp.exporting import summary

    try:
        try:
            raise ExportFailed("the first exporter failed") from ValueError("its own reason")
        except ExportFailed:
            raise RuntimeError("no such operator")  # noqa: B904
    except RuntimeError as chained:
        assert summary(chained) == "RuntimeError: no such operator"
