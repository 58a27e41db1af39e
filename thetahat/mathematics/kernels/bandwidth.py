"""The bandwidth of a kernel from the data: typical distances between rows."""

from __future__ import annotations

from math import frexp, isfinite, ldexp
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from thetahat.data.arrays import to_host
from thetahat.data.validation import as_weight
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.gram import rows_as_matrix
from thetahat.mathematics.kernels.pairs import squared_distances, squared_norms

MOST_ROWS = 1000
"""Rows whose distances are computed; the median of a sample this large is accurate to percents."""
ORDINARY = (1e-15, 1e15)
"""Half the spread of a column within which squared differences are numbers in every precision."""


def bandwidth(
    X: Any, rule: str = "median", *, sample_weight: Any = None, random_state: Any = 0
) -> float:
    """Choose the bandwidth of a kernel from the spread of the rows.

    Formula: "median" is the median of ‖xᵢ − xⱼ‖ over pairs of different rows; "std" is
    √(Σⱼ Var(xⱼ)), the root mean squared distance of a row from the mean. Both have the unit of the
    columns, as σ has (a variance would not). They are a start for a search by cross-validation, not
    an optimum. Cost: O(m² d) for m = 1,000 rows that are drawn at random, or O(n d).

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows, whose columns should have comparable units.
    rule : {"median", "std"}, default="median"
        The rule to use. The median is not affected by a few distant rows.
    sample_weight : array-like of shape (n,), optional
        Row weights, for the rule "std". Rows of weight 0 are left out by both rules.
    random_state : int, Generator or None, default=0
        Seed for drawing the rows if there are more than 1,000. Pass an int for the same result on
        every call.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> rows = [[0.0], [1.0], [3.0]]
    >>> th.kernels.bandwidth(rows)
    2.0
    >>> th.kernels.RBF(sigma=th.kernels.bandwidth(rows))
    RBF(sigma=2.0)
    """
    if rule not in ("median", "std"):
        raise ParameterError(f"bandwidth: rule={rule!r} must be 'median' or 'std'.")
    rows = rows_as_matrix(X, "bandwidth")
    weight = np.ones(rows.shape[0])
    if sample_weight is not None:
        weight = as_weight(sample_weight, rows.shape[0], "bandwidth")
        rows, weight = rows[weight > 0], weight[weight > 0]
    rows, unit = _in_own_units(rows)
    found = deviation(rows, weight) if rule == "std" else _median(rows, random_state)
    found *= unit
    if not found > 0:
        raise DataError(
            f"bandwidth: all {rows.shape[0]} rows are equal (or there is only one), so that there "
            "is no distance to choose the bandwidth from. Give the bandwidth yourself, such as "
            "th.kernels.RBF(sigma=1.0)."
        )
    return found


def _in_own_units(rows: Matrix) -> tuple[Matrix, float]:
    """Multiples of the rows whose squared differences are numbers, and their unit.

    The unit is a power of two, by which no digit of ordinary rows changes. Cost: O(n d).
    """
    values: Any = rows if is_array_api_obj(rows) else np.asarray(rows.data)[:, None]
    if not values.shape[0]:
        return rows, 1.0
    xp = array_namespace(values)
    # Halves, because the difference of two large numbers may not be finite.
    high, low = 0.5 * xp.max(values, axis=0), 0.5 * xp.min(values, axis=0)
    if not is_array_api_obj(rows):  # zeros are entries, too
        high, low = xp.clip(high, 0.0, None), xp.clip(low, None, 0.0)
    half = float(xp.max(high - low))
    if not isfinite(half):
        raise DataError(
            "bandwidth: X holds NaN or infinity, but distances need finite numbers. Drop those "
            "rows or replace the values."
        )
    if half == 0 or ORDINARY[0] <= half <= ORDINARY[1]:
        return rows, 1.0
    unit = ldexp(1.0, max(frexp(half)[1], -1022))
    if getattr(rows, "dtype", None) == np.float32:
        rows = rows.astype(np.float64)
    return rows / unit, unit


def _median(rows: Matrix, random_state: Any) -> float:
    n = rows.shape[0]
    if n > MOST_ROWS:
        chosen = np.sort(generator(random_state).choice(n, size=MOST_ROWS, replace=False))
        rows = rows[chosen]
    squares = to_host(squared_distances(rows, rows))
    pairs = squares[np.triu_indices(len(squares), k=1)]
    if not pairs.size:
        return 0.0
    middle = _median_of_squares(pairs)
    # With many equal rows the median is 0; the other pairs still have a typical distance.
    scale = float(np.finfo(squares.dtype).eps) * float(squares.max())
    if middle <= 100 * scale:
        pairs = pairs[pairs > 100 * scale]
        middle = _median_of_squares(pairs) if pairs.size else 0.0
    return float(np.sqrt(middle))


def _median_of_squares(squares: Array) -> float:
    """The square of the median distance; of two middle distances, of their mean."""
    return float(np.median(np.sqrt(np.maximum(squares, 0.0)))) ** 2


def deviation(rows: Matrix, weight: Array) -> float:
    """√(Σⱼ Var(xⱼ)), the root mean squared distance from the mean."""
    if not is_array_api_obj(rows):
        mean = rows.T @ (weight / weight.sum())
        squares = float((squared_norms(rows) * weight).sum() / weight.sum())
        return max(0.0, squares - float((mean**2).sum())) ** 0.5
    rows = np.asarray(to_host(rows), dtype=np.float64)
    share = (weight / weight.sum())[:, None]
    mean = rows[0] + ((rows - rows[0]) * share).sum(axis=0)
    return float((((rows - mean) ** 2) * share).sum()) ** 0.5
