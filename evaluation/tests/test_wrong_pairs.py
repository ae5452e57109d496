"""The check of wrong traces and references: what counts as reported, and what as silent."""

import json
import stat

import pytest
import wrong_pairs


def test_outcomes():
    assert wrong_pairs.outcome(1, "error: the trace is of another model", "") == "refused"
    assert wrong_pairs.outcome(0, "m: warning: the trace may be of another model", "") == "flagged"
    assert wrong_pairs.outcome(0, "", "doubtful") == "flagged"
    assert wrong_pairs.outcome(0, "", "fits") == "silent"
    assert wrong_pairs.outcome(0, "", "") == "silent"
    assert wrong_pairs.outcome(0, "m: warning: the model says nothing", "") == "silent"


def test_verdicts(tmp_path):
    file = tmp_path / "ops.json"
    assert wrong_pairs.verdict_of(file, "trace") == ""
    fits = [
        {"source": "trace", "verdict": "other model"},
        {"source": "reference", "verdict": "fits"},
    ]
    file.write_text(json.dumps({"statistics": {"fit": fits}}))
    assert wrong_pairs.verdict_of(file, "trace") == "other model"
    assert wrong_pairs.verdict_of(file, "reference") == "fits"


def test_there_are_132_pairs():
    assert len(set(wrong_pairs.MODELS)) == 12


@pytest.fixture
def corpus(tmp_path):
    for model in ("a", "b"):
        folder = tmp_path / "corpus" / model
        folder.mkdir(parents=True)
        for name in ("ts.onnx", "ts.anon.onnx", "ts.ort.onnx", "trace.pt", "tree.json"):
            (folder / name).write_text(model)
    return tmp_path / "corpus"


def test_attempts(corpus):
    found = wrong_pairs.attempts(corpus, ["a", "b"])
    wrong = {(a.model, a.variant, a.kind) for a in found if not a.right}
    assert len(wrong) == 2 * 2 * 2, "two models, as exported and anonymous, trace and reference"
    right = {(a.variant, a.kind) for a in found if a.right and a.model == "a"}
    assert ("ts.ort", "trace") in right and ("ts.ort", "reference") in right
    assert ("ts", "reference") not in right


@pytest.mark.parametrize(
    ("program", "status"), [("refuses", 0), ("accepts", 1), ("refuses all", 1)]
)
def test_the_check_fails_where_it_must(corpus, tmp_path, monkeypatch, capsys, program, status):
    """With programs that refuse what is of another model, nothing, or everything."""
    programs = tmp_path / "bin"
    programs.mkdir()
    body = f"""#!/usr/bin/env python3
import pathlib, sys
program = {program!r}
source = pathlib.Path(sys.argv[1]).read_text()
target = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
given = [a.partition("=")[2].partition("=")[2] for a in sys.argv if a.startswith("--htp-tag=")]
if given and target.parent.name == "attempts":
    other = pathlib.Path(given[0]).read_text() != source
    if program == "refuses all" or (program == "refuses" and other):
        sys.exit("error: this is another model")
for option in sys.argv:
    if option.startswith("--op-metadata="):
        pathlib.Path(option.partition("=")[2]).write_text('{json.dumps({"statistics": {}})}')
target.write_text(source)
"""
    for name in ("htp-opt", "htp-trace"):
        (programs / name).write_text(body)
        (programs / name).chmod((programs / name).stat().st_mode | stat.S_IXUSR)
    arguments = [
        str(corpus),
        "--bin",
        str(programs),
        "--work",
        str(tmp_path / "work"),
        "--models",
        "a",
        "b",
    ]
    monkeypatch.setattr(wrong_pairs.sys, "argv", ["wrong_pairs.py", *arguments])
    assert wrong_pairs.main() == status
    said = capsys.readouterr().out
    assert ("trace: 2 of 2 pairs" in said) == (program != "accepts")
