// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ONNX dialect adds to ONNX: types, the attribute for external data,
// and the structural operations. Every operation of ONNX itself is registered
// at run time from the schemas of the linked ONNX library (see Schema.h).

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
  let description = [{
    One operation for each operator schema of the linked ONNX library, in the
    generic form that onnx-mlir prints, plus the attributes that make a round
    trip of an ONNX file through MLIR lossless. See docs/Dialects/ONNX.md.
  }];
  let isExtensible = 1;
  let hasOperationAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let extraClassDeclaration = [{
    using ::mlir::Dialect::addInterfaces;

    /// Side effects and result names of the operations that schemas describe.
    void *getRegisteredInterfaceForOp(::mlir::TypeID interfaceID,
                                      ::mlir::OperationName opName) override;
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class ONNX_Type<string name, string typeMnemonic> : TypeDef<ONNX_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def ONNX_StringType : ONNX_Type<"String", "String"> {
  let summary = "A string, as an element of a tensor";
}

def ONNX_SeqType : ONNX_Type<"Seq", "Seq"> {
  let summary = "A sequence of values of one type";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def ONNX_OptType : ONNX_Type<"Opt", "Opt"> {
  let summary = "A value that may be absent";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def ONNX_MapType : ONNX_Type<"Map", "Map"> {
  let summary = "A map from scalar keys to values of one type";
  let parameters = (ins "::mlir::Type":$keyType, "::mlir::Type":$valueType);
  let assemblyFormat = "`<` $keyType `,` $valueType `>`";
}

def ONNX_SparseTensorType : ONNX_Type<"SparseTensor", "SparseTensor"> {
  let summary = "A tensor in sparse form";
  let parameters = (ins "::mlir::Type":$tensorType);
  let assemblyFormat = "`<` $tensorType `>`";
}

def ONNX_OpaqueType : ONNX_Type<"Opaque", "Opaque"> {
  let summary = "A type known only to its producer and its consumer";
  let parameters = (ins "::mlir::StringAttr":$domain,
                        "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $domain `,` $name `>`";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def ONNX_ExternalAttr : AttrDef<ONNX_Dialect, "External", [TypedAttrInterface]> {
  let mnemonic = "external";
  let summary = "The contents of a tensor stored in a file next to the model";
  let description = [{
    The entries of the tensor's `external_data`, in file order:

    ```mlir
    #onnx.external<[["location", "model.bin"], ["offset", "4096"]]> : tensor<4xf32>
    ```

    The location is relative to the folder of the model. The bytes are read on
    demand.
  }];
  let parameters = (ins AttributeSelfTypeParameter<"", "::mlir::ShapedType">:$type,
                        "::mlir::ArrayAttr":$entries);
  let assemblyFormat = "`<` $entries `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The value of the entry with this key, or an empty string.
    ::llvm::StringRef lookup(::llvm::StringRef key) const;
  }];
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

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

def ONNX_NoValueOp : ONNX_Op<"NoValue", [Pure]> {
  let summary = "An optional input that is not given";
  let arguments = (ins OptionalAttr<UnitAttr>:$value);
  let results = (outs NoneType:$none);
}

def ONNX_EntryPointOp : ONNX_Op<"EntryPoint"> {
  let summary = "Names the function that is the model's graph";
  let arguments = (ins SymbolRefAttr:$func);
}

def ONNX_CustomOp : ONNX_Op<"Custom"> {
  let summary = "An operator of another domain, or a call of a model-local function";
  let description = [{
    `function_name` is the operator type, the attribute `domain_name` the domain
    (absent where the node has none). All other attributes are the node's.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$function_name);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<AnyRegion>:$bodies);
}

#endif // HTP_DIALECT_ONNX_IR_ONNXOPS_TD
