"""large-traces.py PREFIX: a model of one node, and traces with very large trees."""

import json
import sys


def module(path, name):
    return dict(
        path=path,
        **{"class": name},
        qualified=f"demo.{name}",
        torch_nn=False,
        calls=1,
        parameters=[],
    )


def trace(paths, ops=()):
    modules = [module("", "Net")] + [module(p, "Layer") for p in paths]
    return dict(
        format="htp-trace", version=1, modules=modules, inputs=[], ops=list(ops), outputs=[]
    )


def write(name, text):
    with open(f"{sys.argv[1]}.{name}", "w") as file:
        file.write(text)


deep = [".".join(["m"] * (level + 1)) for level in range(1000)]
write("wide.json", json.dumps(trace([f"layers.{i}" for i in range(100_000)])))
write("deep.json", json.dumps(trace(deep)))
write("nested.json", json.dumps(trace([]))[:-1] + ', "more": ' + "[" * 200_000)
scopes = ["/layers.77/Relu", "".join("/m" for _ in range(1000)) + "/Relu"]
body = "\n".join(
    f'"onnx.Custom"(%x) <{{function_name = "Relu"}}> {{domain_name = "demo", onnx_node_name = "{name}"}} '
    ": (tensor<2xf32>) -> tensor<2xf32>"
    for name in scopes
)
write("mlir", f"func.func @f(%x: tensor<2xf32>) {{\n{body}\nreturn\n}}")
