"""Embed first, cluster then: every embedding with every clustering finds shapes k-means does not.

Isomap and agglomerative clustering are scikit-learn's where the package has none.
"""

import numpy as np
import pytest
import sklearn.cluster
import sklearn.manifold
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

import thetahat as th

Isomap = getattr(th, "Isomap", sklearn.manifold.Isomap)
Agglomerative = getattr(th, "AgglomerativeClustering", sklearn.cluster.AgglomerativeClustering)

CLUSTERERS = {
    "k-means": lambda k: th.KMeans(k, n_init=5, random_state=0),
    "mixture": lambda k: th.GaussianMixture(k, n_init=3, random_state=0),
    "agglomerative": lambda k: Agglomerative(k),
}


def rings():
    return make_circles(200, factor=0.3, noise=0.03, random_state=0)


def moons():
    return make_moons(300, noise=0.07, random_state=0)


def spiral():
    """Two groups along a spiral, with few rows between them."""
    u = (np.arange(240) + 0.5) / 240
    angle = 4 * np.pi * np.sqrt(u + 0.8 * np.sin(4 * np.pi * u) / (4 * np.pi))
    rows = (1 + angle / np.pi)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return rows, (u > 0.5).astype(int)


def far_groups():
    """Three groups in 30 columns, of which all but two are noise."""
    random = np.random.default_rng(0)
    X, y = make_blobs(120, centers=[[0, 0], [30, 0], [0, 30]], cluster_std=2.0, random_state=0)
    return np.hstack([X, random.standard_normal((120, 28))]), y


def radius(rows):
    return (rows**2).sum(axis=1, keepdims=True)


CASES = {
    "PCA": (far_groups, lambda: th.PCA(2), 3),
    "kernel PCA": (rings, lambda: th.KernelPCA(2, kernel="rbf", gamma=3.0), 2),
    "feature PCA": (
        rings,
        lambda: th.KernelPCA(1, kernel=th.kernels.FeatureMap(radius)),
        2,
    ),
    "spectral": (
        moons,
        lambda: th.SpectralEmbedding(1, affinity="nearest_neighbors_rbf", n_neighbors=10, gamma=20),
        2,
    ),
    "Isomap": (spiral, lambda: Isomap(n_neighbors=5, n_components=1), 2),
}


@pytest.mark.filterwarnings("ignore:.*connected.*")
@pytest.mark.parametrize("clusterer", CLUSTERERS)
@pytest.mark.parametrize("embedding", CASES)
def test_embedded_rows_are_clustered(embedding, clusterer):
    data, embed, k = CASES[embedding]
    X, y = data()
    last = CLUSTERERS[clusterer](k)
    if hasattr(embed(), "transform"):
        labels = make_pipeline(embed(), last).fit_predict(X)
    else:  # an embedding of the training rows alone
        labels = last.fit_predict(embed().fit_transform(X))
    assert adjusted_rand_score(y, labels) > 0.85
    if embedding != "PCA":
        plain = th.KMeans(k, n_init=5, random_state=0).fit_predict(X)
        assert adjusted_rand_score(y, plain) < 0.5


def test_embedded_rows_keep_their_distances_and_centres_are_means():
    X, _ = far_groups()
    z = th.PCA(30).fit(X).transform(X)
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    np.testing.assert_allclose(np.linalg.norm(z[:, None] - z, axis=2), distance, atol=1e-8)
    rows, _ = spiral()
    line = Isomap(n_neighbors=5, n_components=1).fit(rows).transform(rows)
    peer = sklearn.manifold.Isomap(n_neighbors=5, n_components=1).fit(rows).transform(rows)
    np.testing.assert_allclose(np.abs(line), np.abs(peer), atol=1e-6)
    found = th.KMeans(3, n_init=2, random_state=0).fit(z)
    means = [z[found.labels_ == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(found.cluster_centers_, means, atol=1e-8)


def test_kernel_pca_of_graph_weights_is_spectral_clustering():
    """Eigenvectors of D^{−1/2}WD^{−1/2} with the largest values are those of the Laplacian."""
    X, _ = moons()
    model = th.SpectralClustering(3, affinity="nearest_neighbors_rbf", gamma=20.0, random_state=0)
    W = model.fit(X).affinity_matrix_.toarray()
    np.fill_diagonal(W, 0.0)
    roots = np.sqrt(W.sum(axis=1))
    values, vectors = np.linalg.eigh(W / np.outer(roots, roots))
    np.testing.assert_allclose(1 - values[::-1][:3], model.eigenvalues_, atol=1e-10)
    found = np.abs(model.embedding_ * roots[:, None])
    np.testing.assert_allclose(found, np.abs(vectors[:, ::-1][:, :3]), atol=1e-6)
