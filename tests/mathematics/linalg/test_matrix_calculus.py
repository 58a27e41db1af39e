"""Vectors, rotations and matrix calculus: identities first, then worked numbers."""

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.linalg.matrix_cases import ROWS, SPD, A
from thetahat import linalg


def test_inner_product_norms_and_unit_vector():
    v, w = [1, 3, 2], [4, -4, 4]
    assert linalg.inner_product(v, w) == 0
    assert linalg.inner_product(v, v) == 14
    assert linalg.norm(v) ** 2 == pytest.approx(14, rel=1e-15)
    np.testing.assert_allclose(linalg.unit_vector(v), np.array(v) / np.sqrt(14), rtol=1e-15)
    assert [linalg.norm(v, p) for p in (0, 1, np.inf)] == [3, 6, 3]
    assert linalg.norm([0, -2, 0], 0) == 1
    assert linalg.norm(w, 3) == pytest.approx((3 * 64) ** (1 / 3), rel=1e-15)
    assert linalg.effective_rank(linalg.outer_product(v, w)) == 1
    assert linalg.trace(linalg.outer_product(v, w)) == linalg.inner_product(v, w)


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, 10, np.inf])
def test_norms_of_rows_are_numpys(p):
    rows = np.random.default_rng(0).normal(size=(20, 7)) * (np.arange(7) != 3)
    expected = [np.linalg.norm(row, p) for row in rows]
    np.testing.assert_allclose(linalg.norm(rows, p), expected, rtol=1e-13)
    assert linalg.norm(np.zeros(4), p) == 0
    if p > 0:
        np.testing.assert_allclose(linalg.norm(linalg.unit_vector(rows, p), p), 1, rtol=1e-13)
        np.testing.assert_allclose(linalg.norm(-3 * rows, p), 3 * linalg.norm(rows, p))
        extreme = linalg.unit_vector(np.array([3e-320, 4e200]), p)
        np.testing.assert_allclose(extreme, [0.0, 1.0], atol=1e-300)
    if p >= 1:  # the triangle inequality, and orders that fall
        total = linalg.norm(rows[:10] + rows[10:], p)
        assert np.all(total <= linalg.norm(rows[:10], p) + linalg.norm(rows[10:], p) + 1e-12)
        assert np.all(linalg.norm(rows, p) <= linalg.norm(rows, 1) + 1e-12)


def test_norms_neither_overflow_nor_vanish():
    assert linalg.norm([3e200, 4e200]) == pytest.approx(5e200)
    assert linalg.norm([3e-200, 4e-200]) == pytest.approx(5e-200)
    assert linalg.frobenius_norm([[3e200], [4e200]]) == pytest.approx(5e200)


def test_products_of_rows():
    random = np.random.default_rng(1)
    v, w = random.normal(size=(5, 3)), random.normal(size=(5, 3))
    np.testing.assert_allclose(linalg.inner_product(v, w), np.diag(v @ w.T))
    np.testing.assert_allclose(linalg.inner_product(v, w[0]), v @ w[0])
    bound = linalg.norm(v) * linalg.norm(w)  # Cauchy and Schwarz
    assert np.all(np.abs(linalg.inner_product(v, w)) <= bound)
    np.testing.assert_allclose(linalg.outer_product(v[0], w[:, 1]), np.outer(v[0], w[:, 1]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linalg.inner_product([1, 2], [1, 2, 3]), "same number of entries"),
        (lambda: linalg.inner_product(np.ones((2, 3)), np.ones((4, 3))), "same number of rows"),
        (lambda: linalg.outer_product(np.ones((2, 2)), [1]), "must be vectors"),
        (lambda: linalg.norm([1, 2], -1), "p=-1 must be a number ≥ 0"),
        (lambda: linalg.norm([1, np.nan]), "is nan; all entries must be finite"),
        (lambda: linalg.norm(3.0), "must be a vector"),
        (lambda: linalg.unit_vector([0, 0]), "v is 0 and has no direction"),
        (lambda: linalg.unit_vector([[1, 0], [0, 0]]), "row 1 of v is 0"),
        (lambda: linalg.unit_vector([1, 2], 0), "p=0 must be a number > 0"),
        (lambda: linalg.frobenius_norm([1, 2]), "must be a matrix"),
        (lambda: linalg.trace(np.ones((2, 3))), "as many rows as columns"),
    ],
)
def test_bad_vectors_are_named(call, message):
    with pytest.raises((th.errors.DataError, th.errors.ParameterError), match=message):
        call()


def test_frobenius_norm_is_the_root_of_the_trace_and_of_the_squared_singular_values():
    norm = linalg.frobenius_norm(A)
    assert norm == pytest.approx(np.sqrt((A**2).sum()), rel=1e-14)
    assert norm == pytest.approx(np.sqrt(linalg.trace(A.T @ A)), rel=1e-14)
    assert norm == pytest.approx(np.sqrt((np.linalg.svd(A)[1] ** 2).sum()), rel=1e-14)


def test_trace_and_log_determinant_identities():
    random = np.random.default_rng(6)
    B = random.normal(size=(4, 4))
    assert linalg.trace(A @ B) == pytest.approx(linalg.trace(B @ A), rel=1e-12)
    assert linalg.trace(SPD) == pytest.approx(np.linalg.eigvalsh(SPD).sum())
    logdet = [np.linalg.slogdet(matrix).logabsdet for matrix in (A @ B, A, B)]
    assert logdet[0] == pytest.approx(logdet[1] + logdet[2], rel=1e-12)
    L = np.linalg.cholesky(SPD)
    assert np.linalg.slogdet(SPD).logabsdet == pytest.approx(2 * np.log(np.diag(L)).sum())
    x = random.normal(size=4)
    product = linalg.trace(A @ linalg.outer_product(x, x))
    assert linalg.quadratic_form(A, x) == pytest.approx(product)


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 2, -2.0])
def test_rotations_turn_in_both_senses(angle):
    turn = th.linalg.rotation_matrix(angle)
    back = th.linalg.rotation_matrix(angle, clockwise=True)
    np.testing.assert_allclose(turn @ [1.0, 0.0], [np.cos(angle), np.sin(angle)], atol=1e-15)
    np.testing.assert_allclose(back @ [1.0, 0.0], [np.cos(angle), -np.sin(angle)], atol=1e-15)
    np.testing.assert_allclose(turn @ back, np.eye(2), atol=1e-15)
    np.testing.assert_allclose(turn @ turn, th.linalg.rotation_matrix(2 * angle), atol=1e-15)
    assert np.linalg.det(turn) == pytest.approx(1)


def test_rotation_by_a_quarter_turns_x_to_y():
    quarter = th.linalg.rotation_matrix(np.pi / 2)
    np.testing.assert_allclose(quarter, [[0, -1], [1, 0]], atol=1e-15)
    with pytest.raises(th.errors.ParameterError, match="angle=nan must be a finite number"):
        th.linalg.rotation_matrix(float("nan"))


def numerical_gradient(function, at, step=1e-6):
    gradient = np.empty_like(at)
    for index in np.ndindex(at.shape):
        move = np.zeros_like(at)
        move[index] = step
        gradient[index] = (function(at + move) - function(at - move)) / (2 * step)
    return gradient


def test_gradients_of_the_quadratic_form():
    random = np.random.default_rng(7)
    x = random.normal(size=4)
    by_x = th.linalg.quadratic_form_gradient(A, x)
    np.testing.assert_allclose(by_x, (A + A.T) @ x, rtol=1e-13)
    numerical = numerical_gradient(lambda at: th.linalg.quadratic_form(A, at), x)
    np.testing.assert_allclose(by_x, numerical, rtol=1e-7)
    by_matrix = th.linalg.quadratic_form_gradient(A, x, wrt="A")
    np.testing.assert_allclose(by_matrix, np.outer(x, x), rtol=1e-13)
    numerical = numerical_gradient(lambda at: th.linalg.quadratic_form(at, x), A)
    np.testing.assert_allclose(by_matrix, numerical, rtol=1e-7, atol=1e-9)


def test_quadratic_form_of_rows_is_that_of_each():
    each = [th.linalg.quadratic_form(A, row) for row in ROWS]
    np.testing.assert_allclose(th.linalg.quadratic_form(A, ROWS), each, rtol=1e-10)
    each = [th.linalg.quadratic_form_gradient(A, row) for row in ROWS]
    np.testing.assert_allclose(th.linalg.quadratic_form_gradient(A, ROWS), each, rtol=1e-10)
    by_matrix = th.linalg.quadratic_form_gradient(A, ROWS, wrt="A")
    np.testing.assert_allclose(by_matrix.sum(axis=0), ROWS.T @ ROWS, rtol=1e-12)


@pytest.mark.parametrize("K", [SPD, A], ids=["positive definite", "general"])
def test_gradient_of_the_log_determinant(K):
    gradient = th.linalg.log_determinant_gradient(K)
    np.testing.assert_allclose(gradient @ K.T, np.eye(4), atol=1e-12)
    numerical = numerical_gradient(lambda at: np.linalg.slogdet(at).logabsdet, K)
    np.testing.assert_allclose(gradient, numerical, rtol=1e-6, atol=1e-7)


def test_covariance_is_where_the_gaussian_likelihood_is_flat():
    """n log det K − Σ xᵢᵀKxᵢ has gradient 0 at K = Σ̂⁻¹."""
    X = ROWS - ROWS.mean(axis=0)
    K = np.linalg.inv(th.linalg.covariance(X))
    pull = len(X) * th.linalg.log_determinant_gradient(K)
    push = th.linalg.quadratic_form_gradient(K, X, wrt="A").sum(axis=0)
    np.testing.assert_allclose(pull, push, rtol=1e-9)


def test_matrix_calculus_refuses_bad_input():
    with pytest.raises(th.errors.DataError, match="the matrix is singular"):
        th.linalg.log_determinant_gradient([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(th.errors.DataError, match=r"A is 4 × 4 and x has shape \(3,\)"):
        th.linalg.quadratic_form(A, [1.0, 2.0, 3.0])
    with pytest.raises(th.errors.ParameterError, match="wrt='y' must be one of"):
        th.linalg.quadratic_form_gradient(A, np.ones(4), wrt="y")


@pytest.mark.parametrize("solve", [th.linalg.lsqr, th.linalg.conjugate_gradient])
def test_steps_end_where_only_rounding_errors_are_left(solve):
    """Repeated columns and a tolerance that cannot be reached: the solution of least norm."""
    for seed in range(30):
        random = np.random.default_rng(seed)
        n, d = random.integers(3, 15), random.integers(1, 6)
        X = random.normal(size=(n, d)) * 10.0 ** random.integers(-3, 3, size=d)
        X, y = np.hstack([X, X]), random.normal(size=n)
        found = solve(lambda u, X=X: X @ u, lambda v, X=X: X.T @ v, y, 2 * d, tolerance=1e-17)
        expected = np.linalg.lstsq(X, y, rcond=1e-12)[0]
        assert found.outcome.success
        np.testing.assert_allclose(found.theta, expected, rtol=1e-5, atol=1e-7)
