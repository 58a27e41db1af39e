"""Orthogonal matching pursuit: one column after another, all coefficients refitted each time.

    j ← argmax |xⱼᵀr| over the columns not yet taken,   A ← A ∪ {j},
    β_A ← argmin ‖y − X_A β_A‖²,   r ← y − X_A β_A

After each refit r is orthogonal to the columns taken. The non-negative pursuit takes argmax xⱼᵀr
instead and refits under β ≥ 0; a column whose coefficient the refit sets to 0 is given back. Taken
to the end it solves non-negative least squares.

From the Gram matrix a step costs O(|A|·d), for any number of targets side by side; from the rows
O(n·d), without a d × d matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import ordered_map, scipy_linalg
from thetahat.foundation.types import Array

EPSILON = np.finfo(np.float64).eps
UNCORRELATED = 64 * EPSILON
"""|xⱼᵀr| up to this share of ‖xⱼ‖‖y‖ is rounding."""
DEPENDENT = 1e-13
"""The share of ‖xⱼ‖² outside the columns taken that is rounding."""
TARGETS_AT_ONCE = 256
"""Targets in one piece of work, so that the pieces depend on the problem alone."""


@dataclass(frozen=True)
class Pursuit:
    """What the pursuit of each target found, one row per target."""

    coef: Array
    """β of shape (targets, d)."""
    residual: Array
    """‖y − Xβ‖² of each."""
    steps: Array
    """How many columns were taken."""
    path: Array | None = None
    """β after each step, (targets, most, d); after the last step it stays as it was."""


def pursue(
    gram: Array,
    correlation: Array,
    squares: Array,
    most: int,
    tolerance: float = -1.0,
    *,
    positive: bool = False,
    keep_path: bool = False,
) -> Pursuit:
    """Pursue the targets whose Xᵀy are the rows of `correlation` and whose ‖y‖² are `squares`.

    Each ends after `most` columns, or when ‖r‖² ≤ tolerance, or when no column is left that is
    correlated with r.
    """
    gram = np.ascontiguousarray(gram, dtype=np.float64)
    correlation = np.ascontiguousarray(correlation, dtype=np.float64)
    squares = np.ascontiguousarray(squares, dtype=np.float64)

    def work(start: int) -> Pursuit:
        part = slice(start, start + TARGETS_AT_ONCE)
        return pursue_piece(
            gram,
            correlation[part],
            squares[part],
            most,
            tolerance,
            positive=positive,
            keep_path=keep_path,
        )

    return _joined(list(ordered_map(work, range(0, len(correlation), TARGETS_AT_ONCE))))


def pursue_piece(
    gram: Array,
    correlation: Array,
    squares: Array,
    most: int,
    tolerance: float = -1.0,
    *,
    positive: bool = False,
    keep_path: bool = False,
) -> Pursuit:
    """The same on one thread, for contiguous float64 arrays: a piece of somebody's larger work."""
    if positive:
        return _stacked(
            [
                _pursue_non_negative(gram, c, float(square), most, tolerance, keep_path)
                for c, square in zip(correlation, squares, strict=True)
            ]
        )
    count, d = correlation.shape
    coef, residual = np.zeros((count, d)), np.empty(count)
    steps = np.empty(count, dtype=np.int64)
    flat = np.zeros((count * most if keep_path else 0, d))
    _native.matching_pursuit(
        gram, correlation, squares, most, tolerance, coef, residual, steps, flat
    )
    if not keep_path:
        return Pursuit(coef, residual, steps)
    path = flat.reshape(count, most, d)
    for one, taken in zip(path, steps, strict=True):
        one[taken:] = one[taken - 1] if taken else 0.0
    return Pursuit(coef, residual, steps, path)


def pursue_rows(
    X: Array,
    y: Array,
    root: Array | None,
    centre: Array,
    most: int,
    tolerance: float = -1.0,
    *,
    keep_path: bool = False,
) -> Pursuit:
    """The same from the rows themselves, for targets y (n, k) that are centred already.

    `root` are the square roots of the weights, `centre` the column means that the columns are taken
    about. Σ w·r = 0 then, so that xⱼᵀr needs no centred copy of X.
    """

    def work(target: int) -> Pursuit:
        return _pursue_rows(X, y[:, target], root, centre, most, tolerance, keep_path)

    return _stacked(list(ordered_map(work, range(y.shape[1]))))


def _pursue_rows(
    X: Array,
    y: Array,
    root: Array | None,
    centre: Array,
    most: int,
    tolerance: float,
    keep_path: bool,
) -> Pursuit:
    d = X.shape[1]
    scale = np.ones(len(y)) if root is None else root
    residual = y * scale
    total = left = float(residual @ residual)
    length = np.sqrt(_column_squares(X, scale, centre))
    open_columns = np.ones(d, dtype=bool)
    basis, factor = np.zeros((len(y), most)), np.zeros((most, most))
    shares, active = np.zeros(most), list[int]()
    path = np.zeros((most, d)) if keep_path else None
    while len(active) < most and left > tolerance:
        slope = np.where(open_columns, np.abs(X.T @ (scale * residual)), -1.0)
        j = int(slope.argmax())
        if not slope[j] > UNCORRELATED * length[j] * np.sqrt(total):
            break
        open_columns[j] = False
        size = len(active)
        taken, column = basis[:, :size], (_column(X, j) - centre[j]) * scale
        # Projected out twice: once is not enough when the column nearly lies in their span.
        part = taken.T @ column
        column = column - taken @ part
        again = taken.T @ column
        column = column - taken @ again
        norm = float(np.linalg.norm(column))
        if norm**2 <= DEPENDENT * length[j] ** 2:
            continue
        factor[:size, size], factor[size, size] = part + again, norm
        basis[:, size] = column / norm
        shares[size] = basis[:, size] @ residual
        residual = residual - shares[size] * basis[:, size]
        left = float(residual @ residual)
        active.append(j)
        if path is not None:
            path[size:, :] = 0.0
            path[size:, active] = _back_substituted(factor, shares, size + 1)
    coef = np.zeros(d)
    coef[active] = _back_substituted(factor, shares, len(active))
    return Pursuit(coef, np.asarray(left), np.asarray(len(active)), path)


def _back_substituted(factor: Array, shares: Array, size: int) -> Array:
    solve_triangular = scipy_linalg().solve_triangular

    return solve_triangular(factor[:size, :size], shares[:size]) if size else np.zeros(0)


def _column(X: Array, j: int) -> Array:
    column = X[:, [j]]
    return (column if isinstance(column, np.ndarray) else column.toarray())[:, 0]


def _column_squares(X: Array, scale: Array, centre: Array) -> Array:
    """Σ w·(x − centre)², without a centred copy; up to rounding, which suffices for a threshold."""
    weight = scale**2
    squared = X.multiply(X) if not isinstance(X, np.ndarray) else X * X
    about_zero = squared.T @ weight
    about_centre = about_zero - 2 * centre * (X.T @ weight) + centre**2 * weight.sum()
    return np.maximum(about_centre, EPSILON * about_zero)


def _pursue_non_negative(
    gram: Array, c: Array, square: float, most: int, tolerance: float, keep_path: bool
) -> Pursuit:
    d = len(c)
    coef, slope, left = np.zeros(d), c.copy(), square
    path = np.zeros((most, d)) if keep_path else None
    floor = UNCORRELATED * np.sqrt(np.diagonal(gram) * square)
    barred = np.zeros(d, dtype=bool)
    while np.count_nonzero(coef) < most and left > tolerance:
        j = int(np.where((coef > 0) | barred, -np.inf, slope).argmax())
        if coef[j] > 0 or barred[j] or not slope[j] > floor[j]:
            break
        tried = _refitted(gram, c, coef, j)
        now = square - 2.0 * float(c @ tried) + float(tried @ (gram @ tried))
        if not now < left:  # a column that depends on those taken
            barred[j] = True
            continue
        coef, left = tried, max(now, 0.0)
        slope = c - gram @ coef
        if path is not None:
            path[np.count_nonzero(coef) - 1 :] = coef
    return Pursuit(coef, np.asarray(left), np.asarray(np.count_nonzero(coef)), path)


def _refitted(gram: Array, c: Array, coef: Array, j: int) -> Array:
    """Non-negative least squares on the support of `coef` and column j, from `coef` on.

    Towards the free optimum as far as β ≥ 0 allows; what meets the bound is given back.
    """
    cho_solve, cholesky = scipy_linalg().cho_solve, scipy_linalg().cholesky

    active = np.flatnonzero((coef > 0) | (np.arange(len(c)) == j))
    here, result = coef[active], np.zeros_like(coef)
    while active.size:
        block = gram[np.ix_(active, active)]
        try:
            factor = cholesky(block, lower=True)
        except np.linalg.LinAlgError:
            return coef
        if np.any(np.diagonal(factor) ** 2 <= DEPENDENT * np.diagonal(block)):
            return coef
        free = cho_solve((factor, True), c[active])
        if np.all(free > 0):
            here = free
            break
        falling = np.flatnonzero(free <= 0)
        drop = here[falling] - free[falling]
        shares = np.where(drop > 0, here[falling] / np.where(drop > 0, drop, 1.0), 0.0)
        here = here + shares.min() * (free - here)
        here[falling[shares.argmin()]] = 0.0
        active, here = active[here > 0], here[here > 0]
    result[active] = here
    return result


def _stacked(found: list[Pursuit]) -> Pursuit:
    return _together(np.stack, found)


def _joined(found: list[Pursuit]) -> Pursuit:
    return _together(np.concatenate, found)


def _together(put: Callable[..., Array], found: list[Pursuit]) -> Pursuit:
    return Pursuit(
        put([one.coef for one in found]),
        put([one.residual for one in found]),
        put([one.steps for one in found]),
        None if found[0].path is None else put([one.path for one in found]),
    )
