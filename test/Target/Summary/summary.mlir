// RUN: htp-opt %S/../Inputs/net.mlir -o /dev/null --summary | FileCheck %s --strict-whitespace

//      CHECK:Net
// CHECK-NEXT:  modules       6
// CHECK-NEXT:  operations    5 (1 constant)
// CHECK-NEXT:  initializers  1
// CHECK-NEXT:  coverage      100.0 % (5 of 5)
// CHECK-NEXT:  placed        80.0 % (4 of 5 in a module below the root)
// CHECK-NEXT:  confidence    0.868 on average
// CHECK-NEXT:  shared        1 used by several modules
// CHECK-NEXT:  contested     1 with evidence for other modules, too
// CHECK-NEXT:  contaminated  0 tagged with another layer than their names say
// CHECK-EMPTY:
// CHECK-NEXT:  evidence  operations   share  confidence
// CHECK-NEXT:  name               2  40.0 %       0.970
// CHECK-NEXT:  producer           1  20.0 %       0.900
// CHECK-NEXT:  ancestor           1  20.0 %       0.500
// CHECK-NEXT:  none               1  20.0 %       1.000
// CHECK-EMPTY:
// CHECK-NEXT:  module      calls  own  all
// CHECK-NEXT:  Net             1    1    4
// CHECK-NEXT:  ├─ Block.0      1    2    2
// CHECK-NEXT:  └─ Block.1      1    1    1
