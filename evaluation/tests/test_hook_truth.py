"""The truth from forward hooks: it knows what was computed where, and says so if it does not."""

import hook_truth
import numpy as np
import onnx
import pytest
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return torch.tanh(self.fc(x)) * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.drop = Block(), Block(), nn.Dropout()

    def forward(self, x):
        h = self.a(x)
        return self.drop(self.b(h + 1)) + h


def exported(model, x, path, **options):
    torch.onnx.export(model.eval(), (x,), path, dynamo=False, input_names=["x"], **options)
    return onnx.load(path)


def truth_of(model, graph, x):
    calls = hook_truth.observe(model, (x,), {})
    values = hook_truth.graph_values(graph, {"x": x.numpy()})
    return hook_truth.HookTruth(graph.graph, values, calls)


@pytest.fixture
def net(tmp_path):
    torch.manual_seed(0)
    model, x = Net().eval(), torch.randn(3, 4)
    graph = exported(model, x, str(tmp_path / "m.onnx"))
    return graph, truth_of(model, graph, x)


def scopes(graph):
    """The truth according to the exporter's names, which have no quirks in this small net."""
    return [".".join(node.name.split("/")[1:-1]) for node in graph.graph.node]


def test_every_node_of_a_small_net_is_known_exactly(net):
    graph, truth = net
    known = [
        (node.op_type, region.paths, region.exact)
        for node, region in zip(graph.graph.node, truth.regions)
        if node.op_type != "Constant"
    ]
    assert known == [
        ("Gemm", ("a.fc",), True),
        ("Tanh", ("a",), True),
        ("Mul", ("a",), True),
        ("Add", ("",), True),
        ("Gemm", ("b.fc",), True),
        ("Tanh", ("b",), True),
        ("Mul", ("b",), True),
        ("Add", ("",), True),
    ]
    assert truth.excluded["through"] == 1, "the dropout does nothing"


def test_it_reads_no_name(net):
    """The same regions for a graph without names."""
    graph, truth = net
    torch.manual_seed(0)
    model, x = Net().eval(), torch.randn(3, 4)
    names = {"x": "x", **{o.name: o.name for o in graph.graph.output}}
    bare = onnx.ModelProto()
    bare.CopyFrom(graph)
    for init in bare.graph.initializer:
        init.name = names.setdefault(init.name, f"v{len(names)}")
    for node in bare.graph.node:
        node.name = ""
        node.input[:] = [names.setdefault(n, f"v{len(names)}") for n in node.input]
        node.output[:] = [names.setdefault(n, f"v{len(names)}") for n in node.output]
    assert truth_of(model, bare, x).regions == truth.regions


def test_judge_sees_a_wrong_tag(net):
    graph, truth = net
    for node, scope in zip(graph.graph.node, scopes(graph)):
        node.metadata_props.add(key="htp.scope", value=scope)
    verdict = hook_truth.judge(graph.graph.node, truth.regions)
    assert verdict.judged == verdict.right == verdict.exact == verdict.exact_right == 8
    graph.graph.node[0].metadata_props[0].value = "b.fc"
    verdict = hook_truth.judge(graph.graph.node, truth.regions)
    assert verdict.right == 7
    assert verdict.wrong == ["Gemm /a/fc/Gemm is 'a.fc', tagged 'b.fc'"]


def test_equal_results_are_ambiguous(tmp_path):
    """If two modules compute the same, it is unknown which node belongs to which."""
    torch.manual_seed(0)

    class Twins(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = Block(), Block()
            self.b.load_state_dict(self.a.state_dict())

        def forward(self, x):
            return self.a(x) - self.b(x) * 3

    model, x = Twins().eval(), torch.randn(3, 4)
    graph = exported(model, x, str(tmp_path / "m.onnx"))
    truth = truth_of(model, graph, x)
    assert truth.excluded["equal"] == 4, "two blocks and their linear layers"
    assert {r for r in truth.regions[:-2] if r} <= {hook_truth.Region(("",), True)}


def test_a_folded_norm_is_of_both(tmp_path):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv1d(2, 3, 3), nn.BatchNorm1d(3), nn.ReLU())
    model[1].running_mean.copy_(torch.rand(3))
    x = torch.randn(1, 2, 8)
    graph = exported(model.eval(), x, str(tmp_path / "m.onnx"))
    assert [n.op_type for n in graph.graph.node] == ["Conv", "Relu"]
    truth = truth_of(model, graph, x)
    assert set(truth.regions[0].paths) == {"0", "1"}
    assert truth.excluded["unseen"] == 1


def test_a_call_that_reads_around_its_inputs_is_open(tmp_path):
    """For a module that reads something from elsewhere, only its border counts."""
    torch.manual_seed(0)

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.side = None

        def forward(self, x):
            return torch.tanh(x) * self.side

    class Around(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.reader = nn.Linear(4, 4), Reader()

        def forward(self, x):
            self.reader.side = torch.exp(self.fc(x))  # computed outside, read inside
            return self.reader(x + 1)

    model, x = Around().eval(), torch.randn(3, 4)
    graph = exported(model, x, str(tmp_path / "m.onnx"))
    truth = truth_of(model, graph, x)
    kinds = {n.op_type: r for n, r in zip(graph.graph.node, truth.regions)}
    assert truth.excluded["open"] == 1
    assert kinds["Mul"] == hook_truth.Region(("reader",))
    assert kinds["Exp"] is None


def graph_truth(model, x, nodes, inputs=(), constants=()):
    """The truth about a graph written by hand."""
    from onnx import helper, numpy_helper

    output = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    given = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, list(x.shape))
    weights = [numpy_helper.from_array(array, name) for name, array in constants]
    made = [helper.make_node(op, list(ins), [out], **more) for op, ins, out, more in nodes]
    graph = helper.make_graph(made, "g", [given], [output], weights)
    opset = [helper.make_opsetid("", 17)]
    return truth_of(model, helper.make_model(graph, opset_imports=opset, ir_version=8), x)


class Doubling(nn.Module):
    def forward(self, x):
        return torch.exp(x) * x.shape[0]


class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Doubling()

    def forward(self, x):
        h = torch.sin(x)
        return self.inner(h) + torch.exp(h)


def test_what_is_computed_once_for_two_is_shared():
    """exp(h) is computed by both; a graph that has it only once cannot tell by which."""
    nodes = [
        ("Sin", ["x"], "h", {}),
        ("Exp", ["h"], "e", {}),
        ("Mul", ["e", "three"], "m", {}),
        ("Add", ["m", "e"], "y", {}),
    ]
    three = [("three", np.array(3.0, np.float32))]
    truth = graph_truth(Doubled(), torch.randn(3, 4), nodes, constants=three)
    assert truth.regions[1] is None and truth.excluded["shared"] == 1
    assert truth.regions[2] == hook_truth.Region(("inner",), True)


def test_copies_and_shapes_are_left_out():
    nodes = [
        ("Sin", ["x"], "h", {}),
        (
            "Cast",
            ["h"],
            "c",
            {"to": 1},
        ),  # gives back what it takes: before the border, or behind it
        ("Exp", ["c"], "e", {}),
        ("Shape", ["x"], "s", {}),  # a length is an int in Python: whoever asked for it
        ("Cast", ["s"], "f", {"to": 1}),
        ("Gather", ["f", "zero"], "l", {}),
        ("Mul", ["e", "l"], "m", {}),
        ("Exp", ["h"], "e2", {}),
        ("Add", ["m", "e2"], "y", {}),
    ]
    zero = [("zero", np.array(0))]
    truth = graph_truth(Doubled(), torch.randn(3, 4), nodes, constants=zero)
    known = {node.output[0]: region for node, region in zip(truth.graph.node, truth.regions)}
    assert [name for name, region in known.items() if region is None] == ["c", "s", "f", "l"]
    assert known["m"] == hook_truth.Region(("inner",), True), (
        "a length from outside does not open the call"
    )
    assert known["h"] == known["y"] == hook_truth.Region(("",), True)


class TwoResults(nn.Module):
    def forward(self, x):
        return torch.sin(x), torch.exp(torch.cos(x)) * 3


class Projected(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = TwoResults()

    def forward(self, x):
        sine, pooled = self.inner(x)
        return torch.tanh(sine) + pooled * 2


def two_results(*nodes):
    """The truth about a graph that starts with the first result of Projected.inner, by value."""
    nodes = [
        ("Sin", ["x"], "sine", {}),
        *nodes,
        ("Tanh", ["sine"], "t", {}),
        ("Add", ["t", "m"], "y", {}),
    ]
    constants = [
        ("shape", np.array([3, 4])),
        *((name, np.array(n, np.float32)) for name, n in (("two", 2), ("three", 3), ("six", 6))),
    ]
    truth = graph_truth(Projected(), torch.randn(3, 4), nodes, constants=constants)
    return {node.output[0]: region for node, region in zip(truth.graph.node, truth.regions)}


def test_a_reshape_to_the_same_shape_does_not_hide_a_result():
    known = two_results(
        ("Cos", ["x"], "c", {}),
        ("Exp", ["c"], "e", {}),
        ("Mul", ["e", "three"], "pooled", {}),
        ("Reshape", ["pooled", "shape"], "again", {}),
        ("Mul", ["again", "two"], "m", {}),
    )
    inner = hook_truth.Region(("inner",), True)
    assert known["c"] == known["e"] == known["pooled"] == inner
    assert known["m"] == known["t"] == hook_truth.Region(("",), True)


def test_beside_a_result_that_is_not_found_nothing_is_exact():
    """Two products were made one: the nodes before it may be of the module, or of the model around it."""
    known = two_results(
        ("Cos", ["x"], "c", {}), ("Exp", ["c"], "e", {}), ("Mul", ["e", "six"], "m", {})
    )
    assert known["sine"] == hook_truth.Region(("inner",), True)
    assert known["c"] is None and known["e"] is None


def test_a_hook_of_the_users_own_is_of_either_side(tmp_path):
    torch.manual_seed(0)
    model = nn.Sequential(Block(), Block())
    model[1].register_forward_hook(lambda module, args, output: output + 1)
    x = torch.randn(3, 4)
    graph = exported(model, x, str(tmp_path / "m.onnx"))
    truth = truth_of(model, graph, x)
    known = {n.op_type: r for n, r in zip(graph.graph.node, truth.regions)}
    assert known["Add"] == hook_truth.Region(("1", ""), True)
    assert truth.regions[0] == hook_truth.Region(("0.fc",), True)


def test_what_a_script_module_calls_is_not_seen(tmp_path):
    torch.manual_seed(0)
    model, x = (
        nn.Sequential(torch.jit.trace(Block(), torch.ones(3, 4)), nn.Tanh()),
        torch.randn(3, 4),
    )
    nodes = [("Gemm", ["x", "w", "b"], "g", {"transB": 1}), ("Tanh", ["g"], "t", {})]
    nodes += [("Mul", ["t", "two"], "m", {}), ("Tanh", ["m"], "y", {})]
    fc = model[0].fc
    weights = [("w", fc.weight.detach().numpy()), ("b", fc.bias.detach().numpy())]
    weights.append(("two", np.array(2.0, np.float32)))
    truth = graph_truth(model, x, nodes, constants=weights)
    assert truth.regions[0] == hook_truth.Region(("0",)), "in the traced block, or in what it calls"
    assert truth.regions[3] == hook_truth.Region(("1",), True)


def test_an_if_is_not_inside_the_module_that_its_branch_calls():
    from onnx import helper

    class Branching(nn.Module):
        def __init__(self):
            super().__init__()
            self.yes = Doubling()

        def forward(self, x):
            return self.yes(torch.sin(x))

    out = helper.make_tensor_value_info("i", onnx.TensorProto.FLOAT, None)
    inner = [helper.make_node("Exp", ["h"], ["e"]), helper.make_node("Mul", ["e", "three"], ["i"])]
    branch = helper.make_graph(inner, "branch", [], [out])
    nodes = [
        ("Sin", ["x"], "h", {}),
        ("ReduceMax", ["h"], "r", {"keepdims": 0}),
        ("Less", ["r", "three"], "c", {}),
        ("If", ["c"], "y", {"then_branch": branch, "else_branch": branch}),
    ]
    three = [("three", np.array(3.0, np.float32))]
    truth = graph_truth(Branching(), torch.randn(3, 4), nodes, constants=three)
    assert truth.excluded["nested"] >= 1
    assert not [r for r in truth.regions if r and "yes" in r.paths]


def test_regions():
    region = hook_truth.Region(("a.b",))
    assert region.holds("a.b") and region.holds("a.b.c")
    assert not region.holds("a") and not region.holds("a.bc") and not region.holds(None)
    assert not hook_truth.Region(("a.b",), exact=True).holds("a.b.c")
    assert hook_truth.Region(("",)).holds("x") and not hook_truth.Region(("",), True).holds("x")


def test_tensors_that_tell_nothing():
    assert not hook_truth.telling(np.zeros(100))
    assert not hook_truth.telling(np.array([1.0, 2.0]))
    assert hook_truth.telling(np.arange(6.0))
