"""A small mixture of experts: many parameters of one shape that only their contents distinguish."""

import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate, self.up = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.router = nn.Linear(width, count, bias=False)
        self.experts = nn.ModuleList(Expert(width) for _ in range(count))

    def forward(self, x):
        shares = self.router(x).softmax(-1)
        parts = [e(x) * shares[..., i : i + 1] for i, e in enumerate(self.experts)]
        return torch.stack(parts).sum(0)


class Layer(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.mixture = Experts(width, count)
        self.after = nn.LayerNorm(width)

    def forward(self, x):
        y = self.norm(x)
        scores = self.query(y) @ self.key(y).transpose(-1, -2) * y.shape[-1] ** -0.5
        x = x + self.out(scores.softmax(-1) @ self.value(y))
        return x + self.mixture(self.after(x))


class Mixture(nn.Module):
    def __init__(self, width=32, layers=2, experts=4):
        super().__init__()
        self.embed = nn.Embedding(200, width)
        self.layers = nn.ModuleList(Layer(width, experts) for _ in range(layers))
        self.head = nn.Linear(width, 200)

    def forward(self, input_ids):
        x = self.embed(input_ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
