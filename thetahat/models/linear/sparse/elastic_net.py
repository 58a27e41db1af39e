"""The elastic net: ½ mean (y − Xβ − b)² + α·(l1_ratio·‖β‖₁ + (1 − l1_ratio)/2·‖β‖²)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from sklearn.callback import with_callbacks

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import at_least, boolean, fraction
from thetahat.models.linear.sparse.l1_regressor import SOLVER_RANGES, L1Regressor
from thetahat.models.linear.sparse.lasso_path import enet_path


@with_parameters
class ElasticNet(L1Regressor):
    """Linear least squares with combined L1 and L2 penalties.

    Formula: β̂, b̂ = argmin (Σ wᵢ(yᵢ − xᵢᵀβ − b)²)/(2Σ wᵢ) + α·(l1_ratio·‖β‖₁ + (1 −
    l1_ratio)/2·‖β‖²), with β ≥ 0 if `positive`.

    Like the lasso it sets coefficients exactly to zero, but strongly correlated columns receive
    similar coefficients instead of only one of them being chosen. The solver is that of `Lasso`.
    Without an L1 part (``l1_ratio=0`` or ``alpha=0``) the problem is ridge regression or least
    squares and is solved directly.

    Cost: that of `Lasso`.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty (α), relative to the mean squared error. Larger values shrink the
        coefficients more and set more of them to zero. Must be ≥ 0; 0 gives ordinary least squares.
    l1_ratio : float, default=0.5
        Share of the L1 norm in the penalty, between 0 and 1. 1 is the lasso penalty, 0 the ridge
        penalty; values in between combine both.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the intercept is 0 and the data are expected to
        be centred. The intercept is never penalised.
    precompute : bool, "auto" or array of shape (d, d), default=False
        Whether to form the Gram matrix XᵀX. True always forms it. An array is used as the Gram
        matrix after it has been checked against X; with an intercept it must be that of the centred
        columns. False and "auto" choose the faster way by the size of X.
    max_iter : int, default=1000
        Maximum number of iterations. One iteration updates every coefficient of the working set
        once. Raise it if the fit warns that it did not converge.
    copy_X : bool, default=True
        Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
    tol : float, default=1e-4
        Tolerance of the solver. It stops when the duality gap is at most ``tol * ‖y‖² / n``.
        Smaller values give a more exact solution and take longer.
    warm_start : bool, default=False
        Whether to start from the solution of the previous call to `fit`, if there is one. If False,
        the previous solution is ignored.
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
    coef_ : array of shape (d,) or (n_targets, d)
        Estimated coefficients (β̂), one row per target if y has several columns.
    intercept_ : float or array of shape (n_targets,)
        Estimated intercept (b̂); 0 if ``fit_intercept=False``.
    sparse_coef_ : sparse array of shape (1, d) or (n_targets, d)
        The coefficients as a sparse array, which does not store zeros.
    dual_gap_ : float or array of shape (n_targets,)
        Duality gap at the end of the fit: the objective is at most this much above its minimum.
    n_iter_ : int or list of int
        Number of iterations that the solver ran, for each target if there are several.
    solution_ : Solution
        Report of the solver: its name and the reason for choosing it, how it stopped, the number of
        iterations and the remaining optimality gap.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 1.0, 2.0]
    >>> th.ElasticNet(alpha=0.1, tol=1e-10).fit(X, y).coef_.round(4).tolist()
    [0.4458, 0.4458]
    """

    alpha: float = 1.0
    _: KW_ONLY
    l1_ratio: float = 0.5
    fit_intercept: bool = True
    precompute: Any = False
    max_iter: int = 1000
    copy_X: bool = True
    tol: float = 1e-4
    warm_start: bool = False
    positive: bool = False
    random_state: Any = None
    selection: str = "cyclic"

    path = staticmethod(enet_path)
    _ranges = SOLVER_RANGES | {"alpha": at_least(0), "l1_ratio": fraction, "warm_start": boolean}

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ElasticNet:
        """Fit the elastic net.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training data. Sparse data stay sparse. A `Source` (see ``th.scan``) is read block by
            block and brings its own target.
        y : array-like of shape (n,) or (n, n_targets), optional
            Target values. Several targets are fitted independently. Leave it out if X is a
            `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, l1_ratio=self.l1_ratio)
        return self
