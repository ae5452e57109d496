// RUN: htp-opt %s --htp-inline -verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @A(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-note@+1 {{'@A' is here}}
func.func private @A(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "a"} {
  %0 = func.call @B(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-note@+1 {{'@B' is here}}
func.func private @B(%x: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "b"} {
  // expected-error@+1 {{function '@A' calls itself through '@B', which neither a module nor an ONNX function may}}
  %0 = func.call @A(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
