"""Whose work a kernel does: an optimizer fuses the operations of several modules into one.

The tag of such a node is that of the value that it makes: a Conv with the Relu after it is the activation's. Its time
is not: nearly all of it is the product's. So a kernel that multiplies with a parameter counts for the module that
does so in the model as it was given.
"""

from __future__ import annotations

import math

from .costs import is_product
from .model import TaggedModel
from .records import Initializer, Node


class Work:
    """Finds the modules that kernels of an executed graph work for."""

    def __init__(self, executed: TaggedModel, given: TaggedModel) -> None:
        self._weights = executed.initializers
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
        """The module by whose largest weight a kernel multiplies; that of its tag where it multiplies by none, where
        its own module does so, too, or where several do."""
        if node.scope is None or not is_product(node.op_type):
            return node.scope
        weights = [self._weights[value] for value in node.inputs if value in self._weights]
        known = [weight for weight in weights if weight.parameter in self._users]
        if not known:
            return node.scope
        users = self._users[max(known, key=self._size).parameter or ""]
        return next(iter(users)) if len(users) == 1 else node.scope

    def _size(self, weight: Initializer) -> int:
        return self._sizes.get(weight.parameter or "", 0)
