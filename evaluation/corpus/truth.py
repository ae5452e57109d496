"""Which nn.Module every node of an exported graph came from, as far as the exporter itself records it.

The truth is read from what the exporter wrote (scoped names, metadata), with its quirks resolved;
the taggers that are scored against it receive graphs without that information.
"""

import ast
import re
from itertools import takewhile

import onnx
import torch


def tree_of(model):
    """Every module, with the tag that names it. See Tags in the README beside this file."""
    modules = dict(model.named_modules(remove_duplicate=False))
    is_nn = {p: p != "" and type(m).__module__.startswith("torch.nn.") for p, m in modules.items()}
    above, peers = {}, {}  # nearest ancestor with a tag of its own; same class below the same one
    for path, module in modules.items():
        parent = path.rpartition(".")[0]
        above[path] = above[parent] if is_nn[parent] else parent
        if not is_nn[path]:
            peers.setdefault((above[path], type(module).__name__), []).append(path)

    def component(path):
        name = type(modules[path]).__name__
        same = peers[above[path], name]
        if len(same) == 1 and not path.rpartition(".")[2].isdigit():
            return name
        for size in range(1, 1 + path.count(".") + 1):  # the shortest tails that tell them apart
            tails = {p: ".".join(p.split(".")[-size:]) for p in same}
            if len(set(tails.values())) == len(same):
                break
        return f"{name}.{tails[path]}"

    tags, tree = {}, []
    for path, module in modules.items():
        if path == "":
            tags[path] = "/" + type(module).__name__
        else:
            tags[path] = tags[above[path]] + ("" if is_nn[path] else "/" + component(path))
        cls = type(module)
        tree.append(
            dict(
                path=path,
                cls=cls.__name__,
                qualified=f"{cls.__module__}.{cls.__name__}",
                torch_nn=is_nn[path],
                tag=tags[path],
            )
        )
    return tree


def aliases_of(model):
    """The paths of every module that has several; each of them is a correct answer."""
    paths = {}
    for path, module in model.named_modules(remove_duplicate=False):
        paths.setdefault(id(module), []).append(path)
    return {path: same for same in paths.values() if len(same) > 1 for path in same}


def truth_torchscript(graph, paths, parameters):
    """A TorchScript export names a node /a/b.0/c/Op. A child of a Sequential repeats its
    parent's name (/b/b.0), a repeated call adds _1 to a scope, and a module that is never
    called itself (only its children are) is left out."""

    def module(scopes):
        scopes = [s for s, after in zip(scopes, scopes[1:] + [""]) if not after.startswith(s + ".")]
        path = ".".join(scopes)
        for repeats in range(1 + path.count("_")):
            tried = re.sub(r"_\d+(?=\.|$)", "", path, count=repeats) if repeats else path
            if tried in paths:
                return tried
            longer = [p for p in paths if tried and p.endswith("." + tried)]
            if len(longer) == 1:
                return longer[0]
        return None

    for node in graph.node:
        if node.name.startswith("/"):
            yield module(node.name.split("/")[1:-1])
        elif node.output[0] in parameters:  # a copy of a shared parameter
            yield node.output[0].rpartition(".")[0]
        else:
            yield None


def truth_dynamo(graph, paths):
    """A torch.export-based export writes the stack of scopes into each node's metadata."""
    for node in graph.node:
        scopes = {p.key: p.value for p in node.metadata_props}.get("pkg.torch.onnx.name_scopes")
        scope = re.sub(r"@\d+", "", ast.literal_eval(scopes)[-2]) if scopes else None
        yield scope if scope in paths else None


def accept(truth, paths):
    """A single correct answer as it is; several as a list, the exporter's own first."""
    if truth is None:
        return None
    known = truth if isinstance(truth, list) else [truth]
    paths = list(dict.fromkeys(known + [p for p in paths if p is not None]))
    return paths if len(paths) > 1 else paths[0]


def aliased(truth, aliases):
    """A module under two names: the exporter writes one of them, but both are correct."""
    for where in truth:
        yield accept(where, aliases.get(where, []))


def folded(graph, truth, contents, partners):
    """A product with a folded batch norm is made by both modules, so either is correct."""
    weights = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    truth = list(truth)
    # A transposed weight is not whole, either: a norm that is still there was not folded.
    there = [w for node, w in zip(graph.node, truth) if node.op_type == "BatchNormalization"]
    for node, where in zip(graph.node, truth):
        weight = weights.get(node.input[1]) if len(node.input) > 1 else None
        whole = weight is None or weight.tobytes() in contents
        product = "Conv" in node.op_type or node.op_type in ("Gemm", "MatMul")
        if not product or whole or isinstance(where, list) or partners.get(where) in there:
            yield where
        else:
            yield accept(where, [partners.get(where)])


def convolution_partners(model):
    """The path of each layer with a matrix or kernels with that of the batch norm after it in the same parent, both
    ways."""
    partners, last = {}, {}
    for path, module in model.named_modules():
        parent = path.rpartition(".")[0]
        if getattr(module, "running_mean", None) is not None and parent in last:
            partners[path], partners[last[parent]] = last[parent], path
        elif torch.is_tensor(getattr(module, "weight", None)) and module.weight.dim() > 1:
            last[parent] = path
    return partners


def survivors(before, truth, after):
    """The truth about an optimized graph: a node belongs where the node belonged whose value it
    makes, or whose name it kept or extended. Null where neither is left. A node that is still
    itself and took over the value of one that a quantizer absorbed (a Relu) belongs to either, and
    so does a convolution that took in the batch norm, or the bias, that came after it."""
    made_by = {out: where for node, where in zip(before.node, truth) for out in node.output}
    named = {node.name: where for node, where in zip(before.node, truth) if node.name}
    kinds = {node.name: node.op_type for node in before.node}
    normed = {
        out
        for node in before.node
        if node.op_type in ("BatchNormalization", "Add")
        for out in node.output
    }
    quantized = any(node.op_type == "QuantizeLinear" for node in after.node)

    def survivor(node):
        for value in node.output:
            if value in made_by:
                absorbs = quantized or ("Conv" in node.op_type and value in normed)
                itself = absorbs and kinds.get(node.name) == node.op_type
                own = named[node.name] if itself else None
                return accept(made_by[value], own if isinstance(own, list) else [own])
        return named.get(node.name, named.get(node.name.rpartition("/")[0]))

    return list(shared(after, [survivor(node) for node in after.node]))


def shared(graph, truth):
    """A node that an optimizer keeps once for several layers may also belong to their common module."""
    users = {}
    for node, where in zip(graph.node, truth):
        for value in node.input:
            users.setdefault(value, set()).add(where[0] if isinstance(where, list) else where)
    for node, where in zip(graph.node, truth):
        modules = set().union(*(users.get(v, set()) for v in node.output)) - {None}
        if len(modules) > 1:
            common = common_ancestor(modules)
            yield accept(where, [common, common.rpartition(".")[0]])
        else:
            yield where


def common_ancestor(modules):
    levels = zip(*(m.split(".") if m else [] for m in modules))
    return ".".join(level[0] for level in takewhile(lambda names: len(set(names)) == 1, levels))
