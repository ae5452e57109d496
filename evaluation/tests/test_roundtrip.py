"""Models pass through HTP unchanged: directly, as text and as bytecode. The counts are printed."""

import os

import pytest
import roundtrip

EXPECTED = {"data": 149, "node": 1884, "producers": 8}


def check(suite, capsys):
    with capsys.disabled():
        print(f"\nround trip, {suite}")
    assert not suite.failures, "\n".join(suite.failures[:20])
    assert set(suite.counts.values()) == {suite.total}


@pytest.mark.parametrize("name", ["data", "node"])
def test_the_libraries(name, programs, build, capsys):
    """ONNX's own suite, in one process."""
    suite = roundtrip.run_in_process(
        name, roundtrip.files_of(name, build / "roundtrip", []), programs
    )
    assert suite.total == EXPECTED[name]
    check(suite, capsys)


@pytest.mark.parametrize("name", ["data", "producers"])
def test_the_program(name, programs, build, capsys):
    """htp-opt itself, from file to file, judged by Python's onnx."""
    work = build / "roundtrip"
    files = roundtrip.files_of(name, work, [])
    assert len(files) == EXPECTED[name]
    check(roundtrip.run_suite(name, files, programs, work, os.cpu_count()), capsys)


def test_the_corpus(programs, build, corpora, capsys):
    work = build / "roundtrip"
    files = roundtrip.files_of("corpus", work, list(corpora.values()))
    assert len(files) >= 6 * 12
    check(roundtrip.run_suite("corpus", files, programs, work, os.cpu_count()), capsys)


def test_a_difference_is_found(programs, build, tmp_path, monkeypatch):
    """The judge is not blind: a model that comes back with one name changed is reported."""
    import onnx

    def opt_that_renames(programs, source, target):
        model = onnx.load(source)
        model.graph.node[0].name += "x"
        onnx.save(model, target)
        return ""

    monkeypatch.setattr(roundtrip, "opt", opt_that_renames)
    source = roundtrip.data_files(tmp_path)[0]
    assert roundtrip.round_trip(programs, source, "direct", tmp_path) == "comes back different"
