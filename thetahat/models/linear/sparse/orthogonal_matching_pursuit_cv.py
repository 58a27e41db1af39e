"""Orthogonal matching pursuit with the number of columns chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from thetahat.data.in_memory import InMemory
from thetahat.estimator.fold_routing import RoutesToFolds
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import boolean, none, whole
from thetahat.foundation.types import Array
from thetahat.models.linear.sparse.orthogonal_matching_pursuit import (
    OrthogonalMatchingPursuit,
    pursuit_of,
)


class OrthogonalMatchingPursuitCV(RoutesToFolds, LinearRegressor):
    """Orthogonal matching pursuit that takes as many columns as predict held-out rows best.

    Formula: ŝ = argmin_s Σ_folds mean (y − Xβ̂_s)² over the rows left out, β̂_s the pursuit's fit
    after s steps on the others; then a pursuit of ŝ steps on all rows.

    Cost: one pursuit of `max_iter` steps per fold; all sizes come from its path.

    Parameters
    ----------
    copy : bool, default=True
        Kept for compatibility: X is never changed.
    fit_intercept : bool, default=True
        Whether b is fitted.
    max_iter : int, optional
        Most columns to try, where there are as many. Default: a tenth of them, at least five.
    cv : int, splitter, iterable or None
        Folds, as in scikit-learn.
    n_jobs : int, optional
        Kept for compatibility: ``th.config(threads=...)`` decides.
    verbose : bool, default=False
        Kept for compatibility.
    positive : bool, default=False
        Whether coefficients must be ≥ 0.

    Attributes
    ----------
    coef_, intercept_, n_iter_, solution_
        As in `OrthogonalMatchingPursuit`.
    n_nonzero_coefs_ : int
        ŝ.
    mse_path_ : array of shape (max_iter, n_folds)
        Mean squared error on the rows left out, for each number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((100, 20))
    >>> y = 3 * X[:, 2] - 2 * X[:, 7] + 0.1 * random.standard_normal(100)
    >>> int(th.OrthogonalMatchingPursuitCV().fit(X, y).n_nonzero_coefs_)
    2
    """

    _why_no_errors = "the columns were chosen by the same rows, which makes them look surer"
    _ranges = {  # noqa: RUF012
        "fit_intercept": boolean,
        "max_iter": whole(0) | none,
        "positive": boolean,
    }
    _multi_output = False
    _streams = False

    def __init__(
        self,
        *,
        copy: bool = True,
        fit_intercept: bool = True,
        max_iter: int | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: Any = False,
        positive: bool = False,
    ) -> None:
        self.copy = copy
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.positive = positive

    def fit(self, X: Any, y: Any = None, **params: Any) -> OrthogonalMatchingPursuitCV:
        """Fit.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Targets.
        **params
            For the splitter `cv` (``groups``), with scikit-learn's metadata routing enabled.

        Returns
        -------
        self
        """
        for_folds = self._for_folds(params)
        source = self._open(X, y)
        assert isinstance(source, InMemory)
        d = source.n_features
        most = min(self.max_iter or max(d // 10, 5), d)
        splits = check_cv(self.cv, source.y).split(source.X, source.y, **for_folds)
        self.mse_path_ = np.column_stack(
            [self._errors(source, train, test, most) for train, test in splits]
        )
        self.n_nonzero_coefs_ = int(self.mse_path_.mean(axis=1).argmin()) + 1
        whole_fit = OrthogonalMatchingPursuit(
            n_nonzero_coefs=self.n_nonzero_coefs_,
            fit_intercept=self.fit_intercept,
            positive=self.positive,
        ).fit(source)
        for name in ("coef_", "intercept_", "n_iter_", "solution_"):
            setattr(self, name, getattr(whole_fit, name))
        return self

    def _errors(self, source: InMemory, train: Array, test: Array, most: int) -> Array:
        """Mean squared error on the test rows after each step on the others."""
        assert source.y is not None
        fold = source.take(train)
        found, theta, _ = pursuit_of(
            fold, most, -1.0, intercept=self.fit_intercept, positive=self.positive, keep_path=True
        )
        assert found.path is not None
        path = found.path[0]
        # The mean row is predicted alike by every step, so one (β, b) gives the others' b.
        x_mean = np.asarray(fold.X.mean(axis=0), dtype=np.float64).ravel()
        level = theta[-1, 0] + x_mean @ theta[:-1, 0] if self.fit_intercept else 0.0
        offset = x_mean if self.fit_intercept else np.zeros_like(x_mean)
        held = source.take(test)
        predictions = held.map_rows(lambda block: block.X @ path.T)
        errors = source.y[test][:, None] - (predictions - path @ offset + level)
        return (errors**2).mean(axis=0)
