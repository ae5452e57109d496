#!/usr/bin/env python3
"""What the Python package costs beyond the work itself.

    benchmarks/package.py [--only PART ...] [--rounds N]

Parts:
    startup    `htp --version`, `htp analyze` of BERT-tiny and of 26,000 nodes, beside their limits
    boundary   htp.tag of a model in memory, compared with the native program on a file
    batch      `htp batch` over 200 small models, compared with a shell loop of `htp tag`

Times are elapsed times, as medians of the rounds, so other work on the machine makes them longer. In brackets is the
least processor time of a round, which such work hardly affects: if only the elapsed time exceeds the limit, the machine
was busy.
"""

import argparse
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "python"))
HTP = [sys.executable, "-m", "htp"]
ENV = {**os.environ, "PYTHONPATH": str(ROOT / "python")}


def processor():
    """Seconds of this process and of the processes it waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def seconds(function, rounds):
    """The median elapsed time, after one uncounted run, and the least processor time."""
    function()
    clock, work = [], []
    for _ in range(rounds):
        begin, before = time.perf_counter(), processor()
        function()
        clock.append(time.perf_counter() - begin)
        work.append(processor() - before)
    return statistics.median(clock), min(work)


def command(*words, **options):
    subprocess.run([*HTP, *map(str, words)], check=True, env=ENV, capture_output=True, **options)


def models(folder):
    """BERT-tiny, tagged, with its trace, and a model of 26,000 nodes."""
    import htp

    sys.path.insert(0, str(ROOT / "examples"))
    import transformer

    model, inputs = transformer.build()
    tiny = htp.export(model, (), folder / "tiny.onnx", kwargs=inputs).path
    large = folder / "large"
    subprocess.run(
        [sys.executable, HERE / "models.py", "named", large, "26000"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    tagged = htp.tag(large / "model.onnx", large / "tagged.onnx", trace=large / "trace.json").path
    return tiny, tagged


def show(what, measured, limit=None):
    clock, work = measured if isinstance(measured, tuple) else (measured, None)
    used = "" if work is None else f"({work:.3f})"
    mark = "" if limit is None else f"{limit:8.3f} s   {'ok' if clock <= limit else 'MISSED'}"
    print(f"{what:58} {clock:8.3f} s {used:9} {mark}", flush=True)


def startup(tiny, large, rounds):
    show("python -c pass", seconds(lambda: subprocess.run([sys.executable, "-c", ""]), rounds))
    show("htp --version", seconds(lambda: command("--version"), rounds), 0.080)
    show("htp analyze, BERT-tiny", seconds(lambda: command("analyze", tiny), rounds), 0.3)
    show("htp analyze, 26,000 nodes", seconds(lambda: command("analyze", large), rounds), 1.0)


def boundary(tiny, large, rounds):
    import onnx
    import onnx_ir

    import htp
    from htp import native

    for name, path, trace in (
        ("BERT-tiny", tiny, tiny.with_suffix(".trace.json")),
        ("26,000 nodes", large, large.parent / "trace.json"),
    ):
        program, flag = native.find("htp-onnx"), f"--htp-tag=trace={trace}"
        out = path.with_name("out.onnx")
        run = [program, path, flag, "-o", out]
        show(f"{name}: htp-onnx on a file", seconds(lambda run=run: subprocess.run(run), rounds))
        held = {
            "a path": path,
            "bytes": path.read_bytes(),
            "onnx.ModelProto": onnx.load(path),
            "onnx_ir.Model": onnx_ir.load(path),
        }
        for kind, model in held.items():
            target = out if kind == "a path" else None
            call = lambda m=model, t=target, x=trace: htp.tag(m, t, trace=x)  # noqa: E731
            show(f"{name}: htp.tag of {kind}", seconds(call, rounds))
    show(
        "a process that does nothing",
        seconds(lambda: subprocess.run([program, "--version"], capture_output=True), rounds),
    )


def batch(tiny, large, rounds):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([native_opt(), tiny, "--htp-strip", "-o", folder / "plain.onnx"], check=True)
        trace, count = tiny.with_suffix(".trace.json"), 200
        (folder / "in").mkdir()
        for number in range(count):
            (folder / f"in/m{number:03}.onnx").hardlink_to(folder / "plain.onnx")
            (folder / f"in/m{number:03}.trace.json").hardlink_to(trace)
        htp = shlex.join(HTP)
        loop = f"for m in in/*.onnx; do {htp} tag -q $m --trace ${{m%.onnx}}.trace.json -o out.onnx; done"
        begin = time.perf_counter()
        subprocess.run(
            ["sh", "-c", loop], cwd=folder, env=ENV, check=True, stdout=subprocess.DEVNULL
        )
        shell = time.perf_counter() - begin
        begin = time.perf_counter()
        command("batch", "in", "-o", "out", cwd=folder)
        ours = time.perf_counter() - begin
        show(f"{count} models, shell loop of htp tag", shell)
        show(
            f"{count} models, htp batch on {os.cpu_count()} cores ({shell / ours:.1f} x)",
            ours,
            shell / 1.8,
        )


def native_opt():
    from htp import native

    return native.find("htp-onnx")


PARTS = {"startup": startup, "boundary": boundary, "batch": batch}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        tiny, large = models(pathlib.Path(name))
        for part in options.only:
            PARTS[part](tiny, large, options.rounds)


if __name__ == "__main__":
    main()
