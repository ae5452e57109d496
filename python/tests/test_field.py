"""htp.export on difficult user models: nothing gets lost, and nothing is silently wrong."""

import collections
import copy
import warnings

import numpy
import pytest
import torch

import htp
from htp.cli import main

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
BOTH = pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])


def run(path, feeds):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    return session.run(None, {name: feeds[name] for name in names})


def names_of(path):
    graph = onnx.load(str(path), load_external_data=False).graph
    return [v.name for v in graph.input], [v.name for v in graph.output]


class Small(torch.nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.lin = torch.nn.Linear(size, size)

    def forward(self, x):
        return self.lin(x)


# --- nothing lost --------------------------------------------------------------------------------


@BOTH
def test_data_files_are_named_after_the_model(exporter, tmp_path):
    """A second export into the same folder does not touch the first."""
    models = [Small(32), Small(32)]
    x = torch.randn(1, 32)
    for name, model in zip("ab", models):
        htp.export(model, x, tmp_path / f"{name}.onnx", exporter=exporter, external_data=True)
    found = sorted(f.name for f in tmp_path.iterdir() if ".onnx" in f.name)
    assert found == ["a.onnx", "a.onnx.data", "b.onnx", "b.onnx.data"]
    for name, model in zip("ab", models):
        (result,) = run(tmp_path / f"{name}.onnx", {"x": x.numpy()})
        numpy.testing.assert_allclose(result, model(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_data_of_another_model_is_never_replaced(tmp_path):
    """`other.onnx` needs a.onnx.data, so a new a.onnx gets another data file."""
    model = Small(32)
    options = {"exporter": "dynamo", "external_data": True}
    htp.export(model, torch.ones(1, 32), tmp_path / "a.onnx", **options)
    (tmp_path / "a.onnx").rename(tmp_path / "other.onnx")
    before = (tmp_path / "a.onnx.data").read_bytes()
    htp.export(Small(32), torch.ones(1, 32), tmp_path / "a.onnx", **options)
    assert (tmp_path / "a.onnx.data").read_bytes() == before
    assert (tmp_path / "a-2.onnx.data").exists()
    run(tmp_path / "a.onnx", {"x": numpy.ones((1, 32), numpy.float32)})
    # No other model needs the data of the one that is replaced.
    htp.export(Small(32), torch.ones(1, 32), tmp_path / "b.onnx", **options)
    htp.export(Small(32), torch.ones(1, 32), tmp_path / "b.onnx", **options)
    assert not (tmp_path / "b-2.onnx.data").exists()


class Frozen(collections.OrderedDict):
    """A container that forbids every change, as configurations do."""

    def __init__(self, items):
        super().__init__(items)
        self.frozen = True

    def __setitem__(self, key, value):
        if hasattr(self, "frozen"):
            raise TypeError("it cannot be changed")
        super().__setitem__(key, value)

    def update(self, *_, **__):
        raise TypeError("it cannot be changed")


class Odd(torch.nn.Module):
    """Contains state that is hard to restore, and changes all of it."""

    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
        self.config = Frozen({"size": 4, "nested": {"a": [1]}})
        self.queue = collections.deque([1, 2], maxlen=2)
        self.counts = collections.Counter(a=1)
        self.notes = {"deep": [[]]}
        self.plain = torch.zeros(4)

    def forward(self, x):
        self.queue.append(3)
        self.counts["a"] += 1
        self.notes["deep"][0].append(len(self.notes))
        if not torch.compiler.is_compiling():
            self.plain.data.add_(1)
        return self.lin(x)


@pytest.mark.parametrize("fails", [False, True])
@BOTH
def test_containers_of_every_class_are_left_alone(exporter, fails, tmp_path):
    model = Odd().train()
    config = model.config
    if fails:
        model.lin.register_forward_hook(lambda *_: 1 / 0)
    try:
        htp.export(model, torch.ones(1, 4), tmp_path / "m.onnx", exporter=exporter)
        assert not fails
    except htp.HTPError:
        assert fails
    assert model.config is config and dict(config) == {"size": 4, "nested": {"a": [1]}}
    assert list(model.queue) == [1, 2] and model.counts["a"] == 1
    assert model.notes == {"deep": [[]]}
    assert torch.equal(model.plain, torch.zeros(4))
    assert model.training and model.lin.training


@BOTH
def test_lazy_modules_stay_lazy(exporter, tmp_path):
    model = torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.ReLU())
    torch.manual_seed(0)
    with pytest.warns(htp.HTPWarning, match="lazy modules that have not run"):
        tagged = htp.export(model, torch.ones(1, 4), tmp_path / "m.onnx", exporter=exporter)
    assert type(model[0]) is torch.nn.LazyLinear
    x = torch.ones(1, 4)
    torch.manual_seed(0)
    want = model(x).detach().numpy()  # and initialize as if nothing had been
    (found,) = run(tagged.path, dict(zip(names_of(tagged.path)[0], [x.numpy()])))
    numpy.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


def test_the_mode_of_a_scripted_submodule(tmp_path):
    """PyTorch cannot export such a model; the attempt does not change it."""
    model = torch.nn.Sequential(torch.jit.script(Small()), torch.nn.ReLU()).train()
    with pytest.raises(htp.HTPError):
        htp.export(model, torch.ones(1, 4), tmp_path / "m.onnx")
    assert model[0].training and model.training


def test_what_was_there_before_is_said(net, tmp_path, capsys):
    target = tmp_path / "t.onnx"
    assert main(["tag", str(net), "-o", str(target)]) == 0
    assert "replaced" not in capsys.readouterr().err
    assert main(["tag", str(net), "-o", str(target)]) == 0
    assert f"htp: replaced {target}\n" in capsys.readouterr().err


# --- nothing silently wrong ----------------------------------------------------------------------


class Cached(torch.nn.Module):
    """A decoder's step: keys and values of all steps so far, as pairs."""

    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x, past_key_values):
        present = []
        for keys, values in past_key_values:
            keys = torch.cat([keys, self.lin(x)], 1)
            values = torch.cat([values, x], 1)
            x = torch.softmax(x @ keys.transpose(1, 2), -1) @ values
            present.append((keys, values))
        return {"logits": x, "past_key_values": tuple(present)}


@BOTH
def test_a_cache_of_tuples(exporter, tmp_path):
    model = Cached()
    past = tuple((torch.randn(1, 3, 4), torch.randn(1, 3, 4)) for _ in range(2))
    x = torch.randn(1, 1, 4)
    tagged = htp.export(
        model, (x,), tmp_path / "m.onnx", kwargs={"past_key_values": past}, exporter=exporter
    )
    inputs, outputs = names_of(tagged.path)
    parts = [f"{i}.{what}" for i in range(2) for what in ("key", "value")]
    assert inputs == ["x", *(f"past_key_values.{part}" for part in parts)]
    assert outputs == ["logits", *(f"present.{part}" for part in parts)]
    feeds = dict(zip(inputs, [x.numpy(), *(t.numpy() for pair in past for t in pair)]))
    with torch.no_grad():
        want = model(x, past)
    for a, b in zip(run(tagged.path, feeds), [want["logits"], *sum(want["past_key_values"], ())]):
        numpy.testing.assert_allclose(a, b.numpy(), rtol=1e-4, atol=1e-5)


@BOTH
def test_a_cache_of_transformers(exporter, tmp_path):
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=16, vocab_size=50, n_positions=32)
    model = transformers.GPT2LMHeadModel(config).eval()
    ids = torch.randint(0, 50, (1, 5))
    with torch.no_grad():
        cache = model(ids, use_cache=True).past_key_values
        want = model(ids[:, :1], past_key_values=copy.deepcopy(cache), use_cache=True)
    tagged = htp.export(
        model,
        (ids[:, :1],),
        tmp_path / "m.onnx",
        kwargs={"past_key_values": cache, "use_cache": True},
        exporter=exporter,
    )
    assert cache.layers[0].keys.shape[2] == 5, "the cache that was given is as it was"
    inputs, outputs = names_of(tagged.path)
    assert inputs[1:3] == ["past_key_values.0.key", "past_key_values.0.value"]
    assert outputs[1:3] == ["present.0.key", "present.0.value"] and len(outputs) == 5
    layers = [t.numpy() for layer in cache.layers for t in (layer.keys, layer.values)]
    found = run(tagged.path, dict(zip(inputs, [ids[:, :1].numpy(), *layers])))
    numpy.testing.assert_allclose(found[0], want.logits.numpy(), rtol=1e-3, atol=1e-4)
    assert found[1].shape[2] == 6


class Branch(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # this line is named
            return x + 1
        return x - 1


def test_a_branch_that_is_fixed_and_why_the_exporter_is_another(tmp_path):
    with pytest.warns(htp.HTPWarning) as caught:
        tagged = htp.export(Branch(), torch.ones(2), tmp_path / "m.onnx")
    texts = [str(w.message) for w in caught if w.category is htp.HTPWarning]
    assert texts == tagged.warnings and len(texts) == 2
    assert texts[0].startswith("the dynamo exporter failed") and "data-dependent" in texts[0]
    line = Branch.forward.__code__.co_firstlineno + 1
    assert f"test_field.py:{line}: Converting a tensor to a Python boolean" in texts[1]
    assert tagged.exporter == "torchscript" and "data-dependent" in tagged.fallback


def test_the_command_says_it_too(tmp_path, run_htp):
    source = tmp_path / "net.py"
    source.write_text(
        "import torch\nclass Branch(torch.nn.Module):\n    def forward(self, x):\n"
        "        return x + 1 if x.sum() > 0 else x\n"
        "def build():\n    return Branch(), (torch.ones(2),)\n"
    )
    result = run_htp("export", source, "-o", tmp_path / "m.onnx")
    assert result.returncode == 0
    assert "htp: warning: the dynamo exporter failed" in result.stderr
    assert "net.py:4: Converting a tensor to a Python boolean" in result.stderr
    assert "exported with the torchscript exporter" in result.stdout


def test_a_user_s_own_warning_arrives(tmp_path):
    class Warns(Small):
        def forward(self, x):
            warnings.warn("mind the step", stacklevel=1)
            return super().forward(x)

    with pytest.warns(UserWarning, match="mind the step"):
        htp.export(Warns(), torch.ones(1, 4), tmp_path / "m.onnx", exporter="torchscript")


@BOTH
def test_an_output_that_is_no_tensor_is_said(exporter, tmp_path):
    class Mixed(Small):
        def forward(self, x):
            return {"y": self.lin(x), "label": object(), "none": None}

    with pytest.warns(htp.HTPWarning, match="the output 'label' is a object, not a tensor"):
        htp.export(Mixed(), torch.ones(1, 4), tmp_path / "m.onnx", exporter=exporter)
    assert names_of(tmp_path / "m.onnx")[1] == ["y"]


@BOTH
def test_a_buffer_that_forward_writes_to(exporter, tmp_path):
    class Running(Small):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(4))

        def forward(self, x):
            self.seen.add_(x.mean(0))
            return self.lin(x - self.seen)

    model = Running()
    with pytest.warns(htp.HTPWarning, match="writes to the buffer 'seen'"):
        htp.export(model, torch.ones(1, 4), tmp_path / "m.onnx", exporter=exporter)
    assert torch.equal(model.seen, torch.zeros(4))


# --- what torch.onnx.export takes ----------------------------------------------------------------


def test_the_arguments_of_torch_onnx_export(tmp_path):
    f = tmp_path / "f.onnx"
    tagged = htp.export(
        Small(),
        torch.ones(1, 4),
        f,
        input_names=["features"],
        output_names=["scores"],
        opset_version=18,
        dynamic_axes={"features": {0: "batch"}},
        dynamo=False,
    )
    assert tagged.path == f and tagged.exporter == "torchscript"
    graph = onnx.load(str(f)).graph
    assert [v.name for v in graph.input] == ["features"]
    assert [v.name for v in graph.output] == ["scores"]
    dims = graph.input[0].type.tensor_type.shape.dim
    assert dims[0].dim_param == "batch" and dims[1].dim_value == 4
    assert onnx.load(str(f)).opset_import[0].version == 18


@BOTH
def test_one_tensor_is_one_argument(exporter, tmp_path):
    htp.export(Small(), torch.ones(1, 4), tmp_path / "m.onnx", exporter=exporter)
    shape = onnx.load(str(tmp_path / "m.onnx")).graph.input[0].type.tensor_type.shape
    assert [d.dim_value for d in shape.dim] == [1, 4]


def test_a_dict_at_the_end_holds_keywords(tmp_path):
    class Two(torch.nn.Module):
        def forward(self, x, y):
            return x - y

    htp.export(Two(), (torch.ones(2), {"y": torch.ones(2)}), tmp_path / "m.onnx")
    assert names_of(tmp_path / "m.onnx")[0] == ["x", "y"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"export_modules_as_functions": True}, "it is called modules_as_functions"),
        ({"modules_as_functions": set()}, "names no class"),
        ({"nonsense": 1}, "neither htp.export nor torch.onnx.export has an option 'nonsense'"),
        ({"do_constant_folding": False}, "needs exporter='torchscript'"),
        ({"optimize": False, "exporter": "torchscript"}, "option of the dynamo exporter only"),
        ({"output": "other.onnx"}, "either f or output"),
        ({"input_names": ["a", "b"]}, "input_names has 2 names, but the call has 1 tensors: x"),
    ],
)
def test_what_is_not_supported_is_said(options, message, tmp_path):
    with pytest.raises(htp.BadInput, match=message):
        htp.export(Small(), torch.ones(1, 4), tmp_path / "m.onnx", **options)
    with pytest.raises(htp.BadInput, match="third argument is the file to write"):
        htp.export(Small(), (), {"x": torch.ones(1, 4)})


def test_an_opset_that_the_exporter_does_not_reach(tmp_path):
    with pytest.raises(htp.ExportFailed, match="wrote opset 18 instead of opset 3"):
        htp.export(
            Small(), torch.ones(1, 4), tmp_path / "m.onnx", exporter="dynamo", opset_version=3
        )


# --- every model that PyTorch exports ------------------------------------------------------------


@BOTH
def test_all_names_of_a_shared_module(exporter, tmp_path):
    class Shared(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = Small()
            self.also = self.cell

        def forward(self, x):
            return self.also(self.cell(x))

    tagged = htp.export(Shared(), torch.ones(1, 4), tmp_path / "m.onnx", exporter=exporter)
    for path in ("cell", "also"):
        assert tagged.nodes_in(path), path
        assert tagged.nodes_in(path) == tagged.nodes_in("cell")
        assert tagged.module(f"{path}.lin").class_name == "Linear"


@BOTH
def test_wrappers_leave_no_trace(exporter, tmp_path):
    model = torch.nn.Sequential(collections.OrderedDict(a=Small(), b=torch.compile(Small())))
    model.a.compile()
    wrapper = torch.nn.DataParallel(torch.compile(model))
    child = model.b
    tagged = htp.export(wrapper, torch.ones(1, 4), tmp_path / "m.onnx", exporter=exporter)
    assert {"a.lin", "b.lin"} <= set(tagged.modules)
    assert not any("_orig_mod" in path or "module" in path for path in tagged.modules)
    assert model.b is child and model.a._compiled_call_impl is not None


def test_a_scripted_model(tmp_path):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Small()

        def forward(self, x):
            return torch.relu(self.block(x))

    model = torch.jit.script(Net()).train()
    tagged = htp.export(model, torch.ones(1, 4), tmp_path / "m.onnx")
    assert model.training
    assert tagged.exporter == "torchscript"
    assert "block.lin" in tagged.modules and tagged.nodes_in("block")
    x = torch.randn(1, 4)
    (found,) = run(tagged.path, {"x": x.numpy()})
    numpy.testing.assert_allclose(found, model(x).detach().numpy(), rtol=1e-5, atol=1e-6)


@BOTH
def test_names_with_spaces(exporter, tmp_path):
    model = torch.nn.Sequential(collections.OrderedDict([("a space, übrig", Small())]))
    tagged = htp.export(model, torch.ones(1, 4), tmp_path / "m.onnx", exporter=exporter)
    part = tagged.extract("a space, übrig", tmp_path / "part.onnx")
    assert len(onnx.load(str(part)).graph.node) == len(tagged.nodes_in("a space, übrig"))
