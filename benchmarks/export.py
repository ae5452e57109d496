#!/usr/bin/env python3
"""What htp.export costs beside torch.onnx.export of the same model with the same exporter.

    benchmarks/export.py [--models tiny small base] [--exporters torchscript dynamo] [--rounds 3] [--check]

Both sides take turns in one process, so that a busy moment hits both; the medians are compared, of
the time on the clock and of processor time, children included. Tagging is what htp-opt takes with
--htp-tag beyond what it takes to read and write the same model, as processor time. BERT with random weights: `tiny` has
2 layers of 128 (18 MB), `small` 4 layers of 512 (115 MB), `base` 12 layers of 768 (438 MB). With
--check the exit code says whether the bounds hold: 1.5 times torch.onnx.export, and tagging under a
tenth of all.
"""

import argparse
import logging
import os
import pathlib
import statistics
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

# layers, size, heads
SIZES = {"tiny": (2, 128, 2), "small": (4, 512, 8), "base": (12, 768, 12)}
LIMIT, TAGGING = 1.5, 0.1


def build(size):
    import torch
    import transformers

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


def measured(action):
    """Seconds on the clock, and of processor time with that of children."""
    os.sync()  # what was written before is not this one's time
    clock, before = time.perf_counter(), os.times()
    result = action()
    after = os.times()
    return time.perf_counter() - clock, sum(after[:4]) - sum(before[:4]), result


def tagging(folder):
    """Processor time of tagging itself."""
    from htp import native

    source, target = folder / "plain.onnx", folder / "again.onnx"
    trace = f"--htp-tag=trace={folder / 'tagged.trace.json'}"
    _, plain, _ = measured(lambda: native.run("htp-opt", source, "-o", target))
    _, tagged, _ = measured(lambda: native.run("htp-opt", source, trace, "-o", target))
    return tagged - plain


def compare(size, exporter, folder, rounds):
    """Medians of (clock, processor) for both sides, and the share of tagging."""
    import htp

    model, inputs = build(size)
    torch_times, htp_times, shares = [], [], []
    for round in range(rounds + 1):  # the first one warms up
        # Neither side finds a file that it could write over.
        for old in folder.iterdir():
            old.unlink()
        *plain_time, _ = measured(lambda: plain(model, inputs, exporter, folder / "plain.onnx"))
        *htp_time, _ = measured(
            lambda: htp.export(
                model, kwargs=inputs, output=folder / "tagged.onnx", exporter=exporter
            )
        )
        if round:
            torch_times.append(plain_time)
            htp_times.append(htp_time)
            shares.append(tagging(folder) / htp_time[1])
    medians = [[statistics.median(c) for c in zip(*times)] for times in (torch_times, htp_times)]
    return medians, statistics.median(shares)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="+", choices=SIZES, default=list(SIZES))
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

    holds = True
    print(
        "htp.export               torch.onnx.export     htp.export            ratio         tagging"
    )
    print("                         clock      processor  clock      processor  clock   proc.")
    for size in options.models:
        for exporter in options.exporters:
            with tempfile.TemporaryDirectory(prefix="htp-bench-", dir=options.folder) as folder:
                medians, share = compare(size, exporter, pathlib.Path(folder), options.rounds)
            (torch_clock, torch_cpu), (clock, cpu) = medians
            ratios = clock / torch_clock, cpu / torch_cpu
            ok = max(ratios) <= LIMIT and share < TAGGING
            holds &= ok
            print(
                f"  {size:8} {exporter:12} {torch_clock:7.2f} s  {torch_cpu:7.2f} s  {clock:7.2f} s  "
                f"{cpu:7.2f} s  {ratios[0]:5.2f}  {ratios[1]:5.2f}  {100 * share:6.1f} %"
                f"{'' if ok else '   FAIL'}",
                flush=True,
            )
    print(f"bounds: ratio {LIMIT}, tagging {TAGGING:.0%} of htp.export")
    return 1 if options.check and not holds else 0


if __name__ == "__main__":
    sys.exit(main())
