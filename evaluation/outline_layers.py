#!/usr/bin/env python3
"""Check that deep models are outlined to one function per layer class.

    outline_layers.py [--htp-opt PROGRAM] [--work FOLDER] [NAME[/VARIANT] ...]

A BERT of 12 layers, a Llama of 32 and an OPT of 24 (toy widths) are exported by both exporters, tagged with their trace and
outlined, as exported and after MLIR's own --cse --canonicalize. Each model is exported twice: with its initial parameters,
many of them equal (zero biases, weights of one), and with parameters that are all distinct, as after training.

There must be one function for the layer, with as many calls as layers; --htp-inline must restore the tagged model; and at most
an eighth of the exporter's nodes may be left in one of the two forms. Counted are nodes of the ONNX graph and of its functions,
each function once; constants are nodes; calls, which the flat graph does not have, are counted separately. Nodes that only copy
a parameter (Identity of an initializer) are parameters, and counted in neither graph. No outlining leaves less than one layer and
what lies outside the layers: if that alone is more than an eighth (`bert_masked`, whose mask the TorchScript-based exporter
makes of 25 nodes), the line says that the goal is out of reach, and this minimum must be met.
"""

import argparse
import os
import subprocess
import sys

import onnx
import torch
import transformers

BUILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build")

SIZES = dict(vocab_size=200, hidden_size=32, num_attention_heads=4, max_position_embeddings=64)


def bert():
    config = transformers.BertConfig(**SIZES, num_hidden_layers=12, intermediate_size=64)
    return transformers.BertModel(config)


# How to build each, the class of its layers, their number, and whether it is given a mask. Without one, Llama compares positions
# by an op that the TorchScript-based exporter lacks (aten::diff).
MODELS = {
    "bert": (bert, "BertLayer", 12, False),
    "bert_masked": (bert, "BertLayer", 12, True),
    "llama": (
        lambda: transformers.LlamaModel(
            transformers.LlamaConfig(
                **SIZES,
                num_hidden_layers=32,
                num_key_value_heads=2,
                intermediate_size=64,
                use_cache=False,
            )
        ),
        "LlamaDecoderLayer",
        32,
        True,
    ),
    "opt": (
        lambda: transformers.OPTModel(
            transformers.OPTConfig(
                **SIZES, num_hidden_layers=24, ffn_dim=64, word_embed_proj_dim=32, use_cache=False
            )
        ),
        "OPTDecoderLayer",
        24,
        True,
    ),
}
VARIANTS = ("ts", "dynamo")
GOAL = 8


def export(build, folder, variant, distinct, masked):
    torch.manual_seed(0)
    model = build().eval()
    if distinct:
        for parameter in model.parameters():
            parameter.data.add_(torch.randn_like(parameter) * 0.02)
    ids = torch.randint(3, 200, (1, 16))
    forward = model.forward
    model.forward = lambda input_ids: tuple(
        value
        for value in forward(
            input_ids, torch.ones_like(input_ids) if masked else None, return_dict=False
        )
        if torch.is_tensor(value)
    )
    path = f"{folder}/{variant}.onnx"
    with torch.no_grad():
        torch.jit.trace(model, (ids,), strict=False, check_trace=False).save(f"{folder}/trace.pt")
        if variant == "ts":
            torch.onnx.export(model, (ids,), path, dynamo=False, opset_version=17)
        else:
            torch.onnx.export(model, (ids,), path, dynamo=True, verbose=False)


def count(nodes, stored):
    """The nodes that are not merely copies of a parameter."""
    stored = set(stored)
    counted = 0
    for node in nodes:
        if node.op_type == "Identity" and node.input[0] in stored:
            stored.update(node.output)
        else:
            counted += 1
    return counted


def layer_size(functions, name):
    """How many nodes one layer has, including those of functions that it calls, but not the calls."""
    return sum(
        layer_size(functions, node.op_type) if node.op_type in functions else 1
        for node in functions[name].node
    )


class Outlined:
    """What remains of a model whose layers are of the class `layer`."""

    def __init__(self, path, layer):
        onnx.checker.check_model(path, full_check=True)
        model = onnx.load(path)
        self.functions = {function.name: function for function in model.functions}
        inside = [node for function in model.functions for node in function.node]
        called = [n.op_type for n in [*model.graph.node, *inside] if n.op_type in self.functions]
        stored = [tensor.name for tensor in model.graph.initializer]
        self.left = count(model.graph.node, stored) + len(inside) - len(called)
        self.calls, self.layer_calls = len(called), called.count(layer)
        self.layers = [name for name in self.functions if name.split("_")[0] == layer]


def check(options, name, variant, distinct):
    """Prints the figures. Returns whether they are good, and whether the exported form reaches the goal."""
    build, layer, layers, masked = MODELS[name]
    folder = f"{options.work}/{name}{'-distinct' if distinct else ''}"
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/{variant}.onnx"
    if not os.path.exists(path):
        export(build, folder, variant, distinct, masked)
    tagged, outlined, inlined, cleaned = (
        f"{folder}/{variant}.{form}.onnx" for form in ("tagged", "outlined", "inlined", "cleaned")
    )
    tag = f"--htp-tag=trace={folder}/trace.pt"
    for command in (
        [path, tag, "-o", tagged],
        [tagged, "--htp-outline", "-o", outlined],
        [outlined, "--htp-inline", "-o", inlined],
        [path, "--cse", "--canonicalize", tag, "--htp-outline", "-o", cleaned],
    ):
        subprocess.run([options.htp_opt, *command], check=True)
    same = onnx.load(tagged) == onnx.load(inlined)

    flat = onnx.load(path)
    before = count(flat.graph.node, [tensor.name for tensor in flat.graph.initializer])
    whole, clean = Outlined(outlined, layer), Outlined(cleaned, layer)
    one = layer_size(whole.functions, layer)
    least = before - (layers - 1) * one
    shared = all(o.layers == [layer] and o.layer_calls == layers for o in (whole, clean))
    reached = min(whole.left, clean.left) * GOAL <= before
    reachable = reached or least * GOAL <= before
    good = same and shared and (reached or not reachable and whole.left <= least)
    verdict = (
        "FAILED"
        if not good
        else f"1/{GOAL} MISSED"
        if not reached
        else "ok"
        if whole.left * GOAL <= before
        else f"1/{GOAL} only after --cse --canonicalize"
    )
    print(
        f"{name}{' distinct' if distinct else ''}/{variant}: {verdict}: {len(whole.layers)} {layer}, "
        f"{whole.layer_calls} calls, inlined {'the same' if same else 'OTHERWISE'}, {before} -> {whole.left} nodes "
        f"(1/{before / whole.left:.1f}) and {whole.calls} calls (1/{before / (whole.left + whole.calls):.1f} with them), "
        f"after --cse --canonicalize {clean.left} (1/{before / clean.left:.1f})"
        + (
            ""
            if reachable
            else f"; 1/{GOAL} is out of reach: {one} in a layer, {least - one} outside"
        ),
        flush=True,
    )
    return good, whole.left * GOAL <= before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--htp-opt", default=f"{BUILD}/bin/htp-opt")
    parser.add_argument("--work", default=f"{BUILD}/layers")
    parser.add_argument("only", nargs="*")
    options = parser.parse_args()
    results = [
        check(options, name, variant, distinct)
        for name in MODELS
        for distinct in (False, True)
        for variant in VARIANTS
        if not options.only or name in options.only or f"{name}/{variant}" in options.only
    ]
    passed = sum(good for good, _ in results)
    missed = sum(not reached for _, reached in results)
    print(f"{passed} of {len(results)} models; {missed} leave more than 1/{GOAL} as exported")
    return 0 if results and passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
