"""Further plain nets, for what plain.py leaves out: folded norms of all kinds, gates, pyramids, loops.

Inspected once, like those of wider.py.
"""

import torch
import torch.nn.functional as F
from torch import nn


class SqueezeExcite(nn.Module):
    def __init__(self, width, reduced):
        super().__init__()
        self.reduce = nn.Conv2d(width, reduced, 1)
        self.expand = nn.Conv2d(reduced, width, 1)

    def forward(self, x):
        s = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.expand(F.silu(self.reduce(s))))


class ConvNormAct(nn.Sequential):
    def __init__(self, a, b, k=3, stride=1, groups=1, act=nn.SiLU):
        super().__init__(
            nn.Conv2d(a, b, k, stride, k // 2, groups=groups, bias=False), nn.BatchNorm2d(b), act()
        )


class MBConv(nn.Module):
    def __init__(self, a, b, stride, expand=2):
        super().__init__()
        self.residual = a == b and stride == 1
        self.expand = ConvNormAct(a, a * expand, 1)
        self.depthwise = ConvNormAct(a * expand, a * expand, 3, stride, a * expand)
        self.se = SqueezeExcite(a * expand, 4)
        self.project = nn.Sequential(nn.Conv2d(a * expand, b, 1, bias=False), nn.BatchNorm2d(b))

    def forward(self, x):
        y = self.project(self.se(self.depthwise(self.expand(x))))
        return x + y if self.residual else y


class MBNet(nn.Module):
    """Depthwise convolutions with folded norms, squeeze and excite."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            ConvNormAct(3, 8, 3, 2),
            nn.Sequential(MBConv(8, 8, 1), MBConv(8, 8, 1)),
            nn.Sequential(MBConv(8, 16, 2), MBConv(16, 16, 1)),
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(16, 10))

    def forward(self, image):
        return self.classifier(self.pool(self.features(image)))


class Fire(nn.Module):
    def __init__(self, a, s, e):
        super().__init__()
        self.squeeze = nn.Conv2d(a, s, 1)
        self.left = nn.Conv2d(s, e, 1)
        self.right = nn.Conv2d(s, e, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.left(x)), F.relu(self.right(x))], 1)


class Dense(nn.Module):
    def __init__(self, a, grow):
        super().__init__()
        self.norm = nn.BatchNorm2d(a)
        self.conv = nn.Conv2d(a, grow, 3, padding=1, bias=False)

    def forward(self, *xs):
        return self.conv(F.relu(self.norm(torch.cat(xs, 1))))


class DenseNet(nn.Module):
    """Norm before convolution, features concatenated, fire modules."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1)
        self.dense = nn.ModuleList(Dense(8 + 4 * i, 4) for i in range(3))
        self.fire = nn.Sequential(Fire(20, 4, 8), nn.MaxPool2d(2), Fire(16, 4, 8))
        self.head = nn.Conv2d(16, 5, 1)

    def forward(self, image):
        xs = [self.stem(image)]
        for layer in self.dense:
            xs.append(layer(*xs))
        return self.head(self.fire(torch.cat(xs, 1))).mean((2, 3))


class Generator(nn.Module):
    """ConvTranspose, InstanceNorm, GroupNorm, PixelShuffle, weight_norm."""

    def __init__(self):
        super().__init__()
        wn = torch.nn.utils.parametrizations.weight_norm
        self.fc = nn.Linear(12, 16 * 4 * 4)
        self.up1 = nn.Sequential(
            nn.ConvTranspose2d(16, 16, 4, 2, 1), nn.GroupNorm(4, 16), nn.LeakyReLU(0.2)
        )
        self.up2 = nn.Sequential(
            wn(nn.Conv2d(16, 32, 3, padding=1)),
            nn.PixelShuffle(2),
            nn.InstanceNorm2d(8, affine=True),
            nn.PReLU(8),
        )
        self.up3 = nn.Sequential(
            nn.Upsample(scale_factor=2, mode="bilinear"), nn.ReflectionPad2d(1), nn.Conv2d(8, 3, 3)
        )

    def forward(self, z):
        x = self.fc(z).view(-1, 16, 4, 4)
        return torch.tanh(self.up3(self.up2(self.up1(x))))


class GatedBlock(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.conv = nn.Conv1d(w, 2 * w, 3, padding=2, dilation=2)
        self.skip = nn.Conv1d(w, w, 1)
        self.out = nn.Conv1d(w, w, 1)

    def forward(self, x):
        a, b = self.conv(x).chunk(2, dim=1)
        h = torch.tanh(a) * torch.sigmoid(b)
        return x + self.out(h), self.skip(h)


class WaveNet(nn.Module):
    """Gated convolutions, skips summed outside, GLU."""

    def __init__(self, w=8):
        super().__init__()
        self.inp = nn.Conv1d(1, w, 1)
        self.blocks = nn.ModuleList(GatedBlock(w) for _ in range(3))
        self.post = nn.Sequential(nn.ReLU(), nn.Conv1d(w, 2 * w, 1), nn.GLU(1), nn.Conv1d(w, 4, 1))

    def forward(self, wave):
        x, skips = self.inp(wave.unsqueeze(1)), 0
        for block in self.blocks:
            x, s = block(x)
            skips = skips + s
        return self.post(skips).log_softmax(1)


class Seq2Seq(nn.Module):
    """nn.Transformer whole, tied embedding, GRU after it."""

    def __init__(self, w=16):
        super().__init__()
        self.embed = nn.Embedding(40, w)
        self.position = nn.Parameter(torch.randn(1, 12, w))
        self.core = nn.Transformer(w, 2, 2, 2, 32, batch_first=True)
        self.rnn = nn.GRU(w, w, batch_first=True)
        self.head = nn.Linear(w, 40, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, src, tgt):
        s = self.embed(src) * 4.0 + self.position[:, : src.shape[1]]
        t = self.embed(tgt) * 4.0 + self.position[:, : tgt.shape[1]]
        mask = torch.triu(torch.full((tgt.shape[1], tgt.shape[1]), float("-inf")), 1)
        y, _ = self.rnn(self.core(s, t, tgt_mask=mask, tgt_is_causal=True))
        return self.head(y)


class EinsumAttention(nn.Module):
    def __init__(self, w, heads):
        super().__init__()
        self.wq = nn.Parameter(torch.randn(w, heads, w // heads) * 0.1)
        self.wk = nn.Parameter(torch.randn(w, heads, w // heads) * 0.1)
        self.wv = nn.Parameter(torch.randn(w, heads, w // heads) * 0.1)
        self.wo = nn.Parameter(torch.randn(heads, w // heads, w) * 0.1)

    def forward(self, x):
        q = torch.einsum("btd,dhk->bhtk", x, self.wq)
        k = torch.einsum("btd,dhk->bhtk", x, self.wk)
        v = torch.einsum("btd,dhk->bhtk", x, self.wv)
        a = torch.softmax(torch.einsum("bhtk,bhsk->bhts", q, k) / q.shape[-1] ** 0.5, -1)
        return torch.einsum("bhtk,hkd->btd", torch.einsum("bhts,bhsk->bhtk", a, v), self.wo)


class SwiGLU(nn.Module):
    def __init__(self, w, h):
        super().__init__()
        self.w1, self.w2, self.w3 = (
            nn.Linear(w, h, False),
            nn.Linear(h, w, False),
            nn.Linear(w, h, False),
        )

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class RMS(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.g = nn.Parameter(torch.ones(w))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.g


class EinsumBlock(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        self.n1, self.n2 = RMS(w), RMS(w)
        self.attn, self.mlp = EinsumAttention(w, 2), SwiGLU(w, 24)

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        return x + self.mlp(self.n2(x))


class EinsumNet(nn.Module):
    """Einsum attention with bare parameters, a block that runs twice, ParameterList."""

    def __init__(self, w=16):
        super().__init__()
        self.blocks = nn.ModuleList(EinsumBlock(w) for _ in range(2))
        self.scales = nn.ParameterList(nn.Parameter(torch.ones(w)) for _ in range(2))
        self.final = RMS(w)

    def forward(self, x):
        for _ in range(2):
            for block, scale in zip(self.blocks, self.scales):
                x = block(x) * scale
        return self.final(x)


class Mlp(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(w, 2 * w), nn.GELU(), nn.Linear(2 * w, w))

    def forward(self, x):
        return self.net(x)


class Bidirectional(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.rnn = nn.LSTM(w, w // 2, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(w)

    def forward(self, x):
        return self.norm(x + self.rnn(x)[0])


class Tagger(nn.Module):
    """Character convolutions, stacked LSTM blocks of one kind, MultiheadAttention, a bilinear head."""

    def __init__(self, w=16):
        super().__init__()
        self.chars = nn.Embedding(60, w)
        self.convs = nn.ModuleDict({f"k{k}": nn.Conv1d(w, w, k, padding=k // 2) for k in (1, 3, 5)})
        self.mix = nn.Linear(3 * w, w)
        self.encoder = nn.Sequential(Bidirectional(w), Bidirectional(w))
        self.attend = nn.MultiheadAttention(w, 2, batch_first=True)
        self.bilinear = nn.Bilinear(w, w, 3)

    def forward(self, ids):
        x = self.chars(ids).transpose(1, 2)
        x = torch.cat([F.relu(c(x)) for c in self.convs.values()], 1).transpose(1, 2)
        x = self.encoder(self.mix(x))
        y, _ = self.attend(x, x, x, need_weights=False)
        return self.bilinear(x, y)


class Cross(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.line = nn.Linear(w, w)

    def forward(self, x0, x):
        return x0 * self.line(x) + x


class Recommender(nn.Module):
    """Embeddings of categories, cross layers, two towers of Linear and BatchNorm1d."""

    def __init__(self, w=8):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, w) for n in (10, 20, 30))
        self.bag = nn.EmbeddingBag(50, w, mode="mean")
        self.cross = nn.ModuleList(Cross(4 * w) for _ in range(2))
        self.deep = nn.Sequential(
            nn.Linear(4 * w, 16),
            nn.BatchNorm1d(16),
            nn.ReLU(),
            nn.Linear(16, 16),
            nn.BatchNorm1d(16),
            nn.ReLU(),
        )
        self.out = nn.Linear(4 * w + 16, 1)

    def forward(self, cats, bag):
        parts = [t(cats[:, i]) for i, t in enumerate(self.tables)]
        x0 = x = torch.cat([*parts, self.bag(bag)], 1)
        for c in self.cross:
            x = c(x0, x)
        return torch.sigmoid(self.out(torch.cat([x, self.deep(x0)], 1)))


class Head(nn.Module):
    def __init__(self, w, out):
        super().__init__()
        self.tower = nn.Sequential(nn.Conv2d(w, w, 3, padding=1), nn.GroupNorm(2, w), nn.ReLU())
        self.pred = nn.Conv2d(w, out, 3, padding=1)

    def forward(self, x):
        return self.pred(self.tower(x))


class Pyramid(nn.Module):
    def __init__(self, widths, w):
        super().__init__()
        self.lateral = nn.ModuleList(nn.Conv2d(a, w, 1) for a in widths)
        self.smooth = nn.ModuleList(nn.Conv2d(w, w, 3, padding=1) for _ in widths)

    def forward(self, xs):
        xs = [side(x) for side, x in zip(self.lateral, xs)]
        for i in range(len(xs) - 1, 0, -1):
            xs[i - 1] = xs[i - 1] + F.interpolate(xs[i], size=xs[i - 1].shape[-2:], mode="nearest")
        return [s(x) for s, x in zip(self.smooth, xs)]


class Res(nn.Module):
    def __init__(self, a, b, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(a, b, 3, stride, 1, bias=False),
            nn.BatchNorm2d(b),
            nn.ReLU(inplace=True),
            nn.Conv2d(b, b, 3, 1, 1, groups=2, bias=False),
            nn.BatchNorm2d(b),
        )
        self.short = (
            nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b))
            if a != b
            else nn.Identity()
        )
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.body(x) + self.short(x))


class Detector(nn.Module):
    """Backbone, feature pyramid, one head that runs on every level."""

    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleDict({"c3": Res(3, 8, 2), "c4": Res(8, 16, 2), "c5": Res(16, 32, 2)})
        self.neck = Pyramid((8, 16, 32), 8)
        self.cls, self.box = Head(8, 6), Head(8, 4)

    def forward(self, image):
        xs, x = [], image
        for stage in self.stages.values():
            x = stage(x)
            xs.append(x)
        xs = self.neck(xs)
        scores = torch.cat([self.cls(x).flatten(2) for x in xs], 2).permute(0, 2, 1).sigmoid()
        boxes = torch.cat([self.box(x).flatten(2) for x in xs], 2).permute(0, 2, 1).exp()
        return scores, boxes


@torch.jit.script
def steps(x: torch.Tensor, n: int):
    for _ in range(n):
        if bool(x.sum() > 10.0):
            x = x / 2
        else:
            x = x + 1
    return x


class Loop(nn.Module):
    """Control flow in a scripted function, spectral_norm."""

    def __init__(self, w=16):
        super().__init__()
        self.line = torch.nn.utils.spectral_norm(nn.Linear(w, w))
        self.after = Mlp(w)

    def forward(self, x):
        return self.after(steps(self.line(x), 3)) + x


class VAE(nn.Module):
    """Encoder and decoder, chunks, clamps, exps outside; Conv3d."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv3d(1, 4, 3, 2, 1),
            nn.BatchNorm3d(4),
            nn.ELU(),
            nn.Conv3d(4, 8, 3, 2, 1),
            nn.Softplus(),
            nn.Flatten(),
            nn.Linear(64, 12),
        )
        self.decoder = nn.Sequential(
            nn.Linear(6, 64),
            nn.Unflatten(1, (8, 2, 2, 2)),
            nn.ConvTranspose3d(8, 4, 4, 2, 1),
            nn.BatchNorm3d(4),
            nn.Hardswish(),
            nn.ConvTranspose3d(4, 1, 4, 2, 1),
            nn.Sigmoid(),
        )

    def forward(self, volume):
        mean, spread = self.encoder(volume).chunk(2, 1)
        return self.decoder(mean + torch.exp(spread.clamp(-5, 5) / 2) * 0.1), mean


class Attn(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.mha = nn.MultiheadAttention(w, 2, batch_first=True)
        self.norm = nn.LayerNorm(w)

    def forward(self, q, kv):
        return self.norm(q + self.mha(q, kv, kv)[0])


class QFormer(nn.Module):
    """Learned queries, cross attention, the same layer run several times."""

    def __init__(self, w=16):
        super().__init__()
        self.queries = nn.Parameter(torch.randn(1, 4, w))
        self.cross = Attn(w)
        self.self_ = nn.ModuleList(Attn(w) for _ in range(2))
        self.ff = nn.Sequential(nn.Linear(w, 32), nn.GELU(), nn.Linear(32, w))

    def forward(self, x):
        q = self.queries.expand(x.shape[0], -1, -1)
        for layer in self.self_:
            q = self.cross(q, x)
            q = layer(q, q)
            q = q + self.ff(q)
        return F.normalize(q.mean(1), dim=-1)


class Cell(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.ih, self.hh = nn.Linear(w, 3 * w), nn.Linear(w, 3 * w, bias=False)

    def forward(self, x, h):
        i, g = self.ih(x).chunk(3, -1), self.hh(h).chunk(3, -1)
        r, z = torch.sigmoid(i[0] + g[0]), torch.sigmoid(i[1] + g[1])
        return (1 - z) * torch.tanh(i[2] + r * g[2]) + z * h


class Unrolled(nn.Module):
    """A cell that runs once for every time step."""

    def __init__(self, w=8):
        super().__init__()
        self.cell, self.init, self.out = Cell(w), nn.Parameter(torch.zeros(1, w)), nn.Linear(w, 2)

    def forward(self, x):
        h = self.init.expand(x.shape[0], -1)
        hs = []
        for t in range(5):
            h = self.cell(x[:, t], h)
            hs.append(h)
        return self.out(torch.stack(hs, 1))


class ResUp(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2)
        self.c1, self.c2 = nn.Conv1d(a, b, 3, padding=1), nn.Conv1d(b, b, 3, padding=1)
        self.n1, self.n2 = nn.GroupNorm(2, a), nn.GroupNorm(2, b)
        self.time = nn.Linear(8, b)
        self.skip = nn.Conv1d(a, b, 1)

    def forward(self, x, t):
        h = self.c1(self.up(F.silu(self.n1(x)))) + self.time(F.silu(t))[:, :, None]
        return self.c2(F.silu(self.n2(h))) + self.skip(self.up(x))


class Diffusion(nn.Module):
    """Sinusoids of a step, injected into every block."""

    def __init__(self):
        super().__init__()
        self.inp, self.time = (
            nn.Conv1d(2, 8, 3, padding=1),
            nn.Sequential(nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 8)),
        )
        self.blocks = nn.ModuleList([ResUp(8, 8), ResUp(8, 4)])
        self.out = nn.Sequential(nn.GroupNorm(2, 4), nn.SiLU(), nn.Conv1d(4, 2, 3, padding=1))

    def forward(self, x, step):
        f = torch.exp(torch.arange(4) * -2.0)
        a = step[:, None] * f[None]
        t = self.time(torch.cat([a.sin(), a.cos()], -1))
        x = self.inp(x)
        for b in self.blocks:
            x = b(x, t)
        return self.out(x)


class Graph(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.msg, self.upd, self.norm = nn.Linear(2 * w, w), nn.GRUCell(w, w), nn.LayerNorm(w)

    def forward(self, x, adj):
        n = x.shape[1]
        pair = torch.cat(
            [x.unsqueeze(2).expand(-1, -1, n, -1), x.unsqueeze(1).expand(-1, n, -1, -1)], -1
        )
        m = (F.relu(self.msg(pair)) * adj.unsqueeze(-1)).sum(2)
        return self.norm(
            self.upd(m.reshape(-1, m.shape[-1]), x.reshape(-1, x.shape[-1])).view_as(x)
        )


class GraphNet(nn.Module):
    """Message passing with GRUCell, masks, log-sum-exp pooling."""

    def __init__(self, w=8):
        super().__init__()
        self.embed, self.layers, self.read = (
            nn.Linear(4, w),
            nn.ModuleList(Graph(w) for _ in range(2)),
            nn.Linear(w, 1),
        )

    def forward(self, nodes, adj):
        x = self.embed(nodes)
        for layer in self.layers:
            x = layer(x, adj)
        return torch.logsumexp(self.read(x), 1)


def _x(*shape, name="x"):
    return lambda: {name: torch.randn(*shape)}


def _im(n=32):
    return _x(1, 3, n, n, name="image")


NETS = {
    "inverted_residual": (MBNet, _im()),
    "dense_cnn": (DenseNet, _im()),
    "generator": (Generator, _x(1, 12, name="z")),
    "gated_conv": (WaveNet, _x(1, 40, name="wave")),
    "nn_transformer": (
        Seq2Seq,
        lambda: dict(src=torch.randint(0, 40, (1, 9)), tgt=torch.randint(0, 40, (1, 6))),
    ),
    "einsum": (EinsumNet, _x(1, 6, 16)),
    "tagger": (Tagger, lambda: dict(ids=torch.randint(0, 60, (1, 11)))),
    "recommender": (
        Recommender,
        lambda: dict(cats=torch.randint(0, 10, (2, 3)), bag=torch.randint(0, 50, (2, 5))),
    ),
    "detector": (Detector, _im(64)),
    "scripted_loop": (Loop, _x(1, 6, 16)),
    "autoencoder": (VAE, _x(1, 1, 8, 8, 8, name="volume")),
    "learned_queries": (QFormer, lambda: {"x": torch.randn(1, 6, 16)}),
    "unrolled": (Unrolled, lambda: {"x": torch.randn(1, 5, 8)}),
    "diffusion": (Diffusion, lambda: {"x": torch.randn(1, 2, 12), "step": torch.rand(1)}),
    "graph_net": (
        GraphNet,
        lambda: {"nodes": torch.randn(1, 5, 4), "adj": torch.rand(1, 5, 5).round()},
    ),
}
