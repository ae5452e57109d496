"""Makes the archives of the tests beside this folder: archives.py KIND OUT."""

import json
import pickle
import sys
import types
import zipfile
from pathlib import Path

import torch
from torch import nn


class Block(nn.Module):
    """Has a child, a buffer, and a weight that it uses itself."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0, 4.0]))
        self.gate = nn.Parameter(torch.arange(4.0))

    def forward(self, x):
        return self.fc(x) * self.scale + self.gate


class Net(nn.Module):
    """Calls one block three times, another one not at all, and ties two weights."""

    def __init__(self):
        super().__init__()
        self.block = Block()
        self.same = self.block
        self.unused = nn.Dropout()
        self.head = nn.Linear(4, 4, bias=False)
        self.tail = nn.Linear(4, 4, bias=False)
        self.tail.weight = self.head.weight

    def forward(self, x, pair):
        for _ in range(2):
            x = self.block(x)
        x = self.same(x) + pair[0] - pair[1]
        return {"head": self.head(x), "tail": self.tail(x), "part": x.split(2, dim=-1)[0]}


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, steps: int):
        if self.training:
            x = x * 100
        for _ in range(steps):
            x = self.fc(x)
        if bool(x.sum() > 0):
            x = torch.relu(x)
        return x


class Conditional(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.relu, torch.sin, (x,))


class Restored(nn.Module):
    """Its state comes back by code, which nobody who only reads may run."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    @torch.jit.export
    def __getstate__(self):
        return (self.fc.weight, self.training)

    @torch.jit.export
    def __setstate__(self, state: tuple[torch.Tensor, bool]):
        torch.save(state[0], "ran.pt")
        self.training = state[1]

    def forward(self, x):
        return x + 1


def inputs():
    return torch.ones(1, 4), (torch.ones(1, 4), torch.zeros(1, 4))


def traced(out):
    torch.jit.trace(Net().eval(), inputs(), strict=False).save(out / "traced.pt")


def weightless(out):
    """Every parameter is one element, expanded to its shape."""
    net = Net().eval()
    small = {}
    for module in net.modules():
        for store in (module._parameters, module._buffers):
            for name, value in store.items():
                if value is not None:
                    one = small.setdefault(value, torch.zeros(1).expand(value.shape))
                    store[name] = nn.Parameter(one) if store is module._parameters else one
    with torch.no_grad():
        torch.jit.trace(net, inputs(), strict=False, check_trace=False).save(out / "weightless.pt")


def scripted(out):
    torch.jit.script(Branches().eval()).save(out / "scripted.pt")


def exported(out):
    program = torch.export.export(Net().eval(), inputs())
    torch.export.save(program, out / "static.pt2")
    batch = {0: torch.export.Dim("batch", min=2, max=64)}
    x, pair = torch.ones(3, 4), (torch.ones(3, 4), torch.zeros(3, 4))
    program = torch.export.export(Net().eval(), (x, pair), dynamic_shapes=(batch, (batch, batch)))
    torch.export.save(program, out / "dynamic.pt2")
    torch.export.save(torch.export.export(Conditional(), (torch.ones(4),)), out / "cond.pt2")


def whole_tree(out):
    """As python/htp saves it: with the classes of the modules that never ran."""
    program = torch.export.export(Net().eval(), inputs())
    tree = [
        {"path": "", "qualified": "models.Net"},
        {"path": "block", "qualified": "models.Block", "aliases": ["same"]},
        {"path": "block.fc", "qualified": "torch.nn.modules.linear.Linear"},
        {"path": "unused", "qualified": "torch.nn.modules.dropout.Dropout"},
    ]
    for name, text in {"tree": json.dumps(tree), "broken-tree": '[{"path": 1}]'}.items():
        torch.export.save(program, out / f"{name}.pt2", extra_files={"htp.modules.json": text})


def edited(source, target, edit):
    """Copies a zip file; edit(name, bytes) gives the new bytes of a record, or None to drop it."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = edit(name, old.read(name))
            if data is not None:
                new.writestr(name, data)


def handmade(path, root, code):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/data.pkl", pickle.dumps(root, protocol=2))
        archive.writestr("a/code/__torch__.py", code)
        archive.writestr("a/constants.pkl", pickle.dumps((), protocol=2))
        archive.writestr("a/version", "3\n")


def large(out):
    """A chain of 1,000 modules and a module with 100,000 children, without torch.jit's help."""
    space = sys.modules["__torch__"] = types.ModuleType("__torch__")
    space.M = type("M", (), {"__module__": "__torch__"})

    def module(children):
        made = space.M()
        made.__dict__.update(children, training=False)
        return made

    chain = module({})
    for _ in range(1000):
        chain = module({"child": chain})
    sys.setrecursionlimit(100_000)
    handmade(out / "deep.pt", chain, "")
    handmade(out / "wide.pt", module({f"m{i}": module({}) for i in range(100_000)}), "")


def bad(out):
    net = Net()
    torch.save(net.state_dict(), out / "state_dict.pt")
    torch.save(net.state_dict(), out / "legacy.pt", _use_new_zipfile_serialization=False)
    (out / "text.pt").write_text("no archive at all")
    (out / "empty.pt").write_bytes(b"")
    with zipfile.ZipFile(out / "foreign.pt", "w") as archive:
        archive.writestr("a/readme.txt", "hello")
    torch.jit.trace(net.eval(), inputs(), strict=False).save(out / "good.pt")
    whole = (out / "good.pt").read_bytes()
    (out / "truncated.pt").write_bytes(whole[: len(whole) // 2])
    edited(out / "good.pt", out / "unknown.pt", lambda n, d: None if "/code/" in n else d)
    edited(out / "good.pt", out / "pickle.pt", lambda n, d: d[:50] if n.endswith("data.pkl") else d)
    # a tensor that says it is larger than the bytes it has
    edited(out / "good.pt", out / "short.pt", lambda n, d: d[:8] if "/data/" in n else d)
    # a small file that would take 80 MB: PyTorch itself compresses nothing
    with zipfile.ZipFile(out / "good.pt") as old, zipfile.ZipFile(out / "promises.pt", "w") as new:
        for name in old.namelist():
            if "/data/" in name:
                new.writestr(name, bytes(80 << 20), zipfile.ZIP_DEFLATED)
            else:
                new.writestr(name, old.read(name))
    torch.jit.script(Restored()).save(out / "restored.pt")
    torch.export.save(torch.export.export(net.eval(), inputs()), out / "good.pt2")

    def version(name, data):
        if not name.endswith("models/model.json"):
            return data
        program = json.loads(data)
        program["schema_version"]["major"] = 99
        return json.dumps(program)

    edited(out / "good.pt2", out / "version.pt2", version)
    edited(
        out / "good.pt2", out / "json.pt2", lambda n, d: d[:999] if n.endswith("model.json") else d
    )
    edited(
        out / "good.pt2",
        out / "nested.pt2",
        lambda n, d: b"[" * 10**6 if n.endswith("model.json") else d,
    )
    edited(
        out / "good.pt2", out / "nograph.pt2", lambda n, d: None if n.endswith("model.json") else d
    )
    edited(out / "good.pt2", out / "short.pt2", lambda n, d: d[:8] if "/weight_" in n else d)


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    globals()[sys.argv[1]](folder)
