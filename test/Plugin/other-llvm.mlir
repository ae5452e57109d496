// A tool of another LLVM says so. Its classes are others: it crashed.
// RUN: not env LD_PRELOAD=%other_llvm %llvm_root/bin/mlir-opt %s --load-dialect-plugin=%plugin 2>&1 | FileCheck %s --check-prefixes=CHECK,DIALECT
// RUN: not env LD_PRELOAD=%other_llvm %llvm_root/bin/mlir-opt %s --load-pass-plugin=%plugin 2>&1 | FileCheck %s --check-prefixes=CHECK,PASS

// CHECK: error: the HTP plugin is built for LLVM 22.{{.*}}, this program is of LLVM 19.1.7
// PASS: Failed to load passes from '{{.*}}libHTPPlugin.so'
// DIALECT: Failed to load dialect plugin from '{{.*}}libHTPPlugin.so'
// DIALECT: error: {{.*}}htp.hierarchy
htp.hierarchy @Net : "demo.Net"
