"""Isomap: brute force and scikit-learn as oracles, disconnected graphs, new rows, bad input."""

import warnings

import numpy as np
import pytest
import sklearn.manifold as theirs
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll

import thetahat as th
from thetahat.errors import DataError, ParameterError


def roll(n=300, seed=0):
    return make_swiss_roll(n, random_state=seed)[0]


def cloud(n=60, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def two_clouds():
    return np.vstack([cloud(15), cloud(12, seed=1) + 50.0, cloud(10, seed=2) - 50.0])


def test_half_circle_is_unrolled():
    angle = np.linspace(0.0, np.pi, 200)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    Z = th.Isomap(n_neighbors=2, n_components=1).fit_transform(X)[:, 0]
    np.testing.assert_allclose(np.abs(Z - Z[0]), angle, atol=1e-3)


def test_paths_edges_and_scaling_by_brute_force():
    X = cloud(40)
    n, k = len(X), 6
    D = cdist(X, X)
    W = np.full((n, n), np.inf)
    for i in range(n):
        near = np.argsort(D[i])[1 : k + 1]
        W[i, near] = W[near, i] = D[i, near]
    np.fill_diagonal(W, 0.0)
    for via in range(n):
        W = np.minimum(W, W[:, [via]] + W[via])
    model = th.Isomap(n_neighbors=k, n_components=3).fit(X)
    np.testing.assert_allclose(model.dist_matrix_, W, rtol=1e-12)
    expected = th.ClassicalMDS(3, metric="precomputed").fit((W + W.T) / 2)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-10)


@pytest.mark.parametrize("options", [
    {"n_neighbors": 8},
    {"n_neighbors": 8, "metric": "manhattan"},
    {"n_neighbors": 8, "eigen_solver": "dense", "path_method": "FW"},
    {"n_neighbors": None, "radius": 5.0},
])  # fmt: skip
def test_embedding_is_scikit_learns(options):
    X, new = roll(), roll(20, seed=1)
    ours, other = th.Isomap(**options).fit(X), theirs.Isomap(**options).fit(X)
    np.testing.assert_allclose(ours.dist_matrix_, other.dist_matrix_, rtol=1e-12)
    np.testing.assert_allclose(ours.embedding_, other.embedding_, atol=1e-7)
    np.testing.assert_allclose(ours.transform(new), other.transform(new), atol=1e-7)
    np.testing.assert_allclose(ours.reconstruction_error(), other.reconstruction_error(), rtol=1e-9)


def test_all_neighbours_give_the_principal_components():
    X = cloud() * [3.0, 2.0, 1.0]
    model = th.Isomap(n_neighbors=len(X) - 1, n_components=3).fit(X)
    expected = th.PCA(3).fit_transform(X)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(expected), atol=1e-8)
    assert model.reconstruction_error() < 1e-6


@pytest.mark.parametrize("options", [{}, {"n_neighbors": None, "radius": 6.0}])
def test_training_rows_are_placed_at_their_own_points(options):
    model = th.Isomap(**options)
    Z = model.fit_transform(X := roll())
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-8)


def test_points_are_kernel_principal_components():
    model = th.Isomap().fit(roll(150))
    A = -0.5 * model.dist_matrix_**2
    np.testing.assert_allclose(model.kernel_pca_.transform(A), model.embedding_, atol=1e-8)
    np.testing.assert_array_equal(model.kernel_pca_.eigenvalues_, model.eigenvalues_)


@pytest.mark.parametrize("metric", ["minkowski", "manhattan", "precomputed"])
def test_disconnected_graphs_are_reported_and_joined(metric):
    X = two_clouds()
    X = cdist(X, X) if metric == "precomputed" else X
    with pytest.warns(UserWarning, match="connected components of the neighbors graph is 3 > 1"):
        ours = th.Isomap(n_neighbors=6, metric=metric).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = theirs.Isomap(n_neighbors=6, metric=metric).fit(X)
    np.testing.assert_allclose(ours.dist_matrix_, other.dist_matrix_, rtol=1e-12)
    np.testing.assert_allclose(ours.embedding_, other.embedding_, atol=1e-8)


def test_a_sparse_graph_without_some_distances_is_refused():
    graph = th.kneighbors_graph(two_clouds(), 6, mode="distance")
    with pytest.raises(RuntimeError, match=r"components of the neighbors graph is 3 .* dense"):
        th.Isomap(n_neighbors=5, metric="precomputed").fit(graph)


def test_given_distances_and_sparse_rows_give_the_same_points():
    X = roll(150)
    expected = th.Isomap().fit_transform(X)
    for given in (cdist(X, X), th.KNeighborsTransformer(n_neighbors=5).fit_transform(X)):
        found = th.Isomap(metric="precomputed").fit_transform(given)
        np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(th.Isomap().fit_transform(csr_array(X)), expected, atol=1e-8)


def test_paths_of_an_asymmetric_graph_use_the_shorter_direction():
    W = np.array([[0.0, 1.0, 9.0], [3.0, 0.0, 1.0], [2.5, 4.0, 0.0]])
    model = th.Isomap(n_neighbors=2, n_components=1, metric="precomputed").fit(W)
    np.testing.assert_allclose(model.dist_matrix_, shortest_path(W, directed=False))


def test_same_bits_for_any_number_of_threads():
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            found.append(th.Isomap().fit(roll()).transform(roll(30, seed=2)))
    np.testing.assert_array_equal(*found)


def test_single_precision():
    X = roll(200)
    narrow = th.Isomap().fit(X.astype(np.float32))
    assert narrow.embedding_.dtype == narrow.dist_matrix_.dtype == np.float32
    np.testing.assert_allclose(narrow.embedding_, th.Isomap().fit_transform(X), atol=1e-3)


def test_constant_and_repeated_rows():
    np.testing.assert_array_equal(th.Isomap().fit_transform(np.ones((10, 2))), 0.0)
    once = cloud(20)
    Z = th.Isomap(n_neighbors=12).fit_transform(np.repeat(once, 2, axis=0))
    np.testing.assert_allclose(Z[::2], Z[1::2], atol=1e-6)


@pytest.mark.parametrize(("options", "message"), [
    ({"n_neighbors": 20}, "n_samples = 20, n_neighbors = 20"),
    ({"n_components": 20}, "n_components=20 must be less than the number of rows"),
    ({"radius": 1.0}, "Both n_neighbors and radius are provided"),
    ({"n_neighbors": None}, "both None"),
    ({"path_method": "dijkstra"}, "path_method"),
    ({"metric": "nearest"}, "nearest"),
])  # fmt: skip
def test_bad_parameters_are_refused(options, message):
    with pytest.raises((DataError, ParameterError), match=message):
        th.Isomap(**options).fit(cloud(20))


def test_bad_rows_are_refused():
    X = cloud(20)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match="NaN"):
        th.Isomap().fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = th.Isomap(n_neighbors=None, radius=2.0).fit(cloud(20))
    with pytest.raises(DataError, match="row 1 of X has no training row within radius=2"):
        model.transform([[0.0, 0.0, 0.0], [90.0, 0.0, 0.0]])


def test_paths_beyond_the_range_of_float32_are_refused():
    X = np.linspace(-1, 1, 30)[:, None] * [3e38, 0]
    with pytest.raises(DataError, match=r"dist_matrix_ holds 6e.38, which is beyond the range"):
        th.Isomap().fit(X.astype("float32"))
    assert np.isfinite(th.Isomap().fit(X).embedding_).all()
