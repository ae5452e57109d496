"""Features for CI systems: many files, JUnit XML, exit codes, the pre-commit hook, completion."""

import json
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest
import yaml
from conftest import ROOT

import htp
from htp import junit
from htp.cli import MODULES, main


@pytest.fixture
def models(net, tmp_path):
    """A tagged model twice, a broken one, and one without tags."""
    for name in ("a", "b"):
        shutil.copy(net, tmp_path / f"{name}.onnx")
    (tmp_path / "broken.onnx").write_bytes(b"\xff\xff")
    htp.native.run("htp-onnx", net, "--htp-strip", "-o", tmp_path / "plain.onnx")
    return tmp_path


def cases(report):
    """The state of each check by file and name."""
    found = {}
    for case in ET.parse(report).iter("testcase"):
        state = case[0].tag if len(case) else "passed"
        found[case.get("classname"), case.get("name")] = state
    return found


def test_validate_many(models, capsys, monkeypatch):
    monkeypatch.chdir(models)
    names = ["a.onnx", "broken.onnx", "b.onnx", "plain.onnx", "none.onnx"]
    assert main(["validate", *names, "--junit", "r.xml"]) == 1
    shown = capsys.readouterr().out
    assert "2 of 5 models valid" in shown and "a.onnx: ok" in shown
    assert "none.onnx: failed" in shown and "carries no tags" in shown
    found = cases("r.xml")
    assert found["a.onnx", "tags"] == found["b.onnx", "tree"] == "passed"
    assert found["plain.onnx", "tags"] == "failure" and found["none.onnx", "file"] == "failure"
    root = ET.parse("r.xml").getroot()
    assert [s.get("failures") != "0" for s in root] == [False, True, False, True, True]
    assert main(["validate", "a.onnx", "b.onnx", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["valid"] and [m["file"] for m in result["models"]] == ["a.onnx", "b.onnx"]
    assert main(["validate", "a.onnx", "b.onnx", "--numeric", "a.onnx"]) == 1
    assert "--numeric works with a single MODEL" in capsys.readouterr().err
    assert main(["validate", "a.onnx", "--junit", "no/where.xml"]) == 1


def test_compare_junit(models, capsys, monkeypatch):
    monkeypatch.chdir(models)
    assert main(["compare", "a.onnx", "--write-baseline", "b.json"]) == 0
    assert main(["compare", "b.onnx", "--baseline", "b.json", "--junit", "same.xml"]) == 0
    assert set(cases("same.xml").values()) == {"passed"} and len(cases("same.xml")) == 7
    part = htp.extract("a.onnx", htp.load("a.onnx").modules[""].children[0], "part.onnx")
    only = ["--only", "modules,ops", "--junit", "other.xml"]
    assert main(["compare", str(part), "--baseline", "b.json", *only]) == 1
    states = {name: state for (_, name), state in cases("other.xml").items()}
    assert states["modules"] == "failure" and set(states) == {"modules", "ops"}


def test_names_of_any_kind():
    text = junit.document({"m\x00.onnx": [junit.Case("tags", ["node '\x1b[31m<&>\ud800'"])]})
    case = ET.fromstring(text.encode("utf-8", "backslashreplace").decode()).find(
        "*/testcase/failure"
    )
    assert case is not None and "\\x1B[31m<&>" in str(case.text)


def test_pre_commit_hook(models, run_htp):
    """The entry, called as pre-commit does, with the files at the end."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, *arguments = shlex.split(hook["entry"])
    assert program == "htp" and hook["files"] == r"\.onnx$"
    assert run_htp(*arguments, "a.onnx", "b.onnx", cwd=models).returncode == 0
    assert run_htp(*arguments, "a.onnx", "plain.onnx", cwd=models).returncode == 1


def completed(words, script):
    """Bash's completions of the last word."""
    typed = " ".join(shlex.quote(word) for word in words)
    code = f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _htp; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    ended = subprocess.run(["bash", "-c", f"{script}\n{code}"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


def test_completion(capsys, tmp_path, monkeypatch):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert completed(["htp", "ex"], script) == ["export", "extract", "explain"]
    assert completed(["htp", "tag", "--tr"], script) == ["--trace"]
    assert set(completed(["htp", ""], script)) >= {n for names in MODULES.values() for n in names}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.onnx").touch()
    assert completed(["htp", "tag", "mo"], script) == ["model.onnx"]
    for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])):
        assert main(["completion", shell]) == 0
        text = capsys.readouterr().out
        assert "check-contamination" in text and "%(" not in text
        if shutil.which(shell):
            (tmp_path / shell).write_text(text)
            subprocess.run([*check, tmp_path / shell], check=True)
