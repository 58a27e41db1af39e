"""Unknown noise levels: weighted least squares and σᵢ = |rᵢ|, in turn, a few times."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.views.reweighted import Reweighted
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import boolean, more_than, whole
from thetahat.foundation.types import Array
from thetahat.objective.least_squares.solve import least_squares


class NoiseReweightedRegression(LinearRegressor):
    """Iteratively reweighted least squares for noise of unknown, unequal size.

    Formula: from σᵢ = 1, alternate β̂ = argmin Σ (yᵢ − xᵢᵀβ − b)²/σᵢ² and σᵢ = max(|rᵢ|, floor·s),
    with s the root mean square residual of the first fit. Iterated to the end without a floor this
    minimises Σ log|rᵢ|, which collapses onto d interpolated points: the floor and the few rounds
    are part of the method.

    Cost: O(rounds · n d²), in memory or out of core.

    Parameters
    ----------
    rounds : int, default=3
        Weighted fits after the first; 2 to 5 are sensible.
    floor : float, default=0.1
        Smallest σᵢ, as a share of the first fit's root mean square residual.
    fit_intercept : bool, default=True
        Whether b is fitted.

    Attributes
    ----------
    coef_, intercept_, solution_
        As in `LinearRegression`, of the last round.
    noise_floor_ : float
        The smallest σᵢ that was allowed.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2.0 * X[:, 0] + 1.0
    >>> y[7] += 30.0
    >>> model = th.NoiseReweightedRegression(rounds=5).fit(X, y)
    >>> abs(model.coef_[0] - 2.0) < abs(th.LinearRegression().fit(X, y).coef_[0] - 2.0)
    np.True_
    """

    _why_no_errors = "the noise of each row was taken from its own residual"
    _ranges = {"rounds": whole(0), "floor": more_than(0), "fit_intercept": boolean}  # noqa: RUF012
    _multi_output = False

    def __init__(self, *, rounds: int = 3, floor: float = 0.1, fit_intercept: bool = True) -> None:
        self.rounds = rounds
        self.floor = floor
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NoiseReweightedRegression:
        """Fit; parameters as in `LinearRegression.fit`."""
        source = self._open(X, y, sample_weight)
        found = least_squares(source, intercept=self.fit_intercept)
        self.noise_floor_ = self.floor * _root_mean_square(source, found.solution.theta)
        for _ in range(self.rounds if self.noise_floor_ > 0 else 0):
            theta = found.solution.theta
            view = Reweighted.of(source, partial(self._precision, theta=theta))
            found = least_squares(view, intercept=self.fit_intercept)
        self._keep(found.solution.theta, source)
        self.solution_ = found.solution
        return self

    def _precision(self, block: Block, theta: Array) -> Array:
        """1/σᵢ² for the rows of a block, scaled so that the floor has weight one."""
        return (
            self.noise_floor_ / np.maximum(np.abs(_residual(block, theta)), self.noise_floor_)
        ) ** 2


def _residual(block: Block, theta: Array) -> Array:
    return block.y - (block.X @ theta[:-1, 0] + theta[-1, 0])


def _root_mean_square(source: Source, theta: Array) -> float:
    rows = source.map_rows(
        lambda block: np.column_stack([np.abs(_residual(block, theta)), block.row_weights])
    )
    largest = float(rows[:, 0].max(initial=0.0))
    if largest == 0:
        return 0.0
    # In units of the largest, so that no square overflows or vanishes.
    return largest * float(np.sqrt(np.average((rows[:, 0] / largest) ** 2, weights=rows[:, 1])))
