"""The tables of docs/Accuracy.md."""

from pathlib import Path

import report
import tagging


def job(mode, exact, answers=(), contaminated=0, model="m", scored=100):
    made = tagging.Job(tagging.MODES[mode], model, "ts", Path("ts.onnx"), Path("out"), "")
    made.score = dict(
        nodes=scored,
        covered=scored,
        scored=scored,
        exact=exact,
        tag=exact,
        contaminated=contaminated,
    )
    made.answers = list(answers)
    return made


def test_percent_rounds_down():
    assert report.percent(0.99999) == "99.99"
    assert report.percent(1.0) == "100.00"


def test_goals_are_checked():
    assert report.modes_table([job(0, 100)], True)[1]
    text, met = report.modes_table([job(0, 99)], True)
    assert not met and "**missed**" in text
    assert not report.modes_table([job(0, 100, contaminated=1)], True)[1]


def test_weak_files_are_listed():
    text = report.weakest([job(0, 100, model="good"), job(1, 50, model="bad")])
    assert "bad/ts.onnx" in text and "good" not in text


def test_calibration_error():
    right, wrong = [(0.95, True)] * 19 + [(0.95, False)], [(0.95, False)] * 10
    assert report.calibration([job(0, 100, right)])[1] < 1e-9
    assert abs(report.calibration([job(0, 100, wrong)])[1] - 0.95) < 1e-9


def test_a_failed_file_counts_as_wrong(tmp_path):
    import json

    import evaluate

    (tmp_path / "m").mkdir()
    (tmp_path / "m/tree.json").write_text(json.dumps([dict(path="", tag="/M")]))
    (tmp_path / "m/ts.truth.json").write_text(json.dumps(["", None]))
    failed = tagging.Job(
        tagging.MODES[0], "m", "ts", tmp_path / "m/ts.onnx", tmp_path / "x", "", error="boom"
    )
    evaluate.judge(failed, tmp_path)
    assert (
        failed.score["scored"] == 1 and failed.score["exact"] == 0 and failed.score["covered"] == 0
    )


def test_cross_validation_leaves_the_model_out():
    """A kind of answer that is right in one model and wrong in the other cannot be fitted from either."""
    good, bad = (
        job(0, 100, [(0.9, True)] * 10, model="a"),
        job(0, 0, [(0.9, False)] * 10, model="b"),
    )
    _, error, without = report.calibration([good, bad])
    assert abs(error - 0.4) < 1e-9 and without == 1.0
