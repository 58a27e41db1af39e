"""Rows of a Gram matrix for sequential minimal optimisation: computed when needed, and cached.

The usual kernels (Gaussian, linear, polynomial, sigmoid) are computed by compiled code. Other
kernels compute their whole matrix if it fits the cache, and single rows otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import memory_for, require_memory
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import TOO_LARGE
from thetahat.mathematics.kernels.stationary import RBF
from thetahat.objective.kernel.compiled import compiled, kernel_sums
from thetahat.objective.kernel.features import LARGEST_VALUE, gram_of

LEAST_SLOTS = 3
"""Rows that one step of the solver uses at once."""
LARGEST_IN_SINGLE = 1e30
"""Kernels with larger values are cached in double precision."""


class RowCache:
    """Rows of a Gram matrix that have been computed, in a buffer of fixed size."""

    def __init__(self, m: int, n_bytes: float, dtype: Any) -> None:
        size = np.dtype(dtype).itemsize
        wanted = min(n_bytes, float(m) * m * size)
        slots = int(min(wanted, memory_for(int(2 * wanted)) / 2) // (m * size))
        slots = max(LEAST_SLOTS, min(slots, m))
        require_memory(slots * m * size, f"A cache of {slots} kernel rows", TOO_LARGE)
        self.buffer = np.empty(slots * m, dtype=dtype)
        self.clear(m)

    def clear(self, m: int) -> None:
        """Forget all rows; new rows have m entries."""
        slots = min(m, len(self.buffer) // m) if m >= LEAST_SLOTS else LEAST_SLOTS
        self._shape(m, slots)

    def _shape(self, m: int, slots: int) -> None:
        self.store = self.buffer[: slots * m].reshape(slots, m)
        self.slot_of = np.full(m, -1, dtype=np.int64)
        self.held = np.full(slots, -1, dtype=np.int64)
        self.used = np.zeros(slots, dtype=np.int64)

    def shrink(self, which: Array) -> None:
        """Keep some of the variables, and their entries in the rows of the others that stay."""
        m, size = self.store.shape[1], len(which)
        place = np.full(m, -1, dtype=np.int64)
        place[which] = np.arange(size)
        old = [(slot, int(place[v]), int(self.used[slot])) for slot, v in enumerate(self.held)
               if v >= 0 and place[v] >= 0]  # fmt: skip
        buffer, store = self.buffer, self.store
        # A row moves forward in the buffer only, so that none is overwritten before it is read.
        for k, (slot, _, _) in enumerate(old):
            buffer[k * size : (k + 1) * size] = store[slot][which]
        self.clear(size)
        for k, (_, variable, used) in enumerate(old[: len(self.held)]):
            self.slot_of[variable], self.held[k], self.used[k] = k, variable, used

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """What compiled code takes."""
        return self.store, self.slot_of, self.held, self.used


class GramRows(ABC):
    """The Gram matrix of m rows, of which single rows can be had."""

    diagonal: Array

    @abstractmethod
    def descend(self, *problem: Any) -> tuple[int, float, bool, int]:
        """Steps of the compiled solver; see ``native/kernels/smo.cpp``."""

    @abstractmethod
    def times(self, beta: Array, of: Array) -> Array:
        """The entries `of` of Kβ, in float64."""

    @abstractmethod
    def kept(self, which: Array) -> GramRows:
        """The rows of some of the variables."""

    @abstractmethod
    def restored(self) -> None:
        """Called when all rows are used again after some had been left out."""


@dataclass
class WholeMatrix(GramRows):
    """A Gram matrix in memory, in float64, of which some rows are used."""

    matrix: Array
    which: Array | None = None

    def __post_init__(self) -> None:
        diagonal = np.einsum("ii->i", self.matrix)
        self.diagonal = np.ascontiguousarray(diagonal if self.which is None else
                                             diagonal[self.which])  # fmt: skip
        self.cache: RowCache | None = None

    def descend(self, *problem: Any) -> tuple[int, float, bool, int]:
        if self.which is None:
            return _native.smo_matrix(self.matrix, self.diagonal, *problem)
        if self.cache is None:
            self.cache = RowCache(len(self.which), 8.0 * len(self.which) ** 2, np.float64)
        return _native.smo_part(
            self.matrix, self.which, *self.cache.arrays, self.diagonal, *problem
        )

    def times(self, beta: Array, of: Array) -> Array:
        which = np.arange(len(beta)) if self.which is None else self.which
        used = np.flatnonzero(beta)
        found = np.empty(len(of))
        for start in range(0, len(of), 256):
            rows = which[of[start : start + 256]]
            found[start : start + 256] = self.matrix[np.ix_(rows, which[used])] @ beta[used]
        return found

    def kept(self, which: Array) -> GramRows:
        return WholeMatrix(self.matrix, which if self.which is None else self.which[which])

    def restored(self) -> None:
        """Its cache, which the others do not share, stays as it is."""


class ComputedRows(GramRows):
    """Rows of the Gram matrix of X, computed by compiled code or by the kernel."""

    def __init__(self, kernel: Kernel, X: Matrix, cache: RowCache) -> None:
        self.kernel, self.X, self.cache = kernel, X, cache
        diagonal = np.asarray(kernel.diagonal(X), dtype=np.float64)
        # The solver compares it with entries of the cached rows.
        self.diagonal = diagonal.astype(cache.buffer.dtype).astype(np.float64)
        self.function, self.before = _source(kernel, X, cache.buffer.dtype)

    def descend(self, *problem: Any) -> tuple[int, float, bool, int]:
        return self.function(*self.before, *self.cache.arrays, self.diagonal, *problem)

    def times(self, beta: Array, of: Array) -> Array:
        used = np.flatnonzero(beta)
        if not len(used):
            return np.zeros(len(of))
        centres, weights = self.X[used], beta[used, None]
        return kernel_sums(self.kernel, centres, weights, np.zeros(1), self.X[of])[:, 0]

    def kept(self, which: Array) -> GramRows:
        self.cache.shrink(which)
        return ComputedRows(self.kernel, self.X[which], self.cache)

    def restored(self) -> None:
        self.cache.clear(self.X.shape[0])


def gram_rows(
    kernel: Kernel, X: Matrix, which: Array | None, n_bytes: float, single: bool
) -> GramRows:
    """Rows of the Gram matrix of some rows of X, which is in float64, with a cache of n_bytes.

    For a precomputed kernel, X is the matrix.
    """
    if type(kernel).rows is not Kernel.rows:
        return WholeMatrix(np.ascontiguousarray(kernel.gram(X)), which)
    X = X if which is None else X[which]
    m = X.shape[0]
    if compiled(kernel) is None and 8.0 * m * m <= n_bytes:
        return WholeMatrix(np.ascontiguousarray(gram_of(kernel, X, np.arange(m))))
    largest = float(np.max(np.abs(kernel.diagonal(X)), initial=0.0))
    if not largest <= LARGEST_VALUE:
        raise DataError(
            f"{kernel!r} is not finite or more than {LARGEST_VALUE:g} for some rows. Scale the "
            "columns first, or use another kernel."
        )
    dtype = np.float32 if single and largest < LARGEST_IN_SINGLE else np.float64
    return ComputedRows(kernel, X, RowCache(m, n_bytes, dtype))


def _source(kernel: Kernel, X: Matrix, dtype: Any) -> tuple[Any, tuple[Any, ...]]:
    """The compiled solver for these rows, and its first arguments."""
    formula = compiled(kernel)
    if formula is None:
        return _native.smo_called, (_row_function(kernel, X),)
    if isinstance(X, np.ndarray):
        if isinstance(kernel, RBF):  # differences of rows do not depend on their middle
            columns = np.ascontiguousarray((X - X.mean(axis=0)).T, dtype=dtype)
        else:
            columns = np.ascontiguousarray(X.T, dtype=np.float64)
        return _native.smo_columns, (columns, *formula, n_threads())
    by_column = X.tocsc()
    squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).reshape(-1)
    parts = [np.ascontiguousarray(part, dtype=kind) for part, kind in (
        (X.indptr, np.int32), (X.indices, np.int32), (X.data, np.float64),
        (by_column.indptr, np.int32), (by_column.indices, np.int32), (by_column.data, np.float64),
        (squares, np.float64),
    )]  # fmt: skip
    return _native.smo_sparse, (*parts, *formula)


def _row_function(kernel: Kernel, X: Matrix) -> Any:
    def row(i: int) -> Array:
        found = np.ascontiguousarray(kernel.block(X[i : i + 1], X)[0], dtype=np.float64)
        if not (np.abs(found) <= LARGEST_VALUE).all():
            raise DataError(
                f"{kernel!r} is not finite or more than {LARGEST_VALUE:g} for some pairs of rows. "
                "Scale the columns first, or use another kernel."
            )
        return found

    return row
