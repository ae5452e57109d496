"""Commands that answer questions about a deployed model, module by module: select, profile, diff."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import flamegraph
from ..diffing import Comparison, Difference, diff
from ..errors import BadInput
from ..files import Outputs, check_writable
from ..profiling import ModuleChange, Profile, compare_profiles, profile, read_profile
from ..selecting import FORMATS, select
from .commands import Commands, add_dim, dimensions
from .console import Console, count, printable

SELECT = """\
Print the nodes of modules, as lists for quantizers and compilers

PATTERN is a module's path or a glob over paths: * is any text within one component, ** any number of components,
[0-11] a number. A module includes all modules below it. With --classes, PATTERN is a class name.
Exit code 1 if nothing matches.

examples:
  htp select bert.onnx 'encoder.layer.[0-3].attention.**'
  htp select bert.onnx 'encoder.layer.*.attention' --op-types MatMul,Gemm --format onnxruntime > exclude.json
  htp select bert.onnx --classes BertSelfAttention --format olive
  htp select bert.onnx --classes BertIntermediate BertOutput --invert --format onnxruntime
  htp select bert.onnx pooler --json | jq -r '.nodes[].op_type'

formats:
  names        one node name per line
  json         nodes with their types and modules (as --json)
  onnxruntime  a list: nodes_to_exclude of quantize_static and quantize_dynamic, node_block_list of float16 converters
  olive        {"nodes_to_exclude": [...]}, for the configuration of a quantization pass
"""
PROFILE = """\
Show which module is slow

Runs a tagged model in ONNX Runtime with its profiler on, tags the graph that was actually executed, fused nodes
included, and adds up the times of its nodes by module. self is the time of a module's own code, total includes all
modules below it, calls is the number of nodes executed per run, and line is the line of Python code if the exporter
recorded it (dynamo does). Times are means over the faster half of the runs: all runs do the same work, so the slower
half was disturbed by other work on the machine.

With --profile, nothing is run: FILE is a profile that ONNX Runtime wrote; the graph that OpenVINO executed
(benchmark_app -pc -exec_graph_path FILE.xml) or its report (-report_type detailed_counters); or a CSV of
name,microseconds from any other engine, in which the time of a fused name 'A + B' is split evenly over its parts.

examples:
  htp profile bert.onnx --dim batch=1 --dim length=128
  htp profile bert.onnx --inputs batch.npz --runs 50 --threads 1 --depth 2
  htp profile bert.onnx --speedscope bert.speedscope.json --perfetto bert.trace.json
  htp profile bert.onnx --json > before.json
  htp profile bert-int8.onnx --compare before.json
  htp profile bert.onnx --profile onnxruntime_profile__2026-01-31.json
  htp profile bert.onnx --profile executed.xml
  htp profile bert.onnx --profile layers.csv

--inputs: an .npz file with an array for each input; missing ones are generated from the model's shapes.
--dim: the size of a symbolic dimension; one without a name is called INPUT.AXIS, as in --dim input_ids.1=128.
"""
DIFF = """\
Show where two forms of a model diverge

Runs two forms of one model on the same inputs: PyTorch and its export, before and after an optimizer, fp32 and fp16
or int8. Compares the results of each module call, in execution order, where both still have the value, and names the
first module that diverges. A and B are ONNX files, or PyTorch models as for htp export, which bring their own inputs.
Of two ONNX files, at least one must be tagged; if the other has no tags, it is tagged with the first as its reference.
An ONNX file that is compared with a PyTorch model needs no tags. Exit code 1 if any module diverges.

  relative   largest difference as a fraction of A's largest value; above --tolerance, the value diverges
  SNR        signal-to-noise ratio in dB: about 120 for float32, 60 for float16, 20 to 40 for int8
  added      the module's own error as a fraction of the signal: B's module receives A's inputs, so earlier errors
             do not count
  shifted    how far the length of the signal is off, measured in the same way; rounding hardly changes it, a wrong
             weight does

If quantization adds noise everywhere, look at the modules for which added or shifted is far above the median: they
come first in the second table.

examples:
  htp diff model.onnx optimized.onnx
  htp diff model.onnx fp16.onnx --tolerance 0.02 --inputs batch.npz
  htp diff model.onnx int8.onnx --tolerance 0.5 --all
  htp diff model.onnx int8.onnx --json | jq -r '.worst[0].module'
  htp diff model.py:build model.onnx
  htp diff model.onnx optimized.onnx --value-map values.json
"""


def register(commands: Commands) -> None:
    parser = commands.add("select", SELECT, run_select)
    parser.add_argument("model", metavar="MODEL", help="a tagged model, or its .ops.json")
    parser.add_argument("patterns", metavar="PATTERN", nargs="+", help="modules to select")
    parser.add_argument("--classes", action="store_true", help="patterns are class names")
    parser.add_argument("--format", choices=FORMATS, default="names", help="default: %(default)s")
    parser.add_argument("--op-types", metavar="A,B", help="only nodes of these types")
    parser.add_argument(
        "--own", action="store_true", help="exclude modules below the matching ones"
    )
    parser.add_argument("--invert", action="store_true", help="all nodes except these")

    parser = commands.add("profile", PROFILE, run_profile)
    parser.add_argument("model", metavar="MODEL", help="a tagged ONNX model")
    parser.add_argument("--inputs", metavar="FILE.npz", help="inputs for the run")
    add_dim(parser, " (default: 1 for a first axis, 16 for others)")
    parser.add_argument("--warmup", metavar="N", type=int, help="uncounted runs first (default: 3)")
    parser.add_argument(
        "--runs", metavar="N", type=int, default=10, help="counted runs (default: %(default)s)"
    )
    parser.add_argument("--threads", metavar="N", type=int, help="default: ONNX Runtime's choice")
    parser.add_argument("--provider", metavar="NAME", help="cpu (the default), cuda, …")
    parser.add_argument("--profile", metavar="FILE", help="read this profile instead of running")
    parser.add_argument(
        "--depth",
        metavar="N",
        type=int,
        default=3,
        help="levels of the tree (default: %(default)s)",
    )
    parser.add_argument(
        "--top",
        metavar="N",
        type=int,
        default=10,
        help="slowest kernels and classes to show (default: %(default)s)",
    )
    parser.add_argument("--compare", metavar="FILE", help="compare with an earlier --json result")
    parser.add_argument("--csv", metavar="FILE", help="write a CSV file with a line per module")
    parser.add_argument("--speedscope", metavar="FILE", help="write a flame graph for speedscope")
    parser.add_argument("--perfetto", metavar="FILE", help="write a trace for Perfetto or Chrome")

    parser = commands.add("diff", DIFF, run_diff)
    parser.add_argument("first", metavar="A", help="an ONNX model, or model.py:build")
    parser.add_argument("second", metavar="B", help="another form of it")
    parser.add_argument("--inputs", metavar="FILE.npz", help="inputs for both models")
    add_dim(parser)
    parser.add_argument(
        "--tolerance",
        metavar="X",
        type=float,
        default=1e-3,
        help="largest accepted relative difference (default: %(default)s)",
    )
    parser.add_argument(
        "--top", metavar="N", type=int, default=10, help="lines to show (default: %(default)s)"
    )
    parser.add_argument("--all", action="store_true", help="show every value, in execution order")
    parser.add_argument(
        "--value-map",
        metavar="FILE",
        help="write which value of A corresponds to which of B, as JSON",
    )


def run_select(options: argparse.Namespace, console: Console) -> int:
    console.progress(f"reading {options.model}")
    kinds = options.op_types.split(",") if options.op_types is not None else None
    chosen = select(
        options.model,
        *options.patterns,
        classes=options.classes,
        op_types=[kind.strip() for kind in kinds] if kinds is not None else None,
        own=options.own,
        invert=options.invert,
    )
    if chosen.nameless and not console.json:
        console.warning(
            f"{chosen.nameless} of {len(chosen)} nodes have no name in the file: no list can name them"
        )
    if console.json or options.format == "json":
        print(json.dumps(chosen.as_json(), indent=1, ensure_ascii=False))
    elif options.format == "names":
        for name in chosen.names:
            print(printable(name))
    else:
        print(json.dumps(chosen.formatted(options.format), indent=1, ensure_ascii=False))
    return 0


def run_profile(options: argparse.Namespace, console: Console) -> int:
    writers: dict[Path, Callable[[Profile], str]] = {}
    for name, write in (
        (options.csv, flamegraph.table),
        (options.speedscope, lambda result: json.dumps(flamegraph.speedscope(result))),
        (options.perfetto, lambda result: json.dumps(flamegraph.perfetto(result))),
    ):
        if name is not None:
            if Path(name) in writers:
                raise BadInput(f"{name} is the output of two options")
            check_writable(Path(name))
            writers[Path(name)] = write
    before = read_profile(options.compare) if options.compare else None
    result = profile(
        options.model,
        inputs=options.inputs,
        dims=dimensions(options.dim),
        warmup=options.warmup,
        runs=options.runs,
        threads=options.threads,
        provider=options.provider,
        times=options.profile,
        progress=console.progress,
    )
    changes = compare_profiles(before, result) if before else None
    files = _write_all(writers, result, console)
    if before is not None and changes is not None:
        show_changes(before, changes, result, options.top, console)
    else:
        show_profile(result, options, console)
    for file in files:
        console.note(f"  {printable(file)}")
    found: dict[str, Any] = {**result.as_json(), "files": files}
    if changes is not None:
        found["comparison"] = [{**vars(change), "change": change.change} for change in changes]
    console.result(found)
    return 0


def _write_all(
    writers: dict[Path, Callable[[Profile], str]], result: Profile, console: Console
) -> list[str]:
    """Writes all files or none."""
    if not writers:
        return []
    with Outputs(*writers) as outputs:
        for target, write in writers.items():
            outputs[target].write_text(write(result), encoding="utf-8", errors="backslashreplace")
    for file in outputs.replaced:
        console.remark(f"replaced {printable(file)}")
    return [str(target) for target in writers]


def _ms(microseconds: float) -> str:
    return f"{microseconds / 1000:.3f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _short(source: str | None) -> str:
    """The file name and line without folders; --json includes them."""
    return source.replace("\\", "/").rpartition("/")[2] if source else ""


def show_profile(result: Profile, options: argparse.Namespace, console: Console) -> None:
    spent = f"{_ms(result.node_microseconds)} ms in nodes"
    if result.model_microseconds is not None:
        spent += f" of {_ms(result.model_microseconds)} ms"
    if result.run_microseconds:  # other engines do not say how many runs their times cover
        spent += f", mean of {count(result.runs, 'run')}"
    console.text(f"{printable(result.file)}: {spent} ({printable(result.source)})")
    console.text(
        f"{_percent(result.attributed)} has a module, {_percent(result.below_root)} one below the root"
    )
    console.text("")
    rows = []
    for level, module in result.tree(options.depth):
        name = module.path.removeprefix(f"{result.parents.get(module.path, '')}.")
        rows.append(
            (
                "  " * level + (f"{name}: {module.class_name}" if name else module.class_name),
                _ms(module.self_microseconds),
                _ms(module.total_microseconds),
                _percent(module.share),
                f"{round(module.calls, 1):g}",
            )
        )
    lost = sum(k.microseconds for k in result.kernels if k.module is None)
    if lost:
        share = _percent(lost / result.node_microseconds)
        rows.append(("(no module)", _ms(lost), _ms(lost), share, ""))
    console.table(("module", "self ms", "total ms", "share", "calls"), rows)
    if options.top > 0:
        console.text("")
        console.table(
            ("class", "modules", "self ms", "total ms", "share"),
            [
                (
                    c.class_name,
                    c.modules,
                    _ms(c.self_microseconds),
                    _ms(c.total_microseconds),
                    _percent(c.share),
                )
                for c in result.classes[: options.top]
            ],
        )
        console.text("")
        slowest = result.slowest(options.top)
        line = ["line"] if any(k.source for k in slowest) else []
        console.table(
            ("slowest kernel", "type", "ms", "share", "module", *line),
            [
                (
                    k.name,
                    k.op_type,
                    _ms(k.microseconds),
                    _percent(k.share),
                    "(no module)" if k.module is None else k.module or "(root)",
                    *([_short(k.source)] if line else []),
                )
                for k in slowest
            ],
        )


def show_changes(
    before: dict[str, Any],
    changes: list[ModuleChange],
    result: Profile,
    top: int,
    console: Console,
) -> None:
    """Shows modules that became slower, then those that became faster."""
    old, new = float(before["node_microseconds"]), result.node_microseconds
    factor = f", {new / old:.2f} times" if old else ""
    console.text(
        f"{_ms(old)} ms in nodes before ({printable(before['file'])}), "
        f"{_ms(new)} ms now ({printable(result.file)}){factor}"
    )
    slower = [c for c in changes if c.change > 0]
    faster = [c for c in reversed(changes) if c.change < 0]
    for title, found in (("slower", slower), ("faster", faster)):
        if not found:
            continue
        console.text(f"\n{count(len(found), 'module')} {title} in their own code:")
        console.table(
            (title, "class", "self before", "self now", "change", "total before", "total now"),
            [
                (
                    c.path or "(root)",
                    c.class_name,
                    _ms(c.self_before),
                    _ms(c.self_after),
                    f"{c.change / 1000:+.3f}",
                    _ms(c.total_before),
                    _ms(c.total_after),
                )
                for c in found[: max(top, 1)]
            ],
        )


def run_diff(options: argparse.Namespace, console: Console) -> int:
    target = Path(options.value_map) if options.value_map is not None else None
    if target:
        check_writable(target)
        for name in (options.first, options.second):
            if target.exists() and Path(name).exists() and target.samefile(name):
                raise BadInput(f"--value-map would replace {name}")
    result = diff(
        options.first,
        options.second,
        inputs=options.inputs,
        dims=dimensions(options.dim),
        tolerance=options.tolerance,
        progress=console.progress,
    )
    if target:
        _write_map(target, result, console)
    if result.hint:
        console.warning(result.hint)
    diverging = [item for item in result.comparisons if item.parts]
    verb = "diverges" if len(diverging) == 1 else "diverge"
    console.text(
        f"{count(len(result.comparisons), 'value')} compared, "
        f"{len(diverging)} {verb} by more than {options.tolerance:g}"
    )
    if result.missing:
        more = f", first {printable(result.missing[0])}"
        console.text(
            f"not compared: {count(len(result.missing), 'module call')} with values that only "
            f"{printable(result.first_file)} has{more}"
        )
    if result.first:
        held = ", ".join(map(printable, result.first.holds[:5]))
        console.text(
            f"the first module that diverges: {_called(result.first)}"
            + (f" (or what was fused into it: {held})" if held else "")
        )
    if options.all or diverging:
        shown = result.comparisons if options.all else diverging[: max(options.top, 1)]
        console.text("")
        _show_comparisons(shown, "module, in execution order", console)
    if not options.all:
        console.text("")
        worst = [item for item in result.worst if item.added > 0][: max(options.top, 1)]
        _show_comparisons(worst, "module, largest own error first", console)
    console.result({**result.as_json(), "warnings": console.warnings})
    return 0 if result.equal else 1


def _write_map(target: Path, result: Difference, console: Console) -> None:
    with Outputs(target) as outputs:
        text = json.dumps(result.value_map(), indent=1, ensure_ascii=False)
        outputs[target].write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    for file in outputs.replaced:
        console.remark(f"replaced {printable(file)}")


def _called(item: Comparison) -> str:
    call = f" (call {item.call})" if item.call else ""
    return f"{printable(item.module) or '(root)'}: {printable(item.class_name)}{call}"


def _show_comparisons(items: list[Comparison], title: str, console: Console) -> None:
    if items:
        console.table(
            (
                title,
                "value",
                "relative",
                "added",
                "shifted",
                "absolute",
                "cosine",
                "SNR dB",
                "NaN, inf",
            ),
            [
                (
                    _called(item),
                    item.value,
                    f"{item.relative:.2e}",
                    f"{item.added:.2e}",
                    f"{item.shifted:.2e}",
                    f"{item.absolute:.2e}",
                    f"{item.cosine:.6f}",
                    f"{item.snr:.1f}",
                    " -> ".join(map(str, item.nonfinite)) if any(item.nonfinite) else "",
                )
                for item in items
            ],
        )
