#!/usr/bin/env python3
"""Terminates programs in the middle of their work, and checks that nothing is lost and nothing is left behind.

    kills.py [--bin build/bin] [--kill 200] [--interrupt 50] [--terminate 50] [--seed 1] [--only CASE ...]

A case is a command with its own files, some of which it replaces. It first runs undisturbed, to find out how long it
takes and what it writes. Then it is started repeatedly and terminated after a random part of that time, with SIGKILL,
SIGINT or SIGTERM. After each of these
  * inputs are unchanged, and each output is either the old or the complete new one;
  * after SIGINT and SIGTERM there are no other files;
  * the next run succeeds and leaves the same files as an undisturbed one, also in the folder for temporary files.
Exits with 1 if any of this does not hold.
"""

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

NET = """
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(64, 128), torch.nn.Linear(128, 64)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(x)))

def build():
    torch.manual_seed(0)
    return torch.nn.Sequential(*(Block() for _ in range(4))).eval(), (torch.ones(2, 64),)
"""


@dataclass
class Case:
    name: str
    command: list[str]
    #: Files that the command makes; all others must stay as they are.
    outputs: list[str]
    #: Whether two runs write the same bytes. PyTorch's exporters do not promise that.
    exact: bool = True
    #: The files of an undisturbed run, what others keep where temporary files go (PyTorch does), and how long it took.
    after: dict[str, str] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    seconds: float = 0.0


def cases(programs: Path) -> list[Case]:
    opt, onnx = str(programs / "htp-opt"), str(programs / "htp-onnx")
    htp = [sys.executable, "-m", "htp"]
    sides = ["--op-metadata=out.json", "--dag-json=out.dag.json"]
    tag = "--htp-tag=trace=trace.json"
    return [
        Case(
            "outline",
            [opt, "model.onnx", tag, "--htp-outline", "-o", "out.onnx", *sides],
            ["out.onnx", "out.json", "out.dag.json"],
        ),
        Case(
            "archive", [opt, "net.onnx", "--htp-tag=trace=net.pt2", "-o", "out.onnx"], ["out.onnx"]
        ),
        Case("in place", [onnx, "model.onnx", tag, "-o", "model.onnx"], ["model.onnx"]),
        Case(
            "external data",
            [onnx, "large.onnx", "--htp-tag", "-o", "other/out.onnx"],
            ["other/out.onnx", "other/large.onnx.data"],
        ),
        Case("htp tag", [*htp, "tag", "net.onnx", "--trace", "net.pt2", "-o", "out.onnx"],
             ["out.onnx", "out.dag.json", "out.ops.json"]),
        Case("htp export", [*htp, "export", "net.py:build", "-o", "out.onnx"],
             ["out.onnx", "out.dag.json", "out.ops.json", "out.trace.json", "out.inputs.npz"], exact=False),
    ]  # fmt: skip


def make_inputs(folder: Path) -> None:
    """The inputs of the commands, and an output of an earlier run."""
    models = [sys.executable, str(ROOT / "benchmarks/models.py"), "named", "layers", "3000"]
    subprocess.run(models, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for file in ("model.onnx", "trace.json"):
        shutil.move(folder / "layers" / file, folder / file)
    shutil.rmtree(folder / "layers")
    (folder / "net.py").write_text(NET)
    script = """
import onnx, torch, numpy, net
model, inputs = net.build()
torch.export.save(torch.export.export(model, inputs), "net.pt2")
torch.onnx.export(model, inputs, "net.onnx", dynamo=False)
h = onnx.helper
weight = onnx.numpy_helper.from_array(numpy.ones((1024, 4096), numpy.float32), "fc.weight")
ends = [h.make_tensor_value_info(n, 1, [1, s]) for n, s in (("x", 1024), ("y", 4096))]
graph = h.make_graph([h.make_node("MatMul", ["x", "fc.weight"], ["y"], name="/fc/MatMul")], "g", ends[:1], ends[1:], [weight])
made = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=10)
onnx.save(made, "large.onnx", save_as_external_data=True, location="large.onnx.data")
"""
    subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    (folder / "other").mkdir()
    (folder / "out.onnx").write_bytes(b"what an earlier run wrote")


def contents(folder: Path) -> dict[str, str]:
    """The contents of all files, by name."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


class Attack:
    def __init__(self, work: Path, case: Case, source: Path) -> None:
        self.case, self.source = case, source
        self.folder, self.temporary = work / "case", work / "tmp"
        self.before = contents(source)
        paths = [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
        self.environment = os.environ | {
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def begin(self) -> subprocess.Popen:
        return subprocess.Popen(
            self.case.command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )

    def reset(self) -> None:
        for folder in (self.folder, self.temporary):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.source, self.folder)
        self.temporary.mkdir()

    def undisturbed(self) -> None:
        self.reset()
        begin = time.perf_counter()
        if status := self.begin().wait():
            raise SystemExit(f"{self.case.name}: ends with {status} when nobody disturbs it")
        self.case.seconds = time.perf_counter() - begin
        self.case.after = contents(self.folder)
        self.case.kept = {path.name for path in self.temporary.iterdir()}
        if ours := [name for name in self.case.kept if name.startswith("htp")]:
            raise SystemExit(f"{self.case.name}: leaves {ours} when nobody disturbs it")

    def problems(self, kind: signal.Signals, share: float) -> list[str]:
        """Terminates a run after a fraction of its time. Returns what is wrong then, and after the next run."""
        self.reset()
        process = self.begin()
        time.sleep(share * self.case.seconds)
        process.send_signal(kind)
        process.wait()
        self.wait_for_children(process.pid)
        said = self.lost(contents(self.folder))
        if kind is not signal.SIGKILL:
            said += self.left("at once")
        if status := self.begin().wait():
            said.append(f"the next run ends with {status}")
        now = contents(self.folder)
        if self.case.exact and now != self.case.after and not self.left("", now):
            said.append("the next run wrote something else")
        return said + self.left("after the next run", now)

    @staticmethod
    def wait_for_children(group: int) -> None:
        """Waits, because a program that it started may end a moment later."""
        for _ in range(100):
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.05)
        os.killpg(group, signal.SIGKILL)

    def lost(self, now: dict[str, str]) -> list[str]:
        said = []
        for name, was in self.before.items():
            if name in self.case.outputs:
                whole = (was, self.case.after[name])
                if name not in now or (self.case.exact and now[name] not in whole):
                    said.append(f"{name} is neither old nor new")
            elif now.get(name) != was:
                said.append(f"{name}, an input, was changed")
        return said

    def left(self, when: str, now: dict[str, str] | None = None) -> list[str]:
        """Names of files that should not exist."""
        names = set(now if now is not None else contents(self.folder))
        extra = names - set(self.case.after) - set(self.before)
        extra |= {
            f"TMPDIR/{path.name}"
            for path in self.temporary.iterdir()
            if path.name not in self.case.kept
        }
        extra |= {
            f"{path.name}/"
            for path in self.folder.iterdir()
            if path.is_dir() and path.name != "other"
        }
        return [f"{name} is left {when}" for name in sorted(extra)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/bin")
    parser.add_argument("--kill", type=int, default=200)
    parser.add_argument("--interrupt", type=int, default=50)
    parser.add_argument("--terminate", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()

    chance = random.Random(args.seed)
    counts = {
        signal.SIGKILL: args.kill,
        signal.SIGINT: args.interrupt,
        signal.SIGTERM: args.terminate,
    }
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        source = work / "source"
        source.mkdir()
        make_inputs(source)
        chosen = [c for c in cases(args.bin.resolve()) if not args.only or c.name in args.only]
        attacks = [Attack(work, case, source) for case in chosen]
        for attack in attacks:
            attack.undisturbed()
        bad = 0
        for kind, count in counts.items():
            for i in range(count):
                attack, share = attacks[i % len(attacks)], chance.random() * 1.1
                if said := attack.problems(kind, share):
                    bad += 1
                    print(
                        f"{attack.case.name}, {kind.name} after {share:.0%}: {'; '.join(said)}",
                        flush=True,
                    )
            print(f"{kind.name}: {count} times", flush=True)
    print(f"{sum(counts.values()) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
