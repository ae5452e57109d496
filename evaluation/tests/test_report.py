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
    good, bad = job(2, 100, model="good"), job(2, 50, model="bad")
    text = report.weakest([blind(good, 100, 100), blind(bad, 100, 50)])
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


def judged(made, judged, right, exact=0, exact_right=0):
    made.hooks = dict(judged=judged, right=right, exact=exact, exact_right=exact_right)
    return made


def blind(made, count, right, contaminated=0):
    made.score |= dict(blind=count, blind_exact=right, blind_contaminated=contaminated)
    return made


def rows(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def test_every_row_names_its_truth():
    jobs = [judged(job(0, 100), 80, 80, 40, 40), blind(judged(job(2, 100), 50, 49), 90, 90)]
    text, met = report.results_table(jobs, True)
    assert [row[:2] for row in rows(text)] == [
        ["as exported", "hooks"],
        ["anon", "hooks"],
        ["anon", "notes"],
    ]
    assert rows(text)[0][3:6] == ["80", "100.00", "100.00 of 40"]
    assert not met and rows(text)[1][-1].startswith("**missed**"), "98 % by the hooks' truth"


def test_what_the_tagger_is_told_is_no_result():
    """All nodes carry their notes, no hook knows the graph: there is nothing to show."""
    text, _ = report.results_table([job(0, 100)], False)
    assert rows(text) == []


def test_contamination_counts_among_blind_nodes():
    good, bad = (blind(job(5, 100), 100, 100, contaminated=c) for c in (0, 1))
    assert report.results_table([good], True)[1]
    assert not report.results_table([bad], True)[1]


def test_what_was_looked_at_is_kept_apart():
    made = {"corpus": [job(0, 1)], "heldout": [job(0, 1, model="seen"), job(0, 1, model="new")]}
    parts = report.sections(made, {"seen"})
    assert {name: [j.model for j in jobs] for name, jobs in parts.items()} == {
        "corpus": ["m"],
        "looked": ["seen"],
        "unseen": ["new"],
    }
    text, _ = report.markdown(parts)
    assert text.index("22 architectures") < text.index("Other architectures, looked at")
    assert text.index("architectures, looked at") < text.index("architectures, not looked at")
    assert "**Not a result**" in text


def test_weak_files_name_their_truth():
    text = report.weakest([judged(job(0, 100, model="bad"), 10, 5)])
    assert rows(text) == [["bad/ts.onnx", "as exported", "hooks", "5 of 10", "50.00", ""]]


def field_result(state, **more):
    known = dict(case="c", exporter="dynamo", state=state, torch="ok")
    return {**known, "hooks": dict(judged=4, right=3, exact=2, exact_right=2), **more}


def test_field_section():
    results = [field_result("good"), field_result("declined", torch="fails", hooks=None)]
    text, met = report.field_section(results)
    assert met and "| dynamo | 2 | 1 | 1 | 0 | 0 | 1 | 0 | 4 | 75.00 | 100.00 of 2 |" in text
    assert not report.field_section([field_result("bad", hooks={"unknown": "no"})])[1]


def test_field_states_are_those_of_the_check():
    import field_check

    assert report.FIELD_STATES == field_check.STATES
