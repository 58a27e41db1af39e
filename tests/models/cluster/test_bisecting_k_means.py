"""Bisecting k-means: the tree of divisions, scikit-learn as oracle, weights, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster as theirs
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import thetahat as th
from thetahat.errors import DataError, ParameterError

STRATEGIES = ["biggest_inertia", "largest_cluster"]


def groups(k=6, n=300, d=3):
    return make_blobs(n, d, centers=k, cluster_std=0.4, random_state=1)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("init", ["random", "k-means++", lambda X, k, random_state: X[:k]])
def test_each_division_is_k_means_of_one_cluster(strategy, init):
    X, _ = groups()
    before = np.zeros(len(X), dtype=int)
    for k in range(2, 7):
        model = th.BisectingKMeans(k, init=init, bisecting_strategy=strategy, random_state=0).fit(X)
        parts = [np.unique(before[model.labels_ == c]) for c in range(k)]
        assert all(len(part) == 1 for part in parts)  # no row leaves a cluster of before
        divided = np.flatnonzero(np.bincount(np.concatenate(parts)) == 2)
        assert len(divided) == 1
        losses = [((X[before == c] - X[before == c].mean(axis=0)) ** 2).sum() for c in range(k - 1)]
        wanted = losses if strategy == "biggest_inertia" else np.bincount(before)
        assert divided[0] == np.argmax(wanted)
        for c in range(k):
            np.testing.assert_allclose(
                model.cluster_centers_[c], X[model.labels_ == c].mean(axis=0)
            )
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        away = X - model.cluster_centers_[model.labels_]
        assert model.inertia_ == pytest.approx((away**2).sum())
        before = model.labels_


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_losses_are_those_of_scikit_learn(strategy):
    X = load_iris().data
    options = {"n_init": 10, "init": "k-means++", "bisecting_strategy": strategy, "tol": 0}
    for k in (2, 3, 6):
        ours = th.BisectingKMeans(k, random_state=0, **options).fit(X)
        expected = theirs.BisectingKMeans(k, random_state=0, **options).fit(X)
        assert ours.inertia_ <= expected.inertia_ * 1.02
    X, y = groups(4)
    assert adjusted_rand_score(y, th.BisectingKMeans(4, random_state=0).fit_predict(X)) == 1.0


def test_prediction_goes_down_the_tree_and_not_to_the_nearest_centre():
    X, _ = make_blobs(400, 2, centers=20, cluster_std=2.0, random_state=0)
    model = th.BisectingKMeans(12, random_state=0).fit(X)
    nearest = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2).argmin(axis=1)
    assert (model.labels_ != nearest).any()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_sparse_rows_and_single_precision():
    X = np.where(groups()[0] > 2, groups()[0], 0.0)
    model = th.BisectingKMeans(4, random_state=0).fit(X)
    for other in (sp.csr_array(X), X.astype(np.float32)):
        found = th.BisectingKMeans(4, random_state=0).fit(other)
        np.testing.assert_array_equal(found.labels_, model.labels_)
        np.testing.assert_array_equal(found.predict(other), found.labels_)
        assert found.cluster_centers_.dtype == other.dtype


def test_weights_of_zero_and_a_single_cluster():
    X, _ = groups()
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    model = th.BisectingKMeans(1).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.cluster_centers_[0], np.average(X, weights=weight, axis=0))
    assert (model.predict(X) == 0).all()
    model = th.BisectingKMeans(5, random_state=0, n_init=5).fit(X, sample_weight=weight)
    for c in range(5):
        own = model.labels_ == c
        mean = np.average(X[own], weights=weight[own], axis=0)
        np.testing.assert_allclose(model.cluster_centers_[c], mean)


def test_equal_rows_give_fewer_clusters_with_a_warning():
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\)"):
        model = th.BisectingKMeans(3, random_state=0).fit(np.ones((10, 2)))
    assert np.isfinite(model.cluster_centers_).all()
    assert model.inertia_ == 0


def test_bad_input_is_refused():
    X, _ = groups()
    with pytest.raises(DataError, match="n_clusters=4"):
        th.BisectingKMeans(4).fit(X[:3])
    for name, value in (("init", "blub"), ("n_init", 0), ("bisecting_strategy", "best")):
        with pytest.raises(ParameterError, match=name):
            th.BisectingKMeans(3, **{name: value}).fit(X)
