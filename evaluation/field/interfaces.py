"""What a forward can take and return."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple
from typing import Any

import torch
from torch import nn

from .registry import BOTH, Block, case, drawn, tokens


@case("a single tensor instead of a tuple of arguments")
def bare_tensor():
    return Block(4), lambda: (torch.randn(1, 4), {})


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = Block(), Block()

    def forward(self, batch, extra=None):
        a = self.left(batch["a"]["x"])
        b = self.right(batch["b"][0]) + batch["b"][1]
        return {"sum": a + b, "parts": (a, [b, None]), "none": extra}


@case("nested dicts, tuples and None as input and output")
def nested_values():
    def inputs():
        batch = {"a": {"x": torch.randn(2, 8)}, "b": (torch.randn(2, 8), torch.randn(2, 8))}
        return (batch,), {"extra": None}

    return Nested(), inputs


@dataclasses.dataclass
class Result:
    hidden: torch.Tensor
    pooled: torch.Tensor | None = None
    label: str = "plain"


class DataclassNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.pool = Block(), Block()

    def forward(self, x):
        hidden = self.body(x)
        return Result(hidden, self.pool(hidden).mean(1))


@case("a dataclass that PyTorch's pytree does not know as output", demanded=BOTH)
def dataclass_output():
    return DataclassNet(), drawn((2, 3, 8))


Pair = namedtuple("Pair", ["first", "second"])


class NamedtupleNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = Block(), Block()

    def forward(self, pair):
        return Pair(self.a(pair.first), second=Pair(self.b(pair.second), pair.first + pair.second))


@case("namedtuples as input and output")
def namedtuple_values():
    return NamedtupleNet(), lambda: ((Pair(torch.randn(2, 8), torch.randn(2, 8)),), {})


class DictOutput(OrderedDict):
    """Like the output classes of transformers and diffusers: a dict with attributes, unknown to pytree."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def to_tuple(self):
        return tuple(self.values())


class FrozenDict(OrderedDict):
    """Like diffusers' configuration: it raises on every change, and has its entries as attributes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for key, value in self.items():
            setattr(self, key, value)
        self.__frozen = True

    def update(self, *args: Any, **kwargs: Any) -> None:
        raise Exception("You cannot use ``update`` on a FrozenDict instance.")

    def pop(self, *args: Any, **kwargs: Any) -> Any:
        raise Exception("You cannot use ``pop`` on a FrozenDict instance.")

    def __setitem__(self, name: str, value: Any) -> None:
        if hasattr(self, "_FrozenDict__frozen") and self.__frozen:
            raise Exception("You cannot use ``__setitem__`` on a FrozenDict instance.")
        super().__setitem__(name, value)


class Unet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self._internal_dict = FrozenDict(
            [
                ("sample_size", 8),
                ("block_out_channels", (8, 16)),
                ("act_fn", "silu"),
                ("nested", {"a": [1, 2]}),
            ]
        )
        self.down = nn.Conv2d(2, 8, 3, stride=2, padding=1)
        self.mid = nn.Conv2d(8, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 2, 2, stride=2)

    @property
    def config(self):
        return self._internal_dict

    def forward(self, sample, timestep, return_dict: bool = True):
        h = torch.nn.functional.silu(self.down(sample)) * torch.sin(timestep).view(-1, 1, 1, 1)
        out = self.up(self.mid(h))
        return DictOutput(sample=out) if return_dict else (out,)


@case("a frozen dict as configuration, an output class unknown to pytree", demanded=BOTH)
def frozen_config():
    return Unet(), lambda: ((torch.randn(1, 2, 8, 8), torch.rand(1)), {})


class IntKeys(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.levels = nn.ModuleList(Block() for _ in range(3))

    def forward(self, x):
        found = {}
        for i, level in enumerate(self.levels):
            x = level(x)
            found[2**i] = x
        return found


@case("a dict with integers as keys as output")
def int_keys():
    return IntKeys(), drawn((2, 8))


class KeywordOnly(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = Block(), Block()

    def forward(self, *, query, key, scale: float = 0.5):
        return self.q(query) @ self.k(key).transpose(-1, -2) * scale


@case("a forward with keyword-only arguments, given in another order")
def keyword_only():
    return KeywordOnly(), lambda: ((), {"key": torch.randn(1, 5, 8), "query": torch.randn(1, 3, 8)})


class Variadic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.each, self.last = Block(), Block()

    def forward(self, *tensors, **named):
        return self.last(sum(self.each(t) for t in tensors)) + named["bias"]


@case("a forward with *args and **kwargs")
def variadic():
    return Variadic(), lambda: (
        (torch.randn(2, 8), torch.randn(2, 8), torch.randn(2, 8)),
        {"bias": torch.randn(8)},
    )


class Defaults(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = Block(), Block()

    def forward(self, x, mask=None, y=None, gain: float = 2.0):
        out = self.a(x) * gain
        if y is not None:
            out = out + self.b(y)
        return out if mask is None else out * mask


@case("default arguments, one in the middle left out")
def default_arguments():
    return Defaults(), lambda: ((torch.randn(2, 8),), {"y": torch.randn(2, 8)})


class Scalars(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = Block(), Block()

    def forward(self, x, steps: int, negate: bool, gain: float, mode: str = "a"):
        for _ in range(steps):
            x = self.a(x) if mode == "a" else self.b(x)
        x = x * gain
        return -x if negate else x


@case("an int, a bool, a float and a str as arguments")
def python_scalars():
    return Scalars(), lambda: ((torch.randn(2, 8), 2, True, 0.25), {"mode": "a"})


class Inplace(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()

    def forward(self, x):
        x = x.mul_(2.0)
        x.add_(self.block(x))
        return x


@case("in-place operations on the input")
def inplace_on_input():
    return Inplace(), drawn((2, 8))


class Aliases(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()

    def forward(self, x, y):
        h = self.block(x)
        return x, h, y.view(4, 4), h.view(-1), h


@case("outputs that are inputs, views, and twice the same tensor")
def aliasing_outputs():
    return Aliases(), drawn((2, 8), (2, 8))


class Unused(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()

    def forward(self, x, never, z):
        return self.block(x) + z


@case("an input that is never read")
def unused_input():
    return Unused(), drawn((2, 8), (2, 3), (2, 8))


@case("inputs that require a gradient")
def gradient_inputs():
    return Block(), lambda: ((torch.randn(2, 8, requires_grad=True),), {})


class InferenceNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        with torch.inference_mode():
            self.register_buffer("table", torch.randn(8))
        self.block = Block()

    def forward(self, x):
        return self.block(x) * self.table


@case("inference tensors as buffer and input")
def inference_tensors():
    def inputs():
        with torch.inference_mode():
            return (torch.randn(2, 8),), {}

    return InferenceNet(), inputs


class Outputs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(64, 8)
        self.heads = nn.ModuleDict({"cls": nn.Linear(8, 3), "box": nn.Linear(8, 4)})

    def forward(self, input_ids, attention_mask=None, labels=None):
        h = self.embed(input_ids)
        if attention_mask is not None:
            h = h * attention_mask[..., None]
        h = h.sum(1)
        return [head(h) for head in self.heads.values()], h.argmax(-1), (h > 0)


@case("integer and boolean inputs and outputs")
def integer_outputs():
    return Outputs(), lambda: (
        (tokens(),),
        {"attention_mask": torch.randint(0, 2, (1, 8)), "labels": None},
    )


class CustomCall(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Block()

    def __call__(self, x, scale: float = 1.0):
        return super().__call__(x * scale) + 1

    def forward(self, x):
        return self.inner(x)


class UsesCustomCall(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = CustomCall(), CustomCall()

    def forward(self, x):
        return self.b(self.a(x, scale=0.5))


@case("submodules with a __call__ of their own")
def custom_call():
    return UsesCustomCall(), drawn((2, 8))
