"""Draw rows at random: shuffles, subsets, the bootstrap, weighted, rejection, synthetic rows.

The bootstrap draws n of n rows with replacement. A row is in none of the draws with probability

    (1 − 1/n)ⁿ → e⁻¹ ≈ 0.368,

so about a third of the rows are not drawn and can be used for testing ("out of bag").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from thetahat.data.synthetic import synthetic_rows
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array

Indices = NDArray[np.intp]
Draw = TypeVar("Draw")

__all__ = [
    "Bootstrap",
    "bootstrap_indices",
    "draw_until",
    "shuffle",
    "subset_features",
    "subset_rows",
    "synthetic_rows",
    "weighted_indices",
]


def __dir__() -> list[str]:
    return sorted(__all__)


class Bootstrap(NamedTuple):
    """Row numbers of a bootstrap sample: the drawn rows, with repetitions, and the others.

    Formula: drawn ∪ out_of_bag = {0, ..., n − 1}, disjoint. Cost: O(n) memory.

    Attributes
    ----------
    drawn : ndarray of int
        Numbers of the drawn rows. A row may be drawn several times.
    out_of_bag : ndarray of int
        Numbers of the rows that were not drawn, in ascending order.

    Examples
    --------
    >>> import thetahat as th
    >>> rows = th.resampling.bootstrap_indices(5, random_state=0)
    >>> sorted({*rows.drawn.tolist(), *rows.out_of_bag.tolist()})
    [0, 1, 2, 3, 4]
    """

    drawn: Indices
    out_of_bag: Indices


def shuffle(*arrays: Any, random_state: RandomState = None) -> Any:
    """Put the rows of one or several arrays into the same random order.

    Formula: all n! orders are equally likely, so P(row i at place j) = 1/n. Cost: O(n·d), a copy.

    Parameters
    ----------
    *arrays : arrays, sparse arrays, tables or lists with the same number of rows
        The arrays to shuffle, such as X, y and the weights.
    random_state : int, Generator or None
        Seed or generator for the order. The same seed gives the same result.

    Returns
    -------
    The shuffled array, or a tuple of arrays if several were given.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X, y = th.resampling.shuffle(np.arange(8).reshape(4, 2), np.arange(4), random_state=0)
    >>> bool((X[:, 0] == 2 * y).all())
    True
    """
    n_rows = _common_rows(arrays)
    return _take_all(arrays, generator(random_state).permutation(n_rows))


def subset_rows(*arrays: Any, size: int | float, random_state: RandomState = None) -> Any:
    """Draw some rows without replacement, the same from every array, in their original order.

    Formula: each row is kept with probability size/n. Cost: O(n + size·d).

    Parameters
    ----------
    *arrays : arrays, sparse arrays, tables or lists with the same number of rows
        The arrays to draw from, such as X, y and the weights.
    size : int, or float in (0, 1]
        The number of rows, or as a float the share of the rows (rounded, but at least one row).
    random_state : int, Generator or None
        Seed or generator for the draw. The same seed gives the same rows.

    Returns
    -------
    The subset, or a tuple of subsets if several arrays were given.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.resampling.subset_rows(np.arange(10), size=0.3, random_state=0).shape
    (3,)
    """
    n_rows = _common_rows(arrays)
    return _take_all(arrays, _subset(n_rows, size, "rows", random_state))


def subset_features(
    X: Array, *, size: int | float, random_state: RandomState = None
) -> tuple[Array, Indices]:
    """Draw some columns without replacement, in their original order.

    Formula: each column is kept with probability size/d. Cost: O(d + n·size).

    Parameters
    ----------
    X : array, sparse array or pandas DataFrame of shape (n, d)
        The rows to take columns from.
    size : int, or float in (0, 1]
        The number of columns, or as a float the share of the columns (rounded, but at least one
        column).
    random_state : int, Generator or None
        Seed or generator for the draw. The same seed gives the same columns.

    Returns
    -------
    subset : of shape (n, size)
        The chosen columns.
    columns : ndarray of int
        The numbers of the chosen columns, to choose the same ones for prediction.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(12).reshape(3, 4)
    >>> subset, columns = th.resampling.subset_features(X, size=2, random_state=0)
    >>> bool((subset == X[:, columns]).all())
    True
    """
    columns = _subset(X.shape[1], size, "features", random_state)
    return take_columns(X, columns), columns


def bootstrap_indices(
    n_rows: int, *, size: int | None = None, random_state: RandomState = None
) -> Bootstrap:
    """Draw row numbers with replacement, by default as many as there are rows.

    Formula: a row is out of bag with probability (1 − 1/n)^size, for size = n about e⁻¹. Cost:
    O(n + size).

    Parameters
    ----------
    n_rows : int
        The number of rows to draw from (n).
    size : int, optional
        The number of draws. By default n_rows.
    random_state : int, Generator or None
        Seed or generator for the draw. The same seed gives the same rows.

    Returns
    -------
    Bootstrap
        ``drawn`` (size,) and ``out_of_bag``, in ascending order.

    Examples
    --------
    >>> import thetahat as th
    >>> rows = th.resampling.bootstrap_indices(100_000, random_state=0)
    >>> round(rows.out_of_bag.size / 100_000, 2)
    0.37
    """
    if n_rows < 1:
        raise ParameterError(f"bootstrap_indices: n_rows={n_rows!r} must be at least 1.")
    if size is not None and size < 1:
        raise ParameterError(f"bootstrap_indices: size={size!r} must be at least 1.")
    drawn = generator(random_state).integers(n_rows, size=size or n_rows, dtype=np.intp)
    missed = np.ones(n_rows, dtype=bool)
    missed[drawn] = False
    return Bootstrap(drawn, np.flatnonzero(missed))


def weighted_indices(
    weight: Array,
    *,
    size: int | None = None,
    systematic: bool = False,
    random_state: RandomState = None,
) -> Indices:
    """Draw row numbers with replacement, with probabilities proportional to weights.

    Fitting the drawn rows replaces a weighted fit for models that do not accept row weights.

    Formula: P(row i) = wᵢ / Σw at each draw. With ``systematic``, one random offset places equally
    spaced points on the cumulated weights: row i is then drawn size·wᵢ/Σw times, rounded up or
    down, which has the same mean and a smaller variance. Cost: O(n + size·log n).

    Parameters
    ----------
    weight : array of shape (n,)
        Row weights, finite and ≥ 0, not all zero.
    size : int, optional
        The number of draws. By default the number of rows.
    systematic : bool, default=False
        Whether draws are equally spaced instead of independent. The row numbers are then in
        ascending order.
    random_state : int, Generator or None
        Seed or generator for the draw. The same seed gives the same rows.

    Returns
    -------
    ndarray of int, (size,)

    Examples
    --------
    >>> import thetahat as th
    >>> th.resampling.weighted_indices([0, 1, 3], size=4, systematic=True, random_state=0)
    array([1, 2, 2, 2])
    """
    weight = _checked_weight(weight)
    draws = weight.size if size is None else size
    if draws < 1:
        raise ParameterError(f"weighted_indices: size={size!r} must be at least 1.")
    rng = generator(random_state)
    cumulated = np.cumsum(weight / weight.max())
    place = (np.arange(draws) + rng.random()) / draws if systematic else rng.random(draws)
    found = np.searchsorted(cumulated, place * cumulated[-1], side="right")
    # Rounding may move the last point past the end; use the last row of positive weight.
    rows: Indices = np.minimum(found, np.flatnonzero(weight)[-1])
    return rows


def draw_until(
    draw: Callable[[np.random.Generator], Draw],
    accept: Callable[[Draw], bool],
    *,
    max_draws: int = 10_000,
    random_state: RandomState = None,
) -> Draw:
    """Draw candidates until one is accepted (rejection sampling).

    Formula: if candidates follow q, the result follows p(x) ∝ q(x)·1[accept(x)]. Cost: 1/P(accept)
    draws on average. If nothing is accepted, an error is raised after ``max_draws``.

    Parameters
    ----------
    draw : callable
        A function ``draw(rng)`` that returns one candidate.
    accept : callable
        A function ``accept(candidate)`` that returns whether to keep it.
    max_draws : int, default=10_000
        The number of rejected draws after which an error is raised.
    random_state : int, Generator or None
        Seed or generator for the draws. The same seed gives the same result.

    Returns
    -------
    The first accepted draw.

    Examples
    --------
    A label other than 2, all others equally likely:

    >>> import thetahat as th
    >>> label = th.resampling.draw_until(
    ...     lambda rng: int(rng.integers(4)), lambda label: label != 2, random_state=0
    ... )
    >>> label in (0, 1, 3)
    True
    """
    if max_draws < 1:
        raise ParameterError(f"draw_until: max_draws={max_draws!r} must be at least 1.")
    rng = generator(random_state)
    for _ in range(max_draws):
        candidate = draw(rng)
        if accept(candidate):
            return candidate
    # The rule of three: with no success in m trials, P < 3/m at 95 % confidence.
    raise ParameterError(
        f"draw_until: none of {max_draws} draws was accepted, so P(accept) < {3 / max_draws:.2g} "
        "with 95 % confidence. Use a draw closer to what is accepted, a less strict accept, or a "
        "larger max_draws."
    )


def _common_rows(arrays: tuple[Any, ...]) -> int:
    if not arrays:
        raise ParameterError("No array was given. Give at least one, such as X.")
    rows = [array.shape[0] if hasattr(array, "shape") else len(array) for array in arrays]
    if len(set(rows)) > 1:
        raise DataError(
            f"The arrays have {', '.join(map(str, rows))} rows. Give arrays with the same number "
            "of rows."
        )
    return int(rows[0])


def _take_all(arrays: tuple[Any, ...], rows: Indices) -> Any:
    taken = tuple(take_rows(array, rows) for array in arrays)
    return taken if len(taken) > 1 else taken[0]


def take_rows(array: Any, rows: Indices) -> Any:
    """Rows of an array, sparse array, table or list, given by number."""
    if isinstance(array, list | tuple):
        return [array[row] for row in rows]
    if hasattr(array, "iloc"):
        return array.iloc[rows]
    if type(array).__module__.startswith("pyarrow"):
        return array.take(rows)
    if type(array) is np.ndarray and getattr(rows, "dtype", np.dtype(bool)).kind in "iu":
        return array.take(rows, axis=0)  # three times as fast as indexing
    return array[rows]


def take_columns(X: Any, columns: Indices) -> Any:
    """Columns of an array, sparse array or table, given by number."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if hasattr(X, "column_names"):  # an Arrow table
        return X.select(columns.tolist())
    return X[:, columns.tolist() if hasattr(X, "columns") else columns]


def _subset(n: int, size: int | float, what: str, random_state: RandomState) -> Indices:
    if isinstance(size, float | np.floating):
        if not 0 < size <= 1:
            raise ParameterError(f"size={size!r}: a share of the {what} must lie in (0, 1].")
        size = max(1, round(size * n))
    if not 1 <= size <= n:
        raise ParameterError(f"size={size!r} must lie between 1 and {n}, the number of {what}.")
    chosen = generator(random_state).choice(n, size=int(size), replace=False, shuffle=False)
    return np.sort(chosen).astype(np.intp, copy=False)


def _checked_weight(weight: Array) -> NDArray[np.float64]:
    values = np.asarray(weight, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise DataError(f"Weights have shape {values.shape}. Give one number per row, (n,).")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise DataError(
            f"{bad.size} of {values.size} weights are negative or not finite (first at row "
            f"{bad[0]}: {values[bad[0]]:g}); weights must be finite and ≥ 0. Drop those rows."
        )
    if not values.any():
        raise DataError("All weights are zero, so no row can be drawn. Give a positive weight.")
    return values
