"""check_graphml.py GRAPHML DAG MODULES: networkx finds the root's DAG and all modules in GRAPHML."""

import json
import sys

import networkx

graphml, dag, modules = sys.argv[1:]
graph = networkx.read_graphml(graphml)
names = {id: data["name"] for id, data in graph.nodes(data=True) if data["kind"] == "op"}
with open(dag, encoding="utf-8") as file:
    root = next(iter(json.load(file).values()))
assert graph.number_of_nodes() - len(names) == int(modules), graph
assert sorted(names.values()) == sorted(root["nodes"])
edges = sorted([names[a], names[b]] for a, b in graph.edges)
assert edges == sorted(root["edges"]), edges
assert edges, "a graph without edges shows nothing"
