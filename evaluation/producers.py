"""Models as other tools make them: quantizers, converters, scripted control flow, scikit-learn, onnxscript, external data.

Each function writes one model into a folder and returns its path.
"""

import io
import os
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from onnxscript import FLOAT, script
from onnxscript import opset18 as op
from onnxscript.values import Opset
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parent / "corpus"))

import variants
from plain import Staged


def exported(model, inputs, path):
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, inputs, path, dynamo=False, opset_version=17)
    return path


def convolutions(folder):
    """A small convolutional net, the source of the quantized and converted ones."""
    path = f"{folder}/convolutions.onnx"
    return exported(Staged().eval(), (torch.randn(1, 3, 32, 32),), path)


def converted(convert):
    def make(folder):
        source = convolutions(folder)
        target = f"{folder}/{convert.__name__}.onnx"
        name = onnx.load(source).graph.input[0].name
        convert(source, target, {name: np.random.rand(1, 3, 32, 32).astype(np.float32)})
        return target

    make.__name__ = convert.__name__
    return make


class Branches(nn.Module):
    """A loop and a branch that depend on the data: Loop and If with captured values."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, times: int) -> torch.Tensor:
        for _ in range(times):
            if bool(x.sum() > 0):
                x = self.fc(x)
            else:
                x = x - 1
        return x


def scripted_control_flow(folder):
    scripted = torch.jit.script(Branches())
    return exported(
        scripted, (torch.ones(2, 4), torch.tensor(3)), f"{folder}/scripted_control_flow.onnx"
    )


def scikit_learn_pipeline(folder):
    """Strings, maps and sequences, and ops of ai.onnx.ml."""
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    columns = [
        ("number", StandardScaler(), [0]),
        ("word", OneHotEncoder(handle_unknown="ignore"), [1]),
    ]
    pipeline = Pipeline(
        [("columns", ColumnTransformer(columns)), ("classify", LogisticRegression())]
    )
    data = np.array([[1.0, "red"], [2.0, "green"], [3.0, "blue"], [4.0, "red"]], dtype=object)
    pipeline.fit(data, ["cold", "warm", "warm", "hot"])
    types = [("number", FloatTensorType([None, 1])), ("word", StringTensorType([None, 1]))]
    path = f"{folder}/scikit_learn_pipeline.onnx"
    onnx.save(to_onnx(pipeline, initial_types=types), path)
    return path


LOCAL = Opset("local.functions", 1)


@script(LOCAL, default_opset=op)
def Scaled(x, alpha: float):
    return op.Mul(x, op.Constant(value_float=alpha))


@script(LOCAL, default_opset=op)
def Gated(x, y):
    return op.Add(op.Sigmoid(Scaled(x, alpha=0.5)), y)


@script(default_opset=op)
def calls(x: FLOAT["N", 4], y: FLOAT["N", 4]) -> FLOAT["N", 4]:  # noqa: F821
    return op.Relu(Gated(x, y))


def onnxscript_functions(folder):
    """Model-local functions with an attribute, one calling the other."""
    path = f"{folder}/onnxscript_functions.onnx"
    onnx.save(calls.to_model_proto(), path)
    return path


def external_data(folder):
    path = f"{folder}/external_data.onnx"
    model = onnx.load(convolutions(folder))
    onnx.save(
        model, path, save_as_external_data=True, location="external_data.bin", size_threshold=64
    )
    return path


def external_data_over_2_gb(folder):
    """The weights are a sparse file, which takes no disk space and reads as zeros."""
    rows, columns = 600_000, 1000
    weight = TensorProto(name="weight", data_type=TensorProto.FLOAT, dims=[rows, columns])
    weight.data_location = TensorProto.EXTERNAL
    for key, value in {
        "location": "large.bin",
        "offset": "0",
        "length": str(rows * columns * 4),
    }.items():
        weight.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["weight", "ids"], ["rows"], name="lookup")],
        "large",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["n", columns])],
        [weight],
    )
    path = f"{folder}/external_data_over_2_gb.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    Path(path).write_bytes(model.SerializeToString())
    Path(f"{folder}/large.bin").touch()
    os.truncate(f"{folder}/large.bin", rows * columns * 4)
    return path


PRODUCERS = [
    converted(variants.quantized_static), converted(variants.quantized_dynamic), converted(variants.float16),
    scripted_control_flow, scikit_learn_pipeline, onnxscript_functions, external_data, external_data_over_2_gb,
]  # fmt: skip
