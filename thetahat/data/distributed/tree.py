"""Merging in a tree of fixed shape, so that the result does not depend on the workers."""

from __future__ import annotations

from typing import Any

from thetahat.data.distributed.partition import merged
from thetahat.data.distributed.pieces import dask

FAN_IN = 8
"""Number of summaries that one task merges."""


def tree(summaries: list[Any]) -> Any:
    """The task that merges all summaries: groups of neighbours, then groups of groups."""
    merge = dask("delayed").delayed(merged, pure=False)
    while len(summaries) > 1:
        groups = range(0, len(summaries), FAN_IN)
        summaries = [merge(*summaries[low : low + FAN_IN]) for low in groups]
    return summaries[0]
