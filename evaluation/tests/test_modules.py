"""Modules recovered from the graph, on a small part of the corpus: outlined, inlined, extracted, compiled by IREE."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.fixture
def check(programs, tmp_path):
    """Runs a script of the evaluation, which must end well; returns what it printed."""

    def run(script, *arguments):
        command = [sys.executable, ROOT / "evaluation" / script, "--htp-opt", programs / "htp-opt"]
        done = subprocess.run(
            [*command, "--work", tmp_path, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_outlined_models_compute_the_same_and_come_back(check, corpora):
    said = check("outline_check.py", corpora["corpus"], "bert_tiny", "albert")
    assert "8 of 8 graphs; 0 of " in said


def test_extracted_modules_are_those_of_pytorch(check, corpora):
    models = ROOT / "evaluation/corpus/models.py"
    said = check("extract_check.py", corpora["corpus"], "--models", models, "albert", "resnet")
    equal, modules, hooked, folded, unlike = map(int, re.findall(r"\b\d+\b", said.splitlines()[-1]))
    assert equal == modules > 100 and hooked > 100 and unlike == 0
    assert folded == 28, "the convolutions of both graphs, which took in their norms"


@pytest.mark.parametrize("variant", ["ts", "dynamo"])
def test_deep_models_share_one_function(check, variant):
    assert "2 of 2 models" in check("outline_layers.py", f"bert/{variant}")


def test_iree_compiles_an_outlined_model_layer_by_layer(check, corpora):
    pytest.importorskip("iree.runtime")
    said = check("iree_check.py", corpora["corpus"], "bert_tiny/ts", "gpt2/dynamo")
    assert re.search(r"bert_tiny/ts: ok, .*: BertLayer x 2, ", said, re.M), said
    assert re.search(r"gpt2/dynamo: ok, .*: GPT2Block x [2-9], ", said, re.M), said


@pytest.mark.parametrize("name, variant", [("bert_tiny", "ts"), ("gpt2", "dynamo")])
def test_shapes_are_found_in_functions_alone(check, corpora, programs, tmp_path, name, variant):
    """In a body alone, with typed inputs only, inference finds what it finds in the flat model."""
    folder, tagged = corpora["corpus"] / name, tmp_path / "tagged.onnx"
    trace = folder / {"ts": "trace.pt", "dynamo": "trace.pt2"}[variant]
    source = folder / f"{variant}.onnx"
    command = [programs / "htp-opt", source, f"--htp-tag=trace={trace}", "-o", tagged]
    subprocess.run(command, check=True)
    said = check("shape_check.py", tagged, "--work", tmp_path / "work")
    found, total = map(int, re.search(r": (\d+) of (\d+) values", said).groups())
    assert found == total > 30
