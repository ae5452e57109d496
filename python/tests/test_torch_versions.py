"""Whatever relies on PyTorch's private functions has a public fallback: both are tested, the second by hiding the first."""

import importlib.metadata
import json
import zipfile

import pytest
import torch
from conftest import example
from test_tracing import canonical, everything, tree

import htp
from htp import archives, torchfeatures
from htp.cli import main


@pytest.fixture(params=["plain", "everything"])
def model(request):
    made, args = everything() if request.param == "everything" else example("plain").build()
    return made.eval(), args


def exported(model, folder, exporter):
    made, args = model
    folder.mkdir()
    tagged = htp.export(made, args, folder / "m.onnx", exporter=exporter)
    return tagged, json.loads((folder / "m.trace.json").read_text())


def hidden_graph(monkeypatch):
    """A PyTorch that does not expose the exporter's graph."""
    monkeypatch.delattr(torch._C, "_get_value_trace")
    assert not torchfeatures.exporter_graph()


def test_torchscript_exporter(model, tmp_path, monkeypatch):
    tagged, wanted = exported(model, tmp_path / "private", "torchscript")
    hidden_graph(monkeypatch)
    public, found = exported(model, tmp_path / "public", "torchscript")
    assert tree(found) == tree(wanted) and canonical(found) == canonical(wanted)
    assert {n: v.tag for n, v in public.nodes.items()} == {
        n: v.tag for n, v in tagged.nodes.items()
    }
    assert public.path.read_bytes() == tagged.path.read_bytes()


def test_modules_as_older_versions_ask_for_them(model, tmp_path, monkeypatch):
    """PyTorch 2.6 first checks whether a module is in its table of names, and then looks up its name."""
    from htp import tracing

    _, wanted = exported(model, tmp_path / "new", "torchscript")

    class Asked(tracing._Names):
        def get(self, module, default=None):
            return self[module] if module in self else default

    monkeypatch.setattr(tracing, "_Names", Asked)
    _, found = exported(model, tmp_path / "old", "torchscript")
    assert canonical(found) == canonical(wanted)


def test_programs_as_older_versions_save_them(tmp_path):
    """Before 2.7, the records of a .pt2 were not in a folder."""
    for folder in ("", "m/"):
        with zipfile.ZipFile(tmp_path / "m.pt2", "w") as archive:
            archive.writestr(f"{folder}serialized_exported_program.json", "{}")
        assert archives._kind(tmp_path / "m.pt2") == "export"


def test_dynamo_exporter(tmp_path, monkeypatch):
    """An exporter that captures the program by another function."""
    model = example("plain").build()
    tagged, wanted = exported(model, tmp_path / "private", "dynamo")
    capture, export, calls = torch.export.export, torch.onnx.export, []

    def elsewhere(*args, **kwargs):
        seen, torch.export.export = torch.export.export, capture
        try:
            calls.append(1)
            return export(*args, **kwargs)
        finally:
            torch.export.export = seen

    monkeypatch.setattr(torch.onnx, "export", elsewhere)
    public, found = exported(model, tmp_path / "public", "dynamo")
    assert calls and tree(found) == tree(wanted) and canonical(found) == canonical(wanted)
    assert {n: v.tag for n, v in public.nodes.items()} == {
        n: v.tag for n, v in tagged.nodes.items()
    }


def test_types_without_numbers(tmp_path, monkeypatch):
    class Cast(torch.nn.Module):
        def forward(self, x):
            return x.to(torch.float64) + torch.zeros(2, dtype=torch.float64)

    monkeypatch.setattr(torchfeatures, "numbers", lambda kind: {})
    found = htp.trace(Cast(), (torch.ones(2),), tmp_path / "t.json", tracer="export").document
    constants = [i.get("constant") for op in found["ops"] for i in op["inputs"]]
    assert "torch.float64" in constants


def test_scripted_function_without_its_unit(tmp_path, monkeypatch):
    """It stays one operation."""
    monkeypatch.setattr(torchfeatures, "scripted_function", lambda name: None)
    model, args = everything()
    found = htp.trace(model, args, tmp_path / "t.json", tracer="torchscript").document
    assert "prim::CallFunction" in [op["kind"] for op in found["ops"]]


def test_doctor_says_which(capsys, monkeypatch):
    assert main(["doctor"]) == 0
    assert "the exporter's own graph" in capsys.readouterr().out
    hidden_graph(monkeypatch)
    monkeypatch.setattr(archives, "obstacle", lambda: "htp-trace was built for torch 2.6.0")
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "a second trace with torch.jit.trace" in shown
    assert "htp-trace was built for torch 2.6.0: archives are read with PyTorch itself" in shown


def test_too_old(monkeypatch, tmp_path, capsys):
    real = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "2.5.1+cu124" if name == "torch" else real(name)
    )
    words = "torch 2.5.1+cu124 is too old; HTP needs 2.6 or newer"
    model, args = example("plain").build()
    with pytest.raises(htp.BadInput, match=r"torch 2\.5\.1\+cu124 is too old"):
        htp.export(model, args, tmp_path / "m.onnx")
    assert main(["trace", "nets.py:build"]) == 1 and words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    main(["doctor"])
    assert words in capsys.readouterr().out
