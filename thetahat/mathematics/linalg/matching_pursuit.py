"""Orthogonal matching pursuit: add one column at a time and refit all coefficients.

    j ← argmax |xⱼᵀr| over the columns not yet chosen,   A ← A ∪ {j},
    β_A ← argmin ‖y − X_A β_A‖²,   r ← y − X_A β_A

After each refit r is orthogonal to the chosen columns. The non-negative pursuit uses argmax xⱼᵀr
instead and refits under β ≥ 0; a column whose coefficient becomes 0 in the refit is removed. If it
is not stopped early, it solves non-negative least squares.

With the Gram matrix a step costs O(|A|·d), for any number of targets at once; with the rows it
costs O(n·d) and needs no d × d matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thetahat import _native
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import ordered_map, scipy_linalg
from thetahat.foundation.types import Array, Matrix

UNCORRELATED = 64 * EPSILON
"""|xⱼᵀr| up to this share of ‖xⱼ‖‖y‖ counts as rounding error."""
DEPENDENT = 1e-13
"""A share of ‖xⱼ‖² outside the span of the chosen columns up to this counts as rounding error."""
TARGETS_AT_ONCE = 256
"""Number of targets in one task, fixed so that results do not depend on the number of threads."""


@dataclass(frozen=True)
class Pursuit:
    """The result of the pursuit, one row per target."""

    coef: Array
    """β of shape (targets, d)."""
    residual: Array
    """‖y − Xβ‖² of each target."""
    columns: Array
    """The number of columns in use at the end."""
    steps: Array
    """The number of refits; more than the columns where some were removed again."""
    path: Array | None = None
    """β after each step, (targets, most, d); constant after the last step of a target."""


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
    """Matching pursuit for targets with Xᵀy in the rows of `correlation` and ‖y‖² in `squares`.

    A target ends after `most` columns, when ‖r‖² ≤ tolerance, or when no remaining column is
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

    pieces = ordered_map(work, range(0, len(correlation), TARGETS_AT_ONCE))
    return _together(np.concatenate, list(pieces))


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
    """The same on one thread, for contiguous float64 arrays: one task of a larger computation."""
    if positive:
        found = [
            _pursue_non_negative(gram, c, float(square), most, tolerance, keep_path)
            for c, square in zip(correlation, squares, strict=True)
        ]
        return _together(np.stack, found)
    count, d = correlation.shape
    coef, residual = np.zeros((count, d)), np.empty(count)
    steps = np.empty(count, dtype=np.int64)
    flat = np.zeros((count * most if keep_path else 0, d))
    _native.matching_pursuit(
        gram, correlation, squares, most, tolerance, coef, residual, steps, flat
    )
    if not keep_path:
        return Pursuit(coef, residual, steps, steps)
    path = flat.reshape(count, most, d)
    for one, taken in zip(path, steps, strict=True):
        one[taken:] = one[taken - 1] if taken else 0.0
    return Pursuit(coef, residual, steps, steps, path)


def pursue_rows(
    X: Matrix,
    y: Array,
    root: Array | None,
    centre: Array,
    most: int,
    tolerance: float = -1.0,
    *,
    keep_path: bool = False,
) -> Pursuit:
    """The same from the rows of X, for targets y (n, k) that are already centred.

    `root` contains the square roots of the weights, `centre` the means that are subtracted from the
    columns. Then Σ w·r = 0, so that xⱼᵀr needs no centred copy of X.
    """

    def work(target: int) -> Pursuit:
        return _pursue_rows(X, y[:, target], root, centre, most, tolerance, keep_path)

    return _together(np.stack, list(ordered_map(work, range(y.shape[1]))))


def _pursue_rows(
    X: Matrix,
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
        # Projected twice: once is not accurate enough for a column that is nearly in the span.
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
    taken = np.asarray(len(active))
    return Pursuit(coef, np.asarray(left), taken, taken, path)


def _back_substituted(factor: Array, shares: Array, size: int) -> Array:
    solve_triangular = scipy_linalg().solve_triangular

    return solve_triangular(factor[:size, :size], shares[:size]) if size else np.zeros(0)


def _column(X: Matrix, j: int) -> Array:
    column = X[:, [j]]
    return (column if isinstance(column, np.ndarray) else column.toarray())[:, 0]


def _column_squares(X: Matrix, scale: Array, centre: Array) -> Array:
    """Σ w·(x − centre)² without a centred copy; its accuracy is sufficient for a threshold."""
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
    barred, steps = np.zeros(d, dtype=bool), 0
    while np.count_nonzero(coef) < most and left > tolerance:
        j = int(np.where((coef > 0) | barred, -np.inf, slope).argmax())
        if coef[j] > 0 or barred[j] or not slope[j] > floor[j]:
            break
        tried = _refitted(gram, c, coef, j)
        now = square - 2.0 * float(c @ tried) + float(tried @ (gram @ tried))
        if not now < left:  # the column depends linearly on those chosen
            barred[j] = True
            continue
        coef, left, steps = tried, max(now, 0.0), steps + 1
        slope = c - gram @ coef
        if path is not None:
            path[np.count_nonzero(coef) - 1 :] = coef
    columns = np.asarray(np.count_nonzero(coef))
    return Pursuit(coef, np.asarray(left), columns, np.asarray(steps), path)


def _refitted(gram: Array, c: Array, coef: Array, j: int) -> Array:
    """Non-negative least squares on the support of `coef` and column j, starting from `coef`.

    Moves towards the unconstrained optimum as far as β ≥ 0 allows and removes the columns that
    reach 0.
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


def _together(put: Callable[..., Array], found: list[Pursuit]) -> Pursuit:
    return Pursuit(
        put([one.coef for one in found]),
        put([one.residual for one in found]),
        put([one.columns for one in found]),
        put([one.steps for one in found]),
        None if found[0].path is None else put([one.path for one in found]),
    )
