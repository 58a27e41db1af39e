"""Spectral clustering: rings, components, scikit-learn as oracle, all variants, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster as theirs
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_iris, make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import kernel_metrics

import thetahat as th
from thetahat.errors import DataError, ParameterError
from thetahat.models.cluster.rotations import in_order_of_rows, labels_by_pivots, labels_by_turns

ASSIGN = ["kmeans", "discretize", "cluster_qr"]
LAPLACIANS = ["random_walk", "symmetric", "unnormalized"]


def rings():
    return make_circles(200, factor=0.4, noise=0.04, random_state=0)


def groups(k=3, n=90):
    return make_blobs(n, centers=4 * np.eye(k, 4), cluster_std=0.7, random_state=0)


def blocks(*sizes):
    """Complete graphs without edges between them."""
    names = np.repeat(np.arange(len(sizes)), sizes)
    return (names[:, None] == names).astype(float), names


def fit_of_rotation(model, labels):
    """Σ_i (ZR)_{i, label_i} with the best rotation R, of rows on the sphere."""
    Z = model.embedding_ / np.linalg.norm(model.embedding_, axis=0)
    Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    return np.linalg.svd(np.eye(Z.shape[1])[labels].T @ Z, compute_uv=False).sum()


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("assign", ASSIGN)
@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "nearest_neighbors_rbf"])
def test_rings_are_found_where_k_means_fails(affinity, assign, laplacian):
    X, y = rings()
    model = th.SpectralClustering(
        2, affinity=affinity, gamma=30.0, assign_labels=assign, laplacian=laplacian, random_state=0
    )
    assert adjusted_rand_score(y, model.fit_predict(X)) == 1.0
    assert adjusted_rand_score(y, th.KMeans(2, random_state=0).fit_predict(X)) < 0.1


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize("sizes", [(5, 4), (3, 30, 7, 80)], ids=str)
def test_number_of_zero_eigenvalues_is_that_of_connected_components(sizes, laplacian):
    W, names = blocks(*sizes)
    p = len(sizes) + 2
    model = th.SpectralClustering(
        len(sizes), n_components=p, affinity="precomputed", laplacian=laplacian, random_state=0
    ).fit(W)
    assert (model.eigenvalues_ == 0).sum() == model.n_connected_ == len(sizes)
    dense = np.diag(W.sum(axis=1)) - W
    assert np.linalg.matrix_rank(dense) == len(W) - len(sizes)
    first = model.embedding_[:, : len(sizes)]
    if laplacian != "symmetric":
        for each in np.unique(names):
            np.testing.assert_allclose(np.ptp(first[names == each], axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("assign", ASSIGN)
@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_separate_components_are_the_clusters(assign, laplacian):
    W, names = blocks(4, 20, 11)
    options = dict(assign_labels=assign, laplacian=laplacian, random_state=0)
    for given in (W, sp.csr_array(W)):
        model = th.SpectralClustering(3, affinity="precomputed", **options).fit(given)
        assert adjusted_rand_score(names, model.labels_) == 1.0


def test_coordinates_are_eigenvectors_of_the_walk():
    X, _ = groups()
    model = th.SpectralClustering(3, affinity="nearest_neighbors_rbf", gamma=0.1).fit(X)
    W = model.affinity_matrix_.toarray()
    np.testing.assert_allclose(W, W.T)
    np.fill_diagonal(W, 0.0)
    L = np.eye(len(X)) - W / W.sum(axis=1)[:, None]
    u = model.embedding_
    np.testing.assert_allclose(L @ u, u * model.eigenvalues_, atol=1e-12)
    smallest = np.sort(np.linalg.eigvals(L).real)[:3]
    np.testing.assert_allclose(model.eigenvalues_, smallest, atol=1e-10)


@pytest.mark.parametrize("assign", ASSIGN)
@pytest.mark.parametrize(
    "options",
    [
        {"gamma": 0.5},
        {"affinity": "nearest_neighbors", "n_neighbors": 30},
        {"affinity": "laplacian", "gamma": 0.5},
        {"affinity": "poly", "gamma": 0.1, "degree": 2},
        {"affinity": lambda x, z, c=1.0: np.exp(-c * np.abs(x - z).sum())},
    ],
    ids=["rbf", "neighbours", "laplacian", "poly", "function"],
)
def test_scikit_learn_finds_the_same_clusters(options, assign):
    X = load_iris().data[::2]
    if assign == "cluster_qr" and options.get("affinity") == "nearest_neighbors":
        X = X + 1e-9 * np.arange(len(X))[:, None]  # equal distances are decided in other ways
    both = dict(options, assign_labels=assign, random_state=1)
    ours, other = th.SpectralClustering(3, **both), theirs.SpectralClustering(3, **both)
    same = adjusted_rand_score(other.fit(X).labels_, ours.fit(X).labels_) > 0.97
    if assign == "discretize":  # scikit-learn makes one start, which may end in a worse optimum
        assert fit_of_rotation(ours, ours.labels_) >= fit_of_rotation(ours, other.labels_) - 1e-9
    else:
        assert same
    scale = np.abs(np.asarray(sp.csr_array(other.affinity_matrix_).toarray())).max()
    dense = [sp.csr_array(each.affinity_matrix_).toarray() for each in (ours, other)]
    if options.get("affinity") != "nearest_neighbors":
        np.testing.assert_allclose(*dense, atol=1e-12 * scale)


def test_every_kernel_that_is_not_negative_gives_weights():
    X = 10 * np.random.default_rng(0).uniform(size=(12, 5))
    for name in sorted(set(kernel_metrics()) - {"additive_chi2"}):
        ours, other = (
            each.SpectralClustering(2, affinity=name, random_state=0).fit(X).affinity_matrix_
            for each in (th, theirs)
        )
        np.testing.assert_allclose(ours, other, rtol=1e-9, atol=1e-12, err_msg=name)


def test_any_clusterer_takes_the_coordinates():
    X, y = rings()
    for last in (th.GaussianMixture(2, random_state=0), AgglomerativeClustering(2)):
        model = th.SpectralClustering(2, gamma=30.0, assign_labels=last).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1.0
    assert not hasattr(last, "labels_")  # a copy was fitted


def test_distances_of_neighbours_may_be_given():
    X, y = groups(2, 60)
    graph = th.NearestNeighbors(n_neighbors=15).fit(X).kneighbors_graph(X, mode="distance")
    options = dict(n_neighbors=10, random_state=0)
    given = th.SpectralClustering(2, affinity="precomputed_nearest_neighbors", **options).fit(graph)
    rows = th.SpectralClustering(2, affinity="nearest_neighbors", **options).fit(X)
    np.testing.assert_array_equal(given.affinity_matrix_.toarray(), rows.affinity_matrix_.toarray())
    assert adjusted_rand_score(y, given.labels_) == 1.0


def test_rotations_find_the_hidden_partition():
    names = np.repeat([0, 1, 2], [30, 10, 5])
    random = np.random.default_rng(0)
    turn = np.linalg.qr(random.standard_normal((3, 3)))[0]
    Z = np.eye(3)[names] @ turn + 0.05 * random.standard_normal((45, 3))
    assert adjusted_rand_score(names, labels_by_pivots(Z)) == 1.0
    for seed in range(5):
        found = labels_by_turns(Z, np.random.default_rng(seed))
        assert adjusted_rand_score(names, found) == 1.0
    zero = np.vstack([Z, np.zeros((1, 3))])
    assert labels_by_turns(zero, np.random.default_rng(0)).shape == (46,)


def test_clusters_are_numbered_in_the_order_of_their_first_rows():
    np.testing.assert_array_equal(in_order_of_rows(np.array([2, 2, 0, 5, 0])), [0, 0, 1, 2, 1])
    for assign in ASSIGN:
        model = th.SpectralClustering(3, gamma=0.3, assign_labels=assign, random_state=1)
        labels = model.fit_predict(groups()[0])
        first = [int((labels == each).argmax()) for each in range(3)]
        assert first == sorted(first)


def test_a_square_matrix_of_rows_is_reported():
    with pytest.warns(UserWarning, match="X is square.*affinity='precomputed'"):
        th.SpectralClustering(2, random_state=0).fit(np.eye(4) + 0.1)


@pytest.mark.parametrize("assign", ASSIGN)
def test_one_cluster_and_as_many_as_rows(assign):
    X = groups(3, 12)[0]
    one = th.SpectralClustering(1, assign_labels=assign, random_state=0).fit(X)
    np.testing.assert_array_equal(one.labels_, 0)
    every = th.SpectralClustering(12, assign_labels=assign, random_state=0).fit(X)
    assert len(set(every.labels_)) >= 12 - (assign == "discretize")  # which may leave one empty


@pytest.mark.parametrize("assign", ASSIGN)
def test_repeated_rows_share_their_cluster(assign):
    X, y = groups(3, 30)
    twice = np.repeat(X, 2, axis=0)
    labels = th.SpectralClustering(3, gamma=0.3, assign_labels=assign, random_state=0)
    labels = labels.fit_predict(twice)
    np.testing.assert_array_equal(labels[::2], labels[1::2])
    assert adjusted_rand_score(np.repeat(y, 2), labels) == 1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("assign", ASSIGN)
def test_constant_rows_have_labels(assign):
    model = th.SpectralClustering(2, assign_labels=assign, random_state=0).fit(np.ones((9, 2)))
    assert set(model.labels_) <= {0, 1}


def test_more_components_than_eigenvectors_are_reported():
    W, _ = blocks(3, 3, 3, 3)
    with pytest.warns(UserWarning, match="4 components, more than the 2 eigenvectors"):
        th.SpectralClustering(2, affinity="precomputed", random_state=0).fit(W)


def test_too_few_different_places_are_reported():
    W, _ = blocks(4, 4)
    with pytest.warns(ConvergenceWarning, match="distinct clusters"):
        th.SpectralClustering(3, n_components=2, affinity="precomputed", random_state=0).fit(W)


def test_threads_and_calls_do_not_change_labels():
    X, _ = rings()
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            model = th.SpectralClustering(4, gamma=5.0, random_state=0).fit(X)
            found.append((model.labels_, model.embedding_))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_verbose_prints_the_last_step(capsys):
    th.SpectralClustering(2, verbose=True, random_state=0).fit(rings()[0][:40])
    assert "label assignment using kmeans" in capsys.readouterr().out


BAD = [
    ({"n_clusters": 6}, np.ones((5, 2)), ParameterError, "n_clusters=6 must be at most"),
    ({"n_components": 6}, np.ones((5, 2)), ParameterError, "n_components=6 must be at most"),
    ({"n_clusters": 0}, np.ones((5, 2)), ParameterError, "n_clusters"),
    ({}, [[np.nan, 1.0], [1.0, 2.0]], DataError, "NaN"),
    ({}, np.ones((1, 2)), DataError, "minimum of 2"),
    ({"affinity": "precomputed"}, -np.ones((4, 4)), DataError, "must be ≥ 0"),
    ({"affinity": "precomputed"}, np.ones((4, 3)), DataError, "square"),
    ({"affinity": "linear"}, [[1.0], [-1.0], [2.0]], DataError, "must be ≥ 0.*'rbf'"),
    ({"affinity": "nonsense"}, np.ones((5, 2)), ParameterError, "nonsense"),
    ({"affinity": "nearest_neighbors"}, np.ones((5, 2)), ParameterError, "n_neighbors=10 must be"),
    ({"assign_labels": "other"}, np.ones((5, 2)), ParameterError, "assign_labels"),
    ({"laplacian": "other"}, np.ones((5, 2)), ParameterError, "laplacian"),
]


@pytest.mark.parametrize(("options", "X", "error", "message"), BAD)
def test_bad_input_is_refused(options, X, error, message):
    with pytest.raises(error, match=message):
        th.SpectralClustering(**{"n_clusters": 2, **options}).fit(X)


def test_asymmetric_affinities_are_averaged_with_a_warning():
    W, names = blocks(6, 6)
    uneven = W * np.linspace(1.0, 2.0, 12)
    with pytest.warns(UserWarning, match="not symmetric"):
        model = th.SpectralClustering(2, affinity="precomputed", random_state=0).fit(uneven)
    np.testing.assert_allclose(model.affinity_matrix_, (uneven + uneven.T) / 2)
    assert adjusted_rand_score(names, model.labels_) == 1.0
