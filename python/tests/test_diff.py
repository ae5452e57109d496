"""htp diff: where two forms of a model diverge."""

import json

import pytest
import torch

import htp
from htp.cli import main

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
numpy = pytest.importorskip("numpy")


class Attention(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.query, self.key, self.value = (torch.nn.Linear(size, size) for _ in range(3))

    def forward(self, x):
        weights = torch.softmax(3 * self.query(x) @ self.key(x).transpose(-1, -2), -1)
        return weights @ self.value(x)


class Layer(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.attention, self.norm = Attention(size), torch.nn.LayerNorm(size)
        self.up, self.down = torch.nn.Linear(size, 2 * size), torch.nn.Linear(2 * size, size)

    def forward(self, x):
        x = self.norm(x + self.attention(x))
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


class Net(torch.nn.Module):
    """Two layers, and a third that is called twice."""

    def __init__(self, size=32):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(size) for _ in range(2))
        self.again, self.head = Layer(size), torch.nn.Linear(size, 4)

    def forward(self, x):
        for layer in (*self.layers, self.again, self.again):
            x = layer(x)
        return self.head(x)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("diff")


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return Net()


@pytest.fixture(scope="module")
def model(folder, network):
    path = folder / "net.onnx"
    htp.export(network, (torch.randn(1, 8, 32),), path, exporter="torchscript")
    return path


def injected(model, module, output, change=lambda w: w * 1.05):
    """The model with a different weight in one module, and without tags."""
    proto = onnx.load(model)
    node = next(
        n
        for n in proto.graph.node
        if n.op_type in ("MatMul", "Gemm") and f"{module.replace('.', '/')}/" in _normal(n.name)
    )
    weight = next(i for i in proto.graph.initializer if i.name in node.input)
    array = change(onnx.numpy_helper.to_array(weight))
    weight.CopyFrom(onnx.numpy_helper.from_array(array.astype("float32"), weight.name))
    onnx.save(proto, output)
    return output


def _normal(name):
    """`/layers.0/attention/…` and `/layers/layers.0/…` as a path with slashes."""
    parts = name.strip("/").split("/")
    return "/".join(part.replace(".", "/") for part in parts) + "/"


def optimized(path, output, level="EXTENDED"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
    options.optimized_model_filepath, options.log_severity_level = str(output), 4
    ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return output


MODULES = ["layers.0.attention.query", "layers.0.down", "layers.1.up", "layers.1.attention.value"]


@pytest.mark.parametrize("module", [*MODULES, "head"])
def test_a_changed_weight_is_found(model, folder, module, capsys):
    bad = injected(model, module, folder / "bad.onnx")
    assert main(["diff", str(model), str(bad), "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["first"]["module"] == module and result["worst"][0]["module"] == module
    # y = 1.05 W x + b: at most 5 %, less the share of the bias
    assert 0.03 < result["first"]["relative"] < 0.06
    assert result["first"]["snr"] == pytest.approx(26, abs=2)  # 20 log10(1 / 0.05)
    others = [c["added"] for c in result["comparisons"] if c["value"] != result["first"]["value"]]
    assert len(others) >= 20 and max(others) < 1e-5
    assert result["first"]["added"] == pytest.approx(0.05, rel=0.25)


@pytest.mark.parametrize("module", MODULES)
def test_a_changed_weight_is_found_after_the_optimizer(model, folder, module):
    bad = optimized(injected(model, module, folder / "bad2.onnx"), folder / "optimized.onnx")
    result = htp.diff(model, bad)
    assert result.first and result.first.module == module
    assert len(result.comparisons) >= 20


def test_the_optimizer_alone_changes_nothing(model, folder, capsys):
    good = optimized(model, folder / "good.onnx")
    assert main(["diff", str(model), str(good)]) == 0
    assert "0 diverge by more than 0.001" in capsys.readouterr().out


def test_without_names(model, folder):
    """If no name is the same, values are matched by position."""
    proto = onnx.load(injected(model, "layers.1.up", folder / "bad3.onnx"))
    kept = {v.name for v in [*proto.graph.input, *proto.graph.output, *proto.graph.initializer]}
    new = {}
    for node in proto.graph.node:
        node.name = ""
        for names in (node.input, node.output):
            names[:] = [
                n if n in kept or not n else new.setdefault(n, f"v{len(new)}") for n in names
            ]
    del proto.graph.value_info[:]
    onnx.save(proto, folder / "nameless.onnx")
    result = htp.diff(model, folder / "nameless.onnx")
    renamed = [c for c in result.comparisons if c.value != c.other]
    assert len(renamed) >= 20 and result.first.module == "layers.1.up"


def test_a_module_that_is_called_twice(model, folder):
    bad = injected(model, "again.down", folder / "bad4.onnx")
    result = htp.diff(model, bad)
    assert (result.first.module, result.first.call) == ("again.down", 0)
    calls = {c.call for c in result.comparisons if c.module == "again.down"}
    assert calls == {0, 1}


class Heads(torch.nn.Module):
    """A product that the optimizer computes for all rows at once and then splits into heads."""

    def __init__(self):
        super().__init__()
        self.project, self.norm = torch.nn.Linear(32, 32), torch.nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.project(x).view(2, 8, 4, 8))


def test_rows_of_all_images_at_once(folder):
    good, bad = folder / "heads.onnx", folder / "heads-gemm.onnx"
    htp.export(Heads(), (torch.randn(2, 8, 32),), good, exporter="torchscript")
    optimized(injected(good, "project", folder / "bad8.onnx"), bad)
    assert "Gemm" in [node.op_type for node in onnx.load(bad).graph.node]
    result = htp.diff(good, bad)
    assert result.first.module == "project" and not result.first.holds
    assert (result.first.shape, result.first.other_shape) == ((2, 8, 32), (16, 32))
    assert result.worst[0].module == "project"


def test_what_was_fused_is_named(model, folder):
    """BiasGelu contains the bias of the preceding Linear, whose value is gone."""
    bad = optimized(injected(model, "layers.1.up", folder / "bad7.onnx"), folder / "fused.onnx")
    kinds = [node.op_type for node in onnx.load(bad).graph.node]
    result = htp.diff(model, bad)
    if "BiasGelu" in kinds:
        assert result.first.module != "layers.1.up" and "layers.1.up" in result.first.holds
    else:
        assert result.first.module == "layers.1.up" and not result.first.holds


@pytest.mark.parametrize("module", [*MODULES, "head"])
def test_five_percent_within_the_noise_of_int8(model, folder, module):
    from onnxruntime.quantization import quantize_dynamic

    bad = injected(model, module, folder / "bad8.onnx")
    # Without it, products of 8 bits saturate on older processors: 15 % of noise in every Linear.
    quantize_dynamic(bad, folder / "noisy.onnx", reduce_range=True)
    result = htp.diff(model, folder / "noisy.onnx", tolerance=1)
    assert result.worst[0].module == module


def test_int8_names_the_broken_module(model, folder):
    """There is noise everywhere, but a saturated weight adds the most."""
    from onnxruntime.quantization import quantize_dynamic

    bad = injected(model, "layers.1.up", folder / "bad5.onnx", lambda w: numpy.clip(w, -0.03, 0.03))
    quantize_dynamic(bad, folder / "int8.onnx", reduce_range=True)
    result = htp.diff(model, folder / "int8.onnx", tolerance=0.3)
    assert result.worst[0].module == "layers.1.up" and not result.equal
    others = [c.added for c in result.worst if c.module != "layers.1.up"]
    assert result.worst[0].added > 2 * max(others)


def test_values_against_pytorch(model, network, folder):
    """The compared values are those that PyTorch's hooks see."""
    x = torch.randn(1, 8, 32, generator=torch.Generator().manual_seed(1))
    seen = {}
    hook = network.layers[1].up.register_forward_hook(lambda m, a, out: seen.update(out=out))
    with torch.no_grad():
        network(x)
    hook.remove()
    bad = injected(model, "layers.1.up", folder / "bad6.onnx", lambda w: w * 0)
    result = htp.diff(model, bad, inputs={"x": x.numpy()})
    bias = network.layers[1].up.bias.detach()
    wanted = (seen["out"] - bias).abs().max().item()
    assert result.first.absolute == pytest.approx(wanted, rel=1e-3)


def test_float16(model, folder):
    """Everything is rounded to 11 bits, and one weight is too large for that."""
    float16 = pytest.importorskip("onnxruntime.transformers.float16")
    for change, file in ((1, "half.onnx"), (1e6, "huge.onnx")):
        bad = injected(model, "layers.1.up", folder / "full.onnx", lambda w, f=change: w * f)
        half = float16.convert_float_to_float16(onnx.load(bad), keep_io_types=True)
        onnx.save(half, folder / file)
    rounded = htp.diff(model, folder / "half.onnx", tolerance=0.02)
    assert rounded.equal and 1e-5 < rounded.worst[0].added < 5e-3
    broken = htp.diff(folder / "full.onnx", folder / "huge.onnx", tolerance=0.02)
    assert broken.first.module == "layers.1.up"


def test_not_a_number_parts(model, folder):
    bad = injected(model, "layers.0.down", folder / "nan.onnx", lambda w: w * float("inf"))
    result = htp.diff(model, bad, tolerance=100)
    assert result.first.module == "layers.0.down" and result.first.nonfinite[1] > 0
    assert json.loads(json.dumps(result.as_json(), allow_nan=False))["equal"] is False


def test_models_that_share_nothing(model, folder, capsys):
    other = folder / "other.onnx"
    net = torch.nn.Sequential(torch.nn.Conv1d(2, 2, 1))
    htp.export(net, (torch.randn(1, 2, 3),), other, exporter="torchscript")
    (folder / "junk.onnx").write_bytes(b"x")
    for arguments in ([model, other], [other, model], [model, folder / "junk.onnx"]):
        assert main(["diff", *map(str, arguments)]) == 1
        err = capsys.readouterr().err
        assert err.startswith("htp: error:") and len(err.splitlines()) == 1, err
        assert "--debug" not in err
