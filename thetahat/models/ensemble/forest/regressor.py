"""Forests for regression: averages of the leaf values."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, one_of
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.arguments import require_level, returned_number
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.likelihood import Poisson
from thetahat.mathematics.losses.targets import check_targets
from thetahat.models.ensemble.forest.base import Forest
from thetahat.models.ensemble.forest.growing import ForestPlan
from thetahat.models.ensemble.forest.out_of_bag import out_of_bag_predictions, r2_interval
from thetahat.models.tree.parameters import RegressionParameters

ANSWERS_AT_ONCE = 1 << 22
"""Predictions of single trees (trees × rows × outputs) kept in memory at once."""


@with_parameters
class ForestRegressor(ScoredRegressor, Forest, RegressionParameters):
    """Forest regressor with the spread of the trees and prediction intervals.

    Attributes
    ----------
    oob_prediction_ : array of shape (n,) or (n, n_outputs)
        Prediction for each row, averaged over the trees that did not draw it; NaN where every tree
        drew the row. Defined with ``oob_score``.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        **Forest._ranges,
        "criterion": one_of("squared_error", "friedman_mse", "absolute_error", "poisson"),
    }
    _: KW_ONLY
    max_features: Any = 1.0

    def _open_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[InMemory, tuple[int, ...]]:
        source = self._open(X, y, sample_weight)
        if self.criterion == "poisson":
            check_targets(Poisson(), source.y, who=type(self).__name__)
        assert source.y is not None
        self.n_outputs_ = 1 if np.ndim(source.y) == 1 else source.y.shape[1]
        return source, (1,) * self.n_outputs_

    def _score_out_of_bag(self, source: InMemory, plan: ForestPlan) -> None:
        answers = out_of_bag_predictions(self._forest, plan, type(self).__name__)[:, :, 0]
        known = ~np.isnan(answers[:, 0])
        self.oob_prediction_ = answers[:, 0] if self.n_outputs_ == 1 else answers
        y, predicted = plan.y[known], answers[known]
        self._residuals_left_out = np.sort(y - predicted, axis=0)
        if callable(self.oob_score):
            single = self.n_outputs_ == 1
            pair = (y[:, 0], predicted[:, 0]) if single else (y, predicted)
            self.oob_score_ = returned_number(self.oob_score(*pair), "The function oob_score")
            self.__dict__.pop("oob_score_interval_", None)
            return
        spread = ((y - y.mean(axis=0)) ** 2).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.oob_score_ = float((1.0 - ((y - predicted) ** 2).sum(axis=0) / spread).mean())
        self.oob_score_interval_ = r2_interval(y, predicted, None)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the mean over the trees. Cost: O(n · trees · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        return_std : bool, default=False
            If True, also return the standard deviation of the predictions of the trees. It measures
            how much the trees disagree; for fully grown trees also how much targets near x vary.

        Returns
        -------
        array of shape (n,) or (n, n_outputs), or a pair of such arrays
            The predictions and, with ``return_std=True``, their standard deviations.
        """
        means = self._mean_answers(X)[:, :, 0]
        means = means[:, 0] if self.n_outputs_ == 1 else means
        return (means, self._spread_of_trees(X)) if return_std else means

    def _spread_of_trees(self, X: Any) -> Array:
        rows, packed = self._rows(X), self._forest.packed
        spread = np.empty((rows.shape[0], self.n_outputs_))
        step = max(1, ANSWERS_AT_ONCE // (packed.n_trees * self.n_outputs_))
        for start in range(0, rows.shape[0], step):
            block = slice(start, start + step)
            spread[block] = packed.each(rows[block]).std(axis=0)
        spread = spread.astype(rows.dtype, copy=False)
        return spread[:, 0] if self.n_outputs_ == 1 else spread

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Prediction interval that contains a new target with probability about `level`.

        Formula: f(x) plus the (1 ∓ level)/2 quantiles of yᵢ − f₋ᵢ(xᵢ), where f₋ᵢ averages the trees
        that did not draw row i. The interval has the same width for all rows. Requires
        ``oob_score=True``. Cost: that of `predict`.

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        level : float, default=0.9
            Probability of the interval, between 0 and 1. Larger values give wider intervals.

        Returns
        -------
        low, high : arrays of shape (n,) or (n, n_outputs)
            Lower and upper bounds of the interval.
        """
        require_level(level)
        means = np.asarray(self.predict(X))
        if "_residuals_left_out" not in self.__dict__:
            raise ParameterError(
                f"{type(self).__name__}: prediction intervals need the out-of-bag residuals. Fit "
                "with bootstrap=True and oob_score=True."
            )
        tail = (1.0 - level) / 2.0
        low, high = np.quantile(self._residuals_left_out, (tail, 1.0 - tail), axis=0)
        if self.n_outputs_ == 1:
            low, high = low[0], high[0]
        return (means + low).astype(means.dtype), (means + high).astype(means.dtype)
