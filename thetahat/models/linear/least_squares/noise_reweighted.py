"""Unknown noise levels: weighted least squares alternates with σᵢ = |rᵢ| for a few rounds."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.views import reweighted
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import LARGEST_FACTOR, boolean, from_to, whole
from thetahat.foundation.types import Array
from thetahat.objective.least_squares.solve import least_squares


@with_parameters
class NoiseReweightedRegression(OneTargetRegressor):
    """Iteratively reweighted least squares for noise of unknown and unequal size.

    Formula: start with σᵢ = 1, then alternate β̂ = argmin Σ (yᵢ − xᵢᵀβ − b)²/σᵢ² and σᵢ = max(|rᵢ|,
    floor·s), where s is the root mean square residual of the first fit. Without the floor, many
    rounds would minimise Σ log|rᵢ|, whose minimum passes exactly through d points and ignores the
    others. The floor and the small number of rounds prevent this.

    Cost: O(rounds · n d²), in memory or block by block.

    Parameters
    ----------
    rounds : int, default=3
        Number of weighted fits after the first, unweighted one. More rounds reduce the influence of
        noisy rows further. Values from 2 to 5 are sensible; 0 gives ordinary least squares.
    floor : float, default=0.1
        Smallest noise level σᵢ, as a fraction of the root mean square residual of the first fit.
        Larger values make the weights of the rows more equal. Must be positive.

    Attributes
    ----------
    noise_floor_ : float
        Smallest noise level σᵢ that was allowed, in units of y.
    solution_ : Solution
        Report of the solver: its name and the reason for choosing it, how it stopped, the number of
        iterations and the remaining optimality gap.

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

    _: KW_ONLY
    rounds: int = 3
    floor: float = 0.1
    fit_intercept: bool = True

    _why_no_errors = "the noise level of each row was estimated from its own residual"
    _ranges = {  # noqa: RUF012
        "rounds": whole(0),
        "floor": from_to(1 / LARGEST_FACTOR, LARGEST_FACTOR),
        "fit_intercept": boolean,
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NoiseReweightedRegression:
        """Fit the model by alternating weighted fits and noise estimates."""
        source = self._open(X, y, sample_weight)
        found = least_squares(source, intercept=self.fit_intercept)
        self.noise_floor_ = self.floor * _root_mean_square(source, found.solution.theta)
        for _ in range(self.rounds if self.noise_floor_ > 0 else 0):
            theta = found.solution.theta
            view = reweighted(source, partial(self._precision, theta=theta), lazy=True)
            found = least_squares(view, intercept=self.fit_intercept)
        self._keep(found.solution.theta, source)
        self.solution_ = found.solution
        return self

    def _precision(self, block: Block, theta: Array) -> Array:
        """1/σᵢ² for the rows of a block, scaled so that a row at the noise floor has weight 1."""
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
    # Divided by the largest residual, so that no square overflows or underflows.
    return largest * float(np.sqrt(np.average((rows[:, 0] / largest) ** 2, weights=rows[:, 1])))
