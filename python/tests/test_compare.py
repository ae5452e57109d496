"""htp compare: what models are made of, module by module."""

import json

import pytest
import torch

import htp
from htp.cli import main

onnx = pytest.importorskip("onnx")


class Net(torch.nn.Module):
    def __init__(self, bias=True, size=4, slope=0.1):
        super().__init__()
        torch.manual_seed(0)
        self.second = torch.nn.Linear(size, 2)
        self.act = torch.nn.LeakyReLU(slope)
        self.first = torch.nn.Linear(4, size, bias=bias)

    def forward(self, x):
        return self.second(self.act(self.first(x)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("compare")


@pytest.fixture(scope="module")
def models(folder):
    """The same model from both exporters, and variants that differ in one way each."""
    made = {}
    for name, model, exporter in (
        ("ts", Net(), "torchscript"),
        ("dynamo", Net(), "dynamo"),
        ("unbiased", Net(bias=False), "torchscript"),
        ("wide", Net(size=8), "torchscript"),
        ("slope", Net(slope=0.2), "torchscript"),
    ):
        made[name] = folder / f"{name}.onnx"
        htp.export(model, (torch.ones(1, 4),), made[name], exporter=exporter)
    return made


def compared(capsys, *arguments):
    status = main(["compare", *map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_a_model_without_its_biases(models, capsys):
    status, result = compared(capsys, models["ts"], models["unbiased"], "--only", "parameters")
    assert status == 1
    assert {"aspect": "parameters", "module": "first", "what": "bias: only in the first"} in result[
        "differences"
    ]


@pytest.mark.parametrize(
    ("other", "aspect", "module", "part"),
    [
        ("wide", "parameters", "first", "weight: float32 [4, 4] -> float32 [4, 8]"),
        ("slope", "attributes", "act", "attributes of LeakyRelu"),
        ("unbiased", "parameters", "first", "bias: only in the first"),
    ],
)
def test_one_difference_is_found(models, other, aspect, module, part, capsys):
    status, result = compared(capsys, models["ts"], models[other])
    assert status == 1
    wanted = {"aspect": aspect, "module": module, "what": part}
    assert wanted in result["differences"], result["differences"]


def test_the_same_model_is_the_same(models, capsys):
    status, result = compared(capsys, models["ts"], models["ts"])
    assert status == 0 and result["differences"] == []


def test_between_exporters(models, capsys):
    """Operations differ, modules and parameters do not."""
    assert compared(capsys, models["ts"], models["dynamo"], "--only", "modules,parameters")[0] == 0


def test_values(models, folder, capsys):
    model = onnx.load(str(models["ts"]))
    weight = next(i for i in model.graph.initializer if i.name == "second.weight")
    weight.raw_data = weight.raw_data[:-4] + b"\0\0\0\0"
    onnx.save(model, str(folder / "changed.onnx"))
    status, result = compared(capsys, models["ts"], folder / "changed.onnx")
    assert status == 1
    assert [d["what"] for d in result["differences"]] == ["weight: values differ"]


def test_baseline(models, folder, capsys):
    baseline = folder / "baseline.json"
    assert main(["compare", str(models["ts"]), "--write-baseline", str(baseline)]) == 0
    capsys.readouterr()
    assert compared(capsys, models["ts"], "--baseline", baseline)[0] == 0
    assert compared(capsys, models["unbiased"], "--baseline", baseline)[0] == 1
    assert compared(capsys, models["unbiased"], "--baseline", models["ts"])[0] == 1


def test_what_cannot_be_compared_is_said(models, capsys):
    """The .ops.json alone has no values."""
    sidecar = models["ts"].with_suffix(".ops.json")
    assert main(["compare", str(models["ts"]), str(sidecar)]) == 0
    assert "not compared: shapes and values of parameters" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "compare MODEL with OTHER"),
        (["--only", "colour", "--baseline", "x"], "no such file"),
        (["MODEL", "--only", "colour"], "unknown aspect 'colour', expected some of modules"),
    ],
)
def test_bad_usage(models, arguments, message, capsys):
    words = [str(models["ts"]) if word == "MODEL" else word for word in arguments]
    assert main(["compare", str(models["ts"]), *words]) == 1
    assert message in capsys.readouterr().err
