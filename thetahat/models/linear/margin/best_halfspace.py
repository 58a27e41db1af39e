"""The halfspace with the fewest errors, by exhaustive search: the 0-1 loss minimised exactly.

    min over w, b of Σ wtᵢ·1[yᵢ(wᵀxᵢ + b) ≤ 0]

The problem is NP-hard in the number of columns, which is why classifiers minimise surrogates. But
hyperplanes can split the rows in few ways only: every split by a halfspace is also made by a
hyperplane through d of the rows, tilted slightly to decide the side of the rows on it. So all
planes through d rows are tried; the rows on a plane are split by the same search in one dimension
less.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np

from thetahat.data.source import row_weights
from thetahat.foundation.errors import DataError, MemoryBudgetError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array

MOST_PLANES = 2_000_000
"""Largest number of planes through d rows that are tried."""
CHUNK = 4096
"""Number of planes evaluated together."""
ON_THE_PLANE = 1e-9
"""Distance below which a row counts as lying on a plane, relative to the extent of the rows."""


@dataclass(frozen=True)
class Halfspace:
    """A halfspace wᵀx + b > 0 and its number of errors.

    Formula: ŷ = sign(wᵀx + b). Cost: O(d).

    Attributes
    ----------
    coef : array of shape (d,)
        Normal vector of the hyperplane (w).
    intercept : float
        Intercept of the score (b).
    error : float
        Total weight of the errors, Σ wtᵢ·1[yᵢ(wᵀxᵢ + b) ≤ 0]; their number if all weights are 1.
    planes : int
        Number of planes that were tried.

    Examples
    --------
    >>> import thetahat as th
    >>> th.best_halfspace([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]).error
    1.0
    """

    coef: Array
    intercept: float
    error: float
    planes: int

    def score(self, X: Array) -> Array:
        """Compute the score wᵀx + b of each row. Cost: O(n d).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to evaluate, with one column per coefficient.

        Returns
        -------
        scores : array of shape (n,)
            Scores, positive inside the halfspace.
        """
        return np.asarray(X, dtype=np.float64) @ self.coef + self.intercept


def best_halfspace(X: Array, y: Array, sample_weight: Array | None = None) -> Halfspace:
    """Find the halfspace with the fewest errors by exhaustive search; for tiny problems only.

    Formula: min over w, b of Σ wtᵢ·1[yᵢ(wᵀxᵢ + b) ≤ 0]. The rows need not be separable (agnostic
    learning). Cost: O(n^{d+1}) time, because all planes through d of the n rows are tried. More
    than two million planes raise an error.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training data with few rows and columns.
    y : array-like of shape (n,)
        Class labels, which must be −1 and +1.
    sample_weight : array-like of shape (n,), optional
        Cost of an error on each row. None gives every row weight 1.

    Returns
    -------
    halfspace : Halfspace
        The halfspace with the smallest total weight of errors.

    Examples
    --------
    No line separates the corners of a square by parity, and one error is the best there is:

    >>> import numpy as np
    >>> import thetahat as th
    >>> corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> th.best_halfspace(corners, [-1, 1, 1, -1]).error
    1.0
    """
    rows, signs, cost = _checked(X, y, sample_weight)
    d = rows.shape[1]
    rank_rows = np.unique(rows, axis=0).shape[0]
    planes = comb(rank_rows, min(d, rank_rows))
    if planes > MOST_PLANES:
        raise MemoryBudgetError(
            f"best_halfspace: {rank_rows} different rows with {d} columns define {planes:.3g} "
            f"planes, but at most {MOST_PLANES:.3g} can be tried. Use fewer rows or columns, or "
            "minimise a surrogate loss with LinearSVC or LogisticRegression."
        )
    centre = rows.mean(axis=0)
    scale = float(np.abs(rows - centre).max()) or 1.0
    search = _Search()
    with one_blas_thread():
        theta = search.best((rows - centre) / scale, signs, cost)
    coef = theta[:-1] / scale
    intercept = float(theta[-1] - coef @ centre)
    wrong = signs * (rows @ coef + intercept) <= 0
    return Halfspace(coef, intercept, float(cost[wrong].sum()), search.planes)


class _Search:
    """Search over all planes through the rows, with smaller searches inside each plane."""

    def __init__(self) -> None:
        self.planes = 0

    def best(self, rows: Array, signs: Array, cost: Array) -> Array:
        """(w, b) with the smallest cost of errors on these rows, none of them on the plane."""
        origin = rows[0]
        _, spread, axes = np.linalg.svd(rows - origin)
        k = int(np.sum(spread > ON_THE_PLANE))
        majority = 1.0 if cost[signs > 0].sum() >= cost[signs < 0].sum() else -1.0
        constant = np.append(np.zeros(rows.shape[1]), majority)
        if k == 0:
            return constant
        inside = (rows - origin) @ axes[:k].T
        w, b = self._in_full_rank(inside, signs, cost, majority)
        coef = w @ axes[:k]
        return np.append(coef, b - coef @ origin)

    def _in_full_rank(
        self, rows: Array, signs: Array, cost: Array, majority: float
    ) -> tuple[Array, float]:
        k = rows.shape[1]
        least = float(cost[signs != majority].sum())
        found: tuple[Array, float] = (np.zeros(k), majority)
        _, first = np.unique(rows, axis=0, return_index=True)
        subsets = combinations(sorted(first.tolist()), k)
        seen: set[bytes] = set()
        while chunk := list(islice(subsets, CHUNK)):
            normals, offsets = planes_through(rows[np.array(chunk)])
            self.planes += len(chunk)
            heights = rows @ normals.T + offsets
            on = np.abs(heights) <= ON_THE_PLANE
            wrong = (np.sign(heights) * signs[:, None] < 0) & ~on
            flipped = (np.sign(heights) * signs[:, None] > 0) & ~on
            for side, errors in ((1.0, cost @ wrong), (-1.0, cost @ flipped)):
                for place in np.flatnonzero(errors < least - 1e-12 * abs(least)):
                    if not np.isfinite(normals[place]).all() or errors[place] >= least:
                        continue
                    key = on[:, place].tobytes() + bytes([side > 0])
                    if key in seen:
                        continue
                    seen.add(key)
                    touched = on[:, place]
                    tilt = self.best(rows[touched], signs[touched], cost[touched])
                    z = rows[touched] @ tilt[:-1] + tilt[-1]
                    total = errors[place] + float(cost[touched][z * signs[touched] <= 0].sum())
                    if total < least:
                        least = float(total)
                        plane = side * np.append(normals[place], offsets[place])
                        theta = tilted(plane, tilt, rows, ~touched)
                        found = theta[:-1], float(theta[-1])
        return found


def planes_through(points: Array) -> tuple[Array, Array]:
    """Unit normals and offsets of the planes through groups of k points; NaN if not unique.

    The normal of k points in k dimensions is the last right singular vector of their differences.
    """
    groups, k, _ = points.shape
    if k == 1:
        return np.ones((groups, 1)), -points[:, 0, 0]
    differences = points[:, 1:] - points[:, :1]
    _, sizes, axes = np.linalg.svd(differences)
    normals = axes[:, -1].copy()
    normals[sizes[:, -1] <= ON_THE_PLANE] = np.nan
    return normals, -np.sum(normals * points[:, 0], axis=1)


def tilted(plane: Array, tilt: Array, rows: Array, off: Array) -> Array:
    """The plane tilted slightly towards `tilt`, so that rows off the plane keep their side."""
    height = np.abs(rows[off] @ plane[:-1] + plane[-1])
    pull = np.abs(rows[off] @ tilt[:-1] + tilt[-1])
    room = float(np.min(height / np.maximum(pull, 1e-300), initial=np.inf))
    return plane + min(1.0, room / 2) * tilt


def _checked(X: Array, y: Array, sample_weight: Array | None) -> tuple[Array, Array, Array]:
    rows, signs = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] == 0 or signs.shape != rows.shape[:1]:
        raise DataError(
            "best_halfspace: X must have shape (n, d) and y (n,), but they have "
            f"{rows.shape} and {signs.shape}. Pass one label per row."
        )
    if not np.isfinite(rows).all():
        raise DataError("best_halfspace: X contains NaN or infinity. Drop those rows.")
    if not np.isin(signs, (-1.0, 1.0)).all():
        row = int(np.argmin(np.isin(signs, (-1.0, 1.0))))
        raise DataError(
            f"best_halfspace: y must be −1 or +1; row {row} is {signs[row]:g}. Use 2·y − 1 for "
            "labels 0 and 1, or th.data.LabelEncoding."
        )
    cost = np.asarray(row_weights(sample_weight, len(signs)), float)
    if cost.shape != signs.shape or not (np.isfinite(cost).all() and (cost >= 0).all()):
        raise DataError("best_halfspace: sample_weight must be one finite number ≥ 0 per row.")
    if not cost.sum() > 0:
        raise DataError(
            "best_halfspace: all weights are zero. Give at least one row a positive weight."
        )
    keep = cost > 0
    return rows[keep], signs[keep], cost[keep]
