"""Rows whose differences vanish or overflow in squares."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th


def rows():
    return np.random.default_rng(0).normal(size=(40, 3))


MODELS = [
    th.NearestNeighbors(),
    th.NearestNeighbors(algorithm="brute", metric="euclidean"),
    th.NearestNeighbors(metric="sqeuclidean"),
    th.NearestNeighbors(metric="seuclidean"),
    th.NearestNeighbors(metric="mahalanobis"),
    th.NearestNeighbors(metric="nan_euclidean"),
    th.NearestNeighbors(p=3),
    th.KNeighborsClassifier(),
    th.RadiusNeighborsClassifier(),
    th.NadarayaWatson(),
    th.NadarayaWatson(1.0),
    th.NadarayaWatsonClassifier(),
    th.LocallyWeightedRegression(1.0),
    th.LocallyWeightedRegression(1.0, metric="manhattan"),
    th.CondensedNearestNeighbors(),
    th.PrototypeClassifier(),
]


@pytest.mark.parametrize("scale", [1e-160, 1e-300])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_rows_whose_squares_underflow_are_refused(model, scale):
    X = rows()
    with pytest.raises(th.errors.DataError, match=r"underflow.*[Rr]escale"):
        model.fit(X * scale, X[:, 0] > 0)


@pytest.mark.parametrize("tree", [th.KDTree, th.BallTree])
def test_trees_refuse_them_also(tree):
    with pytest.raises(th.errors.DataError, match=r"underflow.*Rescale"):
        tree(rows() * 1e-300)


def test_a_constant_column_or_zeros_hide_no_tiny_differences():
    X = np.column_stack([np.ones(40), rows() * 1e-300])
    for each in (X, sp.csr_array(X)):
        with pytest.raises(th.errors.DataError, match=r"underflow.*Rescale"):
            th.NearestNeighbors().fit(each)


@pytest.mark.parametrize("value", [0.0, 1e-300, 7.0])
@pytest.mark.parametrize("model", [m for m in MODELS if "mahalanobis" not in repr(m)], ids=repr)
def test_equal_rows_stay_allowed(model, value):
    assert model.fit(np.full((40, 3), value), np.arange(40) % 2).n_features_in_ == 3


def test_few_tiny_entries_beside_others_stay_allowed():
    X = rows()
    X[:5] *= 1e-200
    distance, _ = th.NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X)
    assert not distance[:5, :5].any()


def test_distances_without_powers_take_tiny_rows():
    X = rows()
    for metric in ("manhattan", "chebyshev", "cosine"):
        near = th.NearestNeighbors(metric=metric)
        expected = near.fit(X).kneighbors(X)[1]
        tiny = X * 2.0**-1000
        np.testing.assert_array_equal(near.fit(tiny).kneighbors(tiny)[1], expected)


@pytest.mark.parametrize("scale", [2.0**-100, 2.0**80])
@pytest.mark.parametrize("to_matrix", [np.asarray, sp.csr_array])
def test_single_precision_products_do_not_overflow(scale, to_matrix):
    X = np.random.default_rng(0).normal(size=(3000, 30)).astype(np.float32)
    near = th.NearestNeighbors(algorithm="brute")
    expected = near.fit(X).kneighbors(X[:50])[1]
    scaled = X * np.float32(scale)
    found = near.fit(to_matrix(scaled)).kneighbors(to_matrix(scaled[:50]))[1]
    np.testing.assert_array_equal(found, expected)


def test_local_fits_refuse_kernels_with_negative_values():
    X = rows()
    with pytest.raises(th.errors.ParameterError, match=r"Silverman.*negative.*'gaussian'"):
        th.LocallyWeightedRegression(0.1, "silverman").fit(X, X[:, 0])
    model = th.LocallyWeightedRegression(1.0, "silverman", degree=0).fit(X, X[:, 0])
    np.testing.assert_allclose(
        model.predict(X), th.NadarayaWatson(1.0, "silverman").fit(X, X[:, 0]).predict(X)
    )
