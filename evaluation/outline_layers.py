#!/usr/bin/env python3
"""Deep models must outline to one function per layer class.

    outline_layers.py [--htp-opt PROGRAM] [--work FOLDER] [NAME ...]

A BERT of 12 layers, a Llama of 32 and an OPT of 24 (toy widths, random weights) are exported, tagged with their trace and
outlined: one function for the layer, as many calls as layers, and at most an eighth of the flat graph's nodes.
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


def export(build, folder, variant):
    torch.manual_seed(0)
    model = build().eval()
    # As in a trained model, no two parameters are alike: of equal ones (zero biases) the exporter keeps one.
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.02)
    ids = torch.randint(3, 200, (1, 16))
    forward = model.forward
    model.forward = lambda input_ids: tuple(
        value for value in forward(input_ids, return_dict=False) if torch.is_tensor(value)
    )
    path = f"{folder}/{variant}.onnx"
    with torch.no_grad():
        torch.jit.trace(model, (ids,), strict=False, check_trace=False).save(f"{folder}/trace.pt")
        if variant == "ts":
            torch.onnx.export(model, (ids,), path, dynamo=False, opset_version=17)
        else:
            torch.onnx.export(model, (ids,), path, dynamo=True, verbose=False)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--htp-opt", default="htp-opt")
    parser.add_argument("--work", default="layers")
    parser.add_argument("--variant", default="ts", choices=("ts", "dynamo"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    bad = 0
    for name in options.names or MODELS:
        build, layer, count = MODELS[name]
        folder = f"{options.work}/{name}"
        os.makedirs(folder, exist_ok=True)
        path, outlined = (
            f"{folder}/{options.variant}.onnx",
            f"{folder}/{options.variant}.outlined.onnx",
        )
        if not os.path.exists(path):
            export(build, folder, options.variant)
        trace = f"--htp-tag=trace={folder}/trace.pt"
        subprocess.run([options.htp_opt, path, trace, "--htp-outline", "-o", outlined], check=True)
        onnx.checker.check_model(outlined, full_check=True)
        flat, model = onnx.load(path), onnx.load(outlined)
        functions = [f.name for f in model.functions if f.name.split("_")[0] == layer]
        nodes = [*model.graph.node, *(node for f in model.functions for node in f.node)]
        calls = sum(node.op_type in functions for node in nodes)
        good = len(functions) == 1 and calls == count and len(nodes) * 8 <= len(flat.graph.node)
        bad += not good
        print(
            f"{name}/{options.variant}: {'ok' if good else 'FAILED'}: {functions}, {calls} calls, "
            f"{len(flat.graph.node)} -> {len(nodes)} nodes",
            flush=True,
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
