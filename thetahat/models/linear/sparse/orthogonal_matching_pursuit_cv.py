"""Orthogonal matching pursuit with the number of columns chosen by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.fold_routing import RoutesToFolds, splits_of
from thetahat.estimator.linear import OneTargetRegressor
from thetahat.estimator.parameters import boolean, none, whole
from thetahat.foundation.types import Array
from thetahat.models.linear.sparse.orthogonal_matching_pursuit import (
    OrthogonalMatchingPursuit,
    pursuit_of,
)


@with_parameters
class OrthogonalMatchingPursuitCV(RoutesToFolds, OneTargetRegressor):
    """Orthogonal matching pursuit that chooses the number of columns by cross-validation.

    Formula: ŝ = argmin_s Σ_folds mean (y − Xβ̂_s)² over the held-out rows, where β̂_s is the fit
    with s columns to the other rows. The final model selects ŝ columns with all rows.

    Cost: one pursuit of `max_iter` columns per fold, which gives the fits for all smaller numbers
    too.

    Parameters
    ----------
    copy : bool, default=True
        Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
    max_iter : int or None, default=None
        Largest number of columns to try. None tries up to a tenth of the columns, at least five.
    verbose : bool or int, default=False
        Whether to print the progress. 1 prints one line per second and how the fit ended, larger
        values print every iteration.

    Attributes
    ----------
    n_nonzero_coefs_ : int
        Number of columns chosen by cross-validation (ŝ).
    n_iter_ : int
        Number of columns that the final fit selected.
    mse_path_ : array of shape (max_iter, n_folds)
        Mean squared error on the held-out rows, for each number of columns and fold.
    solution_ : Solution
        Report of the final fit: how the selection ended, and ‖r‖² as ``solution_.value``.

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

    _: KW_ONLY
    copy: bool = True
    fit_intercept: bool = True
    max_iter: int | None = None
    cv: Any = None
    n_jobs: int | None = None
    verbose: Any = False
    positive: bool = False

    _why_no_errors = "they would be too small, because the same rows selected the columns"
    _ranges = {  # noqa: RUF012
        "fit_intercept": boolean,
        "max_iter": whole(0) | none,
        "positive": boolean,
    }
    _streams = False
    _instead_of_blocks = "use LassoCV, which reads blocks"

    def fit(self, X: Any, y: Any = None, **params: Any) -> OrthogonalMatchingPursuitCV:
        """Choose the number of columns by cross-validation and fit the model to all rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training data. The rows must be in memory.
        y : array-like of shape (n,)
            Target values, one per row.
        """
        for_folds = self._for_folds(params)
        source = self._open(X, y)
        assert isinstance(source, InMemory)
        d = source.n_features
        most = min(self.max_iter or max(d // 10, 5), d)
        splits = splits_of(self.cv, source.X, source.y, who=type(self).__name__, **for_folds)
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
        """Mean squared error on the test rows for each number of columns."""
        assert source.y is not None
        fold = source.take(train)
        found, theta, _ = pursuit_of(
            fold, most, -1.0, intercept=self.fit_intercept, positive=self.positive, keep_path=True
        )
        assert found.path is not None
        path = found.path[0]
        # Every fit predicts the same y for the mean row, so one (β, b) determines the other b.
        x_mean = np.asarray(fold.X.mean(axis=0), dtype=np.float64).ravel()
        level = theta[-1, 0] + x_mean @ theta[:-1, 0] if self.fit_intercept else 0.0
        offset = x_mean if self.fit_intercept else np.zeros_like(x_mean)
        held = source.take(test)
        predictions = held.map_rows(lambda block: block.X @ path.T)
        errors = source.y[test][:, None] - (predictions - path @ offset + level)
        return (errors**2).mean(axis=0)
