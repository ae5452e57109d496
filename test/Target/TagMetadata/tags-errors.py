# RUN: %python %s %t && cd %t
# RUN: htp-opt broken-tree.onnx --htp-strip -o stripped.onnx 2>&1 | FileCheck %s --check-prefix=TREE
# RUN: cmp plain.onnx stripped.onnx
# RUN: not htp-opt broken-tree.onnx --htp-verify-tags 2>&1 | FileCheck %s --check-prefix=NO-TREE
# RUN: htp-opt no-tree.onnx 2>&1 | FileCheck %s --check-prefix=MISSING
# RUN: htp-opt added-nothing.onnx --htp-strip -o stripped.onnx
# RUN: cmp plain.onnx stripped.onnx
# RUN: htp-opt overload.onnx 2>&1 | FileCheck %s --check-prefix=OVERLOAD
# RUN: htp-opt forged.onnx 2>&1 | FileCheck %s --check-prefix=FORGED
# RUN: htp-opt deep.onnx 2>&1 | FileCheck %s --check-prefix=DEEP
# RUN: htp-opt misfit.onnx --htp-inline 2>&1 | FileCheck %s --check-prefix=MISFIT
# RUN: htp-opt number.onnx 2>&1 | FileCheck %s --check-prefix=NUMBER
# RUN: htp-opt evidence.onnx 2>&1 | FileCheck %s --check-prefix=EVIDENCE
# RUN: htp-opt users.onnx 2>&1 | FileCheck %s --check-prefix=USERS
# RUN: htp-opt function.onnx 2>&1 | FileCheck %s --check-prefix=FUNCTION
# RUN: htp-opt own-notes.onnx --htp-strip --htp-attach-hierarchy 2>&1 | FileCheck %s --check-prefix=OWN

"""Tagged files that someone changed. Nothing crashes, nothing is left out without a word, and what HTP wrote is no evidence."""

import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper

TREE = """{"modules": [
  {"path": "", "class": "Net", "qualified": "demo.Net", "torch_nn": false, "calls": 1, "parameters": []},
  {"path": "act", "class": "Act", "qualified": "demo.Act", "torch_nn": false, "calls": 1, "parameters": []}]}"""


def annotate(message, **entries):
    for key, value in entries.items():
        message.metadata_props.add(key=key.replace("__", "."), value=value)


def model(tree=None, **notes):
    node = helper.make_node("Relu", ["x"], ["y"], name="relu")
    annotate(node, **notes)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    graph = helper.make_graph([node], "g", values[:1], values[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    if tree is not None:
        annotate(made, htp__hierarchy=tree)
    return made


def outlined(results, overload=None):
    """A call of an outlined function that has one result."""
    made = model(TREE)
    call = made.graph.node[0]
    call.op_type, call.domain = "Act", "htp.Net"
    call.output.extend(f"more{i}" for i in range(1, results))
    body = [helper.make_node("Relu", ["a"], ["b"])]
    function = helper.make_function(
        "htp.Net", "Act", ["a"], ["b"], body, [helper.make_opsetid("", 17)], overload=overload
    )
    annotate(function, htp__module="act")
    made.functions.append(function)
    made.opset_import.append(helper.make_opsetid("htp.Net", 1))
    return made


def two_numbers(*numbers):
    """Two nodes with tags that name a module by a number."""
    made = model(TREE)
    made.graph.node.append(helper.make_node("Relu", ["y"], ["z"], name="more"))
    for node, number in zip(made.graph.node, numbers):
        annotate(node, htp__id=number)
    return made


def weighted(**notes):
    """A weight with these notes."""
    made = model(TREE)
    made.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0]))
    annotate(made.graph.initializer[0], **notes)
    return made


def function_with(**notes):
    """An outlined function with these notes."""
    made = outlined(results=1)
    annotate(made.functions[0], **notes)
    return made


folder = Path(sys.argv[1])
folder.mkdir(exist_ok=True)
TAG = {"htp__tag": "/Net/Act", "htp__scope": "act"}
files = {
    "plain": model(),
    # TREE: warning: the module tree in the model's metadata is broken: missing, expected array at hierarchy.modules; its tags are left out
    # NO-TREE: error: has no module tree (htp.hierarchy): run --htp-tag
    "broken-tree": model("{}", **TAG),
    # MISSING: warning: 1 nodes and tensors have tags, but the model has no module tree ('htp.hierarchy'); they are left out
    # MISSING-NOT: htp.tag
    "no-tree": model(**TAG),
    # FORGED: warning: metadata under keys of HTP's that it does not know are left out: htp.future
    # FORGED: htp.tag = #htp.tag<"act", evidence = "name", confidence = 0.0, contexts = [#htp.context<"", confidence = 0.0>]>
    "forged": model(
        TREE,
        htp__confidence="nan",
        htp__call="-7",
        htp__evidence="name",
        htp__future="1",
        htp__contexts='[{"scope": "", "confidence": 1e99}, 3]',
        **TAG,
    ),  # fmt: skip
    # A list of nothing is HTP's all the same.
    "added-nothing": model(htp__added=""),
    # The function of this name and another overload is not what the node calls.
    # OVERLOAD: "onnx.Custom"{{.*}}function_name = "Act"
    "overload": outlined(results=1, overload="other"),
    # A parser that is recursive must not be fed what has no bottom.
    # DEEP: warning: 2 notes of --htp-outline are broken and left out
    "deep": model(
        TREE, htp__order='{"mlir":"' + "[" * 20000 + '"}', htp__originals="[" * 20000, **TAG
    ),
    # MISFIT: warning: node 'relu' calls the outlined function 'Act' with other operands or results than it has; it stays a node
    # What it calls stays, too.
    # MISFIT: onnx.opset_import = [{domain = "", version = 17 : si64}, {domain = "htp.Net", version = 1 : si64}]
    # MISFIT: "onnx.Custom"
    # MISFIT: func.func private @Act
    "misfit": outlined(results=2),
    # NUMBER: warning: 2 nodes name a module by a number ('htp.id') that the module tree does not have; their tags are left out
    # NUMBER-NOT: htp.tag =
    "number": two_numbers("2", "act"),
    # The call and the confidence of a tag count whatever is said to be their reason.
    # EVIDENCE: warning: tags have kinds of evidence that this version of HTP does not know, which are dropped: rumour, whim
    # EVIDENCE: htp.tag = #htp.tag<"act", confidence = 0.5, contexts = [#htp.context<"", confidence = 0.25>]>
    "evidence": model(
        TREE,
        htp__evidence="whim",
        htp__confidence="0.5",
        htp__contexts='[{"scope": "", "evidence": "rumour", "confidence": 0.25}]',
        **TAG,
    ),  # fmt: skip
    # What a weight's notes say one by one is kept one by one.
    # USERS: warning: 1 notes of --htp-outline are broken and left out
    # USERS: warning: metadata under keys of HTP's that it does not know are left out: htp.colour
    # USERS: htp.parameter = "act.w"
    # USERS-NOT: htp.users
    "users": weighted(htp__parameter="act.w", htp__users='{"mlir":"[1]"}', htp__colour="red"),
    # FUNCTION: warning: 1 notes of --htp-outline are broken and left out
    # FUNCTION: warning: metadata under keys of HTP's that it does not know are left out: htp.colour
    # FUNCTION: htp.module = "act"
    "function": function_with(htp__value_info="not MLIR", htp__colour="red"),
    # OWN-NOT: htp.module @act
    "own-notes": model(
        TREE,
        htp__added="pkg.torch.onnx.name_scopes",
        pkg__torch__onnx__name_scopes="['', 'act', 'relu']",
        **TAG,
    ),  # fmt: skip
}
for name, made in files.items():
    onnx.save(made, folder / f"{name}.onnx")
