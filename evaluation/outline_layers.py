#!/usr/bin/env python3
"""Deep models must outline to one function per layer class.

    outline_layers.py [--htp-opt PROGRAM] [--work FOLDER] [NAME[/VARIANT] ...]

A BERT of 12 layers, a Llama of 32 and an OPT of 24 (toy widths) are exported by both exporters, tagged with their trace and
outlined. Each model is exported twice: with the parameters that it is initialised with, many of them equal (zero biases, weights
of one), and with parameters that are all distinct, as after training.

There must be one function for the layer with as many calls as layers, --htp-inline must give the tagged model back, and of the
flat graph's nodes at most an eighth may be left. Counted are nodes of the ONNX graph and of its functions, each function once;
constants are nodes; calls, which the flat graph does not have, are counted apart. Nodes that only copy a parameter (Identity of
an initializer) are parameters, and counted in neither graph. No outlining leaves less than one layer and what lies outside of
the layers: where that alone is more than an eighth, the line says that the goal is out of reach, and this least must be met.
"""

import argparse
import os
import subprocess
import sys

import onnx
import torch
import transformers

SIZES = dict(vocab_size=200, hidden_size=32, num_attention_heads=4, max_position_embeddings=64)
MODELS = {
    "bert": (
        lambda: transformers.BertModel(
            transformers.BertConfig(**SIZES, num_hidden_layers=12, intermediate_size=64)
        ),
        "BertLayer",
        12,
    ),
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
    ),
    "opt": (
        lambda: transformers.OPTModel(
            transformers.OPTConfig(
                **SIZES, num_hidden_layers=24, ffn_dim=64, word_embed_proj_dim=32, use_cache=False
            )
        ),
        "OPTDecoderLayer",
        24,
    ),
}
VARIANTS = ("ts", "dynamo")
GOAL = 8


def export(build, folder, variant, distinct):
    torch.manual_seed(0)
    model = build().eval()
    if distinct:
        for parameter in model.parameters():
            parameter.data.add_(torch.randn_like(parameter) * 0.02)
    ids = torch.randint(3, 200, (1, 16))
    forward = model.forward
    # With a mask: without one, Llama compares positions by an op that the TorchScript-based exporter lacks (aten::diff).
    model.forward = lambda input_ids: tuple(
        value
        for value in forward(input_ids, torch.ones_like(input_ids), return_dict=False)
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
    """The nodes that are no mere copies of a parameter."""
    stored = set(stored)
    counted = 0
    for node in nodes:
        if node.op_type == "Identity" and node.input[0] in stored:
            stored.update(node.output)
        else:
            counted += 1
    return counted


def layer_size(functions, name):
    """How many nodes one layer has, those of the functions that it calls included, calls not."""
    return sum(
        layer_size(functions, node.op_type) if node.op_type in functions else 1
        for node in functions[name].node
    )


def check(options, name, variant, distinct):
    """Prints the figures; returns whether they are good."""
    build, layer, layers = MODELS[name]
    folder = f"{options.work}/{name}{'-distinct' if distinct else ''}"
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/{variant}.onnx"
    if not os.path.exists(path):
        export(build, folder, variant, distinct)
    tagged, outlined, inlined = (
        f"{folder}/{variant}.{form}.onnx" for form in ("tagged", "outlined", "inlined")
    )
    for command in (
        [path, f"--htp-tag=trace={folder}/trace.pt", "-o", tagged],
        [tagged, "--htp-outline", "-o", outlined],
        [outlined, "--htp-inline", "-o", inlined],
    ):
        subprocess.run([options.htp_opt, *command], check=True)
    onnx.checker.check_model(outlined, full_check=True)
    same = onnx.load(tagged) == onnx.load(inlined)

    flat, model = onnx.load(path), onnx.load(outlined)
    stored = [tensor.name for tensor in flat.graph.initializer]
    functions = {function.name: function for function in model.functions}
    inside = [node for function in model.functions for node in function.node]
    called = [node.op_type for node in [*model.graph.node, *inside] if node.op_type in functions]
    of_layer = [key for key in functions if key.split("_")[0] == layer]
    before = count(flat.graph.node, stored)
    left = count(model.graph.node, stored) + len(inside) - len(called)
    one = layer_size(functions, layer)
    least = before - (layers - 1) * one
    shared = of_layer == [layer] and called.count(layer) == layers
    reachable = least * GOAL <= before
    small = left * GOAL <= before if reachable else left <= least
    good = same and shared and small
    verdict = "FAILED" if not good else "ok" if reachable else f"1/{GOAL} MISSED"
    print(
        f"{name}{' distinct' if distinct else ''}/{variant}: {verdict}: {len(of_layer)} {layer}, "
        f"{called.count(layer)} calls, inlined {'the same' if same else 'OTHERWISE'}, {before} -> {left} nodes "
        f"(1/{before / left:.1f}) and {len(called)} calls (1/{before / (left + len(called)):.1f} with them)"
        + (
            ""
            if reachable
            else f"; 1/{GOAL} is out of reach: {one} in a layer, {least - one} outside"
        ),
        flush=True,
    )
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--htp-opt", default="htp-opt")
    parser.add_argument("--work", default="layers")
    parser.add_argument("only", nargs="*")
    options = parser.parse_args()
    results = [
        check(options, name, variant, distinct)
        for name in MODELS
        for distinct in (False, True)
        for variant in VARIANTS
        if not options.only or name in options.only or f"{name}/{variant}" in options.only
    ]
    print(f"{sum(results)} of {len(results)} models")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
