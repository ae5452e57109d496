"""The trace from an exporter's own pass equals what htp-trace reads from an archive."""

import json

import pytest
import torch
from conftest import ROOT, example

import htp
from htp import capture
from htp.notices import Notices

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


def both_traces(model, args, kwargs, folder, exporter="torchscript"):
    """The traces of one export, and of the same capture saved and read by htp-trace."""
    notices = Notices()
    call = capture.Call(model, args, kwargs, notices.warn)
    found = []
    settings = {"opset": None, "dims": {}, "options": {}, "notices": notices}
    settings["captured"] = lambda read: found.append(read())
    with capture.untouched(model, (args, kwargs), notices.warn):
        if exporter == "dynamo":
            capture.export_dynamo(call, folder / "m.onnx", external_data=False, **settings)
        else:
            capture.export_torchscript(call, folder / "m.onnx", **settings)
        with torch.no_grad(), notices.listening():
            if exporter == "dynamo":
                program = torch.export.export(model, args, kwargs, strict=False)
                torch.export.save(program, folder / "trace.pt2")
            else:
                with call.flat():
                    traced = torch.jit.trace(model, call.tensors, strict=False, check_trace=False)
                traced.save(folder / "trace.pt")
    archive = next(folder.glob("trace.pt*"))
    htp.native.run("htp-trace", archive, "-o", folder / "trace.json")
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
        return p["name"], p["kind"], p["shape"], p["dtype"], p.get("tied"), p.get("sketch")

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


class Branches(torch.nn.Module):
    """Control flow that torch.export keeps, a module with two names that runs twice, one that never
    runs, a constant, an operation with several results, and one with keywords."""

    def __init__(self):
        super().__init__()
        self.block, self.unused = Block(), torch.nn.Linear(2, 2)
        self.again = self.block
        self.offset = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def forward(self, x, *, flag):
        x = self.again(self.block(x)) + self.offset
        best, place = torch.topk(x, k=2, dim=-1, largest=True)
        with torch.no_grad():
            x = x + torch.zeros_like(x, dtype=torch.float32).fill_(float("inf")).clamp(max=1.0)
        x = torch.cond(flag.sum() > 0, lambda t: t.sin() + 1, lambda t: t.cos(), (x,))
        return {"x": x, "best": [best, place]}


@pytest.mark.parametrize("name", ["plain", "transformer", "vision", "decoder", "branches"])
def test_the_same_as_from_an_archive_of_torch_export(name, tmp_path):
    if name == "branches":
        model, inputs = Branches().eval(), {"flag": torch.ones(1)}
        args, kwargs = (torch.ones(2, 4),), inputs
    else:
        model, inputs = example(name).build()
        args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs, {})
    found, wanted = both_traces(model, args, kwargs, tmp_path, "dynamo")
    schema = json.loads((ROOT / "docs/formats/trace.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    found_ops, wanted_ops = canonical(found)[1], canonical(wanted)[1]
    for a, b in zip(found_ops, wanted_ops):
        if name == "branches":  # in an archive, the second name is a separate module
            inputs = json.loads(json.dumps(b["inputs"]).replace('"again.', '"block.'))
            assert (a["kind"], a["inputs"], a["outputs"]) == (b["kind"], inputs, b["outputs"])
        else:
            assert a == b
    assert len(found_ops) == len(wanted_ops)
    keys = ("shape", "dtype") if name == "branches" else ("name", "shape", "dtype")
    results = [
        [[o.get(k) for k in keys] for op in trace["ops"] for o in op["outputs"]]
        for trace in (found, wanted)
    ]
    assert results[0] == results[1]
    assert [m["path"] for m in found["modules"]] == [n for n, _ in model.named_modules()]
    if name == "branches":
        calls = {m["path"]: m["calls"] for m in found["modules"]}
        assert calls == {"": 1, "block": 2, "block.fc": 2, "unused": 0}
        kinds = [op["kind"] for op in found["ops"]]
        assert "higher_order::cond" in kinds and "aten::topk" in kinds
    else:
        ran = {m["path"]: m["calls"] for m in found["modules"] if m["calls"]}
        assert ran == {m["path"]: m["calls"] for m in wanted["modules"]}


@pytest.mark.parametrize("name", ["plain", "transformer", "everything"])
def test_the_export_is_the_plain_one(name, tmp_path):
    """Observing the exporter's trace does not change what it exports."""
    model, inputs = everything() if name == "everything" else example(name).build()
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs, {})
    notices = Notices()
    call = capture.Call(model, args, kwargs, notices.warn)
    with capture.untouched(model, (args, kwargs), notices.warn):
        settings = {"opset": None, "dims": {}, "options": {}, "notices": notices}
        capture.export_torchscript(call, tmp_path / "a.onnx", captured=lambda _: None, **settings)
        with notices.listening(), call.flat():
            torch.onnx.export(
                model,
                call.tensors,
                tmp_path / "b.onnx",
                dynamo=False,
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
