"""The lasso with its penalty chosen by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.estimator.declaration import with_parameters
from thetahat.models.linear.sparse.l1_cv import CV_RANGES, L1RegressorCV
from thetahat.models.linear.sparse.lasso_path import lasso_path


@with_parameters
class LassoCV(L1RegressorCV):
    """Lasso that chooses its penalty by cross-validation.

    Formula: α̂ = argmin over α of the mean squared error on the held-out rows, averaged over the
    folds. The final model is a `Lasso` with α̂ fitted to all rows.

    With many rows and few columns, one pass over the rows serves all folds: each fold is fitted
    from the merged moments of the other folds and evaluated with its own moments.

    Cost: about one Gram matrix, O(n d²), if d ≤ 500 < n; otherwise one `lasso_path` per fold.

    Parameters
    ----------
    eps : float, default=1e-3
        Ratio of the smallest to the largest penalty on the path. Smaller values make the path
        longer. Only used if `alphas` is an int.
    alphas : int or array-like, default=100
        Number of penalties along the path, or the values themselves. An int gives a geometric
        sequence from the smallest penalty at which all coefficients are zero down to `eps` times
        that value.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the intercept is 0 and the data are expected to
        be centred. The intercept is never penalised.
    precompute : bool, "auto" or array of shape (d, d), default="auto"
        Whether to form the Gram matrix XᵀX. True always forms it. An array is used as the Gram
        matrix after it has been checked against X; with an intercept it must be that of the centred
        columns. False and "auto" choose the faster way by the size of X.
    max_iter : int, default=1000
        Maximum number of iterations for each penalty. One iteration updates every coefficient of
        the working set once. Raise it if the fit warns that it did not converge.
    tol : float, default=1e-4
        Tolerance of the solver. It stops when the duality gap is at most ``tol * ‖y‖² / n``.
        Smaller values give a more exact solution and take longer.
    copy_X : bool, default=True
        Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
    cv : int, splitter, iterable or None, default=None
        Folds for the cross-validation. An int is the number of folds; a splitter of scikit-learn or
        an iterable of (train, test) row numbers is used as given. None means 5 folds.
    verbose : bool or int, default=False
        Has no effect. Accepted for compatibility with scikit-learn.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    positive : bool, default=False
        Whether to force all coefficients to be non-negative (β ≥ 0). The intercept is not
        constrained.
    random_state : int, RandomState or None, default=None
        Has no effect, because the solver uses no random numbers. Accepted for compatibility with
        scikit-learn.
    selection : {"cyclic", "random"}, default="cyclic"
        Has no effect. Accepted for compatibility with scikit-learn; the coefficients are updated in
        cyclic order, which leads to the same optimum.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen by cross-validation.
    alphas_ : array of shape (n_alphas,)
        The penalties that were tried, largest first.
    mse_path_ : array of shape (n_alphas, n_folds)
        Mean squared error on the held-out rows, for each penalty and fold. NaN for folds that were
        not finished within ``th.config(max_time=...)``.
    coef_ : array of shape (d,)
        Estimated coefficients (β̂), one per column.
    intercept_ : float
        Estimated intercept (b̂); 0 if ``fit_intercept=False``.
    sparse_coef_ : sparse array of shape (1, d)
        The coefficients as a sparse array, which does not store zeros.
    dual_gap_ : float
        Duality gap of the final fit: its objective is at most this much above its minimum.
    n_iter_ : int
        Number of iterations of the final fit.
    solution_ : Solution
        Report of the solver for the final fit: how it stopped, the number of iterations and the
        remaining optimality gap.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(60, 5, noise=1.0, random_state=0)
    >>> model = th.LassoCV(cv=4).fit(data.X, data.y)
    >>> model.mse_path_.shape
    (100, 4)
    """

    _: KW_ONLY
    eps: float = 1e-3
    alphas: Any = 100
    fit_intercept: bool = True
    precompute: Any = "auto"
    max_iter: int = 1000
    tol: float = 1e-4
    copy_X: bool = True
    cv: Any = None
    verbose: Any = False
    n_jobs: int | None = None
    positive: bool = False
    random_state: Any = None
    selection: str = "cyclic"

    _everyday = "lasso"
    path = staticmethod(lasso_path)
    _ranges = CV_RANGES

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> LassoCV:
        """Choose the penalty by cross-validation and fit the lasso to all rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training data. The rows must be in memory.
        y : array-like of shape (n,)
            Target values, one per row.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.
        **params : dict
            Metadata for the splitter `cv`, such as ``groups``. Needs scikit-learn's metadata
            routing: ``sklearn.set_config(enable_metadata_routing=True)``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit_by_folds(X, y, sample_weight, np.ones(1), params)
        return self
