"""Structure-aware mutations of ONNX models.

`mutate(model, random)` changes a few things that a broken exporter, a careless tool or an attacker might change: nodes, edges, names,
attributes, tensors, types, functions, opsets, metadata (including HTP's own), and sometimes raw bytes. The same seed gives the same bytes.
"""

import copy
import json
from collections.abc import Callable
from random import Random

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto

ODD_NAMES = [
    "", " ", ".", "/", "//", "a.b..c", "/a/b/", "x" * 3000, "ä/ü.ß", "\u202e.right", 'quote"d', "new\nline", "nul\0byte", "%0", "@main",
    "-", "..", "$1", "{}", "[[[[", "\\", "main_graph", "layer.0", "encoder.layer.0.attention", "/layer/Relu", "NO-UTF8-\x01\x02\x03",
]  # fmt: skip
NOT_TEXT = (b"NO-UTF8-\x01\x02\x03", b"NO-UTF8-\xff\xc3\x28")
ODD_INTS = [
    0,
    1,
    -1,
    2,
    7,
    127,
    255,
    256,
    2**31 - 1,
    -(2**31),
    2**31,
    2**32,
    2**62,
    2**63 - 1,
    -(2**63),
]
ODD_FLOATS = [0.0, -0.0, 1e-45, 3.4e38, float("inf"), float("-inf"), float("nan"), 0.5]
ODD_TEXTS = [
    "", "null", "[]", "{}", "nan", "inf", "-1", "1e400", "0.5", "[" * 20000, '{"a":' * 5000, '"', "#htp.tag<", "#htp.tag<\"\">", "[[[]]]",
    "/", "//", "...", "/Root/X.0", "a" * 5000, '[""]', "\x00", "true", "99999999999999999999", "NO-UTF8-\x01\x02\x03",
]  # fmt: skip
OPS = [
    "Add", "Mul", "Relu", "Identity", "MatMul", "Reshape", "Transpose", "If", "Loop", "Constant", "Gather", "Shape", "Cast", "Concat", "Split",
    "Nonsense", "BertLayer", "DequantizeLinear", "LayerNormalization", "Softmax",
]  # fmt: skip
DOMAINS = ["", "ai.onnx", "com.microsoft", "htp", "pkg.x", "ai.onnx.ml", "htp.outlined"]

MUTATIONS: list[Callable[["Target"], None]] = []


class Target:
    """The model that is being changed, and random choices from it."""

    def __init__(self, model: ModelProto, random: Random):
        self.model, self.random = model, random

    def graphs(self) -> list:
        """The graph, the functions, and the subgraphs of a few nodes."""
        found: list = [self.model.graph, *self.model.functions]
        for node in self.model.graph.node:
            found.extend(a.g for a in node.attribute if a.type == AttributeProto.GRAPH)
        return found

    def body(self):
        return self.random.choice(self.graphs())

    def graph(self) -> GraphProto:
        return self.random.choice([g for g in self.graphs() if isinstance(g, GraphProto)])

    def node(self) -> NodeProto:
        return self.random.choice([n for g in self.graphs() for n in g.node])

    def tensor(self) -> TensorProto:
        tensors = list(self.model.graph.initializer)
        for graph in self.graphs():
            for node in graph.node:
                tensors.extend(a.t for a in node.attribute if a.type == AttributeProto.TENSOR)
        return self.random.choice(tensors)

    def value(self) -> str:
        """The name of a value of the graph."""
        return self.random.choice([o for g in self.graphs() for n in g.node for o in n.output])

    def integer(self) -> int:
        return self.random.choice(ODD_INTS)

    def name(self) -> str:
        return self.random.choice(ODD_NAMES)

    def owner(self):
        """Something that has metadata."""
        graph = self.model.graph
        kind = self.random.randrange(6)
        if kind < 3:
            return self.node()
        return self.random.choice(
            [self.model, graph, *graph.initializer, *graph.value_info, *self.model.functions]
        )


def mutation(function: Callable[[Target], None]) -> Callable[[Target], None]:
    MUTATIONS.append(function)
    return function


# -- nodes ------------------------------------------------------------------------------------------------------------------------------


@mutation
def drop_node(t: Target) -> None:
    nodes = t.body().node
    del nodes[t.random.randrange(len(nodes))]


@mutation
def repeat_node(t: Target) -> None:
    body = t.body()
    node = copy.deepcopy(t.random.choice(body.node))
    if t.random.random() < 0.7:
        for i, output in enumerate(node.output):
            node.output[i] = output + "_again"
    body.node.insert(t.random.randrange(len(body.node) + 1), node)


@mutation
def shuffle_nodes(t: Target) -> None:
    nodes = t.body().node
    changed = list(nodes)
    if t.random.random() < 0.5:
        t.random.shuffle(changed)
    else:
        i, k = t.random.randrange(len(changed)), t.random.randrange(len(changed))
        changed[i], changed[k] = changed[k], changed[i]
    changed = [copy.deepcopy(n) for n in changed]
    del nodes[:]
    nodes.extend(changed)


@mutation
def rename_node(t: Target) -> None:
    t.node().name = t.random.choice([t.name(), t.node().name])


@mutation
def other_operator(t: Target) -> None:
    node = t.node()
    node.op_type = t.random.choice([*OPS, t.name(), t.node().op_type])
    if t.random.random() < 0.3:
        node.domain = t.random.choice(DOMAINS)


@mutation
def other_domain(t: Target) -> None:
    t.node().domain = t.random.choice([*DOMAINS, t.name()])


@mutation
def call_a_function(t: Target) -> None:
    if t.model.functions:
        function = t.random.choice(t.model.functions)
        node = t.node()
        node.op_type, node.domain = function.name, function.domain


@mutation
def wrap_into_if(t: Target) -> None:
    body = t.body()
    place = t.random.randrange(len(body.node))
    inner = copy.deepcopy(body.node[place])
    branch = GraphProto(name="branch", node=[inner])
    for output in inner.output:
        branch.output.add(name=output)
    condition = NodeProto(op_type="Constant", output=[f"condition_{place}"])
    tensor = onnx.helper.make_tensor("c", TensorProto.BOOL, [], [t.random.random() < 0.5])
    condition.attribute.append(onnx.helper.make_attribute("value", tensor))
    outer = NodeProto(op_type="If", input=[f"condition_{place}"], output=inner.output)
    outer.attribute.append(onnx.helper.make_attribute("then_branch", branch))
    outer.attribute.append(onnx.helper.make_attribute("else_branch", branch))
    body.node[place].CopyFrom(outer)
    body.node.insert(place, condition)


# -- edges ------------------------------------------------------------------------------------------------------------------------------


@mutation
def rewire(t: Target) -> None:
    node = t.node()
    if node.input:
        source = t.random.choice([t.value(), t.name(), "", *node.output])
        node.input[t.random.randrange(len(node.input))] = source


@mutation
def more_inputs(t: Target) -> None:
    node = t.node()
    for _ in range(t.random.choice([1, 1, 3, 40])):
        node.input.append(t.random.choice([t.value(), "", t.name()]))


@mutation
def fewer_inputs(t: Target) -> None:
    node = t.node()
    if node.input:
        del node.input[t.random.randrange(len(node.input)) :]


@mutation
def rename_value(t: Target) -> None:
    """Renames a value everywhere, so the graph still means the same, with an odd or taken name."""
    old, new = t.value(), t.random.choice([t.name(), t.value()])
    graph = t.model.graph
    for node in graph.node:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name == old:
                    names[i] = new
    for values in (graph.input, graph.output, graph.value_info, graph.initializer):
        for value in values:
            if value.name == old:
                value.name = new


@mutation
def other_outputs(t: Target) -> None:
    node = t.node()
    kind = t.random.randrange(4)
    if kind == 0:
        node.output.append(t.random.choice([t.value(), t.name(), "fresh_output"]))
    elif kind == 1 and node.output:
        node.output[t.random.randrange(len(node.output))] = t.random.choice([t.value(), ""])
    elif kind == 2 and node.output:
        del node.output[-1]
    elif node.output:
        node.output.reverse()


# -- attributes -------------------------------------------------------------------------------------------------------------------------


@mutation
def change_attribute(t: Target) -> None:
    node = t.node()
    if not node.attribute:
        return
    attribute = t.random.choice(node.attribute)
    kind = t.random.randrange(8)
    if kind == 0:
        attribute.name = t.name()
    elif kind == 1:
        attribute.type = t.random.choice(list(AttributeProto.AttributeType.values()))
    elif kind == 2:
        attribute.i = t.integer()
    elif kind == 3:
        attribute.ints.extend(t.integer() for _ in range(t.random.randrange(1, 6)))
    elif kind == 4:
        attribute.f = t.random.choice(ODD_FLOATS)
    elif kind == 5:
        attribute.s = t.random.choice([b"", b"\xff\xfe", b"linear", b"x" * 1000])
    elif kind == 6:
        attribute.ref_attr_name = t.name()
    else:
        node.attribute.remove(attribute)


@mutation
def add_attribute(t: Target) -> None:
    attribute = t.node().attribute.add()
    attribute.CopyFrom(
        onnx.helper.make_attribute(
            t.random.choice(["axis", "value", "to", "onnx_node_name", "htp.tag", t.name()]) or "a",
            t.random.choice([t.integer(), [1, 2], 0.5, "text", ["a", "b"]]),
        )
    )


# -- tensors and types ------------------------------------------------------------------------------------------------------------------


@mutation
def change_tensor(t: Target) -> None:
    tensor = t.tensor()
    kind = t.random.randrange(9)
    if kind == 0 and tensor.dims:
        tensor.dims[t.random.randrange(len(tensor.dims))] = t.integer()
    elif kind == 1:
        tensor.dims.append(t.random.choice([1, 0, 2, 2**40]))
    elif kind == 2:
        tensor.data_type = t.random.choice([*TensorProto.DataType.values(), 99])
    elif kind == 3 and tensor.raw_data:
        tensor.raw_data = tensor.raw_data[: t.random.randrange(len(tensor.raw_data))]
    elif kind == 4 and tensor.raw_data:
        data = bytearray(tensor.raw_data)
        for _ in range(8):
            data[t.random.randrange(len(data))] = t.random.choice([0, 255, 127, 128])
        tensor.raw_data = bytes(data)
    elif kind == 5:
        tensor.name = t.name()
    elif kind == 6:
        tensor.data_location = TensorProto.EXTERNAL
        place = t.random.choice(["weights.data", "../up", "/etc/passwd", "", "."])
        tensor.external_data.add(key="location", value=place)
        tensor.external_data.add(key="offset", value=t.random.choice(["0", "-1", "9" * 30, "x"]))
    elif kind == 7:
        tensor.float_data.extend([1.0, float("nan")])
    else:
        tensor.raw_data = b""


@mutation
def drop_or_repeat_initializer(t: Target) -> None:
    initializers = t.model.graph.initializer
    if initializers:
        place = t.random.randrange(len(initializers))
        if t.random.random() < 0.5:
            del initializers[place]
        else:
            initializers.append(initializers[place])


@mutation
def shuffle_initializers(t: Target) -> None:
    initializers = t.model.graph.initializer
    changed = [copy.deepcopy(i) for i in initializers]
    t.random.shuffle(changed)
    del initializers[:]
    initializers.extend(changed)


@mutation
def change_type(t: Target) -> None:
    graph = t.graph()
    values = [*graph.input, *graph.output, *graph.value_info]
    if not values:
        return
    value = t.random.choice(values)
    kind = t.random.randrange(6)
    if kind == 0:
        value.name = t.random.choice([t.name(), t.value()])
    elif kind == 1:
        value.ClearField("type")
    elif kind == 2:
        value.type.tensor_type.elem_type = t.random.choice([0, 1, 7, 16, 99, 22])
    elif kind == 3 and value.type.tensor_type.shape.dim:
        t.random.choice(value.type.tensor_type.shape.dim).dim_value = t.integer()
    elif kind == 4:
        dimension = value.type.tensor_type.shape.dim.add()
        dimension.dim_param = t.name()
    else:
        value.type.sequence_type.elem_type.tensor_type.elem_type = 1


@mutation
def change_signature(t: Target) -> None:
    graph = t.graph()
    values = graph.output if t.random.random() < 0.5 else graph.input
    kind = t.random.randrange(4)
    if kind == 0 and values:
        del values[t.random.randrange(len(values))]
    elif kind == 1 and values:
        values.append(t.random.choice(values))
    elif kind == 2:
        values.add(name=t.random.choice([t.value(), t.name()]))
    elif graph.value_info:
        graph.value_info.append(t.random.choice(graph.value_info))


# -- functions and opsets ---------------------------------------------------------------------------------------------------------------


@mutation
def change_function(t: Target) -> None:
    functions = t.model.functions
    if not functions:
        return
    function = t.random.choice(functions)
    kind = t.random.randrange(8)
    if kind == 0:
        functions.remove(function)
    elif kind == 1:
        functions.append(function)
    elif kind == 2:
        function.name = t.name()
    elif kind == 3 and function.opset_import:
        del function.opset_import[t.random.randrange(len(function.opset_import))]
    elif kind == 4 and function.input:
        del function.input[t.random.randrange(len(function.input))]
    elif kind == 5 and function.output:
        del function.output[t.random.randrange(len(function.output))]
    elif kind == 6:
        function.node.add(op_type=function.name, domain=function.domain, output=["again"])
    else:
        function.attribute.append(t.name())


@mutation
def change_opsets(t: Target) -> None:
    owner = t.random.choice([t.model, *t.model.functions])
    kind = t.random.randrange(4)
    if kind == 0 and owner.opset_import:
        del owner.opset_import[t.random.randrange(len(owner.opset_import))]
    elif kind == 1:
        owner.opset_import.add(
            domain=t.random.choice(DOMAINS), version=t.random.choice([1, 13, 18, 21])
        )
    elif kind == 2 and owner.opset_import:
        t.random.choice(owner.opset_import).version = t.integer()
    elif owner.opset_import:
        t.random.choice(owner.opset_import).domain = t.random.choice(DOMAINS)


@mutation
def change_header(t: Target) -> None:
    kind = t.random.randrange(4)
    if kind == 0:
        t.model.ir_version = t.random.choice([0, 3, 8, 10, 13, -1, 2**62])
    elif kind == 1:
        t.model.graph.name = t.name()
    elif kind == 2:
        t.model.producer_name = t.name()
    else:
        t.model.doc_string = t.name()


# -- metadata, HTP's own above all ------------------------------------------------------------------------------------------------------


@mutation
def change_metadata(t: Target) -> None:
    entries = t.owner().metadata_props
    if not entries:
        entries = t.node().metadata_props
    if not entries:
        return
    entry = t.random.choice(entries)
    kind = t.random.randrange(6)
    if kind == 0:
        entry.value = t.random.choice(ODD_TEXTS)
    elif kind == 1:
        entry.key = t.random.choice(["htp.tag", "htp.scope", "htp.call", "htp.contexts", t.name()])
    elif kind == 2:
        entries.remove(entry)
    elif kind == 3:
        entries.append(entry)
    elif kind == 4:
        entry.value = cut(entry.value, t.random)
    else:
        entry.value = changed_json(entry.value, t)


@mutation
def add_metadata(t: Target) -> None:
    key = t.random.choice(
        [
            "htp.tag", "htp.scope", "htp.call", "htp.evidence", "htp.confidence", "htp.contexts", "htp.parameter", "htp.tags", "htp.users",
            "htp.hierarchy", "htp.added", "htp.order", "htp.originals", "htp.value_info", "namespace", "pkg.torch.onnx.name_scopes",
            "pkg.torch.onnx.class_hierarchy",
        ]
    )  # fmt: skip
    t.owner().metadata_props.add(key=key, value=t.random.choice(ODD_TEXTS))


@mutation
def swap_metadata(t: Target) -> None:
    one, other = t.node(), t.node()
    kept = copy.deepcopy(one.metadata_props)
    del one.metadata_props[:]
    one.metadata_props.extend(other.metadata_props)
    del other.metadata_props[:]
    other.metadata_props.extend(kept)


def cut(text: str, random: Random) -> str:
    place = random.randrange(len(text) + 1)
    kind = random.randrange(3)
    if kind == 0:
        return text[:place]
    if kind == 1:
        return text[:place] + random.choice('"[]{},:\\/.0\x00') + text[place:]
    end = random.randrange(place, len(text) + 1)
    return text[:place] + text[end:]


def changed_json(text: str, t: Target) -> str:
    """Replaces one leaf or branch by something else."""
    try:
        document = json.loads(text)
    except ValueError:
        return t.random.choice(ODD_TEXTS)
    places = []

    def walk(value):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in items:
            places.append((value, key))
            if isinstance(child, dict | list):
                walk(child)

    if isinstance(document, dict | list):
        walk(document)
    if not places:
        return t.random.choice(ODD_TEXTS)
    holder, key = t.random.choice(places)
    choices = [None, "", "x", {}, [], True, -1, 2**31, 2**63, 0.5, [[]], t.name(), holder]
    value = t.random.choice(choices)
    if t.random.random() < 0.2:
        del holder[key]
    else:
        holder[key] = copy.deepcopy(value)
    return json.dumps(document)


# -- bytes ------------------------------------------------------------------------------------------------------------------------------


def mutate_bytes(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    kind = random.randrange(4)
    if kind == 0:
        return bytes(changed[: random.randrange(len(changed))])
    if kind == 1:
        for _ in range(random.choice([1, 2, 8])):
            changed[random.randrange(len(changed))] = random.randrange(256)
    elif kind == 2:
        place = random.randrange(len(changed))
        changed[place:place] = bytes(random.randrange(256) for _ in range(random.randrange(1, 40)))
    else:
        place, source = random.randrange(len(changed)), random.randrange(len(changed))
        changed[place:place] = changed[source : source + random.randrange(1, 400)]
    return bytes(changed)


def mutate(data: bytes, random: Random) -> tuple[bytes, list[str]]:
    """A changed model and the names of the mutations."""
    if random.random() < 0.08:
        return mutate_bytes(data, random), ["bytes"]
    model = onnx.load_from_string(data)
    done = []
    for _ in range(random.choice([1, 1, 1, 2, 3, 6])):
        change = random.choice(MUTATIONS)
        try:
            change(Target(model, random))
            done.append(change.__name__)
        except (IndexError, ValueError, TypeError):
            pass  # nothing to change, or a number that does not fit the field
    return model.SerializeToString().replace(*NOT_TEXT), done
