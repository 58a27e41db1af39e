"""Weights of models: f = Σ αₘfₘ by least squares on their predictions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import at_least, boolean
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.programs.quadratic_program import equality_quadratic_program

TINY = 1e-9
"""Fraction of the mean squared residual added to the diagonal: equal models get equal weights."""


@with_parameters
class LinearCombination(LinearRegressor):
    """Weighted sum of models: least squares on their predictions.

    The columns of X are the predictions of the models; `StackingRegressor` makes them out of fold,
    with this estimator as its ``final_estimator``.

    Formula: α = argmin Σ wᵢ(yᵢ − Σ αₘfₘ(xᵢ) − b)²/Σ wᵢ + λ‖α‖², optionally with α ≥ 0 and with Σ αₘ
    = 1; b = 0 by default. With Σ αₘ = 1 the residual is Σ αₘ(y − fₘ), so α minimises αᵀGα, where G
    is the mean product of the residuals of the models: α ∝ G⁻¹1.

    Cost: O(n M²) for M models, in memory or block by block, and O(M³).

    Parameters
    ----------
    alpha : float, default=0.0
        Strength of the penalty on the weights (λ). Larger values shrink the weights towards 0, or
        towards equal weights with ``sum_to_one=True``. Must be at least 0.
    positive : bool, default=False
        If True, the weights are at least 0; models that do not help get weight 0.
    sum_to_one : bool, default=False
        If True, the weights sum to 1. With ``positive=True`` the result is then a weighted average.
    fit_intercept : bool, default=False
        If True, add an intercept (b), for models that are all too high or too low.

    Attributes
    ----------
    coef_ : array of shape (M,)
        Weight of each model (α).
    intercept_ : float
        The intercept (b); 0 with ``fit_intercept=False``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> y = np.array([1.0, 2.0, 3.0, 4.0])
    >>> outputs = np.column_stack([y + [1.0, -1.0, 1.0, -1.0], y - [0.5, -0.5, 0.5, -0.5]])
    >>> th.LinearCombination(positive=True, sum_to_one=True).fit(outputs, y).coef_.round(4)
    array([0.3333, 0.6667])
    """

    alpha: float = 0.0
    _: KW_ONLY
    positive: bool = False
    sum_to_one: bool = False
    fit_intercept: bool = False

    _ranges = {  # noqa: RUF012
        "alpha": at_least(0),
        "positive": boolean,
        "sum_to_one": boolean,
        "fit_intercept": boolean,
    }
    _multi_output = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearCombination:
        """Compute the weights of the models. Cost: O(n M²) and O(M³) for M models.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, M)
            Predictions of the models, one column per model.
        y : array-like of shape (n,), optional
            Target value of each row. None if X is a `Source` with targets.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open(X, y, sample_weight)
        weights, level = self._summing_to_one(source) if self.sum_to_one else self._free(source)
        self._keep(np.append(weights, level)[:, None], source)
        return self

    def _free(self, source: Source) -> tuple[Array, float]:
        """Least squares or ridge, without a constraint on the sum of the weights."""
        from thetahat.models.linear.least_squares.linear_regression import LinearRegression
        from thetahat.models.linear.least_squares.ridge import Ridge

        shape: dict[str, Any] = {"fit_intercept": self.fit_intercept, "positive": self.positive}
        if self.alpha == 0:
            model = LinearRegression(**shape).fit(source)
        else:
            total = source.reduce(_residual_sums, np.zeros(source.n_features)).weight
            model = Ridge(alpha=self.alpha * total, **shape).fit(source)
        return model.coef_, float(model.intercept_)

    def _summing_to_one(self, source: Source) -> tuple[Array, float]:
        n_models = source.n_features
        level = np.zeros(n_models)
        if self.fit_intercept:
            sums = source.reduce(_residual_sums, level)
            level = sums.total / sums.weight
        sums = source.reduce(_residual_sums, level)
        products = sums.products / sums.weight
        scale = float(np.trace(products)) / n_models
        if scale == 0.0:
            weights = np.full(n_models, 1.0 / n_models)
            return weights, float(weights @ level)
        G = products / scale + (self.alpha / scale + TINY) * np.eye(n_models)
        if self.positive:
            weights = best_average(G)
        else:
            one = (np.ones((1, n_models)), np.ones(1))
            point = equality_quadratic_program(G, np.zeros(n_models), one).point
            assert point is not None  # G is positive definite
            weights = point
        return weights, float(weights @ level)


def best_average(G: Array) -> Array:
    """α ≥ 0 with Σα = 1 that minimises αᵀGα for positive definite G: Wolfe's method of least norm.

    Models enter one at a time, steepest descent first. Among the models in use, α ∝ G⁻¹1, and a
    model whose weight would become negative is removed. αᵀGα decreases in every step, so no set of
    models occurs twice.
    """
    alpha = np.zeros(len(G))
    alpha[np.argmin(np.diagonal(G))] = 1.0
    for _ in range(100 * len(G)):  # a limit, because rounding may cause cycles
        slope = np.sum(G * alpha, axis=1)
        level = float(alpha @ slope)
        newcomer = int(np.argmin(slope))
        if slope[newcomer] >= level * (1 - 1e-10) or alpha[newcomer] > 0:
            break
        inside = alpha > 0
        inside[newcomer] = True
        while True:
            goal = np.zeros(len(G))
            goal[inside] = np.linalg.solve(G[np.ix_(inside, inside)], np.ones(inside.sum()))
            goal /= goal.sum()
            falling = inside & (goal <= 0)
            if not falling.any():
                break
            way = float(np.min(alpha[falling] / (alpha[falling] - goal[falling])))
            alpha = np.where(inside, alpha + way * (goal - alpha), 0.0)
            inside &= alpha > 1e-15
            alpha[~inside] = 0.0
        alpha = goal
    return alpha / alpha.sum()


@dataclass(frozen=True)
class _ResidualSums:
    """Σ w, Σ wr and Σ w(r − level)(r − level)ᵀ with rₘ = y − fₘ; they can be merged."""

    weight: float
    total: Array
    products: Array

    def merge(self, other: _ResidualSums) -> _ResidualSums:
        return _ResidualSums(
            self.weight + other.weight, self.total + other.total, self.products + other.products
        )


def _residual_sums(block: Block, level: Array) -> _ResidualSums:
    residuals = np.asarray(block.y, dtype=np.float64)[:, None] - dense_rows(block)
    weight = block.row_weights
    about = residuals - level
    return _ResidualSums(
        float(weight.sum()), weight @ residuals, about.T @ (weight[:, None] * about)
    )
