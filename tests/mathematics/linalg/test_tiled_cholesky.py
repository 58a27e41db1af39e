"""Factors and inverses that are computed in place, tile by tile."""

import tracemalloc

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.linalg.tiled_cholesky import (
    LEAST_REFINED,
    cholesky_in_place,
    inverse_in_place,
    memory_of_factors,
    refined_solve,
)


@pytest.mark.parametrize("n", [1, 30, 256, 257, 700])
def test_inverse_replaces_the_factor(n):
    rows = np.random.default_rng(n).standard_normal((n, n))
    A = rows @ rows.T + n * np.eye(n)
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            place = A.copy()
            assert cholesky_in_place(place)
            inverse_in_place(place)
            found.append(np.tril(place))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], np.tril(np.linalg.inv(A)), atol=1e-12)


def test_matrices_that_are_not_positive_definite_have_no_factor():
    assert not cholesky_in_place(-np.eye(3))


def gaussian_matrix(n, least):
    """A kernel matrix plus least on its diagonal, and two right-hand sides."""
    random = np.random.default_rng(0)
    x = random.normal(size=(n, 2))
    K = np.exp(-0.5 * ((x[:, None] - x) ** 2).sum(axis=2))
    return K + least * np.eye(n), random.normal(size=(n, 2)) * [1.0, 1e-60]


@pytest.mark.parametrize("least", [0.05, 1.0])
def test_refined_solutions_have_the_accuracy_of_a_factor_in_double_precision(least):
    A, B = gaussian_matrix(LEAST_REFINED + 3, least)
    place = A.copy()
    found = refined_solve(place, B, least)
    direct = np.linalg.solve(A, B)
    np.testing.assert_array_equal(np.tril(place), np.tril(A))
    bound = np.finfo(float).eps * np.linalg.norm(A) * np.linalg.norm(found, axis=0)
    assert (np.linalg.norm(B - A @ found, axis=0) <= bound).all()
    gap = np.linalg.norm(found - direct, axis=0) / np.linalg.norm(direct, axis=0)
    assert (gap < 1e-16 * np.linalg.norm(A) / least).all()


def test_refined_solutions_are_the_same_for_any_number_of_threads():
    A, B = gaussian_matrix(LEAST_REFINED + 3, 0.5)
    found = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            found.append(refined_solve(A.copy(), B, 0.5))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_zero_right_hand_sides_have_the_solution_zero():
    A, B = gaussian_matrix(LEAST_REFINED, 0.5)
    B[:, 1] = 0.0
    found = refined_solve(A, B, 0.5)
    assert not found[:, 1].any()
    assert found[:, 0].any()


def test_few_rows_close_to_singular_or_indefinite_matrices_are_not_refined():
    A, B = gaussian_matrix(LEAST_REFINED, 0.5)
    assert refined_solve(A[:50, :50].copy(), B[:50], 0.5) is None
    assert refined_solve(A, B, 1e-6) is None
    A[0, 999] = A[999, 0] = 3.0
    kept = A.copy()
    assert refined_solve(A, B, 0.5) is None
    np.testing.assert_array_equal(A, kept)


@pytest.mark.parametrize("n", [LEAST_REFINED, 1025, 1501, 2051])
def test_factors_in_single_precision_are_stored_above_the_diagonal(n):
    A, B = gaussian_matrix(n, 1.0)
    place = A.copy()
    tracemalloc.start()
    try:
        found = refined_solve(place, B, 1.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < memory_of_factors(n)
    np.testing.assert_allclose(A @ found, B, rtol=1e-9, atol=1e-70)
