"""Names may contain anything: markup, quotes, control characters, marks that reverse a line, bytes that are not
UTF-8. Every command and every format shows them safely. (The page itself: test_view_page.py.)"""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
import torch

import htp

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

HOSTILE = [
    "</script><script>window.pwned=1</script>",
    '"><img src=x onerror="alert(1)">',
    "'); DROP TABLE nodes; ('",
    "a\u202egnp.exe",
    "tab\there\nline\r\x1b[31m\x07",
    "=cmd|' /C calc'!A0",
    "| a | b |\n|---|",
    "\u2028\u2029\ufeff",
]
#: What must not reach a terminal: it would move the cursor, or turn the line around.
_HARM = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.lin(x)) + x.sin()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name in HOSTILE:
            self.add_module(name.replace(".", "_"), Block())

    def forward(self, x):
        for block in self.children():
            x = block(x)
        return x


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Hostile names of modules, classes, nodes and values, and one that is not UTF-8."""
    folder = tmp_path_factory.mktemp("hostile")
    Block.__name__ = Block.__qualname__ = "</script><b>Block\u202e"
    try:
        tagged = htp.export(Net(), (torch.randn(2, 4),), folder / "m.onnx", exporter="torchscript")
    finally:
        Block.__name__ = Block.__qualname__ = "Block"
    proto = onnx.load(tagged.path)
    for node, name in zip(proto.graph.node, [*HOSTILE, "no UTF-8: ??"]):
        node.name = name
    raw = proto.SerializeToString().replace(b"no UTF-8: ??", b"no UTF-8: \xff\xfe")
    (folder / "h.onnx").write_bytes(raw)
    return folder / "h.onnx"


@pytest.fixture(scope="module")
def wrong(model):
    """The same with another weight."""
    proto = onnx.load(model.with_name("m.onnx"))
    tensor = next(t for t in proto.graph.initializer if len(t.dims) == 2)
    array = onnx.numpy_helper.to_array(tensor) * 2
    tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    onnx.save(proto, model.with_name("wrong.onnx"))
    return model.with_name("wrong.onnx")


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append(tag)
        assert not [name for name, _ in attributes if name.startswith("on")]


COMMANDS = [
    ["analyze", "MODEL"],
    ["analyze", "MODEL", "--csv"],
    ["analyze", "MODEL", "--json"],
    ["analyze", "MODEL", "--show-resolution-details"],
    ["validate", "MODEL", "--junit", "v.xml"],
    ["compare", "MODEL", "WRONG", "--junit", "c.xml"],
    ["select", "MODEL", "**"],
    ["select", "MODEL", "**", "--json"],
    ["select", "MODEL", "**", "--format", "olive"],
    ["profile", "MODEL", "--runs", "1", "--csv", "p.csv", "--speedscope", "s.json", "--perfetto", "t.json"],
    ["profile", "MODEL", "--runs", "1", "--json"],
    ["diff", "MODEL", "WRONG", "--all", "--value-map", "map.json"],
    ["diff", "MODEL", "WRONG", "--json"],
    ["explain", "MODEL", HOSTILE[0]],
    ["tag", "MODEL", "-o", "tagged.onnx", "--report", "--page", "--graphml"],
    ["view", "MODEL", "-o", "v.html", "--model-explorer", "x"],
    ["batch", "zoo", "-o", "out"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: " ".join(c[:1] + c[2:4])[:40])
def test_every_command(command, model, wrong, tmp_path, run_htp):
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo/h.onnx").write_bytes(model.read_bytes())
    names = {"MODEL": str(model), "WRONG": str(wrong)}
    ended = run_htp(*(names.get(word, word) for word in command), cwd=tmp_path)
    assert ended.returncode in (0, 1) and "Traceback" not in ended.stderr, ended.stderr
    if ended.returncode:
        assert command[0] in ("compare", "diff", "validate"), ended.stderr
    assert not _HARM.findall(ended.stderr)
    if "--json" in command:
        assert json.loads(ended.stdout)
    elif "--csv" in command and command[0] == "analyze":
        assert len({len(row) for row in csv.reader(io.StringIO(ended.stdout))}) == 1
    elif "--format" not in command:
        assert not _HARM.findall(ended.stdout)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    for file in files:
        look_at(file)
    wanted = [word for word in command if re.fullmatch(r"\w+\.(xml|csv|json|html)", word)]
    assert {*wanted} <= {file.name for file in files}


def look_at(file):
    """Checks that a file is complete and contains no markup from a name."""
    if file.suffix in (".xml", ".graphml"):
        ET.parse(file)
    elif file.suffix == ".json":
        json.loads(file.read_bytes())
    elif file.suffix == ".csv":
        with open(file, newline="", encoding="utf-8") as opened:
            assert len({len(row) for row in csv.reader(opened)}) == 1
    elif file.suffix == ".html":
        text = file.read_text(encoding="utf-8")
        found = Tags(text).found
        assert "img" not in found and "b" not in found
        assert text.count("</script>") == found.count("script")
    elif file.suffix == ".md":
        text = re.sub(r"`[^`\n]*`", "", file.read_text(encoding="utf-8"))  # code is text
        text = re.sub(r"\\[<>|]", "", text)
        assert "<script" not in text and "<img" not in text and not _HARM.findall(text)
