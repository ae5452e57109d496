"""Models of N equal layers for consumer.test, and whether a result is ONNX Runtime's.

layers.py write N FILE.mlir
layers.py check MODEL.onnx INPUT.bin RESULT.bin
"""

import sys

import numpy

SIZE = 16
TYPE = f"tensor<{SIZE}x{SIZE}xf32>"


def constant(name: str, values: numpy.ndarray) -> str:
    return (
        f'  %{name} = "onnx.Constant"() {{value = dense<"0x{values.tobytes().hex().upper()}"> : {TYPE}, onnx.initializer, '
        f'onnx_output_names = ["{name}"]}} : () -> {TYPE}'
    )


def op(result: str, kind: str, operands: list[str], module: str) -> str:
    values, types = ", ".join(f"%{o}" for o in operands), ", ".join([TYPE] * len(operands))
    return (
        f'  %{result} = "onnx.{kind}"({values}) {{onnx_output_names = ["{result}"], '
        f'htp.tag = #htp.tag<"{module}">}} : ({types}) -> {TYPE}'
    )


def write(count: int) -> str:
    random = numpy.random.default_rng(count)
    lines = ['htp.hierarchy @Net : "demo.Net" {']
    lines += [f'  htp.module @layers.{i} : "demo.Block"' for i in range(count)]
    lines += [
        "}",
        f'func.func @main_graph(%x0: {TYPE} {{onnx.name = "x"}}) -> ({TYPE} {{onnx.name = "y"}}) {{',
    ]
    for i in range(count):
        weight = random.standard_normal((SIZE, SIZE), numpy.float32) / SIZE
        lines.append(constant(f"w{i}", weight))
    for i in range(count):
        module = f"layers.{i}"
        lines += [
            op(f"m{i}", "MatMul", [f"x{i}", f"w{i}"], module),
            op(f"r{i}", "Relu", [f"m{i}"], module),
            op(f"x{i + 1}", "Add", [f"x{i}", f"r{i}"], module),
        ]
    return "\n".join([*lines, f"  onnx.Return %x{count} : {TYPE}", "}", ""])


def check(model: str, given: str, result: str) -> None:
    import onnxruntime

    session = onnxruntime.InferenceSession(model)
    x = numpy.fromfile(given, numpy.float32).reshape(SIZE, SIZE)
    (expected,) = session.run(None, {session.get_inputs()[0].name: x})
    numpy.testing.assert_allclose(
        numpy.fromfile(result, numpy.float32).reshape(expected.shape), expected, 1e-4, 1e-5
    )
    print("as ONNX Runtime")


if sys.argv[1] == "write":
    with open(sys.argv[3], "w") as file:
        file.write(write(int(sys.argv[2])))
else:
    check(*sys.argv[2:])
