// What `--debug-only` prints: decisions, and details unless the level is 1.

// REQUIRES: assertions
// RUN: htp-opt %s --htp-outline -allow-unregistered-dialect --debug-only=htp-outline:1,htp-partition:1 -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=selected
// RUN: htp-opt %s --htp-outline -allow-unregistered-dialect --debug-only=htp-outline -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL --implicit-check-not=htp-partition
// RUN: htp-opt %s --htp-outline -allow-unregistered-dialect -o /dev/null 2>&1 | count 0

// CHECK: [htp-partition {{.*}}] op 0 moves out of group 1, as groups of its kind read it too
// CHECK: [htp-outline {{.*}}] 5 ops, 2 module calls: 2 parts, 0 ops pulled inside, 1 moved outside, 0 modules split
// CHECK: [htp-outline {{.*}}] 'layer.0' becomes '@Layer' with 2 ops, 3 arguments and 1 results
// CHECK: [htp-outline {{.*}}] 'layer.1' shares '@Layer'
// ALL: [htp-outline {{.*}}] selected module 'layer.0'

htp.hierarchy @Net : "demo.Net" {
  htp.module @layer.0 : "demo.Layer"
  htp.module @layer.1 : "demo.Layer"
}

func.func @main(%x: tensor<4xf32>, %w0: tensor<4xf32>, %w1: tensor<4xf32>) -> tensor<4xf32> {
  %mask = "d.mask"(%x) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = "d.mul"(%x, %w0) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "d.add"(%0, %mask) {htp.tag = #htp.tag<"layer.0">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "d.mul"(%1, %w1) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "d.add"(%2, %mask) {htp.tag = #htp.tag<"layer.1">} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
