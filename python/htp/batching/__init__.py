"""Tags many models: `htp batch`. A work item is one model, tagged by one native process. Items run in parallel
on this machine or on a Ray cluster, and each leaves a record beside its model."""

from .running import Batch, batch

__all__ = ["Batch", "batch"]
