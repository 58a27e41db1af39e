import numpy as np
import pytest

import thetahat as th
from thetahat.errors import DataError, ParameterError


def rows(m=30, n=8, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n))


def test_eigenvalues_of_the_lecture():
    values, vectors = th.lowrank.symmetric_eigen([[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(values, [3.0, 1.0])
    np.testing.assert_allclose(vectors[:, 0], np.ones(2) / np.sqrt(2))
    turn = th.linalg.rotation_matrix(np.pi / 4)
    np.testing.assert_allclose(turn @ np.diag([3.0, 1.0]) @ turn.T, [[2.0, 1.0], [1.0, 2.0]])
    top = th.lowrank.symmetric_eigen(np.diag([3.0, 1.0]))
    assert top.values[0] == 3.0
    assert top.vectors[:, 0].tolist() == [1.0, 0.0]


def test_first_eigenvector_maximises_the_quadratic_form():
    A = rows(6, 6)
    A = A + A.T
    values, vectors = th.lowrank.symmetric_eigen(A)
    np.testing.assert_allclose((vectors * values) @ vectors.T, A, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-12)
    units = rows(2000, 6, seed=1)
    units /= np.linalg.norm(units, axis=1)[:, None]
    forms = np.einsum("ij,jk,ik->i", units, A, units)
    assert forms.max() <= values[0]
    assert vectors[:, 0] @ A @ vectors[:, 0] == pytest.approx(values[0])


def test_only_semidefinite_matrices_have_no_negative_eigenvalue():
    X = rows(5, 9)
    assert th.lowrank.symmetric_eigen(X.T @ X).is_positive_semidefinite
    assert not th.lowrank.symmetric_eigen([[0.0, 1.0], [1.0, 0.0]]).is_positive_semidefinite


def test_singular_values_are_roots_of_eigenvalues():
    X = rows()
    U, s, V = th.lowrank.svd(X)
    np.testing.assert_allclose((U * s) @ V, X, atol=1e-12)
    np.testing.assert_allclose(s**2, th.lowrank.symmetric_eigen(X.T @ X).values)
    assert (V[np.arange(8), np.abs(V).argmax(axis=1)] > 0).all()


def test_rank_of_a_product():
    A = rows(20, 3) @ rows(3, 10, seed=1)
    assert th.lowrank.svd(A).rank == 3
    assert th.lowrank.svd(np.zeros((3, 2))).rank == 0


@pytest.mark.parametrize("shape", [(7, 4), (4, 7)])
def test_pseudo_inverse_has_the_four_properties_of_penrose(shape):
    A = rows(shape[0], 2) @ rows(2, shape[1], seed=1)
    P = th.lowrank.pseudo_inverse(A)
    np.testing.assert_allclose(P, np.linalg.pinv(A, rcond=1e-13), atol=1e-12)
    for left, right in [(A @ P @ A, A), (P @ A @ P, P), ((A @ P).T, A @ P), ((P @ A).T, P @ A)]:
        np.testing.assert_allclose(left, right, atol=1e-12)


def test_best_rank_has_the_error_of_the_values_left_out():
    A = rows()
    s = th.lowrank.svd(A).s
    for k in range(9):
        found = th.lowrank.best_rank(A, k)
        left = np.linalg.norm(A - found.matrix())
        assert left == pytest.approx(np.sqrt((s[k:] ** 2).sum()), abs=1e-12)
        assert found.error == pytest.approx(left, abs=1e-12)
        assert found.n_numbers == k * (30 + 8)
        assert found.share == pytest.approx(1 - left**2 / (A**2).sum(), abs=1e-12)


def test_no_other_matrix_of_rank_two_is_nearer():
    A = rows()
    best = th.lowrank.best_rank(A, 2).error
    for seed in range(20):
        left = th.lowrank.best_rank(A, 2).left + 0.1 * rows(30, 2, seed=seed)
        fitted = left @ np.linalg.lstsq(left, A)[0]
        assert np.linalg.norm(A - fitted) > best


def test_rank_by_the_rule_of_a_tenth():
    # 1.4 is left beside 15 with k = 2, which is less than a tenth; 6.4 beside 10 is not.
    assert th.lowrank.choose_rank(np.diag([10.0, 5.0, 1.0, 0.4])) == 2
    assert th.lowrank.choose_rank(np.diag([10.0, 5.0, 1.0, 0.6])) == 3
    assert th.lowrank.choose_rank(np.diag([10.0, 5.0, 1.0, 0.4]), tolerance=0.5) == 1
    assert th.lowrank.choose_rank(np.diag([10.0, 5.0, 1.0, 0.4]), tolerance=0.0) == 4
    assert th.lowrank.choose_rank(np.zeros((3, 3))) == 0


def factors(seed, noise, n=200):
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 10))
    return signal + noise * rng.normal(size=(n, 10))


def test_parallel_analysis_finds_the_factors_and_none_in_noise():
    assert th.lowrank.parallel_analysis(factors(0, 0.5), random_state=0).rank == 3
    noise = [
        th.lowrank.parallel_analysis(rows(200, 10, seed), random_state=0) for seed in range(20)
    ]
    assert sum(each.rank > 0 for each in noise) <= 4


def test_cross_validated_rank_is_not_too_large_and_its_error_is_near_the_noise():
    """Column means of the known entries alone would need one more component, and more error."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 15)) + 0.1 * rng.normal(size=(30, 15))
    found = th.lowrank.cross_validated_rank(A, largest=5, random_state=0)
    assert found.rank == 3
    assert found.values[3] < 2.5 * 0.1**2


def test_cross_validated_rank_finds_the_factors():
    found = th.lowrank.cross_validated_rank(factors(1, 0.3, n=60), largest=6, random_state=0)
    assert found.rank == 3
    assert found.values.argmin() == 3
    assert (found.reference > 0).all()


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-550, 2.0**550, 2.0**1000])
@pytest.mark.filterwarnings("error")
def test_ranks_do_not_depend_on_units(unit):
    A = factors(1, 0.3, n=30)
    found, other = th.lowrank.best_rank(A, 2), th.lowrank.best_rank(unit * A, 2)
    assert (other.share, other.error / unit) == pytest.approx((found.share, found.error))
    for rule in ({}, {"tolerance": 0.2}):
        assert th.lowrank.choose_rank(unit * A, **rule) == th.lowrank.choose_rank(A, **rule) < 9
    mixed = np.hstack([unit * A[:, :4], A[:, 4:]])
    found, other = (
        th.lowrank.parallel_analysis(each, n_draws=20, random_state=0) for each in (A, mixed)
    )
    assert other.rank == found.rank > 0
    np.testing.assert_allclose(other.values, found.values)
    found, other = (
        th.lowrank.cross_validated_rank(each, largest=4, n_iter=5, random_state=0).rank
        for each in (A, unit * A)
    )
    assert other == found > 0


def test_constant_columns_have_no_components():
    for n in range(5, 60):
        X = np.random.default_rng(n).normal(size=(n, 3))
        constant = np.hstack([X, np.full((n, 3), [0.1, 0.7, 1e6 / 3])])
        found = th.lowrank.parallel_analysis(constant, n_draws=5, random_state=0)
        assert found.values.sum() == pytest.approx(3 * n / (n - 1))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: th.lowrank.symmetric_eigen([[1.0, 2.0], [0.0, 1.0]]), DataError, "symmetric"),
        (lambda: th.lowrank.svd([1.0, 2.0]), DataError, "matrix"),
        (lambda: th.lowrank.svd([[np.nan]]), ParameterError, "finite"),
        (lambda: th.lowrank.best_rank(np.eye(2), 3), ParameterError, "from 0 to min"),
        (lambda: th.lowrank.best_rank(np.eye(2), True), ParameterError, "whole number"),
        (lambda: th.lowrank.choose_rank(np.eye(2), -1.0), ParameterError, "≥ 0"),
        (lambda: th.lowrank.choose_rank(np.eye(2), tolerance=2.0), ParameterError, "0 to 1"),
        (lambda: th.lowrank.pseudo_inverse(np.eye(2), 1.0), ParameterError, "tolerance"),
        (lambda: th.lowrank.choose_rank(np.eye(2), "a"), ParameterError, "share='a'"),
        (lambda: th.lowrank.choose_rank(np.eye(2), tolerance="a"), ParameterError, "0 to 1"),
        (lambda: th.lowrank.pseudo_inverse(np.eye(2), "a"), ParameterError, "tolerance='a'"),
        (lambda: th.lowrank.parallel_analysis(np.eye(3), level="a"), ParameterError, "level='a'"),
        (lambda: th.lowrank.cross_validated_rank(np.eye(3), n_folds=2.5), ParameterError, "2.5"),
        (lambda: th.lowrank.cross_validated_rank(np.eye(3), n_folds=10), ParameterError, "most"),
        (lambda: th.lowrank.cross_validated_rank(np.eye(3), n_iter="a"), ParameterError, "n_iter"),
        (lambda: th.lowrank.parallel_analysis([[1.0, 2.0]]), DataError, "one row"),
        (lambda: th.lowrank.parallel_analysis(np.eye(3), n_draws=0), ParameterError, "n_draws"),
        (lambda: th.lowrank.parallel_analysis(np.eye(3), level=1), ParameterError, "level"),
        (lambda: th.lowrank.cross_validated_rank(np.eye(3), largest=3), ParameterError, "largest"),
        (lambda: th.lowrank.cross_validated_rank(np.eye(3), n_folds=1), ParameterError, "n_folds"),
    ],
    ids=lambda value: None if callable(value) else str(value),
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
