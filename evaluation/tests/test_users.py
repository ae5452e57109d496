"""What users get, on a small part of the corpus: htp.export, and DAG JSON compared with the ONNX file alone.

export_check.py and dag_check.py do the same for all of it.
"""

import json
import subprocess

import dag_check
import export_check
import pytest

# One of each kind: an encoder, layers that are called twice, folded batch norms.
EXPORTS = [("bert_tiny", "torchscript"), ("albert", "dynamo"), ("resnet", "torchscript")]


@pytest.mark.parametrize(("name", "exporter"), EXPORTS)
def test_export(name, exporter, tmp_path):
    result = export_check.check(name, exporter, tmp_path)
    assert "skipped" not in result and result["problems"] == []
    assert result["scored"] > 20


def test_export_check_sees_wrong_tags(tmp_path, monkeypatch):
    """The judge is not blind: the truth of another exporter does not fit."""
    monkeypatch.setattr(export_check, "judge", lambda *_: (50, 49, 1))
    monkeypatch.setattr(export_check, "outputs_differ", lambda *_: "outputs differ by 1")
    result = export_check.check("bert_tiny", "torchscript", tmp_path)
    assert result["problems"] == ["outputs differ by 1", "1 wrong tags, 1 of another layer"]


def run_dag_check(corpus, programs, *models):
    command = [dag_check.sys.executable, dag_check.__file__, "--bin", programs, corpus, *models]
    return subprocess.run(command, capture_output=True, text=True)


def test_dag(corpora, programs):
    ended = run_dag_check(corpora["corpus"], programs, "bert_tiny", "albert/dynamo", "resnet/ts")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "0 failed" in ended.stdout and ended.stdout.count(" ok\n") >= 4


def test_dag_check_sees_what_is_missing(corpora, programs, tmp_path, monkeypatch):
    """An entry without a node, an edge that is none, and a module without an entry."""
    folder = corpora["corpus"] / "bert_tiny"
    tree = json.loads((folder / "tree.json").read_text())
    dag_check.read_trace(programs, folder / "trace.pt", tree, tmp_path / "trace.json")
    loads = json.loads

    def damaged(text):
        value = loads(text)
        if "/BertModel/BertPooler" in value:
            del value["/BertModel/BertPooler"]
            value["/BertModel"]["nodes"].pop()
            value["/BertModel"]["edges"].append(["a", "b"])
        return value

    monkeypatch.setattr(dag_check.json, "loads", damaged)
    schemas = {"dag": {}, "op-metadata": {}}
    problems, _, _ = dag_check.check(
        folder / "ts.onnx", tmp_path / "trace.json", tree, programs, schemas
    )
    assert len(problems) == 3, problems
    assert "BertPooler" in problems[0] and "nodes" in problems[1] and "edges" in problems[2]
