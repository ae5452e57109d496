"""evaluation/diff_check.py: the bugs that it draws are bugs, and it recognizes one that was found."""

import random
import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

diff_check = pytest.importorskip("diff_check")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.act, self.down = torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4)
        self.tied = torch.nn.Linear(8, 4)
        self.tied.weight = self.down.weight

    def forward(self, x):
        return self.down(self.act(self.up(x)))


@pytest.mark.parametrize("kind", diff_check.KINDS)
def test_a_bug_is_in_one_module(kind):
    torch.manual_seed(0)
    model, example = Net().eval(), {"x": torch.randn(3, 4)}
    path, bad = diff_check.draw(model, example, kind, random.Random(0))
    assert path == ("act" if kind == "activation" else "up"), "a tied weight is that of two modules"
    good = diff_check.output_of(model, path, example)
    assert not torch.allclose(diff_check.output_of(bad, path, example), good)


def test_a_bug_that_does_not_show_is_drawn_anew():
    model, example = Net().eval(), {"x": torch.zeros(3, 4)}  # a weight of nothing
    with torch.no_grad():
        model.up.bias.fill_(-1)
    with pytest.raises(LookupError):
        diff_check.draw(model, example, "weight", random.Random(0))


class Item:
    def __init__(self, module, holds=()):
        self.module, self.holds, self.value = module, list(holds), module


class Result:
    def __init__(self, *items):
        self.first, self.worst, self.comparisons = items[0], list(items), list(items)


def test_judging():
    judge = diff_check.judge
    assert judge(Result(Item("a")), "export", "a")[0] == "found"
    assert judge(Result(Item("b", ["a"])), "ort", "a")[0] == "fused"
    assert judge(Result(Item("b", ["a", *"vwxyz"])), "ort", "a")[0] == "missed", (
        "too many are named"
    )
    assert judge(Result(Item("b"), Item("a")), "int8", "a") == ("missed", "b (2. of 2)")
