"""Stacking for regression."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from sklearn.utils.metaestimators import available_if

from thetahat.estimator.declaration import with_parameters
from thetahat.models.ensemble.combination.base import EnsembleRegressor
from thetahat.models.ensemble.combination.stacking import Stacking, final_has


@with_parameters
class StackingRegressor(Stacking, EnsembleRegressor):
    """Stacking regressor: a final regressor combines the outputs of several models.

    Formula: f(x) = g(f₁(x), …, f_M(x)), where fₘ are the members and g is the final estimator. With
    ``final_estimator=th.LinearCombination()`` it is f = Σ αₘfₘ with α from (regularised) least
    squares on the outputs of the members, optionally non-negative or summing to 1.

    The final estimator is fitted to out-of-fold predictions, made by copies of the members that
    were fitted without the rows they predict (``cv`` folds). Otherwise it would rely most on the
    members that overfit most. With ``cv="prefit"`` the fitted members are used as they are; then
    call `fit` with rows that none of them was fitted to.

    Cost: M·(folds + 1) fits, run in parallel, and one fit of the final estimator.

    Parameters
    ----------
    final_estimator : estimator or None, default=None
        The regressor that combines the predictions of the members (g). None uses `RidgeCV`.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 5, noise=1.0, random_state=0)
    >>> members = [("plain", th.LinearRegression()), ("shrunk", th.Ridge(alpha=1000.0))]
    >>> weights = th.LinearCombination(positive=True, sum_to_one=True)
    >>> model = th.StackingRegressor(members, weights).fit(data.X, data.y)
    >>> model.final_estimator_.coef_.round(2)
    array([1., 0.])
    """

    estimators: list[tuple[str, Any]]
    final_estimator: Any = None
    _: KW_ONLY
    cv: Any = None
    n_jobs: int | None = None
    passthrough: bool = False
    verbose: int = 0

    stack_method = "predict"

    @classmethod
    def _example(cls) -> StackingRegressor:
        from thetahat.models.linear.least_squares.linear_regression import LinearRegression
        from thetahat.models.linear.least_squares.ridge import Ridge

        return cls([("plain", LinearRegression()), ("shrunk", Ridge(alpha=10.0))])

    def _default_final(self) -> Any:
        from thetahat.models.linear.least_squares.ridge_cv import RidgeCV

        return RidgeCV()

    @available_if(final_has("predict"))
    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Predict targets with the final estimator. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            Rows to predict, with the same columns as in `fit`.
        **predict_params
            Passed to ``predict`` of the final estimator, for example ``return_std=True``; the
            standard deviation then ignores the uncertainty of the members.

        Returns
        -------
        array of shape (n,)
            The predicted targets.
        """
        return self._final("predict", X, predict_params)
