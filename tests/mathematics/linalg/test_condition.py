"""Condition number, rank, and the digits that solvers lose."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.spatial.distance

import thetahat as th
from tests.mathematics.linalg.matrix_cases import ROWS, on_disk


def with_condition(kappa, n=60, d=5, seed=1):
    """A matrix with singular values from 1 down to 1/kappa."""
    rng = np.random.default_rng(seed)
    U, _ = np.linalg.qr(rng.normal(size=(n, d)))
    V, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return (U * np.geomspace(1.0, 1.0 / kappa, d)) @ V.T


@pytest.mark.parametrize("kappa", [1.0, 1e3, 1e8, 1e12])
def test_condition_number_is_the_ratio_of_singular_values(kappa):
    X = with_condition(kappa)
    assert th.linalg.condition_number(X) == pytest.approx(kappa, rel=1e-3)
    assert th.linalg.condition_number(X.T) == pytest.approx(kappa, rel=1e-3)
    assert th.linalg.condition_number(1e150 * X) == pytest.approx(kappa, rel=1e-3)


def test_frobenius_condition_number_is_the_product_of_two_norms():
    by_norms = np.linalg.norm(ROWS) * np.linalg.norm(np.linalg.pinv(ROWS))
    assert th.linalg.condition_number(ROWS, kind="frobenius") == pytest.approx(by_norms, rel=1e-10)
    assert th.linalg.condition_number(ROWS) == pytest.approx(np.linalg.cond(ROWS), rel=1e-10)


@pytest.mark.parametrize("d", [1, 2, 5, 17])
def test_frobenius_condition_number_of_the_identity_is_its_dimension(d):
    assert th.linalg.condition_number(np.eye(d), kind="frobenius") == pytest.approx(d, rel=1e-14)
    assert th.linalg.condition_number(np.eye(d)) == pytest.approx(1, rel=1e-14)


def test_condition_number_of_dependent_columns():
    X = np.column_stack([ROWS, ROWS[:, 0]])
    assert th.linalg.condition_number(X) > 1e14
    assert th.linalg.condition_number(np.zeros((3, 2))) == float("inf")
    rank = th.linalg.effective_rank(X)
    by_pinv = np.linalg.norm(X) * np.linalg.norm(np.linalg.pinv(X))
    kept = th.linalg.condition_number(X, kind="frobenius", rank=rank)
    assert kept == pytest.approx(by_pinv, rel=1e-8)


def test_condition_number_is_the_same_out_of_core_and_sparse(tmp_path):
    random = np.random.default_rng(1)
    in_memory = th.linalg.condition_number(ROWS)
    assert th.linalg.condition_number(on_disk(ROWS, tmp_path)) == in_memory
    with_target = on_disk(np.column_stack([ROWS, random.normal(size=300)]), tmp_path, target=-1)
    assert th.linalg.condition_number(with_target) == pytest.approx(in_memory, rel=1e-12)
    sparse = scipy.sparse.csr_array(ROWS)
    assert th.linalg.condition_number(sparse) == pytest.approx(in_memory, rel=1e-10)


def test_effective_rank_counts_what_is_not_rounding():
    random = np.random.default_rng(2)
    wide = random.normal(size=(40, 3)) @ random.normal(size=(3, 8))
    for X in (wide, wide.T, wide.astype(np.float32), 1e-150 * wide):
        assert th.linalg.effective_rank(X) == 3 == np.linalg.matrix_rank(X)
    assert th.linalg.effective_rank(np.zeros((4, 2))) == 0
    assert th.linalg.effective_rank(np.diag([1.0, 1e-3, 1e-6]), tolerance=1e-4) == 2


def test_a_condition_of_1e8_leaves_no_digits_on_the_normal_equations():
    assert (1e8) ** 2 * 1e-16 == pytest.approx(1)
    assert th.linalg.digits_lost(1e8, epsilon=1e-16) == pytest.approx(16)
    assert th.linalg.digits_lost(1e8, "qr", epsilon=1e-16) == pytest.approx(8)
    all_of_them = -np.log10(np.finfo(float).eps)
    assert th.linalg.digits_lost(1e8) == all_of_them == th.linalg.digits_lost(float("inf"), "svd")
    assert th.linalg.digits_lost(1.0) == 0


@pytest.mark.parametrize("kappa", [1e2, 1e4, 1e6])
def test_solvers_lose_the_digits_they_are_said_to_lose(kappa):
    X, beta = with_condition(kappa), np.arange(1.0, 6.0)
    y = X @ beta
    Q, R = np.linalg.qr(X)
    found = {
        "cholesky": scipy.linalg.cho_solve(scipy.linalg.cho_factor(X.T @ X), X.T @ y),
        "qr": scipy.linalg.solve_triangular(R, Q.T @ y),
    }
    digits = {
        solver: -np.log10(np.linalg.norm(solution - beta) / np.linalg.norm(beta))
        for solver, solution in found.items()
    }
    for solver, correct in digits.items():
        promised = 15.65 - th.linalg.digits_lost(th.linalg.condition_number(X), solver)
        assert correct > promised - 1
    assert kappa < 1e4 or digits["qr"] > digits["cholesky"] + 1


def test_condition_refuses_bad_input():
    with pytest.raises(th.errors.ParameterError, match="kind='max' must be one of"):
        th.linalg.condition_number(ROWS, kind="max")
    with pytest.raises(th.errors.ParameterError, match="rank=5 must be a whole number from 1 to"):
        th.linalg.condition_number(ROWS, rank=5)
    with pytest.raises(th.errors.ParameterError, match=r"condition=0.5 must be ≥ 1"):
        th.linalg.digits_lost(0.5)
    with pytest.raises(th.errors.ParameterError, match="solver='lu' must be one of"):
        th.linalg.digits_lost(10.0, "lu")
    with pytest.raises(th.errors.ParameterError, match=r"tolerance=2 must be in \[0, 1\)"):
        th.linalg.effective_rank(ROWS, tolerance=2)
    for bad in ([[1.0, np.nan]], [[1.0, 2.0], [np.inf, 1.0], [0.0, 1.0]]):
        with pytest.raises(th.errors.DataError, match="contains"):
            th.linalg.condition_number(bad)
