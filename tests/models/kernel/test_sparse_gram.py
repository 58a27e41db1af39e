"""Kernels that are 0 beyond a distance: sparse matrices, and ridge regression with them."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.errors import DataError, MemoryBudgetError, ParameterError

k = th.kernels
RANDOM = np.random.default_rng(4)
X = RANDOM.uniform(0, 20, (400, 2))
Y = np.sin(X[:, 0]) + np.cos(X[:, 1]) + 0.1 * RANDOM.standard_normal(400)
NEW = RANDOM.uniform(0, 20, (50, 2))
KERNELS = [
    k.Wendland(1.5),
    0.5 * k.Wendland(1.5, smoothness=2) * k.RBF(sigma=1.0) + k.White(0.3),
    k.Bounded(k.Wendland(1.0)) * k.Polynomial(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_sparse_matrices_are_the_dense_ones(kernel):
    K = th.sparse_gram(kernel, X)
    assert sp.issparse(K)
    assert K.nnz < 0.1 * 400**2
    np.testing.assert_allclose(K.toarray(), kernel(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        th.sparse_gram(kernel, NEW, X).toarray(), kernel(NEW, X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_ridge_solves_the_sparse_system(kernel, weighted):
    weight = np.random.default_rng(5).integers(0, 3, 400) if weighted else None
    targets = np.c_[Y, Y**2]
    model = th.KernelRidge(alpha=0.2, kernel=kernel).fit(X, targets, sample_weight=weight)
    assert model.solution_.solver == "conjugate_gradient"
    # A matrix that is given dense is solved by a Cholesky factor.
    dense = th.KernelRidge(alpha=0.2, kernel="precomputed")
    dense.fit(kernel(X), targets, sample_weight=weight)
    assert dense.solution_.solver == "cholesky"
    np.testing.assert_allclose(model.dual_coef_, dense.dual_coef_, atol=1e-9)
    np.testing.assert_allclose(model.predict(NEW), dense.predict(kernel(NEW, X)), atol=1e-9)


def test_full_matrices_and_tiny_penalties_are_solved_densely():
    wide = th.KernelRidge(alpha=0.2, kernel=k.Wendland(30.0)).fit(X, Y)
    assert wide.solution_.solver == "cholesky"
    exact = th.KernelRidge(alpha=0.0, kernel=k.Wendland(1.5)).fit(X, Y)
    np.testing.assert_allclose(exact.predict(X), Y, atol=1e-6)


def test_more_rows_than_a_dense_matrix_has_room_for():
    """A dense matrix of 20,000 rows has 3 GiB, the sparse one 10 MiB."""
    rows = np.random.default_rng(0).uniform(0, 300, (20_000, 2))
    targets = np.sin(rows[:, 0] / 20)
    with th.config(memory=200 << 20):
        model = th.KernelRidge(alpha=0.1, kernel=k.Wendland(4.0)).fit(rows, targets)
    assert model.solution_.solver == "conjugate_gradient"
    residual = targets[:200] - model.predict(rows[:200])
    np.testing.assert_allclose(residual, 0.1 * model.dual_coef_[:200], atol=1e-9)


def test_same_bits_for_any_number_of_threads():
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            found.append(th.KernelRidge(alpha=0.1, kernel=k.Wendland(1.5)).fit(X, Y).dual_coef_)
    np.testing.assert_array_equal(found[0], found[1])


def test_matrices_that_are_too_large_are_refused():
    rows = np.zeros((30_000, 1))
    with th.config(memory=2**30), pytest.raises(MemoryBudgetError, match="smaller radius"):
        th.sparse_gram(k.Wendland(1.0), rows)


def test_wrong_kernels_and_rows_are_refused():
    with pytest.raises(ParameterError, match="Multiply it with"):
        th.sparse_gram(k.RBF(), X)
    with pytest.raises(DataError, match="same columns"):
        th.sparse_gram(k.Wendland(1.0), X, NEW[:, :1])
    with pytest.raises(ParameterError, match="0, 1 or 2"):
        k.Wendland(smoothness=3)
