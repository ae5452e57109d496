"""Finds slow modules: adds up an engine's node times by the modules that the nodes came from.

If nodes are matched only by name, most of the time has no module, because an optimizer fuses and renames nodes. So
the graph that ONNX Runtime actually executes is written to a file and tagged with the given model as its reference,
and the profile is matched with that graph.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import tagging
from .errors import BadInput, HTPError, HTPWarning
from .kernel_times import Times
from .model import TaggedModel
from .onnxfile import check_tagged, has_functions, is_mlir
from .profile_names import Join, Match
from .profile_work import Work
from .profiles import read_times
from .running import inputs_for, open_session, packages, provider_name, run_session
from .scratch import Scratch

FORMAT, VERSION = "htp-profile", 1
#: A profile belongs to another model if the share of known names is below the first, or the shares of known names
#: and their time are both below the second: engines add many nodes of their own, but quick ones.
_HARDLY, _HALF = 0.1, 0.5
#: Protobuf files are limited to 2 GiB; the weights of larger models than this are written to a separate file.
_LARGE = 1 << 30

Progress = Callable[[str], None]


@dataclass
class KernelTime:
    """An executed node. Times are means over the runs."""

    name: str
    op_type: str
    module: str | None  # path of the module that it came from
    microseconds: float
    calls: float  # executions per run
    share: float = 0.0
    provider: str = ""
    confidence: float = 0.0
    source: str | None = None  # FILE:LINE of Python code, if the exporter recorded it
    makes: str | None = (
        None  # path of the module whose value it makes, if that was fused into this one
    )


@dataclass
class ModuleTime:
    """The time of a module's own code, and the total including all modules below it."""

    path: str
    class_name: str
    tag: str
    self_microseconds: float = 0.0
    total_microseconds: float = 0.0
    share: float = 0.0  # of the total in the time of all nodes
    self_calls: float = 0.0  # node executions per run
    calls: float = 0.0  # including the modules below


@dataclass
class ClassTime:
    """All modules of one class. If modules of one class are nested, the total counts the inner time only once."""

    class_name: str
    modules: int = 0
    self_microseconds: float = 0.0
    total_microseconds: float = 0.0
    share: float = 0.0
    calls: float = 0.0


@dataclass
class Profile:
    """Time by module. All times are microseconds per run, as the mean over the counted runs."""

    file: str
    source: str  # what ran, or the profile that was read
    runs: int  # counted runs
    kernels: list[KernelTime]  # in order of execution
    modules: dict[str, ModuleTime]  # by path, parents first
    parents: dict[str, str]  # of each module but the root
    classes: list[ClassTime] = field(default_factory=list)  # slowest first
    model_microseconds: float | None = None  # of a run, including time outside nodes
    run_microseconds: list[float] = field(default_factory=list)  # node time of every run
    settings: dict[str, Any] = field(default_factory=dict)
    engine: str = "ONNX Runtime"  # or OpenVINO; "" for a CSV, which does not say it
    notes: list[str] = field(default_factory=list)

    @property
    def node_microseconds(self) -> float:
        return sum(kernel.microseconds for kernel in self.kernels)

    @property
    def attributed(self) -> float:
        """The share of the node time that has a module."""
        return self._share(lambda kernel: kernel.module is not None)

    @property
    def below_root(self) -> float:
        """The share of the node time that has a module below the model itself."""
        return self._share(lambda kernel: bool(kernel.module))

    def _share(self, counts: Callable[[KernelTime], bool]) -> float:
        known = sum(kernel.microseconds for kernel in self.kernels if counts(kernel))
        return known / self.node_microseconds if self.node_microseconds else 0.0

    def slowest(self, count: int = 10) -> list[KernelTime]:
        return sorted(self.kernels, key=lambda kernel: -kernel.microseconds)[:count]

    def stack(self, path: str) -> list[str]:
        """The modules from the root down to one."""
        stack = [path]
        while stack[-1] in self.parents:
            stack.append(self.parents[stack[-1]])
        return stack[::-1]

    def tree(self, depth: int | None = None) -> Iterator[tuple[int, ModuleTime]]:
        """Yields every module that ran, with its depth, parents first, down to `depth`."""
        below: dict[str, list[str]] = {}
        for child, parent in self.parents.items():
            below.setdefault(parent, []).append(child)
        pending = [(0, "")]
        while pending:
            level, path = pending.pop()
            if self.modules[path].calls:
                yield level, self.modules[path]
                if depth is None or level < depth:
                    pending += [(level + 1, child) for child in reversed(below.get(path, []))]

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "file": self.file,
            "source": self.source,
            "engine": self.engine,
            "runs": self.runs,
            "settings": self.settings,
            "node_microseconds": self.node_microseconds,
            "model_microseconds": self.model_microseconds,
            "run_microseconds": self.run_microseconds,
            "attributed": self.attributed,
            "below_root": self.below_root,
            "modules": [vars(module) for module in self.modules.values()],
            "classes": [vars(item) for item in self.classes],
            "kernels": [vars(kernel) for kernel in self.kernels],
            "notes": self.notes,
        }


def profile(
    model: tagging.StrPath,
    *,
    inputs: tagging.StrPath | Mapping[str, Any] | None = None,
    dims: Mapping[str, int] | None = None,
    warmup: int | None = None,
    runs: int = 10,
    threads: int | None = None,
    provider: str | None = None,
    times: tagging.StrPath | None = None,
    progress: Progress = lambda text: None,
) -> Profile:
    """Runs a tagged ONNX file in ONNX Runtime and adds up its node times by module.

    `inputs` is an .npz file or a mapping; missing inputs are generated from the model's shapes, with `dims`
    for symbolic dimensions. The first `warmup` runs (default: 3) do not count, and of the `runs` after them
    only the faster half does: all runs do the same work, so the slower ones were disturbed by other work on
    the machine. With `times`, nothing is run: it is a profile that ONNX Runtime wrote (JSON; all its runs
    count), the graph that OpenVINO executed (XML) or its report of counters, or a CSV of `name,microseconds`
    from any other engine. Time that could not be attributed is described in `notes`, which are also issued
    as warnings (HTPWarning).
    """
    path = tagging.existing(model)
    if is_mlir(path) or path.suffix == ".json":
        raise BadInput(f"{path} is not an ONNX file: ONNX Runtime runs nothing else")
    check_tagged(path)
    if times is not None:
        if inputs is not None or dims:
            raise BadInput("an existing profile is only read: inputs would have no effect")
        result = _read(path, tagging.existing(times), warmup or 0, progress)
    else:
        warmup = 3 if warmup is None else warmup
        if runs < 1 or warmup < 0:
            raise BadInput(f"{runs} runs after {warmup} for warm-up: there must be at least one")
        if threads is not None and threads < 1:
            raise BadInput(f"{threads} threads: there must be at least one")
        result = _run(path, inputs, dims, warmup, runs, threads, provider, progress)
    if has_functions(path):
        result.notes.append(
            f"{path} has functions, which make optimized nodes hard to identify: "
            "profile the model as it was before it was outlined"
        )
    for note in result.notes:
        warnings.warn(note, HTPWarning, stacklevel=2)
    return result


def _run(
    path: Path,
    inputs: tagging.StrPath | Mapping[str, Any] | None,
    dims: Mapping[str, int] | None,
    warmup: int,
    runs: int,
    threads: int | None,
    provider: str | None,
    progress: Progress,
) -> Profile:
    runtime, numpy = packages("htp profile")
    provider = provider_name(runtime, provider)
    notes: list[str] = []
    with Scratch("htp-scratch-") as folder:
        progress(f"loading {path}")
        session, executed = _session(path, folder, provider, threads, runtime, notes)
        given = inputs_for(session, inputs, dims, numpy, path)
        progress(f"running it {warmup + runs} times")
        for _ in range(warmup + runs):
            run_session(session, given.feeds, path, given.hint)
        events = Path(session.end_profiling())
        times = read_times(events, warmup, calm=True)
        if (
            len(times.run_microseconds) < runs
        ):  # ONNX Runtime keeps a million events and drops the rest
            notes.append(
                f"ONNX Runtime's profile contains only {len(times.run_microseconds)} of {runs} runs: reduce --runs"
            )
        progress("tagging the executed graph")
        given_graph = tagging.load(path)
        graph = _tagged_graph(executed, path) if executed else given_graph
        join = Join(graph, executed or path)
        result = _attributed(path, graph, given_graph, times, join, notes)
    _add_lines(result, graph, given_graph)
    result.source = f"ONNX Runtime {runtime.__version__}"
    if given.guessed:
        result.notes.append(given.hint)
    result.settings = {
        "provider": provider,
        "threads": threads,
        "warmup": warmup,
        "runs": runs,
        "inputs": {name: [str(a.dtype), list(a.shape)] for name, a in given.feeds.items()},
    }
    return result


def _session(
    path: Path, folder: Path, provider: str, threads: int | None, runtime: Any, notes: list[str]
) -> tuple[Any, Path | None]:
    """A session with its profiler on, and the graph that it executes. Providers that compile parts of a graph cannot
    write it; then None, and nodes can be matched only by the names that remain."""
    executed = folder / "executed.onnx"

    def options(*, dump: bool) -> Any:
        made = runtime.SessionOptions()
        made.enable_profiling = True
        made.profile_file_prefix = str(folder / "profile")
        if threads:
            made.intra_op_num_threads = threads
        if dump:
            _write_graph(made, path, executed)
        return made

    try:
        return open_session(path, options(dump=True), provider, runtime), executed
    except BadInput:
        session = open_session(path, options(dump=False), provider, runtime)
        notes.append(
            "ONNX Runtime could not write the graph that it executes: nodes are matched by name"
        )
        return session, None


def _write_graph(options: Any, path: Path, executed: Path) -> None:
    """Makes a session write the graph that it executes."""
    options.optimized_model_filepath = str(executed)
    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
    if size > _LARGE:
        key = "session.optimized_model_external_initializers_"
        options.add_session_config_entry(f"{key}file_name", f"{executed.name}.data")
        options.add_session_config_entry(f"{key}min_size_in_bytes", "1024")


def _tagged_graph(executed: Path, reference: Path) -> TaggedModel:
    target = executed.with_name("tagged.onnx")
    graph = tagging.tag(executed, target, reference=reference, dag=False)
    for data in executed.parent.glob("tagged.onnx*"):
        data.unlink()  # its tags have been read, and weights take much disk space
    return graph


def _read(path: Path, times_file: Path, warmup: int, progress: Progress) -> Profile:
    """Attributes an existing profile. Names that the model does not have are looked up in the graph that ONNX Runtime
    makes of it here, if that is installed."""
    times = read_times(times_file, warmup)
    progress(f"reading {path}")
    graph = given_graph = tagging.load(path)
    join = Join(graph, path)
    notes: list[str] = []
    if times.engine == "ONNX Runtime" and join.inexact(times):
        try:
            runtime, _ = packages("htp profile")
            with Scratch("htp-scratch-") as folder:
                options = runtime.SessionOptions()
                executed = folder / "executed.onnx"
                _write_graph(options, path, executed)
                open_session(path, options, "CPUExecutionProvider", runtime)
                other = _tagged_graph(executed, path)
                better = Join(other, executed)
            if better.inexact(times) < join.inexact(times):
                graph, join = other, better
        except HTPError as error:
            notes.append(f"names of optimized nodes are unknown: {error}")
    _check_model(path, times_file, times, join)
    result = _attributed(path, graph, given_graph, times, join, notes)
    result.source = str(times_file)
    _add_lines(result, graph, given_graph)
    return result


def _add_lines(result: Profile, executed: TaggedModel, given: TaggedModel) -> None:
    """Adds the lines of Python code. An optimizer drops them, but the nodes that it makes have the original's name
    (perhaps with a suffix) or values."""
    lines = {name: node.source for name, node in given.nodes.items() if node.source}
    values = {v: node.source for node in given.nodes.values() if node.source for v in node.outputs}
    for kernel in result.kernels:
        known = executed.nodes.get(kernel.name)
        names = [kernel.name, kernel.name.rpartition("/")[0]]
        found = [lines.get(name) for name in names]
        found += [values.get(value) for value in (known.outputs if known else ())]
        kernel.source = next((line for line in found if line), None)


def _check_model(path: Path, times_file: Path, times: Times, join: Join) -> None:
    """Raises if the profile is that of another model."""
    named = [match for match in join.matches(times) if not match.kernel.added]
    known = [match for match in named if match.nodes and not match.taken]
    spent, of_known = (sum(m.kernel.microseconds for m in group) for group in (named, known))
    few = len(known) < _HALF * len(named) and of_known < _HALF * spent
    if few or not known or len(known) < _HARDLY * len(named):
        raise BadInput(
            f"{times_file} is a profile of another model: {path} has "
            f"{len(known)} of its {len(named)} node names"
        )


def _attributed(
    path: Path,
    graph: TaggedModel,
    given: TaggedModel,
    times: Times,
    join: Join,
    notes: list[str],
) -> Profile:
    modules = {m.path: ModuleTime(m.path, m.class_name, m.tag) for m in graph.modules.values()}
    parents = {child: m.path for m in graph.modules.values() for child in m.children}
    result = Profile(
        str(path),
        "",
        times.runs,
        [],
        modules,
        parents,
        model_microseconds=None
        if times.model_microseconds is None
        else times.model_microseconds / times.runs,
        run_microseconds=times.run_microseconds,
        engine=times.engine,
        notes=notes,
    )
    matches, work = list(join.matches(times)), Work(graph, given)
    for match in matches:
        kernel, nodes = match.kernel, match.nodes
        spent, calls = kernel.microseconds / times.runs, kernel.executions / times.runs
        if not nodes:
            result.kernels.append(
                KernelTime(kernel.name, kernel.op_type, None, spent, calls, 0.0, kernel.provider)
            )
        for node in nodes:
            module = work.module_of(node)
            result.kernels.append(
                KernelTime(
                    node.name if match.fused else kernel.name,
                    kernel.op_type or node.op_type,
                    module if module in modules else None,
                    spent / len(nodes),
                    calls / len(nodes),
                    0.0,
                    kernel.provider,
                    node.confidence,
                    makes=node.scope if node.scope != module else None,
                )
            )
    _add_up(result)
    notes += _said(matches)
    if result.attributed < 1:
        lost = [k.name for k in result.slowest(len(result.kernels)) if k.module is None]
        which = f"{len(lost)} nodes, the slowest is" if len(lost) > 1 else "1 node,"
        notes.append(
            f"{100 * (1 - result.attributed):.1f} % of the node time has no module: {which} {lost[0]!r}"
        )
    return result


def _said(matches: Sequence[Match]) -> Iterator[str]:
    """Describes how names were handled that the model does not have exactly."""
    fused = [match for match in matches if match.fused]
    if fused:
        strange = sum(match.strange for match in fused)
        yield (
            f"{len(fused)} fused name{'s' if len(fused) > 1 else ''} (A + B) "
            f"{'were' if len(fused) > 1 else 'was'} split evenly over the parts"
            + (f" that the model has; it lacks {strange}" if strange else "")
        )
    taken = [match for match in matches if match.taken]
    if taken:
        whole = sum(match.kernel.microseconds for match in matches) or 1.0
        share = sum(match.kernel.microseconds for match in taken) / whole
        yield (
            f"{len(taken)} node{'s' if len(taken) > 1 else ''} that the model does not have, "
            f"{100 * share:.1f} % of the node time, count{'' if len(taken) > 1 else 's'} for the modules next to "
            f"{'them' if len(taken) > 1 else 'it'} that take the results"
        )


def _add_up(result: Profile) -> None:
    whole = result.node_microseconds or 1.0
    classes: dict[str, ClassTime] = {}
    for module in result.modules.values():
        classes.setdefault(module.class_name, ClassTime(module.class_name)).modules += 1
    for kernel in result.kernels:
        kernel.share = kernel.microseconds / whole
        if kernel.module is None:
            continue
        stack = [result.modules[path] for path in result.stack(kernel.module)]
        stack[-1].self_microseconds += kernel.microseconds
        stack[-1].self_calls += kernel.calls
        classes[stack[-1].class_name].self_microseconds += kernel.microseconds
        for module in stack:
            module.total_microseconds += kernel.microseconds
            module.calls += kernel.calls
        for name in dict.fromkeys(module.class_name for module in stack):
            classes[name].total_microseconds += kernel.microseconds
            classes[name].calls += kernel.calls
    for module in result.modules.values():
        module.share = module.total_microseconds / whole
    for item in classes.values():
        item.share = item.total_microseconds / whole
    result.classes = sorted(
        (item for item in classes.values() if item.calls), key=lambda item: -item.total_microseconds
    )


@dataclass
class ModuleChange:
    """How a module's time changed."""

    path: str
    class_name: str
    self_before: float
    self_after: float
    total_before: float
    total_after: float

    @property
    def change(self) -> float:
        return self.self_after - self.self_before


def read_profile(path: tagging.StrPath) -> dict[str, Any]:
    """Reads the output of `htp profile --json`."""
    try:
        data = json.loads(tagging.existing(path).read_bytes())
    except (OSError, ValueError) as error:
        raise BadInput(f"{os.fspath(path)} is not JSON output of 'htp profile': {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise BadInput(f"{os.fspath(path)} is not JSON output of 'htp profile'")
    if data.get("version") != VERSION:
        raise BadInput(f"{os.fspath(path)} has version {data.get('version')!r}, expected {VERSION}")
    return data


def compare_profiles(before: Mapping[str, Any], after: Profile) -> list[ModuleChange]:
    """Every module of either profile, sorted by how much slower its own code became, the worst first."""
    try:
        old = {module["path"]: module for module in before["modules"]}
        changes = [
            ModuleChange(
                path,
                after.modules[path].class_name
                if path in after.modules
                else old[path]["class_name"],
                old[path]["self_microseconds"] if path in old else 0.0,
                after.modules[path].self_microseconds if path in after.modules else 0.0,
                old[path]["total_microseconds"] if path in old else 0.0,
                after.modules[path].total_microseconds if path in after.modules else 0.0,
            )
            for path in dict.fromkeys([*after.modules, *old])
        ]
    except (KeyError, TypeError) as error:
        raise BadInput(f"the profile to compare with is incomplete: {error!r}") from error
    if not any(path for path in old if path in after.modules) and len(old) > 1:
        raise BadInput("the profile to compare with is of another model: no module is in both")
    return sorted(changes, key=lambda change: -change.change)
