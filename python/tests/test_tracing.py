"""The trace out of the TorchScript exporter's own pass is what htp-trace reads from an archive."""

import json

import pytest
import torch
from conftest import ROOT, example

import htp
from htp import capture

jsonschema = pytest.importorskip("jsonschema")


@torch.jit.script
def scripted(x, mask: torch.Tensor | None, times: int):
    if mask is not None:
        x = x * mask
    if bool(x.sum() > 0):
        x = x + times
    return x


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.register_buffer("scale", torch.arange(4.0), persistent=False)

    def forward(self, x, factor=2.0):
        return torch.relu(self.fc(x)) * self.scale * factor


class Everything(torch.nn.Module):
    """A module that runs twice, one that never runs, tied weights, buffers that are no inputs of the
    exported graph, constants, sizes, and control flow in a scripted function."""

    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])
        self.head, self.unused = torch.nn.Linear(4, 4, bias=False), torch.nn.Linear(2, 2)
        self.head.weight = self.blocks[0].fc.weight
        self.empty = torch.nn.ModuleList()

    def forward(self, x, mask):
        x = self.blocks[0](self.blocks[0](x))
        x = self.blocks[1](x, factor=float("inf"))
        x = scripted(x, mask, 3) + torch.tensor([1.0, 2.0, 3.0, 4.0])
        first, *_ = x.view(x.shape[0], 2, 2).unbind(1)
        x = self.head(x)
        x[:, 0] = 1.0
        return {"x": x, "pair": (first, x.sum())}


def everything():
    return Everything(), (torch.ones(2, 4), torch.ones(4))


def both_traces(model, args, kwargs, folder):
    """Of one export, and of torch.jit.trace saved and read by htp-trace."""
    call = capture.Call(model, args, kwargs)
    found = []
    with capture.untouched(model):
        capture.export_torchscript(
            call, folder / "m.onnx", opset=None, shapes=None, options={}, captured=found.append
        )
        with torch.no_grad(), capture.quiet(), call.positional():
            traced = torch.jit.trace(model, call.tensors, strict=False, check_trace=False)
            traced.save(folder / "trace.pt")
    htp.native.run("htp-trace", "--no-hash", folder / "trace.pt", "-o", folder / "trace.json")
    assert len(found) == 1
    return found[0], json.loads((folder / "trace.json").read_text())


def canonical(trace):
    """Operations with values numbered by their first use; shapes are not in an archive."""
    numbers = {}

    def plain(part):
        if isinstance(part, list):
            return [plain(item) for item in part]
        if not isinstance(part, dict):
            return part
        kept = {k: v for k, v in part.items() if k not in ("shape", "dtype", "name")}
        if "value" in part:
            return {"value": numbers.setdefault(part["value"], len(numbers))}
        return {k: plain(v) for k, v in kept.items()}

    keys = ("kind", "module", "call", "inputs", "outputs", "blocks", "source")
    return plain([trace["inputs"]]), [
        {key: plain(op[key]) for key in keys if key in op} for op in trace["ops"]
    ]


def tree(trace):
    def parameter(p):
        return p["name"], p["kind"], p["shape"], p["dtype"], p.get("tied")

    keys = ("path", "class", "torch_nn", "calls", "aliases")
    return [
        ([m.get(k) for k in keys], [parameter(p) for p in m["parameters"]])
        for m in trace["modules"]
    ]


@pytest.mark.parametrize("name", ["plain", "transformer", "vision", "decoder", "everything"])
def test_the_same_as_from_an_archive(name, tmp_path):
    model, inputs = everything() if name == "everything" else example(name).build()
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs, {})
    found, wanted = both_traces(model, args, kwargs, tmp_path)
    schema = json.loads((ROOT / "docs/formats/trace.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    assert tree(found) == tree(wanted)
    found_inputs, found_ops = canonical(found)
    wanted_inputs, wanted_ops = canonical(wanted)
    assert found_inputs == wanted_inputs
    for a, b in zip(found_ops, wanted_ops):
        assert a == b
    assert len(found_ops) == len(wanted_ops)


@pytest.mark.parametrize("name", ["plain", "transformer", "everything"])
def test_the_export_is_the_plain_one(name, tmp_path):
    """To look at the exporter's trace changes nothing about what it exports."""
    model, inputs = everything() if name == "everything" else example(name).build()
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs, {})
    call = capture.Call(model, args, kwargs)
    with capture.untouched(model):
        settings = {"opset": None, "shapes": None, "options": {}}
        capture.export_torchscript(call, tmp_path / "a.onnx", captured=lambda _: None, **settings)
        with capture.quiet(), call.positional():
            torch.onnx.export(
                model,
                call.tensors,
                tmp_path / "b.onnx",
                dynamo=False,
                opset_version=17,
                input_names=call.input_names,
                output_names=call.output_names,
            )
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    assert torch._C._get_tracing_state() is None


def test_a_module_with_two_names(tmp_path):
    """An archive of torch.jit.trace has a copy for each name; the model has one module."""

    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Block()
            self.second = self.first

        def forward(self, x):
            return self.second(self.first(x))

    found, _ = both_traces(Twice(), (torch.ones(4),), {}, tmp_path)
    assert [(m["path"], m["calls"], m.get("aliases")) for m in found["modules"]] == [
        ("", 1, None),
        ("first", 2, ["second"]),
        ("first.fc", 2, None),
    ]
    assert {(op["module"], op["call"]) for op in found["ops"]} == {
        ("first", 0),
        ("first", 1),
        ("first.fc", 0),
        ("first.fc", 1),
    }
