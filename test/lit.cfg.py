"""The lit suite: small hand-made IR and models, one behaviour a file."""

import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "HTP"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".mlir", ".pdll", ".py", ".test"]
config.excludes = ["tools", "Inputs", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.htp_build_dir, "test")

config.substitutions.append(("%python", config.python))
config.substitutions.append(("%htp_src", config.htp_source_dir))
config.substitutions.append(("%htp_tools", config.htp_tools_dir))
config.substitutions.append(("%htp_lib", os.path.join(config.htp_build_dir, "lib")))
plugin = os.path.join(config.htp_build_dir, "lib", "libHTPPlugin.so")
config.substitutions.append(("%plugin", plugin))
other = os.path.join(config.htp_build_dir, "lib", "libhtp-other-llvm.so")
config.substitutions.append(("%other_llvm", other))
config.substitutions.append(
    ("%load_htp", f"--load-dialect-plugin={plugin} --load-pass-plugin={plugin}")
)
llvm_config.use_default_substitutions()
tools = [
    "htp-opt",
    "htp-onnx",
    "htp-trace",
    "htp-lsp-server",
    "htp-roundtrip",
    "htp-capi-test",
    ToolSubst("mlir-opt", unresolved="ignore"),
    ToolSubst("mlir-pdll", unresolved="ignore"),
    "split-file",
]
llvm_config.add_tool_substitutions(tools, [config.htp_tools_dir, config.llvm_tools_dir])

# The consumer is built from an install tree, which needs every program.
config.substitutions.append(("%llvm_root", os.path.dirname(config.llvm_tools_dir)))
if all(
    os.path.exists(os.path.join(config.htp_tools_dir, tool))
    for tool in ("htp-opt", "htp-onnx", "htp-trace", "htp-lsp-server")
):
    config.available_features.add("consumer")

# PRESET=debug and asan: assertions and debug output are compiled in.
if config.assertions:
    config.available_features.add("assertions")

# PRESET=asan. Debian's LLVM is built without sanitizers: what its allocators hand out looks poisoned, and
# neither its mlir-opt nor LibTorch can share a process with them.
if config.sanitized:
    config.environment["ASAN_OPTIONS"] = "detect_leaks=0:allow_user_poisoning=0"
    config.excludes += ["Plugin", "htp-trace", "consumer.test"]
