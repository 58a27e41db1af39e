"""The mean of what different regressors predict."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.base import EnsembleRegressor, average
from thetahat.models.ensemble.combination.voting import Voting


class VotingRegressor(Voting, EnsembleRegressor):
    """The (weighted) mean of what different models predict.

    Formula: f(x) = Σ αₘfₘ(x) / Σ αₘ with weights α that you give; `StackingRegressor` learns them,
    `BayesianModelAveraging` takes the probability of each model.

    Cost: one fit and one prediction of each member, side by side.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name, of thetahat or your own: pipelines, searches, anything that predicts.
        X reaches them as you gave it. "drop" in the place of one leaves it out.
    weights : array-like of shape (n_members,), optional
        α; all alike by default.
    n_jobs, verbose
        Kept for compatibility: ``th.config(threads=...)`` governs, and callbacks report progress.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members that are not dropped.
    named_estimators_ : Bunch
        The same by name.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(100, 3, noise=1.0, random_state=0)
    >>> members = [("plain", th.LinearRegression()), ("shrunk", th.Ridge(alpha=10.0))]
    >>> model = th.VotingRegressor(members, weights=[1, 3]).fit(data.X, data.y)
    >>> model.transform(data.X[:5]).shape
    (5, 2)
    """

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        *,
        weights: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def _example(cls) -> VotingRegressor:
        from thetahat.models.linear.least_squares.linear_regression import LinearRegression
        from thetahat.models.linear.least_squares.ridge import Ridge

        return cls([("plain", LinearRegression()), ("shrunk", Ridge(alpha=10.0))])

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> VotingRegressor:
        """Fit every member to all rows.

        Parameters
        ----------
        X : anything the members take, of n rows
            Features.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; every member must take them.
        **fit_params
            Routed to the members, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        self._fit_voters(X, y, sample_weight, fit_params)
        return self

    def predict(self, X: Any) -> Array:
        """Σ αₘfₘ(x) / Σ αₘ. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            The rows.

        Returns
        -------
        array of shape (n,)
        """
        return average(self._each(X, "predict"), self._share)

    def transform(self, X: Any) -> Array:
        """What each member predicts, a column each. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            The rows.

        Returns
        -------
        array of shape (n, n_members)
        """
        return np.column_stack(self._each(X, "predict"))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns of `transform`. Cost: O(n_members)."""
        return np.asarray(self._names_out(), dtype=object)
