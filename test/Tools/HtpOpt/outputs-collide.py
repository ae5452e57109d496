# Outputs that would destroy what a run reads, or each other, are errors before anything is written.
# RUN: rm -rf %t && %python %s make %t && cd %t
# RUN: not htp-opt model.onnx -o ./q.onnx --op-metadata=q.onnx 2>&1 | FileCheck %s --check-prefix=TWICE
# RUN: not htp-opt model.onnx -o out.onnx --summary=./sub/../model.onnx 2>&1 | FileCheck %s --check-prefix=INPUT
# RUN: not htp-opt model.onnx --htp-tag=trace=trace.json -o ./trace.json 2>&1 | FileCheck %s --check-prefix=TRACE
# RUN: not htp-opt model.onnx -o sub/../weights.bin 2>&1 | FileCheck %s --check-prefix=DATA
# RUN: not htp-opt model.onnx -o sub/weights.bin --emit=onnx 2>&1 | FileCheck %s --check-prefix=PLACED
# RUN: not htp-opt model.onnx -o dangling.onnx 2>&1 | FileCheck %s --check-prefix=LINK
# RUN: %python %s unchanged %t

# Data files of equal name, size and time are two files all the same.
# RUN: htp-opt model.onnx -o all/model.onnx && not htp-opt other/model.onnx -o all/other.onnx 2>&1 | FileCheck %s --check-prefix=SAME
# RUN: %python %s first %t

# What replaces a file has its mode; what a killed run left goes, what a living one writes does not.
# RUN: htp-opt model.onnx -o old.onnx && %python %s replaced %t

# TWICE: error: cannot write 'q.onnx': it is the target of another output too
# INPUT: error: cannot write './sub/../model.onnx': it is the input
# TRACE: error: cannot write 'trace.json': it is the trace
# DATA: weights.bin': it is a data file of the model
# PLACED: weights.bin': it is the target of another output, and the model needs the data of
# LINK: error: cannot write 'dangling.onnx': is a link to a file that does not exist
# SAME: error: cannot write '{{.*}}all/weights.bin': a different file exists, and the model needs the data of
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper


def model(folder, fill):
    folder.mkdir(exist_ok=True, parents=True)
    weight = TensorProto(
        name="w", dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL
    )
    for key, value in {"location": "weights.bin", "offset": "0", "length": "16"}.items():
        weight.external_data.add(key=key, value=value)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy"]
    node = helper.make_node("Mul", ["x", "w"], ["y"], "/Mul")
    graph = helper.make_graph([node], "g", values[:1], values[1:], [weight])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        folder / "model.onnx",
    )
    (folder / "weights.bin").write_bytes(bytes([fill]) * 16)
    os.utime(folder / "weights.bin", (1, 1))


step, folder = sys.argv[1], Path(sys.argv[2])
if step == "make":
    model(folder, 1)
    model(folder / "other", 2)
    (folder / "sub").mkdir()
    (folder / "all").mkdir()
    (folder / "trace.json").write_text("{}")
    (folder / "dangling.onnx").symlink_to("nowhere.onnx")
    (folder / "old.onnx").write_text("")
    (folder / "old.onnx").chmod(0o640)
    for name in ("old.onnx.tmp-dead", "old.onnx.tmp-alive"):
        (folder / name).write_text("")
        os.utime(folder / name, (1, 1))
    # Alive for as long as this test.
    lock = os.open(folder / "old.onnx.tmp-alive", os.O_RDWR)
    os.set_inheritable(lock, True)
    fcntl.flock(lock, fcntl.LOCK_EX)
    subprocess.Popen(
        ["sleep", "60"], close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
elif step == "unchanged":
    assert (folder / "weights.bin").read_bytes() == b"\1" * 16
    assert (folder / "trace.json").read_text() == "{}"
    assert len(onnx.load(folder / "model.onnx").graph.node) == 1
    assert not list(folder.glob("q.onnx*"))
elif step == "first":
    assert (folder / "all/weights.bin").read_bytes() == b"\1" * 16
elif step == "replaced":
    assert (folder / "old.onnx").stat().st_mode & 0o777 == 0o640
    assert not (folder / "old.onnx.tmp-dead").exists()
    assert (folder / "old.onnx.tmp-alive").exists()
