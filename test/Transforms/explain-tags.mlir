// What --htp-explain says of tags, operands and readers, whatever wrote them.
// RUN: htp-opt %s --htp-explain=node=sum -o /dev/null 2>&1 | FileCheck %s --match-full-lines --check-prefix=SUM
// RUN: htp-opt %s --htp-explain=node=product -o /dev/null 2>&1 | FileCheck %s --match-full-lines --check-prefix=PRODUCT
// RUN: htp-opt %s --htp-explain=node=read_often -o /dev/null 2>&1 | FileCheck %s --match-full-lines --check-prefix=OFTEN
// RUN: htp-opt %s --htp-explain=node=untagged -o /dev/null 2>&1 | FileCheck %s --match-full-lines --check-prefix=UNTAGGED
// RUN: htp-opt %s --htp-explain=node=inner -o /dev/null 2>&1 | FileCheck %s --match-full-lines --check-prefix=INNER
// RUN: not htp-opt %s --htp-explain=node=prodct -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEAR

// A node that is asked for by its value. The call is named where there are several; of two contexts each
// has its own line; a value that is read twice is one reader.
// SUM: {{.*}}remark: node 'sum' (Add) belongs to 'layer' (Layer), call 1
// SUM-NEXT:     evidence: consumer (what reads it belongs to the module), confidence 0.5
// SUM-NEXT:     reason: residual connection of 'layer'
// SUM-NEXT:     also: the model itself (Net), by alignment, confidence 0.05
// SUM-NEXT:     also: 'layer.unknown', by producer, confidence 0.25
// SUM-NEXT:     code: net.py:12
// SUM-NEXT:     reads: 'product' (MatMul) of 'layer' (Layer)
// SUM-NEXT:            'x', an input
// SUM-NEXT:     read by: 'read_often' (Mul) of the model itself (Net)

// Parameters are inputs of a function, or initializers; an input that is left out is not read.
// PRODUCT: {{.*}}remark: node 'product' (MatMul) belongs to 'layer' (Layer), call 0
// PRODUCT-NEXT:     evidence: (nobody has written down what it rests on), confidence 1
// PRODUCT-NEXT:     reads: 'x', an input
// PRODUCT-NEXT:            the parameter 'layer.weight'
// PRODUCT-NEXT:            the parameter 'layer.bias'
// PRODUCT-NEXT:            'two', a constant
// PRODUCT-NEXT:     read by: 'sum' (Add) of 'layer' (Layer)

// Eight readers are named.
// OFTEN: {{.*}}remark: node 'read_often' (Mul) belongs to the model itself (Net)
// OFTEN: read by: 'r1' (Relu)
// OFTEN-COUNT-7: {{ *}}'r{{[2-8]}}' (Relu)
// OFTEN-NEXT: {{ *}}and 2 more

// UNTAGGED: {{.*}}remark: node 'untagged' (Relu) has no tag
// UNTAGGED-NEXT:     reads: 'r1' (Relu)
// UNTAGGED-NEXT:     read by: whoever runs the model: it is an output

// Tags in an outlined function are relative to its module; what is said is not.
// INNER: {{.*}}remark: node 'inner' (Relu) belongs to 'layer' (Layer), call 0
// INNER: {{ *}}reads: '', an input

// NEAR: error: no node, and no value of one, is called 'prodct'; did you mean 'product'?

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer : "demo.Layer" calls 2 parameters [#htp.parameter<"weight" : tensor<2x2xf32>>, #htp.parameter<"bias" : tensor<2xf32>>]
  htp.module @layer.unknown : ""
}
func.func @main(%x: tensor<1x2xf32> {onnx.name = "x"}, %bias: tensor<2xf32> {onnx.name = "b", htp.parameter = "layer.bias"}) -> tensor<1x2xf32> {
  %w = "onnx.Constant"() {value = dense<1.0> : tensor<2x2xf32>, onnx.initializer, htp.parameter = "layer.weight", onnx_output_names = ["w"]} : () -> tensor<2x2xf32>
  %two = "onnx.Constant"() {value = dense<2.0> : tensor<f32>, onnx_output_names = ["two"], htp.tag = #htp.tag<"">} : () -> tensor<f32>
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Custom"(%x, %w, %none, %bias, %two) {function_name = "MatMul", domain_name = "demo", onnx_node_name = "product", htp.tag = #htp.tag<"layer">} : (tensor<1x2xf32>, tensor<2x2xf32>, none, tensor<2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %1 = "onnx.Add"(%0, %x) {onnx_output_names = ["sum"], htp.tag = #htp.tag<"layer", call = 1, evidence = "consumer", confidence = 0.5, reason = "residual connection of 'layer'", contexts = [#htp.context<"", evidence = "alignment", confidence = 0.05>, #htp.context<"layer.unknown", evidence = "producer", confidence = 0.25>]>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc(fused<{htp.call = 1 : i64, htp.scope = "layer", htp.sources = 1 : i64}>["sum", "net.py":12:0])
  %2 = "onnx.Mul"(%1, %1) {onnx_node_name = "read_often", htp.tag = #htp.tag<"">} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %r1 = "onnx.Relu"(%2) {onnx_node_name = "r1"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  "onnx.Relu"(%2) {onnx_node_name = "r2"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  "onnx.Relu"(%2) {onnx_node_name = "r3"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  "onnx.Relu"(%2) {onnx_node_name = "r4"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  "onnx.Relu"(%2) {onnx_node_name = "r5"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  "onnx.Relu"(%2) {onnx_node_name = "r6"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  "onnx.Relu"(%2) {onnx_node_name = "r7"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  "onnx.Relu"(%2) {onnx_node_name = "r8"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  "onnx.Relu"(%2) {onnx_node_name = "r9"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  "onnx.Relu"(%2) {onnx_node_name = "r10"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %y = "onnx.Relu"(%r1) {onnx_node_name = "untagged"} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
func.func private @Layer(%x: tensor<1x2xf32>) -> tensor<1x2xf32> attributes {htp.module = "layer"} {
  %0 = "onnx.Relu"(%x) {onnx_node_name = "inner", htp.tag = #htp.tag<"">} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
