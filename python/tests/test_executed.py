"""Which values of a graph are what module calls took and returned, and the tags that rest on it."""

import json

import numpy as np
import pytest
import torch
from conftest import ROOT

import htp
from htp.cli import main
from htp.executing.calls import ModuleCall, Observation, observe
from htp.executing.graph import Executable, Run
from htp.executing.sketching import distances, sketch
from htp.executing.ties import Ties

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

RANDOM = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def seeded():
    global RANDOM
    RANDOM = np.random.default_rng(7)


def array(*shape):
    return RANDOM.standard_normal(shape or (3, 8)).astype(np.float32)


def noisy(values, share):
    """Values at this distance, as a share of their length."""
    noise = RANDOM.standard_normal(values.shape)
    return values + noise * share * np.linalg.norm(values) / np.linalg.norm(noise)


# --- sketches


def test_sketches_tell_the_distance():
    one = array(3000, 40)
    for share in (1e-6, 1e-3, 0.1, 0.5):
        other = noisy(one.astype(np.float64), share)
        far = distances([sketch(one)], [sketch(other)])[0, 0]
        assert far == pytest.approx(share, rel=0.2)
    assert distances([sketch(one)], [sketch(one.copy())])[0, 0] == 0
    other = one.copy()
    other[:, 3] += 1  # in one place of every row, as another bias
    share = np.linalg.norm(other - one) / np.linalg.norm(other)
    assert distances([sketch(one)], [sketch(other)])[0, 0] == pytest.approx(share, rel=0.2)
    wide = one.reshape(-1)[: 29 * 4096].reshape(29, 4096)
    other = wide.copy()
    other[:, 3] += 1  # in one place of every block
    share = np.linalg.norm(other - wide) / np.linalg.norm(other)
    assert distances([sketch(wide)], [sketch(other)])[0, 0] == pytest.approx(share, rel=0.3)
    assert distances([sketch(one)], [sketch(array(3000, 40))])[0, 0] > 1


def test_a_sketch_is_small_and_does_not_copy_the_tensor():
    import tracemalloc

    large = np.ones((64, 1 << 18), dtype=np.float16)  # 32 MB; 128 MB as float64
    sketch(large[:1])  # the vectors are made once
    tracemalloc.start()
    made = sketch(large)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 48 << 20
    assert made.sums.nbytes == 2048 and not made.telling


def test_what_a_sketch_says_of_odd_tensors():
    assert sketch(np.array(["text"])) is None
    assert sketch(np.zeros((0, 4), dtype=np.float32)).norm == 0
    assert sketch(np.array([1.0, np.nan, 2, 3])).nan
    masks = [np.where(np.eye(4) > 0, 0.0, low).astype(np.float32) for low in (-np.inf, -3.4e38)]
    assert distances([sketch(masks[0])], [sketch(masks[1])])[0, 0] < 0.01
    assert not sketch(np.arange(3)).telling and not sketch(np.ones(100)).telling
    assert sketch(np.arange(4, dtype=np.uint8)).form == sketch(np.arange(4)).form


# --- ties


def tied(calls, values, copies=None, inputs=None):
    """Ties of calls, given as (module, parent, what it takes, what it returns), and values of a graph. `inputs`: those
    of them that the graph takes."""
    seen, numbers = Observation(), {}

    def number(tensor):
        if id(tensor) not in numbers:
            numbers[id(tensor)] = len(seen.tensors)
            seen.tensors.append(sketch(tensor))
        return numbers[id(tensor)]

    for name in inputs or ():
        seen.inputs[number(values[name])] = name
    for module, parent, takes, returns in calls:
        count = sum(call.module == module for call in seen.calls)
        call = ModuleCall(module, count, parent, [number(t) for t in takes])
        call.returns = [number(t) for t in returns]
        seen.calls.append(call)
    run = Run({k: sketch(v) for k, v in values.items()}, list(inputs or ()), copies or {})
    return Ties(seen, run)


def by_module(ties):
    return {(call["module"], call["call"]): call for call in ties.calls()}


def test_equal_values_are_the_borders_of_calls():
    x, h, y = array(), array(), array()
    ties = tied(
        [("", None, [x], [y]), ("a", 0, [x], [h]), ("b", 0, [h], [y])],
        {"x": x, "h1": h.copy(), "y1": y.copy()},
        inputs=["x"],
    )
    assert ties.calls() == [
        {"module": "", "call": 0, "takes": ["x"], "returns": ["y1"]},
        {"module": "a", "call": 0, "parent": 0, "takes": ["x"], "returns": ["h1"]},
        {"module": "b", "call": 0, "parent": 0, "takes": ["h1"], "returns": ["y1"]},
    ]
    assert ties.unclear == []


def test_a_call_that_returns_what_it_took_has_no_border():
    x, y = array(), array()
    calls = [("", None, [x], [y]), ("drop", 0, [x], [x]), ("a", 0, [x], [y]), ("drop", 0, [y], [y])]
    ties = tied(calls, {"x": x, "y": y.copy()}, inputs=["x"])
    assert set(by_module(ties)) == {("", 0), ("a", 0)}


def test_a_call_that_hides_what_it_does_is_listed():
    """It returned what it took, but the graph has that value twice: it may have left the nodes between."""
    x, y = array(), array()
    calls = [("", None, [x], [y]), ("a", 0, [x], [y]), ("turn", 0, [y], [y])]
    ties = tied(calls, {"x": x, "y": y.copy(), "again": y.copy()}, inputs=["x"])
    assert by_module(ties)["turn", 0]["partly"] and by_module(ties)["a", 0]["partly"]
    assert by_module(ties)["turn", 0]["returns"] == [] == by_module(ties)["a", 0]["returns"]


def test_equal_results_of_unrelated_calls_are_left_out():
    x, h = array(), array()
    calls = [("", None, [x], [h]), ("one", 0, [x], [h.copy()]), ("two", 0, [x], [h.copy()])]
    found = by_module(tied(calls, {"x": x, "h": h.copy()}, inputs=["x"]))
    for call in found.values():
        assert call["returns"] == [] and call["partly"]


def test_an_equal_result_of_the_call_around_is_left_out():
    """Attention to a single token returns its values, but does not hand on what its linear layer returned."""
    x, h = array(), array()
    calls = [("", None, [x], [h]), ("attention", 0, [x], [h]), ("value", 1, [x], [h.copy()])]
    found = by_module(tied(calls, {"x": x, "h": h.copy()}, inputs=["x"]))
    assert found["attention", 0]["returns"] == found["value", 0]["returns"] == []
    calls[2] = ("value", 1, [x], [h])  # the same tensor
    found = by_module(tied(calls, {"x": x, "h": h.copy()}, inputs=["x"]))
    assert found["attention", 0]["returns"] == found["value", 0]["returns"] == ["h"]


def test_a_copy_stands_for_its_original():
    x, h, y = array(), array(), array()
    calls = [("", None, [x], [y]), ("a", 0, [x], [h]), ("b", 0, [h], [y])]
    values = {"x": x, "h": h.copy(), "cast": h.copy(), "again": h.copy(), "y": y.copy()}
    ties = tied(calls, values, {"cast": "h", "again": "cast"}, inputs=["x"])
    assert by_module(ties)["a", 0]["returns"] == ["h"]
    assert by_module(ties)["b", 0]["takes"] == ["h", "cast", "again"]
    assert ties.unclear == ["cast", "again"]


def test_values_that_identify_nothing_only_say_where_a_call_began():
    x, y, mask = array(), array(), np.ones((2, 8), dtype=bool)
    ties = tied(
        [("", None, [x], [y]), ("mask", 0, [x], [mask]), ("a", 0, [x, mask], [y])],
        {"x": x, "m": mask.copy(), "y": y.copy()},
        inputs=["x"],
    )
    assert by_module(ties)["mask", 0]["returns"] == [] and by_module(ties)["mask", 0]["partly"]
    assert by_module(ties)["a", 0]["takes"] == ["x", "m"] and ties.unclear == ["m"]
    assert "open" not in by_module(ties)["a", 0]


def test_a_call_that_takes_what_the_graph_lacks_is_open():
    x, h, y = array(), array(), array()
    calls = [("", None, [x], [y]), ("conv", 0, [x], [h]), ("norm", 0, [h], [y])]
    found = by_module(tied(calls, {"x": x, "y": y.copy()}, inputs=["x"]))
    assert found["norm", 0]["open"] and found["norm", 0]["returns"] == ["y"]
    assert found["conv", 0]["partly"] and "open" not in found["conv", 0]


def test_the_kind_must_agree():
    x, h = array(), np.arange(24).reshape(3, 8)
    calls = [("", None, [x], [h]), ("a", 0, [x], [h])]
    found = by_module(tied(calls, {"x": x, "h": h.astype(np.float32)}, inputs=["x"]))
    assert found["a", 0]["returns"] == []


def test_a_value_of_another_shape_stands_for_a_tensor_whose_shape_is_gone():
    """As a product of matrices, whose result a merged view splits into heads at once."""
    x, h, y = array(), array(3, 8), array()
    calls = [("", None, [x], [y]), ("lin", 0, [x], [h]), ("b", 0, [h], [y])]
    values = {"x": x, "gemm": h.reshape(24), "heads": h.reshape(3, 2, 4), "y": y.copy()}
    seen = tied(calls, values, inputs=["x"])
    seen.run.views["heads"] = "gemm"
    found = by_module(Ties(seen.seen, seen.run))
    assert found["lin", 0]["returns"] == ["gemm"] == found["b", 0]["takes"]
    # The shape itself comes first.
    seen.run.values["same"] = sketch(h.copy())
    seen.run.views["same"] = "gemm"
    assert by_module(Ties(seen.seen, seen.run))["lin", 0]["returns"] == ["same"]


def test_a_view_of_another_tensor_is_not_its_own_border():
    """Flatten returned what the convolution had made: no value of that shape is left."""
    x, h, y = array(), array(3, 8), array()
    calls = [("", None, [x], [y]), ("conv", 0, [x], [h]), ("flatten", 0, [h], [h.reshape(24)])]
    calls.append(("lin", 0, [calls[2][3][0]], [y]))
    found = by_module(tied(calls, {"x": x, "h": h.copy(), "y": y.copy()}, inputs=["x"]))
    assert found["conv", 0]["returns"] == ["h"]
    assert found["flatten", 0]["returns"] == [] and found["flatten", 0]["partly"]
    assert found["lin", 0]["open"]


def chain(length):
    """Calls in a row, with what they took and returned."""
    tensors = [array(4, 64) for _ in range(length + 1)]
    calls = [("", None, tensors[:1], tensors[-1:])]
    calls += [(f"m{i}", 0, [tensors[i]], [tensors[i + 1]]) for i in range(length)]
    return tensors, calls


def test_rounded_values_are_tied_to_the_nearest():
    tensors, calls = chain(5)
    values = {f"v{i}": noisy(t, 0.1) if i else t for i, t in enumerate(tensors)}
    found = by_module(tied(calls, values, inputs=["v0"]))
    for i in range(5):
        assert found[f"m{i}", 0]["returns"] == found[f"m{i}", 0]["near"] == [f"v{i + 1}"]


def test_two_values_that_are_equally_near_are_left_out():
    tensors, calls = chain(5)
    values = {f"v{i}": noisy(t, 0.1) if i else t for i, t in enumerate(tensors)}
    values["other"] = noisy(tensors[3], 0.1)
    found = by_module(tied(calls, values, inputs=["v0"]))
    assert found["m2", 0]["returns"] == [] and found["m1", 0]["returns"] == ["v2"]


def test_two_tensors_that_are_equally_near_are_left_out():
    """A norm that hardly changes what it takes."""
    tensors, calls = chain(5)
    tensors[3][:] = noisy(tensors[2], 0.02)
    values = {f"v{i}": noisy(t, 0.1) if i else t for i, t in enumerate(tensors) if i != 3}
    found = by_module(tied(calls, values, inputs=["v0"]))
    assert found["m1", 0]["returns"] == found["m2", 0]["returns"] == []
    assert found["m3", 0]["returns"] == ["v4"]


def test_the_nearest_value_of_a_graph_of_full_precision_is_none():
    tensors, calls = chain(5)
    values = {f"v{i}": t.copy() for i, t in enumerate(tensors)}
    values["v3"] = noisy(tensors[3], 0.1)
    found = by_module(tied(calls, {**values, "v0": tensors[0]}, inputs=["v0"]))
    assert found["m2", 0]["returns"] == [] and found["m1", 0]["returns"] == ["v2"]


def test_nan_is_equal_to_nothing():
    x, h, y = array(), np.full((3, 8), np.nan), array()
    calls = [("", None, [x], [y]), ("a", 0, [x], [h]), ("b", 0, [h], [y])]
    found = by_module(tied(calls, {"x": x, "h": h.copy(), "y": y.copy()}, inputs=["x"]))
    assert found["a", 0]["partly"] and found["b", 0]["open"]


# --- models

SOURCE = """
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Tanh(), torch.nn.Tanh()
        self.left, self.right = torch.nn.Softmax(-1), torch.nn.Softmax(-1)
        self.act = torch.nn.ReLU(inplace=True)
        self.drop = torch.nn.Dropout()

    def forward(self, x):
        h = self.drop(self.second(self.first(x)))
        a, b = h.chunk(2, -1)
        return torch.cat([self.left(b), self.right(a)], -1) * self.act(x * 2)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])
        self.lin = torch.nn.Linear(64, 64)

    def forward(self, x):
        for block in self.blocks:
            x = block(x) + x
        return self.lin(x).tanh()

def build():
    torch.manual_seed(0)
    return Net(), (torch.randn(4, 64),)

def other():
    torch.manual_seed(1)
    model = Net()
    model.lin.weight.data.mul_(9)
    return model, (torch.randn(4, 64),)

def without_inputs():
    return build()[0]

def undefined():
    model, (x,) = build()
    return model, (x * float("nan"),)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("executed")
    (folder / "net.py").write_text(SOURCE)
    model, args = namespace(folder)["build"]()
    torch.onnx.export(model.eval(), args, folder / "net.onnx", dynamo=False)
    np.savez(folder / "inputs.npz", x=RANDOM.standard_normal((4, 64)).astype(np.float32))
    graph = onnx.load(folder / "net.onnx")
    truth = []
    for node in graph.graph.node:
        scope = node.name.strip("/").split("/")[:-1]
        truth.append(".".join(part for part in scope).replace("blocks.blocks", "blocks"))
    (folder / "truth.json").write_text(json.dumps(truth))
    onnx.save(without_names(graph), folder / "bare.onnx")
    return folder


def without_names(model):
    """The same graph, but with numbers for names, and no other notes."""
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    kept = {value.name for value in [*bare.graph.input, *bare.graph.output]}
    names = {}

    def new(name):
        return name if name in kept or not name else names.setdefault(name, f"v{len(names)}")

    for tensor in bare.graph.initializer:
        tensor.name = new(tensor.name)
    for node in bare.graph.node:
        node.name = ""
        del node.metadata_props[:]
        node.input[:] = [new(name) for name in node.input]
        node.output[:] = [new(name) for name in node.output]
    del bare.graph.value_info[:]
    del bare.metadata_props[:]
    return bare


def scopes(tagged):
    return [node.scope for node in tagged.nodes.values() if node.op_type != "Constant"]


def right(folder, tagged):
    """Nodes with the right tag, and all that have one."""
    nodes = onnx.load(folder / "net.onnx").graph.node
    truth = json.loads((folder / "truth.json").read_text())
    truth = [t for t, node in zip(truth, nodes) if node.op_type != "Constant"]
    found = scopes(tagged)
    assert len(found) == len(truth)
    return sum(a == b for a, b in zip(found, truth)), len(truth)


def test_modules_that_nothing_else_tells_apart(folder, tmp_path):
    with pytest.warns(htp.HTPWarning, match="says nothing about its modules"):
        alone = htp.tag(folder / "bare.onnx", tmp_path / "alone.onnx")
    good, count = right(folder, alone)
    assert good < count / 2
    run = htp.tag(
        folder / "bare.onnx",
        tmp_path / "run.onnx",
        run=f"{folder}/net.py",
        inputs=folder / "inputs.npz",
    )
    assert right(folder, run) == (count, count)
    kinds = ("Tanh", "Softmax", "Relu", "Concat", "Slice")
    assert {n.evidence for n in run.nodes.values() if n.op_type in kinds} == {"executed"}


def test_a_model_that_has_no_inputs_of_its_own(folder, tmp_path):
    """The inputs of the run are enough, by name or in order."""
    x = RANDOM.standard_normal((4, 64)).astype(np.float32)
    for inputs in ({"x": x}, {"onnx::input": x}):
        run = htp.tag(
            folder / "bare.onnx",
            tmp_path / "run.onnx",
            run=f"{folder}/net.py:without_inputs",
            inputs=inputs,
        )
        count = len(scopes(run))
        assert right(folder, run) == (count, count)


def test_the_command(folder, tmp_path, capsys):
    target = tmp_path / "tagged.onnx"
    given = ["--model", f"{folder}/net.py:build", "--run", f"{folder}/inputs.npz"]
    assert main(["tag", f"{folder}/bare.onnx", "-o", str(target), *given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["statistics"]
    assert found["evidence"]["executed"]["nodes"] > 10
    node = next(n for n in htp.load(target).nodes.values() if n.op_type == "Tanh")
    assert main(["explain", str(target), node.outputs[0]]) == 0
    text = capsys.readouterr().out
    assert "'blocks.0.first'" in text and "evidence: executed" in text
    assert main(["explain", f"{folder}/bare.onnx", node.outputs[0], *given]) == 0
    assert "when it ran" in capsys.readouterr().out


def test_the_file(folder, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    model = namespace(folder)["build"]()
    made = htp.execute(folder / "bare.onnx", model, tmp_path / "e.json")
    document = json.loads(made.path.read_text())
    schema = json.loads((ROOT / "docs/formats/executed.schema.json").read_text())
    jsonschema.validate(document, schema)
    assert document == made.document
    assert document == htp.execute(folder / "bare.onnx", model, tmp_path / "f.json").document
    for run in (made, made.path):
        tagged = htp.tag(folder / "bare.onnx", tmp_path / "t.onnx", run=run)
        assert right(folder, tagged)[0] == len(scopes(tagged))


def namespace(folder):
    space = {}
    exec((folder / "net.py").read_text(), space)
    return space


def half(folder, target):
    from onnxruntime.transformers.float16 import convert_float_to_float16

    model = onnx.load(folder / "bare.onnx")
    onnx.save(convert_float_to_float16(model, keep_io_types=True), target)


def int8(folder, target):
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(folder / "bare.onnx", target, per_channel=True)


def four_bits(folder, target):
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    model = onnx.load(folder / "bare.onnx")
    for node in model.graph.node:  # it only knows MatMul
        if node.op_type == "Gemm":
            weight = next(t for t in model.graph.initializer if t.name == node.input[1])
            weights = onnx.numpy_helper.to_array(weight).T.copy()
            weight.CopyFrom(onnx.numpy_helper.from_array(weights, weight.name))
            node.op_type = "MatMul"
            del node.attribute[:], node.input[2:]
    quantizer = MatMulNBitsQuantizer(model, block_size=32)
    quantizer.process()
    onnx.save(quantizer.model.model, target)


@pytest.mark.parametrize("form", [half, int8, four_bits])
def test_what_was_done_to_the_numbers(folder, tmp_path, form):
    pytest.importorskip("onnxruntime.quantization")
    form(folder, tmp_path / "form.onnx")
    run = htp.tag(tmp_path / "form.onnx", run=f"{folder}/net.py")
    kinds = ("Tanh", "Softmax", "Relu")
    found = [(n.op_type, n.scope) for n in run.nodes.values() if n.op_type in kinds]
    wanted = [
        (kind, f"blocks.{block}.{name}")
        for block in (0, 1)
        for kind, name in [
            ("Tanh", "first"),
            ("Tanh", "second"),
            ("Softmax", "left"),
            ("Softmax", "right"),
            ("Relu", "act"),
        ]
    ]
    assert sorted(found[:-1] if len(found) > len(wanted) else found) == sorted(wanted)


def test_values_are_fetched_in_parts(folder):
    space = namespace(folder)
    model, args = space["build"]()
    graph = Executable(folder / "bare.onnx")
    feeds = {"x": args[0].numpy()}
    whole = graph.run(feeds).values
    parts = Executable(folder / "bare.onnx")
    parts.bytes, fetched = 2048, []
    original = parts._fetched

    def watched(names, given):
        found = list(original(names, given))
        fetched.append(sum(array.nbytes for _, array in found))
        return iter(found)

    parts._fetched = watched
    found = parts.run(feeds).values
    assert list(found) == list(whole) and max(fetched) < sum(fetched) / 2
    assert all((found[name].sums == whole[name].sums).all() for name in whole)


def test_no_tensor_is_kept(folder):
    """A tensor that the model no longer needs is gone when the next module runs."""
    import gc
    import weakref

    from htp.diff_programs import Program

    model, args = namespace(folder)["build"]()
    alive = []

    class Watched(torch.nn.Module):
        def forward(self, x):
            gc.collect()
            alive.append(sum(ref() is not None for ref in refs))
            made = x + 1
            refs.append(weakref.ref(made))
            return made

    refs = []
    program = Program("net", torch.nn.Sequential(*[Watched() for _ in range(6)]), args, None)
    seen = observe(program)
    assert len(seen.calls) == 7 and max(alive) <= 2


# --- what can be wrong


def fails(capsys, *arguments):
    code = main(["tag", *map(str, arguments)])
    text = capsys.readouterr().err
    assert code == 1 and "Traceback" not in text
    return text


def test_errors(folder, tmp_path, capsys):
    bare, net = folder / "bare.onnx", f"{folder}/net.py"
    given = [bare, "-o", tmp_path / "t.onnx", "--model", net]
    np.savez(tmp_path / "name.npz", x=np.zeros((4, 64), np.float32), y=np.zeros(3))
    assert "has no input 'y'" in fails(capsys, *given, "--run", tmp_path / "name.npz")
    np.savez(tmp_path / "rank.npz", x=np.zeros(64, np.float32))
    assert "has the shape [64]" in fails(capsys, *given, "--run", tmp_path / "rank.npz")
    np.savez(tmp_path / "size.npz", x=np.zeros((4, 63), np.float32))
    assert "does not run" in fails(capsys, *given, "--run", tmp_path / "size.npz")
    (tmp_path / "no.npz").write_text("no")
    assert "it is not an .npz file" in fails(capsys, *given, "--run", tmp_path / "no.npz")
    assert "--model" in fails(capsys, bare, "--run", folder / "inputs.npz")
    undefined = [*given[:-1], f"{net}:undefined"]
    assert "returns NaN for these inputs" in fails(capsys, *undefined)
    text = fails(capsys, *given[:-1], f"{net}:other")
    assert "is not of" in text and "expected less than 35%" in text
    assert not (tmp_path / "t.onnx").exists()


def test_another_model_with_force(folder, tmp_path):
    with pytest.warns(htp.HTPWarning, match="is not of"):
        htp.tag(folder / "bare.onnx", tmp_path / "t.onnx", run=f"{folder}/net.py:other", force=True)


def test_a_graph_that_does_not_run(folder, tmp_path, capsys):
    model = onnx.load(folder / "bare.onnx")
    model.graph.node[0].domain = "nobody.knows"
    model.opset_import.add(domain="nobody.knows", version=1)
    onnx.save(model, tmp_path / "odd.onnx")
    text = fails(capsys, tmp_path / "odd.onnx", "--model", f"{folder}/net.py")
    assert "ONNX Runtime cannot load" in text and "odd.onnx" in text


def test_missing_packages(folder, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(htp.MissingPackage, match="needs onnxruntime"):
        htp.tag(folder / "bare.onnx", run=f"{folder}/net.py")


def test_inputs_without_a_model(folder):
    with pytest.raises(htp.BadInput, match="no PyTorch model is given"):
        htp.tag(folder / "bare.onnx", inputs=folder / "inputs.npz")
