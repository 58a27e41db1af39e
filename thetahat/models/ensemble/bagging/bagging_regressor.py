"""Bagging for numbers: the mean of members fitted to bootstrap samples, with their spread."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.metrics import r2_score
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.bagging.base import Bagging
from thetahat.models.ensemble.bagging.out_of_bag import (
    OutOfBagError,
    OutOfBagErrors,
    OutOfBagPredictions,
)
from thetahat.models.ensemble.combination.base import EnsembleRegressor, average
from thetahat.models.ensemble.combination.metadata_routing import routed


class BaggingRegressor(Bagging, EnsembleRegressor):
    """The mean of a learner's fits to bootstrap samples: less variance, the same bias.

    Formula: f(x) = (1/M) Σ fₘ(x), each fₘ fitted to n rows drawn with replacement. With members of
    variance σ² and correlation ρ the variance is ρσ² + (1 − ρ)σ²/M. The spread of the fₘ(x) says
    how far a single fit may stray (``return_std``, `predict_interval`), and the 37 % of rows that a
    member did not draw say how good the whole is (`oob_error`).

    Cost: M fits and M predictions, side by side; the result is the same for any number of threads.
    Rows are not copied where the learner takes weights: a row drawn twice has weight 2.

    Parameters
    ----------
    estimator : estimator, optional
        The learner, of thetahat or your own; by default a `DecisionTreeRegressor`. Trees of
        thetahat break ties between columns at random (``ties="random"``).
    n_estimators : int, default=10
        M.
    max_samples : int, float or None
        Rows that each member draws: a number, a part of them (counted by their weights), or as
        many as there are (None).
    max_features : int or float, default=1.0
        Columns that each member sees: a number, or a part of them.
    bootstrap : bool, default=True
        Whether a row may be drawn again.
    bootstrap_features : bool, default=False
        Whether a column may be drawn again.
    oob_score : bool, default=False
        Whether to judge every row by the members that did not draw it.
    warm_start : bool, default=False
        Whether the next `fit` keeps the members there are and adds to them.
    n_jobs, verbose
        Kept for compatibility: ``th.config(threads=...)`` governs, and callbacks report progress.
    random_state : int, Generator or None
        Same seed, same draws; also the seed of each member's own choices.

    Attributes
    ----------
    estimator_ : estimator
        The learner that was copied.
    estimators_ : list of estimators
        The members, as many as were fitted before time was up or Ctrl-C was pressed.
    estimators_samples_, estimators_features_ : list of arrays
        The rows and columns that each member drew.
    oob_score_ : float
        R² of the predictions for rows by the members that left them out.
    oob_prediction_ : array of shape (n,) or (n, k)
        Those predictions; NaN for rows that no member left out.

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

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> BaggingRegressor:
        """Fit every member to its own draw.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Features, of any kind that the learner takes.
        y : array-like of shape (n,) or (n, k)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Rows are drawn in proportion to it.
        **fit_params
            Routed to the members, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        self._fit_bag(X, y, sample_weight, fit_params)
        return self

    def predict(self, X: Any, return_std: bool = False, **params: Any) -> Any:
        """The mean of what the members predict, and how far they lie apart. Cost: M predictions.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to predict.
        return_std : bool, default=False
            Also return the standard deviation of the members: that of a single fit, by the
            bootstrap.
        **params
            Routed to the members' ``predict``.

        Returns
        -------
        array of shape (n,) or (n, k), or two of them
        """
        given = routed(self, "predict", params)["estimator"]["predict"]
        if not return_std:
            return self._mean(X, given)
        outputs = self._outputs(X, given)
        mean = average(outputs)
        return mean, np.std(outputs, axis=0, ddof=min(1, len(outputs) - 1)).astype(mean.dtype)

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "confidence"
    ) -> tuple[Array, Array]:
        """Bounds for f(x) from the members, or for a new y from the rows left out.

        Formula: "confidence": the (1 ± level)/2 quantiles of the fₘ(x), the bootstrap's interval
        for a single fit. "prediction": f(x) plus those quantiles of the out-of-bag residuals.
        Cost: M predictions. Intervals need many members: 100 rather than 10.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows.
        level : float, default=0.95
            The level.
        kind : {"confidence", "prediction"}
            For the function, or for a new y; the latter needs ``oob_score=True``.

        Returns
        -------
        low, high : arrays of the shape of `predict`
        """
        if not 0 < level < 1:
            raise ParameterError(f"level={level!r} must lie between 0 and 1, such as 0.95.")
        tails = [(1 - level) / 2, (1 + level) / 2]
        if kind == "confidence":
            low, high = np.quantile(self._outputs(X, {}), tails, axis=0)
            return low, high
        if kind != "prediction":
            raise ParameterError(f"kind={kind!r} must be 'confidence' or 'prediction'.")
        found = self._require_left_out()
        low, high = np.quantile(
            found.deviations, tails, axis=0, weights=found.weight, method="inverted_cdf"
        )
        mean = self.predict(X)
        return mean + low, mean + high

    def oob_error(self, level: float = 0.95) -> OutOfBagError:
        """Mean squared error for rows by the members that left them out, with an interval.

        Cost: O(n). Needs ``oob_score=True``.

        Parameters
        ----------
        level : float, default=0.95
            Level of the interval, by Student's t over the rows.

        Returns
        -------
        error, low, high : float
        """
        return self._require_left_out().error(level)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets what of the metadata given to `fit` and `predict`."""
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

    def _judge_left_out(self, y: Array, answers: OutOfBagPredictions, weight: Array | None) -> None:
        self.oob_prediction_, rows = answers.mean(type(self).__name__)
        found, truth = self.oob_prediction_[rows], y[rows]
        share = np.ones(len(rows)) if weight is None else weight[rows]
        self.oob_score_ = float(r2_score(truth, found, sample_weight=share))
        self._left_out = OutOfBagErrors(truth - found, share, labels=False)
