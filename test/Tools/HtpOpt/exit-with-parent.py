# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %htp_tools/htp-onnx
"""A program that waits for its arguments ends when the program that started it does, also where somebody else still
holds its standard input open."""

import os
import subprocess
import sys
import time

PARENT = """
import os, subprocess, sys
command = [sys.argv[1], f"--exit-with-parent={os.getpid()}", "@/dev/stdin"]
print(subprocess.Popen(command, stdin=int(sys.argv[2]), stdout=subprocess.DEVNULL).pid, flush=True)
sys.stdin.read(1)
"""


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


reading, writing = os.pipe()
parent = subprocess.Popen(
    [sys.executable, "-c", PARENT, sys.argv[1], str(reading)],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    pass_fds=[reading],
)
pid = int(parent.stdout.readline())
time.sleep(1)
assert alive(pid), "it ends while its parent is there"
parent.communicate(b"x")
deadline = time.monotonic() + 30
while alive(pid) and time.monotonic() < deadline:
    time.sleep(0.1)
assert not alive(pid), "it outlives its parent"
os.close(writing)
