"""Bagging for regression: the mean over bootstrap samples, with its spread."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from thetahat.data.source import weights_of
from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.bagging.base import Bagging
from thetahat.models.ensemble.bagging.out_of_bag import OutOfBagErrors, OutOfBagPredictions
from thetahat.models.ensemble.combination.base import EnsembleRegressor
from thetahat.models.ensemble.combination.metadata_routing import routed


@with_parameters
class BaggingRegressor(Bagging, EnsembleRegressor):
    """Bagging regressor: the mean of one regressor fitted to many bootstrap samples.

    Averaging reduces the variance and keeps the bias. The spread of the members measures the
    uncertainty of a single fit (``return_std``, `predict_interval`). The members that did not draw
    a row (on average 37 % of them) can be used to estimate the error without a test set, see
    `oob_error`.

    Formula: f(x) = (1/M) Σ fₘ(x), where each fₘ is fitted to n rows drawn with replacement. For
    members of variance σ² and correlation ρ, the variance is ρσ² + (1 − ρ)σ²/M.

    Cost: M fits and M predictions, run in parallel; the result is the same for any number of
    threads. Rows are not copied if the base estimator supports weights: a row drawn twice has
    weight 2.

    Attributes
    ----------
    oob_score_ : float
        R² of the out-of-bag predictions. Defined with ``oob_score=True``.
    oob_prediction_ : array of shape (n,) or (n, k)
        Out-of-bag predictions; NaN for rows that every member drew. Defined with
        ``oob_score=True``.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 5, noise=1.0, random_state=0)
    >>> learner = th.LinearRegression()
    >>> bag = th.BaggingRegressor(learner, 20, oob_score=True, random_state=0)
    >>> mean, spread = bag.fit(data.X, data.y).predict(data.X[:2], return_std=True)
    >>> error, low, high = bag.oob_error()
    >>> low < 1.0 < high
    True
    """

    def predict(self, X: Any, return_std: bool = False, **params: Any) -> Any:
        """Predict the mean over the members. Cost: M predictions.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        return_std : bool, default=False
            If True, also return the standard deviation over the members, the bootstrap estimate of
            the standard error of a single fit.
        **params
            Passed to the ``predict`` method of the members.

        Returns
        -------
        array of shape (n,) or (n, k), or a pair of such arrays
            Predictions and, with ``return_std=True``, their standard deviations.
        """
        given = routed(self, "predict", params)["estimator"]["predict"]
        return self._mean_and_deviation(X, given) if return_std else self._mean(X, given)

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "confidence"
    ) -> tuple[Array, Array]:
        """Compute intervals for f(x), or for new targets.

        Formula: "confidence" uses the (1 ± level)/2 quantiles of the fₘ(x), the bootstrap interval
        of a single fit. "prediction" adds these quantiles of the out-of-bag residuals to f(x). Use
        many members for intervals, rather 100 than 10. Cost: M predictions.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        level : float, default=0.95
            Probability of the interval, between 0 and 1. Larger values give wider intervals.
        kind : {"confidence", "prediction"}, default="confidence"
            Interval for the regression function, or for a new target. The latter requires
            ``oob_score=True``.

        Returns
        -------
        low, high : arrays of the shape of `predict`
            Lower and upper bounds of the intervals.
        """
        require_level(level)
        tails = [(1 - level) / 2, (1 + level) / 2]
        if kind == "confidence":
            low, high = np.quantile(self._outputs(X, {}), tails, axis=0)
            return low, high
        if kind != "prediction":
            raise ParameterError(f"kind={kind!r} must be 'confidence' or 'prediction'.")
        found = self._require_out_of_bag()
        low, high = np.quantile(
            found.deviations, tails, axis=0, weights=found.weight, method="inverted_cdf"
        )
        mean = self.predict(X)
        return mean + low, mean + high

    def get_metadata_routing(self) -> MetadataRouter:
        """Return scikit-learn's description of how metadata are routed to the members."""
        return self._routes(MethodMapping().add(caller="predict", callee="predict"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self._base()).target_tags.multi_output
        return tags

    @property
    def _multi_output(self) -> bool:  # type: ignore[override] # follows the member's
        return bool(get_tags(self._base()).target_tags.multi_output)

    def _default(self) -> Any:
        from thetahat.models.tree.regression import DecisionTreeRegressor

        return DecisionTreeRegressor()

    def _answer_of(self, member: Any, X: Any, method: str, params: dict[str, Any]) -> Array:
        return np.asarray(member.predict(X, **params))

    def _score_out_of_bag(
        self, y: Array, answers: OutOfBagPredictions, weight: Array | None
    ) -> dict[str, Any]:
        predictions, rows = answers.mean(type(self).__name__, weight)
        found, truth = predictions[rows], y[rows]
        counted = (weights_of(weight, rows) > 0).astype(np.float64)
        return {
            "oob_prediction_": predictions,
            "oob_score_": float(r2_score(truth, found, sample_weight=counted)),
            "_left_out": OutOfBagErrors(truth - found, counted, labels=False),
        }
