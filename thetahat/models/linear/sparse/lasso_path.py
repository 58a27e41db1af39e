"""Lasso and elastic-net paths: the coefficients at every penalty, from all-zero to all but free."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.validation import as_source
from thetahat.estimator.parameters import (
    Range,
    at_least,
    boolean,
    check_value,
    how_many_or_which,
    more_than,
    one_of,
    whole,
)
from thetahat.foundation.arguments import numbers
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.objective.lasso.l1_least_squares import L1Rows
from thetahat.objective.lasso.l1_path import alpha_grid, alpha_max, given_alphas, path

SOLVER_OPTIONS = {"tol": 1e-4, "max_iter": 1000, "random_state": None, "selection": "cyclic"}
RANGES = {
    "l1_ratio": Range(
        lambda value: at_least(0).holds(value) and value <= 1, "a number between 0 and 1"
    ),
    "eps": more_than(0),
    "alphas": how_many_or_which,
    "positive": boolean,
    "tol": at_least(0),
    "max_iter": whole(1),
    "selection": one_of("cyclic", "random"),
}


def lasso_path(
    X: Any,
    y: Any,
    *,
    eps: float = 1e-3,
    n_alphas: int | None = None,
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    **params: Any,
) -> tuple[Any, ...]:
    """The lasso at every penalty: β̂(α) = argmin ½ mean (y − Xβ)² + α‖β‖₁, without an intercept.

    Formula: piecewise linear in α, and 0 above α_max = max_j |x_jᵀy|/n. For several targets the
    penalty is α Σ_j ‖B_j‖₂, which takes a column in or out for all of them at once.

    Cost: a pass over the columns, O(n d), for every few penalties, and O(s²) for each of the s
    columns in use that comes or goes.

    Parameters
    ----------
    X : array-like or sparse of shape (n, d)
        Features, as they are: centre them for a model with an intercept.
    y : array-like of shape (n,) or (n, n_targets)
        Targets.
    eps : float, default=1e-3
        The smallest penalty as a share of the largest.
    n_alphas : int, optional
        How many penalties; the same as an int for `alphas`.
    alphas : int or array-like, default=100
        How many penalties, or the penalties themselves.
    precompute : bool, "auto" or array of shape (d, d)
        As in `Lasso`.
    Xy : array-like, optional
        Kept for compatibility; Xᵀy is worked out.
    copy_X : bool, default=True
        Kept for compatibility; X is never changed.
    coef_init : array of shape (d,) or (n_targets, d), optional
        Where to begin at the largest penalty.
    verbose : bool or int
        Kept for compatibility.
    return_n_iter : bool, default=False
        Whether to give the sweeps as well.
    positive : bool, default=False
        β ≥ 0; for one target.
    **params
        ``tol`` (1e-4) and ``max_iter`` (1000), as in `Lasso`; ``selection`` and ``random_state``.

    Returns
    -------
    alphas : array of shape (n_alphas,)
        The penalties, largest first.
    coefs : array of shape (d, n_alphas) or (n_targets, d, n_alphas)
        β̂ at each of them.
    dual_gaps : array of shape (n_alphas,)
        How far above the minimum each objective can be.
    n_iters : list of int
        Sweeps, with ``return_n_iter=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[1.0, 2.0, 3.1], [2.3, 5.4, 4.3]]).T, np.array([1.0, 2.0, 3.1])
    >>> alphas, coefs, gaps = th.lasso_path(X, y, alphas=[5.0, 1.0, 0.5], tol=1e-12)
    >>> coefs.round(4).tolist()
    [[0.0, 0.0, 0.4692], [0.2159, 0.4426, 0.2367]]
    """
    return _path(
        "lasso_path",
        X,
        y,
        l1_ratio=1.0,
        eps=eps,
        alphas=alphas if n_alphas is None else n_alphas,
        precompute=precompute,
        coef_init=coef_init,
        return_n_iter=return_n_iter,
        positive=positive,
        params=params,
    )


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: int | None = None,
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    **params: Any,
) -> tuple[Any, ...]:
    """The elastic net at every penalty, without an intercept.

    Formula: β̂(α) = argmin ½ mean (y − Xβ)² + α·(l1_ratio·‖β‖₁ + (1 − l1_ratio)/2·‖β‖²), and 0
    above α_max = max_j |x_jᵀy|/(n·l1_ratio).

    Cost: that of `lasso_path`.

    Parameters
    ----------
    X, y
        As in `lasso_path`.
    l1_ratio : float, default=0.5
        Share of the L1 norm, between 0 (ridge; give `alphas`) and 1 (lasso).
    eps, n_alphas, alphas, precompute, Xy, copy_X, coef_init, verbose, return_n_iter, positive
        As in `lasso_path`.
    check_input : bool, default=True
        Kept for compatibility; input is always checked.
    **params
        As in `lasso_path`.

    Returns
    -------
    alphas, coefs, dual_gaps, n_iters
        As of `lasso_path`.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = np.array([[1.0, 2.0, 3.1], [2.3, 5.4, 4.3]]).T, np.array([1.0, 2.0, 3.1])
    >>> alphas, coefs, gaps = th.enet_path(X, y, alphas=3, l1_ratio=0.9)
    >>> coefs.shape, bool((coefs[:, 0] == 0).all())
    ((2, 3), True)
    """
    return _path(
        "enet_path",
        X,
        y,
        l1_ratio=l1_ratio,
        eps=eps,
        alphas=alphas if n_alphas is None else n_alphas,
        precompute=precompute,
        coef_init=coef_init,
        return_n_iter=return_n_iter,
        positive=positive,
        params=params,
    )


def _path(
    who: str,
    X: Any,
    y: Any,
    *,
    l1_ratio: Any,
    eps: Any,
    alphas: Any,
    precompute: Any,
    coef_init: Any,
    return_n_iter: bool,
    positive: bool,
    params: dict[str, Any],
) -> tuple[Any, ...]:
    unknown = set(params) - set(SOLVER_OPTIONS)
    if unknown:
        raise ParameterError(
            f"{who} has no parameter {sorted(unknown)[0]!r}; beside its own it takes "
            f"{', '.join(sorted(SOLVER_OPTIONS))}."
        )
    options = SOLVER_OPTIONS | params
    wanted: Any = 100 if alphas is None else alphas
    given = {"l1_ratio": l1_ratio, "eps": eps, "alphas": wanted, "positive": positive, **options}
    for name, rule in RANGES.items():
        check_value(given[name], rule, name, who)
    solve = {"tol": options["tol"], "max_iter": options["max_iter"], "l1_ratio": l1_ratio}
    source = as_source(X, y, who=who, check_finite=False)
    if not isinstance(source, InMemory) or source.y is None:
        raise DataError(f"{who} needs rows in memory, and a target y for each of them.")
    start = None if coef_init is None else _start(coef_init, source, who)
    if source.n_outputs:
        from thetahat.objective.lasso.task_path import task_path

        if positive:
            raise ParameterError(f"{who}: positive=True is for one target; y has several columns.")
        alphas, coefs, solutions = task_path(source, wanted, eps, start=start, **solve)
    else:
        rows = L1Rows(source, intercept=False, precompute=precompute)
        problem = rows.problem()
        if isinstance(wanted, Integral):
            largest = alpha_max(problem.design.start, problem.total, l1_ratio, positive)
            alphas = alpha_grid(largest, eps, int(wanted))
        else:
            alphas = given_alphas(wanted, who)
        _, coefs, _, solutions = path(problem, alphas, positive=positive, start=start, **solve)
    _warn(who, solutions, alphas)
    found = (
        alphas,
        coefs.astype(source.dtype, copy=False),
        np.array([solution.gap for solution in solutions]),
    )
    return (*found, [max(1, s.steps) for s in solutions]) if return_n_iter else found


def _start(given: Any, source: InMemory, who: str) -> Array:
    """Where to begin: a coefficient for each column, of every target if there are several."""
    start = numbers(given, "coef_init", who)
    shape: tuple[int, ...] = (source.n_features,)
    shape = (source.n_outputs, *shape) if source.n_outputs else shape
    if start.shape != shape:
        raise ParameterError(
            f"{who}: coef_init has shape {start.shape}; it must be {shape}, one coefficient for "
            "each column of X" + (" and target." if source.n_outputs else ".")
        )
    return start


def _warn(who: str, solutions: list[Solution], alphas: Array) -> None:
    late = [k for k, solution in enumerate(solutions) if "exhausted" in solution.message]
    if late:
        from sklearn.exceptions import ConvergenceWarning

        worst = max(late, key=lambda k: solutions[k].gap)
        warn(
            f"{who}: {len(late)} of {len(solutions)} penalties did not reach tol within "
            f"max_iter sweeps (largest duality gap {solutions[worst].gap:.2g}, at alpha="
            f"{alphas[worst]:.3g}). Raise max_iter or tol, or scale the columns.",
            ConvergenceWarning,
        )
