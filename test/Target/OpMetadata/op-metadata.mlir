// RUN: htp-opt %S/../Inputs/net.mlir -o /dev/null --op-metadata | %python -m json.tool --indent 1 | FileCheck %s
// RUN: htp-opt %S/../Inputs/net.mlir -o /dev/null --op-metadata=%t.1 && htp-opt %S/../Inputs/net.mlir -o /dev/null --op-metadata=%t.2 && cmp %t.1 %t.2

// CHECK: "format": "htp-op-metadata"
// CHECK: "version": 1
// CHECK: "path": "layers.0.fc"
// CHECK-NEXT: "class": "Linear"
// CHECK-NEXT: "qualified": "torch.nn.modules.linear.Linear"
// CHECK-NEXT: "torch_nn": true
// CHECK-NEXT: "tag": "/Net/Block.0"
// CHECK-NEXT: "calls": 1
// CHECK-NEXT: "nodes": 1
// CHECK-NEXT: "total_nodes": 1
// CHECK: "name": "weight"
// CHECK: "dtype": "float32"

// CHECK: "statistics"
// CHECK-NEXT: "nodes": 5
// CHECK-NEXT: "constants": 1
// CHECK-NEXT: "initializers": 1
// CHECK-NEXT: "modules": 6
// CHECK-NEXT: "tagged": 5
// CHECK-NEXT: "coverage": 1

// CHECK: "/layers.0/fc/MatMul": {
// CHECK-NEXT: "op_type": "MatMul"
// CHECK-NEXT: "domain": ""
// CHECK-NEXT: "inputs": [
// CHECK-NEXT: "x"
// CHECK-NEXT: "w"
// CHECK: "outputs": [
// CHECK-NEXT: "m"
// CHECK: "tags": [
// CHECK-NEXT: "/Net/Block.0"
// CHECK-NEXT: ]
// CHECK-NEXT: "tag": "/Net/Block.0"
// CHECK-NEXT: "scope": "layers.0.fc"
// CHECK-NEXT: "call": 0
// CHECK-NEXT: "evidence": "name"
// CHECK-NEXT: "confidence": 0.97

// A shared operation lists the modules that use it.
// CHECK: "mask": {
// CHECK: "tags": [
// CHECK-NEXT: "/Net"
// CHECK-NEXT: "/Net/Block.1"
// CHECK-NEXT: ]
// CHECK-NEXT: "tag": "/Net"
// CHECK-NEXT: "scope": ""
// CHECK: "contexts": [
// CHECK: "scope": "layers.0"
// CHECK-NEXT: "evidence": "producer"
// CHECK: "reason": "used by two"

// CHECK: "initializers": {
// CHECK-NEXT: "w": {
// CHECK-NEXT: "op_type": "Initializer"
// CHECK: "tags": [
// CHECK-NEXT: "/Net/Block.0"
// CHECK-NEXT: "/Net/Block.1"
// CHECK: "parameter": "layers.0.fc.weight"
