"""What a histogram costs, from the counts of its bins: smaller is better.

Both costs estimate the integrated squared error ∫(p̂ − p*)² up to the constant ∫p*², from the number
of rows N, the number of cells L, their volume V, and Σ_l N_l².
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array


def shimazaki_shinomoto_cost(counts: Any, width: float) -> float:
    """Compute Shimazaki's and Shinomoto's cost (2m − v)/Δx² of a histogram.

    Here m is the mean and v the variance (divided by the number of bins) of the counts, empty bins
    included. The width with the smallest cost is the best. Cost: O(number of bins).

    Parameters
    ----------
    counts : array-like of shape (n_bins,)
        Number of rows in every bin (N_l), or their total weight.
    width : float
        The width of the bins (Δx). Must be positive.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> th.binning.shimazaki_shinomoto_cost([1, 4, 1], width=0.5)
    8.0
    """
    found = _counts(counts, "counts", width)
    return joint_cost("shimazaki_shinomoto", float(found @ found), found.sum(), found.size, width)


def leave_one_out_cost(counts: Any, width: float) -> float:
    """Compute the leave-one-out estimate of the integrated squared error, up to ∫p*².

    Formula: Σ_l p̂_l²Δx − 2/N·Σ_i p̂₋ᵢ(x_i) = 2/((N − 1)Δx) − (N + 1)/((N − 1)N²Δx)·Σ_l N_l², where
    p̂₋ᵢ is the histogram without row i. Cost: O(number of bins).

    Parameters
    ----------
    counts : array-like of shape (n_bins,)
        Number of rows in every bin (N_l), or their total weight. The total must exceed 1.
    width : float
        The width of the bins (Δx). Must be positive.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> th.binning.leave_one_out_cost([1, 4, 1], width=0.5)
    -0.6
    """
    found = _counts(counts, "counts", width)
    if not found.sum() > 1:
        raise DataError(
            f"leave_one_out_cost: the counts sum to {found.sum():g}, so that no row is left when "
            "one is left out. Give more than one row."
        )
    return joint_cost("cross_validation", float(found @ found), found.sum(), found.size, width)


def held_out_distance(counts: Any, held_out_counts: Any, width: float) -> float:
    """Compute the squared distance of two histograms with the same bins.

    Formula: Σ_l (N_l/N − M_l/M)²/Δx, the integral of the squared difference of the two densities.
    It is 0 for a single bin, so that it must not be minimised over Δx by itself: the distance minus
    Σ_l (M_l/M)²/Δx estimates the integrated squared error. Cost: O(number of bins).

    Parameters
    ----------
    counts : array-like of shape (n_bins,)
        Number of training rows in every bin (N_l).
    held_out_counts : array-like of shape (n_bins,)
        Number of held-out rows in every bin (M_l).
    width : float
        The width of the bins (Δx). Must be positive.

    Returns
    -------
    float

    Examples
    --------
    >>> import thetahat as th
    >>> th.binning.held_out_distance([3, 1], [1, 1], width=0.5)
    0.25
    """
    first = _counts(counts, "counts", width)
    second = _counts(held_out_counts, "held_out_counts", width)
    if first.shape != second.shape:
        raise DataError(
            f"held_out_distance: counts has {first.size} bins, but held_out_counts has "
            f"{second.size}. Count both in the same bins."
        )
    return float(np.square(first / first.sum() - second / second.sum()).sum() / width)


def joint_cost(cost: str, squares: float, total: float, n_cells: float, volume: float) -> float:
    """A cost from Σ N_l², N, L and V, for cells of any dimension."""
    if cost == "shimazaki_shinomoto":
        mean = total / n_cells
        return float((2 * mean - (squares / n_cells - mean * mean)) / volume / volume)
    return float((2 - (total + 1) * squares / total / total) / (total - 1) / volume)


def _counts(counts: Any, name: str, width: float) -> Array:
    found = numbers(counts, name, "binning")
    if found.ndim != 1 or not found.size or (found < 0).any() or not found.sum() > 0:
        raise DataError(
            f"binning: {name} must be numbers ≥ 0, one per bin, with a positive sum; got "
            f"{counts!r:.80}."
        )
    require_width(width)
    return found


def require_width(width: Any) -> None:
    """Refuse a width that is not a positive number."""
    if not isinstance(width, int | float | np.number) or not 0 < width < np.inf:
        raise ParameterError(f"binning: width={width!r} must be a positive finite number.")
