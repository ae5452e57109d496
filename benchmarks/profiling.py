#!/usr/bin/env python3
"""How much of ONNX Runtime's time `htp profile` finds modules for.

    benchmarks/profiling.py [--check] [--work FOLDER] [NAME ...]

BERT and GPT-2 of 12 layers of 768, ResNet-50 and a step of a Llama of 8 layers with a cache, built from transformers'
configurations with random weights, in fp32 and dynamically quantized to int8. The times of the modules have to add up to
those of the nodes in ONNX Runtime's own profile (1 %), and at most 3 % may be left to the model itself, or to no module.
With --check the exit code says whether the bounds hold.

(Not called profile.py: Python has a module of that name, which PyTorch imports.)
"""

import argparse
import pathlib
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
        # The quantizer transposes weights and keeps their old shapes, which it then trips over.
        del loaded.graph.value_info[:]
        quantize_dynamic(loaded, plain)
        htp.tag(plain, int8, reference=model)
    return {"fp32": model, "int8": int8}


def measure(what, path):
    import htp

    result = htp.profile(path, runs=10, threads=1)
    # ONNX Runtime's own sums of its runs, of which the faster half counts
    nodes = sum(sorted(result.run_microseconds)[: result.runs]) / result.runs
    modules = sum(module.self_microseconds for module in result.modules.values())
    below = nodes - sum(k.microseconds for k in result.kernels if not k.module)
    beside = f"{nodes / 1000:.2f} ms in {len(result.kernels)} kernels"
    return [
        Figure(f"{what}: nodes - modules", 100 * abs(1 - modules / nodes), 1, "%", beside),
        Figure(f"{what}: not below the root", 100 * (1 - below / nodes), 3, "%", beside),
    ]


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
