"""k-means by batches: near the loss of k-means, in memory and over time."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

import thetahat as th


def heaps(n=5000, d=4, k=6, seed=0):
    return make_blobs(n, d, centers=k, random_state=seed)[0]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, np.asfortranarray])
def test_nearly_the_loss_of_k_means(kind):
    X = heaps()
    best = th.KMeans(6, n_init=10, random_state=0).fit(X).inertia_
    found = th.MiniBatchKMeans(6, n_init=5, batch_size=256, random_state=0).fit(kind(X))
    assert best <= found.inertia_ < 1.05 * best
    assert found.inertia_ == pytest.approx(-found.score(X))
    np.testing.assert_array_equal(found.labels_, found.predict(X))


@pytest.mark.parametrize("init", ["random", "random_centroids", "random_assignment"])
def test_every_start_lowers_the_loss(init):
    X = heaps()
    one = th.KMeans(1).fit(X).inertia_
    assert th.MiniBatchKMeans(6, init=init, random_state=0).fit(X).inertia_ < 0.5 * one


def test_centres_are_the_means_of_all_rows_they_were_given():
    X = heaps(n=600, k=3)
    batches = np.split(X, 6)
    model = th.MiniBatchKMeans(3, init=X[:3], reassignment_ratio=0)
    centres, given = X[:3].copy(), [[], [], []]
    for batch in batches:
        model.partial_fit(batch)
        label = ((batch[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        for k in range(3):
            given[k].extend(batch[label == k])
            centres[k] = np.mean(given[k], axis=0)
    np.testing.assert_allclose(model.cluster_centers_, centres)
    assert model.n_steps_ == 6


def test_weights_of_a_batch_are_repetitions():
    X = heaps(n=300, k=3)
    weight = np.random.default_rng(0).integers(0, 3, 300)
    model = th.MiniBatchKMeans(3, init=X[:3], reassignment_ratio=0)
    weighted = model.partial_fit(X, sample_weight=weight).cluster_centers_
    again = th.MiniBatchKMeans(3, init=X[:3], reassignment_ratio=0)
    repeated = again.partial_fit(np.repeat(X, weight, axis=0)).cluster_centers_
    np.testing.assert_allclose(weighted, repeated)


def test_small_clusters_move_to_rows():
    X = heaps(n=400)
    start = np.concatenate([X[:1], np.full((5, 4), 1e4)])
    still = th.MiniBatchKMeans(6, init=start, reassignment_ratio=0, random_state=0).fit(X)
    moved = th.MiniBatchKMeans(6, init=start, random_state=0).fit(X)
    assert np.abs(still.cluster_centers_).max() > 1e3
    assert np.abs(moved.cluster_centers_).max() < 100


def test_steps_end_without_improvement_or_by_small_moves():
    X = heaps()
    given = dict(batch_size=100, random_state=0)
    long = th.MiniBatchKMeans(6, max_no_improvement=None, max_iter=2, **given).fit(X)
    assert (long.n_steps_, long.n_iter_) == (100, 2)
    assert th.MiniBatchKMeans(6, max_no_improvement=3, **given).fit(X).n_steps_ < 100
    assert th.MiniBatchKMeans(6, tol=0.1, **given).fit(X).n_steps_ < 100


def test_estimated_loss_without_labels():
    X = heaps()
    model = th.MiniBatchKMeans(6, compute_labels=False, random_state=0).fit(X)
    assert not hasattr(model, "labels_")
    assert model.inertia_ == pytest.approx(-model.score(X), rel=0.2)


def test_bad_batches():
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=8"):
        th.MiniBatchKMeans().partial_fit(np.eye(3))
    model = th.MiniBatchKMeans(2, random_state=0).partial_fit(np.eye(3))
    with pytest.raises(ValueError, match="columns of the first one"):
        model.partial_fit(np.eye(2))
    assert model.predict(np.eye(3)).shape == (3,)
    with pytest.warns(RuntimeWarning, match="init_size=1 should be larger"):
        th.MiniBatchKMeans(2, init_size=1, random_state=0).fit(np.eye(3))
    with pytest.warns(RuntimeWarning, match="only one init"):
        th.MiniBatchKMeans(2, init=np.eye(3)[:2], n_init=4).fit(np.eye(3))
