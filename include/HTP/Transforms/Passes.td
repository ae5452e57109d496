// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HTP's passes. This file is their documentation: docs/Passes.md is made from it.

#ifndef HTP_TRANSFORMS_PASSES_TD
#define HTP_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def HTPAttachHierarchy : Pass<"htp-attach-hierarchy", "::mlir::ModuleOp"> {
  let summary = "Give a model its module tree and every op what it says itself";
  let description = [{
    Writes the tree of `nn.Module`s into the IR (`htp.hierarchy`), and on every
    op that says so itself which module made it: the attribute `htp.tag`, and
    the same scope in the location, with the line of Python code where it is
    known. Initializers get the parameter they are (`htp.parameter`) and, where
    no tag of a node that reads it says so, the modules that may read it
    (`htp.users`).

    The tree comes from the trace; without one, from a model that was tagged
    before, from the notes of the torch.export-based exporter, or from the
    scopes in names, in this order (`from` names one of them).

    What an op says, the strongest first:

    1. the exporter's notes (`pkg.torch.onnx.name_scopes`): evidence `metadata`
    2. the scope in its name (`name`) or in the name of a value that it makes
       (`value-name`), checked against the tree; a value with the name of a
       traced value, where the dataflow agrees (`value-name`)
    3. a parameter that it reads, by name, by contents, or by contents in
       another order, through Identity, Cast, Transpose, QuantizeLinear and
       DequantizeLinear (`parameter`)

    What could be two modules is no answer. Where sources disagree the others
    are in the tag's contexts. Ops that a tagged file has an answer for keep it,
    unless a trace is given.

    ```mlir
    %0 = "onnx.Relu"(%x) {onnx_node_name = "/act/Relu"} : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %0 = "onnx.Relu"(%x) {htp.tag = #htp.tag<"act", evidence = "name", confidence = 0.99, reason = "the node's name">,
                          onnx_node_name = "/act/Relu"} : (tensor<4xf32>) -> tensor<4xf32> loc(fused<{htp.scope = "act"}>["/act/Relu"])
    ```

    With `from=locations` attributes that another tool has dropped are rebuilt
    from the locations, which survive.

    What HTP wrote into a file itself (`htp.added` names the keys) is no
    evidence; a user's override is, and stands. Notes of an exporter that
    contradict the module whose parameters the node reads lose, and where more
    than one in five of a file's notes do, all of them count 0.5.
  }];
  let options = [
    Option<"trace", "trace", "std::string", /*default=*/"",
           "Trace of the model: trace.json, or a .pt or .pt2 archive (htp-trace is then run)">,
    Option<"from", "from", "std::string", /*default=*/"\"auto\"",
           "Where the tree comes from: auto, trace, hierarchy, metadata, names or locations">
  ];
  let statistics = [
    Statistic<"numNodes", "nodes", "Nodes of the model">,
    Statistic<"numTagged", "tagged", "Nodes that got an answer">,
    Statistic<"numParameters", "parameters", "Parameters of the tree that are in the graph">
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPStrip : Pass<"htp-strip"> {
  let summary = "Remove everything that HTP added";
  let description = [{
    Removes the module tree (`htp.hierarchy`), all `htp.*` attributes of ops,
    arguments and results, HTP's scopes in locations, and what a tagged ONNX
    file holds in its metadata. A model that was tagged and stripped is the
    model as it was.

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
    Cuts the ops of a function back into modules. Each call of each selected
    module becomes a function and a call of it, nested as the module tree is
    nested; modules whose bodies are equal share one function. Works on ops of
    any dialect that have HTP tags, or locations with HTP scopes.

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

    *Operands* are the activations, in the order of use, then the module's
    parameters in the order of the module tree, then what is different at each
    call. *Constants* live inside: those that only the module uses, and of those
    that others use too (shapes, axes, tables) a copy, where all calls pass
    equal ones, so that shape inference sees them. A copy of
    a parameter (`Identity`, which exporters put between equal parameters that
    they store once) is a parameter: it stays outside. *Results* are what is
    used outside. *Names*: a function has the name of its class
    (`@BertLayer`, variants `@BertLayer_1`), a call that of the module's path. In
    a function's body tags are relative to the module; where an op does not lie
    below it, its path starts with "/". What else each call needs to be inlined
    exactly (names, places, notes) is kept in attributes of the call. To read the
    result, print it with `--mlir-use-nameloc-as-prefix`: values and arguments
    then have the names of modules and parameters.

    *A module need not be convex*: its dataflow may leave it and come back. Ops
    are reordered within dominance, and an op between two ops of a module that
    nobody else reads is pulled inside. An op of a module that needs nothing of
    it, and that modules of the same class read too (an attention mask that the
    exporter computes once, in the first layer), moves out, so that equal layers
    stay equal. Where that is not enough the module is
    split into the fewest convex parts, and a remark says which value leaves
    and where it comes back. Nothing is dropped or duplicated.

    Regions of an op (`onnx.If`, `scf.for`) go with the op.

    Assumes that each op that is not a constant has a tag or a scope, as
    `--htp-tag` leaves them. It is an error if the name of a function is taken.
  }];
  let options = [
    ListOption<"classes", "classes", "std::string",
      "Only modules of these classes, by name or qualified name; torch.nn's too">,
    ListOption<"modules", "modules", "std::string",
      "Only modules at these paths; '*' stands for any part of a path component, '**' for any components">,
    Option<"maxDepth", "max-depth", "unsigned", /*default=*/"0",
      "Nest functions at most this deep (0: no limit)">,
    Option<"minOps", "min-ops", "unsigned", /*default=*/"2",
      "Leave a module alone that owns fewer ops, submodules included and constants not counted">,
    Option<"torchNN", "torch-nn", "bool", /*default=*/"false",
      "Outline modules of classes that torch.nn defines too">,
    Option<"form", "form", "::htp::OutlineForm", /*default=*/"::htp::OutlineForm::Function",
      "What a module becomes", [{::llvm::cl::values(
        clEnumValN(::htp::OutlineForm::Function, "function", "a function and a call"),
        clEnumValN(::htp::OutlineForm::Region, "region", "an htp.region around its ops"))}]>,
    Option<"maxConstantBytes", "max-constant-bytes", "size_t", /*default=*/"1048576",
      "A constant of more bytes, which others use too, stays an operand">,
    Option<"share", "share", "bool", /*default=*/"true",
      "One function for all modules of a class with equal bodies">,
    Option<"summary", "summary", "bool", /*default=*/"false",
      "Say in a remark what was done: functions, calls, ops saved, modules split">,
  ];
  let statistics = [
    Statistic<"numFunctions", "functions", "Functions made">,
    Statistic<"numCalls", "calls", "Calls of modules">,
    Statistic<"numSaved", "ops-saved", "Ops saved by sharing functions">,
    Statistic<"numSunk", "constants-inside", "Constants that all calls pass alike, now in the body">,
    Statistic<"numPulled", "ops-pulled-inside", "Ops of other modules that lay between a module's ops">,
    Statistic<"numHoisted", "ops-moved-outside", "Ops that modules of the same class share, moved out of the first of them">,
    Statistic<"numSplit", "modules-split", "Calls of modules that are not convex, and were split">,
    Statistic<"numModules", "modules", "Calls of modules considered">,
  ];
  let dependentDialects = ["::htp::HTPDialect", "::mlir::func::FuncDialect"];
}

def HTPInline : Pass<"htp-inline", "::mlir::ModuleOp"> {
  let summary = "Undo --htp-outline: the same ops, names, order and tags as before";
  let description = [{
    Replaces each call of an outlined module by the module's ops, and each
    `htp.region` by its ops, with the names, tags, locations and order that they
    had before the outlining, and removes the functions. Where the functions
    were changed in between, ops that were added keep what they have, and the
    order is that of the calls.

    It is an error if outlined functions call each other in a circle.
  }];
  let statistics = [
    Statistic<"numCalls", "calls", "Calls inlined">,
  ];
  let dependentDialects = ["::htp::HTPDialect", "::mlir::func::FuncDialect"];
}

def HTPAlignTrace : Pass<"htp-align-trace", "::mlir::ModuleOp"> {
  let summary = "Find the module of each node by comparing the graph with a trace";
  let description = [{
    Every node was emitted by one traced op. Which one follows from the node's
    kind, the parameters that it reads, its neighbours and its place in the
    order; nodes that already have a tag, and parameters with the same
    contents, are the fixed points. Nodes without a tag get one, with evidence
    `parameter` (it reads the traced op's parameter) or `alignment`, the next
    likely module as a context, and how often such answers are right. Existing
    tags stay; where a module ran several times they learn which call it was.
    Only one that rests on a parameter must be confirmed (an optimizer may have
    stored equal parameters once, under the name of one of them), and one that
    rests on the name of the first op of a fused node.

    ```mlir
    %0 = "onnx.MatMul"(%x, %w) : …
    // becomes
    %0 = "onnx.MatMul"(%x, %w) {htp.tag = #htp.tag<"fc", evidence = "parameter", confidence = 9.9e-01>} : …
    ```

    Assumes the module tree of the same trace (`--htp-attach-hierarchy`); where
    there is none, it is taken from the trace. A trace of another model is an
    error; one that fits in part is a warning that counts what did not match.

    Whether the trace is of this model at all is measured (`htp.fit` of the
    htp.hierarchy, `statistics.fit` of the op metadata): parameters found by
    name or contents, tensors of the model that have a partner of their size,
    contents that could be compared, nodes explained, likelihood. A trace of
    another model is an error, a doubtful one a warning; with `force` both are
    warnings.
  }];
  let options = [
    Option<"trace", "trace", "std::string", /*default=*/"",
           "The trace: trace.json, or a .pt or .pt2 archive">,
    Option<"force", "force", "bool", /*default=*/"false",
           "Go on, with a warning, where the trace is of another model">,
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
              "Nodes tagged by the parameter that they read">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPAlignReference : Pass<"htp-align-reference", "::mlir::ModuleOp"> {
  let summary = "Take over the tags of the same model before an optimizer ran";
  let description = [{
    Optimizers and quantizers drop all notes on nodes and rename many. The tags
    of a `reference`, the same model tagged before, are projected onto this one
    as a trace is (`--htp-align-trace`): its nodes are the ops that ran. Values
    and nodes that kept their names, and parameters with the same contents, are
    the fixed points; op kinds, dataflow and order do the rest. Evidence:
    `reference`.

    Assumes that the reference is tagged; one without tags, or of another model,
    is an error. The module tree is the reference's.

    The reference must have tags; whether it is of this model is measured as for
    a trace. Contexts of tags that name modules which its tree does not have are
    dropped.
  }];
  let options = [
    Option<"reference", "reference", "std::string", /*default=*/"",
           "The tagged model: ONNX, MLIR text or bytecode">,
    Option<"force", "force", "bool", /*default=*/"false",
           "Go on, with a warning, where the reference is of another model">,
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
  let summary = "Choose which classes the written form of tags names";
  let description = [{
    In the IR a tag is a path; in a file it is a chain of class names
    (`/BertModel/BertEncoder/BertLayer.0`). With `torch-nn` the classes that
    torch.nn defines are components of it too. The choice is noted on the
    `htp.hierarchy`.
  }];
  let options = [
    Option<"torchNN", "torch-nn", "bool", /*default=*/"false",
           "Keep the classes of torch.nn as components of tags">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPPropagateAuxTags : Pass<"htp-propagate-aux-tags", "::mlir::ModuleOp"> {
  let summary = "Tag the nodes that no module has a claim on";
  let description = [{
    Constants, shape arithmetic, casts, copies of shared initializers and what
    optimizers added have no origin of their own: their producers and consumers
    vote. A node between two nodes of one module belongs to it; one that serves
    a single module belongs there; what several modules consume and none made
    belongs to their lowest common ancestor, never to one of several layers.
    Nodes in a function belong to what its callers have in common. After this
    pass every node has a tag, in subgraphs and model-local functions too.

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
              "Nodes tagged with what several modules have in common">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPListUsers : Pass<"htp-list-users", "::mlir::ModuleOp"> {
  let summary = "Name the modules that read what is made once for all of them";
  let description = [{
    An attention mask is made once, by the model, and read by every layer. Such
    a node has one tag, that of the module that made it; this pass adds the
    modules that read it as contexts with the evidence `consumer`. It concerns
    nodes that at least two modules inside of the node's own read.

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
  let summary = "Make one module a model of its own";
  let description = [{
    Replaces the model by one of its modules: the ops of one call of it, with
    the values it reads from outside as inputs and those used outside as
    outputs, under the names that they have in the whole model. The constants
    and weights that it needs come along (external data by reference), and so do
    opset imports and metadata. The module tree is that of the module, and tags
    are relative to it, as if the module had been exported alone.

    `module` is a path (`encoder.layer.0`), a tag
    (`/BertModel/BertEncoder/BertLayer.0`), or a pattern (`encoder.layer.*`; `*`
    stays within a component of the path, `**` does not). A pattern gives one
    named module for each match that owns ops, inside the top one:

    ```
    htp-opt tagged.onnx --htp-extract=module=encoder.layer.0 -o layer0.onnx
    htp-opt tagged.onnx --htp-extract='module=encoder.layer.*' -o 'layers/%.onnx'
    ```

    It is an error if there is no such module, if it owns no ops (it has only
    parameters, or its `forward` never ran), or if there is no such call.
  }];
  let options = [
    Option<"pattern", "module", "std::string", /*default=*/"",
      "Path, tag or pattern of paths of the module to extract">,
    Option<"call", "call", "int64_t", /*default=*/"0",
      "Which call of the module, where it is called more than once">,
  ];
  let statistics = [
    Statistic<"numModules", "modules", "Modules extracted">,
    Statistic<"numOps", "ops", "Ops in them, constants included">,
  ];
  let dependentDialects = ["::htp::HTPDialect", "::mlir::func::FuncDialect"];
}

def HTPExplain : Pass<"htp-explain", "::mlir::ModuleOp"> {
  let summary = "Say what the tag of one node rests on";
  let description = [{
    A remark for a person: the node's module, what that rests on and how sure it
    is, what else was considered, the line of Python code, the parameters that
    it reads, and the modules of its neighbours.

    ```
    remark: node 'add' (Add) belongs to 'layer.0' (Layer)
        evidence: name (a name in the model holds the module's), confidence 0.99
        reads: 'x', an input; 'w', the parameter 'layer.0.weight'
        read by: 'relu' (Relu) of 'act'
    ```

    Why the alignment chose a place is said by `--htp-align-trace=explain=NODE`;
    `--htp-tag="trace=FILE explain=NODE"` says both.
  }];
  let options = [
    Option<"node", "node", "std::string", /*default=*/"",
           "The node, by its name or that of one of its values">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPVerifyTags : Pass<"htp-verify-tags", "::mlir::ModuleOp"> {
  let summary = "Check the tags of a model, and count what they amount to";
  let description = [{
    Errors, with notes that name the evidence or the other place:

    - a node without a tag, a module without a tree
    - a tag, a context or a parameter's user that is not in the tree
    - a call that its module never had, a confidence outside of 0 to 1
    - a location that names another module than the tag
    - a node in the body of a node of another layer

    In the body of an outlined function tags are relative to its module, and are
    judged as what they are seen from the root. The scalar ops in the body of a
    tagged op (of a `linalg.generic`) need no tags of their own.

    Counted on the tags themselves: nodes, tagged nodes, evidence by kind,
    confidence by tenths, and contaminated nodes: those whose own names place
    them in one layer and whose tag names another (each is a warning). `report`
    prints the counts as a remark on the module.
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
    Statistic<"numContaminated", "contaminated", "Nodes that their names place in another layer">
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

def HTPResolveContamination
    : Pass<"htp-resolve-contamination", "::mlir::ModuleOp"> {
  let summary = "Decide where the evidence about a node's module disagrees";
  let description = [{
    Looks at the nodes whose tag another module disputes (a context of the tag
    that is neither above nor below its module), and at those whose neighbours
    all lie elsewhere. What the node itself says (notes of the exporter, names,
    parameters) stands. For the others the patterns are asked:

    | pattern | the node | belongs to |
    |---|---|---|
    | `residual` | joins a module's input with what the module made of it | what holds both |
    | `exporter-made` | lies between nodes of one module | that module |
    | `cross-attention` | reads values of two branches | the branch that goes on with the result |
    | `provenance` | reads what one module made, and that is not the tag's | that module |
    | `several-contexts` | is claimed by three or more modules | the one with most of the evidence, or what they share |
    | `common-ancestor` | is read by several modules, and was not made by the tag's | what they share |

    How often each of them is right was counted (`make fit`). The surest one
    decides, and only if it is surer than the tag is. The decision is in the tag (module, evidence, confidence, reason;
    the module that lost is a context), and comes out as a remark of the
    category `htp-resolve`: `passed` where the tag changed, `analysis` where it
    stands, `missed` where a pattern was not confident enough.

    ```mlir
    %2 = "onnx.Add"(%x, %1) {htp.tag = #htp.tag<"layer.1", evidence = "alignment", confidence = 0.05>} : …
    // becomes
    %2 = "onnx.Add"(%x, %1) {htp.tag = #htp.tag<"layer.0", evidence = "consumer", confidence = 0.5,
        reason = "residual connection of 'layer.0'",
        contexts = [#htp.context<"layer.1", evidence = "alignment", confidence = 0.05>]>} : …
    ```

    A node that reads the parameters of one module and has another one's tag
    gets a confidence of 0.89 at most.

    Users decide first, whatever the evidence: `overrides` gives single nodes
    (by their name, or by that of a value that they make) their module, `policy` has rules for kinds of nodes (docs/formats/policy.md).
    Overrides that name unknown nodes, and rules that match nothing, are warnings
    with a count; unknown modules and contradictory rules are errors.

    New patterns are registered by name (HTP/Transforms/Resolution.h), also from
    a plugin.
  }];
  let options = [
    Option<"minConfidence", "min-confidence", "double", /*default=*/"0.9",
           "Tags at least this certain stand unless another claim is at least 1 - this certain">,
    ListOption<"patterns", "patterns", "std::string",
               "The patterns to ask, by name (default: all)">,
    Option<"policy", "policy", "std::string", /*default=*/"",
           "Rules for kinds of nodes, as JSON">,
    Option<"overrides", "overrides", "std::string", /*default=*/"",
           "Modules of single nodes by the names of nodes or of their values, as JSON">,
  ];
  let statistics = [
    Statistic<"numConflicts", "conflicts", "Nodes whose evidence disagrees">,
    Statistic<"numChanged", "changed", "Tags that a pattern changed">,
    Statistic<"numKept", "kept", "Disputed tags that stand">,
    Statistic<"numByUser", "by-user", "Tags that a policy or an override gave">,
  ];
  let dependentDialects = ["::htp::HTPDialect"];
}

#endif // HTP_TRANSFORMS_PASSES_TD
