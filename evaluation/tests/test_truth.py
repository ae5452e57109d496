"""The judge itself: tags of module trees, truth from both exporters, scores."""

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from torch import nn

import score
import truth


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Block()
        self.layer1 = nn.Sequential(Block(), Block())
        self.layer2 = nn.Sequential(Block())
        self.alias = self.head


def graph_of(nodes):
    return helper.make_graph(nodes, "g", [], [])


def node(name, op="Add", inputs=(), outputs=("y",), scopes=None):
    made = helper.make_node(op, list(inputs), list(outputs), name=name)
    if scopes:
        made.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=repr(scopes))
    return made


def test_tags_tell_modules_of_one_class_apart():
    tags = {m["path"]: m["tag"] for m in truth.tree_of(Net())}
    assert tags[""] == "/Net"
    assert tags["layer1.0"] == "/Net/Block.layer1.0"
    assert tags["layer2.0"] == "/Net/Block.layer2.0"
    assert tags["layer1.0.fc"] == tags["layer1.0"]  # torch.nn modules have no tag of their own
    assert tags["layer1"] == "/Net"


def test_a_list_element_keeps_its_index_without_peers():
    net = nn.Module()
    net.layers = nn.ModuleList([Block()])
    assert [m["tag"] for m in truth.tree_of(net) if m["path"] == "layers.0"] == ["/Module/Block.0"]


def test_torchscript_names():
    paths = {"", "layer", "layer.0", "layer.0.conv", "encoder.attention", "model.decoder"}
    graph = graph_of([
        node("/layer/layer.0/conv/Conv"),  # a called Sequential is repeated
        node("/encoder/attention_1/Add"),  # a second call
        node("/decoder/Add"),  # a module whose forward never runs is left out
        node("/Add"),
        node("Identity_3", "Identity", outputs=["layer.0.conv.bias"]),
        node("Anything"),
    ])  # fmt: skip
    found = list(truth.truth_torchscript(graph, paths, {"layer.0.conv.bias"}))
    assert found == ["layer.0.conv", "encoder.attention", "model.decoder", "", "layer.0.conv", None]


def test_dynamo_metadata():
    graph = graph_of([
        node("a", scopes=["", "layer.0", "layer.0.conv@1", "conv2d"]),
        node("b", scopes=["", "add"]),
        node("c"),
    ])  # fmt: skip
    assert list(truth.truth_dynamo(graph, {"", "layer.0.conv"})) == ["layer.0.conv", "", None]


def test_aliases_are_all_right():
    aliases = truth.aliases_of(Net())
    assert sorted(aliases["head"]) == ["alias", "head"]
    assert list(truth.aliased(["head", "layer1.0", None], aliases)) == [
        ["head", "alias"],
        "layer1.0",
        None,
    ]


def test_survivors_by_value_and_by_name():
    before = graph_of([node("/a/Add", outputs=["v"]), node("/b/Mul", outputs=["w"])])
    after = graph_of([
        node("fused", outputs=["v"]), node("/b/Mul/MatMulScaleFusion", outputs=["z"]), node("new", outputs=["q"])
    ])  # fmt: skip
    assert truth.survivors(before, ["a", "b"], after) == ["a", "b", None]


def test_a_node_that_absorbed_another_belongs_to_either():
    conv = helper.make_node("Conv", ["x", "w"], ["y"], name="c")
    before = graph_of([conv, helper.make_node("Relu", ["y"], ["z"], name="r")])
    took_over = helper.make_node("Conv", ["x", "w"], ["z"], name="c")
    quantize = helper.make_node("QuantizeLinear", ["z", "s"], ["q"], name="z_QuantizeLinear")
    after = graph_of([took_over, quantize])
    assert truth.survivors(before, [["n", "c"], "r"], after) == [["r", "n", "c"], None]
    assert truth.survivors(before, ["c", "r"], graph_of([took_over])) == ["r"]


def test_a_convolution_that_took_in_a_norm_belongs_to_either():
    conv = helper.make_node("ConvTranspose", ["x", "w"], ["y"], name="c")
    norm = helper.make_node("BatchNormalization", ["y", "s", "b", "m", "v"], ["z"], name="n")
    fused = helper.make_node("ConvTranspose", ["x", "w"], ["z"], name="c")
    assert truth.survivors(graph_of([conv, norm]), ["c", "n"], graph_of([fused])) == [["n", "c"]]


def test_shared_nodes_may_belong_to_what_the_layers_share():
    graph = graph_of([
        node("m", outputs=["mask"]),
        node("x", inputs=["mask"], outputs=["x"]),
        node("y", inputs=["mask"], outputs=["y"]),
    ])  # fmt: skip
    where = list(truth.shared(graph, ["enc.layer.0.attn", "enc.layer.0.attn", "enc.layer.1.attn"]))
    assert where[0] == ["enc.layer.0.attn", "enc.layer", "enc"]


def test_batch_norm_partners():
    net = nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1), nn.ReLU())
    assert truth.convolution_partners(net) == {"0": "1", "1": "0"}


def tagged_file(path, answers):
    graph = graph_of([node(f"n{i}", outputs=[f"v{i}"]) for i in range(len(answers))])
    graph.output.append(helper.make_tensor_value_info("v0", TensorProto.FLOAT, None))
    for made, answer in zip(graph.node, answers):
        for key, value in (answer or {}).items():
            made.metadata_props.add(key=f"htp.{key}", value=value)
    onnx.save(helper.make_model(graph), path)


def test_score_counts_what_it_says(tmp_path):
    tags = {"": "/N", "l.0": "/N/L.0", "l.1": "/N/L.1", "l.0.fc": "/N/L.0"}
    tagged_file(tmp_path / "source.onnx", [None] * 5)
    tagged_file(tmp_path / "tagged.onnx", [
        {"scope": "l.0.fc", "tag": "/N/L.0", "confidence": "0.9"},  # exact
        {"scope": "l.0", "tag": "/N/L.0", "confidence": "0.8"},  # the right tag only
        {"scope": "l.1", "tag": "/N/L.1", "confidence": "0.7"},  # another layer
        {"scope": "", "tag": "/N"},  # one of two right answers
        None,
    ])  # fmt: skip
    answers = []
    want = ["l.0.fc", "l.0.fc", "l.0.fc", ["l.0", ""], None]
    found = score.score(tmp_path / "source.onnx", tmp_path / "tagged.onnx", want, tags, answers)
    counts = dict(nodes=5, covered=4, scored=4, exact=2, tag=3, contaminated=1)
    blind = dict(blind=4, blind_exact=2, blind_contaminated=1)
    assert found == {**counts, **blind}
    assert answers == [(0.9, True), (0.8, False), (0.7, False)]
    files = (tmp_path / "source.onnx", tmp_path / "tagged.onnx")
    followed = score.score(*files, want, tags, answers := [], reference=True)
    assert followed == {**counts, **dict.fromkeys(blind, 0)} and not answers


def test_a_node_that_carries_its_note_is_no_result():
    assert score.told(node("/encoder/Add"))
    assert score.told(node("fused", outputs=["/encoder/Add_output_0"]))
    assert score.told(node("a", scopes=["", "encoder", "add"]))
    assert score.told(node("Identity_3", "Identity", outputs=["encoder.bias"]))
    assert not score.told(node("node_Add_3", outputs=["add_3"]))
    assert score.told(node("/Add")), "a name without a scope says that it is the root's"


def test_export_leaves_no_two_parameters_alike(tmp_path):
    """Equal initializers would be shared by the exporter and hide which module owns them."""
    import export

    import plain

    made = export.Export("x", *plain.PLAIN["functional"], str(tmp_path), core=True)
    contents = [p.detach().numpy().tobytes() for p in made.model.parameters()]
    assert len(set(contents)) == len(contents)
    assert torch.is_tensor(next(iter(made.example.values())))


def test_a_product_with_its_norm_folded_in_belongs_to_either():
    from onnx import numpy_helper

    weight = numpy_helper.from_array(np.ones((2, 2), np.float32), "w")
    gemm = helper.make_node("Gemm", ["x", "w"], ["y"], name="g")
    graph = graph_of([gemm])
    graph.initializer.append(weight)
    partners = {"fc": "bn", "bn": "fc"}
    assert list(truth.folded(graph, ["bn"], set(), partners)) == [["bn", "fc"]]
    norm = helper.make_node("BatchNormalization", ["y", "s", "b", "m", "v"], ["z"], name="n")
    graph.node.append(norm)
    assert list(truth.folded(graph, ["fc", "bn"], set(), partners)) == ["fc", "bn"], "still there"
