#!/usr/bin/env python3
"""What HTP costs in time and memory, each figure beside its limit.

    benchmarks/run.py --bin build/bin [--full] [--check] [--only PART ...]

Parts:
    copy      a pass through htp-opt, compared with cp and Python's onnx
    trace     htp-trace on BERT-base, compared with loading LibTorch
    sketch    what identifying weights by sketches adds to htp-trace and to tagging, compared with cp
    tag       --htp-tag with a trace, between import and export, as the model grows
    outline   --htp-outline, the same
    json      DAG and metadata JSON, compared with the import
    whole     one run that imports, tags, outlines and exports, start to end

Times are processor seconds summed over all processors, which depend little on other load; those of passes are elapsed
times between the end of the import and the beginning of the export (--mlir-timing). Commands that are compared still run
alternately; of several runs, the least time and the highest memory count. The growth of cost is measured on equal numbers
of nodes: in each round, the small model runs as often as it fits into the large one, alternately, and the average is
taken; the median of the rounds counts. --full adds the sizes that take minutes (500,000 and 1,000,000 nodes). With
--check, the exit code says whether all limits hold.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from measure import MB, Figure, compare, execute, in_turns, show, table

HERE = pathlib.Path(__file__).parent
PYTHON_COPY = "import onnx, sys; onnx.save(onnx.load(sys.argv[1]), sys.argv[2])"


class Bench:
    """The programs, a folder for models, and how thorough to be."""

    def __init__(self, programs, folder, full, rounds):
        self.htp_opt, self.htp_trace = programs / "htp-opt", programs / "htp-trace"
        self.folder, self.full, self.rounds = folder, full, rounds
        self.sizes = [10_000, 100_000, 500_000] if full else [10_000, 100_000]

    def make(self, kind, path, *arguments):
        """A model of models.py; an existing one in --folder is used again."""
        if path.exists():
            return path
        command = [sys.executable, HERE / "models.py", kind, path, *map(str, arguments)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return path

    def layers(self, kind, nodes):
        return self.make(kind, self.folder / f"{kind}-{nodes}", nodes)

    def tagged(self, nodes):
        """A tagged model with about this many nodes."""
        folder = self.layers("named", nodes)
        target = folder / "tagged.onnx"
        if not target.exists():
            trace = f"--htp-tag=trace={folder / 'trace.json'}"
            execute([self.htp_opt, folder / "model.onnx", trace, "-o", target])
        return target


# --------------------------------------------------------------------------------------------------
# Copying
# --------------------------------------------------------------------------------------------------


def copy_embedded(bench):
    source = bench.make("embedded", bench.folder / "embedded.onnx")
    target, size = bench.folder / "out.onnx", source.stat().st_size

    def prepare():
        # Pending writes of the previous command must not count here.
        subprocess.run(["sync"], check=True)
        target.unlink(missing_ok=True)

    runs = compare(
        {
            "cp": ["cp", source, target],
            "htp-opt": [bench.htp_opt, source, "-o", target],
            "onnx": [sys.executable, "-c", PYTHON_COPY, source, target],
        },
        bench.rounds,
        prepare,
    )
    cp, ours, python = runs["cp"].cpu, runs["htp-opt"], runs["onnx"]
    beside = (
        f"{ours.cpu / cp:.1f} x cp ({cp:.2f} s); Python's onnx {python.cpu / cp:.1f} x cp, "
        f"{python.memory / size:.2f} x size"
    )
    name = f"{size / MB:.0f} MB model through htp-opt"
    return [
        Figure(f"{name}: time", ours.cpu, 2 * cp + 0.2, "s", beside),
        Figure(f"{name}: memory", ours.memory / size, 1.25, "x size"),
    ]


def copy_external(bench):
    beside, other = bench.folder / "external", bench.folder / "elsewhere"
    beside.mkdir(exist_ok=True)
    source = bench.make("external", beside / "model.onnx")

    def prepare():
        shutil.rmtree(other, ignore_errors=True)
        other.mkdir()

    runs = compare(
        {
            place: [bench.htp_opt, source, "-o", folder / "out.onnx"]
            for place, folder in (("same folder", beside), ("another folder", other))
        },
        bench.rounds,
        prepare,
    )
    figures = []
    for place, run in runs.items():
        name = f"8 GB of external data, {place}"
        figures.append(Figure(f"{name}: time", run.cpu, 1, "s"))
        figures.append(Figure(f"{name}: memory", run.memory / MB, 300, "MB"))
    return figures


def bench_copy(bench):
    return copy_embedded(bench) + copy_external(bench)


# --------------------------------------------------------------------------------------------------
# Tracing
# --------------------------------------------------------------------------------------------------


def bench_trace(bench):
    folder = bench.make("bert", bench.folder / "bert")
    target = folder / "trace.json"
    figures = []
    for archive in (folder / "bert.pt", folder / "bert.pt2"):
        size = archive.stat().st_size
        command = [bench.htp_trace, archive, "-o", target]
        runs = compare(
            {
                "load": [bench.htp_trace, "--version"],
                "hash": command,
                "skip": [*command, "--no-hash"],
            },
            bench.rounds,
        )
        load = runs["load"].cpu
        name = f"htp-trace on BERT-base {archive.suffix} ({size / MB:.0f} MB)"
        beside = f"loading LibTorch takes {load:.2f} s"
        figures += [
            Figure(f"{name}: time", runs["hash"].cpu, 2, "s", beside),
            Figure(
                f"{name}: --no-hash, beyond loading LibTorch", runs["skip"].cpu - load, 0.3, "s"
            ),
            Figure(f"{name}: memory", runs["hash"].memory / size, 1.25, "x size"),
        ]
    return figures


def sketch_trace(bench, folder, target):
    figures = []
    for archive in (folder / "bert.pt", folder / "bert.pt2"):
        copy = target.with_suffix(archive.suffix)
        command = [bench.htp_trace, archive, "-o", target]
        runs = compare(
            {"cp": ["cp", archive, copy], "with": command, "without": [*command, "--no-sketch"]},
            bench.rounds,
            lambda: subprocess.run(["sync"], check=True),
        )
        copy.unlink()
        size, ours, bare = archive.stat().st_size, runs["with"], runs["without"]
        name = f"sketches of BERT-base {archive.suffix} ({size / MB:.0f} MB) in htp-trace"
        beside = f"{bare.cpu:.2f} s with --no-sketch; the limit is cp's"
        more = (ours.memory - bare.memory) / size
        figures += [
            Figure(f"{name}: time", ours.cpu - bare.cpu, runs["cp"].cpu, "s", beside),
            Figure(f"{name}: memory", more, 0.1, "x size", f"{bare.memory / size:.2f} x without"),
        ]
    return figures


def sketch_tag(bench, folder, target):
    """Tagging a model whose weights are the trace's by their sketches alone, and one that has them as they are: of
    that one no sketch is made."""
    rounded = bench.make("rounded", bench.folder / "rounded")
    execute([bench.htp_trace, folder / "bert.pt", "-o", target])
    copy, metadata = target.with_name("copy.onnx"), target.with_name("ops.json")

    def tag(name):
        trace = f"--htp-tag=trace={target}"
        return [bench.htp_opt, rounded / name, trace, f"--op-metadata={metadata}", "-o="]

    model = rounded / "model.onnx"
    runs = compare(
        {"cp": ["cp", model, copy], "exact": tag("exact.onnx"), "rounded": tag("model.onnx")},
        bench.rounds,
        lambda: subprocess.run(["sync"], check=True),
    )
    copy.unlink()
    (fit,) = json.loads(metadata.read_text())["statistics"]["fit"]
    size, ours, exact = model.stat().st_size, runs["rounded"], runs["exact"]
    found = f"{fit['sketches_recognised']} of {fit['sketches_compared']} weights recognised"
    beside = f"{found}; {exact.cpu:.2f} s where contents are equal; the limit is cp's"
    name = f"sketches of {size / MB:.0f} MB in tagging"
    more = (ours.memory - exact.memory) / size
    return [
        Figure(f"{name}: time", ours.cpu - exact.cpu, runs["cp"].cpu, "s", beside),
        Figure(f"{name}: memory", more, 0.1, "x size", f"{exact.memory / size:.2f} x without"),
    ]


def bench_sketch(bench):
    folder = bench.make("bert", bench.folder / "bert")
    target = folder / "sketched.json"
    return sketch_trace(bench, folder, target) + sketch_tag(bench, folder, target)


# --------------------------------------------------------------------------------------------------
# Passes, as the model grows
# --------------------------------------------------------------------------------------------------


def grow(name, commands, rounds, limit, note=lambda nodes: "", only=()):
    """Figures for the cost of all or some passes of each command, by number of nodes."""
    turns = [in_turns(commands, only) for _ in range(rounds)]
    smallest = min(commands)

    def cost(runs, nodes):
        """Microseconds a node, on average over one round."""
        return 1e6 * statistics.mean(run.passes for run in runs[nodes]) / nodes

    figures = []
    for nodes in commands:
        best = min((run for runs in turns for run in runs[nodes]), key=lambda run: run.passes)
        if nodes == 100_000:
            beside = f"reading takes {best.read:.2f} s, writing {best.write:.2f} s{note(nodes)}"
            figures.append(Figure(f"{name} 100,000 nodes", best.passes, limit, "s", beside))
        if nodes > smallest:
            ratios = [cost(runs, nodes) / cost(runs, smallest) for runs in turns]
            each = statistics.median(cost(runs, nodes) for runs in turns)
            beside = f"{each:.1f} us a node; {min(ratios):.2f} to {max(ratios):.2f} x"
            figures.append(
                Figure(
                    f"{name}: cost a node, {smallest:,} to {nodes:,}",
                    statistics.median(ratios),
                    1.5,
                    "x",
                    beside,
                )
            )
    return figures


def rightness(folder, tagged):
    """The share of nodes whose module is right."""
    code = (
        "import json, onnx, sys\n"
        "truth = json.load(open(sys.argv[1]))\n"
        "nodes = onnx.load(sys.argv[2]).graph.node\n"
        "scopes = [{p.key: p.value for p in n.metadata_props}.get('htp.scope') for n in nodes]\n"
        "print(sum(a == b for a, b in zip(scopes, truth)) / len(truth))"
    )
    command = [sys.executable, "-c", code, folder / "truth.json", tagged]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def bench_tag(bench):
    figures = []
    for kind, what in (("layers", "without names"), ("untrained", "an untrained model")):
        folders = {nodes: bench.layers(kind, nodes) for nodes in bench.sizes}
        commands = {
            nodes: [
                bench.htp_opt,
                folder / "model.onnx",
                f"--htp-tag=trace={folder / 'trace.json'}",
                "-o",
                folder / "out.onnx",
            ]
            for nodes, folder in folders.items()
        }

        def right(nodes, folders=folders):
            return f"; {rightness(folders[nodes], folders[nodes] / 'out.onnx'):.1%} right"

        figures += grow(f"tagging {what}", commands, bench.rounds, 3, right)
    return figures


def bench_outline(bench):
    """In the same run as tagging, and from a tagged file, whose metadata becomes tags again."""
    tagged, file = {}, {}
    for nodes in bench.sizes:
        source = bench.tagged(nodes)
        folder, end = source.parent, ["--htp-outline", "-o", source.with_name("out.onnx")]
        trace = f"--htp-tag=trace={folder / 'trace.json'}"
        tagged[nodes] = [bench.htp_opt, folder / "model.onnx", trace, *end]
        file[nodes] = [bench.htp_opt, source, *end]
    passes = ("HTPOutline",)
    return [
        *grow("outlining after tagging", tagged, bench.rounds, 2, only=passes),
        *grow("outlining a tagged file", file, bench.rounds, 2),
    ]


def bench_json(bench):
    nodes = 1_000_000 if bench.full else 100_000
    folder = bench.layers("named", nodes)
    source = folder / "tagged.mlirbc"
    if not source.exists():
        option = f"--htp-tag=trace={folder / 'trace.json'}"
        execute([bench.htp_opt, folder / "model.onnx", option, "-o", source])
    sides = [f"--{kind}={source.with_name(kind)}" for kind in ("dag-json", "op-metadata")]
    runs = compare(
        # An empty name: nothing is written.
        {"import": [bench.htp_opt, source, "-o="], "json": [bench.htp_opt, source, "-o=", *sides]},
        1 if bench.full else bench.rounds,
    )
    seconds = runs["json"].cpu - runs["import"].cpu
    name = f"DAG and metadata JSON of {nodes:,} nodes"
    beside = (
        f"the import takes {runs['import'].cpu:.1f} s, {show(runs['import'].memory / MB, 'MB')}"
    )
    return [
        Figure(f"{name}: time", seconds, 20 * nodes / 1_000_000, "s", beside),
        Figure(
            f"{name}: memory", runs["json"].memory / runs["import"].memory, 1.5, "x the import's"
        ),
    ]


def bench_whole(bench):
    """Elapsed time from start to end, as a user experiences it."""
    sizes = [10_000, 100_000, 1_000_000] if bench.full else [10_000, 100_000]
    clock, memory = {}, {}
    for nodes in sizes:
        folder = bench.layers("named", nodes)
        trace = f"--htp-tag=trace={folder / 'trace.json'}"
        end = ["--htp-outline", "-o", folder / "out.onnx"]
        runs = []
        for _ in range(bench.rounds if nodes > 10_000 else 3 * bench.rounds):
            start = time.perf_counter()
            run = execute([bench.htp_opt, folder / "model.onnx", trace, *end])
            runs.append((time.perf_counter() - start, run.memory, run.cpu))
        clock[nodes], memory[nodes], cpu = map(min, zip(*runs))
        print(f"  {nodes:,} nodes: {clock[nodes]:.2f} s, {cpu:.2f} s of processors", flush=True)
    largest, smallest = max(sizes), min(sizes)
    name = f"import, tag, outline, export of {largest:,} nodes"
    each = {nodes: 1e6 * seconds / nodes for nodes, seconds in clock.items()}
    beside = f"{each[smallest]:.1f} us a node at {smallest:,}, {each[largest]:.1f} at {largest:,}"
    return [
        Figure(f"{name}: time", clock[largest], 25 * largest / 1_000_000, "s", beside),
        Figure(f"{name}: memory", memory[largest] / MB, 6000 * largest / 1_000_000, "MB"),
        Figure(f"{name}: cost a node", each[largest] / each[smallest], 1.3, "x"),
    ]


PARTS = {
    "copy": bench_copy,
    "trace": bench_trace,
    "sketch": bench_sketch,
    "tag": bench_tag,
    "outline": bench_outline,
    "json": bench_json,
    "whole": bench_whole,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bin", type=pathlib.Path, default="build/bin", help="folder of htp-opt")
    parser.add_argument("--full", action="store_true", help="500,000 and 1,000,000 nodes too")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command")
    parser.add_argument("--check", action="store_true", help="fail where a limit does not hold")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures as JSON")
    parser.add_argument(
        "--folder",
        type=pathlib.Path,
        help="keep the models here, and use those that are there (default: a temporary folder)",
    )
    options = parser.parse_args()
    figures = []
    with tempfile.TemporaryDirectory(prefix="htp-bench-") as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(options.bin, folder, options.full, options.rounds)
        for part in options.only:
            print(f"measuring: {part} …", file=sys.stderr, flush=True)
            figures += PARTS[part](bench)
    print(table(figures))
    if options.json:
        options.json.write_text(json.dumps([vars(figure) for figure in figures], indent=1))
    if options.check and not all(figure.holds for figure in figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
