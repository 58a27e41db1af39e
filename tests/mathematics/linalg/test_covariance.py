"""Scatter, covariance and correlation; square roots, whitening and Mahalanobis distances."""

import itertools

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.spatial.distance

import thetahat as th
from tests.mathematics.linalg.matrix_cases import ROWS, SPD, on_disk

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
