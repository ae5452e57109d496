"""Makes a tagged model of any size without PyTorch: blocks of attention and of experts, as MLIR text."""

from __future__ import annotations

import re
from pathlib import Path

from htp import native

TENSOR = "tensor<4x4xf32>"


class _Text:
    """The growing hierarchy and list of operations."""

    def __init__(self) -> None:
        self.modules: list[str] = []
        self.ops: list[str] = []

    def module(self, path: str, qualified: str, weight: bool = False) -> None:
        nn = " torch_nn" if qualified.startswith("torch.nn") else ""
        parameters = f' parameters [#htp.parameter<"weight" : {TENSOR}>]' if weight else ""
        never = " calls 0" if qualified.endswith("ModuleList") else ""
        self.modules.append(f'  htp.module @{path} : "{qualified}"{nn}{never}{parameters}')

    def op(self, path: str, kind: str, *inputs: str, confidence: str = "9.9e-01") -> str:
        name = f"v{len(self.ops)}"
        scope = re.sub(r"\.(?!\d)", "/", path)  # as PyTorch writes it: blocks.0/attention
        kinds = ", ".join([TENSOR] * len(inputs))
        values = ", ".join(f"%{value}" for value in inputs)
        self.ops.append(
            f'  %{name} = "onnx.{kind}"({values}) {{onnx_node_name = "/{scope}/{kind}_{len(self.ops)}", '
            f'onnx_output_names = ["{name}"], htp.tag = #htp.tag<"{path}", evidence = "name", confidence = {confidence}>}} '
            f": ({kinds}) -> {TENSOR}"
        )
        return name

    def linear(self, path: str, value: str) -> str:
        self.module(path, "torch.nn.modules.linear.Linear", weight=True)
        return self.op(path, "Add", self.op(path, "MatMul", value, "w"), "w")


def _attention(text: _Text, path: str, value: str) -> str:
    text.module(path, "net.Attention")
    query, key, given = (text.linear(f"{path}.{part}", value) for part in ("q", "k", "v"))
    scores = text.op(path, "Softmax", text.op(path, "MatMul", query, key))
    made = text.linear(f"{path}.o", text.op(path, "MatMul", scores, given))
    return text.op(path, "Add", made, value, confidence="6.0e-01")


def _experts(text: _Text, path: str, value: str, experts: int, ops: int) -> str:
    text.module(path, "net.Experts")
    text.module(f"{path}.experts", "torch.nn.modules.container.ModuleList")
    whole = text.op(path, "Relu", value)
    for index in range(experts):
        own = f"{path}.experts.{index}"
        text.module(own, "net.Expert")
        part = text.linear(f"{own}.up", value)
        for _ in range(ops):
            part = text.op(own, "Tanh", part)
        whole = text.op(path, "Add", whole, text.linear(f"{own}.down", part))
    return whole


def write(target: Path, *, blocks: int, experts: int, ops: int) -> Path:
    """About blocks * (14 + experts * (ops + 5)) operations."""
    text = _Text()
    text.module("blocks", "torch.nn.modules.container.ModuleList")
    value = "x"
    for index in range(blocks):
        path = f"blocks.{index}"
        text.module(path, "net.Layer")
        value = _attention(text, f"{path}.attention", value)
        value = _experts(text, f"{path}.moe", value, experts, ops)
    modules, body = "\n".join(text.modules), "\n".join(text.ops)
    source = target.with_suffix(".mlir")
    source.write_text(
        f'htp.hierarchy @Net : "net.Net" {{\n{modules}\n}}\n'
        f'func.func @main_graph(%x: {TENSOR} {{onnx.name = "x"}}) -> ({TENSOR} {{onnx.name = "{value}"}}) {{\n'
        f'  %w = "onnx.Constant"() {{value = dense<1.0> : {TENSOR}, onnx.initializer, onnx_output_names = ["w"]}} '
        f": () -> {TENSOR}\n{body}\n  onnx.Return %{value} : {TENSOR}\n}}\n"
    )
    native.run("htp-opt", source, "-o", target)
    source.unlink()
    return target
