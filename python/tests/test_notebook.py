"""A tagged model in a notebook: its representation, its tables, and the example, which runs from start to end."""

import json
import shutil
import sys
from html.parser import HTMLParser

import pytest
from conftest import NET, ROOT, example

import htp


def test_a_model_is_its_modules(net):
    model = htp.load(net)
    assert len(model) == len(list(model)) == 6 and list(model)[0] == ""
    assert model["layers.0"] is model.modules["layers.0"]
    assert model["/Net/Block.0"] is model.modules["layers.0"], "by its tag, too"
    assert "layers.0" in model and "layers.9" not in model and 3 not in model
    with pytest.raises(KeyError, match=r"similar names: 'layers\.0"):
        model["layers.00"]


def test_nodes_of_a_module(net):
    model = htp.load(net)
    assert list(model["layers.0"].nodes) == ["/layers.0/fc/MatMul", "Add#2"]
    assert model["layers.0"].nodes["Add#2"] is model.nodes["Add#2"]
    assert (model["layers.0"].own_nodes, model["layers.0"].total_nodes) == (1, 2)


class Names(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data):
        self.text += data


def test_picture(net):
    shown = Names(htp.load(net)._repr_html_())
    assert {"svg", "rect", "table"} <= shown.tags and "script" not in shown.tags
    assert "2 × Block" not in shown.text, "their operations differ"
    assert "4 operations of 6 modules, 16 parameters" in shown.text
    assert "layers.0.fc" in shown.text


def test_names_are_text(tmp_path):
    source = tmp_path / "net.mlir"
    source.write_text(NET.read_text().replace("net.Block", "net.<script>alert(1)</script>"))
    model = tmp_path / "net.onnx"
    htp.native.run("htp-opt", source, "-o", model)
    shown = Names(htp.load(model)._repr_html_())
    assert "script" not in shown.tags and "<script>alert(1)" in shown.text


def test_large_model_stays_small(thousands):
    shown = htp.load(thousands)._repr_html_()
    assert "26 × Layer" in shown and len(shown) < 500_000


def test_tables(net):
    pytest.importorskip("pandas")
    model = htp.load(net)
    modules, nodes = model.to_dataframe(), model.to_dataframe("nodes")
    assert list(modules.index) == list(model.modules)
    assert modules.loc["layers.0.fc", "multiply_adds"] == 64
    assert modules.loc["", "total_weight_bytes"] == 64, "one weight for both"
    assert list(nodes.index) == ["/layers.0/fc/MatMul", "Add#2", "mask", "mask#4"]
    assert nodes.loc["mask", "confidence"] == 0.5


def test_table_without_pandas(net, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(htp.MissingPackage, match=r"pip install 'htp\[dataframe\]'"):
        htp.load(net).to_dataframe()


def test_lines_of_code(tmp_path):
    """The lines are there if the exporter records them in the file."""
    model, args = example("plain").build()
    tagged = htp.export(model, args, tmp_path / "plain.onnx", exporter="dynamo")
    lines = [node.source for node in tagged.nodes.values()]
    assert all("examples/plain.py:" in line for line in lines), lines
    source = (ROOT / "examples/plain.py").read_text().splitlines()
    number = int(tagged.node("linear").source.rpartition(":")[2])
    assert "self." in source[number - 1] and "(" in source[number - 1], "it is a call of a module"
    again = htp.load(tagged.path)
    assert [node.source for node in again.nodes.values()] == lines
    sidecar = htp.load(tagged.path.with_suffix(".ops.json"))
    assert [node.source for node in sidecar.nodes.values()] == lines


def test_example(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("transformers")
    shutil.copy(ROOT / "examples/bert.ipynb", tmp_path)
    notebook = nbformat.read(tmp_path / "bert.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "committed without outputs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "python"))
        client = nbclient.NotebookClient(
            notebook, timeout=300, resources={"metadata": {"path": tmp_path}}
        )
        client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert "<svg" in cells[0].outputs[-1]["data"]["text/html"]
    assert "BertLayer made" in cells[1].outputs[0]["text"]
    assert "total_multiply_adds=3211264" in cells[1].outputs[1]["data"]["text/plain"]
    assert (
        "modeling_bert.py" in cells[3].outputs[0]["text"] or "sdpa" in cells[3].outputs[0]["text"]
    )
    assert (tmp_path / "bert.html").exists()


def test_example_is_plain_json():
    """The notebook is stored in a form in which changes are readable."""
    path = ROOT / "examples/bert.ipynb"
    text = path.read_text()
    assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
