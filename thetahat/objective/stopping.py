"""The tolerance of a gradient, relative to the sizes of columns and residuals.

A gradient entry is a mean of xⱼ·∂ℓ/∂z. Its typical size is u = maxⱼ rms(xⱼ)·rms(∂ℓ/∂z), with the
slopes of the best constant prediction. For columns and targets of ordinary size u is about 1, and
the tolerance bounds gradient entries, as in scikit-learn. For very small targets every gradient is
within such a tolerance at θ = 0; for very large columns rounding alone is larger. A run ends at

    max(tolerance · min(1, u/0.1), 1e-14 · the largest rms(xⱼ)·rms(∂ℓ/∂z)):

a gradient of at most 10·tolerance·u, but not below rounding errors. With a log link the slope at
z = 0 belongs to the mean 1, whatever the unit of y, so the rounding errors are those of the slope's
terms at the mean of y.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, row_weights
from thetahat.foundation.precision import SUM_ROUNDING
from thetahat.mathematics.losses.base import Subdifferentiable, Targets
from thetahat.mathematics.losses.links import Link
from thetahat.mathematics.optimizers.coordinate.coordinate_descent import CoordinateDescent
from thetahat.mathematics.optimizers.coordinate.working_sets import WorkingSets
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.proximal.proximal_newton import ProximalNewton
from thetahat.mathematics.optimizers.smooth.irls import IRLS
from thetahat.mathematics.optimizers.smooth.lbfgs import LBFGS
from thetahat.objective.forms.column_metric import column_units
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import quiet

ORDINARY = 0.1
"""Tolerances are not scaled for gradients of this typical size or more."""
ROUNDING_OF_GAPS = 1e-15
"""Rounding error of a duality gap, relative to the mean square of the centred target."""
EXACT = 1e-12
"""A constant prediction with slopes below this share of the largest fits every row."""
ROWS = 1000
"""Number of evenly spaced rows from which sizes are computed."""
IN_GRADIENTS = {kind.gap_kind for kind in (Method, IRLS, ProximalNewton, CoordinateDescent)}


def tolerance_for(risk: Any, method: Method, tolerance: float) -> float:
    """The gap at which a run of `method` on the risk ends. Cost: O(d) for each of 1000 rows."""
    if isinstance(method, WorkingSets):  # F − min F is proportional to the square of the gradient
        _, slope, _ = _sizes(risk)
        return max(tolerance**2, ROUNDING_OF_GAPS) * slope**2 or tolerance
    if method.gap_kind not in IN_GRADIENTS or not isinstance(risk.loss, Subdifferentiable):
        return tolerance
    if not isinstance(risk.predictor, LinearPredictor):
        return tolerance  # for other predictors the columns do not determine the size of gradients
    column, slope, steepest = _sizes(risk)
    if isinstance(method, LBFGS) and column_units(risk) is not None:
        column = 1.0  # its gradients are in units of the columns
    rounding = SUM_ROUNDING * column * steepest
    if not math.isfinite(rounding) or not column > 0:
        return tolerance
    if slope <= EXACT * steepest:
        return max(tolerance, rounding)
    return max(tolerance * min(1.0, column * slope / ORDINARY), rounding)


def _sizes(risk: Any) -> tuple[float, float, float]:
    """rms of the largest column, of the slopes at the best constant, and the largest such rms."""
    block = _some_rows(risk.source)
    weight = np.asarray(block.row_weights)
    total = float(weight.sum())
    if not total > 0:
        return 0.0, 0.0, 0.0
    with quiet():
        squares = _square_sums(block.X, None if block.weight is None else weight)
        column = math.sqrt(float(np.max(squares, initial=0.0)) / total)
        if risk.loss.targets not in (Targets.REAL, Targets.NONNEGATIVE, Targets.POSITIVE):
            # Losses of probabilities and margins have slopes of at most about 1.
            return column, 1.0, 1.0
        y = np.asarray(block.y, dtype=np.float64)

        def size(constant: float) -> float:
            slope = risk.loss.gradient(y, np.full(y.shape, constant))
            return math.sqrt(float(np.sum(weight * slope * slope)) / total)

        at_zero = size(0.0)
        if not risk.predictor.fit_intercept:
            return column, at_zero, at_zero
        best = float(risk.loss.best_constant(y, weight))
        at_best = size(best)
        if risk.loss.link is Link.LOG and np.any(weight * y > 0):
            largest_term = abs(float(risk.loss.gradient(np.zeros(1), np.full(1, best))[0]))
            return column, at_best, max(largest_term, at_best)
    return column, at_best, max(at_zero, at_best)


def _square_sums(X: Any, weight: Any) -> Any:
    """Σ wx² of each column; without weights all are 1."""
    if isinstance(X, np.ndarray):
        return row_weights(weight, len(X)) @ np.square(X)
    if getattr(X, "format", None) != "csr":
        return row_weights(weight, X.shape[0]) @ X.multiply(X)
    squares = np.square(X.data, dtype=np.float64)
    if weight is not None:
        squares *= np.repeat(weight, np.diff(X.indptr))
    return np.bincount(X.indices, weights=squares, minlength=X.shape[1])


def _some_rows(source: Any) -> Block:
    """A sample of the rows in memory, or of the first block of a file."""
    block = source.whole if isinstance(source, InMemory) else source.head()
    if block.n_rows <= ROWS:
        return block
    return block.take(np.linspace(0, block.n_rows - 1, ROWS).astype(np.int64))
