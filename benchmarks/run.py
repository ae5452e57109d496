#!/usr/bin/env python3
"""What a pass through htp-opt costs, beside `cp` and Python's onnx.

    benchmarks/run.py --bin build/bin [--check]

Two models: one with 438 MB of weights inside, as large as BERT-base, and one
with 8 GB of external data (a sparse file). Times are the best of several runs
that take turns, so that a busy moment hits all of them; memory is the highest
resident set of the process. With --check the exit code says whether the bounds
hold.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

MB = 1_000_000
EMBEDDED_LAYERS = 58  # of 7.55 MB: 438 MB
EXTERNAL_LAYERS = 32  # of 256 MiB: 8 GiB

PYTHON_COPY = "import onnx, sys; onnx.save(onnx.load(sys.argv[1]), sys.argv[2])"


def chain(shape, layers, weight):
    """x @ w0 @ w1 …: `weight` fills in the data of each tensor."""
    from onnx import TensorProto, helper

    nodes, tensors = [], []
    for i in range(layers):
        tensor = TensorProto(name=f"layer.{i}.weight", dims=shape, data_type=TensorProto.FLOAT)
        weight(i, tensor)
        tensors.append(tensor)
        nodes.append(
            helper.make_node("MatMul", [f"v{i}", tensor.name], [f"v{i + 1}"], name=f"/{i}/MatMul")
        )
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "main_graph",
        [value("v0", TensorProto.FLOAT, [1, shape[0]])],
        [value(f"v{layers}", TensorProto.FLOAT, [1, shape[1]])],
        tensors,
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def make_embedded(path):
    import numpy
    import onnx

    side = 1374
    generator = numpy.random.default_rng(0)

    def weight(_, tensor):
        tensor.raw_data = generator.random((side, side), numpy.float32).tobytes()

    onnx.save(chain([side, side], EMBEDDED_LAYERS, weight), path)


def make_external(path):
    import onnx
    from onnx import TensorProto

    side = 8192
    size = side * side * 4

    def weight(i, tensor):
        tensor.data_location = TensorProto.EXTERNAL
        entries = {"location": "weights.bin", "offset": str(i * size), "length": str(size)}
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)

    onnx.save(chain([side, side], EXTERNAL_LAYERS, weight), path)
    data = path.parent / "weights.bin"
    data.touch()
    os.truncate(data, EXTERNAL_LAYERS * size)


def make(function, path):
    """In a process of its own: a child's memory counts from what its parent had."""
    child = os.fork()
    if child == 0:
        function(path)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(f"failed: {function.__name__}")


def measure(command):
    """Seconds and bytes of one run."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return seconds, usage.ru_maxrss * 1024


def compare(commands, output, rounds):
    """The best time and the highest memory of each command, taking turns."""
    best = {name: (float("inf"), 0) for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            # What the command before left for the disk is not this one's time.
            os.sync()
            output.unlink(missing_ok=True)
            seconds, memory = measure(command)
            best[name] = min(best[name][0], seconds), max(best[name][1], memory)
    return best


def bench_embedded(htp_opt, folder, rounds):
    source, target = folder / "embedded.onnx", folder / "out.onnx"
    make(make_embedded, source)
    size = source.stat().st_size
    commands = {
        "cp": ["cp", source, target],
        "htp-opt": [htp_opt, source, "-o", target],
        "Python onnx": [sys.executable, "-c", PYTHON_COPY, source, target],
    }
    best = compare(commands, target, rounds)
    cp = best["cp"][0]
    print(f"{size / MB:.0f} MB embedded        time    x cp     memory   x size")
    for name, (seconds, memory) in best.items():
        print(
            f"  {name:20} {seconds:6.2f} s {seconds / cp:6.2f} {memory / MB:8.0f} MB {memory / size:7.2f}"
        )
    seconds, memory = best["htp-opt"]
    return [
        (f"time at most 2 x cp + 0.2 s = {2 * cp + 0.2:.2f} s", seconds <= 2 * cp + 0.2),
        (f"memory at most 1.25 x size = {1.25 * size / MB:.0f} MB", memory <= 1.25 * size),
    ]


def bench_external(htp_opt, folder, rounds):
    beside = folder / "external"
    beside.mkdir()
    other = folder / "elsewhere"
    source = beside / "external.onnx"
    make(make_external, source)
    bounds = []
    print("\n8 GB external (sparse)    time              memory")
    for label, target in (
        ("same folder", beside / "out.onnx"),
        ("another folder", other / "out.onnx"),
    ):
        seconds, memory = float("inf"), 0
        for _ in range(rounds):
            shutil.rmtree(other, ignore_errors=True)
            other.mkdir()
            run = measure([htp_opt, source, "-o", target])
            seconds, memory = min(seconds, run[0]), max(memory, run[1])
        print(f"  {label:20} {seconds:6.2f} s        {memory / MB:8.0f} MB")
        bounds.append((f"{label}: under 1 s and 300 MB", seconds < 1 and memory < 300 * MB))
    return bounds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default="build/bin", help="folder of htp-opt")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="fail where a bound does not hold")
    parser.add_argument("--folder", help="where to put the models (default: a temporary folder)")
    options = parser.parse_args()
    htp_opt = options.bin / "htp-opt"
    with tempfile.TemporaryDirectory(prefix="htp-bench-", dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        bounds = bench_embedded(htp_opt, folder, options.rounds)
        bounds += bench_external(htp_opt, folder, options.rounds)
    print()
    for text, holds in bounds:
        print(f"{'ok  ' if holds else 'FAIL'} {text}")
    if options.check and not all(holds for _, holds in bounds):
        sys.exit(1)


if __name__ == "__main__":
    main()
