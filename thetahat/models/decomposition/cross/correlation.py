"""Canonical correlations from sums of products.

With the eigenvectors and eigenvalues of XᵀX = E·diag(λ)·Eᵀ, the columns of X·E·diag(λ)^−½ are
orthonormal, and likewise for Y with F and μ. The singular values of

    K = diag(λ)^−½·Eᵀ·XᵀY·F·diag(μ)^−½ = L·diag(ρ)·Mᵀ

are the canonical correlations, and the columns of E·diag(λ)^−½·L and F·diag(μ)^−½·M the directions.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.models.decomposition.cross.deflation import Components
from thetahat.models.decomposition.cross.scatter import Scatter

EQUAL = 1e-10
"""Correlations that differ by less are equal up to rounding errors."""


def canonical_components(about: Scatter, k: int) -> tuple[Components, Array]:
    """The first k pairs of directions, and their correlations; zeros where there are fewer."""
    d, q = about.cross.shape
    W, P, R = np.zeros((d, k)), np.zeros((d, k)), np.zeros((d, k))
    V, Q, S = np.zeros((q, k)), np.zeros((q, k)), np.zeros((q, k))
    correlations = np.zeros(k)
    with one_blas_thread():
        of_x, of_y = _whitening(about.x_square), _whitening(about.y_square)
        left, found, right = scipy_linalg().svd(
            of_x.T @ about.cross @ of_y, full_matrices=False, check_finite=False
        )
        _turn_equal(left, found, right, of_y.T @ about.y_square)
        count = min(k, int((found > 32 * EPSILON).sum()))
        A, B = of_x @ left[:, :count], of_y @ right[:count].T
        correlations[:count] = np.minimum(found[:count], 1.0)
        for a in range(count):
            W[:, a], R[:, a], P[:, a] = _deflated(A[:, a], W[:, :a], about.x_square)
            V[:, a], S[:, a], Q[:, a] = _deflated(B[:, a], V[:, :a], about.y_square)
            if W[np.abs(W[:, a]).argmax(), a] < 0:
                for each in (W, R, P, V, S, Q):
                    each[:, a] *= -1
    return Components(W, V, P, Q, R, S, (1,) * count, count, True), correlations


def _turn_equal(left: Array, found: Array, right: Array, columns: Array) -> None:
    """Fix the directions of equal correlations, in place: first that nearest to the first target.

    Only the space that they span is determined, for example if there are as many columns as rows.
    """
    ends = [0, *(np.flatnonzero(found[:-1] - found[1:] > EQUAL) + 1), len(found)]
    for low, high in pairwise(ends):
        if high > low + 1:
            turn, _ = np.linalg.qr(right[low:high] @ columns, mode="complete")
            left[:, low:high] = left[:, low:high] @ turn
            right[low:high] = turn.T @ right[low:high]


def _whitening(square: Array) -> Array:
    """T with TᵀCT = I, of as many columns as the rank of C."""
    values, vectors = scipy_linalg().eigh(square, check_finite=False)
    kept = values > 64 * len(values) * EPSILON * max(float(values[-1]), 0.0)
    return vectors[:, kept] / np.sqrt(values[kept])


def _deflated(direction: Array, before: Array, square: Array) -> tuple[Array, Array, Array]:
    """Unit weights of the columns that are left, and the rotation and loadings of the score.

    The columns that the components before leave do not vary along their weights, so that these
    are orthonormal. The score is that of the original columns in the direction.
    """
    weights = direction.copy()
    for _ in range(2):  # the second time removes the rounding errors
        weights -= before @ (before.T @ weights)
    size = float(np.linalg.norm(weights))
    rotation = direction / size
    image = square @ rotation
    return weights / size, rotation, image / float(rotation @ image)
