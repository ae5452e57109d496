# Names in a file may be any bytes. Those that are no UTF-8 survive outlining and inlining.
# RUN: %python %s %S/outlined.mlir %t.onnx htp-opt
# RUN: htp-opt %t.onnx --htp-outline -o %t.outlined.onnx
# RUN: htp-opt %t.outlined.onnx --htp-inline -o %t.inlined.onnx
# RUN: cmp %t.onnx %t.inlined.onnx
import subprocess
import sys

source, target, program = sys.argv[1], sys.argv[2], sys.argv[3:]
subprocess.run([*program, source, "-o", target], check=True)
with open(target, "rb") as file:
    content = file.read()
# As long as before, so that protobuf's lengths hold; the second layer's, which its call remembers.
assert b"clip1" in content
with open(target, "wb") as file:
    file.write(content.replace(b"clip1", b"\xfe\xffip1"))
