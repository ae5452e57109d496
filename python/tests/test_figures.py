"""Costs of modules: the table of operators against values computed by hand, and the sums over modules."""

import json

import pytest
from conftest import example

import htp
from htp.figures import figures_of, unsure
from htp.repeats import Repeats
from htp.report import markdown
from htp.sizes import start_module_figures


def test_modules_of_a_real_model(plain):
    """Against PyTorch's own parameters, and products counted by hooks."""
    torch = pytest.importorskip("torch")
    tagged, model, args = plain
    products = {}

    def count(module, given, made):
        if isinstance(module, torch.nn.Linear):
            rows = made.numel() // made.shape[-1]
            products[module] = products.get(module, 0) + rows * module.weight.numel()

    handles = [m.register_forward_hook(count) for m in model.modules()]
    model(*args)
    for handle in handles:
        handle.remove()
    assert products, "the example has linear layers"
    for path, module in model.named_modules():
        if path not in tagged.modules:
            continue
        costs = tagged.modules[path].costs
        assert costs.total_parameters == sum(p.numel() for p in module.parameters()), path
        if isinstance(module, torch.nn.Linear):
            assert costs.total_multiply_adds == products[module], path
            assert costs.total_weight_bytes == {
                "f32": 4 * sum(p.numel() for p in module.parameters())
            }
        assert not costs.unknown
    root = tagged.modules[""].costs
    assert root.total_multiply_adds == sum(
        c.multiply_adds or 0 for c in tagged.figures.nodes.values()
    )
    assert root.total_parameters == sum(p.numel() for p in model.parameters())
    assert sum(root.evidence.values()) == tagged.modules[""].total_nodes


class Tied(__import__("torch").nn.Module):
    def __init__(self):
        import torch

        super().__init__()
        self.first = torch.nn.Embedding(10, 4)
        self.last = torch.nn.Linear(4, 10, bias=False)
        self.last.weight = self.first.weight

    def forward(self, ids):
        return self.last(self.first(ids))


@pytest.fixture(scope="module")
def tied(tmp_path_factory):
    import torch

    path = tmp_path_factory.mktemp("tied") / "tied.onnx"
    return htp.export(Tied(), (torch.zeros(2, 3, dtype=torch.long),), path, dynamic_shapes="auto")


def test_what_is_shared_counts_once(tied):
    root, last = tied.modules[""].costs, tied.modules["last"].costs
    assert root.total_parameters == 40
    assert (last.parameters, last.total_parameters) == (40, 40)
    assert tied.modules["first"].costs.parameters == 40


def test_open_sizes_are_said_and_can_be_given(tied, run_htp):
    open_costs = tied.modules["last"].costs
    assert open_costs.unknown["multiply_adds"] == 1 and open_costs.total_multiply_adds == 0
    assert any("multiply-adds of 1 nodes are not known (1 MatMul)" in n for n in tied.figures.notes)
    names = {
        name for name in ("batch", "s0", "ids.0", "ids_0", "ids_1", "length", "s1", "s77", "s68")
    }
    shown = run_htp("analyze", tied.path, "--dim", "nothing=3")
    assert shown.returncode == 1 and "no input has an open dimension 'nothing'" in shown.stderr
    onnx = pytest.importorskip("onnx")
    shape = onnx.load(str(tied.path)).graph.input[0].type.tensor_type.shape
    names = [d.dim_param or f"ids.{i}" for i, d in enumerate(shape.dim)]
    given = figures_of(tied, {names[0]: 2, names[1]: 3})
    assert given.modules["last"].total_multiply_adds == 2 * 3 * 4 * 10
    assert not given.modules[""].unknown


def test_with_nodes_and_without_the_same(plain, tied, net, thousands, tmp_path):
    """`htp analyze` reads no nodes for its tables. Also in bodies, functions, and where weights are shared or sizes
    open; and what is known without sizes is what is known with them."""
    flat = plain[0].path
    outlined = htp.outline(flat, tmp_path / "outlined.onnx").path
    for path in (flat, outlined, tied.path, net, thousands):
        lean = htp.TaggedModel(path, start_module_figures(path).read())
        whole = htp.load(path)
        assert figures_of(lean).modules == whole.figures.modules
        assert figures_of(lean).notes == whole.figures.notes
        assert unsure(lean) == unsure(whole)
        assert list(Repeats(lean).tree()) == list(Repeats(whole).tree())
        assert lean.statistics == whole.statistics
        sidecar = tmp_path / "m.ops.json"
        sidecar.write_text(json.dumps(whole.metadata))
        for module, costs in figures_of(htp.load(sidecar)).modules.items():
            known = whole.figures.modules[module]
            for (
                name
            ) in "parameters total_parameters confidence lowest_confidence unsure evidence".split():
                assert getattr(costs, name) == getattr(known, name), (path, module, name)
    assert unsure(htp.load(net)), "one of these models has some"


def test_equal_layers_are_one(tmp_path_factory):
    model, args = example("transformer").build()
    path = tmp_path_factory.mktemp("bert") / "bert.onnx"
    tagged = htp.export(model, args, path, exporter="torchscript")
    groups = {group.label: group.names("") for group in Repeats(tagged).groups()}
    assert groups["2 × BertLayer"] == "encoder.layer.0 … 1"
    assert any(label == "3 × Linear" and "query" in names for label, names in groups.items())
    report = markdown(tagged)
    assert "2 × BertLayer" in report and "encoder.layer.1.attention" not in report


def test_outlined_models_cost_the_same(plain, tmp_path, run_htp):
    """The bodies of functions count once for each call."""
    flat, *_ = plain
    outlined = flat.outline(tmp_path / "outlined.onnx")
    figures = "parameters activation_bytes multiply_adds".split()
    for path, module in flat.modules.items():
        for name in [*figures, *(f"total_{figure}" for figure in figures), "unknown"]:
            found, expected = (getattr(m.costs, name) for m in (outlined[path], module))
            assert found == expected, (path, name)
        if not path.endswith("norm"):  # parameters of equal norms are stored once
            assert outlined[path].costs.total_weight_bytes == module.costs.total_weight_bytes, path
    assert run_htp("analyze", outlined.path).returncode == 0
    refused = run_htp("analyze", outlined.path, "--dim", "batch=2")
    assert refused.returncode == 1 and "before it was outlined" in refused.stderr
    page = run_htp("view", outlined.path)
    assert page.returncode == 0, page.stderr


def test_optimized_and_quantized_models_multiply_as_often(tmp_path):
    """Fused and quantized operators have other names and operands but do the same work."""
    runtime = pytest.importorskip("onnxruntime")
    from onnxruntime.quantization import quantize_dynamic

    model, args = example("transformer").build()
    plain = htp.export(model, args, tmp_path / "plain.onnx", exporter="dynamo")
    options = runtime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "fused.onnx")
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    runtime.InferenceSession(str(plain.path), options, providers=["CPUExecutionProvider"])
    quantize_dynamic(plain.path, tmp_path / "int8.onnx")
    # by hand: 2 layers of 12 products of 128 × 128 and two of 16 × 16 for 16 words, and the pooler
    expected = 2 * (12 * 128 * 128 * 16 + 2 * 16 * 16 * 128) + 128 * 128
    assert plain[""].costs.total_multiply_adds == expected
    for name in ("fused", "int8"):
        other = htp.tag(
            tmp_path / f"{name}.onnx", tmp_path / f"{name}.tagged.onnx", reference=plain.path
        )
        assert {n.op_type for n in other.nodes.values()} - {n.op_type for n in plain.nodes.values()}
        assert other[""].costs.total_multiply_adds == expected, name
        assert not other[""].costs.unknown
    assert other[""].costs.total_weight_bytes["i8"] > 0


def test_a_report_of_thousands_of_layers_can_be_read(thousands):
    report = markdown(htp.load(thousands))
    assert "× Layer" in report
    assert len(report.splitlines()) < 200


def test_without_the_model_sizes_are_unknown(net, tmp_path, run_htp):
    sidecar = tmp_path / "net.ops.json"
    htp.native.run("htp-opt", net, f"--op-metadata={sidecar}", "-o=")
    tagged = htp.load(sidecar)
    assert tagged.modules["layers.0.fc"].costs.parameters == 16
    assert "contains no sizes" in tagged.figures.notes[0]
    assert run_htp("analyze", sidecar, "--dim", "a=1").returncode == 1


def test_the_least_sure_first(net, run_htp):
    assert [node.name for node in unsure(htp.load(net))] == ["mask"]
    found = json.loads(run_htp("analyze", net, "--json").stdout)
    assert found["unsure"] == ["mask"]
    assert found["modules"][0]["costs"]["lowest_confidence"] == 0.5
    assert found["modules"][0]["costs"]["unsure"] == 1
    assert found["nodes"]["/layers.0/fc/MatMul"]["costs"]["multiply_adds"] == 64
    assert found["nodes"]["/layers.0/fc/MatMul"]["costs"]["types"] == ["f32[4,4]"]
