# At a terminal a long run says what it does, and clears that line before anything else is printed. Elsewhere it is silent.
# RUN: %python %s %t.onnx htp-opt
import os
import pty
import subprocess
import sys

import onnx
from onnx import helper

path, *program = sys.argv[1:]
nodes = [
    helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"], name=f"/m/Relu_{i}") for i in range(200_000)
]
ends = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [2]) for n in ("v0", "v200000")]
graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
command = [*program, path, "--htp-tag", "-o", path + ".tagged.onnx"]

quiet = subprocess.run(command, check=True, capture_output=True)
assert quiet.stderr == b"", quiet.stderr

ours, its = pty.openpty()
process = subprocess.Popen(command, stderr=its)
os.close(its)
said = b""
while True:
    try:
        part = os.read(ours, 4096)
    except OSError:  # how a terminal ends
        break
    if not part:
        break
    said += part
assert process.wait() == 0
text = said.decode()
assert " … 1 s" in text, text
assert text.endswith("\r\033[K"), text
