"""A distance from a Python function of two rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.arrays import read_only
from thetahat.foundation.arguments import returned_numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.distances.base import Distance


@dataclass(frozen=True)
class Custom(Distance):
    """The distance f(x, y) of your own function.

    The function need not be a metric: nothing but the values is used, so that all pairs are
    computed. Infinity is allowed and means as far as possible. Cost: one call per pair.

    Parameters
    ----------
    function : callable
        Function of two rows, arrays of shape (d,), that returns their distance as a number.

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.Custom(lambda x, y: abs(x[0] - y[0])).pairwise([[1.0]], [[4.0], [9.0]])
    array([[3., 8.]])
    """

    function: Callable[[Any, Any], float]

    name = "custom"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(
                f"Custom(function={self.function!r}): must be a function of two rows."
            )

    def _between_all(self, X: Array, Y: Array) -> Array:
        X, Y = read_only(X), read_only(Y)
        found = np.empty((X.shape[0], Y.shape[0]))
        for i, x in enumerate(X):
            row = [self.function(x, y) for y in Y]
            values = returned_numbers(row, "The distance function")
            if values.shape != (len(Y),):
                raise DataError(
                    f"The distance function returned shape {values.shape[1:]} instead of a number. "
                    "It must return one number for two rows."
                )
            found[i] = values
        if np.isnan(found).any():
            i, j = np.argwhere(np.isnan(found))[0].tolist()
            raise DataError(
                f"The distance function returned NaN for row {i} of the first and row {j} of the "
                "second rows. It must return a number, or infinity."
            )
        if found.size and found.min() < 0:
            i, j = np.argwhere(found < 0)[0].tolist()
            raise DataError(
                f"The distance function returned {found[i, j]:g} for row {i} of the first and row "
                f"{j} of the second rows. A distance must be ≥ 0."
            )
        return found
