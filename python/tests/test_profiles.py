"""htp profile reads profiles of other engines: CSV files of any, OpenVINO's graphs and reports."""

import json
import subprocess
import sys
import warnings

import pytest
import torch
from test_profile import bert, gpt2, profiled, resnet

import htp
from htp.profiles import read_times

onnx = pytest.importorskip("onnx")
numpy = pytest.importorskip("numpy")

STEM, FIRST, SECOND = (
    "/stem/conv/Conv", "/blocks/blocks.0/conv1/Conv", "/blocks/blocks.0/conv2/Conv",
)  # fmt: skip


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Each model, made on first use. All parameters are random, because an engine removes a scale of one."""
    folder, made = tmp_path_factory.mktemp("profiles"), {}

    def get(build):
        if build not in made:
            torch.manual_seed(0)
            model, args, options, _ = build()
            for parameter in model.parameters():
                torch.nn.init.normal_(parameter, std=0.1)
            made[build] = folder / f"{build.__name__}.onnx"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                htp.export(model, args, made[build], **options)
        return made[build]

    return get


def read(capsys, model, folder, text, name="times.csv"):
    """The command's output for a profile: (result, warnings)."""
    (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    status, out, err = profiled(capsys, model, "--profile", folder / name, "--json")
    assert status == 0, err
    result = json.loads(out)
    modules = {m["path"]: m for m in result["modules"]}
    assert sum(m["self_microseconds"] for m in modules.values()) == pytest.approx(
        result["node_microseconds"] * result["attributed"]
    )
    assert modules[""]["total_microseconds"] == pytest.approx(
        result["node_microseconds"] * result["attributed"]
    )
    return result, {path: m["self_microseconds"] for path, m in modules.items()}, err


@pytest.mark.parametrize(
    "text",
    [
        f"{STEM},10\n{FIRST},2.5\n",
        f"name,microseconds\r\n{STEM},10\r\n\r\n{FIRST},2.5\r\n",
        f"\ufeffLayer,Time (us)\n{STEM}, 10\n{FIRST},1.5\n{FIRST},1\n",
        f'"{STEM}","10"\n"{FIRST}",25e-1',
    ],
)
def test_forms_of_csv(exported, tmp_path, capsys, text):
    result, own, err = read(capsys, exported(resnet), tmp_path, text)
    assert (own["stem.conv"], own["blocks.0.conv1"]) == (10, 2.5)
    assert (result["node_microseconds"], result["attributed"], result["engine"]) == (12.5, 1, "")
    assert "warning" not in err


@pytest.mark.parametrize(
    ("name", "shares", "said"),
    [
        (f"{STEM} + {FIRST}", (4, 4, 0), "1 fused name (A + B) was split evenly over the parts"),
        (f"{STEM}+{FIRST}", (4, 4, 0), "1 fused name"),
        (f'"{STEM},{SECOND}"', (4, 0, 4), "1 fused name"),
        (f"{STEM} + {FIRST} + {SECOND} + {SECOND}", (2, 2, 4), "1 fused name"),
        (f"{STEM} + odd + strange", (8, 0, 0), "the parts that the model has; it lacks 2"),
    ],
)
def test_fused_names(exported, tmp_path, capsys, name, shares, said):
    text = f"{name},8\n"
    result, own, err = read(capsys, exported(resnet), tmp_path, text)
    found = own["stem.conv"], own["blocks.0.conv1"], own["blocks.0.conv2"]
    assert found == shares and said in err and result["attributed"] == 1


def test_names_of_values_and_longer_names(exported, tmp_path, capsys):
    """An engine names the last node after the model's output, and appends suffixes to names."""
    text = f"output,3\n{STEM}/WithoutBiases,4\n"
    _, own, err = read(capsys, exported(resnet), tmp_path, text)
    assert (own["head"], own["stem.conv"]) == (3, 4) and "warning" not in err


def test_unknown_names_are_said(exported, tmp_path, capsys):
    """Many quick nodes added by the engine do not mean another model, but most of the time being in them does."""
    odd = "".join(f"reformat {i},1\n" for i in range(4))
    result, own, err = read(capsys, exported(resnet), tmp_path, f"{odd}{STEM},60\n{FIRST},36\n")
    assert result["attributed"] == pytest.approx(0.96) and own["stem.conv"] == 60
    assert "4.0 % of the node time has no module: 4 nodes, the slowest is 'reformat 0'" in err
    for text, known in (
        (f"{odd}{STEM},3\n", "1 of its 5"),
        ("a,1\nb,2\n", "0 of its 2"),
        ("".join(f"x{i},0\n" for i in range(20)) + f"{STEM},9\n", "1 of its 21"),
    ):
        (tmp_path / "other.csv").write_text(text)
        status, out, err = profiled(capsys, exported(resnet), "--profile", tmp_path / "other.csv")
        assert (status, out) == (1, "") and "is a profile of another model" in err and known in err


GRAPH = (
    '<net><layers><layer id="0" name="a" type="Add"><data execTimeMcs="{}" execOrder="{}"/></layer>'
    '</layers><edges><edge from-layer="0" to-layer="{}"/></edges></net>'
)
REPORT = "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no times: expected lines of name,microseconds"),
        ("\n \n", "has no times"),
        ("name,microseconds\n", "has no times"),
        ("a,1\nb\n", "line 2: expected name,microseconds, found 'b'"),
        (
            "a,1\n\nb,c,2\n",
            "line 3: expected name,microseconds, found 'b,c,2'; put names with a comma",
        ),
        ("a,1\nb,fast\n", "line 2: 'fast' is not a number of microseconds"),
        ("a,12us\nb,1\n", "line 1: '12us' is not a number"),
        ("a,\n", "line 1: '' is not a number"),
        ("a,1\n,2\n", "line 2: '2' has no name"),
        ("a,-1\n", "line 1: '-1' is not a valid time"),
        ("a,nan\n", "line 1: 'nan' is not a valid time"),
        ("a,1\nb,inf\n", "line 2: 'inf' is not a valid time"),
        ("a,1\n" + "b" * 200_000 + ",2\n", "line 2: field larger than"),
        ("<net>", "is not a profile: no element found"),
        ("<html></html>", "has no times: expected the executed graph"),
        (GRAPH.format("not_executed", 0, 0), "has no times: expected the executed graph"),
        (GRAPH.format("-4", 0, 0), "layer 'a': '-4' is not a valid time"),
        (GRAPH.format("4", "x", 0), "layer 'a', execOrder: 'x' is not a number"),
        (GRAPH.format("4", 0, 7), "an edge refers to a layer that does not exist"),
        ("layerName;execStatus\n", "line 1: the report has no column 'layerType'"),
        (f"{REPORT}a;EXECUTED\n", "line 2: expected 6 columns, found 'a;EXECUTED'"),
        (f"{REPORT}a;EXECUTED;Add;x;soon;1\n", "line 2: 'soon' is not a number of milliseconds"),
        (f"{REPORT}a;NOT_RUN;Add;x;0.0;0.0\n", "has no times: no layer was executed"),
    ],
)
def test_bad_files(exported, tmp_path, capsys, text, message):
    (tmp_path / "bad").write_text(text)
    status, out, err = profiled(capsys, exported(resnet), "--profile", tmp_path / "bad")
    assert (status, out) == (1, "") and message in err and "Traceback" not in err


def test_warm_up_needs_runs(tmp_path):
    (tmp_path / "a.csv").write_text("a,1\n")
    with pytest.raises(htp.BadInput, match="does not separate runs"):
        read_times(tmp_path / "a.csv", warmup=1)


def test_an_executed_graph_by_hand(exported, tmp_path, capsys):
    """Every rule for layers that are not nodes of the model, with times that distinguish them."""
    layers = [  # name, type, time, names of its parts, layers whose results it takes
        ("weight", "Const", None, "weight", []),
        ("weight_to_bf16", "Reorder", 500, "", [0]),  # once, when the model is loaded
        ("x", "Input", None, "x", []),
        ("x_abcd_acdb_conv", "Reorder", 1, "", [2]),  # for the stem's convolution
        (f"{STEM}/WithoutBiases", "Convolution", 10, f"{STEM}/WithoutBiases,/stem/Relu", [3, 1]),
        ("Convert_7", "Convert", 4, "Convert_7", [4]),  # for both convolutions, past a reshape
        ("Reshape_8", "Reshape", None, "Reshape_8", [5]),
        (FIRST, "Convolution", 20, FIRST, [5]),
        (SECOND, "Convolution", 40, SECOND, [6]),
        ("Subgraph_9", "Subgraph", 6, f"Add_10,{FIRST},{SECOND}", [7, 8]),
        ("to_f32", "Reorder", 8, "", [8]),  # nothing takes it
    ]
    made = "".join(
        f'<layer id="{i}" name="{name}" type="{kind}"><data execOrder="{i}" originalLayersNames="{parts}" '
        f'execTimeMcs="{"not_executed" if spent is None else spent}"/></layer>'
        for i, (name, kind, spent, parts, _) in enumerate(layers)
    )
    edges = "".join(
        f'<edge from-layer="{source}" to-layer="{i}"/>'
        for i, layer in enumerate(layers)
        for source in layer[4]
    )
    text = f"<net><layers>{made}</layers><edges>{edges}</edges></net>"
    result, own, err = read(capsys, exported(resnet), tmp_path, text, "a.xml")
    assert result["node_microseconds"] == 89 and result["attributed"] == 1
    expected = {"stem.conv": 10 + 1, "blocks.0.conv1": 20 + 2 + 3, "blocks.0.conv2": 40 + 2 + 3 + 8}
    assert {path: spent for path, spent in own.items() if spent} == expected
    assert "1 fused name" in err and "3 nodes that the model does not have, 14.6 %" in err


def test_a_report_of_two_requests(exported, tmp_path, capsys):
    tables = [
        f"{REPORT}{STEM};Status.EXECUTED;Convolution;x;{stem};0\n/stem/Relu;Status.NOT_RUN;Relu;x;0;0\n"
        f"x_acdb_{FIRST}/WithoutBiases;Status.EXECUTED;Reorder;x;0.5;0\nTotal;;;;{stem + 0.5};0\n\n"
        for stem in (1.0, 3.0)
    ]
    result, own, err = read(capsys, exported(resnet), tmp_path, "".join(tables))
    assert (result["node_microseconds"], result["runs"]) == (2500, 2)
    assert (own["stem.conv"], own["blocks.0.conv1"]) == (2000, 500)
    assert "1 node that the model does not have, 20.0 % of the node time, counts for" in err


def executed(path, target):
    """Runs a model in OpenVINO. Returns its times by layer, and writes its executed graph to a file."""
    openvino = pytest.importorskip("openvino")
    settings = {"PERF_COUNT": True, "INFERENCE_NUM_THREADS": 1}
    compiled = openvino.Core().compile_model(path, "CPU", settings)
    request = compiled.create_infer_request()
    feeds = {
        port.any_name: numpy.ones(
            [size.get_length() if size.is_static else 32 for size in port.partial_shape],
            port.element_type.to_dtype(),
        )
        for port in compiled.inputs
    }
    for _ in range(4):
        request.infer(feeds)
    openvino.serialize(compiled.get_runtime_model(), target)
    return [
        (info.node_name, info.real_time.total_seconds() * 1e6)
        for info in request.get_profiling_info()
        if info.status == openvino.ProfilingInfo.Status.EXECUTED
    ]


@pytest.mark.parametrize("build", [bert, gpt2, resnet])
def test_the_graph_that_openvino_executed(exported, tmp_path, capsys, build):
    path, file = exported(build), tmp_path / "executed.xml"
    times = executed(path, file)
    result, own, _ = read(capsys, path, tmp_path, file.read_bytes(), "copy.xml")
    whole = sum(spent for _, spent in times)
    assert result["engine"] == "OpenVINO" and result["attributed"] == 1
    assert result["node_microseconds"] == pytest.approx(whole)
    assert sum(own.values()) == pytest.approx(whole)
    assert sum(k["calls"] for k in result["kernels"]) == pytest.approx(len(times))
    # Computed by hand: layers that OpenVINO names after a node belong to the module of that node's tag.
    scopes = {node.name: node.scope for node in htp.load(path).nodes.values()}
    by_hand, named = {}, 0
    for name, spent in times:
        scope = scopes.get(name.removesuffix("/WithoutBiases"))
        if scope is not None:
            by_hand[scope] = by_hand.get(scope, 0) + spent
            named += 1
    assert named > 0.5 * len(times)
    for scope, spent in by_hand.items():
        assert own[scope] >= spent - 1e-6, scope


def test_openvino_in_every_output(exported, tmp_path, capsys):
    file = tmp_path / "executed.xml"
    whole = sum(spent for _, spent in executed(exported(gpt2), file))
    files = {kind: tmp_path / f"{kind}.out" for kind in ("csv", "speedscope", "perfetto")}
    options = [text for kind, target in files.items() for text in (f"--{kind}", target)]
    status, out, _ = profiled(capsys, exported(gpt2), "--profile", file, *options)
    assert status == 0 and "in nodes (" in out and "GPT2Block" in out and " run" not in out
    weights = json.loads(files["speedscope"].read_text())["profiles"][0]["weights"]
    assert sum(weights) == pytest.approx(whole)
    spans = json.loads(files["perfetto"].read_text())["traceEvents"]
    assert sum(e["dur"] for e in spans if e.get("cat") == "kernel") == pytest.approx(whole)
    rows = [line.split(",") for line in files["csv"].read_text().splitlines()[1:]]
    assert sum(float(row[3]) for row in rows) == pytest.approx(whole, rel=1e-3)


def test_a_model_that_openvino_did_not_run(exported, tmp_path, capsys):
    openvino = pytest.importorskip("openvino")
    compiled = openvino.Core().compile_model(exported(resnet), "CPU")
    openvino.serialize(compiled.get_runtime_model(), tmp_path / "a.xml")
    status, _, err = profiled(capsys, exported(resnet), "--profile", tmp_path / "a.xml")
    assert status == 1 and "compiled with PERF_COUNT and run" in err


def test_an_executed_graph_of_another_model(exported, tmp_path, capsys):
    executed(exported(bert), tmp_path / "bert.xml")
    status, _, err = profiled(capsys, exported(resnet), "--profile", tmp_path / "bert.xml")
    assert status == 1 and "is a profile of another model" in err


def test_files_of_benchmark_app(exported, tmp_path, capsys):
    """OpenVINO's own program, as docs/Profiling.md calls it."""
    pytest.importorskip("openvino")
    program = "import sys; from openvino.tools.benchmark.main import main; sys.exit(main())"
    options = f"-m {exported(gpt2)} -d CPU -niter 4 -api sync -pc -exec_graph_path executed.xml"
    report = "-report_type detailed_counters -report_folder ."
    command = [sys.executable, "-c", program, *options.split(), *report.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    table = (tmp_path / "benchmark_detailed_counters_report.csv").read_text()
    total = next(row for row in table.splitlines() if row.startswith("Total;")).split(";")[4]
    by_name, names_own, err = read(capsys, exported(gpt2), tmp_path, table)
    assert by_name["node_microseconds"] == pytest.approx(1000 * float(total))
    graph = (tmp_path / "executed.xml").read_bytes()
    by_graph, graph_own, _ = read(capsys, exported(gpt2), tmp_path, graph, "copy.xml")
    assert by_graph["node_microseconds"] == pytest.approx(by_name["node_microseconds"])
    assert by_graph["attributed"] == 1 > by_name["attributed"] > 0  # the report has no edges
    assert all(graph_own[path] >= spent - 1e-6 for path, spent in names_own.items())
    assert "of the node time has no module" in err
