// RUN: split-file %s %t
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/gone.json 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/broken.json 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/format.json 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/version.json 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/module.json 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/call.json 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/parent.json 2>&1 | FileCheck %s --check-prefix=PARENT
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/near.json 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/flag.json 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/value.json 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy="executed=%t/other.json trace=%S/Inputs/net.trace.json" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not htp-opt %t/net.mlir --htp-attach-hierarchy="executed=%t/often.json trace=%S/Inputs/net.trace.json" 2>&1 | FileCheck %s --check-prefix=OFTEN
// RUN: not htp-opt %t/outlined.mlir --htp-attach-hierarchy=executed=%t/other.json 2>&1 | FileCheck %s --check-prefix=OUTLINED
// RUN: htp-opt %t/net.mlir --htp-attach-hierarchy=executed=%t/unknown.json | FileCheck %s --check-prefix=UNKNOWN

// GONE: error: no run: '{{.*}}gone.json': {{[Nn]}}o such file
// BROKEN: error: no run: '{{.*}}broken.json': not JSON
// FORMAT: error: no run: '{{.*}}format.json': expected "htp-executed" at executed.format
// VERSION: error: no run: '{{.*}}version.json': expected 1 at executed.version
// MODULE: error: no run: '{{.*}}module.json': no module has this path at executed.calls[0].module, found 'encoder'
// CALL: error: no run: '{{.*}}call.json': the module has fewer calls at executed.calls[0].call, found '1'
// PARENT: error: no run: '{{.*}}parent.json': expected an earlier call at executed.calls[1].parent, found '1'
// NEAR: error: no run: '{{.*}}near.json': the call does not return this value at executed.calls[0].near[0], found 'z'
// FLAG: error: no run: '{{.*}}flag.json': expected true or false at executed.calls[0].open
// VALUE: error: no run: '{{.*}}value.json': expected the name of a value at executed.calls[0].takes[0]
// OTHER: error: '{{.*}}other.json': module 'encoder' ran, but the model's tree has no such module: the tree is of another model
// OFTEN: error: '{{.*}}often.json': call 1 of module 'act' ran, but the model's tree has only 1 of it: the tree is of another model, or of another call
// OUTLINED: error: the model is outlined: 1 of its functions are modules

// A value that the graph does not have says nothing.
// UNKNOWN: htp.hierarchy @Net

//--- net.mlir
module {}

//--- outlined.mlir
func.func private @f() attributes {htp.module = "encoder"} {
  return
}

//--- broken.json
{"format":

//--- format.json
{"format": "htp-trace", "version": 1, "modules": [], "calls": [], "unclear": []}

//--- version.json
{"format": "htp-executed", "version": 2, "modules": [], "calls": [], "unclear": []}

//--- module.json
{"format": "htp-executed", "version": 1, "modules": [{"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []}],
 "calls": [{"module": "encoder", "call": 0, "takes": [], "returns": []}], "unclear": []}

//--- call.json
{"format": "htp-executed", "version": 1, "modules": [{"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []}],
 "calls": [{"module": "", "call": 1, "takes": [], "returns": []}], "unclear": []}

//--- parent.json
{"format": "htp-executed", "version": 1, "modules": [{"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []}],
 "calls": [{"module": "", "call": 0, "takes": [], "returns": []}, {"module": "", "call": 0, "parent": 1, "takes": [], "returns": []}], "unclear": []}

//--- near.json
{"format": "htp-executed", "version": 1, "modules": [{"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []}],
 "calls": [{"module": "", "call": 0, "takes": [], "returns": ["y"], "near": ["z"]}], "unclear": []}

//--- flag.json
{"format": "htp-executed", "version": 1, "modules": [{"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []}],
 "calls": [{"module": "", "call": 0, "takes": [], "returns": [], "open": 1}], "unclear": []}

//--- value.json
{"format": "htp-executed", "version": 1, "modules": [{"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []}],
 "calls": [{"module": "", "call": 0, "takes": [3], "returns": []}], "unclear": []}

//--- other.json
{"format": "htp-executed", "version": 1,
 "modules": [{"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []},
             {"path": "encoder", "class": "Encoder", "qualified": "demo.Encoder", "torch_nn": false, "calls": 1, "parameters": []}],
 "calls": [{"module": "encoder", "call": 0, "takes": [], "returns": []}], "unclear": []}

//--- often.json
{"format": "htp-executed", "version": 1,
 "modules": [{"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []},
             {"path": "act", "class": "Act", "qualified": "demo.Act", "torch_nn": false, "calls": 2, "parameters": []}],
 "calls": [{"module": "act", "call": 1, "takes": [], "returns": []}], "unclear": []}

//--- unknown.json
{"format": "htp-executed", "version": 1, "modules": [{"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []}],
 "calls": [{"module": "", "call": 0, "takes": ["nobody"], "returns": ["nothing"]}], "unclear": ["nowhere"]}
