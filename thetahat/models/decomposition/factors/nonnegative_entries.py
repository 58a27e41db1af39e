"""The check that no entry of the rows is negative."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thetahat.data.source import Source
from thetahat.foundation.errors import DataError


def require_nonnegative(
    source: Source, label: Callable[[int], str], *, who: str, remedy: str
) -> float:
    """The smallest entry of the rows; an error if it is negative. Cost: one pass."""
    smallest = np.inf
    for block in source.blocks():
        entries = block.X if isinstance(block.X, np.ndarray) else block.X.data
        least = float(entries.min(initial=np.inf))
        if least < 0:
            dense = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
            row, column = (int(each[0]) for each in np.nonzero(dense < 0))
            raise DataError(
                f"Negative values in data passed to {who}: column {label(column)}, row "
                f"{block.start + row} holds {dense[row, column]:g}. All entries must be at "
                f"least 0: {remedy}."
            )
        if entries.size < block.X.shape[0] * block.X.shape[1]:
            least = 0.0
        smallest = min(smallest, least)
    return smallest
