"""How many singular values are more than noise: rules for the rank k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.arguments import as_float
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.lowrank.decompositions import as_matrix, svd, unit_of


@dataclass(frozen=True)
class RankChoice:
    """A rank and what it was chosen from: the result of the rules of `th.lowrank`.

    Cost: two arrays with one entry per component.

    Attributes
    ----------
    rank : int
        The chosen number of components (k).
    values : array
        The criterion for each component: singular values, variances or errors.
    reference : array
        What the values are compared with, or their standard errors; as long as ``values``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).normal(size=(100, 1)) * np.ones(3)
    >>> th.lowrank.parallel_analysis(X, n_draws=10, random_state=0).rank
    1
    """

    rank: int
    values: Array
    reference: Array


def choose_rank(A: Any, share: float = 0.1, *, tolerance: float | None = None) -> int:
    """Choose the rank by the singular values that are left out.

    Formula: the smallest k with Σ_{i>k} s_i ≤ share·Σ_{i≤k} s_i; with `tolerance`, the smallest k
    with ‖A − A_k‖_F ≤ tolerance·‖A‖_F. Cost: O(mn·min(m, n)).

    Parameters
    ----------
    A : array-like of shape (m, n)
        A matrix of finite numbers.
    share : float, default=0.1
        Largest sum of the singular values left out, as a share of the sum of those that are kept.
        Smaller values keep more. Must be at least 0.
    tolerance : float, optional
        Largest relative error in the Frobenius norm, from 0 to 1; replaces `share`.

    Returns
    -------
    int
        The rank k.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.lowrank.choose_rank(np.diag([10.0, 5.0, 1.0, 0.4]))
    2
    """
    s = svd(as_matrix(A, "choose_rank")).s
    s = s / unit_of(s)
    if tolerance is not None:
        if not 0 <= as_float(tolerance) <= 1:
            raise ParameterError(f"choose_rank: tolerance={tolerance!r} must be from 0 to 1.")
        left = np.concatenate([np.cumsum((s**2)[::-1])[::-1], [0.0]])
        return int(np.argmax(left <= tolerance**2 * left[0]))
    if not as_float(share) >= 0:
        raise ParameterError(f"choose_rank: share={share!r} must be a number ≥ 0.")
    kept = np.concatenate([[0.0], np.cumsum(s)])
    left = np.concatenate([np.cumsum(s[::-1])[::-1], [0.0]])
    return int(np.argmax(left <= share * kept))


def parallel_analysis(
    X: Any, *, n_draws: int = 100, level: float = 0.95, random_state: RandomState = None
) -> RankChoice:
    """Choose the number of principal components that vary more than those of independent columns.

    Formula: the values of each column are permuted, which keeps the columns and removes their
    dependence; component k counts if its variance exceeds the quantile of the k-th largest
    variance over the draws, and all before it do (Horn). Columns are standardised first. Cost:
    n_draws times that of the singular values.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, at least two.
    n_draws : int, default=100
        Number of permutations. More draws give a more accurate quantile.
    level : float, default=0.95
        Quantile of the variances of independent columns, strictly between 0 and 1.
    random_state : int, Generator or None, default=None
        Seed of the permutations. Pass an int for the same result on every call.

    Returns
    -------
    RankChoice
        The number of components, their variances and the quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 8)) + 0.5 * rng.normal(size=(200, 8))
    >>> th.lowrank.parallel_analysis(X, random_state=0).rank
    2
    """
    rows = as_matrix(X, "parallel_analysis")
    if rows.shape[0] < 2:
        raise DataError("parallel_analysis: X has one row, but a variance needs at least 2 rows.")
    _require_whole("parallel_analysis", "n_draws", n_draws, 1)
    if not 0 < as_float(level) < 1:
        raise ParameterError(f"parallel_analysis: level={level!r} must be between 0 and 1.")
    rng = generator(random_state)
    largest = np.abs(rows).max(axis=0)
    rows = rows / np.where(largest > 0, largest, 1.0)
    rows = rows - rows.mean(axis=0)
    size = rows.std(axis=0)
    rows = rows / np.where(size > 0, size, 1.0)
    found = _variances(rows)
    draws = np.stack([_variances(rng.permuted(rows, axis=0)) for _ in range(n_draws)])
    reference = np.quantile(draws, level, axis=0)
    above = found > reference
    rank = len(above) if above.all() else int(np.argmin(above))
    return RankChoice(rank, found, reference)


def _variances(rows: Array) -> Array:
    with one_blas_thread():
        s = scipy_linalg().svdvals(rows, check_finite=False)
    return s**2 / (len(rows) - 1)


def cross_validated_rank(
    A: Any,
    *,
    largest: int | None = None,
    n_folds: int = 5,
    n_iter: int = 50,
    random_state: RandomState = None,
) -> RankChoice:
    """Choose the rank by the error of single entries that were left out.

    Formula: the entries are divided at random into folds. For each fold and k the other entries are
    completed by fill → column means and best rank k about them → fill, starting from the completion
    of rank k − 1, and the squared error at the entries of the fold is averaged. The k with the
    smallest error is chosen. (Leaving out whole rows would not do: the error of a reconstruction
    falls with every further component.) Cost: n_folds·n_iter singular value decompositions for
    each k.

    Parameters
    ----------
    A : array-like of shape (m, n)
        A matrix of finite numbers.
    largest : int, optional
        The largest rank that is tried. None tries up to min(m, n) − 1, at most 20.
    n_folds : int, default=5
        Number of folds of the entries, at least 2. More folds leave out fewer entries at a time.
    n_iter : int, default=50
        Number of fills of each completion. A larger number is more accurate and takes longer.
    random_state : int, Generator or None, default=None
        Seed of the folds. Pass an int for the same result on every call.

    Returns
    -------
    RankChoice
        The rank, the mean squared error for k = 0, 1, …, and its standard error over the folds.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rng = np.random.default_rng(0)
    >>> A = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 12)) + 0.1 * rng.normal(size=(40, 12))
    >>> th.lowrank.cross_validated_rank(A, largest=4, random_state=0).rank
    2
    """
    matrix = as_matrix(A, "cross_validated_rank")
    most = min(matrix.shape) - 1
    limit = min(most, 20) if largest is None else largest
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or not 0 <= limit <= most:
        raise ParameterError(
            f"cross_validated_rank: largest={largest!r} must be a whole number from 0 to "
            f"min(m, n) − 1 = {most}."
        )
    _require_whole("cross_validated_rank", "n_folds", n_folds, 2)
    if n_folds > matrix.size:
        raise ParameterError(
            f"cross_validated_rank: n_folds={n_folds!r} must be at most the number of entries, "
            f"{matrix.size}. Use fewer folds."
        )
    _require_whole("cross_validated_rank", "n_iter", n_iter, 1)
    unit = unit_of(matrix)
    matrix = matrix / unit
    fold = generator(random_state).permutation(np.arange(matrix.size) % n_folds)
    fold, most = fold.reshape(matrix.shape), int(limit)
    errors = np.stack([_held_out(matrix, fold == f, most, n_iter) for f in range(n_folds)], 1)
    mean = errors.mean(axis=1)
    spread = errors.std(axis=1, ddof=1) / np.sqrt(n_folds)
    with np.errstate(over="ignore", under="ignore"):  # of squares in the units of A
        return RankChoice(int(mean.argmin()), mean * unit * unit, spread * unit * unit)


def _require_whole(who: str, name: str, value: Any, least: int) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise ParameterError(f"{who}: {name}={value!r} must be a whole number ≥ {least}.")


def _held_out(matrix: Array, out: Array, limit: int, n_iter: int) -> Array:
    """Mean squared errors at the entries left out, after completion by rank 0, …, limit."""
    known = np.where(out, 0.0, matrix)
    means = known.sum(axis=0) / np.maximum((~out).sum(axis=0), 1)
    filled, errors = np.where(out, means, matrix), np.empty(limit + 1)
    for k in range(limit + 1):
        # From the completion of rank k − 1: a start from the means can end in a poor local optimum.
        # The means are renewed with the fills; errors of fixed means would need a component more.
        for _ in range(n_iter if k else 0):
            means = filled.mean(axis=0)
            U, s, V = svd(filled - means)
            filled = np.where(out, means + (U[:, :k] * s[:k]) @ V[:k], matrix)
        errors[k] = np.mean((filled - matrix)[out] ** 2)
    return errors
