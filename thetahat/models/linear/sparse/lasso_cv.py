"""The lasso with its penalty chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.models.linear.sparse.l1_cv import CV_RANGES, L1RegressorCV
from thetahat.models.linear.sparse.lasso_path import lasso_path


class LassoCV(L1RegressorCV):
    """The lasso over a path of penalties; the one of the smallest held-out error is kept.

    Formula: α̂ = argmin_α mean over folds of the mean squared error held out; then `Lasso` at α̂ on
    all rows. With many rows and few columns one pass over the rows serves all folds: a fold learns
    from the merged moments of the others, and is judged by its own.

    Cost: about one Gram matrix, O(n d²), for d ≤ 500 < n; else a `lasso_path` per fold.

    Parameters
    ----------
    eps : float, default=1e-3
        The smallest penalty as a share of the largest.
    alphas : int or array-like, default=100
        How many penalties, or the penalties themselves.
    fit_intercept, precompute, max_iter, tol, copy_X, positive, random_state, selection
        As in `Lasso`.
    cv : int, splitter or iterable, default=None
        Folds, as in scikit-learn; 5 by default.
    verbose, n_jobs
        Kept for compatibility; folds run side by side on the threads of ``th.config``.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    alphas_ : array of shape (n_alphas,)
        The penalties, largest first.
    mse_path_ : array of shape (n_alphas, n_folds)
        The mean squared error held out; NaN for folds that `th.config(max_time=...)` cut off.
    coef_, intercept_, sparse_coef_, dual_gap_, n_iter_, solution_
        As in `Lasso`.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 5, noise=1.0, random_state=0)
    >>> model = th.LassoCV(cv=4).fit(data.X, data.y)
    >>> model.mse_path_.shape
    (100, 4)
    """

    _everyday = "lasso"
    path = staticmethod(lasso_path)
    _ranges = CV_RANGES

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: Any = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> LassoCV:
        """Choose the penalty by folds, and fit to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `Lasso.fit`, for one target and rows in memory.
        **params
            For the splitter `cv` (``groups``), with scikit-learn's metadata routing enabled.

        Returns
        -------
        self
        """
        self._fit_by_folds(X, y, sample_weight, np.ones(1), params)
        return self
