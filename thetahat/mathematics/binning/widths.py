"""Rules for the width of histogram bins."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, pi, sqrt
from typing import Any

import numpy as np

from thetahat.data.validation import as_weight
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.binning.costs import joint_cost, require_width

SCOTT = (24 * sqrt(pi)) ** (1 / 3)
"""3.4908302, the best factor for normal data; often rounded to 3.5."""
ALL_COUNTS, SOME_COUNTS, MOST_BINS = 100, 60, 2000
"""All numbers of bins up to the first are tried, and so many more up to the last."""
COSTS = ("shimazaki_shinomoto", "cross_validation")


def scott(x: Any, sample_weight: Any = None, *, n_columns: int = 1) -> float:
    """Compute Scott's width of histogram bins, which is the best for normal data.

    Formula: Δx = (24√π)^{1/3}·σ·N^{−1/3}, with σ² = Σ(x − x̄)²/N. In a grid of d columns the power
    of N is −1/(d + 2). Cost: O(n).

    Parameters
    ----------
    x : array-like of shape (n,)
        Finite numbers, of which at least two differ.
    sample_weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two equal rows (N is the sum of the weights).
    n_columns : int, default=1
        Number of columns of the grid (d). More columns give wider bins.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> round(th.binning.scott([-1.0, 1.0] * 500), 7)
    0.349083
    """
    values, weight = checked_values(x, sample_weight, "scott")
    # Relative to the range, so that squares of extreme numbers stay finite.
    low, size = values.min(), np.ptp(values)
    scaled = (values - low) / size
    mean = np.average(scaled, weights=weight)
    deviation = sqrt(float(np.average((scaled - mean) ** 2, weights=weight)))
    return float(SCOTT * deviation * size * weight.sum() ** (-1 / (n_columns + 2)))


def freedman_diaconis(x: Any, sample_weight: Any = None, *, n_columns: int = 1) -> float:
    """Compute Freedman's and Diaconis' width of histogram bins, which outliers hardly change.

    Formula: Δx = 2·IQR·N^{−1/3}, with the interquartile range IQR = x_[3N/4] − x_[N/4] of the
    ordered numbers. In a grid of d columns the power of N is −1/(d + 2). Where the interquartile
    range is 0, Scott's width is returned. Cost: O(n log n).

    Parameters
    ----------
    x : array-like of shape (n,)
        Finite numbers, of which at least two differ.
    sample_weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two equal rows (N is the sum of the weights).
    n_columns : int, default=1
        Number of columns of the grid (d). More columns give wider bins.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> width = th.binning.freedman_diaconis(np.linspace(0, 1, 1000))
    >>> round(1 / width)
    10
    """
    values, weight = checked_values(x, sample_weight, "freedman_diaconis")
    order = np.argsort(values, kind="stable")
    reached, total = np.cumsum(weight[order]), float(weight.sum())
    # A small margin, so that rounding of the sums does not skip a row.
    quartiles = np.searchsorted(reached, np.array([0.25, 0.75]) * total * (1 - 1e-12))
    low, high = values[order[np.minimum(quartiles, len(values) - 1)]]
    if not high > low:
        return scott(values, weight, n_columns=n_columns)
    return float(2 * (high - low) * total ** (-1 / (n_columns + 2)))


def shimazaki_shinomoto(x: Any, sample_weight: Any = None) -> float:
    """Compute the width of histogram bins with the smallest Shimazaki-Shinomoto cost.

    Formula: Δx = argmin (2m − v)/Δx², with the mean m and the variance v of the bin counts; see
    `shimazaki_shinomoto_cost`. Widths are those that divide the range into whole numbers of bins.
    Cost: O(n log n).

    Parameters
    ----------
    x : array-like of shape (n,)
        Finite numbers, of which at least two differ.
    sample_weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two equal rows.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> x = np.concatenate([np.linspace(0, 1, 90), np.linspace(1, 4, 30)])
    >>> th.binning.shimazaki_shinomoto(x)
    1.0
    """
    return best_width(x, "shimazaki_shinomoto", sample_weight=sample_weight)


def cross_validation(x: Any, sample_weight: Any = None) -> float:
    """Compute the width of histogram bins with the smallest leave-one-out error.

    Formula: Δx = argmin 2/((N − 1)Δx) − (N + 1)/((N − 1)N²Δx)·Σ_l N_l²; see `leave_one_out_cost`.
    Widths are those that divide the range into whole numbers of bins. Cost: O(n log n).

    Parameters
    ----------
    x : array-like of shape (n,)
        Finite numbers, of which at least two differ.
    sample_weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two equal rows.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> x = np.concatenate([np.linspace(0, 1, 90), np.linspace(1, 4, 30)])
    >>> th.binning.cross_validation(x)
    1.0
    """
    return best_width(x, "cross_validation", sample_weight=sample_weight)


def best_width(
    x: Any,
    cost: str | Callable[[Array, float], float] = "cross_validation",
    widths: Any = None,
    sample_weight: Any = None,
) -> float:
    """Search a grid of widths for the one with the smallest cost.

    Formula: Δx = argmin cost(N_1 … N_L, Δx), where bin l = ⌊(x − x_min)/Δx⌋. Cost: O(n log n) and
    O(number of bins) for every width.

    Parameters
    ----------
    x : array-like of shape (n,)
        Finite numbers, of which at least two differ.
    cost : {"cross_validation", "shimazaki_shinomoto"} or callable, default="cross_validation"
        What is minimised: the name of a rule, or a function of the counts and the width.
    widths : array-like, optional
        Widths to compare; positive numbers. By default the range divided by 1, 2, 3, …, up to the
        number of rows or 2,000.
    sample_weight : array-like of shape (n,), optional
        Row weights. A row of weight 2 counts as two equal rows.

    Returns
    -------
    float
        The best width; the largest of those with the same cost.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> x = np.concatenate([np.linspace(0, 1, 90), np.linspace(1, 4, 30)])
    >>> th.binning.best_width(x, lambda counts, width: abs(width - 0.7), widths=[0.5, 1.0])
    0.5
    """
    values, weight = checked_values(x, sample_weight, "best_width")
    if not callable(cost) and cost not in COSTS:
        raise ParameterError(
            f"best_width: cost={cost!r} must be one of {COSTS} or a function of counts and width."
        )
    order = np.argsort(values, kind="stable")
    values, size = values[order], float(np.ptp(values))
    reached = np.concatenate([[0.0], np.cumsum(weight[order])])
    total = float(reached[-1])
    if cost == "cross_validation" and not total > 1:
        raise DataError(
            f"best_width: the weights sum to {total:g}, so that no row is left when one is left "
            "out. Give more than one row, or weights that are numbers of rows."
        )
    if widths is None:
        tried = [size / k for k in bin_counts(total)]
    else:
        tried = np.atleast_1d(numbers(widths, "widths", "best_width")).ravel().tolist()
        if not tried:
            raise ParameterError("best_width: widths is empty. Give at least one width.")
        for each in tried:
            require_width(each)
    found: list[tuple[float, float]] = []
    for width in tried:
        n_bins = max(1, ceil(size / width * (1 - 1e-12)))
        if n_bins > MOST_BINS**2:
            raise ParameterError(
                f"best_width: width={width:g} gives {n_bins} bins. Give widths that divide the "
                f"range {size:g} into at most {MOST_BINS**2} bins."
            )
        inner = values[0] + width * np.arange(1, n_bins)
        ends = np.searchsorted(values, inner)
        counts = np.diff(reached[np.concatenate([[0], ends, [len(values)]])])
        if callable(cost):
            value = _cost_value(cost(counts, width), width)
        else:
            value = joint_cost(cost, float(counts @ counts), total, n_bins, width)
        found.append((value, -width))
    return float(-min(found)[1])


def _cost_value(given: Any, width: float) -> float:
    """The value of a user's cost as a number; NaN is refused."""
    found = numbers(given, "cost(counts, width)", "best_width", finite=None)
    if found.size != 1 or np.isnan(found).any():
        what = f"shape {found.shape}" if found.size != 1 else "NaN"
        raise ParameterError(
            f"best_width: cost must return one number, infinity at worst, but it returned {what} "
            f"for the width {width:g}. Return infinity for widths that are not to be chosen."
        )
    return float(found.reshape(()))


def bin_counts(total: float) -> list[int]:
    """Numbers of bins that a search tries, for so many rows."""
    most = int(min(max(total, 2), MOST_BINS))
    tried = set(range(1, min(most, ALL_COUNTS) + 1))
    if most > ALL_COUNTS:
        tried.update(np.rint(np.geomspace(ALL_COUNTS, most, SOME_COUNTS)).astype(int).tolist())
    return sorted(tried)


def checked_values(x: Any, sample_weight: Any, who: str) -> tuple[Array, Array]:
    """Numbers of positive weight and their weights, for which a width exists."""
    values = numbers(x, "x", f"binning.{who}")
    if values.ndim != 1:
        raise DataError(
            f"binning.{who}: x has shape {values.shape}, but it must be one column of numbers."
        )
    weight = np.ones(len(values))
    if sample_weight is not None:
        weight = np.asarray(as_weight(sample_weight, len(values), who), dtype=np.float64)
        values, weight = values[weight > 0], weight[weight > 0]
    with np.errstate(over="ignore"):
        size = np.ptp(values) if values.size else 0.0
    if not 0 < size < np.inf:
        raise DataError(
            f"binning.{who}: the {values.size} numbers of x have the range {size:g}, so that no "
            "bin has a width. Give at least two different numbers whose difference is finite."
        )
    return values, weight
