"""Prints a model that squares a tensor again and again, as often as the argument says."""

import sys

count = int(sys.argv[1])
row, square = "tensor<1x2xf32>", "tensor<2x2xf32>"
print(f"func.func @squares(%x: {row}) -> {row} {{")
print(
    f'  %w = "onnx.Constant"() {{value = dense<[[1.0, 3.0], [2.0, 4.0]]> : {square}, '
    f"onnx.initializer}} : () -> {square}"
)
print(f'  %y0 = "onnx.MatMul"(%x, %w) : ({row}, {square}) -> {row}')
for i in range(count):
    print(f'  %y{i + 1} = "onnx.Mul"(%y{i}, %y{i}) : ({row}, {row}) -> {row}')
print(f"  return %y{count} : {row}\n}}")
