#!/usr/bin/env python3
"""What htp.export costs compared with torch.onnx.export of the same model with the same exporter.

    benchmarks/export.py [--models tiny small base] [--corpus] [--exporters torchscript dynamo]
                         [--rounds 3] [--check]

Both run alternately in one process, so that a busy moment affects both. Compared are the medians of elapsed time
and of processor time, children included. The cost of tagging is the processor time of htp-onnx with --htp-tag, less
what it takes to read and write the same model. BERT has random weights: `tiny` has 2 layers of width 128 (18 MB),
`small` 4 layers of 512 (115 MB), `base` 12 layers of 768 (438 MB). --corpus runs the architectures of
evaluation/corpus instead, toys of 2 to 4 layers each, and adds them up. With --check, the exit code says whether the
bounds hold: 1.5 times torch.onnx.export, and tagging below a tenth of the total.
"""

import argparse
import logging
import os
import pathlib
import resource
import statistics
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "evaluation/corpus")]

# layers, size, heads
SIZES = {"tiny": (2, 128, 2), "small": (4, 512, 8), "base": (12, 768, 12)}
LIMIT, TAGGING = 1.5, 0.1


def build(size):
    """A model and the keywords of an example call."""
    import torch
    import transformers

    if size not in SIZES:
        from models import MODELS

        torch.manual_seed(0)
        make, inputs = MODELS[size]
        return make().eval(), inputs()
    layers, hidden, heads = SIZES[size]
    torch.manual_seed(0)
    config = transformers.BertConfig(
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * hidden,
    )
    ids = torch.randint(5, 1000, (1, 64))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    return transformers.BertModel(config).eval(), inputs


def plain(model, inputs, exporter, path):
    """torch.onnx.export as a user who knows its quirks would call it."""
    import torch

    if exporter == "dynamo":
        torch.onnx.export(model, (), kwargs=inputs, dynamo=True, verbose=False).save(str(path))
        return
    own = model.forward
    model.forward = lambda *values: own(**dict(zip(inputs, values)), return_dict=False)
    try:
        torch.onnx.export(
            model,
            tuple(inputs.values()),
            str(path),
            dynamo=False,
            opset_version=17,
            input_names=list(inputs),
        )
    finally:
        del model.forward


def processor_time():
    """Processor time of this process and its children, with a finer resolution than os.times."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def measured(action):
    """Elapsed seconds, and seconds of processor time including children."""
    os.sync()  # earlier writes must not count here
    clock, before = time.perf_counter(), processor_time()
    result = action()
    return time.perf_counter() - clock, processor_time() - before, result


def tagging(folder):
    """Processor time of tagging itself."""
    from htp import native

    source, target = folder / "plain.onnx", folder / "again.onnx"
    trace = f"--htp-tag=trace={folder / 'tagged.trace.json'}"
    _, plain, _ = measured(lambda: native.run("htp-onnx", source, "-o", target))
    _, tagged, _ = measured(lambda: native.run("htp-onnx", source, trace, "-o", target))
    return tagged - plain


class NotExported(Exception):
    """PyTorch's own exporter fails."""


def compare(size, exporter, folder, rounds):
    """Medians: clock and processor time of torch.onnx.export, of htp.export, processor time of tagging."""
    import htp

    model, inputs = build(size)
    rows = []
    for round in range(rounds + 1):  # the first one warms up
        # Neither side finds a file to overwrite.
        for old in folder.iterdir():
            old.unlink()
        try:
            *plain_time, _ = measured(lambda: plain(model, inputs, exporter, folder / "plain.onnx"))
        except Exception as error:
            raise NotExported(type(error).__name__) from error
        *htp_time, _ = measured(
            lambda: htp.export(
                model, kwargs=inputs, output=folder / "tagged.onnx", exporter=exporter
            )
        )
        if round:
            rows.append([*plain_time, *htp_time, tagging(folder)])
    return [statistics.median(column) for column in zip(*rows)]


def show(size, exporter, row):
    """Prints a row. Returns whether it is within the bounds."""
    torch_clock, torch_cpu, clock, cpu, tag = row
    ratios, share = (clock / torch_clock, cpu / torch_cpu), tag / cpu
    ok = max(ratios) <= LIMIT and share < TAGGING
    print(
        f"  {size:10} {exporter:12} {torch_clock:6.2f} s  {torch_cpu:7.2f} s  {clock:7.2f} s  "
        f"{cpu:7.2f} s  {ratios[0]:5.2f}  {ratios[1]:5.2f}  {100 * share:6.1f} %"
        f"{'' if ok else '   FAIL'}",
        flush=True,
    )
    return ok


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--corpus", action="store_true", help="the architectures of the corpus")
    parser.add_argument(
        "--exporters",
        nargs="+",
        choices=["torchscript", "dynamo"],
        default=["torchscript", "dynamo"],
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="fail where a bound does not hold")
    parser.add_argument("--folder", help="where to put the models (default: a temporary folder)")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)

    if options.corpus:
        from models import MODELS

        options.models = list(MODELS)
    holds = True
    print(
        "htp.export               torch.onnx.export     htp.export            ratio         tagging"
    )
    print("                         clock      processor  clock      processor  clock   proc.")
    totals = {exporter: [] for exporter in options.exporters}
    for size in options.models:
        for exporter in options.exporters:
            with tempfile.TemporaryDirectory(prefix="htp-bench-", dir=options.folder) as folder:
                try:
                    row = compare(size, exporter, pathlib.Path(folder), options.rounds)
                except NotExported as error:
                    print(f"  {size:12} {exporter:12} PyTorch cannot export it: {error}")
                    continue
            totals[exporter].append(row)
            holds &= show(size, exporter, row)
    if options.corpus:
        for exporter, rows in totals.items():
            show("ALL", exporter, [sum(column) for column in zip(*rows)])
    print(f"bounds: ratio {LIMIT}, tagging {TAGGING:.0%} of htp.export")
    return 1 if options.check and not holds else 0


if __name__ == "__main__":
    sys.exit(main())
