"""htp select: nodes by the modules that they came from."""

import json

import pytest
import torch

import htp
from htp.cli import main
from htp.selecting import path_matcher

onnx = pytest.importorskip("onnx")


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.softmax(self.query(x) @ self.key(x).transpose(-1, -2), -1) @ x


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.mlp = Attention(), torch.nn.Linear(4, 4)

    def forward(self, x):
        return x + torch.relu(self.mlp(self.attention(x)))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.ModuleList(Layer() for _ in range(12))

    def forward(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("select") / "net.onnx"
    torch.manual_seed(0)
    return htp.export(Net(), (torch.randn(1, 3, 4),), path, exporter="torchscript")


def selected(capsys, *arguments):
    status = main(["select", *map(str, arguments)])
    output = capsys.readouterr()
    return status, output.out, output.err


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("a.*.c", "a.b.c", True),
        ("a.*.c", "a.b.b.c", False),
        ("a.*", "a", False),
        ("a.**", "a", True),
        ("a.**", "a.b.c", True),
        ("a.**", "ab", False),
        ("**.c", "c", True),
        ("**.c", "a.b.c", True),
        ("**.c", "a.c.b", False),
        ("a.**.c.**", "a.c", True),
        ("**", "", True),
        ("*", "", False),
        ("a.l*r.[0-3]", "a.layer.3", True),
        ("a.l*r.[0-3]", "a.layer.4", False),
        ("h.[0-11]", "h.11", True),
        ("h.[0-11]", "h.7", True),
        ("h.[0-11]", "h.12", False),
        ("h.[!0]", "h.0", False),
        ("h.[!0]", "h.1", True),
        ("h.?", "h.12", False),
        ("a+b.*", "a+b.c", True),
        ("a+b.*", "aab.c", False),
    ],
)
def test_globs(pattern, path, matches):
    assert path_matcher(pattern)(path) is matches


def test_a_glob_gives_the_nodes_of_its_modules(model, capsys):
    """Compared with what the exporter itself wrote into the names."""
    status, out, _ = selected(capsys, model.path, "layer.[0-3].attention.**")
    wanted = [
        raw.name
        for raw in onnx.load(model.path).graph.node
        if raw.op_type != "Constant"
        and any(raw.name.startswith(f"/layer.{i}/attention/") for i in range(4))
    ]
    assert status == 0 and out.split() == wanted
    # two Linear layers (MatMul, Add), Transpose, MatMul, Softmax, MatMul
    assert len(wanted) == 4 * 8


def test_formats_types_and_classes(model, capsys):
    names = [f"/layer.{i}/attention/{n}" for i in (0, 1) for n in ("MatMul", "MatMul_1")]
    arguments = [model.path, "layer.[0-1].attention", "--own", "--op-types", "MatMul"]
    assert selected(capsys, *arguments)[1].split() == names
    assert json.loads(selected(capsys, *arguments, "--format", "onnxruntime")[1]) == names
    assert json.loads(selected(capsys, *arguments, "--format", "olive")[1]) == {
        "nodes_to_exclude": names
    }
    result = json.loads(selected(capsys, *arguments, "--json")[1])
    assert result["modules"] == ["layer.0.attention", "layer.1.attention"]
    assert {node["module"] for node in result["nodes"]} == set(result["modules"])

    by_class = htp.select(model, "Attention", classes=True)
    assert by_class.nodes == htp.select(model, "layer.*.attention").nodes and len(by_class) == 96
    assert len(by_class) + len(htp.select(model, "Attention", classes=True, invert=True)) == len(
        htp.select(model, "**")
    )


def test_quantize_only_what_was_not_selected(model, tmp_path, capsys):
    """The recipe of the documentation, with ONNX Runtime's own quantizer."""
    quantization = pytest.importorskip("onnxruntime.quantization")
    excluded = json.loads(
        selected(capsys, model.path, "**.attention", "--format", "onnxruntime")[1]
    )
    quantization.quantize_dynamic(model.path, tmp_path / "q.onnx", nodes_to_exclude=excluded)
    nodes = onnx.load(tmp_path / "q.onnx").graph.node
    quantized = [n.name for n in nodes if n.op_type == "MatMulInteger"]
    assert quantized == [f"/layer.{i}/mlp/MatMul_quant" for i in range(12)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["layer.0.atention"], "similar names: 'layer.0.attention'"),
        (["layer.*.atention.**"], "similar names: 'layer."),
        (["--classes", "Atention"], "similar names: 'Attention'"),
        (["layer.0", "--op-types", "Matmul"], "similar names: 'MatMul'"),
        (["layer.[3-"], "no module"),
        (["layer.[11-3]"], "not a range of numbers"),
        (["layer.[z-a]"], "check its brackets"),
    ],
)
def test_what_does_not_exist(model, arguments, message, capsys):
    status, out, err = selected(capsys, model.path, *arguments)
    assert (status, out) == (1, "") and message in err and len(err.splitlines()) == 1


def test_nodes_without_names_are_not_named(model, tmp_path, capsys):
    proto = onnx.load(model.path)
    for node in proto.graph.node:
        if node.name == "/layer.0/mlp/MatMul":
            node.name = ""
    onnx.save(proto, tmp_path / "nameless.onnx")
    status, out, err = selected(capsys, tmp_path / "nameless.onnx", "layer.0.mlp")
    assert status == 0 and out.split() == ["/layer.0/mlp/Add"]
    assert "1 of 2 nodes have no name in the file" in err
