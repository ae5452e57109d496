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
    The dialect holds the module tree of a PyTorch model once, in an
    `htp.hierarchy`, and says of each operation which module made it, in the
    discardable attribute `htp.tag`. Both are independent of the dialect of the
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
  let summary = "An element type of PyTorch that MLIR has no word for";
  let description = [{
    The elements of a parameter whose type is not one of MLIR's own, as PyTorch
    spells it, so that its shape is not lost: `tensor<4x4x!htp.dtype<"qint8">>`.
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

/// What an answer rests on. The names are those that files carry.
def HTP_Evidence : I32EnumAttr<"Evidence", "what an answer rests on", [
    I32EnumAttrCase<"None", 0, "">,
    // What the node itself says.
    I32EnumAttrCase<"Metadata", 1, "metadata">,
    I32EnumAttrCase<"Name", 2, "name">,
    I32EnumAttrCase<"ValueName", 3, "value-name">,
    I32EnumAttrCase<"Parameter", 4, "parameter">,
    I32EnumAttrCase<"Location", 5, "location">,
    // What a program that ran says, as a whole.
    I32EnumAttrCase<"Alignment", 6, "alignment">,
    I32EnumAttrCase<"Reference", 7, "reference">,
    // What its neighbours say.
    I32EnumAttrCase<"Producer", 8, "producer">,
    I32EnumAttrCase<"Consumer", 9, "consumer">,
    I32EnumAttrCase<"Ancestor", 10, "ancestor">,
    // What a user says.
    I32EnumAttrCase<"Override", 11, "override">]> {
  let cppNamespace = "::htp";
  let genSpecializedAttr = 0;
}

/// How often answers like this one are right, between 0 and 1.
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
    The name within its module, the type, and fingerprints of its contents: one
    of the bytes as they lie, one of the values in any order (it survives a
    transpose or a reshape). 0 is a fingerprint that nobody computed. A
    `constant` is a tensor in the module's code that torch.export has lifted.

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

/// The parameters of a module: an array of `#htp.parameter` in text and in
/// bytecode, plain data in between. No two modules have the same ones, so
/// attributes of them would only fill MLIR's tables.
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
  let summary = "Another module that an operation could be said to belong to";
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
  let summary = "In what a call of an outlined function differs from its body";
  let description = [{
    Of each op of the body, in braces, the names, tags and locations that it has
    in this call. The printer gives all of it a name (`#originals1`), which keeps
    calls short.

    ```mlir
    call @Layer(%x, %w) {htp.originals = #htp.originals<[{onnx_node_name = "mul1"}, {} ]>, …}
    ```
  }];
  // One list for all ops: a dictionary for each of them would be most of what
  // outlining makes.
  let parameters = (ins
    ArrayRefParameter<"::mlir::NamedAttribute", "of all ops, one after the other">:$entries,
    ArrayRefParameter<"unsigned", "where those of each op end">:$ends);
  let extraClassDeclaration = [{
    /// The originals that an array of dictionaries holds; null where it does
    /// not.
    static OriginalsAttr get(::mlir::ArrayAttr dictionaries);

    size_t size() const { return getEnds().size(); }
    /// In what the op with this number differs.
    ::llvm::ArrayRef<::mlir::NamedAttribute> operator[](size_t op) const {
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
    counts the calls of that module. `evidence` says what the answer rests on,
    `confidence` how often such answers are right, `reason` why a conflict was
    decided so, and `contexts` which modules the operation also belongs to.

    ```mlir
    #htp.tag<"encoder.layer.0", call = 1, evidence = "name", confidence = 0.99>
    ```
  }];
  let parameters = (ins
    AttrParameter<"::mlir::StringAttr", "path of the module">:$pathAttr,
    DefaultValuedParameter<"int64_t", "0">:$call,
    DefaultValuedParameter<"::htp::Evidence", "::htp::Evidence::None">:$evidence,
    HTP_Confidence:$confidence,
    StringRefParameter<"why a conflict was decided so">:$reason,
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
    The operation itself is the root module, named after its class; below it
    every other module, parents first, named by its path. A module whose
    `forward` never ran may be missing; its children then belong to the nearest
    module that is there.

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
  let summary = "A module of the tree";
  let description = [{
    The symbol is the module's path. `torch_nn` says that torch.nn defines the
    class, `calls` how often `forward` ran, `aliases` the other paths of a
    module that has several, `parameters` its parameters and buffers, each a
    `#htp.parameter`. A class that is not known is `""`.
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
    What `--htp-outline=form=region` puts around the operations of a module, for
    compilers that outline later or only want to see the border. The body reads
    values from outside directly; its results are what is used outside.

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
