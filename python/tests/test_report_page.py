"""`htp-opt --report=F.html`: the page that `htp view` makes, written by the native program alone."""

import json
import shutil

import pytest
from test_hostile_names import model as hostile  # noqa: F401 (a fixture)

import htp
from htp import native
from htp.errors import ProgramFailed
from htp.viewing import TEMPLATE, document, page

onnx = pytest.importorskip("onnx")


def reported(path, target, *flags):
    native.run(native.program_for(path), path, *flags, f"--report={target}", "-o=")
    return target.read_text(encoding="utf-8")


def shown(text):
    before, after = TEMPLATE.read_text(encoding="utf-8").split("{{data}}")
    assert text.startswith(before) and text.endswith(after)
    data = text[len(before) : len(text) - len(after)]
    assert "<" not in data and data.isascii()
    return json.loads(data)


def nameless(source, target):
    """Without node names, and with a name that two nodes share."""
    proto = onnx.load(source)
    for node in proto.graph.node:
        node.name = ""
    proto.graph.node[0].name = proto.graph.node[1].name = "twice"
    onnx.save(proto, target)
    return target


def branching(target):
    """Subgraphs, unknown sizes, unknown operators, a weight that is never read, and a missing tag."""
    path = target.with_suffix(".mlir")
    path.write_text(
        """htp.hierarchy @Net : "net.Net" {
          htp.module @a : "net.A" parameters [#htp.parameter<"w" : tensor<4x4xf32>, values = 1>]
          htp.module @b : "net.A" parameters [#htp.parameter<"w" : tensor<4x4xf32>, tied = "a.w">]
        }
        func.func @main_graph(%x: tensor<?x4xf32> {onnx.name = "x"}, %c: tensor<i1> {onnx.name = "c"}) -> (tensor<*xf32> {onnx.name = "y"}) {
          %w = "onnx.Constant"() {value = dense<1.0> : tensor<4x4xf32>, onnx.initializer, onnx_output_names = ["w"], htp.parameter = "a.w"} : () -> tensor<4x4xf32>
          %u = "onnx.Constant"() {value = dense<1.0> : tensor<4x4xf32>, onnx.initializer, onnx_output_names = ["u"]} : () -> tensor<4x4xf32>
          %0 = "onnx.MatMul"(%x, %w) {onnx_node_name = "a", onnx_output_names = ["p"], htp.tag = #htp.tag<"a", evidence = "name", confidence = 0.97>} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
          %1 = "onnx.MatMul"(%0, %w) {onnx_node_name = "b", onnx_output_names = ["q"], htp.tag = #htp.tag<"b", evidence = "parameter", confidence = 0.5, reason = "why", contexts = [#htp.context<"a", evidence = "name", confidence = 0.25>]>} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
          %2 = "onnx.If"(%c) ({
            %t = "onnx.Sin"(%1) {onnx_node_name = "t", onnx_output_names = ["t"], htp.tag = #htp.tag<"b", evidence = "name", confidence = 0.97>} : (tensor<?x4xf32>) -> tensor<*xf32>
            onnx.Yield %t : tensor<*xf32>
          }, {
            %e = "onnx.Cos"(%1) {onnx_node_name = "e", onnx_output_names = ["e"], htp.tag = #htp.tag<"a", evidence = "name", confidence = 0.97>} : (tensor<?x4xf32>) -> tensor<*xf32>
            onnx.Yield %e : tensor<*xf32>
          }) {onnx_node_name = "if", onnx_output_names = ["r"], htp.tag = #htp.tag<"", evidence = "ancestor", confidence = 0.3>} : (tensor<i1>) -> tensor<*xf32>
          %3 = "onnx.Custom"(%2) {domain_name = "my.own", function_name = "Odd", onnx_node_name = "odd", onnx_output_names = ["y"]} : (tensor<*xf32>) -> tensor<*xf32>
          onnx.Return %3 : tensor<*xf32>
        }
        """
    )
    native.run("htp-opt", path, "-o", target)
    return target


def test_the_same_as_htp_view(plain, net, hostile, tmp_path):  # noqa: F811
    """Every figure, edge, reason and name."""
    flat, _, _ = plain
    outlined = htp.outline(flat.path, tmp_path / "outlined.onnx").path
    bare = nameless(flat.path, tmp_path / "nameless.onnx")
    shared = branching(tmp_path / "b.onnx")
    for path in (flat.path, outlined, bare, shared, net, hostile):
        text = reported(path, tmp_path / "page.html")
        expected = json.loads(json.dumps(document(htp.load(path))))
        assert shown(text) == expected
        assert text.count("{{data}}") == 0 and "connect-src 'none'" in text
    assert expected["handles"] or shown(reported(bare, tmp_path / "page.html"))["handles"]
    found = shown(reported(shared, tmp_path / "page.html"))
    assert found["unsure"] and found["contexts"] and found["reasons"], "the odd one has them"
    assert any("are not known" in note for note in found["notes"])


def test_of_what_is_written(plain, tmp_path):
    """With a trace in the same run; the page is named after the written model and has its sizes."""
    flat, _, _ = plain
    bare, trace = tmp_path / "bare.onnx", flat.path.with_suffix(".trace.json")
    native.run("htp-onnx", flat.path, "--htp-strip", "-o", bare)
    target, page_file = tmp_path / "new.onnx", tmp_path / "r.html"
    flags = (f"--htp-tag=trace={trace}", "-o", target)
    native.run("htp-onnx", bare, *flags, f"--report={page_file}")
    found = shown(page_file.read_text(encoding="utf-8"))
    assert found["file"] == "new.onnx"
    assert found["modules"] == json.loads(json.dumps(document(htp.load(target))))["modules"]
    alone = tmp_path / "alone.onnx"
    native.run("htp-onnx", bare, f"--htp-tag=trace={trace}", "-o", alone)
    assert alone.read_bytes() == target.read_bytes(), "a report changes nothing"


def test_sizes_that_are_given(tmp_path):
    path = branching(tmp_path / "b.onnx")
    given = shown(reported(path, tmp_path / "r.html", "--onnx-infer-shapes=dims=x.0=3"))
    assert given["modules"][0]["costs"]["total_multiply_adds"] == 2 * 3 * 4 * 4
    assert not any("MatMul" in note for note in given["notes"])


def test_bad_input(plain, tmp_path):
    flat, _, _ = plain
    bare = tmp_path / "bare.onnx"
    native.run("htp-onnx", flat.path, "--htp-strip", "-o", bare)
    with pytest.raises(ProgramFailed, match="module tree|hierarchy"):
        reported(bare, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
    shutil.copy(flat.path, tmp_path / "m.onnx")
    with pytest.raises(ProgramFailed, match="it is the input"):
        reported(tmp_path / "m.onnx", tmp_path / "m.onnx")
    assert page(document(htp.load(tmp_path / "m.onnx"))), "it is as it was"
