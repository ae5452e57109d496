#!/usr/bin/env python3
"""Score tagged ONNX files against the corpus's truth.

    score.py CORPUS TAGGED      TAGGED/NAME/VARIANT.onnx was made from CORPUS/NAME/VARIANT.onnx

A node's answer is read from its metadata_props: htp.scope (the path of the deepest nn.Module,
'' for the root) and htp.tag (see the README). Prints one line per file and the totals:
  coverage        nodes with a tag
  exact           nodes whose htp.scope is the true module (or one of several, if the truth lists them)
  tag             nodes whose htp.tag is the true tag
  contaminated    nodes tagged with another layer than the true one (a different index in a
                  numbered component of the tag, such as BertLayer.1 for BertLayer.0)
  blind           scored nodes without the note that their truth was read from; blind_exact and
                  blind_contaminated count among them. Only these are results: for the others, the
                  tagger is told the answer.
Constants are excluded from exact, tag and contaminated (they are not operations of a module);
so are nodes whose truth is unknown.
"""

import glob
import json
import os
import re
import sys

import onnx


def layers(tag):
    return tuple(re.findall(r"/([^/]+\.\d+)(?=/|$)", tag))


def other_layer(got, want):
    return any(
        a != b and a.split(".")[0] == b.split(".")[0] for a, b in zip(layers(got), layers(want))
    )


COUNTS = (
    "nodes", "covered", "scored", "exact", "tag", "contaminated",
    "blind", "blind_exact", "blind_contaminated",
)  # fmt: skip
NOTES = ("pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy", "namespace")


def told(node):
    """Whether an exporter's note about the module is on a node: metadata, or a scope in its name or in the
    name of what it makes. A copy of a parameter that has the parameter's name is told as well."""
    if any(p.key in NOTES for p in node.metadata_props):
        return True
    scoped = any(name.startswith("/") for name in (node.name, *node.output))  # "/Add" is the root's
    return scoped or (node.op_type == "Identity" and any("." in name for name in node.output))


def score(source, tagged, truth, tags, answers=None, reference=False):
    """The counts of one file. Where `answers` is given, it gets (htp.confidence, right) of every blind node.
    With a `reference` none is blind: it is the graph with its notes, and truth and tagger follow it alike."""
    nodes = onnx.load(tagged, load_external_data=False).graph.node
    before = onnx.load(source, load_external_data=False).graph.node
    if len(nodes) != len(before) or [n.op_type for n in nodes] != [n.op_type for n in before]:
        raise SystemExit(f"{tagged}: its nodes are not those of {source}, in order")
    c = dict.fromkeys(COUNTS, 0) | {"nodes": len(nodes)}
    for node, given, want in zip(nodes, before, truth):
        props = {p.key: p.value for p in node.metadata_props}
        c["covered"] += props.get("htp.tag", "").startswith("/")
        if want is None or node.op_type == "Constant":
            continue
        want = want if isinstance(want, list) else [want]
        right = [tags[path] for path in want]
        c["scored"] += 1
        exact = props.get("htp.scope") in want
        c["exact"] += exact
        c["tag"] += props.get("htp.tag") in right
        contaminated = all(other_layer(props.get("htp.tag", ""), tag) for tag in right)
        c["contaminated"] += contaminated
        if reference or told(given):
            continue
        c["blind"] += 1
        c["blind_exact"] += exact
        c["blind_contaminated"] += contaminated
        if answers is not None and "htp.confidence" in props:
            answers.append((float(props["htp.confidence"]), exact))
    return c


def show(name, c):
    def share(k, of):
        return f"{c[k] / max(1, c[of]):.4f}"

    print(
        f"{name:28} nodes {c['nodes']:6} coverage {share('covered', 'nodes')} "
        f"exact {share('exact', 'scored')} tag {share('tag', 'scored')} "
        f"contaminated {c['contaminated']}"
    )


def main():
    corpus, answers = sys.argv[1:3]
    totals = {}
    for tagged in sorted(glob.glob(f"{answers}/*/*.onnx")):
        name, file = tagged.split(os.sep)[-2:]
        variant = file.removesuffix(".onnx")
        with open(f"{corpus}/{name}/tree.json") as f:
            tags = {m["path"]: m["tag"] for m in json.load(f)}
        with open(f"{corpus}/{name}/{variant}.truth.json") as f:
            truth = json.load(f)
        c = score(f"{corpus}/{name}/{file}", tagged, truth, tags)
        show(f"{name}/{variant}", c)
        total = totals.setdefault(variant, dict.fromkeys(c, 0))
        for key in c:
            total[key] += c[key]
    for variant, c in sorted(totals.items()):
        show(f"ALL/{variant}", c)
    return 0 if totals else 1


if __name__ == "__main__":
    sys.exit(main())
