"""Eigenvectors of graph Laplacians: against full decompositions, and for graphs in parts."""

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.linalg import eigh

from thetahat.errors import ParameterError
from thetahat.mathematics.spectral.eigenvectors import smallest_eigenvectors
from thetahat.mathematics.spectral.laplacian import laplacian, laplacian_eigenvectors


def ring(n, seed=0):
    """Edge weights of a ring with some chords, which is connected."""
    rng = np.random.default_rng(seed)
    W = np.zeros((n, n))
    here = np.arange(n)
    W[here, (here + 1) % n] = rng.uniform(0.5, 2.0, n)
    W[rng.integers(0, n, n), rng.integers(0, n, n)] += 0.1
    return W + W.T


def in_parts(n, parts):
    return np.asarray(
        sparse.block_diag([sparse.coo_array(ring(n, seed)) for seed in range(parts)]).toarray()
    )


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("n", [12, 300])
def test_eigenvalues_and_vectors_satisfy_their_equation(n, normalised, as_sparse):
    W = ring(n)
    found = laplacian_eigenvectors(
        sparse.csr_array(W) if as_sparse else W, 4, normalised=normalised
    )
    np.fill_diagonal(W, 0.0)
    degree = W.sum(axis=1)
    scale = np.diag(1 / np.sqrt(degree)) if normalised else np.eye(n)
    L = scale @ (np.diag(degree) - W) @ scale
    np.testing.assert_allclose(found.values, eigh(L, eigvals_only=True)[:4], atol=1e-12)
    np.testing.assert_allclose(L @ found.vectors, found.vectors * found.values, atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(4), atol=1e-10)
    assert (found.vectors.max(axis=0) >= -found.vectors.min(axis=0)).all()


def test_random_walk_vectors_solve_the_generalised_problem():
    W = ring(200)
    np.fill_diagonal(W, 0.0)
    found = laplacian_eigenvectors(W, 3)
    u, D = found.random_walk, np.diag(W.sum(axis=1))
    np.testing.assert_allclose((D - W) @ u, D @ u * found.values, atol=1e-9)
    walk = np.eye(200) - np.linalg.inv(D) @ W
    np.testing.assert_allclose(walk @ u, u * found.values, atol=1e-9)
    np.testing.assert_allclose(u[:, 0], u[0, 0])


@pytest.mark.parametrize("n", [10, 150])
@pytest.mark.parametrize("parts", [1, 2, 4])
def test_as_many_zero_eigenvalues_as_connected_components(n, parts):
    W = in_parts(n, parts)
    found = laplacian_eigenvectors(sparse.csr_array(W), parts + 2)
    assert found.n_connected == parts
    assert (found.values[:parts] == 0).all()
    assert (found.values[parts:] > 1e-6).all()
    np.testing.assert_array_equal(found.labels, np.repeat(np.arange(parts), n))
    L, _ = laplacian(W)
    np.testing.assert_allclose(L @ found.vectors, found.vectors * found.values, atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(parts + 2), atol=1e-10)
    # u is constant on every component, and the first is constant on all rows.
    blocks = found.random_walk[:, :parts].reshape(parts, n, parts)
    np.testing.assert_allclose(np.ptp(blocks, axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.ptp(found.random_walk[:, 0]), 0.0, atol=1e-12)


def test_equal_components_have_every_repeated_eigenvalue():
    W = sparse.block_diag([sparse.coo_array(ring(150))] * 3, format="csr")
    single = laplacian_eigenvectors(ring(150), 2).values[1]
    found = laplacian_eigenvectors(W, 6)
    np.testing.assert_allclose(found.values[3:], single, rtol=1e-8)


def test_rows_without_edges_are_components():
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = 1.0
    found = laplacian_eigenvectors(W, 4)
    assert found.n_connected == 3
    np.testing.assert_allclose(found.values, [0.0, 0.0, 0.0, 2.0], atol=1e-12)


def test_the_diagonal_of_the_affinity_has_no_effect():
    W = ring(120)
    with_loops = W + np.diag(np.arange(120.0))
    first, second = laplacian_eigenvectors(W, 3), laplacian_eigenvectors(with_loops, 3)
    np.testing.assert_allclose(second.vectors, first.vectors, atol=1e-9)


def test_iterations_and_whole_decompositions_agree():
    L, _ = laplacian(ring(180))
    several = [smallest_eigenvectors(L, 5, shift=1e-5, whole=whole) for whole in (False, True)]
    np.testing.assert_allclose(several[0].values, several[1].values, atol=1e-12)
    np.testing.assert_allclose(several[0].vectors, several[1].vectors, atol=1e-7)


def test_more_eigenvectors_than_rows_are_refused():
    with pytest.raises(ParameterError, match="Use fewer components or more rows"):
        laplacian_eigenvectors(ring(10), 11)
