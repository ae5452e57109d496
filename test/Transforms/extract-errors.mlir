// RUN: not htp-opt %S/extract.mlir --htp-extract=module=layer.7 -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=PATH
// RUN: not htp-opt %S/extract.mlir --htp-extract=module=/Net/Layr.1 -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=TAG
// RUN: not htp-opt %S/extract.mlir --htp-extract='module=block.*' -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=GLOB
// RUN: not htp-opt %S/extract.mlir --htp-extract='module=un*' -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not htp-opt %S/extract.mlir --htp-extract=module=unused -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=PARAMETERS
// RUN: not htp-opt %S/extract.mlir --htp-extract="module=layer.0 call=2" -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: not htp-opt %S/extract.mlir --htp-extract="module=/Net call=1" -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=ROOT
// RUN: not htp-opt %S/extract.mlir --htp-extract="module=** call=2" -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=CALLS
// RUN: htp-opt %S/extract.mlir --htp-outline -allow-unregistered-dialect -o %t.mlir
// RUN: not htp-opt %t.mlir --htp-extract=module=layer.0 -allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=OUTLINED

// PATH: there is no module 'layer.7' in the module tree; did you mean 'layer.0'?
// TAG: no module has the tag '/Net/Layr.1'; did you mean '/Net/Layer.1'?
// GLOB: no module's path matches 'block.*'
// EMPTY: no module that matches 'un*' owns ops
// PARAMETERS: module 'unused' owns no ops, so there is nothing to extract: it only holds 1 parameter, 'weight'
// CALL: module 'layer.0' has no call 2: its calls are 0 to 1
// OUTLINED: is an outlined module: run --htp-inline first
// ROOT: module '' has no call 1: its calls are 0 to 0
// CALLS: no module that matches '**' owns ops in that call
