"""A decoder: one layer of it as a model of its own, and the whole with a function a layer."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def build():
    config = LlamaConfig(
        vocab_size=200, hidden_size=32, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, intermediate_size=64, max_position_embeddings=64, use_cache=False,
    )  # fmt: skip
    ids = torch.randint(3, 200, (1, 16))
    return LlamaForCausalLM(config), {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


if __name__ == "__main__":
    import htp

    model, inputs = build()
    tagged = htp.export(model, kwargs=inputs, output="llama.onnx")
    print(tagged.tree(torch_nn=False))
    print(tagged.extract("model.layers.0", "layer.onnx"))
    outlined = tagged.outline("llama.outlined.onnx")
    for name, function in outlined.metadata["functions"].items():
        print(f"{name}: {len(function['calls'])} calls")
