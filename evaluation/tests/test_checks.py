"""The corpus-wide checks on a small part of the corpus: `optimize_check.py`, `hierarchy_check.py` and `direct_evidence.py`
run them on all of it."""

import collections
import json
import shutil

import direct_evidence
import hierarchy_check
import optimize_check
import pytest
from conftest import SUBSET

MODELS = [pytest.param(name, model, id=model) for name in SUBSET for model in SUBSET[name]]


@pytest.mark.parametrize("variant", ["ts", "dynamo"])
@pytest.mark.parametrize(("name", "model"), MODELS)
def test_cse_and_canonicalize_change_no_output(corpora, programs, tmp_path, name, model, variant):
    source = corpora[name] / model / f"{variant}.onnx"
    problem, before, after = optimize_check.check(programs, source, tmp_path)
    assert not problem
    assert after <= before


def test_cse_merges(corpora, programs, tmp_path):
    source = corpora["corpus"] / "bert_tiny" / "ts.onnx"
    _, before, after = optimize_check.check(programs, source, tmp_path)
    assert after < before


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_trees(corpora, programs, name, model):
    counts = collections.Counter()
    said = hierarchy_check.check(programs, corpora[name] / model, counts)
    assert not said, "\n".join(said)
    assert (counts["right"], counts["valid"], counts["agree"]) == (2, 2, 1)


def test_a_wrong_tree_is_found(corpora, programs, tmp_path):
    """The check notices an additional module, and a different class."""
    folder = tmp_path / "bert_tiny"
    shutil.copytree(corpora["corpus"] / "bert_tiny", folder)
    tree = json.loads((folder / "tree.json").read_text())
    tree[1]["cls"] = "Other"
    tree.append(dict(tree[2], path="embeddings.more"))
    (folder / "tree.json").write_text(json.dumps(tree))
    said = hierarchy_check.check(programs, folder, collections.Counter())
    assert any("'embeddings.more' is missing" in line for line in said)
    assert any("'embeddings' is ('BertEmbeddings'" in line for line in said)


@pytest.mark.parametrize("variant", ["ts", "dynamo"])
def test_direct_evidence_is_never_wrong(corpora, programs, variant):
    total = collections.Counter()
    for model in SUBSET["corpus"]:
        source = corpora["corpus"] / model / f"{variant}.onnx"
        trace = source.parent / direct_evidence.FITTING[variant]
        total.update(direct_evidence.check(programs, source, trace, show=3))
    assert total["wrong"] == total["not restored"] == 0
    assert total["answered"] >= direct_evidence.GOAL * total["nodes"]
