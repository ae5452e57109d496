"""What moved between two tagged models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .model import TaggedModel


@dataclass
class Comparison:
    """Names that only one of two models has, and nodes whose module differs."""

    nodes_removed: list[str] = field(default_factory=list)
    nodes_added: list[str] = field(default_factory=list)
    modules_removed: list[str] = field(default_factory=list)
    modules_added: list[str] = field(default_factory=list)
    moved: list[dict[str, str | None]] = field(default_factory=list)
    same: int = 0

    @property
    def equal(self) -> bool:
        return not (
            self.nodes_removed
            or self.nodes_added
            or self.modules_removed
            or self.modules_added
            or self.moved
        )

    def as_json(self) -> dict[str, Any]:
        return {"equal": self.equal, **vars(self)}


def compare(before: TaggedModel, after: TaggedModel) -> Comparison:
    """Compares by names: of nodes, and of modules' paths."""
    result = Comparison(
        nodes_removed=[name for name in before.nodes if name not in after.nodes],
        nodes_added=[name for name in after.nodes if name not in before.nodes],
        modules_removed=[path for path in before.modules if path not in after.modules],
        modules_added=[path for path in after.modules if path not in before.modules],
    )
    for name, old in before.nodes.items():
        new = after.nodes.get(name)
        if new is None:
            continue
        if (old.tag, old.scope) == (new.tag, new.scope):
            result.same += 1
        else:
            result.moved.append(
                {
                    "node": name,
                    "tag_before": old.tag,
                    "tag_after": new.tag,
                    "scope_before": old.scope,
                    "scope_after": new.scope,
                }
            )
    return result
