// RUN: htp-opt %s -split-input-file -verify-diagnostics

// expected-note @below {{in this hierarchy}}
htp.hierarchy @Net : "demo.Net" {
  // expected-error @below {{does not belong into an htp.hierarchy, which holds only htp.module}}
  builtin.module {}
}

// -----

htp.hierarchy @Net : "demo.Net" {
  // expected-error @below {{comes before its parent 'layer'}}
  htp.module @layer.0 : "demo.Block"
  // expected-note @below {{the parent}}
  htp.module @layer : "demo.Layer"
}

// -----

// Modules in another order than the tree's; a parent that is missing is none that comes later.

htp.hierarchy @Net : "demo.Net" {
  htp.module @a : "demo.Block"
  htp.module @b : "demo.Block"
  htp.module @a.x : "demo.Block"
  // expected-error @below {{comes before its parent 'b.list'}}
  htp.module @b.list.0 : "demo.Block"
  htp.module @c.list.0 : "demo.Block"
  // expected-note @below {{the parent}}
  htp.module @b.list : "demo.Block"
}

// -----

htp.hierarchy @Net : "demo.Net" {
  // expected-note @below {{by this module}}
  htp.module @a : "demo.Block" aliases ["c"]
  // expected-error @below {{path 'c' is already taken}}
  htp.module @b : "demo.Block" aliases ["c"]
}

// -----

htp.hierarchy @Net : "demo.Net" {
  // expected-note @below {{see existing symbol definition here}}
  htp.module @a : "demo.Block"
  // expected-error @below {{redefinition of symbol named 'a'}}
  htp.module @a : "demo.Block"
}

// -----

htp.hierarchy @Net : "demo.Net" {
  // expected-error @below {{path 'layer..0' is empty or has an empty component}}
  htp.module @layer..0 : "demo.Block"
}

// -----

htp.hierarchy @Net : "demo.Net" {
  // expected-note @below {{by this module}}
  htp.module @a : "demo.Block"
  // expected-error @below {{path 'a' is already taken}}
  htp.module @b : "demo.Block" aliases ["a"]
}

// -----

htp.hierarchy @Net : "demo.Net" {
  // expected-error @below {{is called -1 times, expected a count that is not negative}}
  htp.module @a : "demo.Block" calls -1
}

// -----

// expected-error @below {{attribute 'htp.tag' must be a #htp.tag, found "a"}}
module attributes {htp.tag = "a"} {}

// -----

// expected-error @below {{attribute 'htp.parameter' must be a string, the path of a parameter, found 1 : i64}}
module attributes {htp.parameter = 1} {}

// -----

// expected-error @below {{attribute 'htp.users' must be an array of strings, the paths of modules, found [1]}}
module attributes {htp.users = [1]} {}

// -----

// expected-error @below {{unknown key 'color', expected call, evidence, confidence, reason or contexts}}
module attributes {htp.tag = #htp.tag<"a", color = 1>} {}

// -----

// expected-error @below {{expected a list of dictionaries, one for each op of the body}}
module attributes {htp.originals = #htp.originals<[{}, 1]>} {}

// -----

htp.hierarchy @Net : "demo.Net" {
  // expected-error @below {{invalid value for property parameters, expected an array of #htp.parameter}}
  htp.module @a : "demo.Block" parameters [1]
}

// -----

htp.hierarchy @Net : "demo.Net" {
  // expected-error @below {{expected an array of #htp.parameter, found 1 : i64}}
  "htp.module"() <{sym_name = "a", qualified = "", parameters = 1}> : () -> ()
}

// -----

// expected-error @below {{unknown evidence 'rumour'}}
module attributes {htp.tag = #htp.tag<"a", evidence = "rumour">} {}

// -----

func.func @region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has 1 results, but its body yields 2 values, or of other types}}
  %0 = "htp.region"() ({
    // expected-note @below {{yielded here}}
    "htp.yield"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) {path = "a"} : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @types(%x: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error @below {{has 1 results, but its body yields 1 values, or of other types}}
  %0 = "htp.region"() ({
    // expected-note @below {{yielded here}}
    "htp.yield"(%x) : (tensor<4xf32>) -> ()
  }) {path = "a"} : () -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

htp.hierarchy @Net : "demo.Net" {
  // expected-error @below {{path '.a' is empty or has an empty component}}
  htp.module @b : "demo.Block" aliases [".a"]
}

// -----

// expected-error @below {{attribute 'htp.fit' must be an array of dictionaries, one for each trace or reference, found [1]}}
htp.hierarchy @Net : "demo.Net" attributes {htp.fit = [1]} {
}
