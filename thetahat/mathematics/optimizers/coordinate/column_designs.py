"""Representations of X for working sets: Gram matrix, dense columns, or compressed sparse columns.

All three represent the same problem in sums over the rows, with columns centred at their means:

    ½‖r‖² with r = √w∘(y − ȳ − (X − x̄)β),    slopes c = (√w∘(X − x̄))ᵀ r,    ‖y‖² = Σ w (y − ȳ)².

X itself is neither centred nor copied, unless it has few numbers: dense rows are read in place,
and only the columns of working sets are extracted; sparse columns stay sparse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thetahat import _native
from thetahat.foundation.threads import one_blas_thread, parallel_for
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.coordinate.column_slopes import (
    EXACT,
    CoarseSlopes,
    ColumnSlopes,
    PlainSlopes,
)
from thetahat.mathematics.optimizers.coordinate.gram_descent import (
    Limits,
    Progress,
    Terms,
    descend_on_gram,
)

ALMOST = 0.999
"""Slopes below this share of a threshold need not be exact."""
COLUMNS_PER_PRODUCT = 256
"""Number of columns of a product that one thread computes at a time."""
FEW_NUMBERS = 2**18
"""Number of entries of X that fit in a cache: a few sweeps over all of them are cheap."""
FEWEST_CACHED = 2000
"""Number of columns whose Gram matrix is kept for any number of rows."""


class ResidualState(NamedTuple):
    """The state at β: every slope c, ‖r‖², yᵀr, and the largest error of each slope."""

    slopes: Array
    squared: float
    with_target: float
    slack: Array = EXACT


class Swept(NamedTuple):
    """The results of sweeps over all columns, for each of several penalties."""

    solved: int
    """Number of penalties whose gap is within the tolerance; the next one took too many sweeps."""
    betas: Array
    values: Array
    gaps: Array
    sweeps: Array
    slopes: Array
    """At the last β."""

    @classmethod
    def room(cls, penalties: int, d: int) -> Swept:
        """Empty arrays that a kernel fills."""
        values, gaps = np.empty((2, penalties))
        sweeps = np.zeros(penalties, dtype=np.int64)
        return cls(0, np.empty((penalties, d)), values, gaps, sweeps, np.empty(d))


class Design(ABC):
    """Base class of the representations of X and y."""

    squares: Array
    """‖x_j‖² of the centred columns."""
    target_squared: float
    start: Array
    """The slopes at β = 0."""
    takes_all: bool = False
    """Whether a working set always consists of all columns."""
    along_the_path: bool = False
    """Whether it is faster to approach a small penalty through larger ones."""
    column_length: int = 1
    """Numbers that the product of two columns takes: their rows, or one of a Gram matrix."""
    sweeps_all: bool = False
    """Whether there are compiled sweeps over all columns."""

    @property
    def n_columns(self) -> int:
        return len(self.squares)

    @property
    def is_small(self) -> bool:
        """Whether X fits in a cache: sweeps over all of it, and settled coefficients, are cheap."""
        return self.n_columns * self.column_length <= FEW_NUMBERS

    def jumps_cheaply(self, count: int) -> bool:
        """Whether the Gram matrix of so many columns costs no more than a few sweeps."""
        return count * count * self.column_length <= FEW_NUMBERS

    @property
    def settles_at_once(self) -> bool:
        """Whether the first descent may end with settled coefficients, not only a small gap."""
        return self.takes_all and self.jumps_cheaply(self.n_columns)

    @abstractmethod
    def begin(self, beta: Array, near: Array | None = None) -> ResidualState:
        """Set the current point to β."""

    @abstractmethod
    def descend(self, beta: Array, working: Array, terms: Terms, limits: Limits) -> Progress:
        """Minimise over the columns of a working set, β in place."""

    def descend_all(self, beta: Array, terms: Terms, limits: Limits) -> Progress:
        """Minimise over all columns, β in place."""
        return self.descend(beta, np.arange(self.n_columns), terms, limits)

    @abstractmethod
    def residual_state(self, near: Array | None = None) -> ResidualState:
        """The state after the last descent; slopes certainly below `near` may be inexact."""


class GramDesign(Design):
    """G = XᵀX and Xᵀy only; the rows are no longer needed. O(d²) memory."""

    takes_all = True

    def __init__(self, gram: Array, start: Array, target_squared: float) -> None:
        self.gram = np.ascontiguousarray(gram, dtype=np.float64)
        self.start = np.ascontiguousarray(start, dtype=np.float64)
        self.target_squared = max(0.0, target_squared)
        self.squares = np.diagonal(self.gram).copy()
        self._active = _native.ActiveSet(len(self.squares))

    def begin(self, beta: Array, near: Array | None = None) -> ResidualState:
        self._beta = beta
        with one_blas_thread():
            self._slopes = self.start - self.gram @ beta if beta.any() else self.start.copy()
        return self.residual_state()

    def descend(self, beta: Array, working: Array, terms: Terms, limits: Limits) -> Progress:
        self._beta = beta
        progress, self._slopes = descend_on_gram(
            self.gram, self.start, self.target_squared, terms, beta, limits, self._active
        )
        return progress

    def residual_state(self, near: Array | None = None) -> ResidualState:
        explained = float(np.sum(self._beta * self.start))
        left = self.target_squared - explained - float(np.sum(self._beta * self._slopes))
        return ResidualState(self._slopes.copy(), max(left, 0.0), self.target_squared - explained)


@dataclass
class _Cache:
    """The columns that working sets have used, packed as rows, and their Gram matrix."""

    columns: Array
    packed: Array
    gram: Array
    active: _native.ActiveSet


class DenseDesign(Design):
    """Dense rows, read in place, with the Gram matrix of the columns that working sets use.

    Few numbers are centred and weighted once instead, as contiguous columns, because all of them
    are read several times: for their squares, by sweeps, and for the slopes at the end.

    Parameters
    ----------
    X : array of shape (n, d), float32 or float64, any order
        The rows of X, which are not copied if they are many.
    y : array of shape (n,)
        The centred target, √w∘(y − ȳ).
    mean : array of shape (d,)
        Column means x̄; zeros without an intercept.
    root : array of shape (n,)
        Square roots of the row weights, √w.
    rounding : float
        A column counts as constant if its squares are below this share of Σw·x̄².
    """

    along_the_path = True
    sweeps_all = True

    def __init__(self, X: Array, y: Array, mean: Array, root: Array, rounding: float = 0.0) -> None:
        weight = root * root
        with np.errstate(over="ignore"):
            noise = rounding * np.sum(weight) * mean * mean
        self.X, self.mean, self.root = X, mean, root
        self._centres, self._weighs = bool(mean.any()), bool((root != 1).any())
        self.column_length = len(X)
        self._all: Array | None = None
        self._columns: ColumnSlopes | None = None
        if X.size <= FEW_NUMBERS:
            self.squares, start = self._pack_few(y)
        else:
            self._columns = (CoarseSlopes if CoarseSlopes.suits(X) else PlainSlopes)(X, mean)
            self.squares, start = self._columns.survey(weight, root * y)
        self.squares[(self.squares <= noise) & np.isfinite(self.squares)] = 0.0
        self._empty_cache()
        self._aim(y, np.where(self.squares > 0, start, 0.0))

    def _pack_few(self, y: Array) -> tuple[Array, Array]:
        """Put contiguous columns, centred and weighted, in the place of X; as `survey`."""
        n, d = self.X.shape
        with np.errstate(over="ignore", invalid="ignore"):  # the squares show an overflow
            self.X = self._whole().T
        self.mean, self.root = np.zeros(d), np.ones(n)
        self._centres = self._weighs = False
        squares = np.empty(d)
        _native.column_squares(self.X, self.mean, self.root, squares, 0)
        return squares, self._products(y)

    def _products(self, residual: Array) -> Array:
        """The products of all columns, packed, with a residual."""
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            return np.dot(self._whole(), residual)

    def aim(self, y: Array) -> None:
        """Change the target and keep everything that depends only on the columns."""
        self._aim(y, self._slopes_of(y)[0])

    def _aim(self, y: Array, start: Array) -> None:
        self.y, self.start = y, start
        self.target_squared = float(np.sum(y * y))
        self._residual = y.copy()
        self._known: tuple[Array, Array] | None = None

    def begin(self, beta: Array, near: Array | None = None) -> ResidualState:
        support, self._known = np.flatnonzero(beta), None
        if not support.size:
            self._residual = self.y.copy()
            return ResidualState(self.start.copy(), self.target_squared, self.target_squared)
        self._residual = self.y - self._fitted(support, beta[support])
        return self.residual_state(near)

    def descend(self, beta: Array, working: Array, terms: Terms, limits: Limits) -> Progress:
        n, polishes = len(self.y), limits.share < np.inf
        by_sweeps = self.is_small and polishes and bool(terms.l2.any())
        by_sweeps = by_sweeps and not self.jumps_cheaply(len(working))
        if len(working) > (n if by_sweeps else max(2 * n, FEWEST_CACHED)):
            return self.descend_all(beta, terms, limits)
        self._extend_cache(working)
        columns = self._cache.columns
        part = beta[columns]
        progress, slopes = descend_on_gram(
            self._cache.gram, self.start[columns], self.target_squared, terms.of(columns), part,
            limits, self._cache.active,
        )  # fmt: skip
        beta[columns], self._known = part, (columns, slopes)
        self._residual = self.y - _combined(self._cache.packed, part)
        return progress

    def descend_all(self, beta: Array, terms: Terms, limits: Limits) -> Progress:
        l1, l2, lower = terms
        found = self.sweep(l1[None], l2[None], lower, beta, limits)
        beta[:], self._known = found.betas[0], (np.arange(len(beta)), found.slopes)
        self._residual = self.y - _combined(self._whole(), beta)
        sweeps = int(found.sweeps[0])
        stuck = not found.solved and sweeps < limits.sweeps
        return Progress(sweeps, float(found.gaps[0]), stuck)

    def sweep(
        self, l1: Array, l2: Array, lower: Array, beta: Array, limits: Limits, once: bool = False
    ) -> Swept:
        """Minimise on the residual at each of several penalties, up to the first difficult one.

        l1 and l2 have one row per penalty. `once` makes at least one sweep, even from an optimum.
        """
        found = Swept.room(*l1.shape)
        solved = _native.sweep_path(
            self._whole(), self.y, self.squares, self.start, l1, l2, lower, beta, *limits, once,
            *found[1:],
        )  # fmt: skip
        return found._replace(solved=solved)

    def _whole(self) -> Array:
        """All columns, packed as rows."""
        if self._all is None:
            self._all = np.array(self.X.T, dtype=np.float64, order="C")
            self._centre(self._all, slice(None))
        return self._all

    def residual_state(self, near: Array | None = None) -> ResidualState:
        residual = self._residual
        least = None if near is None else ALMOST * near
        slopes, slack = self._slopes_of(residual, least, self._known)
        squared, with_target = np.sum(residual * residual), np.sum(residual * self.y)
        return ResidualState(slopes, float(squared), float(with_target), slack)

    def _slopes_of(
        self, residual: Array, near: Array | None = None, known: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        if known is not None and len(known[0]) == self.n_columns:
            slopes, slack = np.empty(self.n_columns), EXACT
            slopes[known[0]] = known[1]
        elif self._columns is None:
            slopes, slack = self._products(residual), EXACT
        else:
            slopes, slack = self._columns.near(self.root * residual, near, known)
        return np.where(self.squares > 0, slopes, 0.0), slack

    def _packed(self, columns: Array, out: Array | None = None) -> Array:
        """Centred, weighted columns, as contiguous rows."""
        taken: Array = np.empty((len(columns), len(self.y))) if out is None else out
        for row, column in zip(taken, columns, strict=True):
            row[:] = self.X[:, column]
        self._centre(taken, columns)
        return taken

    def _centre(self, packed: Array, columns: Array | slice) -> None:
        if self._centres:
            packed -= self.mean[columns, None]
        if self._weighs:
            packed *= self.root

    def _fitted(self, support: Array, part: Array) -> Array:
        with one_blas_thread():
            return part @ self._packed(support)

    def _empty_cache(self) -> None:
        nothing = np.empty((0, self.X.shape[0]))
        self._cache = _Cache(
            np.empty(0, dtype=np.int64),
            nothing,
            np.empty((0, 0)),
            _native.ActiveSet(len(self.X)),
        )

    def _extend_cache(self, working: Array) -> None:
        """Add the new columns; start again if most of the old ones are not in use."""
        cache = self._cache
        if len(cache.columns) > 2 * len(working) + 200:
            self._empty_cache()
            cache = self._cache
        known = np.zeros(self.n_columns, dtype=bool)
        known[cache.columns] = True
        new = working[~known[working]]
        if not new.size:
            return
        old, count = len(cache.columns), len(cache.columns) + len(new)
        if count > len(cache.gram):
            room = min(self.n_columns, 2 * count)
            packed, gram = np.empty((room, len(self.y))), np.empty((room, room))
            packed[:old], gram[:old, :old] = cache.packed[:old], cache.gram[:old, :old]
        else:
            packed, gram = cache.packed, cache.gram
        fresh = self._packed(new, packed[old:count])

        def work(some: slice) -> None:
            np.matmul(fresh, packed[some].T, out=gram[old:count, some])
            if some.stop <= old:
                gram[some, old:count] = gram[old:count, some].T

        # Products among the new columns are computed separately: BLAS needs only one half of them.
        ends = [*range(0, old, COLUMNS_PER_PRODUCT), old, count]
        parallel_for(work, map(slice, ends, ends[1:]), len(new) * count * len(self.y))
        self._cache = _Cache(np.concatenate([cache.columns, new]), packed, gram, cache.active)


def _combined(packed: Array, beta: Array) -> Array:
    """Columns, packed as rows, times their coefficients."""
    support, found = np.flatnonzero(beta), np.empty(packed.shape[1])
    _native.combine_rows(packed, support, beta[support], found)
    return found
