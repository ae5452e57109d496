"""Kinds of layers in users' models."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from .registry import Block, case, drawn, tokens


class ConvNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4)
        self.head = nn.Conv2d(4, 2, 1)
        for buffer in (self.norm.running_mean, self.norm.running_var):
            buffer.copy_(torch.rand(4) + 0.5)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.stem(x))))


def _conv_first(tagged, exporter):
    """A convolution that absorbed its norm is the convolution's, with the norm as context."""
    convs = [n for n in tagged.nodes.values() if n.op_type == "Conv" and n.scope != "head"]
    if any(n.op_type == "BatchNormalization" for n in tagged.nodes.values()):
        return []  # not folded
    said = [f"{n.scope!r} with {[c.scope for c in n.contexts]}" for n in convs]
    right = convs and all(
        n.scope == "stem" and "norm" in [c.scope for c in n.contexts] for n in convs
    )
    return [] if right else [f"a convolution with its norm folded in is {said}"]


@case("batch norm folded into a convolution", check=_conv_first)
def folded_norm():
    return ConvNorm(), drawn((1, 3, 8, 8))


class Expert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return self.down(F.silu(self.up(x)))


class Mixture(nn.Module):
    def __init__(self, experts: int = 4) -> None:
        super().__init__()
        self.router = nn.Linear(8, experts, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(experts))

    def forward(self, x):
        weights, chosen = torch.topk(torch.softmax(self.router(x), -1), 2, dim=-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            share = (weights * (chosen == i)).sum(-1, keepdim=True)
            out = out + expert(x) * share
        return out


@case("mixture of experts: a router with top-k")
def mixture_of_experts():
    return nn.Sequential(Mixture(), Mixture()), drawn((1, 3, 8))


class BatchedExperts(nn.Module):
    def __init__(self, experts: int = 3) -> None:
        super().__init__()
        self.router = nn.Linear(8, experts)
        self.up = nn.Parameter(torch.randn(experts, 8, 16))
        self.down = nn.Parameter(torch.randn(experts, 16, 8))

    def forward(self, x):
        h = F.gelu(torch.einsum("bld,edh->belh", x, self.up))
        out = torch.einsum("belh,ehd->beld", h, self.down)
        return torch.einsum("beld,ble->bld", out, self.router(x).softmax(-1))


@case("experts as stacked parameters and einsum")
def einsum_experts():
    return BatchedExperts(), drawn((1, 3, 8))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(64, 8)
        self.lstm = nn.LSTM(8, 8, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(16, 8, batch_first=True)

    def forward(self, ids, state=None):
        h, (hn, cn) = self.lstm(self.embed(ids), state)
        out, last = self.gru(h)
        return out, last, hn, cn


@case("LSTM of two layers and both directions, GRU")
def lstm_gru():
    return Recurrent(), lambda: ((tokens(5),), {})


@case("LSTM with its state as input and output")
def lstm_state():
    def inputs():
        return (tokens(5),), {"state": (torch.randn(4, 1, 8), torch.randn(4, 1, 8))}

    return Recurrent(), inputs


class StateSpace(nn.Module):
    def __init__(self, width: int = 4, states: int = 3) -> None:
        super().__init__()
        self.project = nn.Linear(width, 2 * states + 1)
        self.log_a = nn.Parameter(torch.log(torch.rand(width, states) + 1))
        self.skip = nn.Parameter(torch.randn(width))
        self.states = states

    def forward(self, x):
        parameters = self.project(x)
        step = F.softplus(parameters[..., :1])
        b, c = parameters[..., 1:].split(self.states, -1)
        decay = torch.exp(-step.unsqueeze(-1) * torch.exp(self.log_a))
        state, out = torch.zeros_like(decay[:, 0]), []
        for t in range(x.shape[1]):
            state = decay[:, t] * state + (step[:, t] * x[:, t]).unsqueeze(-1) * b[:, t, None]
            out.append((state * c[:, t, None]).sum(-1))
        return torch.stack(out, 1) + x * self.skip


@case("a state-space recurrence, unrolled")
def state_space():
    return nn.Sequential(StateSpace(), StateSpace()), drawn((1, 5, 4))


class CellLoop(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.LSTMCell(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        h = c = torch.zeros(x.shape[0], 8)
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
        return self.head(h), c


@case("an LSTMCell called for every step")
def lstm_cell():
    return CellLoop(), drawn((2, 4, 8))


def suppress(boxes: torch.Tensor, scores: torch.Tensor, threshold: float) -> torch.Tensor:
    """Non-maximum suppression without a loop over values (torchvision is not a dependency)."""
    boxes = boxes[scores.argsort(descending=True)]
    low = torch.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    inner = (high - low).clamp(min=0).prod(-1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(-1)
    overlap = inner / (area[:, None] + area[None] - inner)
    beaten = (overlap.triu(1) > threshold).any(0)
    return torch.where(beaten[:, None], torch.zeros_like(boxes), boxes)


class Detector(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU())
        self.boxes, self.scores = nn.Conv2d(8, 4, 1), nn.Conv2d(8, 2, 1)

    def forward(self, image):
        h = self.backbone(image)
        scores, labels = self.scores(h).flatten(2)[0].sigmoid().max(0)
        raw = self.boxes(h).flatten(2)[0].t()
        boxes = torch.cat([raw[:, :2], raw[:, :2] + raw[:, 2:].exp()], 1)
        top, index = scores.topk(6)
        return {"boxes": suppress(boxes[index], top, 0.5), "scores": top, "labels": labels[index]}


@case("a detection head with top-k and suppression of overlapping boxes")
def detection():
    return Detector(), drawn((1, 3, 8, 8))


class Messages(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.message, self.update = nn.Linear(8, 8), nn.GRUCell(8, 8)

    def forward(self, nodes, edges):
        sent = self.message(nodes)[edges[0]]
        summed = torch.zeros_like(nodes).index_add(0, edges[1], sent)
        return self.update(summed, nodes)


class GraphNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Messages(), Messages()])
        self.read = nn.Linear(8, 2)

    def forward(self, nodes, edges, batch):
        for layer in self.layers:
            nodes = layer(nodes, edges)
        index = batch[:, None].expand_as(nodes)
        pooled = torch.zeros(2, 8).scatter_add(0, index, nodes)
        return self.read(pooled)


@case("a graph network with index_add and scatter_add")
def graph_network():
    return GraphNet(), lambda: (
        (torch.randn(5, 8), torch.randint(0, 5, (2, 9)), torch.randint(0, 2, (5,))),
        {},
    )


@case("grouped and depthwise convolutions")
def grouped_convolution():
    layers = [
        nn.Conv2d(4, 8, 3, groups=2),
        nn.ReLU6(),
        nn.Conv2d(8, 8, 3, groups=8),
        nn.Conv2d(8, 2, 1),
    ]
    return nn.Sequential(*layers), drawn((1, 4, 8, 8))


@case("transposed convolutions, up-sampling, pixel shuffle")
def transposed_convolution():
    return nn.Sequential(
        nn.ConvTranspose2d(2, 4, 3, stride=2, padding=1, output_padding=1),
        nn.Upsample(scale_factor=2, mode="nearest"),
        nn.Conv2d(4, 8, 1),
        nn.PixelShuffle(2),
    ), drawn((1, 2, 4, 4))


class Bags(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag, self.out = nn.EmbeddingBag(64, 8, mode="sum"), nn.Linear(8, 2)

    def forward(self, ids):
        return self.out(self.bag(ids))


@case("an embedding bag")
def embedding_bag():
    return Bags(), lambda: ((torch.randint(0, 64, (2, 4)),), {})


@case("padding modes: reflect, circular, replicate, zeros")
def padding_modes():
    return nn.Sequential(
        nn.Conv1d(2, 4, 3, padding=1, padding_mode="reflect"),
        nn.Conv1d(4, 4, 3, padding=1, padding_mode="circular"),
        nn.ReplicationPad1d(2),
        nn.Conv1d(4, 2, 3, padding="same"),
    ), drawn((1, 2, 10))


class Relative(nn.Module):
    def __init__(self, heads: int = 2, width: int = 8) -> None:
        super().__init__()
        self.bias = nn.Embedding(16, heads)
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x, bias=None):
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (t.reshape(shape).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        if bias is None:
            steps = torch.arange(length)
            distance = (steps[None] - steps[:, None]).clamp(-8, 7) + 8
            bias = self.bias(distance).permute(2, 0, 1)[None]
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // self.heads) + bias
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape)), bias


class SharedBias(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Relative(), Relative(), Relative()])

    def forward(self, x):
        bias = None
        for layer in self.layers:
            more, bias = layer(x, bias)
            x = x + more
        return x


@case("a relative position bias that the first layer makes for all")
def relative_bias():
    return SharedBias(), drawn((1, 4, 8))


class Fused(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x, mask):
        q, k, v = (f(x).reshape(1, -1, 2, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)


@case("scaled_dot_product_attention with a boolean mask")
def fused_attention():
    return Fused(), lambda: (
        (torch.randn(1, 4, 8), torch.tril(torch.ones(4, 4, dtype=torch.bool))),
        {},
    )


@case("PyTorch's own Transformer")
def nn_transformer():
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    return model, drawn((1, 4, 8), (1, 3, 8))


class Norms(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3)
        self.group, self.instance = nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True)
        self.rms = nn.RMSNorm(6)
        self.act = nn.PReLU(4)

    def forward(self, x):
        return self.rms(self.act(self.instance(self.group(self.conv(x)))))


@case("group, instance and RMS norm, PReLU")
def norms():
    return Norms(), drawn((1, 2, 8, 8))


class Siamese(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tower, self.head = Block(), nn.Bilinear(8, 8, 2)

    def forward(self, a, b):
        return self.head(self.tower(a), self.tower(b))


@case("one tower called for both inputs")
def siamese():
    return Siamese(), drawn((2, 8), (2, 8))
