"""The partitions from which the rows of a tree learner are read."""

from __future__ import annotations

from typing import Any

from thetahat.data.distributed.dask_source import DaskSource
from thetahat.data.row_pieces import StreamedRows
from thetahat.data.views import View, as_given


def partitions_of(X: Any) -> DaskSource | None:
    """The source of rows on the workers of a cluster; None for rows that are elsewhere.

    The targets of the rows may be viewed in another way.
    """
    if not isinstance(X, StreamedRows):
        return None
    source = X.source
    if isinstance(source, View) and source.change is as_given:
        source = source.source
    return source if isinstance(source, DaskSource) else None
