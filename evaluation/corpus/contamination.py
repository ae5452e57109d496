"""The two models for which contamination figures were published, rebuilt from their descriptions.

`two_layers`: two plain BERT layers with default initialization. All layer norms start out equal, so the TorchScript exporter shares
their weights and biases and copies them with Identity nodes. Published: 18 nodes tagged with another layer, 17 remain after resolution.
`chain`: a chain of layers that share nothing.
"""

import torch
from torch import nn


class BertEmbeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(200, 128)
        self.position = nn.Embedding(16, 128)
        self.norm = nn.LayerNorm(128)

    def forward(self, ids):
        return self.norm(self.word(ids) + self.position(torch.arange(ids.shape[1])))


class BertSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(128, 128) for _ in range(3))

    def forward(self, hidden):
        scores = self.query(hidden) @ self.key(hidden).transpose(-1, -2)
        return torch.softmax(scores, dim=-1) @ self.value(hidden)


class Residual(nn.Module):
    """A projection, added to the input of the block, and normalized."""

    def __init__(self, inside):
        super().__init__()
        self.dense = nn.Linear(inside, 128)
        self.norm = nn.LayerNorm(128)

    def forward(self, hidden, before):
        return self.norm(self.dense(hidden) + before)


class BertSelfOutput(Residual):
    pass


class BertOutput(Residual):
    pass


class BertAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.self = BertSelfAttention()
        self.output = BertSelfOutput(128)

    def forward(self, hidden):
        return self.output(self.self(hidden), hidden)


class BertIntermediate(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(128, 256)

    def forward(self, hidden):
        return torch.relu(self.dense(hidden))


class BertLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = BertAttention()
        self.intermediate = BertIntermediate()
        self.output = BertOutput(256)

    def forward(self, hidden):
        attention = self.attention(hidden)
        return self.output(self.intermediate(attention), attention)


class BertEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.ModuleList(BertLayer() for _ in range(2))

    def forward(self, hidden):
        for layer in self.layer:
            hidden = layer(hidden)
        return hidden


class BertModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = BertEmbeddings()
        self.encoder = BertEncoder()

    def forward(self, ids):
        return self.encoder(self.embeddings(ids))


class SimpleLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(SimpleLayer() for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


MODELS = {
    "two_layers": (BertModel, lambda: {"ids": torch.randint(0, 200, (1, 16))}),
    "chain": (Chain, lambda: {"x": torch.randn(1, 16)}),
}
