// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The HTP dialect: the module tree of a model, and the tags that refer to it.

#ifndef HTP_DIALECT_HTP_IR_HTPOPS_TD
#define HTP_DIALECT_HTP_IR_HTPOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def HTP_Dialect : Dialect {
  let name = "htp";
  let cppNamespace = "::htp";
  let summary = "Which nn.Module each operation came from";
  let description = [{
    The dialect stores the module tree of a PyTorch model once, in an
    `htp.hierarchy`, and records for each operation which module made it, in the
    discardable attribute `htp.tag`. Neither depends on the dialect of the
    tagged operations.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def HTP_DtypeType : TypeDef<HTP_Dialect, "Dtype"> {
  let mnemonic = "dtype";
  let summary = "An element type of PyTorch without a counterpart in MLIR";
  let description = [{
    The element type of a parameter, as PyTorch spells it, where MLIR has no
    such type. It keeps the shape from being lost:
    `tensor<4x4x!htp.dtype<"qint8">>`.
  }];
  let parameters = (ins StringRefParameter<"as PyTorch spells it">:$name);
  let assemblyFormat = "`<` $name `>`";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class HTP_Attr<string name, string attrMnemonic> : AttrDef<HTP_Dialect, name> {
  let mnemonic = attrMnemonic;
}

/// The kind of evidence behind a tag. The names appear in files.
def HTP_Evidence : I32EnumAttr<"Evidence", "what an answer rests on", [
    I32EnumAttrCase<"None", 0, "">,
    // Evidence on the node itself.
    I32EnumAttrCase<"Metadata", 1, "metadata">,
    I32EnumAttrCase<"Name", 2, "name">,
    I32EnumAttrCase<"ValueName", 3, "value-name">,
    I32EnumAttrCase<"Parameter", 4, "parameter">,
    I32EnumAttrCase<"Location", 5, "location">,
    // Alignment with a traced run or a reference model.
    I32EnumAttrCase<"Alignment", 6, "alignment">,
    I32EnumAttrCase<"Reference", 7, "reference">,
    // Evidence from its neighbours.
    I32EnumAttrCase<"Producer", 8, "producer">,
    I32EnumAttrCase<"Consumer", 9, "consumer">,
    I32EnumAttrCase<"Ancestor", 10, "ancestor">,
    // Given by the user.
    I32EnumAttrCase<"Override", 11, "override">,
    // A run of the model and of its graph.
    I32EnumAttrCase<"Executed", 12, "executed">]> {
  let cppNamespace = "::htp";
  let genSpecializedAttr = 0;
}

/// The share of answers on the same grounds that turned out right, between 0
/// and 1.
def HTP_Confidence : APFloatParameter<"confidence between 0 and 1"> {
  string accessor = [{
    double getConfidenceValue() const {
      return getConfidence().convertToDouble();
    }
  }];
}

def HTP_ParameterAttr : HTP_Attr<"Parameter", "parameter"> {
  let summary = "A parameter or buffer of a module";
  let description = [{
    The name within its module, the type, and two fingerprints of its contents:
    `hash` of the bytes as stored, `values` of the values in any order
    (unchanged by a transpose or a reshape). A fingerprint of 0 was not
    computed. A `constant` is a tensor literal in the module's code that
    torch.export lifted into a parameter.

    ```mlir
    #htp.parameter<"weight" : tensor<4x2xf32>, hash = 81985529216486895, values = 17>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"name within the module">:$name,
    "::mlir::Type":$type,
    DefaultValuedParameter<"uint64_t", "0">:$hash,
    DefaultValuedParameter<"uint64_t", "0">:$values,
    DefaultValuedParameter<"bool", "false">:$buffer,
    DefaultValuedParameter<"bool", "false">:$constant,
    OptionalParameter<"::mlir::StringAttr", "path of the parameter whose storage it shares">:$tied);
  let assemblyFormat = [{
    `<` $name `:` $type (`,` struct($hash, $values, $buffer, $constant, $tied)^)? `>`
  }];
}

/// The parameters of a module: an array of `#htp.parameter` in text and
/// bytecode, plain data in memory. No two modules have equal parameters, so
/// uniquing them as attributes would only grow the context.
def HTP_ParametersProp : Property<"::std::vector<::htp::Parameter>",
    "an array of #htp.parameter", "::llvm::ArrayRef<::htp::Parameter>"> {
  let assignToStorage = "$_storage.assign($_value.begin(), $_value.end())";
  let convertToAttribute = [{
    return ::htp::parametersToAttribute($_ctxt, $_storage);
  }];
  let convertFromAttribute = [{
    return ::htp::parametersFromAttribute($_storage, $_attr, $_diag);
  }];
  let hashProperty = "::htp::hashParameters($_storage)";
  let parser = [{
    ::mlir::Attribute attribute;
    if ($_parser.parseAttribute(attribute))
      return ::mlir::failure();
    return ::htp::parametersFromAttribute($_storage, attribute, nullptr);
  }];
  let optionalParser = [{
    ::mlir::ArrayAttr attribute;
    auto result = $_parser.parseOptionalAttribute(attribute, ::mlir::Type());
    if (!result.has_value() || ::mlir::failed(*result))
      return result;
    return ::mlir::ParseResult(
        ::htp::parametersFromAttribute($_storage, attribute, nullptr));
  }];
  let printer = [{
    $_printer.printAttribute(::htp::parametersToAttribute($_ctxt, $_storage))
  }];
  let readFromMlirBytecode = [{
    ::mlir::Attribute attribute;
    if (::mlir::failed($_reader.readAttribute(attribute)))
      return ::mlir::failure();
    return ::htp::parametersFromAttribute(
        $_storage, attribute, [&] { return $_reader.emitError(); });
  }];
  let writeToMlirBytecode = [{
    $_writer.writeAttribute(::htp::parametersToAttribute($_ctxt, $_storage));
  }];
  let defaultValue = "::llvm::ArrayRef<::htp::Parameter>{}";
  let storageTypeValueOverride = "{}";
}

def HTP_ContextAttr : HTP_Attr<"Context", "context"> {
  let summary = "Another module that an operation could belong to";
  let parameters = (ins
    StringRefParameter<"path of the module">:$path,
    DefaultValuedParameter<"::htp::Evidence", "::htp::Evidence::None">:$evidence,
    HTP_Confidence:$confidence);
  let builders = [
    AttrBuilder<(ins "::llvm::StringRef":$path, "::htp::Evidence":$evidence,
                     "double":$confidence), [{
      return $_get($_ctxt, path, evidence, ::llvm::APFloat(confidence));
    }]>];
  let extraClassDeclaration = HTP_Confidence.accessor;
  let hasCustomAssemblyFormat = 1;
}

def HTP_OriginalsAttr : HTP_Attr<"Originals", "originals"> {
  let summary = "How a call of an outlined function differs from the function's body";
  let description = [{
    For each op of the body, in braces: the names, tags and locations that differ
    in this call. The printer gives the attribute an alias (`#originals1`), which
    keeps calls short.

    ```mlir
    call @Layer(%x, %w) {htp.originals = #htp.originals<[{onnx_node_name = "mul1"}, {} ]>, …}
    ```
  }];
  // One flat list for all ops: a dictionary per op would dominate the memory
  // that outlining needs.
  let parameters = (ins
    ArrayRefParameter<"::mlir::NamedAttribute", "the entries of all ops, concatenated">:$entries,
    ArrayRefParameter<"unsigned", "the end of each op's entries">:$ends);
  let extraClassDeclaration = [{
    /// The same from an array of dictionaries; null if it is not one.
    static OriginalsAttr get(::mlir::ArrayAttr dictionaries);

    size_t size() const { return getEnds().size(); }
    /// The entries of op number `op`.
    ::llvm::ArrayRef<::mlir::NamedAttribute> operator[](size_t op) const {
      assert(op < size() && "no such op in the body");
      return getEntries().take_front(getEnds()[op]).drop_front(
          op ? getEnds()[op - 1] : 0);
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genMnemonicAlias = 1;
}

def HTP_TagAttr : HTP_Attr<"Tag", "tag"> {
  let summary = "The module that made an operation, and how that is known";
  let description = [{
    `path` is the path of the deepest `nn.Module` (empty for the root), `call`
    the number of the call of that module, from 0. `evidence` is the kind of
    evidence that decided, `confidence` how often such answers are right,
    `reason` why a conflict was decided this way, and `contexts` lists other
    modules that the operation is related to.

    ```mlir
    #htp.tag<"encoder.layer.0", call = 1, evidence = "name", confidence = 0.99>
    ```
  }];
  let parameters = (ins
    AttrParameter<"::mlir::StringAttr", "path of the module">:$pathAttr,
    DefaultValuedParameter<"int64_t", "0">:$call,
    DefaultValuedParameter<"::htp::Evidence", "::htp::Evidence::None">:$evidence,
    HTP_Confidence:$confidence,
    StringRefParameter<"why a conflict was decided this way">:$reason,
    OptionalArrayRefParameter<"ContextAttr">:$contexts);
  let builders = [
    AttrBuilderWithInferredContext<(ins
        "::mlir::StringAttr":$path, CArg<"int64_t", "0">:$call,
        CArg<"::htp::Evidence", "::htp::Evidence::None">:$evidence,
        CArg<"double", "1.0">:$confidence,
        CArg<"::llvm::StringRef", "{}">:$reason,
        CArg<"::llvm::ArrayRef<ContextAttr>", "{}">:$contexts), [{
      return $_get(path.getContext(), path, call, evidence,
                   ::llvm::APFloat(confidence), reason, contexts);
    }]>,
    AttrBuilder<(ins "::llvm::StringRef":$path, CArg<"int64_t", "0">:$call,
                     CArg<"::htp::Evidence", "::htp::Evidence::None">:$evidence,
                     CArg<"double", "1.0">:$confidence,
                     CArg<"::llvm::StringRef", "{}">:$reason,
                     CArg<"::llvm::ArrayRef<ContextAttr>", "{}">:$contexts), [{
      return get(::mlir::StringAttr::get($_ctxt, path), call, evidence,
                 confidence, reason, contexts);
    }]>];
  let extraClassDeclaration = HTP_Confidence.accessor # [{
    ::llvm::StringRef getPath() const { return getPathAttr().getValue(); }

    /// The same tag with these contexts.
    TagAttr withContexts(::llvm::ArrayRef<ContextAttr> contexts) const {
      return get(getContext(), getPathAttr(), getCall(), getEvidence(),
                 getConfidence(), getReason(), contexts);
    }
  }];
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class HTP_Op<string mnemonic, list<Trait> traits = []> :
    Op<HTP_Dialect, mnemonic, traits>;

def HTP_HierarchyOp : HTP_Op<"hierarchy",
    [IsolatedFromAbove, NoTerminator, NoRegionArguments, SingleBlock, Symbol, SymbolTable]> {
  let summary = "The module tree of a model";
  let description = [{
    The operation itself is the root module, named after its class. It contains
    every other module, parents first, named by its path. A module whose
    `forward` never ran may be missing; its children then belong to the nearest
    ancestor that is present.

    ```mlir
    htp.hierarchy @BertModel : "transformers.models.bert.modeling_bert.BertModel" {
      htp.module @embeddings : "transformers.models.bert.modeling_bert.BertEmbeddings"
      htp.module @embeddings.word_embeddings : "torch.nn.modules.sparse.Embedding" torch_nn
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrAttr:$qualified,
    HTP_ParametersProp:$parameters,
    DefaultValuedAttr<I64Attr, "1">:$calls);
  let regions = (region SizedRegion<1>:$modules);
  let assemblyFormat = [{
    $sym_name `:` $qualified (`calls` $calls^)? (`parameters` $parameters^)?
    attr-dict-with-keyword $modules
  }];
  let hasRegionVerifier = 1;
}

def HTP_ModuleOp : HTP_Op<"module", [HasParent<"HierarchyOp">, Symbol]> {
  let summary = "One module of the tree";
  let description = [{
    The symbol is the module's path. `torch_nn` means that torch.nn defines the
    class, `calls` is how often `forward` ran, `aliases` lists further paths of
    the same module object, and `parameters` its parameters and buffers, each a
    `#htp.parameter`. An unknown class is `""`.
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrAttr:$qualified,
    UnitAttr:$torch_nn,
    DefaultValuedAttr<I64Attr, "1">:$calls,
    OptionalAttr<StrArrayAttr>:$aliases,
    HTP_ParametersProp:$parameters);
  let assemblyFormat = [{
    $sym_name `:` $qualified (`torch_nn` $torch_nn^)? (`calls` $calls^)?
    (`aliases` $aliases^)? (`parameters` $parameters^)? attr-dict
  }];
  let extraClassDeclaration = [{
    ::llvm::StringRef getPath() { return getSymName(); }
  }];
}

def HTP_RegionOp : HTP_Op<"region",
    [NoRegionArguments, RecursiveMemoryEffects,
     SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "The operations of one call of a module";
  let description = [{
    `--htp-outline=form=region` wraps the operations of a module in one, for
    compilers that outline later or only need the boundary. The body may use
    outside values directly; its results are the values that are used outside.

    ```mlir
    %0 = htp.region "encoder.layer.0" : tensor<4xf32> {
      %1 = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      htp.yield %1 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins
    StrAttr:$path,
    DefaultValuedAttr<I64Attr, "0">:$call);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$content);
  let assemblyFormat = [{
    $path (`call` $call^)? (`:` type($results)^)? attr-dict-with-keyword $content
  }];
  let hasRegionVerifier = 1;
}

def HTP_YieldOp : HTP_Op<"yield",
    [HasParent<"RegionOp">, Pure, ReturnLike, Terminator]> {
  let summary = "The values of a region that are used outside";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif // HTP_DIALECT_HTP_IR_HTPOPS_TD
