"""Products and multiplicative updates of a piece of the rows, for non-negative factors."""

from __future__ import annotations

import numpy as np

from thetahat import _native
from thetahat.foundation.types import Array, Matrix, SparseMatrix

DENSE_ENTRIES = 1 << 20
"""Entries of WH that are held at once for sparse rows."""


def row_products(X: Matrix, other: Array, found: Array) -> None:
    if isinstance(X, np.ndarray) and X.flags.c_contiguous:
        _native.row_products(X, other, found)
    elif not isinstance(X, np.ndarray) and other.dtype == np.float64:
        _native.sparse_products(X.data, X.indices, X.indptr, other, found)
    else:
        found[...] = X @ other


def summed(sums: list[Array]) -> Array:
    """The sum of the arrays, in their order."""
    for each in sums[1:]:
        sums[0] += each
    return sums[0]


def dense_piece(
    X: Array,
    W: Array,
    Ht: Array,
    beta: float,
    floor: float,
    valued: bool,
    numerator: Array,
    into: Array | None,
) -> float:
    X, right = np.ascontiguousarray(X), np.ascontiguousarray(Ht.T)
    ratios, powers = shaped(X, beta)
    value = _native.divergence_ratios(X, W, right, beta, floor, valued, ratios, powers)
    _native.row_products(ratios, Ht, numerator)
    if into is not None:
        _native.row_products(powers, Ht, into)
    return value


def shaped(X: Array, beta: float) -> tuple[Array, Array]:
    """Room for x·p^(β − 2) and p^(β − 1), of which β = 1 needs the first only."""
    return np.empty_like(X), np.empty_like(X) if beta != 1 else np.empty((0, 0), X.dtype)


def sparse_piece(
    X: SparseMatrix,
    W: Array,
    Ht: Array,
    beta: float,
    floor: float,
    valued: bool,
    numerator: Array,
    into: Array | None,
) -> float:
    value = _native.sparse_divergence(
        X.data, X.indices, X.indptr, W, Ht, beta, floor, valued, numerator
    )
    if into is None:
        return value
    step, total = max(1, DENSE_ENTRIES // max(len(Ht), 1)), 0.0
    for start in range(0, len(W), step):
        rows = slice(start, start + step)
        product = W[rows] @ Ht.T
        np.maximum(product, floor, out=product)
        power = product ** (beta - 1.0)
        np.matmul(power, Ht, out=into[rows])
        total += inner(power, product) if valued else 0.0
    if not valued:
        return 0.0
    if beta == 0:  # no entry is 0
        return value - float(X.nnz)
    return general_value(float((X.data**beta).sum(dtype=np.float64)), value, total, beta)


def general_value(x: float, both: float, product: float, beta: float) -> float:
    return (x + (beta - 1.0) * product - beta * both) / (beta * (beta - 1.0))


def inner(A: Array, B: Array) -> float:
    """Σ AB in double precision."""
    if A.dtype == np.float64:
        return float(np.vdot(A, B))
    return float(np.einsum("ij,ij->", A, B, dtype=np.float64))
