"""The goals of docs/Accuracy.md on a small part of the corpus and of the held-out set, so that no change lowers them unseen."""

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


@pytest.mark.parametrize("name", evaluate.SETS)
def test_goals_by_independent_truths(jobs, name):
    """What modules computed, and notes that the tagger did not get."""
    text, met = report.results_table(jobs[name], with_goals=True)
    found = {tuple(cell.strip() for cell in line.split("|")[1:3]) for line in text.splitlines()[2:]}
    by_hooks = {mode for mode, truth in found if truth == "hooks"}
    assert by_hooks == set(report.GOALS), "each of them is judged by the hooks' truth"
    assert not {
        m for m, truth in found if truth == "notes" and ("exported" in m or "reference" in m)
    }
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
