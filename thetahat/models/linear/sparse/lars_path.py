"""Least angle regression and the lasso's path as functions of X and y, or of XᵀX and Xᵀy."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.in_memory import InMemory
from thetahat.data.validation import as_source
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.estimator.parameters import (
    at_least,
    boolean,
    check_value,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.foundation.arguments import numbers
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.square import as_gram
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.linear.sparse.l1_regressor import gram_choice
from thetahat.models.linear.sparse.least_angle import print_path
from thetahat.objective.lasso.least_angle import (
    LeastAngleProblem,
    PathRules,
    least_angle_problem,
)

METHODS = ("lar", "lasso")


@needs_memory
def lars_path(
    X: Any,
    y: Any,
    Xy: Any = None,
    *,
    Gram: Any = None,
    max_iter: float = 500,
    alpha_min: float = 0.0,
    method: str = "lar",
    copy_X: bool = True,
    eps: float = EPSILON,
    copy_Gram: bool = True,
    verbose: Any = 0,
    return_path: bool = True,
    return_n_iter: bool = False,
    positive: bool = False,
) -> tuple[Any, ...]:
    """Compute the path of least angle regression or of the lasso, without an intercept.

    Formula: that of `Lars` (``method="lar"``) or of `LassoLars` (``method="lasso"``), whose nodes
    minimise ½‖y − Xβ‖²/n + α‖β‖₁. The coefficients are linear in α between two nodes.

    Cost: O(n d²) for the Gram matrix, or O(n d) per step for many columns; O(d s) more per step
    with s columns in use.

    Parameters
    ----------
    X : array-like or sparse of shape (n, d)
        Training data. They are used as given; centre the columns and y first for a model with an
        intercept.
    y : array-like of shape (n,)
        Target values, one per row.
    Xy : array-like of shape (d,), optional
        Has no effect, because Xᵀy is always computed. Accepted for compatibility with scikit-learn.
    Gram : bool, "auto", array of shape (d, d) or None, default=None
        Whether to form the Gram matrix XᵀX. None and "auto" choose by the size of X. An array has
        the effect of True: it must be a symmetric (d, d) matrix, and is computed again from X.
    max_iter : int or infinity, default=500
        Maximum number of steps of the path.
    alpha_min : float, default=0
        Penalty α at which the path ends.
    method : {"lar", "lasso"}, default="lar"
        "lar" for least angle regression, in which no column leaves; "lasso" for the lasso.
    copy_X : bool, default=True
        Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
    eps : float, default=2.2e-16
        Has no effect, because columns that depend linearly on others are left out. Accepted for
        compatibility with scikit-learn.
    copy_Gram : bool, default=True
        Has no effect. Accepted for compatibility with scikit-learn.
    verbose : int, default=0
        Whether to print the columns that join and leave at each step of the path.
    return_path : bool, default=True
        Whether to return all nodes of the path. False returns the last one only.
    return_n_iter : bool, default=False
        Whether to return the number of steps as well.
    positive : bool, default=False
        Whether to force all coefficients to be non-negative (β ≥ 0). Only for ``method="lasso"``.

    Returns
    -------
    alphas : array of shape (n_nodes,), or float
        Absolute correlation of the columns in use with the residual, divided by n, at each node.
    active : list of int
        Columns in use at the end of the path, in the order in which they joined.
    coefs : array of shape (d, n_nodes) or (d,)
        Coefficients at each node of the path.
    n_iter : int
        Number of steps. Only returned if ``return_n_iter=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> alphas, active, coefs = th.lars_path(np.eye(2), np.array([4.0, -1.0]))
    >>> alphas.tolist(), active, coefs.tolist()
    ([2.0, 0.5, 0.0], [0, 1], [[0.0, 3.0, 4.0], [0.0, 0.0, -1.0]])
    """
    rules = _rules("lars_path", method, positive, max_iter, alpha_min, return_path)
    check_value(Gram, gram_choice | none, "Gram", "lars_path")
    if X is None:
        raise DataError(
            "lars_path: X is None. Pass the rows, or use lars_path_gram with X.T @ y and X.T @ X."
        )
    source = as_source(X, y, who="lars_path", check_finite=False)
    if not isinstance(source, InMemory) or source.y is None or source.n_outputs:
        raise DataError(
            "lars_path needs the rows in memory and one target y for each of them. Use Lars or "
            "LassoLars for several targets."
        )
    problem = least_angle_problem(source, intercept=False, precompute=Gram, who="lars_path: Gram")
    return _found("lars_path", problem, rules, source.dtype, verbose, return_n_iter)


@described_like(lars_path)
def lars_path_gram(
    Xy: Any,
    Gram: Any,
    *,
    n_samples: float,
    max_iter: float = 500,
    alpha_min: float = 0.0,
    method: str = "lar",
    copy_X: bool = True,
    eps: float = EPSILON,
    copy_Gram: bool = True,
    verbose: Any = 0,
    return_path: bool = True,
    return_n_iter: bool = False,
    positive: bool = False,
) -> tuple[Any, ...]:
    """Compute the path of `lars_path` from XᵀX and Xᵀy.

    Formula: that of `lars_path`. Cost: O(d s) per step with s columns in use.

    Parameters
    ----------
    Xy : array-like of shape (d,)
        Product of the columns with the target, Xᵀy.
    Gram : array-like of shape (d, d)
        Gram matrix of the columns, XᵀX. Must be symmetric, with a diagonal that is not negative.
    n_samples : int or float
        Number of rows, by which the penalties are divided. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> alphas, active, coefs = th.lars_path_gram(np.array([4.0, -1.0]), np.eye(2), n_samples=2)
    >>> alphas.tolist(), active
    ([2.0, 0.5, 0.0], [0, 1])
    """
    who = "lars_path_gram"
    rules = _rules(who, method, positive, max_iter, alpha_min, return_path)
    check_value(n_samples, more_than(0), "n_samples", who)
    gram, c = numbers(Gram, "Gram", who), numbers(Xy, "Xy", who)
    if c.ndim != 1 or gram.shape != (len(c), len(c)):
        raise DataError(
            f"{who}: Gram must have shape (d, d) and Xy (d,), but they have {gram.shape} and "
            f"{c.shape}. Pass X.T @ X and X.T @ y."
        )
    gram = as_gram(gram, len(c), who=f"{who}: Gram")
    problem = LeastAngleProblem(
        matrix=np.ascontiguousarray(gram),
        by_columns=False,
        correlation=np.ascontiguousarray(c[None]),
        total=float(n_samples),
        n_rows=len(c),
        x_mean=np.zeros(len(c)),
        y_mean=np.zeros(1),
    )
    return _found(who, problem, rules, np.float64, verbose, return_n_iter)


def _rules(
    who: str, method: Any, positive: Any, max_iter: Any, alpha_min: Any, return_path: Any
) -> PathRules:
    check_value(method, one_of(*METHODS), "method", who)
    check_value(positive, boolean, "positive", who)
    check_value(alpha_min, at_least(0), "alpha_min", who)
    if max_iter != np.inf:
        check_value(max_iter, whole(0), "max_iter", who)
    if positive and method == "lar":
        raise ParameterError(
            f"{who}: positive=True is not possible with method='lar'. Use method='lasso'."
        )
    return PathRules(method == "lasso", positive, max_iter, alpha_min, bool(return_path))


def _found(
    who: str,
    problem: LeastAngleProblem,
    rules: PathRules,
    dtype: Any,
    verbose: Any,
    return_n_iter: bool,
) -> tuple[Any, ...]:
    path = problem.path(rules)
    if verbose:
        print_path(path)
    if path.outcome is Outcome.STALLED:
        warn(f"{who}: {path.outcome.value}.", ConvergenceWarning)
    alphas: Array = path.alphas.astype(dtype, copy=False)
    coefs: Array = path.coefs.T.astype(dtype, copy=False)
    found = (alphas, path.active, coefs if rules.keep_path else coefs[:, 0])
    return (*found, path.steps) if return_n_iter else found
