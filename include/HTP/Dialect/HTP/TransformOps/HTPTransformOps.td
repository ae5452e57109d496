// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HTP's ops for MLIR's transform dialect: they match the ops of chosen modules.

#ifndef HTP_DIALECT_HTP_TRANSFORMOPS_HTPTRANSFORMOPS_TD
#define HTP_DIALECT_HTP_TRANSFORMOPS_HTPTRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def HTP_MatchModuleOp : TransformDialectOp<"htp.match_module",
    [DeclareOpInterfaceMethods<TransformOpInterface>, MatchOpInterface,
     MemoryEffectsOpInterface, NavigationTransformOpTrait]> {
  let cppNamespace = "::htp::transform";
  let summary = "The ops of modules, by path or class";
  let description = [{
    Returns all ops inside `root` that belong to a module that `path` and
    `class` name, or to one of its submodules, in program order. `ops`, if
    given, keeps only ops with these names.

    `path` is a path (`encoder.layer.0`), a tag (`/BertModel/BertEncoder`) or a
    pattern of paths, in which `*` stays within a component and `**` does not.
    `class` is the name of a class, with or without its Python module. If both
    are given, a module must match both.

    The module of an op is taken from its `htp.tag`, or from the scopes in its
    location, which survive lowering. An op fused from several modules matches
    if all of them do. The module tree is the `htp.hierarchy` around `root`.

    ```mlir
    %matmuls = transform.htp.match_module class "BertSelfAttention"
        ops ["linalg.matmul"] in %root : (!transform.any_op) -> !transform.any_op
    ```

    A name that no module has is a definite failure, and the error suggests the
    nearest name. If several modules share an outlined function and only some of
    them match, its ops count as those of the module that the function names
    (`htp.module`), with a warning that says so.
  }];
  let arguments = (ins
    TransformHandleTypeInterface:$root,
    OptionalAttr<StrAttr>:$path,
    OptionalAttr<StrAttr>:$class_name,
    OptionalAttr<StrArrayAttr>:$ops);
  let results = (outs TransformHandleTypeInterface:$matched);
  let assemblyFormat = [{
    (`path` $path^)? (`class` $class_name^)? (`ops` $ops^)? `in` $root attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HTP_MatchInModuleOp : TransformDialectOp<"htp.match.in_module",
    [MatchOpInterface, MemoryEffectsOpInterface, SingleOpMatcher]> {
  let cppNamespace = "::htp::transform";
  let summary = "Matches an op that belongs to given modules, by path or class";
  let description = [{
    Succeeds if the op belongs to a module that `path` and `class` name, as in
    `transform.htp.match_module`; a silenceable failure otherwise. For matchers
    of `transform.foreach_match` and `transform.collect_matching`.

    ```mlir
    transform.named_sequence @attention_matmul(
        %op: !transform.any_op {transform.readonly}) -> !transform.any_op {
      transform.match.operation_name %op ["linalg.matmul"] : !transform.any_op
      transform.htp.match.in_module %op class "BertSelfAttention" : !transform.any_op
      transform.yield %op : !transform.any_op
    }
    ```
  }];
  let arguments = (ins
    TransformHandleTypeInterface:$operand_handle,
    OptionalAttr<StrAttr>:$path,
    OptionalAttr<StrAttr>:$class_name);
  let assemblyFormat = [{
    $operand_handle (`path` $path^)? (`class` $class_name^)? attr-dict
    `:` type($operand_handle)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = SingleOpMatcher.extraDeclaration;
}

#endif // HTP_DIALECT_HTP_TRANSFORMOPS_HTPTRANSFORMOPS_TD
