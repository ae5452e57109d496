#!/usr/bin/env python3
"""Fit the confidence table of lib/Alignment/Confidence.cpp on tagged files.

    confidence.py CORPUS TAGGED...      TAGGED/NAME/VARIANT.onnx was made from CORPUS/NAME/VARIANT.onnx

Every answer has one of a few confidences: a cell of the table, by evidence and red flags. For each
cell prints how many answers it has, what it says and how many of them are right; that share is the
cell's new figure. The expected calibration error is cross-validated by model: each model is judged
with the shares of the others.
"""

import collections
import glob
import json
import os
import sys

import onnx


def answers(corpus, folders):
    """(model, cell, right) of every scored node."""
    for folder in folders:
        for file in sorted(glob.glob(f"{folder}/*/*.onnx")):
            name, variant = file.split(os.sep)[-2:]
            with open(f"{corpus}/{name}/{variant.removesuffix('.onnx')}.truth.json") as f:
                truth = json.load(f)
            for node, want in zip(onnx.load(file, load_external_data=False).graph.node, truth):
                if want is None or node.op_type == "Constant":
                    continue
                notes = {p.key: p.value for p in node.metadata_props}
                want = want if isinstance(want, list) else [want]
                cell = (notes.get("htp.evidence", ""), float(notes.get("htp.confidence", 0)))
                yield name, cell, notes.get("htp.scope") in want


def share(right, total):
    return (right + 0.5) / (total + 1)  # a cell with one answer proves little


def calibration_error(predicted):
    """`predicted`: (confidence, right) of every answer; ten bins."""
    bins = collections.defaultdict(lambda: [0.0, 0])
    for confidence, right in predicted:
        entry = bins[min(9, int(confidence * 10))]
        entry[0] += confidence
        entry[1] += right
    return sum(abs(said - right) for said, right in bins.values()) / max(1, len(predicted))


def main():
    corpus, *folders = sys.argv[1:]
    cells = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    known = list(answers(corpus, folders))
    for model, cell, right in known:
        entry = cells[cell][model]
        entry[0] += right
        entry[1] += 1
    for cell in sorted(cells):
        right, total = (sum(e[k] for e in cells[cell].values()) for k in (0, 1))
        print(
            f"{cell[0]:12} says {cell[1]:.4f}  answers {total:6}  right {right / total:.4f}"
            f"  fitted {share(right, total):.4f}"
        )
    said = [(cell[1], right) for _, cell, right in known]
    held_out = []
    for model, cell, right in known:
        others = [e for m, e in cells[cell].items() if m != model]
        fitted = share(sum(e[0] for e in others), sum(e[1] for e in others))
        held_out.append((fitted, right))
    print(
        f"expected calibration error: as tagged {calibration_error(said):.4f}, "
        f"cross-validated by model {calibration_error(held_out):.4f}"
    )
    return 0 if known else 1


if __name__ == "__main__":
    sys.exit(main())
