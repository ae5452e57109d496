"""Kinds of computations: types, control flow, state, PyTorch's own machinery inside forward."""

from __future__ import annotations

import torch
import torch.utils.checkpoint
from torch import nn

from .registry import Block, case, drawn


def _says_so(tagged, exporter):
    """The user must be told that only one branch is kept."""
    if exporter != "torchscript":
        return []
    said = [str(w) for w in getattr(tagged, "warnings", [])]
    return [] if said else ["a branch on a tensor's value was dropped without a warning"]


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = Block(), Block()

    def forward(self, x):
        return self.a(x) if x.sum() > 0 else self.b(x)


@case("an if on a tensor's value", check=_says_so)
def control_flow():
    return Branches(), lambda: ((torch.randn(2, 8).abs(),), {})


class Item(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = Block()

    def forward(self, x, n):
        count = int(n)
        for _ in range(count):
            x = self.a(x)
        return x


@case("a loop that runs as often as a tensor says", check=_says_so)
def loop_on_value():
    return Item(), lambda: ((torch.randn(2, 8), torch.tensor(2)), {})


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.l = nn.Linear(8, 8)  # noqa: E741

    def forward(self, x):
        return self.l(x)


class Cond(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = Inner(), Inner()

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda t: self.a(t), lambda t: self.b(t), (x,))


@case("torch.cond")
def torch_cond():
    return Cond(), drawn((2, 8))


class Autocast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
            return self.net(x)


class AroundAutocast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.m = Autocast()

    def forward(self, x):
        return self.m(x)


@case("torch.autocast that is switched off in forward")
def autocast_off():
    return AroundAutocast(), drawn((2, 8))


class AutocastHalf(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.m = Autocast()
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.float16):
            h = self.m.net[0](x)
        return self.head(self.m.net[2](torch.relu(h.float())))


@case("torch.autocast to float16 in forward", tolerance=2e-2)
def autocast_half():
    return AutocastHalf(), drawn((2, 8))


class NoGrad(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.teacher, self.student = Block(), Block()

    @torch.no_grad()
    def targets(self, x):
        return self.teacher(x).detach()

    def forward(self, x):
        return self.student(x) - self.targets(x)


@case("torch.no_grad and detach in forward")
def no_grad():
    return NoGrad(), drawn((2, 8))


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for layer in self.layers:
            x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
        return x


@case("torch.utils.checkpoint")
def checkpoint():
    return Checkpointed(), drawn((2, 8))


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        return torch.round(x * scale) / scale

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class CustomFunction(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = Block(), Block()

    def forward(self, x):
        return self.b(Straight.apply(self.a(x), 4.0))


@case("a custom autograd function")
def autograd_function():
    return CustomFunction(), drawn((2, 8))


class Running(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(8))
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return self.lin(x - self.mean)


@case("a buffer that forward writes")
def written_buffer():
    return Running(), drawn((4, 8))


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.block = Block()

    def forward(self, x):
        self.steps += 1
        return self.block(x) * self.steps


@case("a buffer that counts calls")
def counting_buffer():
    return Counting(), drawn((2, 8))


class Remembering(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.last = None
        self.block = Block()

    def forward(self, x):
        out = self.block(x)
        self.last = out.detach()
        return out


@case("a forward that keeps its result as an attribute")
def kept_result():
    return Remembering(), drawn((2, 8))


class Complex(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pre = Block()
        angles = torch.outer(torch.arange(5).float(), torch.tensor([1.0, 0.1, 0.01, 0.001]))
        self.register_buffer("freqs", torch.polar(torch.ones_like(angles), angles))
        self.post = Block()

    def forward(self, x):
        z = torch.view_as_complex(self.pre(x).reshape(1, 5, 4, 2)) * self.freqs
        return self.post(torch.view_as_real(z).flatten(2))


@case("complex numbers inside: rotary embedding by view_as_complex")
def complex_rotary():
    return Complex(), drawn((1, 5, 8))


class Spectrum(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pre, self.post = nn.Linear(16, 16), nn.Linear(9, 4)

    def forward(self, x):
        z = torch.view_as_real(torch.fft.rfft(self.pre(x)))
        return self.post(z.pow(2).sum(-1))


@case("a Fourier transform inside")
def fourier():
    return Spectrum(), drawn((1, 16))


@case("float16 weights", tolerance=2e-2)
def half_precision():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).half(), lambda: (
        (torch.randn(2, 8).half(),),
        {},
    )


@case("bfloat16 weights", tolerance=5e-2)
def bfloat16_precision():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).bfloat16(), lambda: (
        (torch.randn(2, 8).bfloat16(),),
        {},
    )


@case("float64 weights")
def double_precision():
    return Block().double(), lambda: ((torch.randn(2, 8, dtype=torch.float64),), {})


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(8, 8).half()
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.body(x.half()).float())


@case("float16 layers between float32 ones", tolerance=2e-2)
def mixed_precision():
    return Mixed(), drawn((2, 8))


class Dropping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.drop, self.b = Block(), nn.Dropout(0.5), Block()

    def forward(self, x):
        x = torch.nn.functional.dropout(self.a(x), 0.3, self.training)
        return self.b(self.drop(x))


@case("dropout, in evaluation mode")
def dropout():
    return Dropping(), drawn((2, 8))


@case("dropout, in training mode", train=True)
def training_mode():
    return Dropping(), drawn((2, 8))


@case("one part frozen in evaluation mode while the rest trains", train=True)
def mixed_modes():
    model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Conv1d(4, 2, 3))
    real = model.train

    def train(mode: bool = True):  # as people do who freeze a backbone
        real(mode)
        model[1].eval()
        return model

    model.train = train
    return model, drawn((1, 2, 10))
