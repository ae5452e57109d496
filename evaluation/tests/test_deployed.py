"""A quick part of deployed_check.py: forms of one model, another model's weights, and broken files."""

import json
import shutil
import subprocess

import deployed_check as deployed
import figures
import forms
import genai
import numpy as np
import onnx
import pytest
from onnx import numpy_helper

FORMS = ("fp16", "int8", "qdq", "nbits4", "int8-ort_all")
#: Forms of programs that sort nodes, or add some at the end.
SORTED = ("fp16_io", "transformers")


def made(name, kinds, programs, build):
    """The folder of an architecture in these forms."""
    folder = build / "test-corpus" / "deployed" / name
    if not (folder / "done.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        deployed.export(name, folder)
    deployed.make_forms(folder, kinds)
    deployed.prepare(folder, programs)
    return folder


@pytest.fixture(scope="module")
def folder(programs, build):
    """The mixture of experts: many parameters of one shape."""
    return made("mixture", FORMS, programs, build)


def test_all_forms_are_made(folder):
    assert json.loads((folder / "failed.json").read_text()) == {}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", figures.NAMES)
@pytest.mark.parametrize("source", ["trace", "reference"])
def test_forms(folder, programs, form, names, source):
    result = deployed.tag_one((folder, "ts", form, names, source), programs)
    assert result["error"] == ""
    assert result["contaminated"] == 0
    assert result["exact"] >= 0.985 * result["scored"]


@pytest.fixture(scope="module")
def sorted_files(programs, build):
    """Blocks that compute sizes from constants, as all others do, in files that tools have sorted."""
    return made("swinv2", SORTED, programs, build)


@pytest.mark.parametrize("form", SORTED)
def test_sorted_files(sorted_files, programs, form):
    result = deployed.tag_one((sorted_files, "ts", form, "removed", "trace"), programs)
    assert result["error"] == ""
    assert result["exact"] >= 0.985 * result["scored"]


def tag(programs, model, trace, target):
    command = [programs / "htp-opt", model, f"--htp-tag=trace={trace}", "-o", target]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def shuffled(trace, target):
    """The same trace with other weights: every parameter differs."""
    document = json.loads(trace.read_text())
    rng = np.random.default_rng(0)
    for module in document["modules"]:
        for parameter in module["parameters"]:
            for key in ("hash", "values_hash"):
                if key in parameter:
                    parameter[key] = rng.bytes(8).hex()
            if "sketch" in parameter:
                digits = len(parameter["sketch"].split(":")[1])
                parameter["sketch"] = "1:" + rng.bytes(digits).hex()[:digits]
    target.write_text(json.dumps(document))


@pytest.mark.parametrize("form", FORMS)
def test_other_weights_are_told_apart(folder, programs, tmp_path, form):
    model = folder / f"ts.{form}.removed.onnx"
    shuffled(folder / "ts.trace.json", tmp_path / "other.json")
    right = tag(programs, model, folder / "ts.trace.json", tmp_path / "right.onnx")
    wrong = tag(programs, model, tmp_path / "other.json", tmp_path / "wrong.onnx")
    assert right.returncode == 0 and "of another model" not in right.stderr
    assert "of another model" in wrong.stderr


def packed(model):
    return next(n for n in model.graph.node if n.op_type == "MatMulNBits")


def replace(model, name, change):
    tensor = next(i for i in model.graph.initializer if i.name == name)
    tensor.CopyFrom(numpy_helper.from_array(change(numpy_helper.to_array(tensor)), name))


BROKEN = {
    "short data": lambda m: replace(m, packed(m).input[1], lambda a: a[:-1]),
    "few scales": lambda m: replace(m, packed(m).input[2], lambda a: a.reshape(-1)[:-1]),
    "not a number": lambda m: replace(m, packed(m).input[2], lambda a: a * np.float32("nan")),
    "infinite": lambda m: replace(m, packed(m).input[2], lambda a: a * np.float32("inf")),
    "all equal": lambda m: replace(m, packed(m).input[1], lambda a: a * 0),
    "a negative size": lambda m: next(a for a in packed(m).attribute if a.name == "N").__setattr__(
        "i", -5
    ),
    "blocks of nothing": lambda m: next(
        a for a in packed(m).attribute if a.name == "block_size"
    ).__setattr__("i", 0),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_weights(folder, programs, tmp_path, what):
    """No crash, and nothing is recognised in what is broken: the model's other weights still are."""
    model = onnx.load(folder / "ts.nbits4.removed.onnx")
    BROKEN[what](model)
    onnx.save(model, tmp_path / "broken.onnx")
    done = tag(programs, tmp_path / "broken.onnx", folder / "ts.trace.json", tmp_path / "out.onnx")
    assert done.returncode in (0, 1), done.stderr
    if done.returncode == 0:
        node = packed(onnx.load(tmp_path / "out.onnx"))
        assert "sketch" not in str({p.key: p.value for p in node.metadata_props})


def test_missing_external_data(folder, programs, tmp_path):
    model = onnx.load(folder / "ts.nbits4.removed.onnx")
    onnx.save(
        model, tmp_path / "model.onnx", save_as_external_data=True, size_threshold=0, location="w"
    )
    shutil.move(tmp_path / "w", tmp_path / "gone")
    done = tag(programs, tmp_path / "model.onnx", folder / "ts.trace.json", tmp_path / "out.onnx")
    assert done.returncode in (0, 1)
    assert "w" in done.stderr


def test_tables_name_every_form(folder):
    result = dict(scored=10, exact=9, contaminated=1, error="", answers=[(0.95, True)] * 9)
    results = [result | dict(form=f, names="kept", source="trace") for f in forms.FORMS]
    text = figures.table(results)
    assert all(f"| {form} |" in text for form in forms.FORMS)
    assert "90.00 (1 c)" in text
    assert "| 0.9 to 1.0 | 126 | 0.950 | 1.000 |" in figures.calibration(results)


def test_the_builders_names():
    paths = {"", "model", "model.layers.0", "model.layers.0.self_attn", "model.norm", "lm_head"}
    paths |= {f"model.layers.0.self_attn.{p}" for p in ("q_proj", "k_proj", "v_proj")}

    def of(name, op="MatMul"):
        return genai.module_of(onnx.helper.make_node(op, [], [], name), paths, 1)

    attention = "model.layers.0.self_attn"
    assert of("/model/layers.0/attn/q_proj/MatMul") == f"{attention}.q_proj"
    assert of("/model/layers.0/attn/qkv_proj/MatMul")[0] == attention
    assert of("/model/layers.0/attn/GroupQueryAttention") == attention
    assert of("/model/layers.0/attn/k_proj/repeat_kv/Concat_1") == [
        f"{attention}.k_proj",
        attention,
    ]
    assert of("/model/layers.1/final_norm_layernorm/SkipLayerNorm") == "model.norm"
    assert of("/model/attn_mask_reformat/a/Shape") == ["model", ""]
    assert of("/lm_head/MatMul") == "lm_head"
