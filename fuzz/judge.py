"""Asks onnx.checker and ONNX Runtime about a model, in a separate process, because a broken model may crash it.

judge.py        reads lines `MODEL OUTPUTS`, answers each with a line of JSON: {"checked": bool, "ran": bool}
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Timer

import numpy as np

SECONDS = 20
TYPES = {
    "tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(int64)": np.int64,
    "tensor(int32)": np.int32, "tensor(bool)": np.bool_, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8,
}  # fmt: skip


class Judge:
    """Asks the process below; starts another if it died or hung."""

    def __init__(self):
        self.process = None

    def ask(self, model: Path, outputs: Path) -> dict:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        outputs.unlink(missing_ok=True)
        guard = Timer(SECONDS, self.process.kill)
        guard.start()
        try:
            self.process.stdin.write(f"{model}\t{outputs}\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            guard.cancel()
        if not line:
            self.process.kill()
            self.process.wait()
        return json.loads(line) if line else {"checked": False, "ran": False}

    def close(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()


def differ(one: Path, other: Path) -> str | None:
    """How the outputs of two runs differ."""
    with np.load(one) as a, np.load(other) as b:
        if list(a) != list(b):
            return f"outputs {list(b)}, expected {list(a)}"
        for name in a:
            left, right = a[name], b[name]
            floats = np.issubdtype(left.dtype, np.inexact)
            if left.shape != right.shape or not np.array_equal(left, right, equal_nan=floats):
                return f"output {name} differs"
    return None


def example(value) -> np.ndarray:
    shape = [d if isinstance(d, int) and d >= 0 else 2 for d in value.shape]
    count = int(np.prod(shape, dtype=np.int64))
    if count > 10_000_000:
        raise ValueError("too large to try")
    kind = TYPES[value.type]
    if kind in (np.float32, np.float64, np.float16):
        return (np.arange(count) % 7 / 7 - 0.4).astype(kind).reshape(shape)
    return (np.arange(count) % 2).astype(kind).reshape(shape)


def run(model: str) -> list[np.ndarray]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # Without optimizations: what an optimizer does to the flat graph but not to functions does not matter here.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    inputs = {value.name: example(value) for value in session.get_inputs()}
    once, again = (session.run(None, inputs) for _ in range(2))
    for a, b in zip(once, again):
        if not isinstance(a, np.ndarray) or a.tobytes() != b.tobytes():
            raise ValueError("not the same twice")
    return once


def main() -> None:
    # Only the answers go to standard output, where ONNX and ONNX Runtime would also print.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import onnx

    for line in sys.stdin:
        model, outputs = line.rstrip("\n").split("\t")
        answer = {"checked": False, "ran": False}
        try:
            onnx.checker.check_model(model)
            answer["checked"] = True
        except Exception:
            pass
        try:
            results = run(model)
            np.savez(outputs, **{f"{i:03}": r for i, r in enumerate(results)})
            answer["ran"] = True
        except Exception:
            pass
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
