"""The goals of docs/Accuracy.md on a small part of the corpus and of the held-out set, so that no change lowers them unnoticed."""

import argparse

import evaluate
import pytest

import report


@pytest.fixture(scope="module")
def jobs(corpora, programs, build):
    def scored(name):
        evaluate.hooked(name, corpora[name], [])
        args = argparse.Namespace(bin=programs, jobs=2, modes=list(report.GOALS), models=[])
        return evaluate.evaluate(corpora[name], build / "test-corpus" / f"{name}-tagged", args)

    return {name: scored(name) for name in corpora}


@pytest.mark.parametrize("mode", list(report.GOALS))
@pytest.mark.parametrize("name", evaluate.SETS)
def test_goal(jobs, name, mode):
    mine = report.of_mode(jobs[name], mode)
    assert mine, "no file was tagged"
    assert not [f"{j.file}: {j.error}" for j in mine if j.error]
    text, met = report.modes_table(mine, with_goals=True)
    assert met, text


@pytest.mark.parametrize("mode", list(report.GOALS))
@pytest.mark.parametrize("name", evaluate.SETS)
def test_goal_by_independent_truths(jobs, name, mode):
    """The truth from what modules computed, and from notes that the tagger did not see."""
    text, met = report.results_table(report.of_mode(jobs[name], mode), with_goals=True)
    truths = [line.split("|")[2].strip() for line in text.splitlines()[2:]]
    blind = mode in ("anon", "anon, other trace", "ort")
    assert truths == (["hooks", "notes"] if blind else ["hooks"])
    assert met, text


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
