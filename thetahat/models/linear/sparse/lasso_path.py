"""Lasso and elastic-net paths: the coefficients for a decreasing sequence of penalties."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.validation import as_source
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    at_least,
    boolean,
    check_value,
    fraction,
    how_many_or_which,
    more_than,
    one_of,
    whole,
)
from thetahat.foundation.arguments import numbers
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.objective.lasso.l1_least_squares import L1Rows
from thetahat.objective.lasso.l1_path import alpha_grid, alpha_max, given_alphas, path

SOLVER_OPTIONS = {"tol": 1e-4, "max_iter": 1000, "random_state": None, "selection": "cyclic"}
RANGES = {
    "l1_ratio": fraction,
    "eps": more_than(0, LARGEST_FACTOR),
    "alphas": how_many_or_which,
    "positive": boolean,
    "tol": at_least(0),
    "max_iter": whole(1),
    "selection": one_of("cyclic", "random"),
}


@needs_memory
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
    """Compute the lasso coefficients along a path of penalties, without an intercept.

    Formula: β̂(α) = argmin ½ mean (y − Xβ)² + α‖β‖₁. The path is piecewise linear in α, and β̂ = 0
    for α ≥ α_max = max_j |x_jᵀy|/n. For several targets the penalty is α Σ_j ‖B_j‖₂, which includes
    or excludes a column for all targets at once.

    Cost: one pass over the columns, O(n d), for every few penalties, and O(s²) for each column that
    enters or leaves the active set of s columns.

    Parameters
    ----------
    X : array-like or sparse of shape (n, d)
        Training data. They are used as given; centre the columns and y first for a model with an
        intercept.
    y : array-like of shape (n,) or (n, n_targets)
        Target values, one column per target.
    eps : float, default=1e-3
        Ratio of the smallest to the largest penalty on the path. Smaller values make the path
        longer. Only used if `alphas` is an int.
    n_alphas : int or None, default=None
        Number of penalties along the path. The same as an int for `alphas`.
    alphas : int or array-like, default=100
        Number of penalties along the path, or the values themselves. An int gives a geometric
        sequence from the smallest penalty at which all coefficients are zero down to `eps` times
        that value.
    precompute : bool, "auto" or array of shape (d, d), default="auto"
        Whether to form the Gram matrix XᵀX. True always forms it. An array is used as the Gram
        matrix after it has been checked against X; with an intercept it must be that of the centred
        columns. False and "auto" choose the faster way by the size of X.
    Xy : array-like, optional
        Has no effect, because Xᵀy is always computed. Accepted for compatibility with scikit-learn.
    copy_X : bool, default=True
        Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
    coef_init : array of shape (d,) or (n_targets, d), optional
        Initial coefficients for the largest penalty. None starts at zero.
    verbose : bool or int, default=False
        Has no effect. Accepted for compatibility with scikit-learn.
    return_n_iter : bool, default=False
        Whether to return the number of iterations for each penalty as well.
    positive : bool, default=False
        Whether to force all coefficients to be non-negative (β ≥ 0). Only possible with one target.
    **params : dict
        Options of the solver: ``tol`` (default 1e-4) and ``max_iter`` (default 1000), as in
        `Lasso`. ``selection`` and ``random_state`` are accepted and have no effect.

    Returns
    -------
    alphas : array of shape (n_alphas,)
        The penalties along the path, largest first.
    coefs : array of shape (d, n_alphas) or (n_targets, d, n_alphas)
        The coefficients for each penalty.
    dual_gaps : array of shape (n_alphas,)
        Duality gap for each penalty: the objective is at most this much above its minimum.
    n_iters : list of int
        Number of iterations for each penalty. Only returned if ``return_n_iter=True``.

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


@described_like(lasso_path)
@needs_memory
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
    """Compute the elastic-net coefficients along a path of penalties, without an intercept.

    Formula: β̂(α) = argmin ½ mean (y − Xβ)² + α·(l1_ratio·‖β‖₁ + (1 − l1_ratio)/2·‖β‖²), and β̂ = 0
    for α ≥ α_max = max_j |x_jᵀy|/(n·l1_ratio).

    Cost: that of `lasso_path`.

    Parameters
    ----------
    l1_ratio : float, default=0.5
        Share of the L1 norm in the penalty, between 0 and 1. 1 is the lasso penalty, 0 the ridge
        penalty; values in between combine both. With 0, give the values of `alphas` yourself.
    check_input : bool, default=True
        Has no effect, because the input is always checked. Accepted for compatibility with
        scikit-learn.

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
            f"{who} has no parameter {sorted(unknown)[0]!r}. The options of the solver are "
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
        raise DataError(f"{who} needs the rows in memory and a target y for each of them.")
    start = None if coef_init is None else _start(coef_init, source, who)
    if source.n_outputs:
        from thetahat.objective.lasso.task_path import task_path

        if positive:
            raise ParameterError(
                f"{who}: positive=True is only possible with one target, but y has several "
                "columns. Call it once for each column."
            )
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
    """Initial coefficients: one per column, for each target if there are several."""
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
    late = [k for k, s in enumerate(solutions) if s.outcome is Outcome.STEPS_EXHAUSTED]
    if late:
        from sklearn.exceptions import ConvergenceWarning

        worst = max(late, key=lambda k: solutions[k].gap)
        warn(
            f"{who}: {len(late)} of {len(solutions)} penalties did not reach tol within "
            f"max_iter iterations (largest duality gap {solutions[worst].gap:.2g}, at alpha="
            f"{alphas[worst]:.3g}). Raise max_iter or tol, or scale the columns.",
            ConvergenceWarning,
        )
