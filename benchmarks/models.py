#!/usr/bin/env python3
"""Models for measurements.

    models.py embedded FILE           438 MB of weights inside, as large as BERT-base
    models.py external FILE           8 GiB of external data beside it (a sparse file)
    models.py bert FOLDER             BERT-base as a traced and as an exported archive
    models.py rounded FOLDER          the same as ONNX without names, plain and rounded, which only sketches can identify
    models.py layers FOLDER NODES     about NODES nodes in layers of attention, and their trace
    models.py named FOLDER NODES      the same, with the scopes of an exporter in its names
    models.py untrained FOLDER NODES  without names; the layers have biases, all of them zero

Runs as a separate program, because the memory for making a model would otherwise count as that of the programs
that are measured afterwards.
"""

import json
import os
import pathlib
import sys

EMBEDDED_LAYERS = 58  # of 7.55 MB: 438 MB
EXTERNAL_LAYERS = 32  # of 256 MiB: 8 GiB


def chain(shape, layers, weight):
    """x @ w0 @ w1 …: `weight` fills in the data of each tensor."""
    from onnx import TensorProto, helper

    nodes, tensors = [], []
    for i in range(layers):
        tensor = TensorProto(name=f"layer.{i}.weight", dims=shape, data_type=TensorProto.FLOAT)
        weight(i, tensor)
        tensors.append(tensor)
        nodes.append(
            helper.make_node("MatMul", [f"v{i}", tensor.name], [f"v{i + 1}"], name=f"/{i}/MatMul")
        )
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "main_graph",
        [value("v0", TensorProto.FLOAT, [1, shape[0]])],
        [value(f"v{layers}", TensorProto.FLOAT, [1, shape[1]])],
        tensors,
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def embedded(path):
    import numpy
    import onnx

    side = 1374
    generator = numpy.random.default_rng(0)

    def weight(_, tensor):
        tensor.raw_data = generator.random((side, side), numpy.float32).tobytes()

    onnx.save(chain([side, side], EMBEDDED_LAYERS, weight), path)


def external(path):
    import onnx
    from onnx import TensorProto

    side = 8192
    size = side * side * 4

    def weight(i, tensor):
        tensor.data_location = TensorProto.EXTERNAL
        entries = {"location": "weights.bin", "offset": str(i * size), "length": str(size)}
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)

    onnx.save(chain([side, side], EXTERNAL_LAYERS, weight), path)
    data = path.parent / "weights.bin"
    data.touch()
    os.truncate(data, EXTERNAL_LAYERS * size)


def bert(folder):
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(attn_implementation="eager", return_dict=False)
    model = transformers.BertModel(config).eval()
    ids = torch.ones(1, 16, dtype=torch.int64)
    with torch.no_grad():
        torch.jit.trace(model, (ids,), strict=False).save(str(folder / "bert.pt"))
        torch.export.save(torch.export.export(model, (ids,)), str(folder / "bert.pt2"))


def rounded(folder):
    """exact.onnx, and model.onnx with weights rounded to float16 but stored as float32: same size, different contents."""
    import numpy
    import onnx
    import torch
    from onnx import numpy_helper

    traced = torch.jit.load(str(folder.parent / "bert/bert.pt"))
    ids = torch.ones(1, 16, dtype=torch.int64)
    torch.onnx.export(traced, (ids,), str(folder / "model.onnx"), dynamo=False)
    model = onnx.load(folder / "model.onnx")
    names = {tensor.name: f"t{n}" for n, tensor in enumerate(model.graph.initializer)}
    for tensor in model.graph.initializer:
        tensor.name = names[tensor.name]
    for number, node in enumerate(model.graph.node):
        node.name = f"n{number}"
        for place, name in enumerate(node.input):
            node.input[place] = names.get(name, name)
        for place, name in enumerate(node.output):
            names[name] = node.output[place] = f"v{number}.{place}"
    for output in model.graph.output:
        output.name = names[output.name]
    del model.graph.value_info[:]
    onnx.save(model, folder / "exact.onnx")
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == numpy.float32:
            array = array.astype(numpy.float16).astype(numpy.float32)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    onnx.save(model, folder / "model.onnx")


def fingerprint(array):
    """As in include/HTP/Weights/Fingerprint.h: independent of the order of the elements."""
    import numpy as np

    with np.errstate(over="ignore"):
        x = array.reshape(-1).view(np.uint32).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return f"{int(np.sum(x ^ (x >> np.uint64(31)), dtype=np.uint64)):016x}"


class Layers:
    """An ONNX graph and its trace, built side by side: layers of projections, a masked softmax,
    residual adds and a small perceptron. Without `names` only the weights' values and the structure
    say where a node belongs."""

    def __init__(self, nodes, names):
        import numpy
        from onnx import helper

        self.make_node, self.names = helper.make_node, names
        self.random = numpy.random.default_rng(0)
        self.nodes, self.initializers, self.modules, self.ops, self.truth = [], [], [], [], []
        self.values = 2  # two arguments: hidden states and a mask
        self.module("", "Net")
        mask = self.op("neg", "Neg", "", [1])
        x = 0
        for layer in range(max(1, nodes // 12)):
            x = self.layer(f"layer.{layer}", x, mask)
        self.result = x

    def module(self, path, cls, torch_nn=False):
        qualified = f"torch.nn.modules.x.{cls}" if torch_nn else f"demo.{cls}"
        self.modules.append(
            {
                "path": path,
                "class": cls,
                "qualified": qualified,
                "torch_nn": torch_nn,
                "calls": 1,
                "parameters": [],
            }
        )

    def parameter(self, name, values, digest="0" * 16):
        """Adds it to the last module; returns the name of the initializer."""
        from onnx import numpy_helper

        self.modules[-1]["parameters"].append(
            {
                "name": name,
                "kind": "parameter",
                "shape": list(values.shape),
                "dtype": "float32",
                "hash": digest,
                "values_hash": fingerprint(values),
            }
        )
        tensor = f"w{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(values.T.copy(), tensor))
        return tensor

    def weight(self):
        return self.parameter("weight", self.random.standard_normal((4, 4)).astype("float32"))

    def op(self, kind, onnx_op, module, inputs, parameter=None, **attributes):
        """`parameter` is the name of one and its initializer."""
        reads = [{"value": v} for v in inputs]
        names = [f"v{v}" for v in inputs]
        if parameter:
            names.append(parameter[1])
            reads.append({"parameter": f"{module}.{parameter[0]}"})
        made = self.values
        self.values += 1
        self.ops.append(
            {
                "kind": f"aten::{kind}",
                "module": module,
                "call": 0,
                "inputs": reads,
                "outputs": [{"value": made}],
            }
        )
        if self.names:
            scope = module.replace("layer.", "layer@").replace(".", "/").replace("@", ".")
            attributes["name"] = f"/{scope}/{onnx_op}_{made}" if scope else f"/{onnx_op}_{made}"
        self.nodes.append(self.make_node(onnx_op, names, [f"v{made}"], **attributes))
        self.truth.append(module)
        return made

    def linear(self, path, value):
        self.module(path, "Linear", torch_nn=True)
        return self.op("linear", "MatMul", path, [value], ("weight", self.weight()))

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

    def write(self, folder):
        import onnx
        from onnx import TensorProto, helper

        shape = [4, 4]
        inputs, outputs = (
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in names]
            for names in (["v0", "v1"], [f"v{self.result}"])
        )
        graph = helper.make_graph(self.nodes, "net", inputs, outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
        onnx.save(model, folder / "model.onnx")
        trace = {
            "format": "htp-trace",
            "version": 1,
            "producer": {"name": "benchmarks/models.py", "source": "torchscript"},
            "modules": self.modules,
            "inputs": [
                {"value": k, "name": f"x{k}", "shape": shape, "dtype": "float32"} for k in range(2)
            ],
            "outputs": [{"value": self.result}],
            "ops": self.ops,
        }
        (folder / "trace.json").write_text(json.dumps(trace))
        (folder / "truth.json").write_text(json.dumps(self.truth))


class Untrained(Layers):
    """As in a freshly initialised model, thousands of parameters are equal."""

    def linear(self, path, value):
        import numpy

        made = super().linear(path, value)
        bias = self.parameter("bias", numpy.zeros(4, "float32"), digest="1" * 16)
        return self.op("add", "Add", path, [made], ("bias", bias))


def main(kind, path, nodes="0"):
    path = pathlib.Path(path)
    if kind in ("layers", "named", "untrained", "bert", "rounded"):
        path.mkdir(parents=True, exist_ok=True)
    if kind in ("layers", "named"):
        Layers(int(nodes), names=kind == "named").write(path)
    elif kind == "untrained":
        Untrained(int(nodes) * 12 // 17, names=False).write(path)
    else:
        makers = {"embedded": embedded, "external": external, "bert": bert, "rounded": rounded}
        makers[kind](path)


if __name__ == "__main__":
    main(*sys.argv[1:])
