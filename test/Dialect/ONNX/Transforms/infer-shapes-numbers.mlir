// The arithmetic that models compute sizes with, op by op. Each function makes a tensor of the computed
// sizes, so that its type shows them.
// RUN: htp-opt %s --onnx-infer-shapes --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @arithmetic
// Div truncates, Mod has the sign of the divisor.
// CHECK-SAME: -> (tensor<9x5x14xf32>, tensor<3x1x2xf32>, tensor<7x2xf32>)
func.func @arithmetic() -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %a = "onnx.Constant"() {value = dense<7> : tensor<1xi64>} : () -> tensor<1xi64>
  %b = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %add = "onnx.Add"(%a, %b) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %sub = "onnx.Sub"(%a, %b) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %mul = "onnx.Mul"(%a, %b) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %0 = "onnx.Concat"(%add, %sub, %mul) {axis = 0 : si64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %x = "onnx.ConstantOfShape"(%0) : (tensor<3xi64>) -> tensor<*xf32>

  %minus = "onnx.Neg"(%a) : (tensor<1xi64>) -> tensor<1xi64>
  %three = "onnx.Constant"() {value = dense<3> : tensor<1xi64>} : () -> tensor<1xi64>
  %down = "onnx.Div"(%minus, %b) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %div = "onnx.Neg"(%down) : (tensor<1xi64>) -> tensor<1xi64>
  %mod = "onnx.Mod"(%a, %three) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %wrapped = "onnx.Mod"(%minus, %three) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %1 = "onnx.Concat"(%div, %mod, %wrapped) {axis = 0 : si64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %y = "onnx.ConstantOfShape"(%1) : (tensor<3xi64>) -> tensor<*xf32>

  %max = "onnx.Max"(%a, %b) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %min = "onnx.Min"(%a, %b) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %2 = "onnx.Concat"(%max, %min) {axis = 0 : si64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %z = "onnx.ConstantOfShape"(%2) : (tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %x, %y, %z : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// A quotient by zero is not known, and neither is a number that 64 bits cannot hold.
// CHECK-LABEL: func.func @beyond
// CHECK-SAME: -> (tensor<?x?x?xf32>, tensor<?x0x?xf32>, tensor<?x?xf32>)
func.func @beyond() -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %minus = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %least = "onnx.Constant"() {value = dense<-9223372036854775808> : tensor<1xi64>} : () -> tensor<1xi64>
  %large = "onnx.Constant"() {value = dense<4294967296> : tensor<1xi64>} : () -> tensor<1xi64>
  %div = "onnx.Div"(%large, %zero) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %mod = "onnx.Mod"(%large, %zero) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %product = "onnx.Mul"(%large, %large) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %0 = "onnx.Concat"(%div, %mod, %product) {axis = 0 : si64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %x = "onnx.ConstantOfShape"(%0) : (tensor<3xi64>) -> tensor<*xf32>

  %over = "onnx.Div"(%least, %minus) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %rest = "onnx.Mod"(%least, %minus) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %neg = "onnx.Neg"(%least) : (tensor<1xi64>) -> tensor<1xi64>
  %1 = "onnx.Concat"(%over, %rest, %neg) {axis = 0 : si64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %y = "onnx.ConstantOfShape"(%1) : (tensor<3xi64>) -> tensor<*xf32>

  %add = "onnx.Add"(%least, %least) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %sub = "onnx.Sub"(%least, %large) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %2 = "onnx.Concat"(%add, %sub) {axis = 0 : si64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %z = "onnx.ConstantOfShape"(%2) : (tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %x, %y, %z : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Comparisons and logic decide between sizes: of 3 and 5 the left one wherever the condition holds.
// CHECK-LABEL: func.func @conditions
// CHECK-SAME: -> tensor<3x5x3x3x5x3x5x3xf32>
func.func @conditions() -> tensor<*xf32> {
  %3 = "onnx.Constant"() {value = dense<3> : tensor<1xi64>} : () -> tensor<1xi64>
  %5 = "onnx.Constant"() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  %less = "onnx.Less"(%3, %5) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %greater = "onnx.Greater"(%3, %5) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %atMost = "onnx.LessOrEqual"(%3, %3) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %atLeast = "onnx.GreaterOrEqual"(%3, %3) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %and = "onnx.And"(%less, %greater) : (tensor<1xi1>, tensor<1xi1>) -> tensor<1xi1>
  %or = "onnx.Or"(%less, %greater) : (tensor<1xi1>, tensor<1xi1>) -> tensor<1xi1>
  %not = "onnx.Not"(%less) : (tensor<1xi1>) -> tensor<1xi1>
  %bool = "onnx.Cast"(%5) {to = i1} : (tensor<1xi64>) -> tensor<1xi1>
  %all = "onnx.Concat"(%less, %greater, %atMost, %atLeast, %and, %or, %not, %bool) {axis = 0 : si64} : (tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>, tensor<1xi1>) -> tensor<8xi1>
  %sizes = "onnx.Where"(%all, %3, %5) : (tensor<8xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<8xi64>
  %x = "onnx.ConstantOfShape"(%sizes) : (tensor<8xi64>) -> tensor<*xf32>
  onnx.Return %x : tensor<*xf32>
}

// -----

// A condition that is not known leaves the size open, unless both sides are the same.
// CHECK-LABEL: func.func @unknownCondition
// CHECK-SAME: -> tensor<?x4xf32>
func.func @unknownCondition(%x: tensor<?xf32>) -> tensor<*xf32> {
  %a = "onnx.Constant"() {value = dense<[3, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %b = "onnx.Constant"() {value = dense<[5, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %one = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %length = "onnx.Shape"(%x) : (tensor<?xf32>) -> tensor<1xi64>
  %isOne = "onnx.Equal"(%length, %one) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %is = "onnx.Not"(%isOne) : (tensor<1xi1>) -> tensor<1xi1>
  %sizes = "onnx.Where"(%is, %a, %b) : (tensor<1xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %y = "onnx.ConstantOfShape"(%sizes) : (tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// Parts of a shape: Shape's own bounds, Slice with bounds that count from the end and a step, Gather from
// the end, and the number of all elements.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: -> (tensor<3x5xf32>, tensor<5x6xf32>, tensor<2x4x6xf32>, tensor<6x2x720xf32>)
func.func @parts(%x: tensor<2x3x4x5x6xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %shape = "onnx.Shape"(%x) : (tensor<2x3x4x5x6xf32>) -> tensor<5xi64>
  %0 = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %1 = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %2 = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %minus1 = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %minus2 = "onnx.Constant"() {value = dense<-2> : tensor<1xi64>} : () -> tensor<1xi64>
  %end = "onnx.Constant"() {value = dense<9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %inner = "onnx.Shape"(%x) {start = 1 : si64, end = -1 : si64} : (tensor<2x3x4x5x6xf32>) -> tensor<*xi64>
  %everyOther = "onnx.Slice"(%inner, %0, %end, %0, %2) : (tensor<*xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %a = "onnx.ConstantOfShape"(%everyOther) : (tensor<*xi64>) -> tensor<*xf32>
  %last = "onnx.Slice"(%shape, %minus2, %end, %0) : (tensor<5xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %b = "onnx.ConstantOfShape"(%last) : (tensor<*xi64>) -> tensor<*xf32>
  %even = "onnx.Slice"(%shape, %0, %end, %0, %2) : (tensor<5xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %c = "onnx.ConstantOfShape"(%even) : (tensor<*xi64>) -> tensor<*xf32>
  %ends = "onnx.Constant"() {value = dense<[-1, 0]> : tensor<2xi64>} : () -> tensor<2xi64>
  %outer = "onnx.Gather"(%shape, %ends) : (tensor<5xi64>, tensor<2xi64>) -> tensor<2xi64>
  %scalar = "onnx.Size"(%x) : (tensor<2x3x4x5x6xf32>) -> tensor<i64>
  %size = "onnx.Unsqueeze"(%scalar, %0) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %both = "onnx.Concat"(%outer, %size) {axis = 0 : si64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %d = "onnx.ConstantOfShape"(%both) : (tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %a, %b, %c, %d : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// What is out of range, or runs backwards, is left to whoever executes the model.
// CHECK-LABEL: func.func @outOfRange
// CHECK-SAME: -> (tensor<?xf32>, tensor<?x?xf32>)
func.func @outOfRange(%x: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %shape = "onnx.Shape"(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
  %two = "onnx.Constant"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %gone = "onnx.Gather"(%shape, %two) : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %a = "onnx.ConstantOfShape"(%gone) : (tensor<1xi64>) -> tensor<*xf32>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %minus1 = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %least = "onnx.Constant"() {value = dense<-9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %open = "onnx.Slice"(%shape, %minus1, %least, %zero, %minus1) : (tensor<2xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %b = "onnx.ConstantOfShape"(%open) : (tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %a, %b : tensor<*xf32>, tensor<*xf32>
}

// -----

// Ranges in both directions, up to 4,096 elements. One that would leave 64 bits ends before.
// CHECK-LABEL: func.func @ranges
// CHECK-SAME: -> (tensor<2x5x8xf32>, tensor<3x1xf32>, tensor<?xf32>, tensor<2xi64>)
func.func @ranges() -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi64>) {
  %0 = "onnx.Constant"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %2 = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %3 = "onnx.Constant"() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %9 = "onnx.Constant"() {value = dense<9> : tensor<i64>} : () -> tensor<i64>
  %minus2 = "onnx.Constant"() {value = dense<-2> : tensor<i64>} : () -> tensor<i64>
  %up = "onnx.Range"(%2, %9, %3) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %a = "onnx.ConstantOfShape"(%up) : (tensor<*xi64>) -> tensor<*xf32>
  %down = "onnx.Range"(%3, %0, %minus2) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %b = "onnx.ConstantOfShape"(%down) : (tensor<*xi64>) -> tensor<*xf32>

  %1 = "onnx.Constant"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %many = "onnx.Constant"() {value = dense<4097> : tensor<i64>} : () -> tensor<i64>
  %long = "onnx.Range"(%0, %many, %1) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %first = "onnx.Constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %element = "onnx.Gather"(%long, %first) : (tensor<*xi64>, tensor<1xi64>) -> tensor<1xi64>
  %c = "onnx.ConstantOfShape"(%element) : (tensor<1xi64>) -> tensor<*xf32>

  %near = "onnx.Constant"() {value = dense<9223372036854775800> : tensor<i64>} : () -> tensor<i64>
  %most = "onnx.Constant"() {value = dense<9223372036854775807> : tensor<i64>} : () -> tensor<i64>
  %five = "onnx.Constant"() {value = dense<5> : tensor<i64>} : () -> tensor<i64>
  %edge = "onnx.Range"(%near, %most, %five) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  onnx.Return %a, %b, %c, %edge : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xi64>
}

// -----

// Lists keep their contents through ops that only change their shape, and broadcast like any tensor.
// CHECK-LABEL: func.func @shapes
// CHECK-SAME: -> (tensor<2x3xf32>, tensor<2x2x2xf32>, tensor<6x8xf32>)
func.func @shapes(%x: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %shape = "onnx.Shape"(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
  %0 = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %row = "onnx.Unsqueeze"(%shape, %0) : (tensor<2xi64>, tensor<1xi64>) -> tensor<1x2xi64>
  %same = "onnx.Identity"(%row) : (tensor<1x2xi64>) -> tensor<1x2xi64>
  %flat = "onnx.Flatten"(%same) : (tensor<1x2xi64>) -> tensor<1x2xi64>
  %narrow = "onnx.Cast"(%flat) {to = i32} : (tensor<1x2xi64>) -> tensor<1x2xi32>
  %wide = "onnx.Cast"(%narrow) {to = i64} : (tensor<1x2xi32>) -> tensor<1x2xi64>
  %list = "onnx.Squeeze"(%wide, %0) : (tensor<1x2xi64>, tensor<1xi64>) -> tensor<2xi64>
  %a = "onnx.ConstantOfShape"(%list) : (tensor<2xi64>) -> tensor<*xf32>
  %2 = "onnx.Constant"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %3 = "onnx.Constant"() {value = dense<3> : tensor<1xi64>} : () -> tensor<1xi64>
  %three = "onnx.Expand"(%2, %3) : (tensor<i64>, tensor<1xi64>) -> tensor<*xi64>
  %b = "onnx.ConstantOfShape"(%three) : (tensor<*xi64>) -> tensor<*xf32>
  // A row and a column: [2, 3] + [[1], [5]], of which the last row is [7, 8].
  %column = "onnx.Constant"() {value = dense<[[1], [5]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %table = "onnx.Add"(%row, %column) : (tensor<1x2xi64>, tensor<2x1xi64>) -> tensor<2x2xi64>
  %four = "onnx.Constant"() {value = dense<4> : tensor<1xi64>} : () -> tensor<1xi64>
  %all = "onnx.Reshape"(%table, %four) : (tensor<2x2xi64>, tensor<1xi64>) -> tensor<4xi64>
  %last = "onnx.Constant"() {value = dense<[-2, -1]> : tensor<2xi64>} : () -> tensor<2xi64>
  %sums = "onnx.Gather"(%all, %last) : (tensor<4xi64>, tensor<2xi64>) -> tensor<2xi64>
  %less = "onnx.Constant"() {value = dense<[1, 0]> : tensor<2xi64>} : () -> tensor<2xi64>
  %sizes = "onnx.Sub"(%sums, %less) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %c = "onnx.ConstantOfShape"(%sizes) : (tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// In a target of Reshape that is known in part, 0 copies a size of the input unless `allowzero` is set. In
// a target of Expand an unknown size leaves a larger one alone, but not a 1.
// CHECK-LABEL: func.func @targets
// CHECK-SAME: -> (tensor<2x?x?xf32>, tensor<0x?x?xf32>, tensor<2x3x?xf32>)
func.func @targets(%x: tensor<2x3x1xf32>, %n: tensor<?xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %open = "onnx.Shape"(%n) : (tensor<?xf32>) -> tensor<1xi64>
  %zero = "onnx.Constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %minus = "onnx.Constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>
  %target = "onnx.Concat"(%zero, %minus, %open) {axis = 0 : si64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  %a = "onnx.Reshape"(%x, %target) : (tensor<2x3x1xf32>, tensor<3xi64>) -> tensor<*xf32>
  %b = "onnx.Reshape"(%x, %target) {allowzero = 1 : si64} : (tensor<2x3x1xf32>, tensor<3xi64>) -> tensor<*xf32>
  %opens = "onnx.Concat"(%open, %open) {axis = 0 : si64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %c = "onnx.Expand"(%x, %opens) : (tensor<2x3x1xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %a, %b, %c : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Only tensors are sizes: what else a file calls a constant stays what it is.
// CHECK-LABEL: func.func @vector
// CHECK-SAME: -> vector<2xi64>
func.func @vector() -> vector<2xi64> {
  %0 = "onnx.Constant"() {value = dense<1> : vector<2xi64>} : () -> vector<2xi64>
  %1 = "onnx.Neg"(%0) : (vector<2xi64>) -> vector<2xi64>
  onnx.Return %1 : vector<2xi64>
}
