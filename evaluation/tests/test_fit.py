"""The table of what answers are worth: it agrees with the files, and htp-opt uses it."""

import re

import fit
import onnx
import pytest
from onnx import helper


def test_every_row_is_a_ground_and_counts_fit():
    rows = re.findall(r"HTP_WORTH\((\w+), (\d+), (\d+)\)", fit.WORTH.read_text())
    names = list(fit.known_grounds().values())
    assert len(rows) > 20
    assert [r[0] for r in rows] == [n for n in names if n in {r[0] for r in rows}], "in order"
    assert all(int(right) <= int(answers) for _, right, answers in rows)


def test_worth():
    assert fit.worth(0, 0) == 0.5, "nobody knows"
    assert fit.worth(1_000_000, 1_000_000) == 0.999, "nothing is beyond doubt"
    assert fit.worth(8, 8) == 0.9


def test_the_program_says_what_the_table_says(tmp_path, programs):
    """A node that is identified only by its name gets that ground and its confidence."""
    weight = helper.make_tensor("w", onnx.TensorProto.FLOAT, [2, 2], [1.0, 2, 3, 4])
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="/block/fc/MatMul"),
        helper.make_node("Relu", ["h"], ["y"], name="/block/act/Relu"),
    ]
    x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2, 2]) for n in "xy")
    source = tmp_path / "m.onnx"
    graph = helper.make_graph(nodes, "g", [x], [y], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), source)
    file = fit.File("test", "m", source, "")
    tagged, grounds = fit.tag(file, programs, tmp_path)
    assert grounds == {"h": "name", "y": "name"}
    row = re.search(r"HTP_WORTH\(NodeName, (\d+), (\d+)\)", fit.WORTH.read_text())
    said = {p.key: p.value for p in tagged[0].metadata_props}["htp.confidence"]
    assert float(said) == fit.worth(int(row[1]), int(row[2]))


def test_an_architecture_is_not_judged_by_itself():
    counts = {("s", "a"): {"name": [0, 98]}, ("s", "b"): {"name": [98, 98]}}
    assert fit.unfitted(counts, counts) == [(0.99, 0, 98), (0.01, 98, 98)]


def test_a_bin_that_is_off_is_seen(capsys):
    assert not fit.report("t", [(0.95, 80, 100)])
    assert fit.report("t", [(0.95, 92, 100), (0.5, 0, 99)])
    assert "too few to tell" in capsys.readouterr().out


def test_tags_are_dropped_as_a_pass_would():
    text = '%0 = "a"() {htp.tag = #htp.tag<"x", contexts = [#htp.context<"y">]>, b} : () -> i32'
    assert fit.without_tags(text) == '%0 = "a"() {onnx.dropped, b} : () -> i32'


def test_half_the_names(tmp_path):
    variants = pytest.importorskip("variants")
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="n0"),
        helper.make_node("Exp", ["a"], ["b"], name="n1"),
        helper.make_node("Relu", ["b"], ["y"], name="n2"),
    ]
    x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2]) for n in "xy")
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", [x], [y])), tmp_path / "m.onnx")
    bare = variants.half_anonymous(str(tmp_path / "m.onnx"), str(tmp_path / "h.onnx"))
    half = onnx.load(tmp_path / "h.onnx")
    onnx.checker.check_model(half)
    assert bare == [0, 2] and [n.name for n in half.graph.node] == ["", "n1", ""]
    assert half.graph.node[1].input[0] == half.graph.node[0].output[0] != "a"


def test_a_missing_reference_is_told(tmp_path, programs, capsys):
    folder = tmp_path / "corpus" / "net"
    folder.mkdir(parents=True)
    for name in ("tree.json", "ts.truth.json", "ts.ort.truth.json"):
        (folder / name).write_text("[]")
    found = list(fit.exported("corpus", tmp_path, programs, 1))
    assert [f.source.name for f in found] == ["ts.onnx"], "from the model alone"
    assert "1 files of corpus lack their reference" in capsys.readouterr().out
