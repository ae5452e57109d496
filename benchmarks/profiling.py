#!/usr/bin/env python3
"""For how much of ONNX Runtime's time `htp profile` finds modules.

    benchmarks/profiling.py [--check] [--work FOLDER] [NAME ...]

BERT and GPT-2 with 12 layers of 768, ResNet-50 and a step of a Llama with 8 layers and a cache, built from transformers'
configurations with random weights, in fp32 and dynamically quantized to int8. The times of the modules must add up to those
of the nodes in ONNX Runtime's own profile (1 %), and at most 3 % may be left to the model itself or to no module.

The order of the ten slowest modules is checked in another way: each is extracted (`htp extract`), run alone, and compared
with the profile of the whole model (as `htp profile --compare` does). Equal layers count as one module, with the mean of
their times. Two modules whose separate times are within 20 % of each other have no order. An extracted module cannot be
fused with its neighbours, so its time differs, but none of the 45 pairs may be in the opposite order.
With --check, the exit code says whether the bounds hold.

(Not called profile.py, because Python has a module of that name, which PyTorch imports.)
"""

import argparse
import itertools
import pathlib
import re
import statistics
import sys
import warnings

from measure import Figure, table

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import compile_models  # noqa: E402

MODELS = ["bert12", "resnet50", "gpt2_12", "llama8_cache"]


def forms(name, work):
    """The exported model, and its tagged int8 form; made once."""
    import onnx
    from onnxruntime.quantization import quantize_dynamic

    import htp

    model, plain, int8 = (work / f"{name}{end}.onnx" for end in ("", ".plain8", ".int8"))
    if not model.exists():
        compile_models.export(name, model)
    if not int8.exists():
        loaded = onnx.load(model)
        # The quantizer transposes weights but keeps their old shapes, and then fails on them.
        del loaded.graph.value_info[:]
        quantize_dynamic(loaded, plain)
        htp.tag(plain, int8, reference=model)
    return {"fp32": model, "int8": int8}


def measure(what, path):
    import htp

    result = htp.profile(path, warmup=WARM, runs=RUNS, threads=1)
    # ONNX Runtime's own sums of its runs, of which only the faster half counts
    nodes = sum(sorted(result.run_microseconds)[: result.runs]) / result.runs
    modules = sum(module.self_microseconds for module in result.modules.values())
    below = nodes - sum(k.microseconds for k in result.kernels if not k.module)
    beside = f"{nodes / 1000:.2f} ms in {len(result.kernels)} kernels"
    wrong, asked, worst = order(path, result)
    said = f"{wrong} of {asked} pairs{worst}"
    return [
        # 1 % of 45 pairs is none
        Figure(f"{what}: ten slowest, in another order", 100 * wrong / asked, 1, "%", said),
        Figure(f"{what}: nodes - modules", 100 * abs(1 - modules / nodes), 1, "%", beside),
        Figure(f"{what}: not below the root", 100 * (1 - below / nodes), 3, "%", beside),
    ]


SLOWEST, TIE = 10, 1.2
WARM, RUNS = 3, 20


def groups(result):
    """Modules that ran, equal layers together: {path without numbers: [modules]}, the slowest first. Of modules
    that run the same nodes, as an encoder and its list of layers, the innermost."""
    found, seen = {}, set()
    for module in reversed(result.modules.values()):  # children before their parents
        nodes = (round(module.total_microseconds, 3), module.calls)
        if not module.path or not module.calls or nodes in seen:
            continue
        seen.add(nodes)
        found.setdefault(re.sub(r"\b\d+\b", "*", module.path), []).append(module)
    mean = {k: statistics.mean(m.total_microseconds for m in v) for k, v in found.items()}
    return sorted(found.items(), key=lambda item: -mean[item[0]])


class Alone:
    """One module, extracted and run by itself. Before each run other memory is read, as the rest of the model
    would: its weights do not stay in the processor's caches there, either."""

    def __init__(self, path, module, folder):
        import numpy
        import onnxruntime

        import htp
        from htp.running import inputs_for

        part = htp.extract(path, module, folder / "part.onnx")
        options = onnxruntime.SessionOptions()
        options.enable_profiling, options.intra_op_num_threads = True, 1
        options.profile_file_prefix, options.log_severity_level = str(folder / "alone"), 4
        self.session = onnxruntime.InferenceSession(
            part, options, providers=["CPUExecutionProvider"]
        )
        self.feeds = inputs_for(self.session, None, None, numpy, part).feeds
        self.other = numpy.zeros(64 << 20, dtype=numpy.uint8)

    def run(self):
        self.other += 1
        self.session.run(None, self.feeds)

    def microseconds(self):
        """The time of its nodes in the least disturbed run."""
        from htp.profiles import read_times

        events = pathlib.Path(self.session.end_profiling())
        times = read_times(events, WARM)
        events.unlink()
        return min(times.run_microseconds)


def order(path, result):
    """(pairs in the wrong order, pairs that have one, the modules of the worst), of the ten slowest modules."""
    from htp.profiling import compare_profiles

    chosen = groups(result)[:SLOWEST]
    parts = {modules[0].path: Alone(path, modules[0].path, path.parent) for _, modules in chosen}
    for _ in range(WARM + RUNS):  # alternately, so that a busy moment affects all of them
        for part in parts.values():
            part.run()
    timed = {module: part.microseconds() for module, part in parts.items()}
    before = {
        "modules": [
            {"path": p, "class_name": "", "self_microseconds": t, "total_microseconds": t}
            for p, t in timed.items()
        ]
    }
    pairs = {c.path: c for c in compare_profiles(before, result) if c.path in timed}
    whole = {m[0].path: statistics.mean(x.total_microseconds for x in m) for _, m in chosen}
    wrong, asked = [], 0
    for a, b in itertools.combinations(timed, 2):
        if max(timed[a], timed[b]) > TIE * min(timed[a], timed[b]):
            asked += 1
            if (timed[a] > timed[b]) != (whole[a] > whole[b]):
                wrong.append(
                    f"{a} {timed[a]:.0f} us alone, {whole[a]:.0f} within; {b} {timed[b]:.0f}, {whole[b]:.0f}"
                )
    assert len(pairs) == len(timed)
    return len(wrong), asked, f": {wrong[0]}" if wrong else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", default=str(ROOT / "build/profile-bench"))
    parser.add_argument("--check", action="store_true", help="fail where a bound does not hold")
    parser.add_argument("only", nargs="*", metavar="NAME", help=", ".join(MODELS))
    options = parser.parse_args()
    if unknown := set(options.only) - set(MODELS):
        parser.error(f"no model {unknown.pop()!r}; there are {', '.join(MODELS)}")
    warnings.filterwarnings("ignore")
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    figures = []
    for name in options.only or MODELS:
        for form, path in forms(name, work).items():
            figures += measure(f"{name} {form}", path)
    print(table(figures))
    return 1 if options.check and not all(figure.holds for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
