// RUN: htp-opt %S/../Inputs/net.mlir -o /dev/null --graphml | FileCheck %s
// RUN: htp-opt %S/../Inputs/net.mlir -o /dev/null --graphml=%t.graphml --dag-json=%t.json
// RUN: %python %S/../Inputs/check_graphml.py %t.graphml %t.json 6

// Module 2 (layers.0) holds its Add and module 3 (layers.0.fc) with a MatMul;
// the edge between them lies in module 2, which has both.
// CHECK: <graphml xmlns="http://graphml.graphdrawing.org/xmlns">
// CHECK: <node id="m2" yfiles.foldertype="group">
// CHECK: <graph id="m2:" edgedefault="directed">
// CHECK-NEXT: <node id="n2">{{.*}}<data key="op_type">Add</data>
// CHECK-NEXT: <node id="m3" yfiles.foldertype="group">
// CHECK: <node id="n1">
// CHECK-NEXT: </graph></node>
// CHECK-NEXT: <edge source="n1" target="n2"/>
// CHECK-NEXT: </graph></node>
