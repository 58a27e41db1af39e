"""Soft k-means: shares, weighted means, and hard clusters as the limit."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

import thetahat as th
from tests.reference.cluster.clusters import squares
from thetahat.models.cluster.soft_k_means import shared_sums, shares


def heaps(n=400, d=2, k=4, seed=0):
    return make_blobs(n, d, centers=k, random_state=seed)[0]


def test_worked_weights_of_the_lecture():
    points = np.arange(1.0, 6.0)[:, None]
    first = np.array([0.9, 0.8, 0.5, 0.2, 0.1])
    share = np.stack([first, 1 - first], axis=1)
    start = np.array([[1.0], [5.0]])
    sums = shared_sums(points, share, start)
    np.testing.assert_allclose(sums.weight, [2.5, 2.5])
    np.testing.assert_allclose(sums.means(start), [[2.12], [3.88]])


def test_a_point_in_the_middle_belongs_to_both_alike():
    model = th.SoftKMeans(2, temperature=0.3, init=[[1.0], [5.0]]).fit(np.arange(1.0, 6.0)[:, None])
    assert model.cluster_centers_.sum() == pytest.approx(6.0)
    np.testing.assert_allclose(model.soft_assignment([[3.0]]), [[0.5, 0.5]])


@pytest.mark.parametrize("temperature", [0.1, 2.0, 50.0])
def test_shares_are_those_of_the_formula(temperature):
    X = heaps()
    model = th.SoftKMeans(3, temperature=temperature, random_state=0, max_iter=5000).fit(X)
    powers = np.exp(-squares(X, model.cluster_centers_) / temperature + 0.0)
    with np.errstate(invalid="ignore"):
        expected = powers / powers.sum(axis=1, keepdims=True)
    seen = powers.sum(axis=1) > 1e-200
    found = model.soft_assignment(X)
    np.testing.assert_allclose(found[seen], expected[seen], atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.labels_, found.argmax(axis=1))
    np.testing.assert_array_equal(model.labels_, model.predict(X))


def test_centres_are_weighted_means_at_the_end_and_the_loss_never_rises():
    X = heaps(seed=2)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model = th.SoftKMeans(4, temperature=2.0, tol=1e-14, max_iter=5000, random_state=0)
    model.fit(X, sample_weight=weight)
    share = model.soft_assignment(X) * weight[:, None]
    means = (share.T @ X) / share.sum(axis=0)[:, None]
    np.testing.assert_allclose(model.cluster_centers_, means, atol=1e-5)
    trace = np.array(model.solution_.trace)
    assert (np.diff(trace) <= 1e-10 * abs(trace[0])).all()
    assert model.loss_ == trace[-1]
    energy = -2.0 * weight @ np.log(np.exp(-squares(X, model.cluster_centers_) / 2.0).sum(axis=1))
    assert model.loss_ == pytest.approx(energy)


def test_cold_is_k_means():
    X = heaps(seed=1)
    hard = th.KMeans(4, init=X[:4], tol=0).fit(X)
    soft = th.SoftKMeans(4, temperature=1e-6, init=X[:4], tol=0).fit(X)
    np.testing.assert_allclose(soft.cluster_centers_, hard.cluster_centers_, atol=1e-8)
    assert soft.loss_ == pytest.approx(hard.inertia_)
    np.testing.assert_array_equal(soft.labels_, hard.labels_)


def test_hot_is_the_mean():
    X = heaps()
    model = th.SoftKMeans(3, temperature=1e6, random_state=0, tol=1e-12).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, np.tile(X.mean(axis=0), (3, 1)), atol=0.01)


def test_one_step_is_that_of_a_mixture_of_equal_gaussians():
    X, start = heaps(seed=3), heaps(seed=3)[:3]
    variance = 1.5
    mixture = GaussianMixture(3, covariance_type="spherical", means_init=start)
    mixture._initialize_parameters = None
    mixture.weights_, mixture.means_ = np.full(3, 1 / 3), start
    mixture.covariances_ = np.full(3, variance)
    mixture.precisions_cholesky_ = np.full(3, variance**-0.5)
    expected = mixture.predict_proba(X)
    found, _ = shares(squares(X, start), 2 * variance)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_sparse_rows_and_repeated_rows():
    X = np.where(heaps() < 0, 0.0, heaps())
    model = th.SoftKMeans(3, temperature=2.0, init=X[:3])
    expected = model.fit(X).cluster_centers_
    np.testing.assert_allclose(model.fit(sp.csr_array(X)).cluster_centers_, expected, rtol=1e-8)
    twice = model.fit(np.repeat(X, 2, axis=0)).cluster_centers_
    np.testing.assert_allclose(twice, expected, rtol=1e-8)
    weighted = model.fit(X, sample_weight=np.full(len(X), 2.0)).cluster_centers_
    np.testing.assert_allclose(weighted, twice, rtol=1e-8)


def test_bad_parameters():
    with pytest.raises(ValueError, match="temperature=0 must be"):
        th.SoftKMeans(2, temperature=0).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        th.SoftKMeans(3).fit([[0.0], [1.0]])


def test_equal_rows_and_far_rows():
    model = th.SoftKMeans(2, random_state=0).fit(np.full((5, 2), 3.0))
    np.testing.assert_allclose(model.cluster_centers_, 3.0)
    np.testing.assert_allclose(model.soft_assignment([[1e150, 0.0]]).sum(), 1.0)
