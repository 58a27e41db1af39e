"""Targets that come as a column, (n, 1), instead of as (n,): the same n values."""

from __future__ import annotations

from typing import Any

import numpy as np


def one_column(y: Any) -> Any:
    """Targets as they are, save that a single column, also that of a table, becomes (n,).

    Compared with predictions of shape (n,), a column would spread to (n, n) without a word.
    """
    shape = np.shape(y)
    return np.asarray(y).ravel() if len(shape) == 2 and shape[1] == 1 else y
