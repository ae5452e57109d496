"""The documentation is correct: links work, code parses, commands exist, and examples that can run here do run."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT
from test_examples import run

from htp.cli import build_parser

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "evaluation/README.md"])
BLOCK = re.compile(r"^( *)```([a-z]*)[^\n]*\n(.*?)^ *```", re.M | re.S)


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page, *languages):
    for indent, language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in languages:
            yield "".join(line.removeprefix(indent) for line in code.splitlines(keepends=True))


def anchors(page):
    """The anchors of the headings, as GitHub and mkdocs spell them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    plain = [re.sub(r"[`*]|\]\([^)]*\)|\[", "", head).strip().lower() for head in heads]
    return {re.sub(r"[^\w\- ]", "", head).replace(" ", "-") for head in plain}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links(page):
    text = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text(encoding="utf-8")))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue  # other hosts are not contacted
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target} leads nowhere"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{target}: no such heading"


def commands(code):
    """The calls of htp in a block of shell code."""
    for line in code.replace("\\\n", " ").splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue  # a here-document
        while words[:1] == ["-"] or words[:1] == ["run:"]:
            words = words[1:]
        if words[:1] == ["htp"] and words[1:]:
            cut = next((i for i, w in enumerate(words) if w in ("|", ">", "&&", ";", "…")), None)
            yield words[1:cut]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code(page, capsys):
    """Commands accept their options, and other blocks are valid in their language."""
    for code in blocks(page, "python"):
        compile(code, name_of(page), "exec")
    for code in blocks(page, "json"):
        if "…" not in code:
            try:
                json.loads(code)
            except ValueError:
                for line in code.splitlines():  # JSON lines
                    json.loads(line)
    for code in blocks(page, "yaml"):
        yaml.safe_load(code)
    for code in blocks(page, "sh", "yaml", "text"):
        for words in commands(code):
            try:
                build_parser(words[0]).parse_args(words)
            except SystemExit as end:
                assert not end.code, f"htp {' '.join(words)}: {capsys.readouterr().err}"


@pytest.fixture(scope="module")
def how_to(tmp_path_factory):
    """A folder in which all of docs/HowTo.md has run."""
    folder = tmp_path_factory.mktemp("howto")
    (folder / "examples").symlink_to(ROOT / "examples")
    count = 0
    for _, language, code in BLOCK.findall((ROOT / "docs/HowTo.md").read_text()):
        shell = ["bash", "-euo", "pipefail", "-c", code]
        run(shell if language == "sh" else [sys.executable, "-c", code], folder)
        count += 1
    assert count > 10
    return folder


def test_how_to(how_to):
    names = json.loads((how_to / "exclude.json").read_text())
    assert names and (how_to / "tagged-models/model.onnx").exists()


def test_installing(how_to):
    for code in blocks(ROOT / "docs/Installing.md", "python"):
        run([sys.executable, "-c", code], how_to)


def test_ci(how_to, tmp_path):
    shutil.copy(how_to / "tagged.onnx", tmp_path / "model.onnx")
    (code,) = blocks(ROOT / "docs/CI.md", "sh")
    run(["bash", "-euo", "pipefail", "-c", code], tmp_path)
    assert (tmp_path / "compare.xml").exists()


def test_site(tmp_path):
    """Builds without a warning, and without network."""
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", tmp_path / "site"]
    ended = subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert ended.returncode == 0 and not ended.stderr.strip(), ended.stderr
    pages = {page.name for page in (tmp_path / "site").glob("*.html")}
    assert pages >= {
        "index.html",
        "Tutorial.html",
        "Commands.html",
        "Python.html",
        "CHANGELOG.html",
    }
    text = (tmp_path / "site/Commands.html").read_text()
    assert "htp batch" in text and "--use-cache" in text
    assert "Tags an ONNX model" in (tmp_path / "site/Python.html").read_text()
    for page in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img)[^>]*(?:src|href)="(https?://[^"]*)"', page.read_text()
        )
        assert not loaded, f"{page.name} loads from another host: {loaded}"
