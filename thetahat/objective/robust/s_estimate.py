"""The S-estimate on a sample of the rows, as a starting point that is robust to outliers.

    θ_S = argmin_θ s(θ),   (Σ wᵢ ρ(rᵢ(θ)/s))/(Σ wᵢ) = ½

with ρ Tukey's biweight, bounded by 1. s stays bounded if almost half of the rows are outliers, also
in X (leverage points). s has many local minima, so it is minimised from many starts:

- least squares and least absolute deviations of all rows;
- least squares of the half of the rows nearest to the medians of the columns;
- least squares of the half of the rows that is least extreme, or most to one side, along each
  principal component of their sensitivity (Peña and Yohai): how much each row moves the fit;
- planes through few random rows: with enough draws one of them contains no outlier. Beyond about
  20 parameters no feasible number of draws is enough, and none are made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from thetahat.foundation.precision import SUM_ROUNDING
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses.constants import TIE, weighted_quantile
from thetahat.mathematics.losses.residual.redescending import Tukey
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.programs.interior_point import InteriorPoint
from thetahat.mathematics.optimizers.programs.piecewise_linear import PiecewiseLinearSum
from thetahat.mathematics.optimizers.smooth.newton import newton_direction

BIWEIGHT = Tukey(1.54764)
"""With this scale half of the rows may be outliers, and s estimates σ of normal noise."""
ZERO = np.zeros(())
"""The target for residuals, which are passed to the loss as predictions."""
TOP = BIWEIGHT.scale**2 / 6
HALF = 0.5
TO_NORMAL = 1.482602218505602
EXPECTED_SHARE = 0.6
"""Share of rows without outliers that the number of random planes assumes."""
FEWEST_PLANES, MOST_PLANES = 50, 500
MOST_COMPONENTS = 20
FIRST_STEPS, FEWEST_STEPS, LAST_STEPS = 2, 5, 50
FINALISTS = 4
FEWEST_CLEAN_PLANES = 0.01
"""Expected number of planes without outliers below which none are drawn."""
MOST_WORK = 4e9
"""Largest number of products of each phase; it limits starts and steps for many columns."""
EXACT = 1e-10
"""Scales below this share of the spread of y count as 0, and so do rounding errors of its size."""
MANY = 64
"""Number of columns from which systems are solved one by one."""
ROUGH = 1e-3
"""Relative duality gap of a rough solution of least absolute deviations."""
SURELY_POSITIVE = 20.0
"""Scales above this multiple of the error of a rough solution are not 0 at the exact one."""
MOST_PRODUCTS = 1 << 22
"""Largest number of products of pairs of columns that are stored."""


def least_absolute(A: Array, y: Array, weight: Array, watch: Watch | None = None) -> Array:
    """argmin_θ Σ w|y − Aθ|."""
    lines = replace(PiecewiseLinearSum.of_matrix(A, y), weight=weight / np.sum(weight))
    return minimise(lines, InteriorPoint(), watch=watch).theta


def near_least_absolute(A: Array, y: Array, weight: Array, watch: Watch | None = None) -> Array:
    """θ near the least absolute deviations; exactly there if half of the rows may have r = 0.

    The exact solution is a vertex, and finding it takes longer than coming near it.
    """
    share = weight / np.sum(weight)
    lines = replace(PiecewiseLinearSum.of_matrix(A, y), weight=share)
    found = minimise(lines, InteriorPoint(), tolerance=ROUGH, watch=watch)
    error = found.gap * float(np.sum(share * abs(y)))
    if median_scale(y - A @ found.theta, weight) > SURELY_POSITIVE * error:
        return found.theta
    return least_absolute(A, y, weight, watch)


def median_scale(residual: Array, weight: Array) -> float:
    """1.4826·median |r|: the standard deviation if the noise is normal."""
    return TO_NORMAL * float(weighted_quantile(abs(residual), weight))


def median_scales(residuals: Array, weight: Array) -> Array:
    """The `median_scale` of each column."""
    sizes = abs(residuals)
    order = np.argsort(sizes, axis=0, kind="stable")
    below = np.cumsum(weight[order], axis=0)
    lowest = np.sum(below < (HALF - TIE) * below[-1], axis=0)
    highest = np.sum(below <= (HALF + TIE) * below[-1], axis=0)
    places = np.stack([lowest, np.minimum(highest, len(sizes) - 1)])
    low, high = np.take_along_axis(sizes, np.take_along_axis(order, places, axis=0), axis=0)
    return TO_NORMAL * (low + (high - low) / 2)


def smallest_scale(y: Array, weight: Array) -> float:
    """The scale below which residuals are rounding errors."""
    middle = float(weighted_quantile(y, weight))
    spread = float(np.sum(weight * abs(y - middle)) / np.sum(weight))
    return max(EXACT * spread, SUM_ROUNDING * abs(middle))


def s_estimate(
    A: Array, y: Array, weight: Array, random: np.random.Generator, watch: Watch | None = None
) -> Array:
    """θ_S of rows A with targets y and row weights; if time runs out, the best start so far.

    Cost: O(500·n p²) products for few columns. For many columns fewer starts and steps are used, so
    that it takes a few seconds.
    """
    weight = weight / np.sum(weight)
    watch = Watch() if watch is None else watch
    with one_blas_thread():
        starts = [least_squares(A, y, weight)]
        kinds: tuple[Callable[[], list[Array]], ...] = (
            lambda: [least_absolute(A, y, weight, watch)],
            lambda: _near_the_middle(A, y, weight),
            lambda: _by_sensitivity(A, y, weight),
            lambda: _through_random_rows(A, y, weight, random),
        )
        for kind in kinds:
            if not watch.is_over:
                starts += kind()
        first = _descend(A, y, weight, np.column_stack(starts), FIRST_STEPS, watch)
        order = np.lexsort((first[1], first[0]))[:FINALISTS]
        steps = int(np.clip(MOST_WORK / FINALISTS / _work(A), FEWEST_STEPS, LAST_STEPS))
        scales, sizes, thetas = _descend(A, y, weight, first[2][:, order], steps, watch)
        return thetas[:, np.lexsort((sizes, scales))[0]]


def _work(A: Array) -> float:
    """The number of products in a Gram matrix."""
    return float(A.shape[0] * A.shape[1] ** 2)


def _descend(
    A: Array, y: Array, weight: Array, thetas: Array, steps: int, watch: Watch
) -> tuple[Array, Array, Array]:
    """Reweighted least squares from many θ at once, each with one step for its scale.

    Returns s and the mean |r| of each θ, which decides if s is 0 for several planes. A θ
    that fits half of the rows exactly has s = 0 and stays: its residuals are rounding, and weights
    made of them would drop rows that it fits as well.
    """
    grams_of, smallest = _grams(A), smallest_scale(y, weight)

    def medians(residuals: Array) -> Array:
        scales = median_scales(residuals, weight)
        return np.where(scales > smallest, scales, 0.0)

    residuals = y[:, None] - A @ thetas
    scales = medians(residuals)
    for _ in range(steps):
        if watch.is_over:
            break
        units = residuals / np.where(scales > 0, scales, np.inf)
        share = weight @ BIWEIGHT.value(ZERO, units) / TOP
        scales = scales * np.sqrt(share / HALF)
        units = residuals / np.where(scales > 0, scales, np.inf)
        pull = weight[:, None] * BIWEIGHT.irls_weight(ZERO, units)
        rights = (A * y[:, None]).T @ pull
        moved = _solved(grams_of(pull), rights.T).T
        moved = np.where((scales > 0) & np.isfinite(moved).all(axis=0), moved, thetas)
        change = np.max(abs(moved - thetas), initial=0.0)
        thetas, residuals = moved, y[:, None] - A @ moved
        if change <= 1e-8 * np.max(abs(moved)):
            break
    return np.where(medians(residuals) > 0, scales, 0.0), weight @ abs(residuals), thetas


def _grams(A: Array) -> Callable[[Array], Array]:
    """weights (n, k) ↦ the k matrices AᵀWA; for few columns from stored products of pairs."""
    n, p = A.shape
    left, right = np.triu_indices(p)
    if n * len(left) > MOST_PRODUCTS:
        return lambda pull: np.stack([(A * column[:, None]).T @ A for column in pull.T])
    products = A[:, left] * A[:, right]

    def grams_of(pull: Array) -> Array:
        grams = np.empty((pull.shape[1], p, p))
        grams[:, left, right] = grams[:, right, left] = (products.T @ pull).T
        return grams

    return grams_of


def _solved(grams: Array, rights: Array) -> Array:
    """gram⁻¹·right for each pair, of least norm where a gram is singular."""
    if grams.shape[1] > MANY:
        return np.stack(
            [
                newton_direction(gram, -right) if np.isfinite(gram).all() else right * np.nan
                for gram, right in zip(grams, rights, strict=True)
            ]
        )
    size = np.sqrt(np.diagonal(grams, axis1=1, axis2=2))
    scale = np.where(size > 0, size, 1.0)
    scaled = grams / scale[:, None, :] / scale[:, :, None]
    inverse = np.linalg.pinv(scaled, rcond=1e-12, hermitian=True)
    return (inverse @ (rights / scale)[..., None])[..., 0] / scale


def least_squares(A: Array, y: Array, weight: Array) -> Array:
    """argmin_θ Σ w(y − Aθ)²."""
    weighted = A * weight[:, None]
    return newton_direction(A.T @ weighted, -(weighted.T @ y))


def _near_the_middle(A: Array, y: Array, weight: Array) -> list[Array]:
    """Fits to the half of the rows nearest to the medians of the columns, with and without y.

    Distances are in units of the median deviation of each column.
    """
    columns = np.column_stack([A, y])
    middle = np.array([float(weighted_quantile(column, weight)) for column in columns.T])
    size = abs(columns - middle)
    unit = np.array([float(weighted_quantile(column, weight)) for column in size.T])
    square = (size / np.where(unit > 0, unit, np.inf)) ** 2
    starts = []
    for distance in (square[:, :-1].sum(axis=1), square.sum(axis=1)):
        kept = distance <= float(weighted_quantile(distance, weight))
        starts.append(least_squares(A, y, weight * kept))
    return starts


def _by_sensitivity(A: Array, y: Array, weight: Array) -> list[Array]:
    """Fits to halves of the rows, chosen along the principal components of their sensitivity."""
    root = np.sqrt(weight)
    basis = np.linalg.qr(A * root[:, None])[0]
    residual = root * (y - A @ least_squares(A, y, weight))
    leverage = np.clip(np.sum(basis * basis, axis=1), 0.0, 1 - 1e-9)
    moves = residual / (1 - leverage)
    _, axes = np.linalg.eigh((basis * moves[:, None] ** 2).T @ basis)
    most = int(np.clip(MOST_WORK / 9 / _work(A), 1, MOST_COMPONENTS))
    components = (basis @ axes[:, ::-1][:, :most]) / np.where(root > 0, root, 1.0)[:, None]
    starts = []
    for component in components.T:
        middle = float(weighted_quantile(component, weight))
        size = abs(component - middle)
        near = size <= float(weighted_quantile(size, weight))
        for kept in (component <= middle, component >= middle, near):
            starts.append(least_squares(A, y, weight * kept))
    return starts


def _through_random_rows(
    A: Array, y: Array, weight: Array, random: np.random.Generator
) -> list[Array]:
    """Planes through as many random rows as there are parameters."""
    n, p = A.shape
    if np.count_nonzero(weight) <= p:
        return []
    clean = max(EXPECTED_SHARE**p, 1e-9)
    if MOST_PLANES * clean < FEWEST_CLEAN_PLANES:
        return []
    planes = int(np.clip(3 * math.log(0.01) / math.log1p(-clean), FEWEST_PLANES, MOST_PLANES))
    rows = np.stack([random.choice(n, p, replace=False, p=weight) for _ in range(planes)])
    return list((np.linalg.pinv(A[rows]) @ y[rows][..., None])[..., 0])
