"""Where two forms of a model part: what each module call produced in one and in the other.

Names may be gone in one of them. Tags say which module call each node belongs to, so the values that leave a
module call are known in both graphs, and the same place among them is the same value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import tagging
from .errors import BadInput, MissingPackage
from .model import TaggedModel, temporary_folder
from .onnxfile import has_functions, model_metadata
from .running import Inputs, first_line, inputs_for, packages, run_session

Progress = Callable[[str], None]
_Call = tuple[str, int]  # a module's path, and which of its calls


@dataclass
class Comparison:
    """One value that both models have: what a module call handed on."""

    module: str
    class_name: str
    call: int
    value: str  # its name in the first model
    other: str  # and in the second
    shape: tuple[int, ...]
    absolute: float  # the largest difference
    relative: float  # that, as a part of the largest value of the first model
    cosine: float
    snr: float  # signal to noise in dB; infinite where they are equal
    nonfinite: tuple[int, int]  # how many values are NaN or infinite in each
    noise: float  # root of noise to signal: what the SNR says, as a part
    added: float = 0.0  # noise where the module is given the first model's values
    parts: bool = False
    holds: list[str] = field(default_factory=list)  # modules whose own values the second lacks

    def as_json(self) -> dict[str, Any]:
        """JSON knows no infinity."""
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in vars(self).items()
        }


@dataclass
class Difference:
    """All that could be compared, in the order of execution; of one value, the innermost module first."""

    first_file: str
    second_file: str
    tolerance: float
    comparisons: list[Comparison] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # module calls whose values the second lacks
    hint: str = ""  # about inputs that were made up

    @property
    def equal(self) -> bool:
        return not any(item.parts for item in self.comparisons)

    @property
    def first(self) -> Comparison | None:
        """The first module call that parts."""
        return next((item for item in self.comparisons if item.parts), None)

    @property
    def worst(self) -> list[Comparison]:
        """By the error that they add themselves, the largest first; a value counts for its innermost module."""
        seen: dict[str, Comparison] = {}
        for item in self.comparisons:
            seen.setdefault(item.value, item)
        return sorted(seen.values(), key=lambda item: -item.added)

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


def diff(
    first: tagging.StrPath,
    second: tagging.StrPath,
    *,
    inputs: tagging.StrPath | Mapping[str, Any] | None = None,
    dims: Mapping[str, int] | None = None,
    tolerance: float = 1e-3,
    progress: Progress = lambda text: None,
) -> Difference:
    """Runs two ONNX files of one model on the same inputs and compares what their module calls produced.

    The first must be tagged; a second that is not is tagged with the first as its reference. A value
    parts where its largest difference is more than `tolerance` of the largest value, or where only
    one model has NaN or infinity. `inputs` and `dims` are as for `htp.profile`.
    """
    if not tolerance >= 0:
        raise BadInput(f"a tolerance of {tolerance} is no error")
    runtime, numpy = packages("htp diff")
    paths = [tagging.existing(first), tagging.existing(second)]
    tagged_already = ["htp.hierarchy" in model_metadata(path) for path in paths]
    for path in paths:
        if has_functions(path):
            raise BadInput(
                f"{path} has functions: compare the model as it was before it was outlined"
            )
    with temporary_folder() as folder:
        progress(f"reading {paths[0]} and {paths[1]}")
        one = _Graph(paths[0], tagging.load(paths[0]))
        tagged = paths[1]
        if not tagged_already[1]:
            tagged = Path(folder) / "second.onnx"
            tagging.tag(paths[1], tagged, reference=paths[0], dag=False)
        two = _Graph(tagged, tagging.load(tagged))
        pairs, missing = _pairs(one, two)
        if not pairs:
            raise BadInput(f"{paths[0]} and {paths[1]} share nothing: no module call is in both")
        progress("running both")
        result = Difference(str(paths[0]), str(paths[1]), tolerance, [], missing)
        found, given = one.run([p[1] for p in pairs], inputs, dims, runtime, numpy)
        others, there = two.run(
            [p[2] for p in pairs], _for_the_other(given, two), None, runtime, numpy
        )
    result.hint = given.hint
    for call, value, other in pairs:
        a, b = found.get(value), others.get(other)
        # What is stored as integers in one of them only has another meaning there.
        if a is not None and b is not None and a.shape == b.shape and _kind(a) == _kind(b):
            class_name = one.model.modules[call[0]].class_name
            item = _compared(call, class_name, value, other, a, b, numpy)
            item.parts = _is_beyond(item, tolerance)
            result.comparisons.append(item)
    if not result.comparisons:
        raise BadInput(
            f"{paths[0]} and {paths[1]} share nothing: no value has the same shape in both"
        )
    one.in_order(result.comparisons)
    compared = {item.value for item in result.comparisons}
    for item in result.comparisons:
        item.holds = one.modules_since(item.value, compared, item.module)
    _add_own_errors(two, result.comparisons, found, others, there, runtime, numpy)
    return result


class _Graph:
    """A tagged ONNX graph: which values leave which module call."""

    def __init__(self, path: Path, model: TaggedModel) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingPackage("onnx", "htp diff", "onnx") from None
        self.path, self.model = path, model
        self.proto = onnx.load(str(path), load_external_data=False)
        self.nodes = list(self.proto.graph.node)
        self.outputs = {output.name for output in self.proto.graph.output}
        self.parents = {child: m.path for m in model.modules.values() for child in m.children}
        self.chains = [self._chain(node) for node in self.nodes]
        self.producers = {v: i for i, node in enumerate(self.nodes) for v in node.output if v}

    def _chain(self, node: Any) -> list[_Call]:
        """The module calls that a node is in, the model itself first."""
        tags = {entry.key: entry.value for entry in node.metadata_props}
        scope = tags.get("htp.scope", "")
        modules = self.model.modules
        if scope not in modules:
            return [("", 0)]
        number, calls = int(tags.get("htp.call", "0")), max(1, modules[scope].calls)
        chain, path = [(scope, number)], scope
        while path in self.parents:
            path = self.parents[path]
            # a module that is called twice in each of three calls of its parent is called six times
            chain.append((path, number * max(1, modules[path].calls) // calls))
        return chain[::-1]

    def is_near(self, value: str, path: str) -> bool:
        """Whether a value is made in a module, above or below it."""
        made = self.chains[self.producers[value]][-1][0]
        return _is_below(made, path) or _is_below(path, made)

    def boundaries(self) -> dict[_Call, list[str]]:
        """The values that leave each module call, in the order in which they are made."""
        shared: dict[str, int] = dict.fromkeys(
            self.outputs, 0
        )  # calls that producer and users share
        for node, chain in zip(self.nodes, self.chains):
            for value in _read_by(node):
                if value in self.producers:
                    common = _common(self.chains[self.producers[value]], chain)
                    shared[value] = min(shared.get(value, common), common)
        result: dict[_Call, list[str]] = {}
        for node, chain in zip(self.nodes, self.chains):
            if node.op_type == "Constant":
                continue
            for value in node.output:
                for call in chain[shared.get(value, len(chain)) :]:
                    result.setdefault(call, []).append(value)
        return result

    def run(
        self,
        values: Iterable[str],
        inputs: tagging.StrPath | Mapping[str, Any] | None,
        dims: Mapping[str, int] | None,
        runtime: Any,
        numpy: Any,
    ) -> tuple[dict[str, Any], Inputs]:
        """What the model computes for these values. They become outputs, whose types ONNX Runtime infers."""
        for value in dict.fromkeys(values):
            if value not in self.outputs:
                self.proto.graph.output.add().name = value
                self.outputs.add(value)
        options = runtime.SessionOptions()
        options.log_severity_level = 4
        folder = str(self.path.resolve().parent)
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", folder
        )
        try:
            session = runtime.InferenceSession(
                self.proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise BadInput(
                f"ONNX Runtime does not load {self.path}: {first_line(error)}"
            ) from error
        given = inputs_for(session, inputs, dims, numpy, self.path)
        results = run_session(session, given.feeds, self.path, given.hint)
        names = [output.name for output in session.get_outputs()]
        return {n: r for n, r in zip(names, results) if isinstance(r, numpy.ndarray)}, given

    def modules_since(self, value: str, compared: set[str], module: str) -> list[str]:
        """Other modules that had a part in a value since the values before it that were compared: an
        optimizer fused theirs away, so they cannot be told apart from the module itself."""
        seen, pending = {value}, [value]
        found: set[int] = set()
        while pending:
            at = self.producers.get(pending.pop())
            if at is None:
                continue
            found.add(at)
            for before in _read_by(self.nodes[at]):
                if before not in seen and before not in compared:
                    seen.add(before)
                    pending.append(before)
        paths = (
            self.chains[at][-1][0] for at in sorted(found) if self.nodes[at].op_type != "Constant"
        )
        return [path for path in dict.fromkeys(paths) if path and not _is_below(module, path)]

    def add_input(self, name: str, array: Any) -> None:
        import onnx

        self.proto.graph.input.add().CopyFrom(
            onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
        )

    def in_order(self, comparisons: list[Comparison]) -> None:
        """Sorts by where the first model makes the values; of one value, the innermost module first."""
        comparisons.sort(
            key=lambda item: (self.producers.get(item.value, -1), item.value, -_depth(item.module))
        )


def _is_below(path: str, other: str) -> bool:
    return not other or path == other or path.startswith(f"{other}.")


def _depth(path: str) -> int:
    return path.count(".") + 1 if path else 0


def _common(one: list[_Call], other: list[_Call]) -> int:
    count = 0
    for a, b in zip(one, other):
        if a != b:
            break
        count += 1
    return count


def _read_by(node: Any) -> Iterator[str]:
    """The values that a node reads, also those that its bodies take from outside."""
    yield from node.input
    for attribute in node.attribute:
        for body in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
            for inner in body.node:
                yield from _read_by(inner)
            yield from (output.name for output in body.output)


def _pairs(one: _Graph, two: _Graph) -> tuple[list[tuple[_Call, str, str]], list[str]]:
    """The same values in both graphs, by the module call that they leave in the first: those with the
    same name, and the others by their place, where both have as many. What has no partner was fused
    away. A name alone is not enough: another export counts its values anew."""
    ours, theirs = one.boundaries(), two.boundaries()
    pairs: list[tuple[_Call, str, str]] = []
    missing: dict[str, None] = {}
    for call, values in ours.items():
        same = {v for v in values if v in two.producers and two.is_near(v, call[0])}
        left = [value for value in values if value not in same]
        right = [value for value in theirs.get(call, []) if value not in one.producers]
        pairs += [(call, value, value) for value in values if value in same]
        if len(left) == len(right):
            pairs += [(call, a, b) for a, b in zip(left, right)]
        elif left:
            path, number = call
            many = one.model.modules[path].calls > 1
            missing[f"{path or '(root)'}{f' (call {number})' if many else ''}"] = None
    return pairs, list(missing)


def _kind(array: Any) -> str:
    """f, i, b: other numbers of bits are no other kind."""
    kind: str = array.dtype.kind
    return "i" if kind == "u" else kind


def _for_the_other(given: Inputs, other: _Graph) -> dict[str, Any]:
    """The inputs of the first model for the second, which may have other names and types for them."""
    import onnx

    constants = {tensor.name for tensor in other.proto.graph.initializer}
    wanted = [value for value in other.proto.graph.input if value.name not in constants]
    arrays = given.feeds
    names = [value.name for value in wanted]
    if set(names) != set(arrays):
        if len(names) != len(arrays):
            raise BadInput(
                f"{other.path} takes {len(names)} inputs, but the first model {len(arrays)}"
            )
        arrays = dict(zip(names, arrays.values()))
    return {
        value.name: arrays[value.name].astype(
            onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        )
        for value in wanted
    }


def _compared(
    call: _Call, class_name: str, value: str, other: str, a: Any, b: Any, numpy: Any
) -> Comparison:
    x, y = a.astype(numpy.float64).ravel(), b.astype(numpy.float64).ravel()
    bad = (int((~numpy.isfinite(x)).sum()), int((~numpy.isfinite(y)).sum()))
    # The same infinities, as in a mask, are no difference.
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
    )


def _is_beyond(item: Comparison, tolerance: float) -> bool:
    return not item.relative <= tolerance or len(set(map(bool, item.nonfinite))) > 1


def _add_own_errors(
    two: _Graph,
    comparisons: list[Comparison],
    found: Mapping[str, Any],
    others: Mapping[str, Any],
    inputs: Inputs,
    runtime: Any,
    numpy: Any,
) -> None:
    """How wrong each module is by itself. Errors grow and shrink on their way through a model, so the second
    one is cut open at every value that was compared: what comes after a cut reads what the first model has there."""
    cuts = {item.other: item.value for item in reversed(comparisons)}
    names = {other: f"{other}/given" for other in cuts}
    feeds = dict(inputs.feeds)
    for node in two.nodes:
        _rename(node, names)
    for other, value in cuts.items():
        with numpy.errstate(over="ignore"):  # what float16 cannot hold is infinite there
            array = found[value].astype(others[other].dtype)
        two.add_input(names[other], array)
        feeds[names[other]] = array
    alone, _ = two.run(cuts, feeds, None, runtime, numpy)
    for item in comparisons:
        call, a = (item.module, item.call), found[item.value]
        own = _compared(call, item.class_name, item.value, item.other, a, alone[item.other], numpy)
        item.added = own.noise


def _rename(node: Any, names: Mapping[str, str]) -> None:
    node.input[:] = [names.get(value, value) for value in node.input]
    for attribute in node.attribute:
        for body in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
            for inner in body.node:
                _rename(inner, names)
            for output in body.output:
                output.name = names.get(output.name, output.name)
