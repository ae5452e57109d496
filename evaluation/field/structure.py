"""How modules and parameters are arranged."""

from __future__ import annotations

import torch
from torch import nn

from .registry import Block, case, drawn, tokens


class Containers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.ModuleList([Block(), Block()]), nn.ModuleList([Block()])])
        self.named = nn.ModuleDict({"x": Block(), "y-z": Block()})

    def forward(self, x):
        for group in self.layers:
            for layer in group:
                x = layer(x)
        return self.named["x"](x) + self.named["y-z"](x)


def _containers_known(tagged, exporter):
    missing = [p for p in ("layers", "layers.0", "named") if p not in tagged.modules]
    return [f"containers are not in the tree: {missing}"] if missing else []


@case("ModuleLists in a ModuleList, a ModuleDict", check=_containers_known)
def containers():
    return Containers(), drawn((2, 8))


@case("Sequentials of Sequentials")
def sequentials():
    inner = [
        nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Sequential(Block(), nn.Tanh()))
        for _ in range(2)
    ]
    return nn.Sequential(*inner, nn.Linear(8, 2)), drawn((2, 8))


class Inside(nn.Module):
    """The same class nested in itself."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.inner = Inside(depth - 1) if depth else None

    def forward(self, x):
        h = torch.tanh(self.lin(x))
        return h + self.inner(h) if self.inner is not None else h


@case("a class nested in itself")
def nested_class():
    return Inside(3), drawn((2, 8))


@case("forty modules deep")
def deep_nesting():
    return Inside(40), drawn((2, 8))


class Layer(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, width))

    def forward(self, x, mask):
        h = self.norm(x)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(x)


class Deep(nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(layers))

    def forward(self, x):
        length = x.shape[1]
        mask = torch.full((length, length), float("-inf")).triu(1)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@case("24 layers with a mask that all share")
def layers_24():
    return Deep(24), drawn((1, 4, 8))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(64, 8)
        self.body = Block()
        self.head = nn.Linear(8, 64, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.body(self.embed(ids)))


@case("embedding and head share their weight")
def tied_weights():
    return Tied(), lambda: ((tokens(),), {})


class Reused(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.post = nn.Conv2d(3, 4, 1)

    def forward(self, x):
        big = self.conv(x)
        small = self.conv(torch.nn.functional.avg_pool2d(big, 2))
        tiny = self.conv(torch.nn.functional.avg_pool2d(small, 2))
        return [self.post(level) for level in (big, small, tiny)]


@case("one module called with several shapes")
def several_shapes():
    return Reused(), drawn((1, 3, 8, 8))


class Bare(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scales = nn.ParameterList(nn.Parameter(torch.randn(8)) for _ in range(2))
        self.mats = nn.ParameterDict({"in": torch.randn(8, 8), "out": torch.randn(8, 4)})
        self.block = Block()

    def forward(self, x):
        x = x * self.scales[0] + self.scales[1]
        return self.block(x @ self.mats["in"]) @ self.mats["out"]


@case("parameters in a ParameterList and a ParameterDict")
def parameter_containers():
    return Bare(), drawn((2, 8))


class Positions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        steps = torch.arange(16)[:, None] / 10000 ** (torch.arange(0, 8, 2) / 8)
        self.register_buffer("table", torch.cat([steps.sin(), steps.cos()], 1), persistent=False)

    def forward(self, x):
        return x + self.table[: x.shape[1]]


class WithPositions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.positions, self.body = Positions(), Block()

    def forward(self, x):
        return self.body(self.positions(x))


@case("sine tables in a buffer that is not saved")
def non_persistent_buffer():
    return WithPositions(), drawn((1, 5, 8))


class NeverRuns(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = Block(), Block(8, 16)
        self.later = nn.ModuleList([Block()])

    def forward(self, x):
        return self.used(x)


@case("submodules that never run")
def never_runs():
    return NeverRuns(), drawn((2, 8))


class Borrowing(nn.Module):
    """Reads parameters of modules that it does not call."""

    def __init__(self) -> None:
        super().__init__()
        self.store = nn.Linear(8, 8)
        self.block = Block()

    def forward(self, x):
        h = torch.nn.functional.linear(x, self.store.weight, self.store.bias)
        return self.block(h) @ self.store.weight


@case("parameters of a module that is never called")
def borrowed_parameters():
    return Borrowing(), drawn((2, 8))


class Unregistered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = [Block()]  # a plain list: no submodule, its parameters are nobody's
        self.table = torch.randn(8)
        self.block = Block()

    def forward(self, x):
        return self.hidden[0](self.block(x)) * self.table


@case("a module in a plain list, a tensor as plain attribute")
def unregistered():
    return Unregistered(), drawn((2, 8))


class Model(nn.Module):
    """A module of the user whose class is named like one of PyTorch."""

    def __init__(self) -> None:
        super().__init__()
        self.Linear = Linear()
        self.model = nn.Linear(8, 8)

    def forward(self, x):
        return self.model(self.Linear(x))


class Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        return x @ self.weight


@case("a class named Linear that is not PyTorch's")
def own_linear():
    return Model(), drawn((2, 8))


@case("six equal layers with equal weights", as_built=True)
def equal_layers():
    layer = nn.Linear(8, 8)
    layers = [nn.Linear(8, 8) for _ in range(6)]
    for other in layers:
        other.load_state_dict(layer.state_dict())
    return nn.Sequential(*layers), drawn((2, 8))


@case("weights in a file of their own", external=True)
def external_weights():
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), Block(64)), drawn((2, 32))


class Root(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        return torch.relu(x @ self.weight)


@case("a model without submodules")
def no_submodules():
    return Root(), drawn((2, 8))


class NoParameters(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pool, self.act = nn.AvgPool2d(2), nn.Softmax(1)

    def forward(self, x):
        return self.act(self.pool(x)).flatten(1)


@case("a model without parameters")
def no_parameters():
    return NoParameters(), drawn((1, 3, 8, 8))
