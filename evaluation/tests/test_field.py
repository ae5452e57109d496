"""htp.export on a few field models (field_check.py runs all), and tests that the check itself can fail."""

import json
import subprocess
import sys
from types import SimpleNamespace

import field_check
import numpy as np
import onnx
import pytest
import torch
from field import CASES
from field.readers import Readers, misplaced
from field.registry import Block
from field.untouched import Snapshot
from field.values import arguments, cache_names, different, leaves
from onnx import numpy_helper
from torch import nn

# One of each kind: nested values, a cache, a frozen configuration, a module with two names, a
# buffer that forward writes.
QUICK = [
    ("nested_values", "torchscript"),
    ("keyword_only", "dynamo"),
    ("tuple_gives_cache", "torchscript"),
    ("frozen_config", "torchscript"),
    ("tied_weights", "torchscript"),
    ("relative_bias", "torchscript"),
    ("two_names", "dynamo"),
    ("written_buffer", "dynamo"),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Runs all at once in a separate process: it forks, which is safe only while no other thread runs."""
    file = tmp_path_factory.mktemp("field") / "results.jsonl"
    command = [sys.executable, field_check.__file__, "--jobs", "2", "--seconds", "120"]
    command += ["--json", str(file), *(f"{name}/{exporter}" for name, exporter in QUICK)]
    subprocess.run(command, capture_output=True, check=False)
    found = [json.loads(line) for line in file.read_text().splitlines()]
    return {(result["case"], result["exporter"]): result for result in found}


@pytest.mark.parametrize(("name", "exporter"), QUICK)
def test_field_model(results, name, exporter):
    result = results[name, exporter]
    assert result["problems"] == [], result
    assert result["state"] in ("good", "beyond PyTorch")
    assert result["hooks"]["judged"] > 0 and result["hooks"]["right"] == result["hooks"]["judged"]


def test_there_are_enough_models_of_one_difficulty_each():
    assert len(CASES) >= 48
    assert len({case.difficulty for case in CASES.values()}) == len(CASES)


def test_two_builds_are_the_same_model_and_two_inputs_are_not():
    case = CASES["mixture_of_experts"]
    (one, draw), (two, _) = case.make(), case.make()
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters()))
    assert not torch.equal(case.inputs(draw, 0)[0][0], case.inputs(draw, 1)[0][0])


# --- the judges are not blind --------------------------------------------------------------------


def export_that(monkeypatch, change):
    """htp.export, and then something that it must not do."""
    real = field_check.htp.export

    def export(model, args=(), **options):
        return change(real, model, args, options)

    monkeypatch.setattr(
        field_check, "htp", SimpleNamespace(export=export, HTPError=field_check.htp.HTPError)
    )


def checked(tmp_path, name="dropout", exporter="torchscript"):
    return field_check.check(CASES[name], exporter, tmp_path)


def test_a_changed_mode_is_found(tmp_path, monkeypatch):
    def change(real, model, args, options):
        result = real(model, args, **options)
        model.drop.train(not model.drop.training)
        return result

    export_that(monkeypatch, change)
    result = checked(tmp_path)
    assert result["state"] == "bad" and "model.drop" in result["problems"][0]


def test_a_failure_that_is_no_htp_error_is_found(tmp_path, monkeypatch):
    def change(real, model, args, options):
        options["output"].write_text("half a file")
        raise KeyError("boom")

    export_that(monkeypatch, change)
    assert "KeyError instead of an HTPError" in checked(tmp_path)["problems"][0]


def test_a_dropped_output_and_wrong_tags_are_found(tmp_path, monkeypatch):
    def change(real, model, args, options):
        result = real(model, args, **options)
        file = onnx.load(result.path)
        del file.graph.output[1:]
        for node in file.graph.node:
            for note in node.metadata_props:
                if note.key == "htp.scope" and note.value:
                    note.value = "elsewhere"
        onnx.save(file, result.path)
        return result

    export_that(monkeypatch, change)
    problems = checked(tmp_path, "aliasing_outputs")["problems"]
    assert any("1 outputs instead of 5" in line for line in problems)
    assert any("tagged elsewhere with confidence" in line for line in problems)


def test_a_case_that_hangs_ends(monkeypatch):
    import time

    monkeypatch.setattr(field_check, "check", lambda *_: time.sleep(60))
    [result] = field_check.run_all([("dropout", "dynamo")], seconds=0.5)
    assert result["state"] == "bad" and "no end after" in result["problems"][0]


def test_a_case_that_dies_is_bad(monkeypatch):
    monkeypatch.setattr(field_check, "check", lambda *_: field_check.os._exit(3))
    [result] = field_check.run_all([("dropout", "dynamo")], seconds=20)
    assert result["state"] == "bad" and "died" in result["problems"][0]


def test_snapshot_sees_every_kind_of_change():
    model = nn.Sequential(Block(), nn.BatchNorm1d(8))
    model.config = {"nested": {"list": [1, 2]}}
    given = ((torch.ones(2),), {})

    def changed(action):
        before = Snapshot(model, given)
        assert not before.differences(Snapshot(model, given))
        action()
        return before.differences(Snapshot(model, given))

    assert changed(lambda: model.config["nested"]["list"].append(3))
    assert changed(lambda: setattr(model, "config", dict(model.config)))
    assert changed(lambda: model[1].running_mean.add_(1))
    assert changed(
        lambda: setattr(model[0].lin, "weight", nn.Parameter(model[0].lin.weight.detach().clone()))
    )
    assert changed(lambda: model[0].register_forward_hook(lambda *_: None))
    assert changed(lambda: setattr(model[0], "__class__", type("Other", (Block,), {})))
    assert changed(lambda: given[0][0].mul_(2)) == ["inputs[0][0]"]
    assert changed(lambda: torch.rand(1)) == ["random numbers"]
    assert changed(lambda: model[0].eval())


def test_readers_follow_what_ran():
    """Attention reads its output projection's weight itself; a parameter's shape is not the parameter."""

    class Looks(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(4, 1)
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            assert self.fc.weight.shape[0] == 4 and self.fc.weight.dtype == x.dtype
            return self.fc(self.attention(x, x, x)[0])

    readers = Readers(Looks().eval()).run((torch.randn(2, 1, 4),), {})
    assert readers.named("attention.out_proj.weight") == {"attention", "attention.out_proj"}
    assert readers.named("fc.weight") == {"fc"}


def test_misplaced_nodes_by_confidence():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    readers = Readers(model).run((torch.ones(1, 3),), {})
    weight = numpy_helper.from_array(
        np.ascontiguousarray(model[0].weight.detach().numpy().T), "onnx::MatMul_1"
    )
    bias = numpy_helper.from_array(model[1].bias.detach().numpy(), "1.bias")
    multiply = onnx.helper.make_node("MatMul", ["x", "onnx::MatMul_1"], ["y"])
    add = onnx.helper.make_node("Add", ["y", "1.bias"], ["z"])
    graph = onnx.helper.make_graph([multiply, add], "g", [], [], [weight, bias])

    def found(scope, confidence):
        for node in graph.node:
            del node.metadata_props[:]
            node.metadata_props.add(key="htp.scope", value=scope)
            node.metadata_props.add(key="htp.confidence", value=confidence)
        count, sure, unsure = misplaced(onnx.helper.make_model(graph), readers)
        return count, len(sure), len(unsure)

    assert found("0", "0.99") == (2, 1, 0)
    assert found("1", "0.5") == (2, 0, 1)
    assert found("", "0.9") == (2, 2, 0)


def test_leaves_of_caches_and_unknown_classes():
    from transformers.cache_utils import DynamicCache

    cache = DynamicCache()
    cache.update(torch.ones(1, 1, 2, 3), torch.zeros(1, 1, 2, 3), 0)
    found = list(leaves({"past_key_values": cache, "none": None}))
    assert ["_".join(path) for path, _ in found] == [
        "past_key_values_0_key",
        "past_key_values_0_value",
    ]
    assert list(cache_names(found, "present")) == ["present.0.key", "present.0.value"]
    model = CASES["variadic"].make()[0]
    named = arguments(model, (torch.ones(1), torch.ones(1)), {"bias": torch.ones(1)})
    assert [path for path, _ in named] == [("tensors_0",), ("tensors_1",), ("bias",)]


def test_different():
    ones = np.ones(3, np.float32)
    assert not different(ones, ones + 1e-5, 1e-3)
    assert different(ones, ones + 1, 1e-3)
    assert different(ones, ones.astype(np.float64), 1e-3)
    assert different(ones, np.ones((1, 3), np.float32), 1e-3)
    assert different(np.array([np.nan, 1.0]), np.array([1.0, 1.0]), 1e-3)
    assert not different(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), 1e-3)
