"""Reads each format with a strict reader and looks for the odd names of names.mlir."""

import json
import sys

import networkx

ops, dag, graphml, summary = sys.argv[1:]

NAMES = [
    'a"quote" \\',
    "line\nend\r\x1b[31m",
    r"bytes\xFF\xFE\xC3(",
    "]]> <node/> \x7f \uffff €",
]
with open(ops, encoding="utf-8") as file:
    metadata = json.load(file)
assert list(metadata["nodes"]) == NAMES, list(metadata["nodes"])
outputs = [node["outputs"] for node in metadata["nodes"].values()]
assert outputs[:3] == [["tab\tnul\x00bell\x07"], ["<b>&amp;'</b>"], [r"\x80"]], outputs
assert metadata["nodes"][NAMES[1]]["reason"] == "<script>\n"

with open(dag, encoding="utf-8") as file:
    entry = json.load(file)["/Net"]
assert entry["nodes"] == NAMES
assert entry["edges"] == [list(pair) for pair in zip(NAMES, NAMES[1:])]

graph = networkx.read_graphml(graphml)
shown = [data["name"] for _, data in graph.nodes(data=True) if data["kind"] == "op"]
# XML has no ESC and no U+FFFF: pictures of them stand in.
assert shown == [NAMES[0], "line\nend\r␛[31m", NAMES[2], "]]> <node/> ␡ � €"], shown

with open(summary, encoding="utf-8") as file:
    assert "\n  Net  " in file.read()
