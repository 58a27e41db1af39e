"""Targets of shape (n, 1), converted to shape (n,)."""

from __future__ import annotations

from typing import Any

import numpy as np


def one_column(y: Any) -> Any:
    """The targets unchanged, except that a single column (also of a table) becomes (n,).

    Compared with predictions of shape (n,), a column would be broadcast to (n, n) silently.
    """
    shape = np.shape(y)
    return np.asarray(y).ravel() if len(shape) == 2 and shape[1] == 1 else y
