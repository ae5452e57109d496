"""Models that were modified or wrapped before they are exported."""

from __future__ import annotations

import warnings

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune
from torch.nn.utils import spectral_norm as old_spectral_norm

from .registry import Block, case, drawn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Block(), Block()
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.second(self.first(x)))


def _no_wrapper(tagged, exporter):
    """A wrapper is not a module of the user's model, so no tag or scope names it."""
    found = {n.tag for n in tagged.nodes.values() if n.tag and "OptimizedModule" in n.tag}
    found |= {n.scope for n in tagged.nodes.values() if n.scope and "_orig_mod" in n.scope}
    return [f"tags name the wrapper: {sorted(found)[:3]}"] if found else []


@case("torch.compile of the whole model", check=_no_wrapper)
def compiled_model():
    return torch.compile(Net()), drawn((2, 8))


class PartlyCompiled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = torch.compile(Block())
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))


@case("torch.compile of a submodule", check=_no_wrapper)
def compiled_submodule():
    return PartlyCompiled(), drawn((2, 8))


@case("DataParallel around the model")
def data_parallel():
    return nn.DataParallel(Net()), drawn((2, 8))


class PartlyScripted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before = Block()
        self.scripted = torch.jit.script(Block())
        self.after = Block()

    def forward(self, x):
        return self.after(self.scripted(self.before(x)))


@case("a scripted submodule, in training mode", train=True)
def scripted_submodule():
    return PartlyScripted(), drawn((2, 8))


class ScriptedLoop(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, steps: int) -> torch.Tensor:
        for _ in range(steps):
            x = torch.tanh(self.cell(x))
        return x


class AroundScript(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.loop = torch.jit.script(ScriptedLoop())
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.loop(x, 3))


@case("a scripted submodule with a loop")
def scripted_loop_inside():
    return AroundScript(), drawn((2, 8))


@torch.jit.script
def fused_gelu(x, bias):
    y = x + bias
    return y * 0.5 * (1.0 + torch.tanh(0.79788456 * y * (1 + 0.044715 * y * y)))


class ScriptedFunction(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 16, bias=False), nn.Linear(16, 8)
        self.bias = nn.Parameter(torch.randn(16))

    def forward(self, x):
        return self.down(fused_gelu(self.up(x), self.bias))


@case("a scripted function called from forward")
def scripted_function():
    return ScriptedFunction(), drawn((2, 8))


@case("the whole model is a ScriptModule")
def scripted_model():
    return torch.jit.script(Net()), drawn((2, 8))


@case("the whole model is traced")
def traced_model():
    return torch.jit.trace(Net().eval(), torch.ones(2, 8)), drawn((2, 8))


class EvenLazy(nn.LazyLinear):
    """Initialized to the same numbers whenever that happens, so that two builds can be compared."""

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features:
            with torch.no_grad():
                for parameter in (self.weight, self.bias):
                    parameter.copy_(
                        torch.linspace(-1, 1, parameter.numel()).reshape(parameter.shape)
                    )


class LazyNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = EvenLazy(6), EvenLazy(3)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


@case("lazy modules that never ran")
def lazy_modules():
    return LazyNet(), drawn((2, 8))


@case("lazy modules that ran once")
def lazy_modules_ran():
    model = LazyNet()
    model(torch.randn(2, 8))
    return model, drawn((2, 8))


@case("weight_norm in its old form")
def weight_norm_old():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        norm = nn.utils.weight_norm
        return nn.Sequential(norm(nn.Linear(8, 8)), nn.Tanh(), norm(nn.Linear(8, 4))), drawn((2, 8))


@case("weight_norm as a parametrization")
def weight_norm_new():
    norm = parametrizations.weight_norm
    return nn.Sequential(norm(nn.Conv1d(4, 8, 3)), nn.ReLU(), norm(nn.Conv1d(8, 4, 3))), drawn(
        (1, 4, 10)
    )


@case("spectral_norm in its old form", train=True)
def spectral_norm_old():
    return nn.Sequential(old_spectral_norm(nn.Linear(8, 8)), nn.Tanh(), nn.Linear(8, 4)), drawn(
        (2, 8)
    )


@case("spectral_norm as a parametrization")
def spectral_norm_new():
    norm = parametrizations.spectral_norm
    return nn.Sequential(norm(nn.Linear(8, 8)), nn.Tanh(), norm(nn.Linear(8, 4))), drawn((2, 8))


class Symmetric(nn.Module):
    def forward(self, weight):
        return weight.triu() + weight.triu(1).transpose(-1, -2)


@case("a parametrization of the user's own")
def own_parametrization():
    model = Net()
    parametrize.register_parametrization(model.first.lin, "weight", Symmetric())
    return model, drawn((2, 8))


@case("torch.ao dynamic quantization")
def quantized_dynamic():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(Net().eval(), {nn.Linear}), drawn((2, 8))


class FakeQuantized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = Net()
        self.fake = torch.ao.quantization.FakeQuantize(
            observer=torch.ao.quantization.MinMaxObserver, quant_min=0, quant_max=255
        )

    def forward(self, x):
        return self.body(self.fake(x))


@case("torch.ao fake quantization, calibrated")
def fake_quantized():
    model = FakeQuantized()
    model(torch.randn(16, 8))
    model.fake.disable_observer()
    return model, drawn((2, 8))


class Lora(nn.Module):
    """Like peft's wrapper of a layer: the base below, and two low-rank matrices in dicts by adapter name."""

    def __init__(self, base: nn.Linear, rank: int = 2) -> None:
        super().__init__()
        self.base_layer = base
        self.lora_A = nn.ModuleDict({"default": nn.Linear(base.in_features, rank, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(rank, base.out_features, bias=False)})
        self.scaling = {"default": 0.5}
        self.active_adapters = ["default"]

    def forward(self, x):
        out = self.base_layer(x)
        for name in self.active_adapters:
            out = out + self.lora_B[name](self.lora_A[name](x)) * self.scaling[name]
        return out


@case("LoRA adapters around linear layers")
def lora():
    model = Net()
    model.first.lin, model.head = Lora(model.first.lin), Lora(model.head)
    return model, drawn((2, 8))


def _both_names(tagged, exporter):
    first, also = ({n.name for n in tagged.nodes_in(p)} for p in ("cell", "also"))
    return (
        []
        if first and first == also
        else [f"nodes_in('cell') {len(first)}, nodes_in('also') {len(also)}"]
    )


class TwoNames(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = Block()
        self.also = self.cell
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.also(self.cell(x)))


@case("a module registered under two names", check=_both_names)
def two_names():
    return TwoNames(), drawn((2, 8))


class Odd(nn.Module):
    def __init__(self, names) -> None:
        super().__init__()
        self.names = names
        for name in names:
            self.add_module(name, Block())

    def forward(self, x):
        for name in self.names:
            x = getattr(self, name)(x)
        return x


@case("modules with spaces in their names")
def names_with_spaces():
    return Odd(["my block", "the head"]), drawn((2, 8))


@case("modules with unicode names")
def names_with_unicode():
    return Odd(["größe", "層", "naïve_π"]), drawn((2, 8))


@case("modules named like options, numbers and quotes")
def names_with_signs():
    return Odd(["a=b", "0", 'say "x"', "c/d", "e{f}", "trace", "1_2"]), drawn((2, 8))


class Hooked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = Block(), Block()
        self.a.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        self.b.register_forward_hook(lambda module, args, output: output + 1)
        self.register_forward_hook(lambda module, args, output: output * 3)

    def forward(self, x):
        return self.b(self.a(x))


@case("hooks that change what modules take and give")
def hooks():
    return Hooked(), drawn((2, 8))


@case("a forward that is replaced on the instance")
def replaced_forward():
    model = Net()
    own = model.forward
    model.forward = lambda x: own(x) * 2
    return model, drawn((2, 8))


class Delegating(nn.Module):
    """Like training wrappers: unknown attributes come from the wrapped model."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("inner"), name)

    def forward(self, x):
        return self.head(self.second(self.first(x)))


@case("__getattr__ that finds the submodules of a module inside")
def getattr_delegation():
    return Delegating(Net()), drawn((2, 8))


class Properties(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self._calls: list = []

    @property
    def last(self):
        return self.blocks[-1]

    @property
    def broken(self):
        raise RuntimeError("this property must not be read")

    def forward(self, x):
        self._calls.append(tuple(x.shape))
        return self.last(self.blocks[0](x))


@case("properties, one of which raises, and an attribute that forward grows")
def properties():
    return Properties(), drawn((2, 8))


@case("frozen parameters, some with gradients")
def frozen_parameters():
    model = Net()
    model.first.requires_grad_(False)
    model(torch.randn(2, 8)).sum().backward()
    return model, drawn((2, 8))


@case("pruned weights (torch.nn.utils.prune)")
def pruned():
    model = Net()
    prune.l1_unstructured(model.first.lin, "weight", amount=0.3)
    return model, drawn((2, 8))
