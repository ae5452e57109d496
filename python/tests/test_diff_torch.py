"""htp diff with PyTorch models, and the map of values."""

import json
from pathlib import Path

import pytest
import torch

import htp
from htp.cli import main

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(4, 4, 3, padding=1)
        self.norm, self.act = torch.nn.BatchNorm2d(4), torch.nn.GELU()
        self.norm.running_mean.normal_(); self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        return x + self.act(self.norm(self.conv(x)))

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.again, self.drop = Block(), Block(), torch.nn.Dropout()
        self.head = torch.nn.Linear(4, 3)

    def forward(self, image, scale):
        x = self.drop(self.again(self.again(self.first(image))) * scale)
        return {"logits": self.head(x.mean((2, 3))), "features": x}

def build():
    torch.manual_seed(0)
    model = Net()
    return model, {"image": torch.randn(2, 4, 8, 8), "scale": torch.tensor(2.0)}

def bad():
    model, inputs = build()
    with torch.no_grad():
        model.again.conv.weight.mul_(1.05)
    return model, inputs

def stuck():
    model, inputs = build()
    return model, {**inputs, "image": torch.randn(2, 5, 8, 8)}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("torch")
    (folder / "net.py").write_text(SOURCE)
    for exporter in ("torchscript", "dynamo"):
        arguments = ["-q", "-o", f"{folder}/{exporter}.onnx", "--exporter", exporter]
        assert main(["export", f"{folder}/net.py", *arguments]) == 0
    return folder


def found(capsys, *arguments):
    code = main(["diff", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
@pytest.mark.parametrize("swapped", [False, True])
def test_an_export_is_the_model(folder, exporter, swapped, capsys):
    """Even if a convolution absorbed the norm after it: its own value is gone, but the norm's exists."""
    pair = [f"{folder}/net.py:build", folder / f"{exporter}.onnx"]
    code, result = found(capsys, *(pair[::-1] if swapped else pair))
    assert code == 0 and result["equal"]
    modules = {(c["module"], c["call"]) for c in result["comparisons"]}
    assert {("first", 0), ("again", 0), ("again", 1), ("head", 0), ("", 0)} <= modules
    assert all(c["snr"] is None or c["snr"] > 100 for c in result["comparisons"])
    assert all(c["added"] < 1e-5 for c in result["comparisons"])


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
@pytest.mark.parametrize("first", ["bad", "good"])
def test_a_bug_in_either_of_them(folder, exporter, first, capsys):
    file, bad = folder / f"{exporter}.onnx", f"{folder}/net.py:bad"
    code, result = found(capsys, *((bad, file) if first == "bad" else (file, bad)))
    assert code == 1 and result["first"]["module"] in ("again.conv", "again.norm")
    assert result["first"]["call"] == 0
    own = [c for c in result["comparisons"] if c["added"] > 1e-3]
    assert {c["module"] for c in own} <= {"again.conv", "again.norm"}


def test_two_pytorch_models(folder, capsys):
    code, result = found(capsys, f"{folder}/net.py:build", f"{folder}/net.py:bad")
    assert code == 1 and result["first"]["module"] == "again.conv"
    assert [c["module"] for c in result["worst"][:2]] == ["again.conv", "again.conv"]
    assert result["worst"][2]["added"] == 0 and not result["missing"]


def test_without_tags_and_in_python(folder):
    """The PyTorch model's trace says which values correspond."""
    proto = onnx.load(folder / "torchscript.onnx")
    del proto.metadata_props[:]
    for thing in [*proto.graph.node, *proto.graph.initializer]:
        del thing.metadata_props[:]
    onnx.save(proto, folder / "plain.onnx")
    torch.manual_seed(0)
    names = {}
    exec(SOURCE, names)  # noqa: S102
    model, inputs = names["build"]()
    model.train()
    result = htp.diff((model, inputs), folder / "plain.onnx")
    assert result.equal and len(result.comparisons) >= 8
    assert model.training and not model.head._forward_hooks
    other = {"image": inputs["image"].numpy() * 3}
    again = htp.diff((model, inputs), folder / "plain.onnx", inputs=other)
    assert again.equal and again.comparisons[0].absolute != result.comparisons[0].absolute


def test_the_map_of_values(folder, capsys):
    jsonschema = pytest.importorskip("jsonschema")
    target = folder / "map.json"
    arguments = [f"{folder}/net.py:build", f"{folder}/dynamo.onnx", "--value-map", str(target)]
    assert main(["diff", *arguments]) == 0
    written = json.loads(target.read_text())
    schema = json.loads((ROOT / "docs/formats/value-map.schema.json").read_text())
    jsonschema.validate(written, schema)
    graph = onnx.load(folder / "dynamo.onnx").graph
    made = {name for node in graph.node for name in node.output}
    made |= {tensor.name for tensor in graph.initializer}
    assert {line["second"] for line in written["values"]} <= made
    at = {(line["module"], line["call"], line["first"]): line for line in written["values"]}
    assert at["", 0, ":logits"]["second"] == "logits"
    assert at["again", 1, "again:output@1"]["shape"] == [2, 4, 8, 8]


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["net.py:nothing", "dynamo.onnx"], "has no 'nothing'"),
        (["net.py:stuck", "dynamo.onnx"], "does not run"),
        (["net.py:build", "dynamo.onnx", "--dim", "batch=2"], "brings its inputs"),
        (["net.py:build", "gone.onnx"], "no such file"),
        (["net.py:build", "net.onnx", "--value-map", "net.onnx"], "would replace"),
        (["net.py:build", "dynamo.onnx", "--value-map", "gone/map.json"], "gone"),
        (["net.py:build", "other.onnx"], "have nothing in common"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(folder, arguments, said, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "net.onnx").write_bytes((folder / "dynamo.onnx").read_bytes())
    other = torch.nn.Sequential(torch.nn.Linear(2, 2))
    if "other.onnx" in arguments and not Path("other.onnx").exists():
        inputs = (torch.randn(2, 4, 8, 8), torch.tensor(1.0))
        other.forward = lambda image, scale: other[0](image[..., :2]) + scale
        htp.export(other, inputs, "other.onnx", exporter="torchscript")
    capsys.readouterr()
    assert main(["diff", *arguments]) == 1
    err = capsys.readouterr().err
    assert err.startswith("htp: error:") and said in err and "--debug" not in err, err


def test_weights_in_a_file_of_their_own(folder, tmp_path, capsys):
    """Even if the ONNX file is first tagged in another folder."""
    proto = onnx.load(folder / "torchscript.onnx")
    del proto.metadata_props[:]
    for thing in [*proto.graph.node, *proto.graph.initializer]:
        del thing.metadata_props[:]
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0)
    assert main(["diff", str(folder / "torchscript.onnx"), str(tmp_path / "m.onnx")]) == 0
    assert main(["diff", str(tmp_path / "m.onnx"), str(folder / "torchscript.onnx")]) == 0
    assert main(["diff", f"{folder}/net.py:build", str(tmp_path / "m.onnx")]) == 0


def test_the_inputs_that_an_export_kept(folder, capsys):
    """Inputs are those of the example call, not generated ones, unless other sizes are requested."""
    numpy = pytest.importorskip("numpy")
    names = {}
    exec(SOURCE, names)  # noqa: S102
    _, inputs = names["build"]()
    with numpy.load(folder / "dynamo.inputs.npz") as kept:
        assert sorted(kept.files) == ["image", "scale"]
        assert (kept["image"] == inputs["image"].numpy()).all()
    bad = f"{folder}/net.py:bad"
    own = found(capsys, folder / "dynamo.onnx", folder / "torchscript.onnx")[1]
    torch_ = found(capsys, bad, folder / "torchscript.onnx")[1]
    same = {c["module"]: c["shape"] for c in own["comparisons"]}
    assert same["again"] == [2, 4, 8, 8] and torch_["first"]["shape"] == [2, 4, 8, 8]
    result = htp.profile(folder / "dynamo.onnx", runs=1, warmup=0)
    assert result.settings["inputs"]["scale"] == ["float32", []]
    lines = {k.source.rpartition("/")[2] for k in result.slowest(20) if k.source}
    number = 1 + SOURCE.splitlines().index("        return x + self.act(self.norm(self.conv(x)))")
    assert f"net.py:{number}" in lines
