"""Cholesky factors and triangular systems in place, block by block, on any array library.

A right-looking factorisation: the diagonal block is factored, the panel below it is solved, and the
product of the panel with itself is subtracted from the rest. Almost all of the time goes to matrix
products, and no second matrix is needed.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from thetahat.foundation.types import Array

BLOCK = 2048
"""Columns that are eliminated at once."""


class NotPositiveDefinite(ArithmeticError):
    """A matrix has no Cholesky factor in its precision."""


def factor_in_place(K: Array, block: int = BLOCK) -> Array:
    """Overwrite the lower triangle of K by L with K = LLᵀ. Cost: O(n³/3), no further memory.

    The entries above the diagonal are not used afterwards.
    """
    xp, n = array_namespace(K), int(K.shape[0])
    for start in range(0, n, block):
        stop = min(n, start + block)
        corner = _cholesky(xp, K[start:stop, start:stop])
        K[start:stop, start:stop] = corner
        if stop == n:
            break
        K[stop:, start:stop] = _solve_lower(xp, corner, K[stop:, start:stop].T).T
        for first in range(stop, n, block):
            last = min(n, first + block)
            K[first:, first:last] -= K[first:, start:stop] @ K[first:last, start:stop].T
    return K


def _cholesky(xp: Any, block: Array) -> Array:
    try:
        found = xp.linalg.cholesky(block)
    except Exception as failure:
        if isinstance(failure, MemoryError) or type(failure).__name__ == "OutOfMemoryError":
            raise
        raise NotPositiveDefinite from failure
    if not bool(xp.all(xp.isfinite(found))):
        raise NotPositiveDefinite
    return found


def _solve_lower(xp: Any, L: Array, B: Array) -> Array:
    """X with LX = B for one block; the array API itself has no function for triangles."""
    triangular = getattr(xp.linalg, "solve_triangular", None)
    return xp.linalg.solve(L, B) if triangular is None else triangular(L, B, upper=False)


def _solve_upper(xp: Any, U: Array, B: Array) -> Array:
    triangular = getattr(xp.linalg, "solve_triangular", None)
    return xp.linalg.solve(U, B) if triangular is None else triangular(U, B, upper=True)


def solve_factored(L: Array, B: Array, block: int = BLOCK) -> Array:
    """X with LLᵀX = B for the factor that `factor_in_place` left. Cost: O(n² k)."""
    xp, n = array_namespace(L), int(L.shape[0])
    X = xp.asarray(B, copy=True)
    starts = range(0, n, block)
    for start in starts:
        stop = min(n, start + block)
        X[start:stop, :] = _solve_lower(xp, L[start:stop, start:stop], X[start:stop, :])
        if stop < n:
            X[stop:, :] -= L[stop:, start:stop] @ X[start:stop, :]
    for start in reversed(starts):
        stop = min(n, start + block)
        if stop < n:
            X[start:stop, :] -= L[stop:, start:stop].T @ X[stop:, :]
        X[start:stop, :] = _solve_upper(xp, L[start:stop, start:stop].T, X[start:stop, :])
    return X
