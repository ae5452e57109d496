// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What HTP adds to MLIR's transform dialect: schedules for one module only.

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
    All ops inside of `root` that belong to a module that `path` and `class`
    name, or to a module in it, in the order of the program; of these the ones
    whose names are in `ops`, where that is given.

    `path` is a path (`encoder.layer.0`), a tag (`/BertModel/BertEncoder`) or a
    pattern of paths, in which `*` stays within a component and `**` does not.
    `class` is the name of a class, with or without its Python module. Where
    both are given, a module must be both.

    An op says its module by `htp.tag`, or by the scopes in its location, which
    survive a lowering. One that was made of ops of several modules is matched
    where all of them are. The tree is the `htp.hierarchy` around `root`.

    ```mlir
    %matmuls = transform.htp.match_module class "BertSelfAttention"
        ops ["linalg.matmul"] in %root : (!transform.any_op) -> !transform.any_op
    ```

    A name that no module has is a definite failure, which suggests the nearest
    one. Where an outlined function is the body of several modules of which only
    some match, a warning says what became of its ops: they count as those of
    the module that the function names (`htp.module`).
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
  let summary = "Matches an op of modules, by path or class";
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
