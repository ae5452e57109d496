"""Models go through htp-opt and come back equal: directly, as text and as bytecode. Prints the counts (pytest -s)."""

import os

import pytest
import roundtrip

EXPECTED = {"data": 149, "node": 1884, "producers": 8}


def check(suite, capsys):
    with capsys.disabled():
        counts = ", ".join(f"{form} {n}" for form, n in suite.counts.items())
        print(f"\nround trip, {suite.name}: of {suite.total} models equal: {counts}")
    assert not suite.failures, "\n".join(suite.failures[:20])


@pytest.mark.parametrize("name", EXPECTED)
def test_round_trip(name, programs, build, capsys):
    [suite] = roundtrip.run(programs, build / "roundtrip", [name], [], os.cpu_count())
    assert suite.total == EXPECTED[name]
    check(suite, capsys)


def test_round_trip_of_the_corpus(programs, build, corpora, capsys):
    [suite] = roundtrip.run(
        programs, build / "roundtrip", ["corpus"], list(corpora.values()), os.cpu_count()
    )
    assert suite.total >= 6 * 12
    check(suite, capsys)
