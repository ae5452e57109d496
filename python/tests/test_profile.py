"""htp profile: node times of an engine by module."""

import collections
import json
import types
import warnings

import pytest
import torch

import htp
from htp.cli import main
from htp.profiles import read_times, times_of
from htp.running import inputs_for

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
numpy = pytest.importorskip("numpy")


class Block(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(size, size, 3, padding=1)
        self.bn1 = torch.nn.BatchNorm2d(size)
        self.conv2 = torch.nn.Conv2d(size, size, 3, padding=1)
        self.bn2 = torch.nn.BatchNorm2d(size)

    def forward(self, x):
        return torch.relu(x + self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))))


class Stem(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, size, 7, 2, 3)
        self.pool = torch.nn.MaxPool2d(3, 2, 1)

    def forward(self, x):
        return self.pool(torch.relu(self.conv(x)))


class ResNet(torch.nn.Module):
    def __init__(self, size=32):
        super().__init__()
        self.stem = Stem(size)
        self.blocks = torch.nn.Sequential(Block(size), Block(size))
        self.pool, self.head = torch.nn.AdaptiveAvgPool2d(1), torch.nn.Linear(size, 10)

    def forward(self, x):
        return self.head(self.pool(self.blocks(self.stem(x))).flatten(1))


def bert():
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=1024,
        vocab_size=100,
    )
    ids = torch.ones(1, 8, dtype=torch.long)
    axes = {"input_ids": {0: "batch", 1: "length"}, "attention_mask": {0: "batch", 1: "length"}}
    export = {"input_names": list(axes), "dynamic_axes": axes, "exporter": "torchscript"}
    return BertModel(config), (ids, torch.ones_like(ids)), export, {"batch": 4, "length": 128}


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_embd=128, n_layer=2, n_head=2, vocab_size=100, bos_token_id=0, eos_token_id=0
    )
    config.use_cache = False
    ids = torch.ones(1, 64, dtype=torch.long)
    return GPT2LMHeadModel(config), (ids,), {"exporter": "dynamo"}, {}


def resnet():
    return ResNet(), (torch.randn(1, 3, 160, 160),), {"exporter": "torchscript"}, {}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Each model, made on first use: (path, sizes of dimensions)."""
    folder, made = tmp_path_factory.mktemp("profile"), {}

    def get(name, form="fp32"):
        if name not in made:
            torch.manual_seed(0)
            model, args, options, dims = {"bert": bert, "gpt2": gpt2, "resnet": resnet}[name]()
            path = folder / f"{name}.onnx"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                htp.export(model, args, path, **options)
            made[name] = path, dims
        path, dims = made[name]
        if form == "int8" and (name, form) not in made:
            from onnxruntime.quantization import quantize_dynamic

            plain, tagged = folder / f"{name}.plain8.onnx", folder / f"{name}.int8.onnx"
            quantize_dynamic(path, plain)
            htp.tag(plain, tagged, reference=path)
            made[name, form] = tagged, dims
        return made[name, form] if form == "int8" else made[name]

    return get


@pytest.fixture(scope="module")
def recorded(exported, tmp_path_factory):
    """A profile that ONNX Runtime wrote without HTP: (model, profile, its events)."""
    path, dims = exported("bert")
    options = ort.SessionOptions()
    options.enable_profiling, options.log_severity_level = True, 4
    options.profile_file_prefix = str(tmp_path_factory.mktemp("recorded") / "profile")
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ids = numpy.ones((1, 128), dtype="int64")
    for _ in range(4):
        session.run(None, {"input_ids": ids, "attention_mask": ids})
    file = session.end_profiling()
    return path, file, json.load(open(file))


def profiled(capsys, *arguments):
    status = main(["profile", *map(str, arguments)])
    output = capsys.readouterr()
    return status, output.out, output.err


@pytest.mark.parametrize("form", ["fp32", "int8"])
@pytest.mark.parametrize("name", ["bert", "gpt2", "resnet"])
def test_all_time_has_a_module(exported, name, form):
    path, dims = exported(name, form)
    if form == "int8":
        kinds = {node.op_type for node in onnx.load(path).graph.node}
        assert kinds & {"MatMulInteger", "ConvInteger"}
    result = htp.profile(path, dims=dims, runs=10, threads=1)
    total = result.modules[""].total_microseconds
    own = sum(module.self_microseconds for module in result.modules.values())
    assert result.runs == 5 and len(result.run_microseconds) == 10
    mean = sum(sorted(result.run_microseconds)[:5]) / 5
    assert own == pytest.approx(mean, rel=0.01) and total == pytest.approx(mean, rel=0.01)
    assert result.attributed >= 0.99
    # Nodes of the root in the profile are nodes of the root in the file; how long they take depends on the machine.
    known = {node.name for node in htp.load(path).nodes.values() if not node.scope}
    assert [k.name for k in result.kernels if not k.module and k.name not in known] == []
    assert mean <= result.model_microseconds
    for path_, module in result.modules.items():
        below = [c for c, parent in result.parents.items() if parent == path_]
        rest = sum(result.modules[c].total_microseconds for c in below)
        assert module.total_microseconds == pytest.approx(module.self_microseconds + rest)


class Activated(torch.nn.Module):
    """Convolutions and products, each with its activation as a module of its own."""

    def __init__(self):
        super().__init__()
        self.convs = torch.nn.Sequential(
            torch.nn.Conv2d(3, 32, 3),
            torch.nn.ReLU(),
            torch.nn.Conv2d(32, 32, 3, bias=False),
            torch.nn.BatchNorm2d(32),  # folded into the weight, which is then no longer a parameter
            torch.nn.ReLU(),
        )
        self.pool = torch.nn.AdaptiveAvgPool2d(1)
        self.head, self.other = torch.nn.Linear(32, 10), torch.nn.Linear(10, 10)

    def forward(self, x):
        x = self.head(self.pool(self.convs(x)).flatten(1))
        return torch.nn.functional.linear(x, self.other.weight)  # the model itself multiplies


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
def test_a_fused_kernel_counts_for_the_module_that_works(exporter, tmp_path):
    """ONNX Runtime fuses activations into convolutions: the time is the convolution's. What a function of another
    module multiplies is that module's, whoever declares the weight."""
    torch.manual_seed(0)
    path = tmp_path / "m.onnx"
    htp.export(Activated().eval(), (torch.randn(1, 3, 64, 64),), path, exporter=exporter)
    result = htp.profile(path, runs=6, threads=1)
    convolutions = [k for k in result.kernels if "Conv" in k.op_type]
    assert [k.module for k in convolutions] == ["convs.0", "convs.2"]
    assert [k.makes for k in convolutions] == ["convs.1", "convs.4"], "each has an activation in it"
    left = {k.op_type for k in result.kernels if k.module in ("convs.1", "convs.4")}
    assert left <= {"ReorderOutput"}, "what changes the layout of a value is its maker's"
    assert result.modules["convs.2"].self_microseconds == convolutions[1].microseconds
    products = [k.module for k in result.kernels if k.op_type in ("Gemm", "MatMul", "FusedGemm")]
    assert products == ["head", ""]
    assert result.modules[""].total_microseconds == pytest.approx(result.node_microseconds)


def test_against_the_events_themselves(recorded):
    """Summed by hand: every node whose name says where it came from is attributed to that module."""
    path, file, events = recorded
    result = htp.profile(path, times=file)
    durations = collections.Counter()
    for event in events:
        if event["cat"] == "Node" and event["name"].endswith("_kernel_time"):
            durations[event["name"].removesuffix("_kernel_time")] += event["dur"]
    assert result.runs == 4
    assert sum(m.self_microseconds for m in result.modules.values()) == pytest.approx(
        sum(durations.values()) / 4, rel=1e-9
    )
    for layer in (0, 1):
        by_name = sum(us for n, us in durations.items() if n.startswith(f"/encoder/layer.{layer}/"))
        found = result.modules[f"encoder.layer.{layer}"].total_microseconds
        assert found >= by_name / 4  # fused nodes have other names
        dense = durations[f"/encoder/layer.{layer}/intermediate/dense/MatMul"] / 4
        path_ = f"encoder.layer.{layer}.intermediate.dense"
        assert 0 < dense <= result.modules[path_].self_microseconds
    # by names alone, fused kernels would have no module
    names = {node.name for node in onnx.load(path).graph.node}
    renamed = [k for k in result.kernels if k.name not in names]
    assert renamed and all(k.module for k in renamed)


def test_warm_up_runs_do_not_count(recorded):
    path, file, _ = recorded
    whole, rest = htp.profile(path, times=file), htp.profile(path, times=file, warmup=3)
    assert (whole.runs, rest.runs) == (4, 1)
    assert rest.node_microseconds == pytest.approx(whole.run_microseconds[3])


def test_a_branch_counts_once():
    """An If of 10 µs whose branch runs for 6 µs, and a node after it."""

    def node(name, ts, dur, index=0):
        args = {"op_name": name, "node_index": str(index), "provider": "CPU"}
        return {"cat": "Node", "ph": "X", "name": f"{name}_kernel_time", "args": args} | {
            "ts": ts,
            "dur": dur,
            "tid": 1,
        }

    events = [node("Add", 2, 6), node("If", 1, 10), node("Mul", 11, 3)]
    events.append({"cat": "Session", "ph": "X", "name": "model_run", "ts": 0, "dur": 15})
    times = times_of(events, 0, "test")
    assert {k.name: k.microseconds for k in times.kernels} == {"If": 4, "Add": 6, "Mul": 3}
    assert times.microseconds == 13 and times.model_microseconds == 15


def test_nodes_without_names(exported, tmp_path):
    """ONNX Runtime numbers them differently than HTP."""
    path, _ = exported("resnet")
    proto = onnx.load(path)
    for node in proto.graph.node:
        node.name = ""
    onnx.save(proto, tmp_path / "nameless.onnx")
    result = htp.profile(tmp_path / "nameless.onnx", runs=2, warmup=0)
    assert result.attributed == 1
    # a Conv fused with a Relu belongs to the module that contains both
    convs = [k.module for k in result.kernels if k.op_type in ("Conv", "FusedConv")]
    assert len(convs) == 5 and convs[0] in ("stem", "stem.conv")
    for i in (0, 1):
        wanted = {f"blocks.{i}", f"blocks.{i}.conv1", f"blocks.{i}.conv2"}
        assert set(convs[1 + 2 * i : 3 + 2 * i]) <= wanted
    assert [k.module for k in result.kernels if k.op_type in ("Gemm", "Flatten")] == ["", "head"]


def test_csv_with_fused_names(exported, tmp_path, capsys):
    path, _ = exported("resnet")
    names = [n.name for n in onnx.load(path).graph.node if n.op_type == "Conv"]
    assert names[:2] == ["/stem/conv/Conv", "/blocks/blocks.0/conv1/Conv"]
    text = f"name,microseconds\n{names[0]},10\n{names[1]} + {names[2]},8\n{names[1]},1\nodd,1\n"
    (tmp_path / "times.csv").write_text(text)
    status, out, err = profiled(capsys, path, "--profile", tmp_path / "times.csv", "--json")
    result = json.loads(out)
    assert status == 0 and result["node_microseconds"] == 20
    own = {m["path"]: m["self_microseconds"] for m in result["modules"]}
    assert (own["stem.conv"], own["blocks.0.conv1"], own["blocks.0.conv2"]) == (10, 5, 4)
    assert result["attributed"] == pytest.approx(0.95)
    assert "1 fused name (A + B) was split evenly" in err
    assert "5.0 % of the node time has no module: 1 node, 'odd'" in err


def test_viewers_and_files(exported, tmp_path, capsys):
    path, _ = exported("gpt2")
    files = {kind: tmp_path / f"{kind}.out" for kind in ("csv", "speedscope", "perfetto")}
    options = [text for kind, file in files.items() for text in (f"--{kind}", file)]
    status, out, _ = profiled(capsys, path, "--runs", 3, *options, "--json")
    result = json.loads(out)
    assert status == 0 and result["files"] == [str(file) for file in files.values()]
    nodes = result["node_microseconds"]

    graph = json.loads(files["speedscope"].read_text())
    sampled = graph["profiles"][0]
    frames = [frame["name"] for frame in graph["shared"]["frames"]]
    assert sum(sampled["weights"]) == pytest.approx(nodes) == pytest.approx(sampled["endValue"])
    assert {frames[stack[0]] for stack in sampled["samples"]} == {"GPT2LMHeadModel"}
    mlp = "transformer.h.0.mlp: GPT2MLP"
    weight = sum(
        w for s, w in zip(sampled["samples"], sampled["weights"]) if frames.index(mlp) in s
    )
    modules = {m["path"]: m for m in result["modules"]}
    assert weight == pytest.approx(modules["transformer.h.0.mlp"]["total_microseconds"])

    events = json.loads(files["perfetto"].read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert sum(e["dur"] for e in spans if e["cat"] == "kernel") == pytest.approx(nodes)
    blocks = [e for e in spans if e["name"] == mlp]
    assert sum(e["dur"] for e in blocks) == pytest.approx(
        modules["transformer.h.0.mlp"]["total_microseconds"]
    )

    rows = [line.split(",") for line in files["csv"].read_text().splitlines()]
    assert rows[0][:2] == ["module", "class"] and rows[1][:2] == ["", "GPT2LMHeadModel"]
    assert sum(float(row[3]) for row in rows[1:]) == pytest.approx(nodes, rel=1e-3)


def test_compare_names_what_became_slower(recorded, tmp_path, capsys):
    """A profile, and a copy in which one module's kernel is slower by 1 ms."""
    path, file, events = recorded
    before = tmp_path / "before.json"
    before.write_text(profiled(capsys, path, "--profile", file, "--json")[1])
    slow = "/encoder/layer.1/output/dense/MatMul_kernel_time"
    later = 0
    for event in sorted(events, key=lambda e: (e["ts"], e["cat"])):
        event["ts"] += later
        if event["name"] == slow:
            event["dur"] += 1000
            later += 1000
        elif event["name"] in ("model_run", "SequentialExecutor::Execute"):
            event["dur"] += 1000
    (tmp_path / "slow.json").write_text(json.dumps(events))
    arguments = [path, "--profile", tmp_path / "slow.json", "--compare", before]
    status, out, _ = profiled(capsys, *arguments)
    assert status == 0 and "1 module slower" in out and "+1.000" in out
    worst = json.loads(profiled(capsys, *arguments, "--json")[1])["comparison"][0]
    assert worst["path"] == "encoder.layer.1.output.dense"
    assert worst["change"] == pytest.approx(1000)


def test_the_tree_and_the_slowest(recorded, capsys):
    path, file, _ = recorded
    status, out, _ = profiled(capsys, path, "--profile", file, "--depth", 1, "--top", 2)
    lines = [line.strip() for line in out.splitlines()]
    assert status == 0 and any(line.startswith("encoder: BertEncoder") for line in lines)
    assert not any(line.startswith("0: BertLayer") for line in lines)
    slowest = lines[next(i for i, li in enumerate(lines) if li.startswith("slowest kernel")) + 1 :]
    assert len(slowest) == 2


def test_inputs_from_a_file(exported, tmp_path):
    path, _ = exported("bert")
    ids = numpy.zeros((2, 24), dtype="int64")
    numpy.savez(tmp_path / "in.npz", input_ids=ids)
    result = htp.profile(path, inputs=tmp_path / "in.npz", runs=1)
    assert result.settings["inputs"]["attention_mask"] == ["int64", [2, 24]]
    assert not result.notes


class Session:
    """The inputs of a decoder's step, with lengths as exporters write them."""

    def __init__(self, mask):
        shapes = {
            "input_ids": ["batch", "length"],
            "attention_mask": ["batch", mask],
            "past_key_values.0.key": ["batch", 2, "past", None],
        }
        self.inputs = [
            types.SimpleNamespace(name=name, shape=shape, type="tensor(int64)")
            for name, shape in shapes.items()
        ]

    def get_inputs(self):
        return self.inputs


@pytest.mark.parametrize("mask", ["past + length", "total"])
@pytest.mark.parametrize(("dims", "length"), [({}, 32), ({"past": 5, "length": 1}, 6)])
def test_sizes_that_fit_each_other(mask, dims, length):
    made = inputs_for(Session(mask), None, dims, numpy, "model")
    assert made.feeds["attention_mask"].shape == (1, length)
    assert made.feeds["attention_mask"].min() == 1
    assert made.feeds["past_key_values.0.key"].shape == (1, 2, dims.get("past", 16), 16)
    assert made.guessed["past_key_values.0.key.3"] == 16 and made.guessed["batch"] == 1
    assert set(numpy.unique(made.feeds["past_key_values.0.key"])) == {0, 1}
    named = inputs_for(Session(mask), None, {"past_key_values.0.key.3": 8}, numpy, "model")
    assert named.feeds["past_key_values.0.key"].shape[3] == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dim", "lenght=3"], "has no dimension 'lenght'; it has batch, length"),
        (["--dim", "length"], "expected NAME=SIZE"),
        (["--dim", "length=600"], "does not run"),
        (["--provider", "abacus"], "has no provider 'abacus'"),
        (["--runs", "0"], "there must be at least one"),
        (["--inputs", "none.npz"], "cannot read inputs from none.npz"),
        (["--profile", "none.json"], "none.json: no such file"),
        (["--csv", "no/folder/x.csv"], "does not exist"),
        (["--compare", "none.json"], "no such file"),
    ],
)
def test_wrong_arguments(exported, arguments, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = profiled(capsys, exported("bert")[0], *arguments)
    assert (status, out) == (1, "") and message in err and "Traceback" not in err
    assert len([line for line in err.splitlines() if "error" in line]) == 1


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"input_ids": numpy.zeros((1, 4), "int32")}, "is int32, but the model takes int64"),
        ({"input_ids": numpy.zeros((4,), "int64")}, "but the model takes [batch, length]"),
        ({"ids": numpy.zeros((1, 4), "int64")}, "has no input 'ids'; it has 'input_ids'"),
    ],
)
def test_inputs_that_do_not_fit(exported, arrays, message):
    with pytest.raises(htp.BadInput) as error:
        htp.profile(exported("bert")[0], inputs=arrays)
    assert message in str(error.value)


def test_profiles_that_do_not_fit(exported, recorded, tmp_path, capsys):
    status, _, err = profiled(capsys, exported("resnet")[0], "--profile", recorded[1])
    assert status == 1 and "is a profile of another model" in err
    for name, text, message in (
        ("a.json", "[]", "no times of nodes"),
        ("b.json", '{"format": "x"}', "no list of events"),
        ("c.json", '[{"cat": "Node"', "is not a profile"),
        ("d.csv", "", "has no times"),
        ("e.csv", "a,1\nb,fast\n", "line 2: 'fast' is not a number"),
        ("f.csv", "a,-1\n", "'-1' is not a valid time"),
        ("g.csv", "a\n", "expected name,microseconds"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(htp.BadInput, match=message):
            read_times(tmp_path / name)


def test_an_untagged_model(tmp_path, capsys):
    graph = onnx.helper.make_graph([], "g", [], [])
    onnx.save(onnx.helper.make_model(graph), tmp_path / "m.onnx")
    status, _, err = profiled(capsys, tmp_path / "m.onnx")
    assert status == 1 and "carries no tags" in err
