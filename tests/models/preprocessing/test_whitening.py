"""Whitening: uncorrelated columns of variance one, whatever the units and the condition."""

import numpy as np
import pandas as pd
import pytest

import thetahat as th

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(500, 5)) @ RNG.normal(size=(5, 5)) + [0.0, 10.0, -1e3, 1.0, 5.0]

both = pytest.mark.parametrize("method", ["cholesky", "symmetric"])


@both
def test_whitened_covariance_is_the_identity(method):
    Z = th.Whitening(method=method).fit_transform(ROWS)
    np.testing.assert_allclose(th.linalg.covariance(Z), np.eye(5), atol=1e-12)
    np.testing.assert_allclose(Z.mean(axis=0), np.zeros(5), atol=1e-11)


@both
def test_squared_length_is_the_squared_mahalanobis_distance(method):
    model = th.Whitening(method=method).fit(ROWS)
    distance = th.linalg.mahalanobis_distance(ROWS, model.mean_, th.linalg.covariance(ROWS))
    np.testing.assert_allclose((model.transform(ROWS) ** 2).sum(axis=1), distance**2, rtol=1e-10)


@both
def test_matrices_are_those_of_the_covariance(method):
    model = th.Whitening(method=method).fit(ROWS)
    covariance = th.linalg.covariance(ROWS)
    np.testing.assert_allclose(model.covariance_, covariance, rtol=1e-10, atol=1e-12)
    W = th.linalg.whitening_matrix(covariance, method)
    np.testing.assert_allclose(model.whitening_matrix_, W, rtol=1e-9, atol=1e-12)
    M = model.coloring_matrix_
    np.testing.assert_allclose(M @ M.T, covariance, rtol=1e-10, atol=1e-12)
    if method == "symmetric":
        np.testing.assert_allclose(M, th.linalg.matrix_square_root(covariance), rtol=1e-9)
    else:
        np.testing.assert_allclose(M, np.linalg.cholesky(covariance), rtol=1e-9, atol=1e-12)
        assert np.array_equal(W, np.tril(W))


@both
def test_digits_are_kept_when_columns_are_nearly_dependent(method):
    """κ of the Longley columns is 1e5 after scaling: squared it would cost ten digits."""
    rows = th.datasets.load_longley().X
    Z = th.Whitening(method=method).fit_transform(rows)
    np.testing.assert_allclose(th.linalg.covariance(Z), np.eye(rows.shape[1]), atol=1e-12)


@both
def test_nearly_dependent_columns_lose_no_more_than_their_condition(method):
    random = np.random.default_rng(1)
    rows = np.column_stack([ROWS, ROWS[:, 0] + 1e-7 * random.normal(size=500)])
    model = th.Whitening(method=method).fit(rows)
    Z = model.transform(rows)
    np.testing.assert_allclose(th.linalg.covariance(Z), np.eye(6), atol=1e-7)
    assert (np.diag(model.coloring_matrix_) > 0).all()


@both
def test_units_do_not_matter(method):
    tiny_and_huge = ROWS[:, :2] * [1e-150, 1e150]
    Z = th.Whitening(method="cholesky").fit_transform(tiny_and_huge)
    np.testing.assert_allclose(th.linalg.covariance(Z), np.eye(2), atol=1e-10)
    plain = th.Whitening(method="cholesky").fit_transform(ROWS[:, :2])
    np.testing.assert_allclose(Z, plain, atol=1e-9)
    huge = th.Whitening(method=method).fit_transform(1e150 * ROWS)
    np.testing.assert_allclose(th.linalg.covariance(huge), np.eye(5), atol=1e-10)


@both
def test_weights_count_rows(method):
    random = np.random.default_rng(2)
    weight = random.integers(0, 4, size=500)
    weighted = th.Whitening(method=method).fit(ROWS, sample_weight=weight)
    repeated = th.Whitening(method=method).fit(np.repeat(ROWS, weight, axis=0))
    np.testing.assert_allclose(weighted.transform(ROWS), repeated.transform(ROWS), atol=1e-10)


def test_training_statistics_are_reused():
    model = th.Whitening().fit(ROWS)
    one_by_one = np.vstack([model.transform(row[None]) for row in ROWS[:10]])
    np.testing.assert_allclose(one_by_one, model.transform(ROWS)[:10], rtol=1e-12)


def test_least_squares_does_not_notice():
    random = np.random.default_rng(3)
    y = ROWS @ np.arange(5.0) + random.normal(size=500)
    plain = th.LinearRegression().fit(ROWS, y).predict(ROWS)
    Z = th.Whitening().fit_transform(ROWS)
    np.testing.assert_allclose(th.LinearRegression().fit(Z, y).predict(Z), plain, rtol=1e-8)


@both
@pytest.mark.parametrize("tau", [1e-8, 0.5])
def test_regularization_adds_to_every_variance(method, tau):
    dependent = np.column_stack([ROWS, ROWS[:, 0] - ROWS[:, 3], np.ones(500)])
    model = th.Whitening(method=method, regularization=tau).fit(dependent)
    lifted = th.linalg.covariance(dependent) + tau * np.eye(7)
    np.testing.assert_allclose(model.covariance_, lifted, rtol=1e-9, atol=1e-11)
    W = model.whitening_matrix_
    np.testing.assert_allclose(W @ lifted @ W.T, np.eye(7), atol=1e-6)


def test_singular_covariances_are_named():
    table = pd.DataFrame(ROWS, columns=list("abcde"))
    table["sum"] = table["a"] + table["c"]
    table["one"] = 0.1
    match = r"vary in 5 of 7 .*constant: 'one'; linearly dependent: 'a', 'c', 'sum'\)"
    with pytest.raises(th.errors.DataError, match=match):
        th.Whitening(method="cholesky").fit(table)
    with pytest.warns(th.errors.IllConditionedWarning, match=match):
        model = th.Whitening().fit(table)
    covariance = th.linalg.covariance(model.transform(table))
    # White in the five directions that vary, nothing in the others; and the way back is exact.
    np.testing.assert_allclose(np.linalg.eigvalsh(covariance), [0, 0, 1, 1, 1, 1, 1], atol=1e-9)
    back = model.inverse_transform(model.transform(table))
    np.testing.assert_allclose(back, table, atol=1e-9)
    refused = th.Whitening(method="cholesky").fit
    with pytest.raises(th.errors.DataError, match="linearly dependent: 'a', 'c', 'sum'"):
        refused(table.drop(columns="one").astype(np.float32))
    with pytest.raises(th.errors.DataError, match="3 rows vary in 2 of 5 directions"):
        refused(ROWS[:3])
    with pytest.raises(
        th.errors.DataError, match=r"n_samples = 1, but a single row has no variance.*regulariz"
    ):
        refused(ROWS[:1])
    with pytest.raises(th.errors.DataError, match="0, 1, 2, 3, 4, 5, 6, 7 and 2 more"):
        refused(np.ones((20, 10)))


def test_bad_input_is_refused():
    with pytest.raises(th.errors.ParameterError, match="method='zca' must be one of"):
        th.Whitening(method="zca").fit(ROWS)
    with pytest.raises(th.errors.ParameterError, match="regularization=-1 must be a number ≥ 0"):
        th.Whitening(regularization=-1).fit(ROWS)
    broken = ROWS.copy()
    broken[17, 2] = np.nan
    with pytest.raises(
        th.errors.DataError, match=r"column 2 holds 1 such value \(first at row 17\)"
    ):
        th.Whitening().fit(broken)
    with pytest.raises(th.errors.DataError, match="column 2"):
        th.Whitening().fit(ROWS).transform(broken)
