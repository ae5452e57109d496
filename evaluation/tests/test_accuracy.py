"""The goals of docs/Accuracy.md on a small part of the corpus and of the held-out set, so that no change lowers them unseen."""

import argparse

import evaluate
import pytest

import report


@pytest.fixture(scope="module")
def jobs(corpora, programs, build):
    def scored(name):
        args = argparse.Namespace(bin=programs, jobs=2, modes=list(report.GOALS), models=[])
        return evaluate.evaluate(corpora[name], build / "test-corpus" / f"{name}-tagged", args)

    return {name: scored(name) for name in corpora}


#: Goals that are missed today on this part of the corpus, and by how much. Strict: whoever meets
#: one has to take it out of here.
MISSED = {
    ("corpus", "anon, other trace"): "96.83 % exact, albert/ts-dyn.anon 78.71 %",
    ("corpus", "ort"): "99.40 % exact, albert/dynamo-dyn.ort 95.37 %",
}


def goals():
    for name in ("corpus", "heldout"):
        for mode in report.GOALS:
            why = MISSED.get((name, mode))
            marks = [pytest.mark.xfail(reason=why, strict=True)] if why else []
            yield pytest.param(name, mode, marks=marks)


@pytest.mark.parametrize(("name", "mode"), list(goals()))
def test_goal(jobs, name, mode):
    mine = report.of_mode(jobs[name], mode)
    assert mine, "no file was tagged"
    assert not [f"{j.file}: {j.error}" for j in mine if j.error]
    text, met = report.modes_table(mine, with_goals=True)
    assert met, text


@pytest.mark.xfail(reason="masks that calls of one shared module read, in albert", strict=True)
def test_no_file_is_far_below(jobs):
    low = [
        (j.file, j.mode.name, j.score)
        for j in jobs["corpus"]
        if report.share(j.score, "exact", "scored") < report.LEAST_OF_A_MODEL
    ]
    assert not low


def test_calibration(jobs):
    text, error, _ = report.calibration([j for set_ in jobs.values() for j in set_])
    assert error <= report.MOST_CALIBRATION_ERROR, text
