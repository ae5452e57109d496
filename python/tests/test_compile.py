"""htp compile with the real IREE: equal outputs, every layer compiled once, and a cache that notices changes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import htp
from htp.iree.compiler import Compiler, explain

pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")


class Block(torch.nn.Module):
    """A layer with a norm, a mask that the model computes once, and a choice of activation."""

    def __init__(self, width: int, activation: str = "relu") -> None:
        super().__init__()
        self.first = torch.nn.Linear(width, 2 * width)
        self.second = torch.nn.Linear(2 * width, width)
        self.norm = torch.nn.LayerNorm(width)
        self.activation = getattr(torch, activation)

    def forward(self, x, mask):
        scores = (x @ x.transpose(1, 2)).masked_fill(mask, -1e4).softmax(-1)
        return x + self.second(self.activation(self.first(self.norm(scores @ x))))


class Net(torch.nn.Module):
    def __init__(self, layers: int, other: int | None = None, activation: str = "relu") -> None:
        super().__init__()
        self.table = torch.nn.Embedding(50, 16)
        self.layers = torch.nn.ModuleList(
            Block(16, "tanh" if i == other else activation) for i in range(layers)
        )
        self.head = torch.nn.Linear(16, 5)

    def forward(self, ids):
        x = self.table(ids)
        mask = (ids == 0)[:, None, :].expand(-1, ids.shape[1], -1)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(x), x


def exported(folder: Path, name: str, exporter: str = "dynamo", **options) -> Path:
    torch.manual_seed(0)
    dynamic = options.pop("dynamic", None)
    ids = torch.randint(1, 50, (2, 7))
    path = folder / f"{name}.onnx"
    htp.export(Net(**options).eval(), (ids,), path, exporter=exporter, dynamic_shapes=dynamic)
    return path


#: What lies before the first layer and after the last one.
AROUND = ["main_around"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """(folder, cache), shared by all tests here, so that nothing is compiled twice."""
    folder = tmp_path_factory.mktemp("compile")
    return folder, folder / "cache"


def check(model: Path, folder: Path, ids: np.ndarray) -> htp.CompiledModel:
    """The compiled model must give what ONNX Runtime gives for the tagged file."""
    compiled = htp.load_compiled(folder)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    expected = session.run(None, {name: ids})
    for got in (compiled(ids), compiled(**{name: ids})):
        assert list(got) == [value.name for value in session.get_outputs()]
        for one, other in zip(got.values(), expected):
            np.testing.assert_allclose(one, other, atol=1e-4)
    return compiled


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_outputs_and_layers(shared, exporter):
    folder, cache = shared
    model = exported(folder, exporter, exporter, layers=3)
    made = htp.compile(model, folder / f"{exporter}.iree", cache=cache, jobs=1)
    assert [program.name for program in made.programs] == ["Block", *AROUND, "main"]
    assert made.programs[0].calls == ("layers.0", "layers.1", "layers.2")
    ids = np.random.default_rng(1).integers(0, 50, (2, 7))
    compiled = check(model, made.path, ids)
    assert compiled.layers["Block"] == ["layers.0", "layers.1", "layers.2"]
    # The exporter computes sizes in the graph; the layer's signature has them all.
    signature = (made.path / "Block.mlir").read_text().partition("{torch")[0]
    assert "?" not in signature


def test_what_is_compiled_again(shared):
    folder, cache = shared
    base = exported(folder, "base", layers=3)
    first = htp.compile(base, folder / "base.iree", cache=cache)
    assert htp.compile(base, folder / "again.iree", cache=cache).compiled == []

    # Other weights: nothing is compiled, and the outputs use the other weights.
    torch.manual_seed(3)
    net = Net(3).eval()
    ids = torch.randint(1, 50, (2, 7))
    htp.export(net, (ids,), folder / "trained.onnx")
    trained = htp.compile(folder / "trained.onnx", folder / "trained.iree", cache=cache)
    assert trained.compiled == []
    check(folder / "trained.onnx", trained.path, ids.numpy())

    # More of the same layer: only the program around it is compiled.
    deeper = exported(folder, "deeper", layers=5)
    assert htp.compile(deeper, folder / "deeper.iree", cache=cache).compiled == ["main"]

    # One layer differs: only its own file and its calls are compiled.
    mixed = exported(folder, "mixed", layers=3, other=0)
    made = htp.compile(mixed, folder / "mixed.iree", cache=cache)
    calls = {p.name: len(p.calls) for p in made.programs}
    assert calls == {"Block": 2, "Block_1": 1, "main_around": 2, "main": 0}
    assert made.compiled == ["Block_1", "main"]
    check(mixed, made.path, ids.numpy())

    # All layers differ in the same way: only the layer is compiled.
    changed = exported(folder, "changed", layers=3, activation="sigmoid")
    assert htp.compile(changed, folder / "changed.iree", cache=cache).compiled == ["Block"]

    # Other flags make other programs.
    flags = ["--iree-llvmcpu-target-cpu=generic"]
    other = htp.compile(base, folder / "generic.iree", cache=cache, flags=flags)
    assert other.compiled == ["Block", *AROUND, "main"]
    assert first.compiled in ([], ["Block", *AROUND, "main"], ["main"])


def test_dynamic_batch(shared):
    folder, cache = shared
    batch = {"ids": {0: torch.export.Dim("batch", min=2)}}
    model = exported(folder, "dynamic", layers=2, dynamic=batch)
    made = htp.compile(model, folder / "dynamic.iree", cache=cache)
    compiled = htp.load_compiled(made.path)
    assert compiled.inputs[0].shape == ("batch", 7)
    for size in (2, 5):
        check(model, made.path, np.random.default_rng(1).integers(0, 50, (size, 7)))


def test_classes_and_outlined_files(shared):
    folder, cache = shared
    model = exported(folder, "named", layers=2)
    outlined = htp.outline(model, folder / "named.outlined.onnx")
    made = htp.compile(outlined.path, folder / "outlined.iree", cache=cache)
    assert [p.name for p in made.programs] == ["Block", *AROUND, "main"]
    made = htp.compile(model, folder / "linear.iree", cache=cache, classes=["LayerNorm"])
    assert [p.name for p in made.programs][0] == "LayerNorm"
    check(model, made.path, np.ones((2, 7), np.int64))


def test_errors_are_sentences(shared, net, tmp_path, run_htp):
    folder, cache = shared
    model = exported(folder, "errors", layers=2)
    with pytest.raises(
        htp.ProgramFailed, match="no module is of class 'Blok'; did you mean 'Block'"
    ):
        htp.compile(model, tmp_path / "out", cache=cache, classes=["Blok"])
    plain = onnx.load(model)
    del plain.metadata_props[:]
    onnx.save(plain, tmp_path / "plain.onnx")
    with pytest.raises(htp.NotTagged):
        htp.compile(tmp_path / "plain.onnx", tmp_path / "out", cache=cache)
    (tmp_path / "file").write_text("")
    with pytest.raises(htp.BadInput, match="it is a file, expected a folder"):
        htp.compile(model, tmp_path / "file", cache=cache)
    assert not (tmp_path / "out").exists()

    with pytest.raises(htp.BadInput, match="contains no compiled model"):
        htp.load_compiled(tmp_path)
    made = htp.compile(model, tmp_path / "made", cache=cache)
    compiled = htp.load_compiled(made.path)
    with pytest.raises(htp.BadInput, match=r"'ids' has shape \(2, 8\), expected \(2, 7\)"):
        compiled(np.ones((2, 8), np.int64))
    with pytest.raises(htp.BadInput, match="'ids' is float32, expected int64"):
        compiled(np.ones((2, 7), np.float32))
    with pytest.raises(htp.BadInput, match="input 'ids' is missing"):
        compiled()
    (made.path / "Block.vmfb").unlink()
    with pytest.raises(htp.BadInput, match="lacks Block.vmfb"):
        htp.load_compiled(made.path)

    done = run_htp("compile", model, "-o", tmp_path / "cli", "--cache", cache, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert [p["name"] for p in result["programs"]] == ["Block", *AROUND, "main"]
    assert all(p["cached"] for p in result["programs"])


POOL = """
module attributes {onnx.ir_version = 10 : si64, onnx.opset_import = [{domain = "", version = 18 : si64}]} {
  htp.hierarchy @Net : "demo.Net" { htp.module @pool : "demo.Pool" }
  func.func @main_graph(%x: tensor<1x1x4x4xf32> {onnx.name = "x"}, %r: tensor<2x5xf32> {onnx.name = "r"})
      -> (tensor<2x1x1x1xf32> {onnx.name = "y"}) {
    %0 = "onnx.MaxRoiPool"(%x, %r) {pooled_shape = [1 : si64, 1 : si64], htp.tag = #htp.tag<"pool">}
      : (tensor<1x1x4x4xf32>, tensor<2x5xf32>) -> tensor<2x1x1x1xf32>
      loc(fused<{htp.scope = "pool", htp.sources = 1 : i64}>["n", "net.py":12:0])
    onnx.Return %0 : tensor<2x1x1x1xf32>
  }
}
"""


def test_operator_that_iree_lacks(shared, tmp_path):
    _, cache = shared
    (tmp_path / "m.mlir").write_text(POOL)
    with pytest.raises(htp.HTPError) as error:
        htp.compile(tmp_path / "m.mlir", tmp_path / "out", cache=cache)
    assert "IREE cannot compile 'main'" in str(error.value)
    assert "(operator MaxRoiPool; module 'pool'; net.py:12)" in str(error.value)
    assert not (tmp_path / "out").exists()


OPEN = """
module attributes {onnx.ir_version = 10 : si64, onnx.opset_import = [{domain = "", version = 18 : si64}]} {
  htp.hierarchy @Net : "demo.Net" { htp.module @a : "demo.Layer" htp.module @b : "demo.Layer" }
  func.func @main_graph(%x: tensor<4xf32> {onnx.name = "x"}) -> (tensor<1x?xf32> {onnx.name = "y"}) {
    %n = "onnx.NonZero"(%x) {htp.tag = #htp.tag<"">} : (tensor<4xf32>) -> tensor<1x?xi64>
    %f = "onnx.Cast"(%n) {to = f32, htp.tag = #htp.tag<"">} : (tensor<1x?xi64>) -> tensor<1x?xf32>
    %0 = "onnx.Relu"(%f) {htp.tag = #htp.tag<"a">} : (tensor<1x?xf32>) -> tensor<1x?xf32>
    %1 = "onnx.Exp"(%0) {htp.tag = #htp.tag<"a">} : (tensor<1x?xf32>) -> tensor<1x?xf32>
    %2 = "onnx.Relu"(%1) {htp.tag = #htp.tag<"b">} : (tensor<1x?xf32>) -> tensor<1x?xf32>
    %3 = "onnx.Exp"(%2) {htp.tag = #htp.tag<"b">} : (tensor<1x?xf32>) -> tensor<1x?xf32>
    onnx.Return %3 : tensor<1x?xf32>
  }
}
"""


def test_sizes_that_nobody_knows_are_a_warning(shared, tmp_path):
    _, cache = shared
    (tmp_path / "m.mlir").write_text(OPEN)
    with pytest.warns(htp.HTPWarning, match="sizes in the signature of Layer are unknown"):
        made = htp.compile(tmp_path / "m.mlir", tmp_path / "out", cache=cache, classes=["Layer"])
    got = htp.load_compiled(made.path)(np.array([0, 1, 0, 2], np.float32))["y"]
    np.testing.assert_allclose(got, np.exp(np.exp([[1.0, 3.0]])), rtol=1e-4)


def test_missing_package(tmp_path):
    """Without IREE's packages, the command says which to install."""
    code = (
        "import sys; sys.modules['iree'] = None; sys.modules['iree.compiler'] = None\n"
        "import htp\n"
        "try: htp.compile('x.onnx', 'out')\n"
        "except htp.MissingPackage as error: print(error)"
    )
    root = Path(htp.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
    )
    assert "compiling needs iree-base-compiler" in done.stdout, done.stderr
    assert "pip install 'htp[iree]'" in done.stdout


def test_explanations_and_keys():
    assert "signal 11" in explain("", "Layer", -11)
    default, other = Compiler(), Compiler(("--iree-opt-level=O3",))
    assert "--iree-llvmcpu-target-cpu=host" in default.flags
    assert default.identity != other.identity
    assert Compiler(("--iree-hal-target-backends=vmvx",)).flags == [
        "--iree-hal-target-backends=vmvx"
    ]
