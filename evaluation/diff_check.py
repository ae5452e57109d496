#!/usr/bin/env python3
"""Checks that htp diff finds a bug in the module that has it.

    diff_check.py [NAME ...] [--exporter auto|torchscript|dynamo] [--seed N] [--json FILE] [--check]

Each model of the corpus (corpus/models.py) gets one bug of each kind, in a randomly drawn module:

    weight       a module's weight is 5 % too large
    activation   an activation module computes another function
    scale        a weight saturates, as with a scale that is a quarter of what it has to be

The bug is made in PyTorch, which also says which module has it, and the model is exported again, without tags.
`htp diff` compares the tagged export of the good model with a form of the bad one:

    export       the export as it is
    anon         without any name
    ort          after ONNX Runtime's extended optimizations
    int8         quantized (dynamically, 7 bits if the processor's 8-bit products would saturate)
    qdq          quantized statically, calibrated on the example

In the first three, the first module that diverges must be the bad one; `fused` counts cases in which its own value was
fused away, so that it is named among at most four modules that are part of what diverges. In the last two there is
noise everywhere, and the bad module must rank first in `htp diff`'s own order (`worst`). A bug is drawn again if the
output of the module does not change.
As a control, the good model itself is compared in each of the first three forms: nothing may diverge. `TOLERANCE` is
ten times the rounding error of float32 in the worst of them, and a tenth of htp's default: a key that is 5 % too large
changes what follows a softmax by less than that.
"""

import argparse
import contextlib
import copy
import io
import json
import logging
import pathlib
import random
import sys
import tempfile
import time
import warnings
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE / "corpus")]

import numpy as np  # noqa: E402
import torch  # noqa: E402

import htp  # noqa: E402
import models as corpus  # noqa: E402
import variants  # noqa: E402

KINDS = ("weight", "activation", "scale")
CONTROL = "control"
TOLERANCE = 1e-4
FEW = 4
EXACT = ("export", "anon", "ort")
NOISY = ("int8", "qdq")
#: At least so many of each kind have to be found, out of all; of noisy forms nine in ten.
SHARE = {**dict.fromkeys(EXACT, 1.0), **dict.fromkeys(NOISY, 0.9)}


def build(name):
    """As in corpus/export.py, no two parameters are equal."""
    torch.manual_seed(0)
    make, inputs = corpus.MODELS[name]
    model, example = make().eval(), inputs()
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.02)
    return model, example


# --- bugs ----------------------------------------------------------------------------------------


def candidates(model, kind):
    """The modules in which such a bug is possible, by path."""
    if kind == "activation":
        return [path for path, module in model.named_modules() if is_activation(module)]
    owners = Counter(
        id(parameter)
        for module in model.modules()
        for parameter in module.parameters(recurse=False)
    )  # a tied weight is a bug of two modules
    return [
        path
        for path, module in model.named_modules()
        if isinstance(weight := getattr(module, "weight", None), torch.nn.Parameter)
        and weight.dim() >= 2
        and owners[id(weight)] == 1
    ]


def is_activation(module):
    where = type(module).__module__
    return (
        where in ("torch.nn.modules.activation", "transformers.activations")
        and not list(module.children())
        and not list(module.parameters())
        and type(module).__name__ != "Softmax"
    )


def inject(model, path, kind):
    """The model with a bug in one module."""
    bad = copy.deepcopy(model)
    module = bad.get_submodule(path)
    with torch.no_grad():
        if kind == "weight":
            module.weight.mul_(1.05)
        elif kind == "scale":
            bound = module.weight.abs().max() / 4
            module.weight.clamp_(-bound, bound)
    if kind == "activation":
        parent, _, name = path.rpartition(".")
        other = torch.nn.GELU() if isinstance(module, torch.nn.ReLU) else torch.nn.ReLU()
        setattr(bad.get_submodule(parent), name, other)
    return bad


def output_of(model, path, example):
    """What a module returns in its first call; None if it is not called."""
    seen = []
    hook = model.get_submodule(path).register_forward_hook(lambda m, a, out: seen.append(out))
    with torch.no_grad():
        model(**example)
    hook.remove()
    return seen[0].detach().clone() if seen and isinstance(seen[0], torch.Tensor) else None


def draw(model, example, kind, generator):
    """A module, and the model with a bug in it that is visible in the module's own output."""
    paths = candidates(model, kind)
    generator.shuffle(paths)
    for path in paths:
        good = output_of(model, path, example)
        if good is None:
            continue
        bad = inject(model, path, kind)
        changed = output_of(bad, path, example)
        if (changed - good).abs().max() > 2e-3 * good.abs().max():
            return path, bad
    raise LookupError(f"no module can have the bug {kind!r}")


# --- forms ---------------------------------------------------------------------------------------


def export(model, example, path, exporter, **options):
    with contextlib.redirect_stdout(io.StringIO()):
        htp.export(model, (), path, kwargs=example, exporter=exporter, **options)
    return path


def quantized(source, target, example):
    import onnx
    from onnxruntime.quantization import quantize_dynamic

    proto = onnx.load(source)
    del proto.graph.value_info[:]  # the quantizer trips over shapes of weights that it transposes
    quantize_dynamic(proto, target, reduce_range=True)


FORMS = {
    "export": lambda source, target, example: target.write_bytes(source.read_bytes()),
    "anon": variants.anonymous,
    "ort": lambda source, target, example: variants.optimized(str(source), str(target), example),
    "int8": quantized,
    "qdq": lambda source, target, example: variants.quantized_static(
        str(source), str(target), example
    ),
}


def run(path, inputs):
    """Some tools write models that ONNX Runtime loads and cannot run."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    wanted = {value.name for value in session.get_inputs()}
    session.run(None, {name: array for name, array in inputs.items() if name in wanted})


def told(item, path):
    """Whether a module is named among a few that became one value."""
    return "fused" if path in item.holds and len(item.holds) <= FEW else "missed"


def judge(result, form, path):
    """found, fused or missed, and what was named instead."""
    if form in EXACT:
        first = result.first
        if first is None:
            return "missed", "nothing parts"
        if first.module == path:
            return "found", ""
        named = f"{first.module or '(root)'}" + (f", holds {first.holds}" if first.holds else "")
        return told(first, path), named
    best = result.worst[0]
    if best.module == path:
        return "found", ""
    places = [item.module for item in result.worst]
    place = f"{places.index(path) + 1}. of {len(places)}" if path in places else "not compared"
    return told(best, path), f"{best.module or '(root)'} ({place})"


def ranks(result, path):
    """The module's rank by each measure of its own error; 0 is first."""
    found = {}
    for measure in ("noise", "added", "shifted", "outlier"):
        items = {i.value: i for i in reversed(result.comparisons)}.values()
        order = sorted(items, key=lambda i: -getattr(i, measure))
        at = [n for n, i in enumerate(order) if path == i.module or path in i.holds]
        found[measure] = at[0] if at else None
    return found


def check(name, options, folder):
    """Lines about one model."""
    model, example = build(name)
    good = export(model, example, folder / "good.onnx", options.exporter)
    wanted = {value.name for value in onnx_inputs(good)}
    for kind in (*KINDS, CONTROL):
        generator = random.Random(f"{options.seed} {name} {kind}")
        try:
            path, bad = ("", model) if kind == CONTROL else draw(model, example, kind, generator)
        except LookupError as error:
            yield {"model": name, "bug": kind, "form": "", "verdict": "none", "note": str(error)}
            continue
        plain = export(bad, example, folder / "bad.onnx", options.exporter, tag_storage="none")
        inputs = {k: v.numpy() for k, v in example.items() if k in wanted}
        for form, make in FORMS.items():
            if kind == CONTROL and form not in EXACT or options.forms and form not in options.forms:
                continue
            line = {"model": name, "bug": kind, "module": path, "form": form}
            target = folder / "form.onnx"
            begin = time.perf_counter()
            try:
                make(plain, target, inputs)
                run(target, inputs)
            except Exception as error:  # a failing tool is not htp's fault
                why = f"{type(error).__name__}: {str(error)[:80]}"
                yield {**line, "verdict": "not made", "note": why}
                continue
            try:
                result = htp.diff(good, target, inputs=inputs, tolerance=TOLERANCE)
                verdict, note = judge(result, form, path)
                if kind == CONTROL:
                    verdict = "found" if result.equal else "missed"
            except htp.HTPError as error:
                verdict, note = "error", str(error)
            yield {
                **line,
                "verdict": verdict,
                "note": note,
                "ranks": ranks(result, path) if verdict != "error" else None,
                "seconds": round(time.perf_counter() - begin, 2),
            }


def onnx_inputs(path):
    import onnx

    return onnx.load(path, load_external_data=False).graph.input


def summary(lines):
    """A table: forms by kinds of bugs, and whether each reaches its share."""
    kinds = (*KINDS, CONTROL)
    rows, holds = ["| form | " + " | ".join(kinds) + " |", "|---|" + "---|" * len(kinds)], True
    for form in FORMS:
        cells = []
        for kind in kinds:
            counts = Counter(x["verdict"] for x in lines if x["form"] == form and x["bug"] == kind)
            asked = sum(counts.values()) - counts["not made"]
            right = counts["found"] + counts["fused"]
            holds &= right >= SHARE[form] * asked
            if not asked:
                cells.append("")
                continue
            said = f"{right} of {asked}"
            extra = [f"{counts[x]} {x}" for x in ("fused", "not made") if counts[x]]
            cells.append(said + (f" ({', '.join(extra)})" if extra else ""))
        rows.append(f"| {form} | " + " | ".join(cells) + " |")
    return "\n".join(rows), holds


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("only", nargs="*", metavar="NAME")
    parser.add_argument("--exporter", choices=["auto", "torchscript", "dynamo"], default="auto")
    parser.add_argument("--forms", nargs="+", choices=FORMS, help="these alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", help="a line for each case")
    parser.add_argument("--check", action="store_true", help="exit code 1 where too few are found")
    options = parser.parse_args()
    if unknown := set(options.only) - set(corpus.MODELS):
        parser.error(f"no model {unknown.pop()!r}; there are {', '.join(corpus.MODELS)}")
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    np.seterr(all="ignore")
    lines = []
    for name in options.only or corpus.MODELS:
        with tempfile.TemporaryDirectory() as folder:
            for line in check(name, options, pathlib.Path(folder)):
                lines.append(line)
                if line["verdict"] != "found":
                    print(*(line.get(k, "") for k in ("model", "bug", "module", "form")), end=": ")
                    print(line["verdict"], line["note"], flush=True)
    table, holds = summary(lines)
    print(
        f"\n{len({x['model'] for x in lines})} models, exported with {options.exporter}\n\n{table}"
    )
    if options.json:
        pathlib.Path(options.json).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return 1 if options.check and not holds else 0


if __name__ == "__main__":
    sys.exit(main())
