"""The lasso: β̂ = argmin ½ mean (y − Xβ − b)² + α‖β‖₁, β ≥ 0 if asked for."""

from __future__ import annotations

from typing import Any

from sklearn.callback import with_callbacks

from thetahat.estimator.parameters import at_least, boolean
from thetahat.models.linear.sparse.l1_regressor import SOLVER_RANGES, L1Regressor
from thetahat.models.linear.sparse.lasso_path import enet_path


class Lasso(L1Regressor):
    """Least squares with an L1 penalty, which sets coefficients exactly to zero.

    Formula: β̂, b̂ = argmin (Σ wᵢ(yᵢ − xᵢᵀβ − b)²)/(2Σ wᵢ) + α‖β‖₁, with β ≥ 0 if `positive`. For
    orthonormal columns it is the soft threshold sign(z)·max(|z| − nα, 0) of z = Xᵀy; an objective
    written RSS + τ‖β‖₁ has α = τ/(2n). Solved by coordinate descent on working sets of columns,
    with gap-safe screening, until the duality gap is within ``tol``·‖y‖²/n.

    Cost: O(n d) per pass over the columns, of which there are a few, and O(s²) per sweep over s
    columns in use; with many rows and few columns O(n d²) for one Gram matrix, out of core too.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, on the *mean* squared error; 0 is least squares, solved directly.
    fit_intercept : bool, default=True
        Whether b is fitted; it is never penalised.
    precompute : bool, "auto" or array of shape (d, d), default=False
        True forms the Gram matrix; an array is that matrix (of centred columns, if there is an
        intercept), checked against X. False and "auto" leave it to the size of X.
    copy_X : bool, default=True
        Kept for compatibility; X is never copied whole and never changed.
    max_iter : int, default=1000
        Most sweeps.
    tol : float, default=1e-4
        The duality gap to reach, as a share of ‖y‖²/n.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    positive : bool, default=False
        β ≥ 0.
    random_state, selection
        Kept for compatibility: sweeps are cyclic. The optimum is the same.

    Attributes
    ----------
    coef_ : array of shape (d,) or (n_targets, d)
        β̂.
    intercept_ : float or array of shape (n_targets,)
        b̂.
    sparse_coef_ : sparse array
        β̂, its zeros not stored.
    dual_gap_ : float or array of shape (n_targets,)
        How far above the minimum the objective can be.
    n_iter_ : int or list of int
        Sweeps taken.
    solution_ : Solution
        Outcome, steps, gap, solver and the reason for it.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.Lasso(alpha=0.1).fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 1.0, 2.0])
    >>> model.coef_.round(2).tolist(), round(float(model.intercept_), 2)
    ([0.85, 0.0], 0.15)
    >>> model.solution_.gap_kind
    'duality gap'
    """

    path = staticmethod(enet_path)
    _ranges = SOLVER_RANGES | {"alpha": at_least(0), "warm_start": boolean}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Lasso:
        """Fit to rows in memory (X, y) or to a source that brings its own targets.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Features; sparse columns are centred implicitly.
        y : array-like of shape (n,) or (n, n_targets), optional
            Targets, each fitted on its own; None when X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, l1_ratio=1.0)
        return self
