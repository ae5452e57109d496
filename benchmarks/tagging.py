#!/usr/bin/env python3
"""What tagging costs beyond import and export, as the model grows.

    tagging.py HTP_OPT [--nodes N ...] [--keep DIR]

Makes a nameless model of about N nodes (layers of projections, a masked softmax, residual adds,
a small perceptron) and the trace of the same ops, then runs htp-opt with and without
`--htp-tag=trace=…`. One JSON line a size: nodes, seconds without and with tagging, microseconds a
node, and the share of nodes whose module is right.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def fingerprint(array):
    """As include/HTP/Hierarchy/Fingerprint.h has it: the same for every order of the elements."""
    with np.errstate(over="ignore"):
        x = array.reshape(-1).view(np.uint32).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return f"{int(np.sum(x ^ (x >> np.uint64(31)), dtype=np.uint64)):016x}"


class Model:
    """An ONNX graph and its trace, built side by side."""

    def __init__(self):
        self.nodes, self.initializers, self.ops, self.truth = [], [], [], []
        self.modules = [
            dict(
                path="",
                **{"class": "Net"},
                qualified="demo.Net",
                torch_nn=False,
                calls=1,
                parameters=[],
            )
        ]
        self.random = np.random.default_rng(0)
        self.values = 2  # two arguments: hidden states and a mask

    def module(self, path, cls, torch_nn=False):
        qualified = f"torch.nn.modules.x.{cls}" if torch_nn else f"demo.{cls}"
        self.modules.append(
            dict(
                path=path,
                **{"class": cls},
                qualified=qualified,
                torch_nn=torch_nn,
                calls=1,
                parameters=[],
            )
        )

    def op(self, kind, onnx_op, module, inputs, parameter=None, **attributes):
        reads = [{"value": v} for v in inputs]
        names = [f"v{v}" for v in inputs]
        if parameter is not None:
            self.modules[-1]["parameters"].append(
                dict(
                    name="weight",
                    kind="parameter",
                    shape=[4, 4],
                    dtype="float32",
                    hash="0" * 16,
                    values_hash=fingerprint(parameter),
                )
            )
            reads.append({"parameter": f"{module}.weight"})
            names.append(f"w{len(self.initializers)}")
            self.initializers.append(numpy_helper.from_array(parameter.T.copy(), names[-1]))
        made = self.values
        self.values += 1
        self.ops.append(
            dict(
                kind=f"aten::{kind}", module=module, call=0, inputs=reads, outputs=[{"value": made}]
            )
        )
        self.nodes.append(helper.make_node(onnx_op, names, [f"v{made}"], **attributes))
        self.truth.append(module)
        return made

    def linear(self, path, value):
        self.module(path, "Linear", torch_nn=True)
        weight = self.random.standard_normal((4, 4)).astype(np.float32)
        return self.op("linear", "MatMul", path, [value], weight)

    def layer(self, path, x, mask):
        self.module(path, "Layer")
        q, k = self.linear(f"{path}.query", x), self.linear(f"{path}.key", x)
        k = self.op("transpose", "Transpose", path, [k], perm=[1, 0])
        scores = self.op("matmul", "MatMul", path, [q, k])
        scores = self.op("add", "Add", path, [scores, mask])
        scores = self.op("softmax", "Softmax", path, [scores])
        out = self.linear(f"{path}.output", scores)
        x = self.op("add", "Add", path, [out, x])
        hidden = self.linear(f"{path}.up", x)
        self.module(f"{path}.act", "ReLU", torch_nn=True)
        hidden = self.op("relu", "Relu", f"{path}.act", [hidden])
        return self.op("add", "Add", path, [self.linear(f"{path}.down", hidden), x])

    def write(self, folder, result):
        shape = [4, 4]

        def value(name):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

        graph = helper.make_graph(
            self.nodes, "net", [value("v0"), value("v1")], [value(f"v{result}")], self.initializers
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
        onnx.save(model, folder / "model.onnx")
        inputs = [dict(value=k, name=f"x{k}", shape=shape, dtype="float32") for k in range(2)]
        trace = dict(
            format="htp-trace",
            version=1,
            producer=dict(name="tagging.py", source="torchscript"),
            modules=self.modules,
            inputs=inputs,
            outputs=[{"value": result}],
            ops=self.ops,
        )
        (folder / "trace.json").write_text(json.dumps(trace))


def make(nodes, folder):
    model = Model()
    mask = model.op("neg", "Neg", "", [1])
    x = 0
    for layer in range(max(1, nodes // 12)):
        x = model.layer(f"layer.{layer}", x, mask)
    model.write(folder, x)
    return model.truth


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - start


def measure(htp_opt, nodes, folder):
    truth = make(nodes, folder)
    command = [htp_opt, folder / "model.onnx", "-o", folder / "out.onnx"]
    plain = min(seconds(command) for _ in range(2))
    tagging = f"--htp-tag=trace={folder / 'trace.json'}"
    tagged = min(seconds([*command, tagging]) for _ in range(2))
    scopes = [
        {p.key: p.value for p in n.metadata_props}.get("htp.scope")
        for n in onnx.load(folder / "out.onnx").graph.node
    ]
    right = sum(a == b for a, b in zip(scopes, truth)) / len(truth)
    return dict(
        nodes=len(truth),
        plain=round(plain, 3),
        tagged=round(tagged, 3),
        microseconds_per_node=round(1e6 * (tagged - plain) / len(truth), 2),
        right=round(right, 4),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("htp_opt")
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the models made")
    arguments = parser.parse_args()
    for nodes in arguments.nodes:
        with tempfile.TemporaryDirectory() as temporary:
            folder = arguments.keep / str(nodes) if arguments.keep else pathlib.Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            print(json.dumps(measure(arguments.htp_opt, nodes, folder)), flush=True)


if __name__ == "__main__":
    main()
