#!/usr/bin/env python3
"""Send mutated models through everything HTP does with a model, and judge the results.

    attack.py SEEDS --bin build/bin [--count 10000] [--seed 1] [--jobs N] [--keep FOLDER] [--only NUMBER …]

SEEDS is a folder as written by evaluation/corpus/export.py (`NAME/ts.onnx` with `NAME/trace.pt` and so on); each graph is also attacked in
its tagged and its outlined form. Every mutant is copied, converted to text or bytecode and back, tagged with or without a trace, verified,
stripped, outlined and inlined. For each of these:

  - the exit code is 0 or 1, within 10 s and 2 GB, and an error has a readable message;
  - a model that is copied, or converted to MLIR and back, is equal in every field; so is one that is tagged and stripped, or outlined and
    inlined. HTP's own metadata in a mutant may be nonsense, which is dropped with a warning, and notes that HTP added follow the node: in
    that case everything except metadata is equal, and a copy of the copy equals the copy;
  - a tagged model passes --htp-tag's verification; onnx.checker accepts the results if it accepted the mutant;
  - ONNX Runtime computes the same outputs if it ran the mutant. It checks functions more strictly than graphs: if onnx.checker rejects
    the mutant, the outlined model need not run.

Ends with one line of counts, and exit code 1 if anything did not hold; the mutants in question are kept.
"""

import argparse
import collections
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import onnx
from google.protobuf.message import Message
from judge import Judge, differ
from mutate import mutate

SECONDS, BYTES = 10, 2 << 30
VERIFY = "--htp-verify-tags=strict=false"
TRACES = {
    "ts": "trace.pt",
    "dynamo": "trace.pt2",
    "ts-dyn": "trace.pt",
    "dynamo-dyn": "trace-dyn.pt2",
}


class Broken(Exception):
    """Something that must not happen."""


@dataclass
class Seed:
    name: str
    data: bytes
    trace: Path | None


@dataclass
class Run:
    code: int
    message: str


class Programs:
    def __init__(self, folder: Path):
        self.onnx, self.opt = folder / "htp-onnx", folder / "htp-opt"

    def run(self, program: Path, *arguments) -> Run:
        """Runs a command with limits of time and memory."""
        what = " ".join(
            a.name if isinstance(a, Path) else str(a).split("=")[0] for a in (program, *arguments)
        )
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
            late = threading.Timer(SECONDS, child.kill)
            late.start()
            _, status, usage = os.wait4(child.pid, 0)
            late.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            said = errors.read()
        if not late.is_alive() and child.returncode == -signal.SIGKILL:
            raise Broken(f"takes more than {SECONDS} s: {what}")
        if usage.ru_maxrss * 1024 > BYTES:
            raise Broken(f"takes {usage.ru_maxrss >> 10} MB: {what}")
        try:
            message = said.decode()
        except UnicodeDecodeError:
            raise Broken(f"the message is not text: {what}: {said[:200]!r}") from None
        if child.returncode not in (0, 1):
            raise Broken(f"exit code {child.returncode}: {what}\n{message[:600]}")
        if child.returncode and "error:" not in message:
            raise Broken(f"fails without a message: {what}\n{message[:300]}")
        return Run(child.returncode, message)

    def must(self, program: Path, *arguments) -> None:
        done = self.run(program, *arguments)
        if done.code:
            names = " ".join(a.name if isinstance(a, Path) else str(a) for a in arguments)
            raise Broken(f"refused: {names}: {done.message.strip()[:400]}")


def fields(path: Path, metadata: bool = True) -> bytes | None:
    try:
        model = onnx.load_from_string(path.read_bytes())
    except Exception:
        return None  # Python's protobuf is stricter about a few things than C++'s.
    if not metadata:
        drop_metadata(model)
        model.ClearField("ir_version")  # raised to what has metadata on nodes
    return model.SerializeToString(deterministic=True)


def drop_metadata(message: Message) -> None:
    """Clears the metadata of a message and of everything in it."""
    for field, value in message.ListFields():
        if field.name == "metadata_props":
            message.ClearField(field.name)
        elif field.type == field.TYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                drop_metadata(inner)


def require_equal(one: Path, other: Path, what: str, metadata: bool = True) -> None:
    if one.read_bytes() != other.read_bytes() and fields(one, metadata) != fields(other, metadata):
        raise Broken(what)


class Attack:
    """Processes one mutant after another, in a separate folder."""

    def __init__(self, programs: Programs, folder: Path):
        self.programs, self.folder, self.judge = programs, folder, Judge()
        self.counts: collections.Counter = collections.Counter()

    def path(self, name: str) -> Path:
        path = self.folder / name
        path.unlink(missing_ok=True)
        return path

    def on(self, seed: Seed, data: bytes, random: Random) -> None:
        mutant = self.path("mutant.onnx")
        mutant.write_bytes(data)
        p = self.programs
        copied = self.path("copied.onnx")
        self.counts["mutants"] += 1
        if p.run(p.onnx, mutant, "-o", copied).code:
            self.counts["refused"] += 1
            return
        has_tags = b"htp." in data
        require_equal(mutant, copied, "a copy differs", metadata=not has_tags)
        if has_tags:
            again = self.path("again.onnx")
            p.must(p.onnx, copied, "-o", again)
            require_equal(copied, again, "a copy of a copy differs")
        self.through_mlir(copied, random)
        stripped = self.path("stripped.onnx")
        p.must(p.onnx, mutant, "--htp-strip", "-o", stripped)
        tagged = self.path("tagged.onnx")
        with_trace = seed.trace is not None and random.random() < 0.6
        option = f"--htp-tag=trace={seed.trace} force=true" if with_trace else "--htp-tag"
        if p.run(p.onnx, mutant, option, "-o", tagged).code:
            self.counts["not tagged"] += 1
            return
        p.must(p.onnx, tagged, VERIFY, "-o", self.path("verified.onnx"))
        restored = self.path("restored.onnx")
        p.must(p.onnx, tagged, "--htp-strip", "-o", restored)
        require_equal(stripped, restored, "tagged and stripped is not what it was")
        made = [tagged, *self.outlined(tagged)]
        self.run_beside(mutant, made)

    def through_mlir(self, model: Path, random: Random) -> None:
        p = self.programs
        between = self.path(random.choice(["between.mlir", "between.mlirbc"]))
        back = self.path("back.onnx")
        p.must(p.opt, model, "-o", between)
        p.must(p.opt, between, "-o", back)
        require_equal(model, back, f"through {between.suffix} and back it differs")

    def outlined(self, tagged: Path) -> list[Path]:
        p = self.programs
        outlined, inlined = self.path("outlined.onnx"), self.path("inlined.onnx")
        if p.run(p.onnx, tagged, "--htp-outline", "-o", outlined).code:
            self.counts["not outlined"] += 1
            return []
        p.must(p.onnx, outlined, VERIFY, "-o", self.path("verified.onnx"))
        p.must(p.onnx, outlined, "--htp-inline", "-o", inlined)
        require_equal(tagged, inlined, "outlined and inlined is not what it was")
        return [outlined]

    def run_beside(self, mutant: Path, made: list[Path]) -> None:
        expected = self.folder / "expected.npz"
        verdict = self.judge.ask(mutant, expected)
        self.counts["checked"] += verdict["checked"]
        self.counts["ran"] += verdict["ran"]
        if not verdict["checked"] and not verdict["ran"]:
            return
        for path in made:
            found = self.folder / "found.npz"
            answer = self.judge.ask(path, found)
            if verdict["checked"] and not answer["checked"]:
                raise Broken(f"onnx.checker accepts the mutant and not {path.name}")
            if verdict["ran"] and not answer["ran"]:
                if path.stem == "outlined" and not verdict["checked"]:
                    self.counts["rejected by the checker, runs flat only"] += 1
                    continue
                raise Broken(f"ONNX Runtime runs the mutant and not {path.name}")
            if verdict["ran"] and (difference := differ(expected, found)):
                raise Broken(f"{path.name}: {difference}")


def read_seeds(folder: Path, programs: Programs, work: Path) -> list[Seed]:
    seeds = []
    for path in sorted(folder.glob("*/*.onnx")):
        if path.stem not in TRACES and path.with_suffix("").suffix:
            continue
        trace = path.parent / TRACES.get(path.stem, "trace.json")
        flat = Seed(
            f"{path.parent.name}/{path.stem}", path.read_bytes(), trace if trace.exists() else None
        )
        if flat.trace and flat.trace.suffix != ".json":
            # An archive is read by a separate process, which takes seconds.
            readable = work / f"{path.parent.name}-{path.stem}.json"
            subprocess.run(
                [programs.onnx.parent / "htp-trace", flat.trace, "-o", readable], check=True
            )
            flat.trace = readable
        tagged, outlined = work / "tagged.onnx", work / "outlined.onnx"
        option = f"--htp-tag=trace={flat.trace}" if flat.trace else "--htp-tag"
        programs.must(programs.onnx, path, option, "-o", tagged)
        programs.must(programs.onnx, tagged, "--htp-outline", "-o", outlined)
        seeds += [
            flat,
            Seed(f"{flat.name} tagged", tagged.read_bytes(), flat.trace),
            Seed(f"{flat.name} outlined", outlined.read_bytes(), flat.trace),
        ]
    return seeds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", type=Path)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, default=Path("attack-findings"))
    parser.add_argument("--only", type=int, nargs="*", help="these mutants only")
    parser.add_argument("--most-bytes", type=int, default=2 << 20, help="leave larger seeds out")
    args = parser.parse_args()

    programs = Programs(args.bin.resolve())
    work = Path(tempfile.mkdtemp(prefix="htp-attack-"))
    seeds = [s for s in read_seeds(args.seeds, programs, work) if len(s.data) <= args.most_bytes]
    if not seeds:
        parser.error(f"no models in {args.seeds}")
    print(f"{len(seeds)} seeds", flush=True)
    total: collections.Counter = collections.Counter()
    lock = threading.Lock()
    mine = threading.local()
    attacks = []

    def one(number: int) -> None:
        if not hasattr(mine, "attack"):
            folder = Path(tempfile.mkdtemp(dir=work))
            mine.attack = Attack(programs, folder)
            attacks.append(mine.attack)
        random = Random(f"{args.seed}/{number}")
        seed = random.choice(seeds)
        data, changes = mutate(seed.data, random)
        try:
            mine.attack.on(seed, data, random)
        except Broken as broken:
            with lock:
                total["broken"] += 1
                args.keep.mkdir(parents=True, exist_ok=True)
                (args.keep / f"{number}.onnx").write_bytes(data)
                text = f"{number} ({seed.name}; {', '.join(changes)}): {broken}"
                (args.keep / f"{number}.txt").write_text(text + "\n")
                print(text, flush=True)

    start = time.monotonic()
    with ThreadPoolExecutor(args.jobs) as pool:
        for done, _ in enumerate(pool.map(one, args.only or range(args.count)), 1):
            if done % 500 == 0:
                print(
                    f"  {done} mutants, {time.monotonic() - start:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
    for attack in attacks:
        attack.judge.close()
        total.update(attack.counts)
    shutil.rmtree(work)
    print(", ".join(f"{what} {count}" for what, count in sorted(total.items())))
    return 1 if total["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
