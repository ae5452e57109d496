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
