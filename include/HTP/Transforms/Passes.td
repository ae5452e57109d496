// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HTP's passes. This file is their documentation: docs/Passes.md is made from it.

#ifndef HTP_TRANSFORMS_PASSES_TD
#define HTP_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def HTPAttachHierarchy : Pass<"htp-attach-hierarchy", "::mlir::ModuleOp"> {
  let summary = "Attach the module tree, and tag every op that names its own module";
  let description = [{
    Writes the tree of `nn.Module`s into the IR (`htp.hierarchy`) and tags every
    op that carries direct evidence of the module that made it: with the
    attribute `htp.tag`, and with the same scope in its location, together with
    the line of Python code if known. Initializers get the parameter that they
    hold (`htp.parameter`) and, if it is not only their owner or no tag of a
    reader tells, the modules that may read them (`htp.users`).

    The tree comes from the first of these that is available: the trace, what
    was executed, the tags of an earlier run, the metadata of the
    torch.export-based exporter, the scopes in names. `from` selects one of
    them.

    The evidence on an op, strongest first:

    1. the exporter's metadata (`pkg.torch.onnx.name_scopes`): evidence
       `metadata`
    2. the scope in its name (`name`) or in the name of one of its results
       (`value-name`), checked against the tree; a result with the name of a
       traced value, if the dataflow agrees (`value-name`)
    3. a parameter that it reads, by name, by contents, or by contents in
       another order, through Identity, Cast, Transpose, QuantizeLinear and
       DequantizeLinear (`parameter`)
    4. with `executed`, one run of the model and of the graph
       (docs/formats/executed.md): the op makes a value that a module call
       returned, or lies between what a call took and what it returned and in no
       other call that this one made (`executed`). This is weighed against the
       other evidence by how often each has been right (`make fit`)

    Ambiguous evidence does not count. If sources disagree, the weaker ones
    become contexts of the tag. Ops that are already tagged in the file keep
    their tags unless a trace is given, or what was executed is worth more.

    ```mlir
    %0 = "onnx.Relu"(%x) {onnx_node_name = "/act/Relu"} : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %0 = "onnx.Relu"(%x) {htp.tag = #htp.tag<"act", evidence = "name", confidence = 0.99, reason = "the node's name">,
                          onnx_node_name = "/act/Relu"} : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "act"}>["/act/Relu"])
    ```

    `from=locations` restores attributes that another tool dropped from the
    locations, which survive.

    Metadata that HTP itself wrote into a file (the keys in `htp.added`) is not
    evidence; a user's override is, and stands. An exporter's note that
    contradicts the module whose parameters the node reads is overruled, and if
    more than one in five notes of a file are, all of them count only 0.5.
  }];
  let options = [
    Option<"trace", "trace", "std::string", /*default=*/"",
           "Trace of the model: trace.json, or a .pt or .pt2 archive (htp-trace is then run)">,
    Option<"executed", "executed", "std::string", /*default=*/"",
           "What a run of the model and of the graph showed: executed.json">,
    Option<"from", "from", "std::string", /*default=*/"\"auto\"",
           "Where the tree comes from: auto, trace, hierarchy, metadata, names or locations">
  ];
  let statistics = [
    Statistic<"numNodes", "nodes", "Nodes of the model">,
    Statistic<"numTagged", "tagged", "Nodes that got a tag">,
    Statistic<"numParameters", "parameters", "Parameters of the tree that were found in the graph">
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPStrip : Pass<"htp-strip"> {
  let summary = "Remove everything that HTP added";
  let description = [{
    Removes the module tree (`htp.hierarchy`), all `htp.*` attributes of ops,
    arguments and results, and HTP's scopes in locations. Tagging and then
    stripping a model restores the original.

    ```mlir
    %0 = "onnx.Relu"(%x) {htp.tag = #htp.tag<"act">} : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "act"}>["Relu_1"])
    // becomes
    %0 = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("Relu_1")
    ```
  }];
}

def HTPOutline : Pass<"htp-outline", "::mlir::ModuleOp"> {
  let summary = "Turn each call of each module into a function and a call";
  let description = [{
    Regroups the ops of a function by module. Each call of each selected module
    becomes a function and a call of it, nested like the module tree; modules
    with equal bodies share one function. Works on ops of any dialect that have
    HTP tags, or locations with HTP scopes.

    ```mlir
    htp.hierarchy @Net : "demo.Net" {
      htp.module @layer.0 : "demo.Layer"
      htp.module @layer.1 : "demo.Layer"
    }
    func.func @main(%x: tensor<4xf32>, %w0: tensor<4xf32>, %w1: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "d.mul"(%x, %w0) {htp.tag = #htp.tag<"layer.0">} : …
      %1 = "d.relu"(%0) {htp.tag = #htp.tag<"layer.0">} : …
      %2 = "d.mul"(%1, %w1) {htp.tag = #htp.tag<"layer.1">} : …
      %3 = "d.relu"(%2) {htp.tag = #htp.tag<"layer.1">} : …
      return %3 : tensor<4xf32>
    }
    // becomes
    func.func @main(%x: tensor<4xf32>, %w0: tensor<4xf32>, %w1: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @Layer(%x, %w0) {htp.tag = #htp.tag<"layer.0">, …} : …
      %1 = call @Layer(%0, %w1) {htp.tag = #htp.tag<"layer.1">, …} : …
      return %1 : tensor<4xf32>
    }
    func.func private @Layer(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> attributes {htp.module = "layer.0"} {
      %0 = "d.mul"(%x, %w) {htp.tag = #htp.tag<"">} : …
      %1 = "d.relu"(%0) {htp.tag = #htp.tag<"">} : …
      return %1 : tensor<4xf32>
    }
    ```

    *Operands* are the activations in the order of use, then the module's
    parameters in the order of the module tree, then whatever differs between
    calls. *Constants* move inside if only the module uses them. Of constants
    that others use too (shapes, axes, tables) the function gets a copy, if all
    calls pass equal ones, so that shape inference sees them. A copy of a
    parameter (`Identity`, which exporters insert for equal parameters that they
    store once) counts as a parameter and stays outside. If the model names no
    parameter at all, so does a tensor of numbers that only one call reads: it
    may be a weight. *Results* are the
    values used outside. *Names*: a function is named after its class
    (`@BertLayer`, variants `@BertLayer_1`), a call after the module's path. In
    a function's body tags are relative to the module; the path of an op from
    elsewhere starts with "/". Whatever else is needed to undo the outlining
    exactly (names, positions, metadata) is kept in attributes of the calls. To
    read the result, print it with `--mlir-use-nameloc-as-prefix`: values and
    arguments then have the names of modules and parameters.

    *A module need not be convex*: dataflow may leave it and come back. Ops are
    reordered within dominance, and an op between two ops of a module that
    nothing else reads is pulled inside. An op that needs nothing from its
    module and is also read by modules of the same class (an attention mask that
    the exporter computes once, in the first layer) moves out, so that equal
    layers stay equal. If that is not enough, the module is split into the
    fewest convex parts, and a remark says which value leaves and where it comes
    back. No op is dropped or duplicated.

    Regions of an op (`onnx.If`, `scf.for`) go with the op.

    Assumes that every op except constants has a tag or a scope, as after
    `--htp-tag`. It is an error if the name of a function is taken.
  }];
  let options = [
    ListOption<"classes", "classes", "std::string",
      "Only modules of these classes, by name or qualified name; torch.nn's too">,
    ListOption<"modules", "modules", "std::string",
      "Only modules at these paths; '*' stands for any part of a path component, '**' for any components">,
    Option<"maxDepth", "max-depth", "unsigned", /*default=*/"0",
      "Nest functions at most this deep (0: no limit)">,
    Option<"minOps", "min-ops", "unsigned", /*default=*/"2",
      "Do not outline modules with fewer ops (submodules included, constants excluded)">,
    Option<"torchNN", "torch-nn", "bool", /*default=*/"false",
      "Also outline modules of classes that torch.nn defines">,
    Option<"form", "form", "::htp::OutlineForm", /*default=*/"::htp::OutlineForm::Function",
      "What a module becomes", [{::llvm::cl::values(
        clEnumValN(::htp::OutlineForm::Function, "function", "a function and a call"),
        clEnumValN(::htp::OutlineForm::Region, "region", "an htp.region around its ops"))}]>,
    Option<"maxConstantBytes", "max-constant-bytes", "size_t", /*default=*/"1048576",
      "Do not copy constants of more bytes into functions">,
    Option<"share", "share", "bool", /*default=*/"true",
      "One function for all modules of a class with equal bodies">,
    Option<"summary", "summary", "bool", /*default=*/"false",
      "Report in a remark what was done: functions, calls, ops saved, modules split">,
  ];
  let statistics = [
    Statistic<"numFunctions", "functions", "Functions made">,
    Statistic<"numCalls", "calls", "Calls of modules">,
    Statistic<"numSaved", "ops-saved", "Ops saved by sharing functions">,
    Statistic<"numSunk", "constants-inside", "Constants copied into bodies, as all calls pass equal ones">,
    Statistic<"numPulled", "ops-pulled-inside", "Ops pulled into a module, as they lay between its ops">,
    Statistic<"numHoisted", "ops-moved-outside", "Ops moved out of a module, as others of its class use them too">,
    Statistic<"numSplit", "modules-split", "Calls of modules that were split, as they are not convex">,
    Statistic<"numModules", "modules", "Calls of modules considered">,
  ];
  let dependentDialects = ["::htp::HTPDialect", "::mlir::func::FuncDialect"];
}

def HTPInline : Pass<"htp-inline", "::mlir::ModuleOp"> {
  let summary = "Undo --htp-outline: the same ops, names, order and tags as before";
  let description = [{
    Replaces each call of an outlined module and each `htp.region` by its ops,
    restores the names, tags, locations and order that these had before
    outlining, and removes the functions. If the functions were changed in
    between, added ops keep their attributes, and the order is that of the
    calls.

    It is an error if outlined functions are recursive.
  }];
  let statistics = [
    Statistic<"numCalls", "calls", "Calls inlined">,
  ];
  let dependentDialects = ["::htp::HTPDialect", "::mlir::func::FuncDialect"];
}

def HTPAlignTrace : Pass<"htp-align-trace", "::mlir::ModuleOp"> {
  let summary = "Find the module of each node by aligning the graph with a trace";
  let description = [{
    Every node was emitted for one traced op. Which one is inferred from the
    node's kind, the parameters that it reads, its neighbours and its position;
    nodes that already have a tag, and parameters with equal contents, serve as
    anchors. Nodes without a tag get one, with evidence `parameter` (it reads
    the traced op's parameter) or `alignment`, with the second most likely
    module as a context and the share of such answers that are right as
    confidence. Existing tags stay, and gain the call number if their module ran
    several times. Two kinds of existing tags need confirmation by the
    alignment: those that rest on a parameter (an optimizer may have merged
    equal parameters under the name of one of them), and those that rest on the
    name of the first op of a fused node.

    ```mlir
    %0 = "onnx.MatMul"(%x, %w) : …
    // becomes
    %0 = "onnx.MatMul"(%x, %w) {htp.tag = #htp.tag<"fc", evidence = "parameter", confidence = 9.9e-01>} : …
    ```

    Assumes the module tree of the same trace (`--htp-attach-hierarchy`); if
    there is none, it is taken from the trace. A trace that fits only in part is
    a warning that counts what did not match.

    How well the trace fits the model is measured (`htp.fit` of the
    htp.hierarchy, `statistics.fit` of the op metadata): parameters found by
    name or contents, tensors of the model with a counterpart of the same size,
    contents that could be compared, nodes explained, likelihood. A trace of
    another model is an error, a doubtful one a warning; with `force` both are
    warnings.
  }];
  let options = [
    Option<"trace", "trace", "std::string", /*default=*/"",
           "The trace: trace.json, or a .pt or .pt2 archive">,
    Option<"force", "force", "bool", /*default=*/"false",
           "Proceed, with a warning, even if the trace belongs to another model">,
    Option<"explain", "explain", "std::string", /*default=*/"",
           "Say in a remark why this node, named by itself or by one of its "
           "values, was placed where it was">,
    Option<"numbers", "numbers", "std::string", /*default=*/"",
           "Numbers of the alignment to be changed for a study: name=value,… "
           "(docs/Alignment.md)">,
  ];
  let statistics = [
    Statistic<"numAligned", "aligned", "Nodes tagged by alignment">,
    Statistic<"numByParameter", "by-parameter",
              "Nodes tagged by a parameter that they read">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPAlignReference : Pass<"htp-align-reference", "::mlir::ModuleOp"> {
  let summary = "Take over the tags of the same model before an optimizer ran";
  let description = [{
    Optimizers and quantizers drop all metadata of nodes and rename many. This
    pass projects the tags of a `reference`, the same model tagged before, onto
    the optimized model. It works like `--htp-align-trace`, with the nodes of
    the reference as the traced ops. Values and nodes that kept their names, and
    parameters with equal contents, serve as anchors; op kinds, dataflow and
    order do the rest. Evidence: `reference`.

    A reference without tags, or of another model, is an error. The module tree
    is taken from the reference.

    How well the reference fits is measured as for a trace. Contexts of tags
    that name modules outside of the reference's tree are dropped.
  }];
  let options = [
    Option<"reference", "reference", "std::string", /*default=*/"",
           "The tagged model: ONNX, MLIR text or bytecode">,
    Option<"force", "force", "bool", /*default=*/"false",
           "Proceed, with a warning, even if the reference belongs to another model">,
    Option<"explain", "explain", "std::string", /*default=*/"",
           "Say in a remark why this node, named by itself or by one of its "
           "values, was placed where it was">,
    Option<"numbers", "numbers", "std::string", /*default=*/"",
           "Numbers of the alignment to be changed for a study: name=value,… "
           "(docs/Alignment.md)">,
  ];
  let statistics = [
    Statistic<"numAligned", "aligned", "Nodes that took over a tag">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPSpellTags : Pass<"htp-spell-tags", "::mlir::ModuleOp"> {
  let summary = "Choose which classes appear in tags written to files";
  let description = [{
    In the IR a tag is a path; in a file it is a chain of class names
    (`/BertModel/BertEncoder/BertLayer.0`). With `torch-nn` the chain includes
    classes that torch.nn defines. The choice is recorded on the
    `htp.hierarchy`.
  }];
  let options = [
    Option<"torchNN", "torch-nn", "bool", /*default=*/"false",
           "Keep the classes of torch.nn as components of tags">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPPropagateAuxTags : Pass<"htp-propagate-aux-tags", "::mlir::ModuleOp"> {
  let summary = "Tag the remaining nodes by their neighbours";
  let description = [{
    Constants, shape arithmetic, casts, copies of shared initializers and nodes
    added by optimizers carry no evidence of their own, so their producers and
    consumers vote. A node between two nodes of one module belongs to that
    module, as does one that serves a single module. A node that several modules
    consume and none of them made belongs to their lowest common ancestor, never
    to one of several layers. Nodes in a function belong to the common ancestor
    of its callers. After this pass every node has a tag, including those in
    subgraphs and model-local functions.

    ```mlir
    %axes = "onnx.Constant"() <{value = dense<1> : tensor<1xi64>}> : () -> tensor<1xi64>
    %0 = "onnx.Unsqueeze"(%x, %axes) {htp.tag = #htp.tag<"encoder">} : …
    // the constant becomes
    %axes = "onnx.Constant"() … {htp.tag = #htp.tag<"encoder", evidence = "consumer", confidence = 8e-01>}
    ```
  }];
  let statistics = [
    Statistic<"numPropagated", "propagated", "Nodes tagged by their neighbours">,
    Statistic<"numShared", "shared",
              "Nodes tagged with the common ancestor of several modules">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPListUsers : Pass<"htp-list-users", "::mlir::ModuleOp"> {
  let summary = "List the modules that share a node's results";
  let description = [{
    An attention mask is computed once, by the model, and read by every layer.
    Such a node is tagged with the module that made it; this pass adds the
    modules that read it as contexts with the evidence `consumer`. It applies to
    nodes that are read by at least two submodules of the node's own module.

    ```mlir
    %mask = "onnx.Expand"(…) {htp.tag = #htp.tag<"", evidence = "name">} : …
    // becomes
    %mask = "onnx.Expand"(…) {htp.tag = #htp.tag<"", evidence = "name", contexts = [
        #htp.context<"layer.0", …>, #htp.context<"layer.1", …>]>} : …
    ```
  }];
  let statistics = [
    Statistic<"numShared", "shared", "Nodes that several modules read">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPExtract : Pass<"htp-extract", "::mlir::ModuleOp"> {
  let summary = "Extract one module as a model of its own";
  let description = [{
    Replaces the model by one of its modules: the ops of one call of it, with
    the values it reads from outside as inputs and those used outside as
    outputs, under their names in the whole model. Required constants and
    weights are included (external data by reference), as are opset imports and
    metadata. The tree and the tags are those of the module, as if it had been
    exported alone.

    `module` is a path (`encoder.layer.0`), a tag
    (`/BertModel/BertEncoder/BertLayer.0`), or a pattern (`encoder.layer.*`; `*`
    stays within a component of the path, `**` does not). A pattern makes one
    named `builtin.module` for each match that owns ops, nested in the top-level
    one:

    ```
    htp-opt tagged.onnx --htp-extract=module=encoder.layer.0 -o layer0.onnx
    htp-opt tagged.onnx --htp-extract='module=encoder.layer.*' -o 'layers/%.onnx'
    ```

    It is an error if there is no such module or call, or if the module owns no
    ops (it has only parameters, or its `forward` never ran).
  }];
  let options = [
    Option<"pattern", "module", "std::string", /*default=*/"",
      "Path, tag or pattern of paths of the module to extract">,
    Option<"call", "call", "int64_t", /*default=*/"0",
      "The number of the call, from 0, if the module is called more than once">,
  ];
  let statistics = [
    Statistic<"numModules", "modules", "Modules extracted">,
    Statistic<"numOps", "ops", "Ops in them, constants included">,
  ];
  let dependentDialects = ["::htp::HTPDialect", "::mlir::func::FuncDialect"];
}

def HTPExplain : Pass<"htp-explain", "::mlir::ModuleOp"> {
  let summary = "Explain the tag of one node";
  let description = [{
    Emits a remark for the user: the node's module, the evidence for it and its
    confidence, what else was considered, the line of Python code, the
    parameters that the node reads, and the modules of its neighbours.

    ```
    remark: node 'add' (Add) belongs to 'layer.0' (Layer)
        evidence: name (a name in the model holds the module's), confidence 0.99
        reads: 'x', an input; 'w', the parameter 'layer.0.weight'
        read by: 'relu' (Relu) of 'act'
    ```

    `--htp-align-trace=explain=NODE` explains the choice of the alignment;
    `--htp-tag="trace=FILE explain=NODE"` does both.
  }];
  let options = [
    Option<"node", "node", "std::string", /*default=*/"",
           "The node, by its name or that of one of its values">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPVerifyTags : Pass<"htp-verify-tags", "::mlir::ModuleOp"> {
  let summary = "Check the tags of a model and collect statistics about them";
  let description = [{
    Errors, with notes that name the evidence or the other place:

    - a node without a tag, a module without a tree
    - a tag, a context or a parameter's user that is not in the tree
    - a call number that is too high, a confidence outside of 0 to 1
    - a location that names another module than the tag
    - a node in the body of a node of another layer

    Tags in the body of an outlined function are relative to its module, and are
    converted to absolute ones before they are checked. The scalar ops in the
    body of a tagged op (a `linalg.generic`) need no tags of their own.

    Statistics: nodes, tagged nodes, evidence by kind, confidence by tenths, and
    contaminated nodes, whose names place them in one layer and whose tags in
    another (each is a warning). `report` prints them as a remark on the module.
  }];
  let options = [
    Option<"report", "report", "bool", /*default=*/"false",
           "Print the counts as a remark">,
    Option<"strict", "strict", "bool", /*default=*/"true",
           "A node in the body of a node of another layer is an error, not a warning">
  ];
  let statistics = [
    Statistic<"numNodes", "nodes", "Nodes of the model">,
    Statistic<"numTagged", "tagged", "Nodes with a tag">,
    Statistic<"numContaminated", "contaminated", "Nodes whose names place them in another layer">
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPResolveContamination
    : Pass<"htp-resolve-contamination", "::mlir::ModuleOp"> {
  let summary = "Decide which module a node belongs to when evidence disagrees";
  let description = [{
    Looks at nodes whose tag is disputed (it has a context that is neither above
    nor below its module), and at those whose neighbours are all in unrelated
    modules. Tags that rest on the node's own evidence (exporter's metadata,
    names, parameters) stand. For the others, these patterns are tried:

    | pattern | the node | belongs to |
    |---|---|---|
    | `residual` | adds a module's input to its output | the module around both |
    | `exporter-made` | lies between nodes of one module | that module |
    | `cross-attention` | reads values of two branches | the branch that continues with the result |
    | `provenance` | reads only values of one module, which is not the tag's | that module |
    | `several-contexts` | is claimed by three or more modules | the one with most of the evidence, or their common ancestor |
    | `common-ancestor` | is read by several modules, and its inputs are not of the tag's | their common ancestor |

    The confidence of a pattern is the measured share of its answers that are
    right (`make fit`). The most confident one decides, but only if it is more
    confident than the tag. The decision is recorded in the tag (module,
    evidence, confidence, reason; the losing module becomes a context) and
    reported as a remark of the category `htp-resolve`: `passed` if the tag
    changed, `analysis` if it stands, `missed` if a pattern was not confident
    enough.

    ```mlir
    %2 = "onnx.Add"(%x, %1) {htp.tag = #htp.tag<"layer.1", evidence = "alignment", confidence = 0.05>} : …
    // becomes
    %2 = "onnx.Add"(%x, %1) {htp.tag = #htp.tag<"layer.0", evidence = "consumer", confidence = 0.5,
        reason = "residual connection of 'layer.0'",
        contexts = [#htp.context<"layer.1", evidence = "alignment", confidence = 0.05>]>} : …
    ```

    The confidence of a node that reads the parameters of another module than
    the one in its tag is capped at 0.89, unless that is explained: a trace saw
    the module of the tag read them (`htp.users`) and their owner is never
    called, or is none of its submodules; the tag is the common ancestor of
    modules whose parameters are packed into one; the parameter may stand for an
    equal one of that module, which the graph lacks; the node may be fused, and do
    what both modules do; or a convolution absorbed the norm whose bias it has.

    Users' decisions come first, whatever the evidence: `overrides` assigns
    modules to single nodes (given by their name, or by that of one of their
    results), `policy` has rules for kinds of nodes (docs/formats/policy.md).
    Overrides for unknown nodes and rules that match nothing are warnings with a
    count; unknown modules and contradictory rules are errors.

    New patterns are registered by name (HTP/Transforms/Resolution.h), for
    example by a plugin.
  }];
  let options = [
    Option<"minConfidence", "min-confidence", "double", /*default=*/"0.9",
           "Keep tags with at least this confidence, unless another module's is at least 1 minus this">,
    ListOption<"patterns", "patterns", "std::string",
               "The patterns to try, by name (default: all)">,
    Option<"policy", "policy", "std::string", /*default=*/"",
           "Rules for kinds of nodes, as JSON">,
    Option<"overrides", "overrides", "std::string", /*default=*/"",
           "Modules of single nodes by the names of nodes or of their values, as JSON">,
  ];
  let statistics = [
    Statistic<"numConflicts", "conflicts", "Nodes whose evidence disagrees">,
    Statistic<"numChanged", "changed", "Tags that a pattern changed">,
    Statistic<"numKept", "kept", "Disputed tags that stand">,
    Statistic<"numByUser", "by-user", "Tags set by a policy or an override">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

#endif // HTP_TRANSFORMS_PASSES_TD
