"""What happens to the model and its example call before an exporter sees them."""

import collections
import dataclasses

import pytest
import torch

import htp
from htp import capture
from htp.shapes import for_torchscript


def no_warning(text):
    raise AssertionError(text)


def call_of(model, args, kwargs=None, warn=no_warning):
    return capture.Call(model, args, kwargs or {}, warn)


class Keywords(torch.nn.Module):
    """Keyword-only arguments, in a different order than in the call, a constant, and a dict as output."""

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)

    def forward(self, *, first, second=None, scale=1.0, flag=False):
        assert flag is True
        return {"sum": self.fc(first) + second * scale, "pair": (first, None)}


def call_of_keywords(warn=lambda text: None):
    model = Keywords()
    inputs = {"second": torch.ones(4), "first": torch.zeros(1, 4), "scale": 3.0, "flag": True}
    return model, call_of(model, (), inputs, warn)


def test_a_number_that_is_kept_is_said():
    told = []
    call_of_keywords(told.append)
    assert told == ["the argument 'scale' is not a tensor: the exported model keeps 3.0"]


def test_positional_forward():
    model, call = call_of_keywords()
    assert call.input_names == ["second", "first"]
    want = model(first=torch.ones(1, 4), second=torch.ones(4), scale=3.0, flag=True)["sum"]
    with call.flat():
        total, first = model(torch.ones(4), torch.ones(1, 4))
    assert torch.equal(total, want)
    assert call.output_names == ["sum", "pair_0"]
    assert "forward" not in vars(model)


def test_nested_arguments_have_names():
    class Nested(torch.nn.Module):
        def forward(self, a, states, *rest):
            return a

    one = torch.ones(1)
    call = call_of(Nested(), (one, {"h": [one, one]}, one), {})
    assert call.input_names == ["a", "states_h_0", "states_h_1", "rest_0"]


def test_outputs_of_unknown_containers():
    @dataclasses.dataclass
    class Result:
        logits: torch.Tensor
        extra: dict

    class Odd(torch.nn.Module):
        def forward(self, x):
            return Result(x, collections.UserDict(inner=x + 1))

    call = call_of(Odd(), (torch.ones(2),), {})
    with call.flat():
        assert len(call.model(torch.ones(2))) == 1 or call.output_names
    assert "logits" in call.output_names


def test_a_call_that_does_not_fit():
    with pytest.raises(htp.BadInput, match="do not fit the model's forward.*'nonsense'"):
        call_of(Keywords(), (), {"first": torch.ones(1), "nonsense": torch.ones(1)})
    with pytest.raises(htp.BadInput, match="no tensor"):
        call_of(Keywords(), (), {"first": 1})


class Messy(torch.nn.Module):
    """Changes everything that a forward pass can change."""

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)
        self.drop = torch.nn.Dropout()
        self.register_buffer("count", torch.zeros(1))
        self.seen = []

    def forward(self, x):
        self.count += 1
        self.seen.append(x)
        self.cache = x
        self.register_buffer("late", x)
        self.fc.register_forward_hook(lambda *_: None)
        return self.drop(self.fc(x))


def state(model):
    return [
        {k: (id(v), list(v) if isinstance(v, dict | list) else None) for k, v in vars(m).items()}
        for m in model.modules()
    ], {k: v.clone() for k, v in model.state_dict().items()}


@pytest.mark.parametrize("fails", [False, True])
def test_untouched(fails):
    model = Messy()
    model.fc.eval()  # a mode of its own
    before, contents = state(model)
    random = torch.get_rng_state()
    try:
        with capture.untouched(model, (), no_warning):
            assert not model.training
            model(torch.rand(2))
            if fails:
                raise RuntimeError
    except RuntimeError:
        assert fails
    after, now = state(model)
    assert after == before
    assert all(torch.equal(contents[k], now[k]) for k in contents) and len(now) == len(contents)
    assert model.training and not model.fc.training
    assert torch.equal(random, torch.get_rng_state())


@pytest.mark.parametrize(
    ("shapes", "axes"),
    [
        (None, None),
        ({"first": {0: "batch"}}, {"first": {0: "batch"}}),
        ({"first": (torch.export.Dim("b"), None)}, {"first": {0: "b"}}),
        ({"first": {0: torch.export.Dim.AUTO}, "second": None}, {"first": {0: "first_0"}}),
    ],
)
def test_dynamic_axes(shapes, axes):
    _, call = call_of_keywords()
    assert for_torchscript(capture.dims_of(call, shapes, None)) == axes


def test_dynamic_shapes_of_no_input():
    _, call = call_of_keywords()
    with pytest.raises(htp.BadInput, match="has 'third', but the inputs are"):
        capture.dims_of(call, {"third": {0: "n"}}, None)
