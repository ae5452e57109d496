"""Random models that ONNX Runtime runs, with a random module hierarchy.

`random_model(seed)` combines things that make outlining and tagging hard: layers of equal classes, modules that run twice, ops of other
modules in between, subgraphs that capture values, functions of the model's own, values that many modules read, nodes without notes, nodes
out of order, and names that are missing, odd or already taken.
"""

from dataclasses import dataclass, field
from random import Random

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

SHAPE = (2, 4)
UNARY = ["Relu", "Neg", "Sigmoid", "Identity", "Tanh", "Abs"]
BINARY = ["Add", "Mul", "Sub"]
ODD = [
    "",
    " ",
    "ä/ö",
    'a"b',
    "x.y.z",
    "/net/act/Relu",
    "%3",
    "new\nline",
    "same",
    "same",
    "same",
    "l[0]",
]


@dataclass
class Module:
    path: str
    kind: str
    plan: int  # modules with equal plans compute the same
    children: list["Module"] = field(default_factory=list)

    def all(self) -> list["Module"]:
        return [self, *(m for child in self.children for m in child.all())]


class Builder:
    def __init__(self, seed: object):
        self.random = Random(f"model {seed}")
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self.root = self.tree("", 0)
        self.modules = self.root.all()
        self.values = ["x", "y"]
        self.shared: list[str] = []
        self.counter = 0
        self.odd_names = self.random.random() < 0.3
        self.taken_names = self.random.random() < 0.3
        self.silent = self.random.choice([0.0, 0.0, 0.15])
        self.strays = self.random.choice([0.0, 0.1])

    def tree(self, path: str, depth: int) -> Module:
        module = Module(path, f"C{depth}", self.random.randrange(3))
        module.kind += "abc"[module.plan]
        if depth < 3 and (depth == 0 or self.random.random() < 0.6):
            names = [f"{n}" for n in self.random.sample(["net", "act", "proj", "norm", "ö"], 2)]
            names += [f"layer.{i}" for i in range(self.random.randrange(4))]
            for name in names:
                module.children.append(self.tree(f"{path}.{name}".lstrip("."), depth + 1))
        return module

    # -- values ---------------------------------------------------------------------------------------------------------------------

    def fresh(self, hint: str = "v") -> str:
        self.counter += 1
        return f"{hint}_{self.counter}"

    def weight(self, name: str, shape: tuple[int, ...] = (4, 4)) -> str:
        if all(i.name != name for i in self.initializers):
            values = np.array([self.random.uniform(-1, 1) for _ in range(int(np.prod(shape)))])
            self.initializers.append(
                numpy_helper.from_array(values.astype(np.float32).reshape(shape), name)
            )
        return name

    def constant(self, value: np.ndarray) -> str:
        name = self.fresh("constant")
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    # -- nodes ----------------------------------------------------------------------------------------------------------------------

    def emit(
        self, module: Module, op: str, inputs: list[str], outputs: int = 1, **attributes
    ) -> str:
        made = [self.fresh() for _ in range(outputs)]
        node = helper.make_node(op, inputs, made, **attributes)
        if op == "Twice":
            node.domain = "local"
        node.name = f"node_{self.counter}"
        if self.odd_names:
            node.name = self.random.choice(ODD)
            if not self.taken_names and node.name:  # ONNX Runtime wants names to differ
                node.name += str(self.counter)
        owner = self.random.choice(self.modules) if self.random.random() < self.strays else module
        if self.random.random() >= self.silent:
            self.note(node, owner)
        self.nodes.append(node)
        return made[0]

    def note(self, node: NodeProto, module: Module) -> None:
        """What PyTorch's exporter writes."""
        way = [m for m in self.modules if f"{module.path}.".startswith(f"{m.path}.") or not m.path]
        scopes = [*(m.path for m in way), node.op_type.lower()]
        kinds = [*(f"demo.{m.kind}" for m in way), f"aten.{node.op_type.lower()}"]
        node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=repr(scopes))
        node.metadata_props.add(key="pkg.torch.onnx.class_hierarchy", value=repr(kinds))

    def step(self, module: Module, plan: Random, value: str, other: str) -> str:
        """One op or a few, which depend only on the plan, so that modules with equal plans are equal."""
        kind = plan.randrange(8)
        if kind == 0:
            return self.emit(module, plan.choice(UNARY), [value])
        if kind == 1:
            return self.emit(module, plan.choice(BINARY), [value, other])
        if kind == 2:
            weight = self.weight(f"{module.path}.weight".lstrip("."))
            return self.emit(module, "MatMul", [value, weight])
        if kind == 3:
            tensor = numpy_helper.from_array(np.full(SHAPE, 0.5, np.float32))
            return self.emit(
                module, "Mul", [value, self.emit(module, "Constant", [], value=tensor)]
            )
        if kind == 4:
            return self.parts(module, value)
        if kind == 5:
            return self.branch(module, plan, value, other)
        if kind == 6:
            return self.emit(module, "Twice", [value])
        if not self.shared:
            self.shared.append(self.constant(np.full(SHAPE, 0.25, np.float32)))
        return self.emit(module, "Add", [value, self.shared[0]])

    def parts(self, module: Module, value: str) -> str:
        first = self.emit(module, "Split", [value], outputs=2, axis=1)
        second = self.nodes[-1].output[1]
        self.nodes[-1].attribute.append(helper.make_attribute("num_outputs", 2))
        return self.emit(module, "Concat", [second, first], axis=1)

    def branch(self, module: Module, plan: Random, value: str, other: str) -> str:
        def body(op: str, inputs: list[str]) -> GraphProto:
            made = self.fresh("inner")
            node = helper.make_node(op, inputs, [made], name=self.fresh("inside"))
            self.note(node, module)
            return helper.make_graph([node], "branch", [], [described(made)])

        condition = self.constant(np.array(plan.random() < 0.5))
        then = body(plan.choice(BINARY), [value, other])
        otherwise = body(plan.choice(UNARY), [value])
        return self.emit(module, "If", [condition], then_branch=then, else_branch=otherwise)

    def run(self, module: Module, value: str, other: str) -> str:
        plan = Random(f"plan {module.kind} {len(module.children)}")
        for _ in range(plan.randrange(1, 4)):
            value = self.step(module, plan, value, other)
        for child in module.children:
            for _ in range(plan.choice([1, 1, 1, 2])):
                value = self.run(child, value, other)
            if plan.random() < 0.3:
                value = self.emit(module, "Add", [value, other])
                other = value
        if plan.random() < 0.2:
            self.values.append(value)
        return self.step(module, plan, value, other)

    # -- the model ------------------------------------------------------------------------------------------------------------------

    def model(self) -> ModelProto:
        result = self.run(self.root, "x", "y")
        outputs = dict.fromkeys([result, *self.random.sample(self.values, 1)])
        if self.random.random() < 0.2:
            self.weight("nobody.reads.this")
        inputs = [described("x"), described("y")]
        graph = helper.make_graph(
            self.nodes, "main_graph", inputs, [described(o) for o in outputs if o not in ("x", "y")]
        )
        graph.initializer.extend(self.initializers)
        double = helper.make_node("Add", ["a", "a"], ["b"])
        opset = helper.make_opsetid("", 20)
        twice = helper.make_function("local", "Twice", ["a"], ["b"], [double], [opset])
        model = helper.make_model(
            graph,
            opset_imports=[opset, helper.make_opsetid("local", 1)],
            functions=[twice],
            ir_version=10,
        )
        if self.odd_names:
            rename_values(model, self.random)
        if self.random.random() < 0.2:
            reorder(model.graph.node, self.random)
        return model


def described(name: str):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE)


def reorder(items, random: Random) -> None:
    """A random order."""
    kept = [type(item).FromString(item.SerializeToString()) for item in items]
    random.shuffle(kept)
    del items[:]
    items.extend(kept)


def rename_values(model: ModelProto, random: Random, plain: bool = False) -> None:
    """Other names for all values that nodes make, everywhere."""
    new: dict[str, str] = {}
    for graph in graphs_of(model.graph):
        for node in graph.node:
            for output in node.output:
                odd = random.choice(["ä", "a.b", "/x/y", "%", " ", "[", '"']) if not plain else "r"
                new.setdefault(output, f"{odd}{len(new)}")
    for graph in graphs_of(model.graph):
        for node in graph.node:
            for names in (node.input, node.output):
                for i, name in enumerate(names):
                    names[i] = new.get(name, name)
        for value in [*graph.output, *graph.value_info]:
            value.name = new.get(value.name, value.name)


def graphs_of(graph: GraphProto) -> list[GraphProto]:
    found = [graph]
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found += graphs_of(attribute.g)
    return found


def random_model(seed: object) -> ModelProto:
    return Builder(seed).model()
