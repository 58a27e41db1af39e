"""The largest singular values of rows C from block Krylov spaces of random vectors.

The eigenvalues of CᵀC restricted to the space are squares of singular values, so those below a
share of 10⁻⁸ of the largest one lose their digits. This happens, for example, if rows without
centring are far from zero. Then the directions above that share are held, and a space orthogonal to
them is built, in whose products the large values do not occur. The singular values of C restricted
to both spaces come from the triangular factor of the rows, whose errors are not squared.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array
from thetahat.models.decomposition.principal.scatter_operator import ScatterOperator

LEAST_SHARE = 1e-8
"""Eigenvalues of products of rows below this share of the largest have lost half their digits."""


def krylov_values(
    operator: ScatterOperator,
    d: int,
    k: int,
    oversamples: int,
    n_iter: int,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """The k largest singular values in descending order, and their right vectors as rows."""
    eigh, width = scipy_linalg().eigh, min(k + oversamples, d)
    held, largest = np.empty((d, 0)), 0.0
    while True:
        noise = (d * EPSILON) ** 2 * largest
        basis, inner = _space(operator, held, width, n_iter, noise, rng)
        if not inner.size:
            break
        squares, turn = eigh(inner, check_finite=False)
        squares, turn = squares[::-1], turn[:, ::-1]
        clear = squares > LEAST_SHARE * squares[0]
        if not held.size and clear[:k].all():
            return np.sqrt(squares[:k]), (basis @ turn[:, :k]).T
        largest = max(largest, float(squares[0]))
        if not squares[0] > noise:
            break
        new = basis[:, held.shape[1] :] @ turn[:, clear]
        held = np.hstack([held, new])
        if held.shape[1] >= k:
            break
    values, right = np.zeros(basis.shape[1]), np.eye(basis.shape[1])
    if largest > 0:
        _, found, right = scipy_linalg().svd(operator.triangle(basis), check_finite=False)
        values[: len(found)] = found
    return values[:k], right[:k] @ basis.T


def _space(
    operator: ScatterOperator,
    held: Array,
    width: int,
    n_iter: int,
    noise: float,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """An orthonormal basis (H, B) of the held vectors and a block Krylov space, and BᵀCᵀCB.

    The space ends early if CᵀC makes nothing above the noise of it.
    """
    d, before = held.shape
    most = min(before + width * (n_iter + 1), d)
    basis, inner = np.empty((d, most), order="F"), np.empty((most, most))
    basis[:, :before] = held
    block, largest, end = rng.standard_normal((d, width)), 0.0, before
    block -= held @ (held.T @ block)
    for _ in range(n_iter + 1):
        block = _new_directions(basis[:, :end], block, largest)
        start, end = end, end + block.shape[1]
        if start == end:
            break
        basis[:, start:end] = block
        image = operator(block)
        image -= held @ (held.T @ image)
        largest = max(largest, _largest_length(image))
        inside = basis[:, :end].T @ image
        inner[:end, start:end] = inside
        inner[start:end, :end] = inside.T
        own = inside[start:]
        inner[start:end, start:end] = (own + own.T) / 2
        if largest <= noise:
            break
        block = image - basis[:, :end] @ inside
    return basis[:, :end], inner[before:end, before:end]


def _largest_length(block: Array) -> float:
    """The length of the longest column, also where its square overflows."""
    unit = float(np.abs(block).max()) or 1.0
    return unit * float(np.sqrt(((block / unit) ** 2).sum(axis=0).max()))


def _new_directions(basis: Array, block: Array, largest: float) -> Array:
    """Orthonormal vectors that span what the block, orthogonal to the basis, adds to it.

    Rounding errors of small vectors are removed by another projection once their length is 1.
    """
    linalg = scipy_linalg()
    left = basis.shape[0] - basis.shape[1]
    Q, R = linalg.qr(block, mode="economic", check_finite=False)
    turn, sizes, _ = linalg.svd(R, check_finite=False)
    count = min(int((sizes > 1e-13 * largest).sum()), left)
    if not count:
        return Q[:, :0]
    Q = Q @ turn[:, :count]
    Q -= basis @ (basis.T @ Q)
    # The columns are orthonormal up to small errors, which their Cholesky factor removes.
    factor = linalg.cholesky(Q.T @ Q, check_finite=False)
    return linalg.solve_triangular(factor, Q.T, trans="T", check_finite=False).T
