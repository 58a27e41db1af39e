"""Features of kernels: inner products, norms, dependent rows, other penalties."""

import tracemalloc

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import DataError, MemoryBudgetError
from thetahat.objective.kernel.expansion import KernelExpansion
from thetahat.objective.kernel.features import KernelFeatures, gram_of
from thetahat.objective.kernel.least_squares import KernelRidgePath, ridge_coefficients
from thetahat.objective.kernel.penalised import PenalisedFeatures

KERNEL = th.kernels.RBF(sigma=1.0)


def rows(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3))


def test_features_of_all_rows_reproduce_the_kernel():
    X = rows(40)
    features = KernelFeatures.of(KERNEL, X)
    values = features.of_rows(X)
    np.testing.assert_allclose(values @ values.T, KERNEL(X), atol=1e-12)
    np.testing.assert_allclose(features(X), values, atol=1e-8)


def test_few_centres_give_the_approximation_of_nystroem():
    X, which = rows(40), np.arange(0, 40, 4)
    values = KernelFeatures.of(KERNEL, X, which)(X)
    K = KERNEL(X)
    expected = K[:, which] @ np.linalg.solve(K[np.ix_(which, which)], K[which])
    np.testing.assert_allclose(values @ values.T, expected, atol=1e-9)
    assert (np.diag(K) - (values**2).sum(axis=1) > -1e-10).all()


def test_coefficients_give_the_same_function_and_norm():
    X, new = rows(30), rows(7, 1)
    features = KernelFeatures.of(KERNEL, X)
    for shape in ((30,), (30, 2)):
        beta = np.random.default_rng(2).standard_normal(shape)
        alpha = features.coefficients(beta)
        expansion = KernelExpansion(KERNEL, features.centres, alpha, 0.5)
        np.testing.assert_allclose(expansion(new), features(new) @ beta + 0.5, atol=1e-7)
        norm = np.einsum("i...,i...->...", alpha, KERNEL(X) @ alpha)
        np.testing.assert_allclose(norm, (beta**2).sum(axis=0), rtol=1e-8)


def test_rows_that_depend_on_others_are_left_out():
    X = np.vstack([rows(20), rows(20)])
    features = KernelFeatures.of(KERNEL, X)
    assert features.n_features == 20
    values = features.of_rows(X)
    np.testing.assert_allclose(values @ values.T, KERNEL(X), atol=1e-9)
    assert KernelFeatures.of(th.kernels.Linear(), rows(50)).n_features == 3


def test_rounding_errors_of_a_narrow_kernel_are_no_negative_eigenvalues():
    X = np.random.default_rng(21).uniform(-3, 3, (520, 1))
    narrow = th.kernels.RBF(sigma=0.02)
    features = KernelFeatures.of(narrow, X)
    values = features(X)
    np.testing.assert_allclose(values @ values.T, narrow(X), atol=1e-9)


def test_what_is_no_kernel_is_refused_with_its_eigenvalue():
    negative = th.kernels.FromFunction(lambda X, Z: -np.abs(X[:, :1] - Z[:, :1].T))
    with pytest.raises(DataError, match=r"semi-definite|negative"):
        KernelFeatures.of(negative, rows(10))
    huge = th.kernels.FromFunction(lambda X, Z: np.full((len(X), len(Z)), np.inf))
    with pytest.raises(DataError, match="must be finite"):
        gram_of(huge, rows(4), np.arange(4))
    with th.config(memory=1000), pytest.raises(MemoryBudgetError, match="needs"):
        KernelFeatures.of(KERNEL, rows(40))


@pytest.mark.parametrize("n_rows", [6, 60])
def test_another_penalty_is_the_norm_of_other_features(n_rows):
    """Ridge regression with βᵀMβ: the same function from the features and from its own system."""
    X, seen = rows(25), rows(n_rows, 3)
    random = np.random.default_rng(4)
    A, y = random.standard_normal((25, 25)), random.standard_normal(n_rows)
    M = np.eye(25) + A @ A.T
    features = KernelFeatures.of(KERNEL, X)
    phi = features(seen)
    other, values = PenalisedFeatures.of(features, phi, M)
    assert values.shape == (n_rows, min(n_rows, 25))
    beta = np.linalg.solve(phi.T @ phi + 0.3 * M, phi.T @ y)
    inner = np.linalg.solve(values.T @ values + 0.3 * np.eye(values.shape[1]), values.T @ y)
    new = rows(9, 5)
    found = KernelExpansion(KERNEL, other.centres, other.coefficients(inner))(new)
    np.testing.assert_allclose(found, features(new) @ beta, atol=1e-8)
    np.testing.assert_array_equal(other.which, features.which)


@pytest.mark.parametrize("intercept", [False, True])
def test_ridge_coefficients_solve_their_equations(intercept):
    X, random = rows(30), np.random.default_rng(6)
    y, weight = random.standard_normal((30, 2)), random.integers(1, 4, 30).astype(float)
    K = KERNEL(X)
    alpha, b, _ = ridge_coefficients(K.copy(), y, 0.7, weight, intercept=intercept)
    residual = y - K @ alpha - b
    np.testing.assert_allclose(residual, 0.7 * alpha / weight[:, None], atol=1e-10)
    if intercept:
        np.testing.assert_allclose(alpha.sum(axis=0), 0.0, atol=1e-10)
    assert ridge_coefficients(np.ones((3, 3)), y[:3], 0.0) is None


def test_left_out_residuals_are_those_of_fits_without_the_row():
    X, random = rows(15), np.random.default_rng(7)
    y, weight = random.standard_normal((15, 1)), random.integers(1, 4, 15).astype(float)
    K = KERNEL(X)
    path = KernelRidgePath.of(K.copy(), y, weight)
    found = path.left_out_residuals(0.4)
    for i in range(15):
        rest = np.arange(15) != i
        alpha, *_ = ridge_coefficients(K[np.ix_(rest, rest)], y[rest], 0.4, weight[rest])
        assert found[i, 0] == pytest.approx(float(y[i, 0] - K[i, rest] @ alpha[:, 0]))


def test_expansion_in_pieces_and_for_any_number_of_threads():
    X, new = rows(300), rows(5000, 8)
    alpha = np.random.default_rng(9).standard_normal(300)
    expansion = KernelExpansion(KERNEL, X, alpha)
    with th.config(threads=1):
        one = expansion(new)
    with th.config(threads=2):
        np.testing.assert_array_equal(expansion(new), one)
    np.testing.assert_allclose(one, KERNEL(new, X) @ alpha, atol=1e-10)


def test_features_of_dependent_rows_take_three_matrices():
    X = rows(700)
    wide = th.kernels.RBF(sigma=4.0)  # far fewer independent rows than 700, up to rounding
    KernelFeatures.of(wide, X[:50])
    tracemalloc.start()
    try:
        found = KernelFeatures.of(wide, X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.n_features < 700
    assert peak < 3.2 * 8 * 700**2
