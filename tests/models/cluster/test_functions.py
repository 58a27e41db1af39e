"""Clusterings as functions: what scikit-learn's functions return, with the values of the models."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster

import thetahat as th

functions = th.functions


def blobs():
    random = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    return np.repeat(centres, 20, axis=0) + 0.5 * random.normal(size=(60, 2))


def test_k_means_returns_what_the_model_finds():
    X, weight = blobs(), np.arange(1.0, 61.0)
    model = th.KMeans(3, n_init=2, random_state=3).fit(X, sample_weight=weight)
    centres, labels, loss, n_iter = functions.k_means(
        X, 3, n_init=2, random_state=3, sample_weight=weight, return_n_iter=True
    )
    assert np.array_equal(centres, model.cluster_centers_)
    assert np.array_equal(labels, model.labels_)
    assert (loss, n_iter) == (model.inertia_, model.n_iter_)
    theirs = sklearn.cluster.k_means(X, 3, sample_weight=weight, n_init=5, random_state=0)
    assert loss == pytest.approx(theirs[2])
    assert len(functions.k_means(X, 3)) == len(theirs) == 3


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_plusplus_gives_rows_and_their_numbers(form, dtype):
    X = blobs().astype(dtype)
    centres, rows = functions.kmeans_plusplus(form(X), 5, random_state=1)
    assert centres.dtype == dtype
    assert np.array_equal(X[rows], centres)
    assert len(set(rows)) == 5


def test_plusplus_draws_by_weight_and_by_distance():
    X, weight = blobs(), np.zeros(60)
    weight[[3, 25, 50]] = 1.0
    assert set(functions.kmeans_plusplus(X, 3, sample_weight=weight)[1]) == {3, 25, 50}
    far = [set(functions.kmeans_plusplus(X, 3, random_state=s)[1] // 20) for s in range(10)]
    assert far == 10 * [{0, 1, 2}]


def test_plusplus_with_more_trials_has_a_lower_loss():
    X = np.random.default_rng(5).normal(size=(300, 4))

    def loss(trials):
        found = [
            functions.kmeans_plusplus(X, 10, random_state=s, n_local_trials=trials)[0]
            for s in range(20)
        ]
        return np.mean([-th.KMeans(10, init=c, max_iter=1, tol=0).fit(c).score(X) for c in found])

    assert loss(20) < loss(1)


def test_plusplus_gives_equal_rows_where_there_are_no_others():
    centres, rows = functions.kmeans_plusplus(np.ones((4, 2)), 3, random_state=0)
    assert np.array_equal(centres, np.ones((3, 2)))
    assert ((rows >= 0) & (rows < 4)).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(n_clusters=61), "n_samples=60 should be >= n_clusters=61"),
        (dict(n_clusters=0), "n_clusters=0 must be a whole number ≥ 1"),
        (dict(n_clusters=2, n_local_trials=0), "n_local_trials must be a whole number ≥ 1"),
        (dict(n_clusters=2, x_squared_norms=[1.0, 2.0]), "length of x_squared_norms"),
    ],
)
def test_plusplus_refuses_what_makes_no_sense(arguments, words):
    with pytest.raises(ValueError, match=words):
        functions.kmeans_plusplus(blobs(), **arguments)


def test_dbscan_is_scikit_learns():
    X = np.vstack([blobs(), [[20.0, 20.0]]])
    weight = np.ones(61)
    weight[60] = 9.0
    for options in ({}, dict(metric="manhattan"), dict(p=1), dict(sample_weight=weight)):
        ours = functions.dbscan(X, 0.6, min_samples=4, **options)
        theirs = sklearn.cluster.dbscan(X, 0.6, min_samples=4, **options)
        for mine, other in zip(ours, theirs, strict=True):
            assert np.array_equal(mine, other)
    with pytest.raises(th.errors.ParameterError, match="eps=0"):
        functions.dbscan(X, 0)


@pytest.mark.parametrize("how", ["kmeans", "discretize", "cluster_qr"])
def test_spectral_clustering_of_edge_weights(how):
    W = np.exp(-th.distances.SquaredEuclidean().pairwise(blobs()))
    labels = functions.spectral_clustering(W, n_clusters=3, assign_labels=how, random_state=0)
    assert np.array_equal(labels, np.repeat([0, 1, 2], 20))
    with pytest.raises(th.errors.DataError, match="needs a square matrix"):
        functions.spectral_clustering(W[:, :10])


def tree_options():
    chain = np.eye(60, k=1) + np.eye(60, k=-1)
    return [{}, dict(connectivity=chain), dict(connectivity=chain, n_clusters=5)]


@pytest.mark.parametrize("options", tree_options())
@pytest.mark.parametrize("linkage", ["ward", "complete", "average", "single"])
def test_trees_are_scikit_learns(linkage, options):
    """The same heights, and the same clusters below every merge."""

    def found(package):
        if linkage == "ward":
            return package.ward_tree(blobs(), return_distance=True, **options)
        return package.linkage_tree(blobs(), linkage=linkage, return_distance=True, **options)

    ours, theirs = found(functions), found(sklearn.cluster)
    n_merges = len(ours[0])  # with single linkage, scikit-learn's merges go on after n_clusters
    assert n_merges == 60 - options.get("n_clusters", 1)
    assert np.allclose(ours[4], theirs[4][:n_merges])
    assert ours[1:3] == theirs[1:3]
    assert members(ours[0]) == members(theirs[0][:n_merges])
    if options:
        n = ours[2]
        assert len(ours[3]) == len(theirs[3])
        for cluster, parent in enumerate(ours[3]):
            assert cluster in ours[0][parent - n] if parent != cluster else parent >= n
    else:
        assert ours[3] is theirs[3] is None


def members(children):
    below = [frozenset([row]) for row in range(60)]
    for left, right in children:
        below.append(below[left] | below[right])
    return set(below[60:])


def test_trees_of_one_dimension_and_of_given_dissimilarities():
    values = np.array([0.0, 1.0, 5.0, 7.0])
    expected = functions.linkage_tree(values, return_distance=True)
    D = np.abs(values[:, None] - values)
    given = functions.linkage_tree(D, affinity="precomputed", return_distance=True)
    assert np.array_equal(expected[0], given[0])
    assert expected[4].tolist() == given[4].tolist() == [1.0, 2.0, 7.0]


def test_trees_refuse_and_warn():
    with pytest.raises(th.errors.ParameterError, match=r"'ward' was given\. Use ward_tree"):
        functions.linkage_tree(blobs(), linkage="ward")
    with pytest.raises(th.errors.DataError, match="Cannot extract more clusters"):
        functions.ward_tree(blobs(), connectivity=np.ones((60, 60)), n_clusters=61)
    with pytest.warns(UserWarning, match="The whole tree is returned"):
        assert len(functions.ward_tree(blobs(), n_clusters=5)[0]) == 59
