"""Voting of different regressors: the mean of their predictions."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.base import EnsembleRegressor, average
from thetahat.models.ensemble.combination.voting import Voting


@with_parameters
class VotingRegressor(Voting, EnsembleRegressor):
    """Voting regressor: the weighted mean of the predictions of different models.

    The weights are chosen by the user. `StackingRegressor` learns them from the data, and
    `BayesianModelAveraging` uses the posterior probability of each model.

    Formula: f(x) = Σ αₘfₘ(x) / Σ αₘ.

    Cost: one fit and one prediction of each member, run in parallel.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(100, 3, noise=1.0, random_state=0)
    >>> members = [("plain", th.LinearRegression()), ("shrunk", th.Ridge(alpha=10.0))]
    >>> model = th.VotingRegressor(members, weights=[1, 3]).fit(data.X, data.y)
    >>> model.transform(data.X[:5]).shape
    (5, 2)
    """

    estimators: list[tuple[str, Any]]
    _: KW_ONLY
    weights: Any = None
    n_jobs: int | None = None
    verbose: bool = False

    @classmethod
    def _example(cls) -> VotingRegressor:
        from thetahat.models.linear.least_squares.linear_regression import LinearRegression
        from thetahat.models.linear.least_squares.ridge import Ridge

        return cls([("plain", LinearRegression()), ("shrunk", Ridge(alpha=10.0))])

    def predict(self, X: Any) -> Array:
        """Predict the weighted mean of the members. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The predicted targets.
        """
        return average(self._each(X, "predict"), self._share)

    def transform(self, X: Any) -> Array:
        """Return the predictions of the members. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            Rows to transform, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_members)
            One column per member.
        """
        return np.column_stack(self._each(X, "predict"))
