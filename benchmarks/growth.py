#!/usr/bin/env python3
"""How cost grows for models that are extreme in one way.

    benchmarks/growth.py [--bin build/bin] [--check] [NAME ...]

    arguments   a graph with one node for each of N inputs
    depth       N nested modules with a node each; the unit is a character of their paths, of which there are N²
    names       N modules with equal functions whose nodes have equal names
    lost        the same, but another tool has dropped the notes on the calls: values have equal names when they are inlined
    aliases     one module that is registered under N names
    functions   N functions of the model's own, each calling the next
    contexts    one constant that N modules read

Each is tagged, outlined and inlined at three sizes, each twice the previous one. The cost per unit, in processor time and in
memory beyond that of the smallest model, must stay within 1.5 times; with --check, the exit code says whether it does.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from measure import MB, execute

if "--make" in sys.argv:
    import onnx
    from onnx import TensorProto, helper

LIMIT = 1.5


def value(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])


def relu(source, target, scopes, name=None):
    """A node with the notes of PyTorch's exporter."""
    node = helper.make_node("Relu", [source], [target], name=name or f"node_{target}")
    kinds = [f"demo.M{i}" for i in range(len(scopes))]
    node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=repr([*scopes, "relu"]))
    node.metadata_props.add(key="pkg.torch.onnx.class_hierarchy", value=repr([*kinds, "aten.relu"]))
    return node


def model(nodes, inputs, outputs, **more):
    graph = helper.make_graph(nodes, "main_graph", inputs, outputs)
    return helper.make_model(
        graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)], **more
    )


def arguments(count):
    nodes = [relu(f"x{i}", f"y{i}", ["", f"part{i % 100}"]) for i in range(count)]
    return model(nodes, [value(f"x{i}") for i in range(count)], [value(n.output[0]) for n in nodes])


def depth(count):
    """By a trace: notes of that depth would be as long as the model is large, squared."""
    nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"], name=f"n{i}") for i in range(count)]
    paths = ["", *(".".join(["m"] * i) for i in range(1, count))]
    modules = [
        {
            "path": p,
            "class": "M",
            "qualified": "demo.M",
            "torch_nn": False,
            "calls": 1,
            "parameters": [],
        }
        for p in paths
    ]
    ops = [
        {
            "kind": "aten::relu",
            "module": p,
            "call": 0,
            "inputs": [{"value": i}],
            "outputs": [{"value": i + 1}],
        }
        for i, p in enumerate(paths)
    ]
    trace = {
        "format": "htp-trace", "version": 1, "producer": {"name": "growth", "source": "export"}, "modules": modules,
        "inputs": [{"value": 0, "name": "v0", "shape": [2], "dtype": "float32"}], "outputs": [{"value": count}], "ops": ops,
    }  # fmt: skip
    return model(nodes, [value("v0")], [value(f"v{count}")]), trace


def names(count):
    nodes = []
    for i in range(count):
        scopes = ["", f"layer.{i}"]
        nodes += [
            relu(f"v{2 * i}", f"v{2 * i + 1}", scopes, "same"),
            relu(f"v{2 * i + 1}", f"v{2 * i + 2}", scopes, "same"),
        ]
    return model(nodes, [value("v0")], [value(f"v{2 * count}")])


def aliases(count):
    made, trace = depth(2)
    trace["modules"][1]["aliases"] = [f"alias{i}" for i in range(count)]
    return made, trace


def functions(count):
    local = []
    for i in range(count):
        last = i + 1 == count
        call = helper.make_node(
            "Relu" if last else f"f{i + 1}", ["a"], ["b"], domain="" if last else "local"
        )
        domains = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
        local.append(helper.make_function("local", f"f{i}", ["a"], ["b"], [call], domains))
    made = model(
        [helper.make_node("f0", ["v0"], ["v1"], domain="local")],
        [value("v0")],
        [value("v1")],
        functions=local,
    )
    made.opset_import.add(domain="local", version=1)
    return made


def contexts(count):
    nodes = [
        helper.make_node("Add", [f"v{i}", "c"], [f"v{i + 1}"], name=f"add{i}") for i in range(count)
    ]
    for i, node in enumerate(nodes):
        node.metadata_props.extend(relu("a", "b", ["", f"layer.{i}"]).metadata_props)
    made = model(nodes, [value("v0")], [value(f"v{count}")])
    made.graph.initializer.append(helper.make_tensor("c", TensorProto.FLOAT, [2], [1.0, 2.0]))
    return made


KINDS = {
    "arguments": (arguments, 5000), "depth": (depth, 500), "names": (names, 10_000), "lost": (names, 10_000), "aliases": (aliases, 200_000),
    "functions": (functions, 20_000), "contexts": (contexts, 10_000),
}  # fmt: skip


def forget_calls(path):
    """Drops the notes that outlining puts on calls to restore the names of values."""
    outlined = onnx.load(path)
    for node in outlined.graph.node:
        kept = [e for e in node.metadata_props if e.key not in ("htp.originals", "htp.order")]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(outlined, path)


def make(kind, count, folder):
    if not count:
        forget_calls(folder / "outlined.onnx")
        return
    made = KINDS[kind][0](count)
    made, trace = made if isinstance(made, tuple) else (made, None)
    onnx.save(made, folder / "model.onnx")
    (folder / "trace.json").unlink(missing_ok=True)
    if trace:
        (folder / "trace.json").write_text(json.dumps(trace))


def measure(kind, count, programs, folder):
    """Processor time and memory of all three steps."""
    # In a separate process, because this one's memory would count as that of the processes it starts.
    subprocess.run([sys.executable, __file__, "--make", str(count), folder, kind], check=True)
    source, tagged, outlined = (folder / f"{name}.onnx" for name in ("model", "tagged", "outlined"))
    trace = folder / "trace.json"
    option = f"--htp-tag=trace={trace} force=true" if trace.exists() else "--htp-tag"
    program = programs / "htp-onnx"
    steps = [
        [program, source, option, "-o", tagged],
        [program, tagged, "--htp-outline=min-ops=1", "-o", outlined],
        [program, outlined, "--htp-inline", "-o", folder / "inlined.onnx"],
    ]
    runs = []
    for step in steps:
        if kind == "lost" and step is steps[-1]:
            subprocess.run([sys.executable, __file__, "--make", "0", folder, kind], check=True)
        runs.append(execute(step))
    return [(run.cpu, run.memory) for run in runs]


def shown(ratio):
    return "too little to tell" if ratio is None else f"{ratio:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(KINDS))
    parser.add_argument("--make", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.make:
        make(args.names[0], int(args.make[0]), pathlib.Path(args.make[1]))
        return 0
    good = True
    print(
        "| what | step | size | s | MB | cost of a unit, beside half the size |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        for kind in args.names or KINDS:
            base = measure(kind, 10, args.bin, pathlib.Path(folder))
            before = None
            for factor in (1, 2, 4):
                count = factor * KINDS[kind][1]
                now = measure(kind, count, args.bin, pathlib.Path(folder))
                for i, step in enumerate(("tag", "outline", "inline")):
                    cpu, memory = (now[i][k] - base[i][k] for k in (0, 1))
                    ratio = ""
                    if before:
                        old_cpu, old_memory = (before[i][k] - base[i][k] for k in (0, 1))
                        # Times near zero say nothing.
                        units = 4 if kind == "depth" else 2
                        time = cpu / old_cpu / units if old_cpu > 0.1 else None
                        space = memory / old_memory / units if old_memory > 50 * MB else None
                        good = good and max(time or 0, space or 0) <= LIMIT
                        ratio = f"time {shown(time)}, memory {shown(space)}"
                    print(
                        f"| {kind} | {step} | {count} | {now[i][0]:.2f} | {now[i][1] / MB:.0f} | {ratio} |",
                        flush=True,
                    )
                before = now
    return 1 if args.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
