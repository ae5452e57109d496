// The page that shows a model, with its document in it. Names cannot end the element that holds it; what the page is
// compared with is in python/tests/test_report_page.py.
// RUN: htp-opt %S/../Inputs/net.mlir --report=%t.html -o= && FileCheck %s < %t.html
// RUN: htp-opt %S/../Inputs/net.mlir --report=%t.2.html -o %t.mlir && cmp %t.html %t.2.html
// RUN: htp-opt %S/../Inputs/net.mlir -o %t.2.mlir && cmp %t.mlir %t.2.mlir
// RUN: not htp-opt %s --report=%t.none.html -o= 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: <!DOCTYPE html>
// CHECK: connect-src 'none'
// CHECK: <script type="application/json" id="data">{"format":"htp-view","version":1,"file":"net.mlir"
// CHECK-SAME: "path":"layers.0.fc","class":"Linear"
// CHECK-SAME: "multiply_adds":
// CHECK-NOT: {{[{][{]data[}][}]}}
// CHECK: </html>
// NONE: error: the model has no module tree (htp.hierarchy): tag it first, with --htp-tag
func.func @main_graph(%x: tensor<4xf32>) {
  return
}
