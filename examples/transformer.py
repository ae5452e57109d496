"""BERT-tiny, exported, tagged and outlined: `python examples/transformer.py`.

The structure of google/bert_uncased_L-2_H-128_A-2 with random weights: nothing is downloaded.
"""

import torch
from transformers import BertConfig, BertModel


def build():
    config = BertConfig(
        hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=512
    )
    model = BertModel(config)
    # As after training, no two parameters are alike: a fresh model's biases are all zero, and the
    # TorchScript exporter keeps equal tensors once, with copies that make equal layers differ.
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.02)
    ids = torch.randint(1000, 2000, (1, 16))
    return model, {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


if __name__ == "__main__":
    import htp

    model, inputs = build()
    tagged = htp.export(model, kwargs=inputs, output="bert.onnx", exporter="torchscript")
    print(tagged)
    attention = "encoder.layer.0.attention.self"
    for node in tagged.nodes_in(attention)[:5]:
        print(f"{node.name:55} {node.evidence:10} {node.confidence:.2f}")
    outlined = tagged.outline("bert.outlined.onnx")
    print({name: len(f["calls"]) for name, f in outlined.metadata["functions"].items()})
    print(tagged.extract("encoder.layer.0", "layer.onnx"))
