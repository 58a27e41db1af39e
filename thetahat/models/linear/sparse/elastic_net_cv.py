"""The elastic net with its penalty and its L1 share chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.estimator.parameters import Range, fraction
from thetahat.models.linear.sparse.l1_cv import CV_RANGES, L1RegressorCV
from thetahat.models.linear.sparse.lasso_path import enet_path

shares = fraction | Range(
    lambda value: (
        isinstance(value, list | tuple | np.ndarray)
        and np.ndim(value) == 1
        and len(value) > 0
        and all(fraction.holds(each) for each in value)
    ),
    "a list of such numbers",
)


class ElasticNetCV(L1RegressorCV):
    """The elastic net over paths of penalties, one for each L1 share; the best is kept.

    Formula: (α̂, l̂) = argmin over α and l1_ratio of the mean squared error held out, averaged over
    folds; then `ElasticNet` with both on all rows.

    Cost: that of `LassoCV`; the pass over the rows is shared by all L1 shares.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        L1 shares to try.
    eps, alphas, fit_intercept, precompute, max_iter, tol, cv, copy_X, verbose, n_jobs, positive,
    random_state, selection
        As in `LassoCV`.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The chosen penalty and share.
    alphas_ : array of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        The penalties, largest first.
    mse_path_ : array of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
        The mean squared error held out; NaN for folds that `th.config(max_time=...)` cut off.
    coef_, intercept_, sparse_coef_, dual_gap_, n_iter_, solution_
        As in `Lasso`.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 5, noise=1.0, random_state=0)
    >>> model = th.ElasticNetCV(l1_ratio=[0.5, 0.9], cv=3).fit(data.X, data.y)
    >>> model.mse_path_.shape, model.l1_ratio_ in (0.5, 0.9)
    ((2, 100, 3), True)
    """

    path = staticmethod(enet_path)
    _ranges = CV_RANGES | {"l1_ratio": shares}

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: Any = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> ElasticNetCV:
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
        shares = np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
        self.l1_ratio_ = self._fit_by_folds(X, y, sample_weight, shares, params)
        return self
