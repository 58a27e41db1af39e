"""The system of kernel ridge regression, (K + αW⁻¹)c = y, on a device.

The matrix is factored in the precision of X. The coefficients are then refined with residuals in
float64, for which blocks of K are computed again: each step removes the share of the error that the
factor leaves, so that float32 rows give coefficients as accurate as those of float64.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

from thetahat.foundation.types import Array
from thetahat.mathematics.devices.cholesky import factor_in_place, solve_factored
from thetahat.mathematics.devices.memory import require_device_memory, row_blocks
from thetahat.mathematics.kernels.base import Kernel

REFINEMENTS = 5
ACCURATE = {4: 1e-6, 8: 1e-12}
"""Share of ‖y‖ in the residual at which refinement stops, for rows of 4 and of 8 bytes a number."""


def kernel_coefficients(
    kernel: Kernel, X: Array, y: Array, penalties: list[float], weight: Array | None
) -> Array:
    """c with (K + αW⁻¹)c = y for every column of y, in float64. Cost: O(n²d + n³/3).

    All columns must have the same penalty α. Memory: one matrix of n² numbers of the dtype of X.
    """
    xp, n = array_namespace(X), int(X.shape[0])
    size = 4 if X.dtype == xp.float32 else 8
    require_device_memory(
        n * n * size + 2 * min(n, 2048) * n * size,
        X,
        f"A kernel matrix of {n} × {n} entries",
        "Use fewer rows, float32, or an approximation from fewer landmarks on the CPU: "
        "n_components=1000 in KernelModel, or th.Nystroem.",
    )
    penalty = penalties[0]
    wide = xp.float64
    ridge = xp.full((n,), penalty, dtype=wide, device=device(X))
    if weight is not None:
        ridge = ridge / xp.astype(weight, wide)
    L = factor_in_place(_matrix(xp, kernel, X, xp.astype(ridge, X.dtype)))
    y = xp.astype(y, wide)
    aim = ACCURATE[size] * float(xp.linalg.vector_norm(y))
    c = xp.zeros(y.shape, dtype=wide, device=device(X))
    rest, before = y, float("inf")
    for _ in range(REFINEMENTS):
        c = c + xp.astype(solve_factored(L, xp.astype(rest, X.dtype)), wide)
        rest = y - _product(xp, kernel, X, ridge, c)
        size_of_rest = float(xp.linalg.vector_norm(rest))
        if not aim < size_of_rest < 0.5 * before:
            break
        before = size_of_rest
    return c


def _matrix(xp: Any, kernel: Kernel, X: Array, ridge: Array) -> Array:
    """K + diag(ridge), filled block by block."""
    n = int(X.shape[0])
    K = xp.empty((n, n), dtype=X.dtype, device=device(X))
    diagonal = kernel.diagonal(X) + ridge
    for rows in row_blocks(X, 16 * n):
        K[rows, :] = kernel.block(X[rows, :], X)
    places = xp.arange(n, device=device(X))
    step = 2048
    for start in range(0, n, step):
        own = slice(start, min(n, start + step))
        same = places[own][:, None] == places[own][None, :]
        K[own, own] = xp.where(same, diagonal[own][:, None], K[own, own])
    return K


def _product(xp: Any, kernel: Kernel, X: Array, ridge: Array, c: Array) -> Array:
    """(K + diag(ridge))c in float64, without the matrix."""
    wide = xp.astype(X, xp.float64)
    parts = []
    diagonal = kernel.diagonal(wide) + ridge
    places = xp.arange(X.shape[0], device=device(X))
    for rows in row_blocks(X, 32 * int(X.shape[0])):
        block = kernel.block(wide[rows, :], wide)
        same = places[rows][:, None] == places[None, :]
        parts.append(xp.where(same, diagonal[rows][:, None], block) @ c)
    return parts[0] if len(parts) == 1 else xp.concat(parts)
