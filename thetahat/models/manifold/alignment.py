"""Matrices whose smallest eigenvectors are coordinates that fit together locally.

    standard   M = (I − W)ᵀ(I − W), where W holds the weights that reconstruct rows from neighbours
    modified   M = Σ_i Σ_s (e_i − w_is)(e_i − w_is)ᵀ, with several weight vectors for each row
    hessian    M = Σ_i H_iᵀH_i, where H_i estimates second derivatives over the neighbours
    ltsa       M = Σ_i (I − G_iG_iᵀ), where G_i spans 1 and the tangent coordinates of neighbours

All have the eigenvalue 0 for the constant vector. The sums over rows are computed for many rows at
once; every row has its own small matrices, so that the number of threads has no influence.
"""

from __future__ import annotations

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array, Matrix

ENTRIES_AT_ONCE = 1 << 22
"""Numbers in the small matrices of the rows that are computed together."""


def reconstruction_weights(
    rows: Array, others: Array, neighbors: Array, reg: float, who: str
) -> Array:
    """Weights of the neighbours that reconstruct each row, (m, k); they sum to 1.

    w minimises ‖x_i − Σ_j w_j x_j‖² + reg·tr(G)·‖w‖², so that w ∝ (G + reg·tr(G)·I)⁻¹1 with the
    scalar products G of the differences x_j − x_i.
    """
    m, k = neighbors.shape
    found = np.empty((m, k))
    with one_blas_thread():
        for some in _parts(m, k * (k + rows.shape[1])):
            apart = others[neighbors[some]] - rows[some, None]
            # Only the direction of w counts, so that lengths may be scaled to avoid underflow.
            scale = np.abs(apart).max(axis=(1, 2), keepdims=True)
            apart /= np.where(scale > 0, scale, 1.0)
            G = apart @ apart.transpose(0, 2, 1)
            trace = np.einsum("ijj->i", G)
            np.einsum("ijj->ij", G)[:] += (reg * np.where(trace > 0, trace, 1.0))[:, None]
            try:
                w = np.linalg.solve(G, np.ones((len(G), k, 1)))[:, :, 0]
            except np.linalg.LinAlgError:
                raise ParameterError(
                    f"{who}: reg={reg:g} is too small, so that the weights of the neighbours of "
                    "some row are not unique. Use a larger reg, such as 1e-3, or fewer neighbours."
                ) from None
            found[some] = w / w.sum(axis=1, keepdims=True)
    return found


def standard_alignment(X: Array, neighbors: Array, reg: float, who: str) -> Matrix:
    """M = (I − W)ᵀ(I − W)."""
    from scipy.sparse import csr_array, eye_array

    n, k = neighbors.shape
    weights = reconstruction_weights(X, X, neighbors, reg, who)
    W = csr_array((weights.ravel(), neighbors.ravel(), np.arange(n + 1) * k), shape=(n, n))
    rest = (eye_array(n, format="csr") - W).tocsr()
    return (rest.T @ rest).tocsr()


def tangent_alignment(X: Array, neighbors: Array, n_components: int) -> Matrix:
    """M = Σ_i (I − G_iG_iᵀ)."""
    n, k = neighbors.shape
    blocks = np.empty((n, k, k))
    with one_blas_thread():
        for some in _parts(n, k * (k + X.shape[1])):
            U = _tangents(X[neighbors[some]], n_components)
            blocks[some] = np.eye(k) - 1.0 / k - U @ U.transpose(0, 2, 1)
    return _sum_of_blocks(blocks, neighbors)


def hessian_alignment(X: Array, neighbors: Array, n_components: int) -> Matrix:
    """M = Σ_i H_iᵀH_i; H_i has one row for each second derivative by tangent coordinates.

    These rows are the products of two coordinates after those parts were removed that are constant
    or linear in the coordinates.
    """
    n, k = neighbors.shape
    first, second = np.triu_indices(n_components)
    blocks = np.empty((n, k, k))
    with one_blas_thread():
        for some in _parts(n, k * (k + X.shape[1])):
            U = _tangents(X[neighbors[some]], n_components)
            Y = np.concatenate([np.ones((len(U), k, 1)), U, U[..., first] * U[..., second]], axis=2)
            H = np.linalg.qr(Y)[0][:, :, n_components + 1 :]
            blocks[some] = H @ H.transpose(0, 2, 1)
    return _sum_of_blocks(blocks, neighbors)


def modified_alignment(X: Array, neighbors: Array, n_components: int, reg: float) -> Matrix:
    """M = Σ_i Σ_s (e_i − w_is)(e_i − w_is)ᵀ, with the weights of Zhang and Wang (2006)."""
    n, k = neighbors.shape
    rank = min(k, X.shape[1])
    V, values = np.empty((n, k, k)), np.empty((n, rank))
    with one_blas_thread():
        for some in _parts(n, k * (k + X.shape[1])):
            apart = X[neighbors[some]] - X[some, None]
            if k > X.shape[1]:
                V[some], singular, _ = np.linalg.svd(apart, full_matrices=True)
                values[some] = singular**2
            else:
                found, vectors = np.linalg.eigh(apart @ apart.transpose(0, 2, 1))
                values[some] = np.maximum(found[:, ::-1], 0.0)
                V[some] = vectors[:, :, ::-1]
        total = values.sum(axis=1)
        lift = reg * np.where(total > 0, total, 1.0)
        along = V.sum(axis=1)
        along[:, :rank] /= values + lift[:, None]
        along[:, rank:] /= lift[:, None]
        weights = np.einsum("ijk,ik->ij", V, along)
        weights /= weights.sum(axis=1, keepdims=True)
        counts = _small_directions(values, n_components) + k - rank
        counts = np.clip(counts, 1, k)
        blocks = np.empty((n, k + 1, k + 1))
        for count in np.unique(counts):
            for part in _parts(int((counts == count).sum()), (k + 1) * (k + 1)):
                equal = np.flatnonzero(counts == count)[part]
                blocks[equal] = _several_weights(V[equal][:, :, k - count :], weights[equal])
    return _sum_of_blocks(blocks, np.column_stack([neighbors, np.arange(n)]))


def _small_directions(values: Array, n_components: int) -> Array:
    """How many eigenvalues together are small beside the others, for each row."""
    kept, all_of = values[:, :n_components].sum(axis=1), np.cumsum(values, axis=1)
    rest = values[:, n_components:].sum(axis=1)
    typical = np.median(rest / np.where(kept > 0, kept, 1.0))
    ratio = all_of[:, -1:] / np.where(all_of[:, :-1] > 0, all_of[:, :-1], 1.0) - 1.0
    return np.asarray((ratio < typical).sum(axis=1))


def _several_weights(V: Array, weights: Array) -> Array:
    """The matrices ŴŴᵀ of rows with equally many weight vectors; the row itself comes last."""
    m, k, count = V.shape
    sums = V.sum(axis=1)
    alpha = np.linalg.norm(sums, axis=1) / np.sqrt(count)
    mirror = alpha[:, None] - sums
    length = np.linalg.norm(mirror, axis=1, keepdims=True)
    mirror = np.where(length > 1e-12, mirror / np.where(length > 0, length, 1.0), 0.0)
    W = np.empty((m, k + 1, count))
    turned = (V @ mirror[:, :, None]) * mirror[:, None]
    W[:, :k] = V - 2 * turned + ((1 - alpha)[:, None] * weights)[:, :, None]
    W[:, k] = -1.0
    return W @ W.transpose(0, 2, 1)


def _tangents(near: Array, n_components: int) -> Array:
    """Orthonormal tangent coordinates of neighbours, (m, k, n_components)."""
    centred = near - near.mean(axis=1, keepdims=True)
    if near.shape[1] > near.shape[2]:
        return np.linalg.svd(centred, full_matrices=False)[0][:, :, :n_components]
    vectors = np.linalg.eigh(centred @ centred.transpose(0, 2, 1))[1]
    return vectors[:, :, ::-1][:, :, :n_components]


def _sum_of_blocks(blocks: Array, at: Array) -> Matrix:
    """The sparse sum of small matrices, each at its own rows and columns."""
    from scipy.sparse import coo_array

    n, k = at.shape
    rows, columns = np.repeat(at, k, axis=1).ravel(), np.tile(at, (1, k)).ravel()
    M = coo_array((blocks.ravel(), (rows, columns)), shape=(n, n)).tocsr()
    return ((M + M.T) / 2).tocsr()


def _parts(n: int, entries: int) -> list[slice]:
    step = max(1, ENTRIES_AT_ONCE // entries)
    return [slice(start, min(n, start + step)) for start in range(0, n, step)]
