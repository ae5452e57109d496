// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ONNX dialect's own operations and types. Every op of ONNX itself is
// registered at run time from the schemas of the linked ONNX library.

#ifndef HTP_DIALECT_ONNX_IR_ONNXOPS_TD
#define HTP_DIALECT_ONNX_IR_ONNXOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ONNX_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::htp::onnx";
  let summary = "ONNX, spelled as onnx-mlir spells it";
  let isExtensible = 1;
  let useDefaultTypePrinterParser = 1;
}

class ONNX_Type<string name, string typeMnemonic> : TypeDef<ONNX_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def ONNX_StringType : ONNX_Type<"String", "String"> {
  let summary = "A string, as an element of a tensor";
}

class ONNX_Op<string mnemonic, list<Trait> traits = []> :
    Op<ONNX_Dialect, mnemonic, traits>;

def ONNX_ReturnOp : ONNX_Op<"Return", [Pure, ReturnLike, Terminator]> {
  let summary = "Ends a graph";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def ONNX_YieldOp : ONNX_Op<"Yield", [Pure, ReturnLike, Terminator]> {
  let summary = "Ends a subgraph of If, Loop or Scan";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

#endif // HTP_DIALECT_ONNX_IR_ONNXOPS_TD
