"""`htp trace`: the trace of a model without an export, from a factory, a program, a TorchScript module or an archive; read
by htp-trace, or by PyTorch if htp-trace was built for another version of it."""

import json
import shutil

import jsonschema
import onnx
import pytest
import torch
from conftest import ROOT, example
from test_tracing import Branches, canonical, everything, tree

import htp
from htp import archives, capture, native

NAMES = ["plain", "transformer", "decoder", "everything"]


def call_of(name):
    if name == "branches":
        return Branches(), (torch.ones(2, 4),), {"flag": torch.ones(1)}
    model, inputs = everything() if name == "everything" else example(name).build()
    return (model.eval(), (), inputs) if isinstance(inputs, dict) else (model.eval(), inputs, {})


def same(found, wanted):
    assert tree(found) == tree(wanted)
    assert canonical(found) == canonical(wanted)


@pytest.fixture
def other_torch(tmp_path, monkeypatch):
    """htp-trace as if it had been built for another PyTorch."""
    program = tmp_path / "bin/htp-trace"
    program.parent.mkdir()
    shutil.copy(native.find("htp-trace"), program)
    program.with_name("htp-trace.torch").write_text("2.6.0\n")
    monkeypatch.setattr(native, "candidates", lambda name: [program, native.PACKAGE / "no"])
    assert archives.obstacle().startswith("htp-trace was built for torch 2.6.0, but 2.13.0")


@pytest.mark.parametrize("name", NAMES)
def test_script_archive_without_htp_trace(name, tmp_path, request):
    model, args, kwargs = call_of(name)
    call = capture.Call(model, args, kwargs, lambda text: None)
    with torch.no_grad(), call.flat():
        traced = torch.jit.trace(model, call.tensors, strict=False, check_trace=False)
    traced.save(tmp_path / "m.pt")
    wanted = archives.read_archive(tmp_path / "m.pt")
    assert wanted["producer"]["name"] == "htp-trace"
    request.getfixturevalue("other_torch")
    found = archives.read_archive(tmp_path / "m.pt")
    assert found["producer"]["name"] != "htp-trace"
    same(found, wanted)
    same(htp.trace(traced, f=tmp_path / "t.json").document, wanted)


@pytest.mark.parametrize("name", ["plain", "decoder", "branches"])
def test_exported_archive_without_htp_trace(name, tmp_path, request):
    model, args, kwargs = call_of(name)
    program = torch.export.export(model, args, kwargs, strict=False)
    listed = [{"path": p, "qualified": f"x.{type(m).__name__}"} for p, m in model.named_modules()]
    for extra in ({}, {"htp.modules.json": json.dumps(listed)}):
        torch.export.save(program, tmp_path / "m.pt2", extra_files=extra)
        wanted = archives.read_archive(tmp_path / "m.pt2")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(archives, "obstacle", lambda: "another version")
            same(archives.read_archive(tmp_path / "m.pt2"), wanted)
    torch.export.save(program, tmp_path / "m.pt2")
    made = htp.trace(program, f=tmp_path / "t.json")
    same(made.document, archives.read_archive(tmp_path / "m.pt2"))


@pytest.mark.parametrize("tracer", ["export", "torchscript"])
def test_a_foreign_model_is_tagged(tracer, tmp_path):
    """The ONNX file was made elsewhere, and its names carry no information."""
    model, args, _ = call_of("plain")
    torch.onnx.export(model, args, tmp_path / "m.onnx", dynamo=False)
    proto = onnx.load(tmp_path / "m.onnx")
    for number, node in enumerate(proto.graph.node):
        node.name = f"n{number}"
    onnx.save(proto, tmp_path / "m.onnx")
    made = htp.trace(model, args, tmp_path / "m.trace.json", tracer=tracer)
    schema = json.loads((ROOT / "docs/formats/trace.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(made.document)
    assert made.statistics["sketches"] == 8 and model.training is False
    tagged = htp.tag(tmp_path / "m.onnx", trace=made.path)
    assert tagged.statistics["placed_share"] == 1.0
    scopes = {node.op_type: node.scope for node in tagged.nodes_in("blocks.1")}
    assert scopes["Gemm"].startswith("blocks.1.")


def test_command(run_htp, tmp_path):
    ended = run_htp("trace", ROOT / "examples/plain.py:build", "-o", "p.json", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "12 modules" in ended.stdout and "8 with sketches (export)" in ended.stdout
    model, args, _ = call_of("plain")
    torch.export.save(torch.export.export(model, args), tmp_path / "m.pt2")
    ended = run_htp("trace", "m.pt2", "--json", cwd=tmp_path)
    assert json.loads(ended.stdout)["files"] == ["m.trace.json"]
    assert json.loads((tmp_path / "m.trace.json").read_text())["format"] == "htp-trace"


def test_bad_input(run_htp, tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "state.pt")
    (tmp_path / "text.pt2").write_text("hello")
    for arguments, words in {
        ("state.pt",): "this file was written by torch.save",
        ("text.pt2",): "expected a PyTorch archive",
        ("none.pt",): "no such file",
        ("state.pt", "--use-cache"): "--use-cache needs a model to run",
        (str(ROOT / "examples/plain.py:nothing"),): "has no 'nothing'",
        ("state.pt", "-o", "no/where.json"): "does not exist",
    }.items():
        ended = run_htp("trace", *arguments, cwd=tmp_path)
        assert ended.returncode == 1 and words in ended.stderr, (arguments, ended.stderr)
        assert not list(tmp_path.glob("*.json"))


def test_bad_input_without_htp_trace(other_torch, tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "state.pt")
    (tmp_path / "zip.pt").write_bytes(b"PK\x03\x04 and no more")
    for name, words in (("state.pt", "torch.jit.trace(model, inputs)"), ("zip.pt", "a zip file")):
        with pytest.raises(htp.BadInput, match=words.replace("(", r"\(").replace(")", r"\)")):
            htp.trace(tmp_path / name)


class Untraceable(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # torch.export rejects this
            raise ValueError("not today")
        return x


def test_both_tracers_fail(tmp_path):
    with pytest.raises(htp.TraceFailed, match="(?s)torch.export failed.*torch.jit.trace failed"):
        htp.trace(Untraceable(), (torch.ones(1),), tmp_path / "t.json")
    assert not list(tmp_path.iterdir())
