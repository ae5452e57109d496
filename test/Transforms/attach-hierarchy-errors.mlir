// RUN: split-file %s %t
// RUN: not htp-opt %t/empty.mlir --htp-attach-hierarchy=trace=%t/gone.json 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not htp-opt %t/empty.mlir --htp-attach-hierarchy=trace=%t/broken.json 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not htp-opt %t/empty.mlir --htp-attach-hierarchy=trace=%t/schema.json 2>&1 | FileCheck %s --check-prefix=SCHEMA
// RUN: not htp-opt %t/empty.mlir --htp-attach-hierarchy=from=elsewhere 2>&1 | FileCheck %s --check-prefix=FROM
// RUN: not htp-opt %t/empty.mlir --htp-attach-hierarchy=from=trace 2>&1 | FileCheck %s --check-prefix=NOTRACE
// RUN: htp-opt %t/other.mlir -allow-unregistered-dialect --htp-attach-hierarchy=trace=%S/Inputs/net.trace.json 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: htp-opt %t/empty.mlir --htp-attach-hierarchy 2>&1 | FileCheck %s --check-prefix=NOTHING

// GONE: error: no trace: '{{.*}}gone.json': {{[Nn]}}o such file
// BROKEN: error: no trace: '{{.*}}broken.json': not JSON
// SCHEMA: error: no trace: '{{.*}}schema.json': no module has this path at trace.ops[0].module, found 'encoder'
// FROM: error: from=elsewhere is unknown, expected auto, trace, hierarchy, metadata, names or locations
// NOTRACE: error: from=trace needs a trace, expected trace=FILE
// OTHER: warning: 1 initializers have the name of a parameter of the trace and another size: it may be of another model
// NOTHING: warning: the model says nothing about its modules

//--- empty.mlir
module {}

//--- other.mlir
func.func @f(%x: tensor<2xf32>) {
  %w = "t.Constant"() {onnx.initializer, onnx_output_names = ["layer.0.weight"], value = dense<1.0> : tensor<300xf32>} : () -> tensor<300xf32>
  "t.Relu"(%x) : (tensor<2xf32>) -> ()
  return
}

//--- broken.json
{"format":

//--- schema.json
{"format": "htp-trace", "version": 1, "modules": [{"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []}], "inputs": [],
 "ops": [{"kind": "aten::add", "module": "encoder", "call": 0, "inputs": [], "outputs": []}], "outputs": []}
