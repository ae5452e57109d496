"""A residual network for images: which block does each convolution belong to?"""

from collections import Counter

import torch
from transformers import ResNetConfig, ResNetForImageClassification


def build():
    config = ResNetConfig(embedding_size=16, hidden_sizes=[16, 32], depths=[2, 2], num_labels=10)
    return ResNetForImageClassification(config), {"pixel_values": torch.randn(1, 3, 64, 64)}


if __name__ == "__main__":
    import htp

    model, inputs = build()
    tagged = htp.export(model, kwargs=inputs, output="resnet.onnx")
    count = Counter(node.tag for node in tagged.nodes.values() if node.op_type == "Conv")
    for tag, convolutions in count.items():
        print(f"{convolutions:3} {tag}")
