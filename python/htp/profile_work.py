"""Decides which module a kernel's time counts for, because an optimizer fuses operations of several modules into one.

The tag of a fused node is that of the value that it makes: a Conv fused with a Relu has the tag of the activation. But
nearly all of its time is spent on the product. So the time of a kernel that multiplies counts for the module that
multiplies in the original model.
"""

from __future__ import annotations

import math
from functools import cached_property

from .model import TaggedModel
from .records import Initializer, Node

#: Operators that multiply by a weight, in any domain, since engines have some of their own.
PRODUCTS = frozenset(
    """
    MatMul MatMulInteger MatMulIntegerToFloat DynamicQuantizeMatMul FusedMatMul FusedMatMulActivation TransposeMatMul
    QLinearMatMul Gemm FusedGemm GemmFastGelu QGemm MatMulNBits MatMulBnb4 Conv ConvInteger FusedConv NhwcFusedConv
    QLinearConv ConvTranspose RNN GRU LSTM Einsum Attention QAttention
    """.split()
)


class Work:
    """Finds the modules that the kernels of an executed graph work for."""

    def __init__(self, executed: TaggedModel, given: TaggedModel) -> None:
        self._weights, self._given = executed.initializers, given
        self._users: dict[str, set[str]] = {}  # of each parameter, in the given graph
        for initializer in given.initializers.values():
            if initializer.parameter:
                self._users.setdefault(initializer.parameter, set()).update(initializer.scopes)
        self._sizes = {
            f"{module.path}.{parameter.name}".lstrip("."): math.prod(parameter.shape)
            for module in given.modules.values()
            for parameter in module.parameters
        }

    def module_of(self, node: Node) -> str | None:
        """The module whose parameter a kernel multiplies by (the largest, if there are several); else the module that
        reads a weight of the same name (an optimizer folds norms into weights, which are then no longer parameters);
        else the module whose product the kernel's own module reads. If there is none of these, or several, it is the
        module of the kernel's tag."""
        if node.scope is None or node.op_type not in PRODUCTS:
            return node.scope
        weights = [self._weights[value] for value in node.inputs if value in self._weights]
        parameters = [weight for weight in weights if weight.parameter in self._users]
        if parameters:
            users = self._users[max(parameters, key=self._size).parameter or ""]
        else:
            named = [self._given.initializers.get(weight.name) for weight in weights]
            users = {scope for weight in named if weight for scope in weight.scopes}
        if not users:
            users = self._products_before.get(node.scope, set())
        return next(iter(users)) if len(users) == 1 else node.scope

    def _size(self, weight: Initializer) -> int:
        return self._sizes.get(weight.parameter or "", 0)

    @cached_property
    def _products_before(self) -> dict[str, set[str]]:
        """For each module that does not multiply: the modules of the products that its operations read, directly or
        through its other operations."""
        nodes = self._given.nodes
        own = {node.scope for node in nodes.values() if node.op_type in PRODUCTS}
        taken: dict[
            str, set[str]
        ] = {}  # by node; producers come first in a file, otherwise they are not seen
        makers: dict[str, str] = {}
        found: dict[str, set[str]] = {}
        for node in nodes.values():
            here: set[str] = set()
            for value in node.inputs:
                if (maker := makers.get(value)) is None:
                    continue
                before = nodes[maker]
                if before.op_type in PRODUCTS:
                    here.add(before.scope or "")
                else:
                    here |= taken[maker] if before.scope == node.scope else set()
            taken[node.name] = here
            makers.update({value: node.name for value in node.outputs if value})
            if node.scope is not None and node.scope not in own:
                found.setdefault(node.scope, set()).update(here)
        return found
