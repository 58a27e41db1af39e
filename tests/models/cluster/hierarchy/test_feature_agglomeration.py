"""Agglomeration of columns: scikit-learn and merges of rows as oracles, pooling, bad input."""

import numpy as np
import pytest
from sklearn.cluster import FeatureAgglomeration as Peer
from sklearn.feature_extraction.image import grid_to_graph

import thetahat as th
from thetahat.models.cluster.hierarchy.squared_distances import squared_distances

LINKAGES = ("single", "complete", "average", "ward")


def table(n=50, d=12, seed=0):
    """Columns in groups of four that measure nearly the same."""
    random = np.random.default_rng(seed)
    return np.repeat(random.normal(size=(n, d // 4)), 4, axis=1) + random.normal(size=(n, d)) / 10


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("k", [1, 3, 12])
def test_groups_and_means_are_those_of_scikit_learn(linkage, k):
    X = table()
    ours = th.FeatureAgglomeration(k, linkage=linkage).fit(X)
    peer = Peer(k, linkage=linkage).fit(X)
    order = [int(peer.labels_[np.argmax(ours.labels_ == g)]) for g in range(k)]
    np.testing.assert_allclose(ours.transform(X), peer.transform(X)[:, order], rtol=1e-12)
    rows = th.AgglomerativeClustering(k, linkage=linkage).fit(X.T)
    np.testing.assert_array_equal(ours.labels_, rows.labels_)
    np.testing.assert_array_equal(ours.heights_, rows.heights_)


@pytest.mark.parametrize("pool", [np.median, np.max, lambda columns, axis: columns.sum(axis=axis)])
def test_pooling_by_any_function(pool):
    X = table()
    ours = th.FeatureAgglomeration(3, pooling_func=pool).fit(X)
    peer = Peer(3, pooling_func=pool).fit(X)
    np.testing.assert_allclose(ours.transform(X), peer.transform(X))


def test_neighbouring_pixels_only():
    X = np.random.default_rng(0).normal(size=(30, 36))
    graph = grid_to_graph(6, 6)
    ours = th.FeatureAgglomeration(5, connectivity=graph).fit(X)
    np.testing.assert_array_equal(ours.labels_, Peer(5, connectivity=graph).fit(X).labels_)
    called = th.FeatureAgglomeration(5, connectivity=lambda columns: graph).fit(X)
    np.testing.assert_array_equal(called.labels_, ours.labels_)


def test_distances_of_columns_that_are_given():
    X = table()
    D = np.sqrt(((X.T[:, None] - X.T) ** 2).sum(axis=2))
    given = th.FeatureAgglomeration(3, metric="precomputed", linkage="average").fit(D)
    direct = th.FeatureAgglomeration(3, linkage="average").fit(X)
    np.testing.assert_array_equal(given.labels_, direct.labels_)
    np.testing.assert_array_equal(given.transform(X), direct.transform(X))


def test_values_of_groups_go_back_to_their_columns():
    X = table()
    model = th.FeatureAgglomeration(3).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert np.abs(back - X).max() < 0.5
    np.testing.assert_array_equal(
        model.inverse_transform([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])[model.labels_]
    )


def test_rows_of_a_file_are_transformed(tmp_path):
    X = table()
    np.save(tmp_path / "rows.npy", X)
    model = th.FeatureAgglomeration(3).fit(X)
    found = model.transform(th.scan(tmp_path / "rows.npy"))
    np.testing.assert_array_equal(np.asarray(found), model.transform(X))


def test_one_and_two_precisions():
    X = table().astype(np.float32)
    model = th.FeatureAgglomeration(3).fit(X)
    assert model.transform(X).dtype == np.float32
    np.testing.assert_allclose(model.transform(X), model.transform(X.astype(float)), rtol=1e-6)


def test_a_model_file_holds_functions_of_numpy(tmp_path):
    X = table()
    for pool in (np.mean, np.median, np.max, np.min, np.sum):
        model = th.FeatureAgglomeration(3, pooling_func=pool).fit(X)
        th.save(model, tmp_path / "model")
        loaded = th.load(tmp_path / "model")
        assert loaded.pooling_func is pool
        np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_bad_input_is_explained():
    X = table()
    with pytest.raises(ValueError, match=r"13 clusters.*12 leaves"):
        th.FeatureAgglomeration(13).fit(X)
    with pytest.raises(ValueError, match=r"n_features=1.*minimum of 2.*more columns"):
        th.FeatureAgglomeration(1).fit(X[:, :1])
    with pytest.raises(ValueError, match="must be a function of an array"):
        th.FeatureAgglomeration(3, pooling_func="mean").fit(X)
    wrong = th.FeatureAgglomeration(3, pooling_func=lambda columns, axis: columns).fit(X)
    with pytest.raises(ValueError, match=r"pooling_func returned .* one number per row"):
        wrong.transform(X)
    with pytest.raises(ValueError, match="3"):
        th.FeatureAgglomeration(3).fit(X).inverse_transform(X)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_squared_distances_of_wide_points_keep_their_digits(shift):
    random = np.random.default_rng(0)
    points = random.normal(size=(600, 300))
    points[300:310] = points[:10] + 1e-9 * random.normal(size=(10, 300))  # nearly equal pairs
    points[310] = points[0]
    points += shift
    i, j = np.triu_indices(600, 1)
    expected = ((points[i] - points[j]) ** 2).sum(axis=1)
    np.testing.assert_allclose(squared_distances(points), expected, rtol=1e-11)
    assert expected.min() == squared_distances(points).min() == 0.0
