// RUN: htp-opt %s --htp-tag="trace=%S/Inputs/two-linears.trace.json explain=sum" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SUM
// RUN: htp-opt %s --htp-tag="trace=%S/Inputs/two-linears.trace.json explain=product" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PRODUCT
// RUN: htp-opt %s --htp-tag="trace=%S/Inputs/two-linears.trace.json explain=first_act" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ACT
// RUN: not htp-opt %s --htp-tag="trace=%S/Inputs/two-linears.trace.json explain=som" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not htp-opt %s --htp-explain=node=sum 2>&1 | FileCheck %s --check-prefix=UNTAGGED

// A residual add that has no name: it is asked for by its value.

// SUM: remark: {{[0-9]+}} places in the trace '{{.*}}two-linears.trace.json' could have made this Add:
// SUM-NEXT: 1. the model itself (Net), step 4, aten::add: believed {{9[0-9.]+|100.0}} %
// SUM-NEXT: + such steps are known to make such nodes
// SUM-NEXT: + what it reads and what reads it are placed where this step reads and is read
// SUM: 2.
// SUM: - {{such steps make such nodes|its neighbours fit|its place in the order fits}}
// SUM: remark: node 'sum' (Add) belongs to the model itself (Net)
// SUM-NEXT: evidence: alignment (of all steps of the trace the module's fits it best), confidence
// SUM-NEXT: reads: 'second_act' (Relu) of 'act' ({{.*}})
// SUM-NEXT: 'first_act' (Relu) of 'act' ({{.*}})
// SUM-NEXT: read by: whoever runs the model: it is an output

// PRODUCT: 1. 'first' (Linear), step 0, aten::linear: believed 100.0 %
// PRODUCT-NEXT: + it reads a parameter that this step reads, or bears the name of its value
// PRODUCT: remark: node 'product' (MatMul) belongs to 'first' (Linear)
// PRODUCT-NEXT: evidence: parameter (it reads a parameter of the module), confidence
// PRODUCT: reads: 'x', an input
// PRODUCT-NEXT: the parameter 'first.weight'
// PRODUCT-NEXT: read by: 'first_act' (Relu) of 'act'

// The other call of 'act' loses, by what docs/Alignment.md works out.

// ACT: 1. 'act' (ReLU), call 0, step 1, aten::relu: believed 100.0 %
// ACT: 'act' (ReLU), call 1, step 3, aten::relu: believed 0.0 %
// ACT-NEXT: - its place in the order fits far less well
// ACT-NEXT: - such steps make such nodes 403 times less often
// ACT-NEXT: - its neighbours fit 102 times less well

// NEAR: error: no node, and no value of one, is called 'som'
// UNTAGGED: error: has no module tree (htp.hierarchy): run --htp-tag
func.func @nameless(%x: tensor<1x2xf32> {onnx.name = "x"}) -> tensor<1x2xf32> {
  %w0 = "onnx.Constant"() {value = dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %w1 = "onnx.Constant"() {value = dense<[[5.0, 7.0], [6.0, 8.0]]> : tensor<2x2xf32>, onnx.initializer} : () -> tensor<2x2xf32>
  %0 = "onnx.MatMul"(%x, %w0) {onnx_node_name = "product"} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = "onnx.Relu"(%0) {onnx_node_name = "first_act"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = "onnx.MatMul"(%1, %w1) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %3 = "onnx.Relu"(%2) {onnx_node_name = "second_act"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %4 = "onnx.Add"(%3, %1) {onnx_output_names = ["sum"]} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %4 : tensor<1x2xf32>
}
