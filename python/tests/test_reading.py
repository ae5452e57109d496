"""Tags are read without torch, transformers or onnx."""

import dataclasses
import json
import subprocess
import sys
import textwrap

import pytest
from conftest import NET, ROOT

import htp
from htp import onnxfile


@pytest.fixture(scope="module")
def model(net):
    return htp.load(net)


def test_nodes(model):
    node = model.node("/layers.0/fc/MatMul")
    assert node.op_type == "MatMul"
    assert node.tag == "/Net/Block.0"
    assert node.scope == "layers.0.fc"
    assert node.evidence == "name"
    assert node.confidence == pytest.approx(0.97)
    assert node.inputs == ("x", "w")
    assert model.node("m") == node, "a node is found by the value that it makes"


def test_contexts_and_tags_of_a_shared_node(model):
    shared = model.node("mask")
    assert shared.tag == "/Net"
    assert [context.scope for context in shared.contexts] == ["layers.0", "layers.1"]
    assert shared.tags == ("/Net", "/Net/Block.1")


def test_initializers_list_all_users(model):
    weight = model.initializers["w"]
    assert weight.parameter == "layers.0.fc.weight"
    assert weight.tags == ("/Net/Block.0", "/Net/Block.1")


def test_modules(model):
    assert list(model.modules) == [
        "",
        "layers",
        "layers.0",
        "layers.0.fc",
        "layers.1",
        "layers.1.fc",
    ]
    block = model.module("layers.0")
    assert (block.class_name, block.children, block.total_nodes) == ("Block", ("layers.0.fc",), 2)
    assert model.module("/Net/Block.1").path == "layers.1"
    assert "0: Block (2)" in model.tree()
    assert "Linear" not in model.tree(torch_nn=False)


def test_nodes_in(model):
    assert [n.name for n in model.nodes_in("layers.0")] == ["/layers.0/fc/MatMul", "Add#2"]
    assert len(model.nodes_in("layers.0", constants=True)) == 3
    assert len(model.nodes_in("")) == 4


def test_unknown_names_are_explained(model):
    with pytest.raises(htp.BadInput, match="no module 'layers.7'.*similar names: 'layers"):
        model.module("layers.7")
    with pytest.raises(htp.BadInput, match="no node or value named"):
        model.node("/layers.0/fc/Matmul")


def test_networkx_has_the_edges_of_the_dag(model):
    graph = model.to_networkx()
    assert sorted(graph.edges) == [
        ("/layers.0/fc/MatMul", "Add#2"),
        ("Add#2", "mask"),
        ("mask", "mask#4"),
    ]
    assert graph.nodes["mask"]["tag"] == "/Net"


def test_sidecar_and_mlir_load_too(model, tmp_path):
    sidecar = tmp_path / "net.ops.json"
    sidecar.write_text(json.dumps(model.metadata))
    assert htp.load(sidecar).nodes == model.nodes
    assert htp.load(NET).nodes == model.nodes


def test_reading_needs_no_other_package(net):
    """With every optional package made unimportable."""
    code = f"""
        import sys
        for name in ("torch", "transformers", "onnx", "numpy", "networkx", "rich"):
            sys.modules[name] = None
        sys.path.insert(0, {str(ROOT / "python")!r})
        import htp
        model = htp.load({str(net)!r})
        assert model.node("m").tag == "/Net/Block.0"
        try:
            model.to_networkx()
        except htp.MissingPackage as error:
            assert "pip install 'htp[graph]'" in str(error)
        try:
            htp.export(None)
        except htp.MissingPackage as error:
            print(error)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == (
        "htp.export needs torch, which is not installed: pip install 'htp[torch]'"
    )


def test_metadata_is_read_from_the_bytes(net):
    metadata = onnxfile.model_metadata(net)
    assert "layers.0.fc" in metadata["htp.hierarchy"]
    nodes = list(onnxfile.raw_nodes(net))
    assert [node.op_type for node in nodes] == ["Constant", "MatMul", "Add", "Mul", "MatMul"]
    assert nodes[1].metadata["htp.scope"] == "layers.0.fc"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\xff" * 20, "is not an ONNX file"),
        (b"\x0a\x7f", "is not an ONNX file"),
    ],
)
def test_files_that_are_no_models(tmp_path, content, message):
    file = tmp_path / "bad.onnx"
    file.write_bytes(content)
    with pytest.raises(htp.BadInput, match=message):
        htp.load(file)


def test_a_model_without_tags(tmp_path):
    onnx = pytest.importorskip("onnx")
    file = tmp_path / "untagged.onnx"
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([], "g", [value], [value])), file)
    with pytest.raises(htp.NotTagged, match="carries no tags: tag it with 'htp tag"):
        htp.load(file)


def test_a_model_whose_nodes_lost_their_tags(model, tmp_path):
    """Optimizers keep the model's metadata but drop that of nodes."""
    onnx = pytest.importorskip("onnx")
    proto = onnx.load(model.path)
    for node in proto.graph.node:
        del node.metadata_props[:]
    onnx.save(proto, tmp_path / "optimized.onnx")
    with pytest.raises(htp.NotTagged, match="was tagged, but its nodes.*--reference"):
        htp.load(tmp_path / "optimized.onnx")


@pytest.mark.parametrize("storage", ["metadata", "compact", "attribute"])
def test_tags_are_found_wherever_they_are_stored(model, storage, tmp_path):
    htp.native.run(
        "htp-onnx", model.path, f"--tag-storage={storage}", "-o", tmp_path / "stored.onnx"
    )
    assert htp.load(tmp_path / "stored.onnx").modules.keys() == model.modules.keys()


def test_records_have_all_of_their_fields(model):
    """Records are filled directly, without the constructor."""
    tagged = [node for node in model.nodes.values() if node.tag is not None]
    modules = list(model.modules.values())
    for record in (tagged[0], modules[-1], next(p for m in modules for p in m.parameters)):
        assert set(vars(record)) == {field.name for field in dataclasses.fields(record)}
        assert dataclasses.replace(record) == record and hash(record) is not None
        with pytest.raises(dataclasses.FrozenInstanceError):
            record.name = "another"
