"""Bad input: one clear message, exit code 1 (2 for wrong usage), no traceback, nothing left behind."""

import csv
import io
import os
import re

import pytest
from conftest import ROOT

import htp
from htp import native
from htp.cli import main

onnx = pytest.importorskip("onnx")

NET = """
import torch
class Fails(torch.nn.Module):
    def forward(self, x):
        raise ValueError("no such luck")
class NoExport(torch.nn.Module):
    def forward(self, x):
        return torch.linalg.eigvals(x).real
class Loud(torch.nn.Module):
    def __init__(self):
        raise SystemExit("the work has started")
def fails():
    return Fails(), (torch.ones(2, 2),)
def no_export():
    return NoExport(), (torch.ones(2, 2),)
"""


@pytest.fixture
def source(tmp_path):
    (tmp_path / "source").mkdir()
    file = tmp_path / "source/net.py"
    file.write_text(NET)
    return file


def one_error(capsys, *parts):
    """The error message, which must be the only output."""
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("htp: error: ") and "Traceback" not in shown.err
    for part in parts:
        assert part in shown.err, shown.err
    return shown.err


# --- names ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Nodes named with quotes, line ends, control characters, markup and bytes that are not UTF-8."""
    path = tmp_path_factory.mktemp("names") / "names.onnx"
    native.run("htp-opt", ROOT / "test/Target/OpMetadata/names.mlir", "-o", path)
    return path


def is_safe(text):
    """Asserts that a text contains nothing that a terminal would act on."""
    return all(c == "\n" or c.isprintable() for c in text)


@pytest.mark.parametrize(
    "arguments", [[], ["--filter-tag", "/Net"], ["--show-resolution-details"]], ids=str
)
def test_odd_names_in_the_terminal(names, arguments, capsys):
    assert main(["analyze", str(names), *arguments]) == 0
    shown = capsys.readouterr().out
    assert is_safe(shown)
    if arguments[:1] == ["--filter-tag"]:
        assert r"line\x0Aend\x0D\x1B[31m" in shown and r"bytes\xFF" in shown
        assert len(shown.splitlines()) == 1 + 1 + 4, "a line for every node"


def test_odd_names_as_csv(names, capsys):
    assert main(["analyze", str(names), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["name"] for row in rows] == list(htp.load(names).nodes)
    assert {row["tag"] for row in rows} == {"/Net"}


def test_odd_names_in_a_report(names, tmp_path, capsys):
    import dataclasses

    from htp.report import markdown

    model = htp.load(names)
    other = htp.Context("/Net/<b>|`x`", "x", "name", 0.5)
    for name, node in model.nodes.items():
        model.nodes[name] = dataclasses.replace(node, contexts=(other,), reason="<i>|*a*\n|")
    text = markdown(model)
    assert is_safe(text.replace("\u00a0", ""))
    decisions = text.partition("## Decisions")[2].strip().splitlines()
    assert len(decisions) == 2 + 4, "a line for every node"
    for line in decisions:
        outside = re.sub(r"`[^`]*`", "", line)  # code is shown literally
        assert len(re.findall(r"(?<!\\)\|", line)) == 7, f"six cells: {line}"
        assert not re.search(r"(?<!\\)[<>*]", outside), line


def test_odd_names_validate_and_compare(names, tmp_path, capsys):
    def strip(prop):
        return prop.key != "htp.tag"

    # Python's onnx rejects names that are not UTF-8, so those are replaced first.
    raw = names.read_bytes().replace(b"bytes\xff\xfe\xc3(", b"bytes____").replace(b"\x80", b"_")
    model = onnx.load_from_string(raw)
    for node in model.graph.node:
        kept = [p for p in node.metadata_props if strip(p)]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, tmp_path / "bad.onnx")
    assert main(["validate", str(tmp_path / "bad.onnx")]) == 1
    assert is_safe(capsys.readouterr().out)
    assert main(["compare", str(names), str(tmp_path / "bad.onnx")]) == 1
    assert is_safe(capsys.readouterr().out)


def test_a_path_that_is_no_utf8(run_htp, names, tmp_path):
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n.onnx")
    os.symlink(names, odd)
    shown = run_htp("analyze", odd, env={"PYTHONIOENCODING": "ascii"})
    assert shown.returncode == 0 and "4 nodes" in shown.stdout, shown.stderr
    assert run_htp("analyze", odd, "--json").returncode == 0
    missing = run_htp("analyze", odd + "x")
    assert missing.returncode == 1 and "no such file" in missing.stderr
    assert "Traceback" not in missing.stderr


# --- outputs that cannot be written --------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["onnx", "ops.json", "dag.json", "graphml", "trace.json"])
def test_an_output_of_an_export_is_a_folder(source, suffix, tmp_path, capsys):
    """Detected before the model is run, which would fail with another message."""
    (tmp_path / f"m.{suffix}").mkdir()
    command = ["export", f"{source}:fails", "-o", str(tmp_path / "m.onnx"), "--graphml"]
    assert main(command) == 1
    one_error(capsys, f"m.{suffix}: it is a folder")


def test_outputs_are_checked_before_the_model_is_loaded(source, tmp_path, capsys):
    (tmp_path / "m.report.md").mkdir()
    for command in (
        ["export", f"{source}:Loud", "-o", str(tmp_path / "no/such/m.onnx")],
        ["export", f"{source}:Loud", "-o", str(tmp_path / "m.onnx"), "--report"],
        ["tag", str(tmp_path / "missing.onnx"), "-o", str(tmp_path / "no/such/m.onnx")],
        ["tag", str(tmp_path / "missing.onnx"), "-o", str(tmp_path / "m.onnx"), "--report"],
        ["extract", str(tmp_path / "missing.onnx"), "x", "-o", str(tmp_path / "no/such/m.onnx")],
    ):
        assert main(command) == 1
        one_error(capsys, "cannot write")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(source, tmp_path, capsys):
    (tmp_path / "closed").mkdir(mode=0o500)
    assert main(["export", f"{source}:Loud", "-o", str(tmp_path / "closed/m.onnx")]) == 1
    one_error(capsys, "permission denied")


# --- models and exporters that fail --------------------------------------------------------------


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo", "auto"])
def test_a_model_that_does_not_trace(source, exporter, tmp_path, capsys):
    target = tmp_path / "out"
    target.mkdir()
    command = ["export", f"{source}:fails", "-o", str(target / "m.onnx"), "--exporter", exporter]
    assert main(command) == 1
    one_error(capsys, "no such luck")
    assert not list(target.iterdir())
    with pytest.raises(htp.HTPError):
        main([*command, "--debug"])


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
def test_an_exporter_that_fails(source, exporter, tmp_path, capsys):
    command = ["export", f"{source}:no_export", "-o", str(tmp_path / "m.onnx")]
    assert main([*command, "--exporter", exporter]) == 1
    shown = one_error(capsys, f"the {exporter} exporter failed", "linalg_eig")
    assert "--exporter" not in shown  # the other one was not tried
    assert not list(tmp_path.glob("m.*"))


# --- what is not installed -----------------------------------------------------------------------


def test_without_torch(run_htp, source, tmp_path):
    """As if it were not installed; reading tags still works."""
    (tmp_path / "torch.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')"
    )
    env = {"PYTHONPATH": f"{tmp_path}:{ROOT / 'python'}"}
    shown = run_htp("export", source, "-o", tmp_path / "m.onnx", env=env)
    assert (shown.returncode, shown.stdout) == (1, "")
    assert shown.stderr == (
        "htp: error: htp export needs torch, which is not installed: pip install 'htp[torch]'\n"
    )


def test_a_missing_program(source, names, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(native, "candidates", lambda name: [])
    assert main(["export", f"{source}:fails", "-o", str(tmp_path / "m.onnx")]) == 1
    one_error(capsys, "htp-onnx was not found", "pip install .", "make build")
    for command in (["analyze", str(names)], ["tag", str(names)], ["validate", str(names)]):
        assert main(command) == 1
        assert "htp-onnx was not found" in capsys.readouterr().err


# --- models without tags, and files that are none ------------------------------------------------


@pytest.mark.parametrize("command", ["analyze", "validate", "outline", "extract", "compare"])
def test_a_model_without_tags(command, tmp_path, capsys):
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
    bare = tmp_path / "bare.onnx"
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([node], "g", [value], [result])), bare)
    more = {"extract": ["encoder"], "compare": [str(bare)]}.get(command, [])
    assert main([command, str(bare), *more]) == 1
    shown = capsys.readouterr()
    assert "carries no tags: tag it with 'htp tag" in shown.out + shown.err
    assert "Traceback" not in shown.err
    assert list(tmp_path.iterdir()) == [bare]


@pytest.mark.parametrize("option", ["--trace", "--reference", "--overrides", "--policy"])
def test_files_of_tag_that_are_none(option, names, tmp_path, capsys):
    """Files that are missing, or that exist but are something else."""
    target = str(tmp_path / "m.onnx")
    assert main(["tag", str(names), option, str(tmp_path / "missing"), "-o", target]) == 1
    one_error(capsys, "missing: no such file")
    (tmp_path / "junk").write_text("junk")
    assert main(["tag", str(names), option, str(tmp_path / "junk"), "-o", target]) == 1
    one_error(capsys, "junk")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["junk"]


def test_wrong_usage_is_a_line_and_two(run_htp):
    for arguments in (
        ["analyse", "x"],
        ["export", "x", "--opset", "new"],
        ["analyze", "x", "--jso"],
    ):
        shown = run_htp(*arguments)
        assert shown.returncode == 2 and "htp" in shown.stderr and "error: " in shown.stderr
        assert "Traceback" not in shown.stderr
