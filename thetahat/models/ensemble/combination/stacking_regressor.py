"""Stacking for numbers: a regression on what other regressions predict."""

from __future__ import annotations

from typing import Any

from sklearn.callback import with_callbacks
from sklearn.utils.metaestimators import available_if

from thetahat.models.ensemble.combination.base import EnsembleRegressor
from thetahat.models.ensemble.combination.stacking import Stacking, final_has


class StackingRegressor(Stacking, EnsembleRegressor):
    """Models as features: a last model learns how much to trust each of the others.

    Formula: f(x) = g(f₁(x), …, f_M(x)). With ``final_estimator=th.LinearCombination()`` it is
    f = Σ αₘfₘ with α by (regularised) least squares on the members' outputs, non-negative or
    summing to one where asked for.

    Beware of overfitting: members look better on the rows they learned than they are, and the most
    overfitted would be trusted most. So g learns from predictions of rows by copies of the members
    that did not see them (``cv`` folds). With ``cv="prefit"`` the members are taken as they are:
    give rows that none of them was fitted to.

    Cost: M·(folds + 1) fits, side by side, and one of g.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name, of thetahat or your own: pipelines, searches, anything that predicts.
        X reaches them as you gave it. "drop" in the place of one leaves it out.
    final_estimator : estimator, optional
        g; by default `RidgeCV`.
    cv : int, splitter, iterable or "prefit", optional
        Folds in which each row is held back once (5 by default, in the order of the rows);
        "prefit": the members are fitted already.
    n_jobs, verbose
        Kept for compatibility: ``th.config(threads=...)`` governs, and callbacks report progress.
    passthrough : bool, default=False
        Whether g sees X too.

    Attributes
    ----------
    estimators_ : list of estimators
        The members, fitted to all rows.
    named_estimators_ : Bunch
        The same by name.
    final_estimator_ : estimator
        g; its ``coef_`` are the weights α of a linear one.
    stack_method_ : list of str
        What was asked of each member.

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

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    stack_method = "predict"

    @classmethod
    def _example(cls) -> StackingRegressor:
        from thetahat.models.linear.least_squares.linear_regression import LinearRegression
        from thetahat.models.linear.least_squares.ridge import Ridge

        return cls([("plain", LinearRegression()), ("shrunk", Ridge(alpha=10.0))])

    def _default_final(self) -> Any:
        from thetahat.models.linear.least_squares.ridge_cv import RidgeCV

        return RidgeCV()

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> StackingRegressor:
        """Fit the members, and the last model to their out-of-fold predictions.

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
        self._fit_stack(X, y, sample_weight, fit_params)
        return self

    @available_if(final_has("predict"))
    def predict(self, X: Any, **predict_params: Any) -> Any:
        """g of the members' predictions. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            The rows.
        **predict_params
            For ``predict`` of the last model, such as ``return_std=True``: how sure it is, the
            members taken as they are.

        Returns
        -------
        array of shape (n,)
        """
        return self._final("predict", X, predict_params)
