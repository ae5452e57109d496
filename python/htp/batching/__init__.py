"""Many models: `htp batch`. One work item is one model, tagged by one native process; items run beside one
another on this machine, or on a Ray cluster, and each leaves a record beside its model."""

from .running import Batch, batch

__all__ = ["Batch", "batch"]
