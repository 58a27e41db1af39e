"""Ridge regression as a function that returns coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.models.linear.least_squares.ridge import Ridge


def ridge_regression(
    X: Any,
    y: Any,
    alpha: Any,
    *,
    sample_weight: Any = None,
    solver: Any = "auto",
    max_iter: int | None = None,
    tol: float = 1e-4,
    verbose: Any = 0,
    positive: bool = False,
    random_state: Any = None,
    return_n_iter: bool = False,
    return_intercept: bool = False,
    check_input: bool = True,
) -> Any:
    """Solve linear least squares with an L2 penalty on the coefficients, as `Ridge` does.

    Formula: β̂ = argmin Σ wᵢ(yᵢ − xᵢᵀβ)² + α‖β‖². There is no intercept, unless
    ``return_intercept=True`` asks for it; it is not penalised. Cost: O(n d²) time and O(d²) memory;
    O(n² d) time with more columns than rows.

    Parameters
    ----------
    X : array-like, sparse matrix or table of shape (n, d)
        The rows, with finite numbers.
    y : array-like of shape (n,) or (n, n_targets)
        The targets of the rows, with finite numbers.
    alpha : float or array of shape (n_targets,)
        Strength of the L2 penalty (α). Larger values shrink the coefficients more towards zero. An
        array gives each target its own penalty. Must be at least 0.
    sample_weight : float or array-like of shape (n,), optional
        Row weights (w). None gives every row weight 1.
    solver : str or Method, default="auto"
        Solver to use, as in `Ridge`. "auto" chooses by the size and the condition number of X.
    max_iter : int or None, default=None
        Maximum number of iterations of the iterative solvers. None uses the default of the solver.
    tol : float, default=1e-4
        Tolerance of the iterative solvers. Direct solvers ignore it.
    verbose : int, default=0
        Has no effect, because there is no progress to print. Accepted for compatibility with
        scikit-learn.
    positive : bool, default=False
        Whether all coefficients must be at least 0.
    random_state : int, Generator or None, default=None
        Seed for the random order of the rows in the solvers "sgd" and "mini_batch".
    return_n_iter : bool, default=False
        Whether to return the number of iterations, too.
    return_intercept : bool, default=False
        Whether to fit an intercept, and return it, too. Any solver and any kind of X can.
    check_input : bool, default=True
        Has no effect, because X and y are always checked. Accepted for compatibility with
        scikit-learn.

    Returns
    -------
    coef : array of shape (d,) or (n_targets, d)
        The coefficients (β̂), with one row per target if there are several.
    n_iter : int
        Number of iterations of the solver, 1 for a direct one; with ``return_n_iter=True``.
    intercept : float or array of shape (n_targets,)
        The intercept, with ``return_intercept=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 0.0]]), np.array([2.0, 0.0, -1.0])
    >>> th.functions.ridge_regression(X, y, alpha=1.0).round(4).tolist()
    [0.75, 0.6667]
    """
    model = Ridge(
        alpha,
        fit_intercept=return_intercept,
        solver=solver,
        max_iter=max_iter,
        tol=tol,
        positive=positive,
        random_state=random_state,
    ).fit(X, y, sample_weight=sample_weight)
    found, intercept = [model.coef_], model.intercept_
    if return_n_iter:
        found.append(model.n_iter_)
    if return_intercept:
        found.append(intercept if np.size(intercept) > 1 else np.ravel(intercept)[0])
    return tuple(found) if len(found) > 1 else model.coef_
