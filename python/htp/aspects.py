"""What two tagged models can differ in."""

from __future__ import annotations

from typing import Literal

Aspect = Literal["modules", "ops", "attributes", "parameters", "constants", "interface", "tags"]
ASPECTS: tuple[Aspect, ...] = (
    "modules",
    "ops",
    "attributes",
    "parameters",
    "constants",
    "interface",
    "tags",
)
