#!/usr/bin/env python3
"""Run htp.export on every architecture of the corpus with both exporters.

    export_check.py [--exporters torchscript dynamo] [--out DIR] [MODEL ...]

Checks for each: the tags (every node's module is the true one, none is of another layer), that ONNX
Runtime's outputs equal PyTorch's, that the model is unchanged (parameters, buffers, hooks, mode and
attributes of every module), and how long it took compared with torch.onnx.export of the same model with
the same exporter, measured in the same process. Models that PyTorch itself cannot export are named and
not counted. Prints one line per model and totals; fails if anything differs.
"""

import argparse
import gc
import json
import logging
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "evaluation/corpus")]
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime as ort  # noqa: E402
import torch  # noqa: E402

import htp  # noqa: E402
import truth as truths  # noqa: E402
from models import MODELS  # noqa: E402
from score import other_layer  # noqa: E402

SUMS = ("scored", "right", "contaminated", "torch", "torch_cpu", "htp", "htp_cpu", "tag")


def state(model):
    """Everything that must be the same before and after."""
    attributes = [
        {k: id(v) for k, v in vars(m).items()}
        | {k: [(n, id(x)) for n, x in v.items()] for k, v in vars(m).items() if isinstance(v, dict)}
        | {"training": m.training}
        for m in model.modules()
    ]
    return attributes, {k: v.clone() for k, v in model.state_dict().items()}


def same_state(before, after):
    equal = all(torch.equal(before[1][k], after[1][k]) for k in before[1])
    return before[0] == after[0] and before[1].keys() == after[1].keys() and equal


def plain_export(model, example, exporter, path):
    """torch.onnx.export as a user who knows its quirks would call it."""
    if exporter == "dynamo":
        program = torch.onnx.export(model, (), kwargs=example, dynamo=True, verbose=False)
        program.save(str(path))
        return
    keys, own = list(example), model.forward

    def positional(*args):
        return own(**dict(zip(keys, args)), return_dict=False)

    model.forward = positional
    try:
        torch.onnx.export(
            model,
            tuple(example.values()),
            str(path),
            dynamo=False,
            opset_version=17,
            input_names=keys,
        )
    finally:
        del model.forward


def judge(path, model, exporter):
    """(scored, right, contaminated) of a tagged file."""
    graph = onnx.load(path).graph
    tree = truths.tree_of(model)
    paths, tags = {m["path"] for m in tree}, {m["path"]: m["tag"] for m in tree}
    if exporter == "torchscript":
        parameters = {n for n, _ in model.named_parameters(remove_duplicate=False)}
        truth = truths.truth_torchscript(graph, paths, parameters)
    else:
        truth = truths.truth_dynamo(graph, paths)
    contents = {p.detach().numpy().tobytes() for p in model.parameters()}
    partners = truths.convolution_partners(model)
    scored = right = contaminated = 0
    for node, want in zip(graph.node, truths.folded(graph, list(truth), contents, partners)):
        props = {p.key: p.value for p in node.metadata_props}
        if want is None or node.op_type == "Constant":
            continue
        want = want if isinstance(want, list) else [want]
        scored += 1
        right += props.get("htp.scope") in want
        contaminated += all(other_layer(props.get("htp.tag", ""), tags[w]) for w in want)
    return scored, right, contaminated


def outputs_differ(path, model, example):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = {value.name for value in session.get_inputs()}
    found = session.run(None, {k: v.numpy() for k, v in example.items() if k in names})
    with torch.no_grad():
        leaves = torch.utils._pytree.tree_leaves(model.eval()(**example))
    want = [leaf.numpy() for leaf in leaves if torch.is_tensor(leaf)]
    if len(want) != len(found):
        return f"{len(found)} outputs, expected {len(want)}"
    worst = max(float(np.abs(a - b).max()) for a, b in zip(want, found))
    return "" if worst < 1e-3 else f"outputs differ by {worst:.1e}"


def seconds(action):
    """Elapsed and processor time, including children. On a busy machine, only the latter is meaningful."""
    gc.collect()  # takes 0.3 s after 20 models, and must not count as part of an export
    wall, before = time.perf_counter(), os.times()
    action()
    after = os.times()
    return time.perf_counter() - wall, sum(after[:4]) - sum(before[:4])


def warm_up(exporters, folder):
    """Exports once, because the first export of a process loads and compiles much of PyTorch."""
    model, example = torch.nn.Linear(2, 2).eval(), {"input": torch.ones(1, 2)}
    for exporter in exporters:
        htp.export(model, kwargs=example, output=folder / "warm.onnx", exporter=exporter)


def check(name, exporter, folder):
    build, inputs = MODELS[name]
    torch.manual_seed(0)
    model, example = build(), inputs()
    for parameter in model.parameters():  # make all parameters distinct
        parameter.data.add_(torch.randn_like(parameter) * 0.02)
    model.eval()
    result = {"model": name, "exporter": exporter}
    try:
        result["torch"], result["torch_cpu"] = seconds(
            lambda: plain_export(model, example, exporter, folder / "plain.onnx")
        )
    except Exception as error:
        return {**result, "skipped": f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"}
    model.train()
    before = state(model)
    tagged = None

    def export():
        nonlocal tagged
        tagged = htp.export(model, kwargs=example, output=folder / "m.onnx", exporter=exporter)

    try:
        result["htp"], result["htp_cpu"] = seconds(export)
    except htp.HTPError as error:
        return {**result, "problems": [str(error)]}
    result["tag"] = tagged.seconds["tag"]
    problems = [] if same_state(before, state(model)) else ["the model was changed"]
    difference = outputs_differ(tagged.path, model, example)
    problems += [difference] if difference else []
    result["scored"], result["right"], result["contaminated"] = judge(tagged.path, model, exporter)
    if result["right"] < result["scored"] or result["contaminated"]:
        wrong = result["scored"] - result["right"]
        problems.append(f"{wrong} wrong tags, {result['contaminated']} of another layer")
    if tagged.statistics["coverage"] != 1:
        problems.append(f"coverage {tagged.statistics['coverage']}")
    return {**result, "nodes": tagged.statistics["nodes"], "problems": problems}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", metavar="MODEL", default=list(MODELS))
    parser.add_argument("--exporters", nargs="+", default=["torchscript", "dynamo"])
    parser.add_argument("--json", type=Path, help="write the results there, too")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        warm_up(options.exporters, Path(folder))
        for name in options.models:
            for exporter in options.exporters:
                result = check(name, exporter, Path(folder))
                results.append(result)
                show(result)
    done = [r for r in results if "scored" in r]
    for exporter in options.exporters:
        mine = [r for r in done if r["exporter"] == exporter]
        if mine:
            total = {k: sum(r[k] for r in mine) for k in SUMS}
            print(
                f"ALL {exporter:12} {len(mine)} models, exact {total['right'] / total['scored']:.4f}, "
                f"contaminated {total['contaminated']}, time {total['htp'] / total['torch']:.2f} of "
                f"torch.onnx.export (processor time {total['htp_cpu'] / total['torch_cpu']:.2f}), "
                f"tagging {total['tag'] / total['htp']:.2f} of all"
            )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 1 if not done or any(r.get("problems") for r in results) else 0


def show(r):
    head = f"{r['model']:12} {r['exporter']:12}"
    if "scored" not in r:
        print(head, f"skipped: {r['skipped']}" if "skipped" in r else r["problems"], flush=True)
        return
    print(
        head,
        f"nodes {r['nodes']:5} exact {r['right'] / r['scored']:.4f} contaminated {r['contaminated']} "
        f"time {r['htp']:.2f} s, torch {r['torch']:.2f} s (processor {r['htp_cpu']:.2f}, "
        f"{r['torch_cpu']:.2f}), tagging {r['tag']:.2f} s "
        f"{'; '.join(r['problems']) or 'ok'}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
