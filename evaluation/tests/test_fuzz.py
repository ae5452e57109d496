"""A small part of `make fuzz`: properties of random models, mutants of a few exports, and inputs that once caused trouble."""

import sys
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "fuzz"))

from attack import Attack, Broken, Programs, Seed, read_seeds
from mutate import mutate
from properties import PROPERTIES, failures
from random_models import random_model

MUTANTS = 120
PAST = sorted((ROOT / "fuzz/past").glob("*.onnx"))


@pytest.mark.parametrize("number", range(30))
def test_properties_hold_of_a_random_model(programs, number):
    assert not failures(programs, f"test/{number}")


def test_random_models_are_hard():
    """The random models contain what the properties are about."""
    models = [random_model(f"test/{number}") for number in range(30)]
    nodes = [node for model in models for node in model.graph.node]
    assert {"If", "Twice", "Split", "Constant"} <= {node.op_type for node in nodes}
    assert any(not node.metadata_props for node in nodes)
    assert any(is_unsorted(model.graph) for model in models)
    assert len(PROPERTIES) == 6


def is_unsorted(graph) -> bool:
    made_by_nodes = {output for node in graph.node for output in node.output}
    known = set()
    for node in graph.node:
        if any(name in made_by_nodes and name not in known for name in node.input):
            return True
        known.update(node.output)
    return False


def test_mutants_of_exports_break_nothing(programs, corpora, tmp_path):
    run = Programs(programs)
    seeds = [s for s in read_seeds(corpora["corpus"], run, tmp_path) if len(s.data) < 400_000]
    attack = Attack(run, tmp_path)
    found = []
    for number in range(MUTANTS):
        random = Random(f"test/{number}")
        seed = random.choice(seeds)
        data, changes = mutate(seed.data, random)
        try:
            attack.on(seed, data, random)
        except Broken as broken:
            found.append(f"{number} ({seed.name}; {', '.join(changes)}): {broken}")
    attack.judge.close()
    assert not found, "\n".join(found)
    counts = attack.counts
    assert counts["mutants"] == MUTANTS
    # Most are refused with a message; enough are accepted to be judged.
    assert counts["ran"] > 10 and counts["checked"] > 10, counts


@pytest.mark.parametrize("path", PAST, ids=lambda path: path.stem)
def test_what_was_trouble_once(programs, tmp_path, path: Path):
    attack = Attack(Programs(programs), tmp_path)
    try:
        attack.on(Seed(path.stem, b"", None), path.read_bytes(), Random(path.stem))
    finally:
        attack.judge.close()
