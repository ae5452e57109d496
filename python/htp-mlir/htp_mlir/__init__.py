"""HTP's programs that need all of MLIR: htp-opt, and the plugin for other tools built with the same MLIR.

The package `htp` finds htp-opt here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: For the --load-pass-plugin and --load-dialect-plugin of a tool that links the libMLIR of this wheel.
PLUGIN = HERE / "lib" / "libHTPPlugin.so"


def main() -> None:
    """The command htp-opt."""
    program = HERE / "bin" / "htp-opt"
    os.execv(program, [str(program), *sys.argv[1:]])
