#!/usr/bin/env python3
"""Run clang-tidy on every translation unit, except those that passed before and have not changed since.

    tidy.py [--build build]

clang-tidy parses MLIR's headers for seconds per file, so a clean result is remembered under a hash of .clang-tidy, the
compile command, and every file of this project that the translation unit reads (ninja knows which).
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-22"


def dependencies(build: Path) -> dict[str, list[Path]]:
    """The project's own files that each object file depends on."""
    listing = subprocess.run(
        ["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True
    )
    found: dict[str, list[Path]] = {}
    target = ""
    for line in listing.stdout.splitlines():
        if line and not line.startswith(" "):
            target = line.partition(":")[0]
            found[target] = []
        elif line.strip():
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                found[target].append(path)
    return found


def key(entry: dict, files: list[Path]) -> str:
    state = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + entry["command"].encode())
    for path in [Path(entry["file"]), *sorted(files)]:
        state.update(path.read_bytes() if path.exists() else b"")
    return state.hexdigest()[:32]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    build = parser.parse_args().build.resolve()
    cache = build / "tidy-cache"
    cache.mkdir(exist_ok=True)
    reads = dependencies(build)
    entries = json.loads((build / "compile_commands.json").read_text())
    own = [
        e
        for e in entries
        if Path(e["file"]).is_relative_to(ROOT) and not Path(e["file"]).is_relative_to(build)
    ]
    todo = [(e, k) for e in own if not (cache / (k := key(e, reads.get(e["output"], [])))).exists()]
    print(
        f"clang-tidy: {len(own) - len(todo)} of {len(own)} files unchanged since they passed",
        flush=True,
    )

    def tidy(job: tuple[dict, str]) -> bool:
        entry, stamp = job
        run = subprocess.run(
            [TIDY, "-p", build, "--quiet", "--warnings-as-errors=*", entry["file"]],
            capture_output=True,
            text=True,
        )
        if run.returncode == 0:
            (cache / stamp).touch()
        else:
            print(run.stdout.strip() or run.stderr.strip(), flush=True)
        return run.returncode == 0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        good = list(pool.map(tidy, todo))
    if not all(good):
        print(f"clang-tidy: {good.count(False)} files with warnings")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
