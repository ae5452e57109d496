"""The command htp: output, exit codes, errors."""

import csv
import io
import json
from pathlib import Path

import pytest
from conftest import ROOT

import htp
from htp.cli import build_parser, main

onnx = pytest.importorskip("onnx")


def tampered(source, target, change):
    """A copy of a model after `change(model)`."""
    model = onnx.load(source)
    change(model)
    onnx.save(model, target)
    return target


def set_metadata(node, key, value):
    for prop in node.metadata_props:
        if prop.key == key:
            prop.value = value


def named(model, name):
    return next(node for node in model.graph.node if node.name == name)


# --- usage ---------------------------------------------------------------------------------------

COMMANDS = [
    "export",
    "tag",
    "outline",
    "extract",
    "analyze",
    "validate",
    "compare",
    "doctor",
    "view",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert "example" in shown and f"htp {command}" in shown and "--json" in shown


@pytest.mark.parametrize(
    "arguments", [[], ["frobnicate"], ["analyze"], ["export", "--exporter", "x"]]
)
def test_wrong_usage_is_exit_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: htp" in capsys.readouterr().err


def test_all_commands_are_there():
    assert all(name in build_parser().format_help() for name in COMMANDS)


def test_one_message_without_traceback(run_htp, tmp_path):
    result = run_htp("analyze", tmp_path / "missing.onnx")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"htp: error: {tmp_path}/missing.onnx: no such file\n"
    shown = run_htp("analyze", tmp_path / "missing.onnx", "--debug")
    assert shown.returncode == 1 and "Traceback" in shown.stderr
    machine = run_htp("analyze", tmp_path / "missing.onnx", "--json")
    assert json.loads(machine.stdout)["error"].endswith("no such file")


def test_piped_output_is_quiet(run_htp, net):
    assert run_htp("analyze", net).stderr == ""


# --- analyze -------------------------------------------------------------------------------------


def test_analyze(net, capsys):
    assert main(["analyze", str(net)]) == 0
    shown = capsys.readouterr().out
    assert "5 nodes (1 constant)" in shown
    assert "100.0 % tagged" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["├─", "Block.0", "layers.0", "1", "2", "2", "16", "64", "64"] in rows, (
        "its own, torch.nn's included"
    )


def test_analyze_json_and_filter(net, capsys):
    assert main(["analyze", str(net), "--json", "--filter-tag", "/Net/Block.1"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert list(result["nodes"]) == ["mask#4"]
    assert result["statistics"]["nodes"] == 5
    assert main(["analyze", str(net), "--filter-tag", "/Net/Block"]) == 1
    assert "has no module '/Net/Block'" in capsys.readouterr().err, "a tag is no prefix of letters"
    assert main(["analyze", str(net), "--filter-tag", "layers.0"]) == 0
    assert capsys.readouterr().out.startswith("3 nodes below layers.0"), "a path does as well"


def test_analyze_csv(net, capsys):
    assert main(["analyze", str(net), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["op_type"] for row in rows] == ["Constant", "MatMul", "Add", "Mul", "MatMul"]
    assert rows[3]["contexts"] == "/Net/Block.0;/Net/Block.1"


def test_resolution_details(net, capsys):
    assert main(["analyze", str(net), "--show-resolution-details"]) == 0
    shown = capsys.readouterr().out
    assert "1 node with several contexts" in shown
    assert "not /Net/Block.0  producer 0.30" in shown


# --- validate ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A model that PyTorch exported and HTP tagged."""
    from conftest import example

    model, args = example("plain").build()
    path = tmp_path_factory.mktemp("good") / "good.onnx"
    htp.export(model, args, output=path, exporter="torchscript")
    return path


def test_validate(good, capsys):
    assert main(["validate", str(good), "--check-contamination"]) == 0
    shown = capsys.readouterr().out
    assert "failed" not in shown and "contamination  ok" in shown


def test_validate_json(good, capsys):
    assert main(["validate", str(good), "--json", "--numeric", str(good)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["valid"] is True
    assert {c["check"]: c["state"] for c in result["checks"]}["numeric"] == "passed"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda n: set_metadata(n, "htp.tag", "/Net/Block.2"), "but the module"),
        (lambda n: set_metadata(n, "htp.scope", "blocks.9"), "not a module in the tree"),
        (lambda n: n.ClearField("metadata_props"), "no htp.tag"),
    ],
)
def test_validate_tampered_tags(good, tmp_path, capsys, change, message):
    bad = tampered(good, tmp_path / "bad.onnx", lambda m: change(named(m, "/blocks.1/Add")))
    assert main(["validate", str(bad)]) == 1
    shown = capsys.readouterr().out
    assert "failed" in shown and "/blocks.1/Add" in shown and message in shown


def test_validate_contamination(good, tmp_path, capsys):
    """A tag and scope that agree with each other and with the tree, but not with the graph."""

    def change(model):
        node = named(model, "/blocks.1/Relu")
        set_metadata(node, "htp.tag", "/Net/Block.0")
        set_metadata(node, "htp.scope", "blocks.0")

    bad = tampered(good, tmp_path / "bad.onnx", change)
    assert main(["validate", str(bad), "--check-contamination"]) == 1
    assert "/blocks.1/Relu" in capsys.readouterr().out


def test_validate_without_tags(good, tmp_path, capsys):
    def strip(model):
        model.ClearField("metadata_props")
        for node in model.graph.node:
            node.ClearField("metadata_props")

    bare = tampered(good, tmp_path / "bare.onnx", strip)
    assert main(["validate", str(bare)]) == 1
    assert "carries no tags" in capsys.readouterr().out


def test_validate_invalid_onnx(good, tmp_path, capsys):
    def change(model):
        model.graph.node[0].input[0] = "nowhere"

    bad = tampered(good, tmp_path / "bad.onnx", change)
    assert main(["validate", str(bad)]) == 1
    assert "onnx           failed" in capsys.readouterr().out


def test_validate_numeric(good, tmp_path, capsys):
    def change(model):
        weight = next(i for i in model.graph.initializer if len(i.dims) == 2)
        weight.raw_data = bytes(len(weight.raw_data))

    other = tampered(good, tmp_path / "other.onnx", change)
    assert main(["validate", str(other), "--numeric", str(good)]) == 1
    assert "numeric        failed" in capsys.readouterr().out


# --- compare -------------------------------------------------------------------------------------


def test_compare(good, tmp_path, capsys):
    assert main(["compare", str(good), str(good)]) == 0
    assert capsys.readouterr().out.startswith("no difference in 12 modules that both have")

    def change(model):
        node = named(model, "/blocks.1/Add")
        set_metadata(node, "htp.tag", "/Net")
        set_metadata(node, "htp.scope", "")
        named(model, "/blocks.2/Add").name = "renamed"

    other = tampered(good, tmp_path / "other.onnx", change)
    assert main(["compare", str(good), str(other), "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["nodes_added"] == ["renamed"]
    assert result["nodes_removed"] == ["/blocks.2/Add"]
    assert [m["node"] for m in result["moved"]] == ["/blocks.1/Add"]


# --- export, tag, outline, extract ---------------------------------------------------------------


def test_export_of_a_file(tmp_path, capsys):
    target = tmp_path / "plain.onnx"
    status = main(
        ["export", str(ROOT / "examples/plain.py"), "-o", str(target), "--json", "--report"]
        + ["--exporter", "torchscript", "--graphml", "--dynamic", "--opset", "18", "--page"]
    )
    result = json.loads(capsys.readouterr().out)
    assert status == 0 and result["statistics"]["coverage"] == 1
    suffixes = {file.removeprefix(str(tmp_path / "plain")) for file in result["files"]}
    sides = {
        ".ops.json",
        ".dag.json",
        ".trace.json",
        ".inputs.npz",
        ".graphml",
        ".report.md",
        ".html",
    }
    assert suffixes == {".onnx", *sides}
    model = onnx.load(target)
    assert next(o.version for o in model.opset_import if not o.domain) == 18
    assert "2 × Block` | `blocks.1 … 2` | 1 |" in target.with_suffix(".report.md").read_text()


def test_export_with_input_specs(tmp_path, capsys):
    (tmp_path / "net.py").write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, ids, x):\n"
        "        return ids.float() + x\n"
        "def make():\n"
        "    return Net()\n"
    )
    source, target = f"{tmp_path / 'net.py'}:make", str(tmp_path / "net.onnx")
    specs = '{"ids": {"shape": [2], "dtype": "int64", "range": [3, 4]}, "x": {"shape": [2]}}'
    command = ["export", source, "-o", target, "--exporter", "torchscript"]
    assert main([*command, "--input-specs", specs]) == 0
    assert [i.name for i in onnx.load(target).graph.input] == ["ids", "x"]
    capsys.readouterr()
    for bad, message in (
        ('{"ids": {"shape": "x"}}', "has shape 'x', expected a list of sizes"),
        ('{"ids": {"shape": [1], "dtype": "int7"}}', "has dtype 'int7'"),
        ('{"ids": {"shape": [1], "size": 1}}', "has ['size']"),
        ('{"ids": {"shape": [1], "range": [2, 1]}}', "has range [2, 1]"),
        ('{"nothing": {"shape": [1]}}', "do not fit the model's forward"),
        ("{", "is not JSON"),
        ("missing.json", "cannot read missing.json"),
    ):
        assert main([*command, "--input-specs", bad]) == 1
        assert message in capsys.readouterr().err
    assert main(command) == 1
    assert "does not say what inputs it takes: pass them (--input-specs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("missing.py", "no such file"),
        ("no.such.module:build", "cannot import no.such.module"),
        ("json:loads", "json:loads failed"),
        ("json:nothing", "has no 'nothing'"),
        ("json:decoder", "returned a module, expected an nn.Module"),
        ("./no-such-folder-or-model", "cannot load"),
    ],
)
def test_export_of_nothing(source, message, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert main(["export", source, "-o", str(tmp_path / "m.onnx")]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_export_of_a_local_checkpoint(tmp_path, capsys):
    """A folder with only a config, from which the inputs are made."""
    from transformers import BertConfig

    config = BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        vocab_size=50, architectures=["BertForMaskedLM"],
    )  # fmt: skip
    config.save_pretrained(tmp_path / "tiny")
    target = tmp_path / "tiny.onnx"
    assert (
        main(["export", str(tmp_path / "tiny"), "-o", str(target), "--exporter", "torchscript"])
        == 0
    )
    assert htp.load(target).modules[""].class_name == "BertForMaskedLM"


def test_tag_outline_extract(good, tmp_path, capsys):
    def strip(model):
        model.ClearField("metadata_props")
        for node in model.graph.node:
            node.ClearField("metadata_props")
            node.name = ""

    bare = tampered(good, tmp_path / "bare.onnx", strip)
    trace = good.with_suffix(".trace.json")
    assert main(["tag", str(bare), "--trace", str(trace), "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert files[0] == str(tmp_path / "bare.tagged.onnx")
    assert htp.load(files[0]).statistics["coverage"] == 1

    outlined = tmp_path / "outlined.onnx"
    assert main(["outline", str(good), "-o", str(outlined), "--classes", "Block"]) == 0
    assert "1 function, called 3 times" in capsys.readouterr().out
    assert main(["validate", str(outlined), "--numeric", str(good)]) == 0, capsys.readouterr()

    assert main(["extract", str(good), "blocks.0", "-o", str(tmp_path / "block.onnx")]) == 0
    onnx.checker.check_model(str(tmp_path / "block.onnx"))
    assert main(["extract", str(good), "blocks.7"]) == 1
    assert "has no module 'blocks.7'" in capsys.readouterr().err


def test_tags_as_attributes(good, tmp_path, capsys):
    target = tmp_path / "attributes.onnx"
    command = ["tag", str(good), "-o", str(target), "--tag-storage", "attribute"]
    assert main([*command, "--trace", str(good.with_suffix(".trace.json"))]) == 0
    assert "reject this model" in capsys.readouterr().out
    node = named(onnx.load(target), "/blocks.1/Add")
    assert {"source_module", "hierarchy_tags"} <= {a.name for a in node.attribute}


def test_tags_beside_the_model_only(good, tmp_path, capsys):
    target = tmp_path / "plain.onnx"
    command = ["tag", str(good), "-o", str(target), "--tag-storage", "none"]
    assert main([*command, "--trace", str(good.with_suffix(".trace.json"))]) == 0
    assert not [p for node in onnx.load(target).graph.node for p in node.metadata_props]
    assert htp.load(target.with_suffix(".ops.json")).statistics["coverage"] == 1
    with pytest.raises(htp.NotTagged):
        htp.load(target)


# --- doctor --------------------------------------------------------------------------------------


def test_doctor(capsys):
    assert main(["doctor", "--json"]) == 0
    findings = {f["name"]: f for f in json.loads(capsys.readouterr().out)["findings"]}
    assert all(findings[name]["found"] for name in ("htp-opt", "htp-onnx", "htp-trace"))


def test_doctor_without_programs(capsys, monkeypatch):
    monkeypatch.setattr(htp.native, "candidates", lambda name: [])
    assert main(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert "htp-onnx was not found" in shown and "pip install htp-mlir" in shown


def test_a_wheel_for_another_platform(tmp_path, net, capsys, monkeypatch):
    program = tmp_path / "htp-onnx"
    header = bytearray(Path("/bin/true").read_bytes()[:4096])
    header[18:20] = b"\xb7\x00"  # e_machine: AArch64
    program.write_bytes(header)
    program.chmod(0o755)
    monkeypatch.setattr(htp.native, "candidates", lambda name: [program])
    assert main(["analyze", str(net)]) == 1
    shown = capsys.readouterr().err
    assert "Exec format error; HTP's wheels are for Linux on x86-64 with glibc 2.31 or" in shown
    program.write_text(
        '#!/bin/sh\necho "$0: /lib/libc.so.6: version \\`GLIBC_2.34\' not found (required by $0)" >&2; exit 1\n'
    )
    assert main(["analyze", str(net)]) == 1
    shown = capsys.readouterr().err
    assert "version `GLIBC_2.34' not found" in shown and "build HTP from source" in shown


def test_a_program_that_does_not_start(tmp_path, net, capsys, monkeypatch):
    broken = tmp_path / "htp-opt"
    broken.write_text("#!/nowhere\n")
    broken.chmod(0o755)
    monkeypatch.setattr(htp.native, "candidates", lambda name: [broken])
    assert main(["analyze", str(net)]) == 1
    assert "does not start" in capsys.readouterr().err
