"""Condition, covariance, whitening and matrix calculus: identities first, then worked numbers."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.spatial.distance

import thetahat as th
from thetahat import linalg

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4))
SPD = A @ A.T + 0.1 * np.eye(4)
ROWS = RNG.normal(size=(300, 4)) @ A + 50.0


def with_condition(kappa, n=60, d=5, seed=1):
    """A matrix with singular values from 1 down to 1/kappa."""
    rng = np.random.default_rng(seed)
    U, _ = np.linalg.qr(rng.normal(size=(n, d)))
    V, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return (U * np.geomspace(1.0, 1.0 / kappa, d)) @ V.T


def on_disk(X, tmp_path, **columns):
    np.save(tmp_path / "rows.npy", X)
    return th.scan(tmp_path / "rows.npy", **columns)


# Condition number, rank, digits.


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


# Scatter, covariance, correlation.


@pytest.mark.parametrize("unbiased", [False, True])
def test_covariance_against_numpy(unbiased):
    expected = np.cov(ROWS.T, bias=not unbiased)
    np.testing.assert_allclose(
        th.linalg.covariance(ROWS, unbiased=unbiased), expected, rtol=1e-11, atol=1e-12
    )
    divisor = len(ROWS) - unbiased
    np.testing.assert_allclose(th.linalg.scatter(ROWS) / divisor, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(th.linalg.correlation(ROWS), np.corrcoef(ROWS.T), atol=1e-13)


@pytest.mark.parametrize("statistic", ["scatter", "covariance", "correlation", "cross_covariance"])
def test_weights_count_rows(statistic):
    random = np.random.default_rng(3)
    weight = random.integers(0, 4, size=len(ROWS))
    repeated = np.repeat(ROWS, weight, axis=0)
    function = getattr(th.linalg, statistic)
    if statistic == "cross_covariance":
        weighted = function(ROWS[:, :3], ROWS[:, 3], weight, unbiased=True)
        counted = function(repeated[:, :3], repeated[:, 3], unbiased=True)
    else:
        weighted, counted = function(ROWS, weight), function(repeated)
    np.testing.assert_allclose(weighted, counted, rtol=1e-11, atol=1e-11)


def test_covariance_is_exactly_symmetric_and_positive_semidefinite():
    # More than one block, so that merging takes part.
    random = np.random.default_rng(4)
    X = random.normal(size=(40_000, 3)) @ random.normal(size=(3, 12)) + 1e3
    assert (np.diag(th.linalg.correlation(X)) == 1).all()
    for matrix in (th.linalg.covariance(X), th.linalg.scatter(X), th.linalg.correlation(X)):
        assert np.array_equal(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix)[0] > -1e-13 * np.abs(matrix).max()


def test_covariance_loses_nothing_to_a_large_mean():
    deviations = np.array([[-1.0, 2.0], [0.0, -1.0], [1.0, -1.0]])
    np.testing.assert_allclose(
        th.linalg.covariance(deviations + 2.0**40), deviations.T @ deviations / 3, rtol=1e-15
    )


def test_cross_covariance_is_the_mean_product_less_the_product_of_means():
    random = np.random.default_rng(5)
    x, y = random.normal(size=200), random.normal(size=200)
    found = th.linalg.cross_covariance(x[:, None], y)
    np.testing.assert_allclose(found, [np.mean(x * y) - x.mean() * y.mean()], rtol=1e-10)
    whole = th.linalg.covariance(ROWS)
    np.testing.assert_allclose(
        th.linalg.cross_covariance(ROWS[:, :1], ROWS[:, 1:]), whole[:1, 1:], rtol=1e-11
    )


def test_maximum_likelihood_variance_is_biased_by_four_fifths_for_five_rows():
    """Over all 3⁵ samples of five fair draws from {0, 1, 5}: E σ̂² = (n − 1)/n · σ² exactly."""
    population = np.array([0.0, 1.0, 5.0])
    samples = [np.array(draw)[:, None] for draw in itertools.product(population, repeat=5)]
    biased = np.mean([th.linalg.covariance(sample) for sample in samples])
    unbiased = np.mean([th.linalg.covariance(sample, unbiased=True) for sample in samples])
    assert biased / population.var() == pytest.approx(0.8, rel=1e-12)
    assert unbiased / population.var() == pytest.approx(1.0, rel=1e-12)


def test_covariance_out_of_core_and_sparse(tmp_path):
    source = on_disk(np.column_stack([ROWS, np.arange(300.0)]), tmp_path, target=-1)
    np.testing.assert_allclose(
        th.linalg.covariance(source), th.linalg.covariance(ROWS), rtol=1e-12, atol=1e-13
    )
    np.testing.assert_allclose(
        th.linalg.cross_covariance(source),
        th.linalg.cross_covariance(ROWS, np.arange(300.0)),
        rtol=1e-12,
    )
    sparse = scipy.sparse.random_array((50, 6), density=0.4, rng=0, format="csr")
    np.testing.assert_allclose(
        th.linalg.covariance(sparse), np.cov(sparse.toarray().T, bias=True), atol=1e-14
    )


def test_covariance_refuses_bad_input():
    with pytest.raises(th.errors.DataError, match=r"divides by N − 1, and N = 1\."):
        th.linalg.covariance([[1.0, 2.0]], unbiased=True)
    assert th.linalg.covariance([[1.0, 2.0]]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    constant = np.column_stack([ROWS[:, 0], np.full(300, 0.1), np.full(300, 7.0)])
    with pytest.raises(
        th.errors.DataError, match=r"column 1 is constant \(0\.1 in .* and 1 more constant column\."
    ):
        th.linalg.correlation(constant)
    with pytest.raises(th.errors.DataError, match="there is no Y"):
        th.linalg.cross_covariance(ROWS)
    with pytest.raises(th.errors.DataError, match=r"negative \(first at row 1"):
        th.linalg.covariance([[1.0], [2.0]], [1.0, -1.0])
    with pytest.raises(th.errors.DataError, match="column 1 holds 1 such value"):
        th.linalg.scatter([[1.0, np.nan], [2.0, 3.0]])


# Square roots, whitening, Mahalanobis.


def test_matrix_square_root_squares_to_the_matrix():
    root = th.linalg.matrix_square_root(SPD)
    np.testing.assert_allclose(root.T @ root, SPD, rtol=1e-12)
    np.testing.assert_allclose(root, scipy.linalg.sqrtm(SPD), rtol=1e-10)
    assert np.array_equal(root, root.T)
    singular = np.outer([1.0, 2.0, 2.0], [1.0, 2.0, 2.0])
    root = th.linalg.matrix_square_root(singular)
    np.testing.assert_allclose(root.T @ root, singular, atol=1e-14)


@pytest.mark.parametrize("method", ["cholesky", "symmetric"])
def test_whitening_matrix_makes_the_covariance_the_identity(method):
    scales = np.array([1e-9, 1.0, 1e3, 1e9])
    for covariance in (SPD, SPD * scales * scales[:, None]):
        W = th.linalg.whitening_matrix(covariance, method)
        tolerance = 1e-12 if covariance is SPD or method == "cholesky" else 1e-6
        np.testing.assert_allclose(W @ covariance @ W.T, np.eye(4), atol=tolerance)
    W = th.linalg.whitening_matrix(SPD, method)
    if method == "symmetric":
        np.testing.assert_allclose(W, W.T, rtol=1e-12)
        np.testing.assert_allclose(W @ th.linalg.matrix_square_root(SPD), np.eye(4), atol=1e-12)
    else:
        np.testing.assert_allclose(W @ np.linalg.cholesky(SPD), np.eye(4), atol=1e-12)
        assert np.array_equal(W, np.tril(W))


@pytest.mark.parametrize("method", ["cholesky", "symmetric"])
def test_mahalanobis_distance_is_the_length_of_the_whitened_deviation(method):
    mean, covariance = ROWS.mean(axis=0), th.linalg.covariance(ROWS)
    distance = th.linalg.mahalanobis_distance(ROWS, mean, covariance)
    white = (ROWS - mean) @ th.linalg.whitening_matrix(covariance, method).T
    np.testing.assert_allclose((white**2).sum(axis=1), distance**2, rtol=1e-12)
    inverse = np.linalg.inv(covariance)
    np.testing.assert_allclose(distance**2, th.linalg.quadratic_form(inverse, ROWS - mean))
    one = scipy.spatial.distance.mahalanobis(ROWS[7], mean, inverse)
    assert distance[7] == pytest.approx(one, rel=1e-10)


def test_mahalanobis_distance_with_identity_is_euclidean(tmp_path):
    distance = th.linalg.mahalanobis_distance(ROWS, np.zeros(4), np.eye(4))
    np.testing.assert_allclose(distance, np.linalg.norm(ROWS, axis=1), rtol=1e-14)
    source = on_disk(ROWS, tmp_path)
    assert np.array_equal(th.linalg.mahalanobis_distance(source, np.zeros(4), np.eye(4)), distance)


def test_whitening_functions_refuse_bad_matrices():
    with pytest.raises(th.errors.DataError, match=r"eigenvalue -1\."):
        th.linalg.matrix_square_root(np.diag([1.0, -1.0]))
    with pytest.raises(th.errors.DataError, match=r"entry \(0, 1\) is 2 and entry \(1, 0\) is 0"):
        th.linalg.matrix_square_root([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(th.errors.DataError, match="linearly dependent up to rounding"):
        th.linalg.whitening_matrix([[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(th.errors.DataError, match="column 1 has variance 0"):
        th.linalg.whitening_matrix(np.diag([1.0, 0.0]))
    with pytest.raises(
        th.errors.DataError, match=r"shape \(2, 3\); it must have as many rows as columns"
    ):
        th.linalg.whitening_matrix(np.ones((2, 3)))
    with pytest.raises(th.errors.DataError, match=r"entry \(1, 1\) of the matrix is nan"):
        th.linalg.whitening_matrix([[1.0, 0.0], [0.0, np.nan]])
    with pytest.raises(th.errors.ParameterError, match="method='pca' must be one of"):
        th.linalg.whitening_matrix(SPD, "pca")
    with pytest.raises(th.errors.DataError, match="X has 4 columns, but the mean has dimension 3"):
        th.linalg.mahalanobis_distance(ROWS, np.zeros(3), SPD)
    with pytest.raises(
        th.errors.DataError, match="X has 4 columns, but the covariance has dimension 2"
    ):
        th.linalg.mahalanobis_distance(ROWS, np.zeros(4), np.eye(2))


# Vectors, rotations, matrix calculus.


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
