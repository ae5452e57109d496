"""Finds out which modules the nodes of a graph belong to from what was computed, without reading names, notes or traces.

PyTorch runs the model with a hook at the start and the end of every module's call. ONNX Runtime runs the
graph with every value as an output. A value of the graph that equals a tensor that a call took or returned
is a border of that call:

  border   the node that makes a call's output lies in that module, or in one below it;
  inside   so do the nodes between a call's inputs and its outputs, if every path back from an output
           ends at an input of the call or at a constant. Those of them that are in no call below are the
           module's own, provided that all calls below are known as well as it is.

Ambiguous nodes are left out, and counted by reason:
  unseen    a call none of whose outputs is a value of the graph (an optimizer fused it away)
  nested    a call whose output an If or a Loop makes: the call is in the node, not the node in the call
  equal     a tensor that several unrelated calls, or several nodes, made
  through   a call that returns what it took
  open      a call with a path back from its output to something that it did not take: only its borders count
  shared    a node inside two unrelated calls, or whose result is read inside and outside
  shapes    a node that computes with shapes: Python passes those on as numbers, which no hook sees
  copies    a node that returns what it takes (a Cast to the same type): it is on either side of a border
  anywhere  a node of which it is only known that it is in the model
Nodes that only make constants are ignored.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import torch

#: Relative to the largest number of a tensor. Two frameworks agree to 1e-6; a layer changes more than this.
TOLERANCE = 2e-5


@dataclasses.dataclass
class Call:
    """One run of one module."""

    paths: tuple[str, ...]  # all names of the module
    parent: int | None  # the call that it was made from
    opaque: bool = False  # whether calls inside it cannot be seen: a ScriptModule
    hooked: bool = False  # whether hooks of the user's own run at its borders
    inputs: list[np.ndarray] = dataclasses.field(default_factory=list)
    outputs: list[np.ndarray] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Region:
    """Where a node may be: in the module at one of the paths, or below it if that is not known exactly."""

    paths: tuple[str, ...]
    exact: bool = False

    def holds(self, scope: str | None) -> bool:
        if scope is None:
            return False
        return any(
            scope == p or (not self.exact and (not p or scope.startswith(p + ".")))
            for p in self.paths
        )


# --- PyTorch -------------------------------------------------------------------------------------


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in an argument or a result, in any container."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from tensors(list(value.values()))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from tensors(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from tensors([getattr(value, f.name) for f in dataclasses.fields(value)])


def arrays(value: Any) -> list[np.ndarray]:
    """Copies tensors, because the next module may write into them."""
    usable = [t for t in tensors(value) if t.layout is torch.strided and not t.is_quantized]
    real = [torch.view_as_real(t) if t.is_complex() else t for t in usable]
    real = [t.float() if t.dtype in (torch.bfloat16, torch.float16) else t for t in real]
    return [t.detach().clone().cpu().numpy() for t in real]


def observe(model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Call]:
    """Every call of every module, in the order in which they began. The hooks stay on the model."""
    paths = defaultdict(list)
    for path, module in model.named_modules(remove_duplicate=False):
        paths[id(module)].append(path)
    calls: list[Call] = []
    stack: list[int] = []
    hooked: set[int] = set()

    def enter(module: Any, args: Any, kwargs: Any = None) -> None:
        call = Call(tuple(paths[id(module)]), stack[-1] if stack else None)
        call.opaque = isinstance(module, torch.jit.ScriptModule)
        call.hooked = id(module) in hooked
        call.inputs = arrays((args, kwargs or {}))
        stack.append(len(calls))
        calls.append(call)

    def leave(module: Any, args: Any, output: Any) -> None:
        calls[stack.pop()].outputs = arrays(output)

    for module in model.modules():
        if module._forward_hooks or module._forward_pre_hooks:
            hooked.add(id(module))
        module.register_forward_pre_hook(enter, prepend=True, with_kwargs=True)
        module.register_forward_hook(leave)
    with torch.no_grad():
        model(*args, **kwargs)
    return calls


# --- ONNX Runtime --------------------------------------------------------------------------------


def graph_values(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Every value that a node of the graph makes, and the inputs, by name."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    known = {output.name for output in whole.graph.output}
    for node in whole.graph.node:
        for name in node.output:
            if name and name not in known:
                whole.graph.output.append(onnx.ValueInfoProto(name=name))
                known.add(name)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(
        whole.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    fed = {value.name for value in session.get_inputs()}
    names = [value.name for value in session.get_outputs()]
    results = session.run(names, {k: v for k, v in feeds.items() if k in fed})
    return {
        k: v for k, v in {**feeds, **dict(zip(names, results))}.items() if isinstance(v, np.ndarray)
    }


# --- tying one to the other ----------------------------------------------------------------------


def telling(array: np.ndarray) -> bool:
    """Whether a tensor is distinctive: zeros, ones and single numbers occur everywhere."""
    if array.size < 4 or array.dtype.kind not in "fiub":
        return False
    return bool(np.isfinite(array).all() and (array != array.flat[0]).any())


class Index:
    """Finds equal tensors among many: by shape, then by a sum, then by all numbers."""

    def __init__(self, named: Iterable[tuple[Any, np.ndarray]]) -> None:
        self.found = defaultdict(list)
        for key, array in named:
            if telling(array):
                self.found[array.shape, array.dtype.kind].append((key, self._numbers(array)))

    @staticmethod
    def _numbers(array: np.ndarray) -> np.ndarray:
        return array.astype(np.float64)

    def equal(self, array: np.ndarray) -> list[Any]:
        if not telling(array):
            return []
        numbers = self._numbers(array)
        far = TOLERANCE * np.abs(numbers).max()
        return [
            key
            for key, other in self.found[array.shape, array.dtype.kind]
            if abs(other.flat[0] - numbers.flat[0]) <= far and np.abs(other - numbers).max() <= far
        ]


class HookTruth:
    """The region of every node of a graph, if known, and what was left out, by reason."""

    def __init__(
        self, graph: onnx.GraphProto, values: Mapping[str, np.ndarray], calls: list[Call]
    ) -> None:
        self.graph, self.calls = graph, calls
        self.excluded: Counter[str] = Counter()
        self.producer = {out: i for i, node in enumerate(graph.node) for out in node.output if out}
        self.varying = self._varying()
        self.lengths = self._lengths()
        self.readers = defaultdict(set)
        for i, node in enumerate(graph.node):
            for name in self._read(node):
                self.readers[name].add(i)
        self.values = Index((name, array) for name, array in values.items())
        self.copies = self._copies(values)
        self.made = Index(
            ((i, array) for i, call in enumerate(calls) for array in call.outputs)
        )  # a call's results
        self.regions: list[Region | None] = [None] * len(graph.node)
        self.partly: set[int] = (
            set()
        )  # calls with a result that is nowhere in the graph, or in several places
        self.borders = self._borders()
        self._insides()

    def _varying(self) -> set[str]:
        """The values that depend on an input. A constant may be shared by modules that have nothing else in common."""
        constant = {i.name for i in self.graph.initializer}
        found = {i.name for i in self.graph.input} - constant
        for node in self.graph.node:
            if self._nests(node) or any(name in found for name in node.input):
                found |= set(node.output)
        return found

    @staticmethod
    def _nests(node: onnx.NodeProto) -> bool:
        """Whether a node has subgraphs: an If, a Loop."""
        return any(a.HasField("g") or a.graphs for a in node.attribute)

    @staticmethod
    def _read(node: onnx.NodeProto) -> Iterator[str]:
        """The values that a node reads, including those its subgraphs read."""
        yield from node.input
        for attribute in node.attribute:
            for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                for inner in graph.node:
                    yield from HookTruth._read(inner)

    def _copies(self, values: Mapping[str, np.ndarray]) -> set[str]:
        """Values that equal what they are made of: whether a call took the one or the other cannot be seen."""
        found = set()
        for node in self.graph.node:
            before = [values[n] for n in node.input if n in values]
            for name in node.output:
                if name in values and any(_same(values[name], array) for array in before):
                    found.add(name)
        return found

    def _lengths(self) -> set[str]:
        """The values that depend on shapes only. They do not open a call."""
        found: set[str] = set()
        for node in self.graph.node:
            inputs = [n for n in node.input if n in self.varying]
            if node.op_type in ("Shape", "Size") or (inputs and all(n in found for n in inputs)):
                found |= set(node.output)
        return found & self.varying

    # Borders.

    def _emitters(self, array: np.ndarray) -> list[int]:
        """The calls that made a tensor, not those that only passed it on."""
        found = dict.fromkeys(self.made.equal(array))
        return [i for i in found if not any(_same(array, taken) for taken in self.calls[i].inputs)]

    def _above(self, call: int) -> Iterator[int]:
        above: int | None = call
        while above is not None:
            yield above
            above = self.calls[above].parent

    def _innermost(self, calls: list[int]) -> int | None:
        """The deepest of nested calls; None if they are not nested."""
        deepest = max(calls, key=lambda c: len(list(self._above(c))))
        return deepest if set(calls) <= set(self._above(deepest)) else None

    def _originals(self, names: list[str]) -> list[str]:
        """Of equal values those that are not made of another one of them: a Reshape to the shape that a value
        has already, an Identity."""
        mine = set(names)

        def copied(name: str) -> bool:
            node = self.graph.node[self.producer[name]] if name in self.producer else None
            return node is not None and any(read in mine for read in node.input)

        return [name for name in names if not copied(name)]

    def _borders(self) -> dict[int, list[str]]:
        """Each call's outputs in the graph; the nodes that make them get their region."""
        found: dict[int, list[str]] = defaultdict(list)
        for i, call in enumerate(self.calls):
            made = [a for a in call.outputs if not any(_same(a, taken) for taken in call.inputs)]
            self.excluded["through"] += len(call.outputs) - len(made)
            if not any(self._places(array) for array in made) and any(map(telling, made)):
                self.excluded["unseen"] += 1
            for array in made:
                name = self._border(array)
                if name is None:
                    self.partly.add(i)
                    continue
                found[i].append(name)
                if self._innermost(self._emitters(array)) == i and name in self.varying:
                    self._restrict(self.producer[name], self._paths_with_fused(i))
        return found

    def _places(self, array: np.ndarray) -> list[str]:
        """The values of the graph that a tensor may correspond to, except copies."""
        return [n for n in self._originals(self.values.equal(array)) if n in self.producer]

    def _border(self, array: np.ndarray) -> str | None:
        """The value of the graph that corresponds to a call's result, if there is exactly one."""
        names = self._places(array)
        if any(self._nests(self.graph.node[self.producer[n]]) for n in names):
            self.excluded["nested"] += 1
        elif len(names) > 1 or (names and self._innermost(self._emitters(array)) is None):
            self.excluded["equal"] += 1
        elif names:
            return names[0]
        return None

    def _paths_with_fused(self, call: int) -> tuple[str, ...]:
        """A module's paths, and those of modules whose results it took and the graph does not have: the node
        computes what they did as well (a convolution and its batch norm). What a hook of the user's computes at
        a border is the module's to one exporter and its caller's to the other: either is right."""
        paths = list(self.calls[call].paths)
        above = self.calls[call].parent
        if self.calls[call].hooked and above is not None:
            paths += self.calls[above].paths
        for taken in self.calls[call].inputs:
            if telling(taken) and not self.values.equal(taken):
                for other in self._emitters(taken):
                    paths += self.calls[other].paths
        return tuple(dict.fromkeys(paths))

    def _restrict(self, node: int, paths: tuple[str, ...], exact: bool = False) -> None:
        """Narrows a node's region. If two regions are not nested, the node is only known to be in the model."""
        known, new = self.regions[node], Region(paths, exact)
        if known is None or all(known.holds(p) for p in paths):
            self.regions[node] = new
        elif not any(new.holds(p) for p in known.paths):
            self.regions[node] = Region(("",))
            self.excluded["shared"] += 1

    # Insides.

    def _inside(self, call: int) -> set[int] | None:
        """The nodes between a call's inputs and outputs; None if a path bypasses the inputs."""
        stops = {name for array in self.calls[call].inputs for name in self.values.equal(array)}
        if not self.borders[call]:
            return None
        found: set[int] = set()
        pending = [name for name in self.borders[call] if name not in stops]
        while pending:
            node = self.producer.get(pending.pop())
            if node is None:
                return None  # an input of the graph that the call did not take
            if node not in found:
                found.add(node)
                used = [n for n in self._read(self.graph.node[node]) if n in self.varying]
                pending += [n for n in used if n not in stops and n not in self.lengths]
        return found

    def _leaking(self, call: int, inside: set[int]) -> set[int]:
        """Nodes of a call whose results are read outside and are none of the call's: an exporter that computes
        equal things once took one of them away, here or there."""
        given = set(self.borders[call])
        found = set()
        for node in inside:
            for name in self.graph.node[node].output:
                if name not in given and not self.readers[name] <= inside:
                    found.add(node)
        return found

    def _insides(self) -> None:
        inside = {i: self._inside(i) for i in range(len(self.calls))}
        children = defaultdict(list)
        for i, call in enumerate(self.calls):
            if call.parent is not None:
                children[call.parent].append(i)
        holders = defaultdict(list)
        leaking: set[int] = set()
        for i, nodes in inside.items():
            if nodes is None:
                self.excluded["open"] += bool(self.borders[i])
                continue
            leaking |= self._leaking(i, nodes)
            for node in nodes:
                holders[node].append(i)
        for node, calls in holders.items():
            innermost = self._innermost(calls)
            if innermost is None:
                self.excluded["shared"] += 1
                self.regions[node] = None
                continue
            # A call below that gives back what it took has no nodes; any other that is not known whole may have
            # this one.
            unknown = [c for c in children[innermost] if inside[c] is None and not self._through(c)]
            unknown += [c for c in children[innermost] if c in self.partly]
            exact = not unknown and not self.calls[innermost].opaque
            self._restrict(node, self._paths_with_fused(innermost), exact)
        self._leave_out(leaking)

    def _leave_out(self, leaking: set[int]) -> None:
        """Removes what cannot be known about single nodes, whatever the calls say."""
        for i, region in enumerate(self.regions):
            node = self.graph.node[i]
            if region is None:
                continue
            if i in leaking:
                reason = "shared"
            elif any(name in self.lengths for name in node.output):
                reason = "shapes"
            elif any(name in self.copies for name in node.output):
                reason = "copies"
            elif region == Region(("",)):
                reason = "anywhere"
            else:
                continue
            self.regions[i] = None
            self.excluded[reason] += 1

    def _through(self, call: int) -> bool:
        taken = self.calls[call].inputs
        return all(any(_same(out, array) for array in taken) for out in self.calls[call].outputs)


def _same(left: np.ndarray, right: np.ndarray) -> bool:
    if left.shape != right.shape or left.dtype.kind != right.dtype.kind:
        return False
    a, b = left.astype(np.float64), right.astype(np.float64)
    return bool(a.size == 0 or np.abs(a - b).max() <= TOLERANCE * max(np.abs(b).max(), 1e-30))


# --- judging -------------------------------------------------------------------------------------


@dataclasses.dataclass
class Verdict:
    judged: int = 0
    right: int = 0
    exact: int = 0  # nodes whose module is known exactly
    exact_right: int = 0
    wrong: list[str] = dataclasses.field(default_factory=list)

    def add(self, other: Verdict) -> None:
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def judge(nodes: Iterable[onnx.NodeProto], regions: Iterable[Region | None]) -> Verdict:
    """Tags (htp.scope of every node) against regions. Constants have no right answer."""
    verdict = Verdict()
    for node, region in zip(nodes, regions):
        if region is None or node.op_type == "Constant":
            continue
        scope = {p.key: p.value for p in node.metadata_props}.get("htp.scope")
        right = region.holds(scope)
        verdict.judged += 1
        verdict.right += right
        verdict.exact += region.exact
        verdict.exact_right += region.exact and right
        if not right:
            where = f"{'is' if region.exact else 'lies in'} {' or '.join(map(repr, region.paths))}"
            verdict.wrong.append(
                f"{node.op_type} {node.name or node.output[0]} {where}, tagged {scope!r}"
            )
    return verdict
