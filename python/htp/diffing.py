"""Finds where two forms of a model diverge, by comparing what each module call produced in both.

One of them may have lost all names. Tags say which module call each node belongs to, so the values that leave a
module call are known in both graphs, and values at the same position among them correspond.
"""

from __future__ import annotations

import itertools
import math
import operator
import os
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from . import tagging
from .diff_graphs import Call, Graph, Pair, depth, label, pairs_of_graphs
from .errors import BadInput
from .exporting import load_capture
from .holding import StrPath, existing
from .onnxfile import has_functions, has_tags
from .running import for_the_other, packages, read_inputs
from .scratch import Scratch

if TYPE_CHECKING:
    from .diff_programs import Program

    _Side = Union[Graph, Program]

Progress = Callable[[str], None]
#: Noise, as a fraction of the signal, below which two values are taken to be the same in different layouts.
_SAME = 0.1
#: Rounding errors of float32: smaller errors never stand out.
_EXACT = 1e-6


@dataclass
class Comparison:
    """One value that both models have: a result of a module call."""

    module: str
    class_name: str
    call: int
    value: str  # its name in the first model
    other: str  # and in the second
    shape: tuple[int, ...]
    absolute: float  # the largest difference
    relative: float  # that, as a fraction of the first model's largest value
    cosine: float
    snr: float  # signal-to-noise ratio in dB; infinite if they are equal
    nonfinite: tuple[int, int]  # how many values are NaN or infinite in each
    noise: float  # the same ratio as a fraction: root of noise energy to signal energy
    gain: float = (
        1.0  # length of the second's value, projected on the first's, relative to the first's
    )
    added: float = 0.0  # noise if the module receives the first model's values
    shifted: float = 0.0  # how far the gain is from 1 in that case
    outlier: float = 0.0  # the larger ratio of these two to their medians over all values
    other_shape: tuple[int, ...] = ()  # of the second's value, which may have merged axes
    axes: tuple[int, ...] | None = None  # of the second's value, if it has another layout
    parts: bool = False  # whether it diverges
    holds: list[str] = field(default_factory=list)  # modules whose own values the second lacks

    def as_json(self) -> dict[str, Any]:
        """The fields; numbers that are not finite become null, because JSON has none."""
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in vars(self).items()
        }


@dataclass
class Difference:
    """All values that could be compared, in execution order; for one value, the innermost module first."""

    first_file: str
    second_file: str
    tolerance: float
    comparisons: list[Comparison] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # module calls whose values the second lacks
    pairs: list[Pair] = field(default_factory=list)  # all values that both have
    hint: str = ""  # about generated inputs

    @property
    def equal(self) -> bool:
        return not any(item.parts for item in self.comparisons)

    @property
    def first(self) -> Comparison | None:
        """The first module call that diverges."""
        return next((item for item in self.comparisons if item.parts), None)

    @property
    def worst(self) -> list[Comparison]:
        """One comparison per value (its innermost module's), largest own error relative to the median first."""
        seen: dict[str, Comparison] = {}
        for item in self.comparisons:
            seen.setdefault(item.value, item)
        return sorted(seen.values(), key=lambda item: (-item.outlier, -item.added))

    def as_json(self) -> dict[str, Any]:
        return {
            "format": "htp-diff",
            "version": 1,
            "first_file": self.first_file,
            "second_file": self.second_file,
            "tolerance": self.tolerance,
            "equal": self.equal,
            "first": self.first.as_json() if self.first else None,
            "worst": [item.as_json() for item in self.worst[:10]],
            "comparisons": [item.as_json() for item in self.comparisons],
            "missing": self.missing,
        }

    def value_map(self) -> dict[str, Any]:
        """Which value of one model corresponds to which of the other: docs/formats/value-map.md."""
        compared = {(item.module, item.call, item.value): item for item in self.comparisons}
        return {
            "format": "htp-value-map",
            "version": 1,
            "first_file": self.first_file,
            "second_file": self.second_file,
            "values": [
                {
                    "module": path,
                    "call": number,
                    "first": value,
                    "second": other,
                    "shape": list(item.shape) if item else None,
                    "compared": item is not None,
                }
                for (path, number), value, other in self.pairs
                for item in [compared.get((path, number, value))]
            ],
            "missing": self.missing,
        }


def diff(
    first: Any,
    second: Any,
    *,
    inputs: StrPath | Mapping[str, Any] | None = None,
    dims: Mapping[str, int] | None = None,
    tolerance: float = 1e-3,
    progress: Progress = lambda text: None,
) -> Difference:
    """Runs two forms of one model on the same inputs and compares what their module calls produced.

    Each is an ONNX file or a PyTorch model: a pair of an nn.Module and its inputs (a tuple or a dict), or
    what `htp export` takes, such as `model.py:build`. Of two ONNX files, at least one must be tagged; if the
    other has no tags, it is tagged with the first as its reference. An untagged ONNX file that is compared
    with a PyTorch model is tagged with that model's trace. A value diverges if its largest difference exceeds
    `tolerance` times the largest value, or if only one model has NaN or infinity. `inputs` and `dims` are as
    for `htp.profile`; a PyTorch model brings its own inputs.
    """
    if not tolerance >= 0:
        raise BadInput(f"the tolerance {tolerance} is not a valid error bound")
    _, numpy = packages("htp diff")
    with Scratch("htp-scratch-") as folder:
        progress(f"reading {_name(first)} and {_name(second)}")
        one, two = _opened(first, second, folder)
        result = Difference(str(one.path), str(two.path), tolerance)
        progress("running both")
        run = _run(one, two, inputs, dims)
        result.hint, result.missing, result.pairs = run.hint, run.missing, run.pairs
        for call, value, other in run.pairs:
            a, b = run.found.get(value), run.others.get(other)
            # A value that is stored as integers in only one of them has another meaning there.
            if a is None or b is None or _kind(a) != _kind(b):
                continue
            axes = _layout(a, b, numpy) if value != other else None
            alike = b if axes is None else b.transpose(axes)
            if _merges(a.shape, alike.shape):
                alike = alike.reshape(a.shape)
            if a.shape == alike.shape:
                item = _compared(call, one.class_name(call[0]), value, other, a, alike, numpy)
                item.other_shape, item.axes = b.shape, axes
                item.parts = _is_beyond(item, tolerance)
                result.comparisons.append(item)
        compared = {(item.module, item.call) for item in result.comparisons}
        for call in dict.fromkeys(call for call, _, _ in run.pairs if call not in compared):
            result.missing.append(label(call, one.is_called_often(call[0])))
        if not result.comparisons:
            raise BadInput(
                f"{one.path} and {two.path} have nothing in common: no value has the same shape in both"
            )
        result.comparisons.sort(
            key=lambda item: (one.place(item.value), item.value, -depth(item.module))
        )
        _add_held(one, two, result.comparisons)
        _add_own_errors(two, result.comparisons, run, numpy)
    return result


def is_program(model: Any) -> bool:
    """Whether `model` is a PyTorch model, or names one."""
    if isinstance(model, tuple):
        return True
    text = os.fspath(model)
    return (
        ":" in text
        and not os.path.exists(text)
        or text.endswith(".py")
        or os.path.isdir(text)
        and os.path.exists(os.path.join(text, "config.json"))
    )


def _name(model: Any) -> str:
    return type(model[0]).__name__ if isinstance(model, tuple) else os.fspath(model)


def _opened(first: Any, second: Any, folder: Path) -> tuple[_Side, _Side]:
    """Opens both models. One without tags is tagged with the help of the other."""
    given = [first, second]
    sides: list[Any] = [
        open_program(model, "htp diff") if is_program(model) else None for model in given
    ]
    paths = [existing(model) if side is None else None for model, side in zip(given, sides)]
    tagged = [path is not None and has_tags(path) for path in paths]
    for path in paths:
        if path is not None and has_functions(path):
            raise BadInput(
                f"{path} has functions: compare the model as it was before it was outlined"
            )
    for number, path in enumerate(paths):
        if path is None:
            continue
        other, file = 1 - number, path
        if not tagged[number] and (paths[other] is None or tagged[other]):
            file = folder / f"{number}.onnx"
            if paths[other] is None:
                known = {"trace": sides[other].write_trace(folder)}
            else:
                known = {"reference": paths[other]}
            tagging.tag(path, file, dag=False, **known)  # type: ignore[call-overload]
        sides[number] = Graph(file, tagging.load(file), path)
    return sides[0], sides[1]


def open_program(model: Any, purpose: str, arrays: Mapping[str, Any] | None = None) -> Program:
    """A PyTorch model as `diff` takes it. It is called with `arrays` if it does not say itself with what."""
    load_capture(purpose)
    from .diff_programs import Program

    if isinstance(model, tuple):
        if len(model) != 2:
            raise BadInput("a PyTorch model must be a pair: the nn.Module and its inputs")
        inputs = model[1]
        keywords = isinstance(inputs, Mapping)
        return Program(
            _name(model), model[0], () if keywords else inputs, inputs if keywords else None
        )
    from .sources import load_source

    source = load_source(os.fspath(model), None, arrays=arrays)
    return Program(os.fspath(model), source.model, source.args, source.kwargs)


@dataclass
class _Run:
    """The results of both models, and which values correspond."""

    pairs: list[Pair]
    missing: list[str]
    found: Mapping[str, Any]
    others: Mapping[str, Any]
    feeds: Mapping[str, Any]  # of the second
    hint: str = ""


def _run(
    one: _Side,
    two: _Side,
    inputs: StrPath | Mapping[str, Any] | None,
    dims: Mapping[str, int] | None,
) -> _Run:
    if isinstance(one, Graph) and isinstance(two, Graph):
        pairs, missing = pairs_of_graphs(one, two)
        if not pairs:
            raise BadInput(
                f"{one.path} and {two.path} have nothing in common: no module call is in both"
            )
        found, given = one.run([value for _, value, _ in pairs], inputs, dims)
        feeds = for_the_other(given.feeds, two.input_values(), two.path)
        others, _ = two.run([other for _, _, other in pairs], feeds)
        return _Run(pairs, missing, found, others, feeds, given.hint)
    return _run_program(one, two, inputs, dims)


def _run_program(
    one: _Side,
    two: _Side,
    inputs: StrPath | Mapping[str, Any] | None,
    dims: Mapping[str, int] | None,
) -> _Run:
    """Runs both if at least one is a PyTorch model, whose example call provides the inputs."""
    from .diff_programs import Program, pairs_of_programs, pairs_with_graph

    if dims:
        raise BadInput(
            "a PyTorch model brings its inputs, whose sizes are fixed: --dim has no effect"
        )
    for side in (one, two):
        if isinstance(side, Program) and inputs is not None:
            side.give(read_inputs(inputs))
    source = one if isinstance(one, Program) else two
    assert isinstance(source, Program)
    arrays: list[Mapping[str, Any]] = []
    for side in (one, two):
        if isinstance(side, Program):
            if side is not source:
                side.give(source.feeds)
            arrays.append(side.run())
        else:
            values = [value for group in side.boundaries.values() for value in group]
            arrays.append(
                side.run(values, for_the_other(source.feeds, side.input_values(), side.path))[0]
            )
    if isinstance(one, Program) and isinstance(two, Program):
        pairs, missing = pairs_of_programs(one, two)
    elif isinstance(one, Program):
        pairs, missing = pairs_with_graph(one, two, arrays[1])  # type: ignore[arg-type]
    else:
        pairs, missing = pairs_with_graph(two, one, arrays[0])  # type: ignore[arg-type]
        pairs = [(call, b, a) for call, a, b in pairs]
    if not pairs:
        raise BadInput(
            f"{one.path} and {two.path} have nothing in common: no module call is in both"
        )
    feeds = (
        {}
        if isinstance(two, Program)
        else for_the_other(source.feeds, two.input_values(), two.path)
    )
    return _Run(pairs, missing, arrays[0], arrays[1], feeds)


def _add_held(one: _Side, two: _Side, comparisons: list[Comparison]) -> None:
    graph = one if isinstance(one, Graph) else two
    if isinstance(graph, Graph):
        name = (lambda item: item.value) if graph is one else (lambda item: item.other)
        compared = {name(item) for item in comparisons}
        modules = {item.module for item in comparisons}
        for item in comparisons:
            held = graph.modules_since(name(item), compared, item.module)
            if graph is one:
                held += graph.modules_after(item.value, modules)
            item.holds = list(dict.fromkeys(held))


def _kind(array: Any) -> str:
    """The kind of an array's elements, regardless of width and sign: f, i or b."""
    kind: str = array.dtype.kind
    return "i" if kind == "u" else kind


def _compared(
    call: Call, class_name: str, value: str, other: str, a: Any, b: Any, numpy: Any
) -> Comparison:
    x, y = a.astype(numpy.float64).ravel(), b.astype(numpy.float64).ravel()
    bad = (int((~numpy.isfinite(x)).sum()), int((~numpy.isfinite(y)).sum()))
    # Equal infinities, as in a mask, do not count as a difference.
    both = numpy.isfinite(x) & numpy.isfinite(y)
    alike = both | (x == y) | (numpy.isnan(x) & numpy.isnan(y))
    x, y, broken = x[both], y[both], not alike.all()
    error = numpy.abs(x - y)
    absolute = float(error.max(initial=0.0))
    scale = float(numpy.abs(x).max(initial=0.0))
    noise, signal = float((error**2).sum()), float((x**2).sum())
    lengths = math.sqrt(signal * float((y**2).sum()))
    return Comparison(
        module=call[0],
        class_name=class_name,
        call=call[1],
        value=value,
        other=other,
        shape=tuple(a.shape),
        absolute=math.inf if broken else absolute,
        relative=math.inf if broken else absolute / scale if scale else float(absolute > 0),
        cosine=float((x * y).sum()) / lengths if lengths else 1.0 if not noise else 0.0,
        snr=math.inf if not noise else 10 * math.log10(signal / noise) if signal else -math.inf,
        nonfinite=bad,
        noise=math.inf if broken else math.sqrt(noise / signal) if signal else float(noise > 0),
        gain=float((x * y).sum()) / signal if signal else 1.0,
    )


def _layout(a: Any, b: Any, numpy: Any) -> tuple[int, ...] | None:
    """The permutation of the axes of `b` that makes it equal to `a`; optimizers change the layout of images.
    None if there is none, or if the layouts are equal."""
    if not 2 <= a.ndim <= 5 or sorted(a.shape) != sorted(b.shape) or a.dtype.kind != "f":
        return None
    x = a.astype(numpy.float64)
    length = float((x**2).sum())
    for axes in itertools.permutations(range(a.ndim)):
        if tuple(b.shape[axis] for axis in axes) == a.shape:
            noise = float(((x - b.transpose(axes)) ** 2).sum())
            if noise < _SAME**2 * length:
                return None if axes == tuple(range(a.ndim)) else axes
    return None


def _merges(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether one shape is the other with neighbouring axes merged: a matrix product may be computed for all
    rows of all images at once."""
    borders = [set(itertools.accumulate(sizes, operator.mul)) for sizes in (shape, other)]
    return math.prod(shape) == math.prod(other) and (
        borders[0] <= borders[1] or borders[1] <= borders[0]
    )


def _is_beyond(item: Comparison, tolerance: float) -> bool:
    return not item.relative <= tolerance or len(set(map(bool, item.nonfinite))) > 1


def _add_own_errors(two: _Side, comparisons: list[Comparison], run: _Run, numpy: Any) -> None:
    """Measures each module's own error. Errors grow and shrink on their way through a model, so the second model
    is cut at every compared value: whatever follows a cut reads the first model's value there."""
    given = {}
    for item in reversed(comparisons):
        with numpy.errstate(over="ignore"):  # values too large for float16 become infinite
            array = run.found[item.value].astype(run.others[item.other].dtype)
        given[item.other] = _as_other(item, array)
    alone = two.run_given(given, run.feeds)
    for item in comparisons:
        call, a = (item.module, item.call), run.found[item.value]
        b = _as_first(item, alone[item.other])
        own = _compared(call, item.class_name, item.value, item.other, a, b, numpy)
        item.added, item.shifted = own.noise, abs(own.gain - 1)
    _add_outliers(comparisons)


def _add_outliers(comparisons: list[Comparison]) -> None:
    """Relates each module's own error to the median. Rounding adds noise everywhere, more where the signal is
    small, but is not correlated with the signal: a weight that is 5 % too large is lost in the noise but shifts
    the gain a hundred times as far as rounding does. A wrong bias adds noise but shifts nothing. So both are
    compared with their medians over all values."""
    usual = {
        name: max(statistics.median(getattr(item, name) for item in comparisons), _EXACT)
        for name in ("added", "shifted")
    }
    for item in comparisons:
        item.outlier = max(getattr(item, name) / limit for name, limit in usual.items())


def _as_first(item: Comparison, array: Any) -> Any:
    """A value of the second model in the layout of the first."""
    return array.reshape(item.shape) if item.axes is None else array.transpose(item.axes)


def _as_other(item: Comparison, array: Any) -> Any:
    """A value of the first model in the layout of the second."""
    if item.axes is None:
        return array.reshape(item.other_shape)
    return array.transpose(_inverse(item.axes))


def _inverse(axes: tuple[int, ...]) -> list[int]:
    return [axes.index(axis) for axis in range(len(axes))]
