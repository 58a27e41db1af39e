"""Laplacian eigenmaps: closed forms, scikit-learn as oracle, diffusion distances, bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.manifold as theirs
from sklearn.datasets import load_iris, make_swiss_roll

import thetahat as th
from thetahat.errors import DataError, ParameterError


def roll(n=300):
    return make_swiss_roll(n, random_state=0)[0]


def two_triangles():
    block = np.ones((3, 3)) - np.eye(3)
    return np.kron(np.eye(2), block)


def test_a_path_has_cosines_as_coordinates():
    n = 30
    W = np.eye(n, k=1) + np.eye(n, k=-1)
    model = th.SpectralEmbedding(3, affinity="precomputed").fit(W)
    steps = np.arange(1, 4)
    np.testing.assert_allclose(model.eigenvalues_, 1 - np.cos(np.pi * steps / (n - 1)), atol=1e-12)
    cosines = np.cos(np.pi * np.outer(np.arange(n), steps) / (n - 1))
    scale = model.embedding_[0] / cosines[0]
    np.testing.assert_allclose(model.embedding_, cosines * scale, atol=1e-10)
    assert model.n_connected_ == 1


@pytest.mark.parametrize("n", [60, 400])
def test_columns_are_eigenvectors_of_the_random_walk(n):
    model = th.SpectralEmbedding(4, n_neighbors=10).fit(roll(n))
    W = model.affinity_matrix_.toarray()
    np.fill_diagonal(W, 0.0)
    degree = W.sum(axis=1)
    u = model.embedding_
    left = u - W @ u / degree[:, None]
    np.testing.assert_allclose(left, u * model.eigenvalues_, atol=1e-10 * np.abs(u).max())
    np.testing.assert_allclose(u.T @ (degree[:, None] * u), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(degree @ u, 0.0, atol=1e-9)
    expected = np.linalg.eigvalsh(np.eye(n) - W / np.sqrt(np.outer(degree, degree)))
    np.testing.assert_allclose(model.eigenvalues_, expected[1:5], atol=1e-10)
    assert (u[np.abs(u).argmax(axis=0), np.arange(4)] > 0).all()


@pytest.mark.parametrize(
    "options",
    [
        {"n_neighbors": 10},
        {"affinity": "rbf"},
        {"affinity": "rbf", "gamma": 0.02},
        {"affinity": "precomputed"},
        {"affinity": "precomputed_nearest_neighbors", "n_neighbors": 12},
        {"affinity": lambda rows: 1 / (1 + rows @ rows.T - (rows @ rows.T).min())},
    ],
    ids=["neighbours", "rbf", "rbf, gamma", "precomputed", "given neighbours", "function"],
)
def test_scikit_learn_finds_the_same(options):
    X = roll(200)
    kind = options.get("affinity")
    if kind == "precomputed":
        X = np.exp(-0.02 * th.distances.Euclidean().pairwise(X) ** 2)
    elif kind == "precomputed_nearest_neighbors":
        X = theirs.Isomap(n_neighbors=15).fit(X).nbrs_.kneighbors_graph(mode="distance")
    ours = th.SpectralEmbedding(3, **options).fit(X)
    other = theirs.SpectralEmbedding(3, random_state=0, **options).fit(X)
    dense = [sp.csr_array(each.affinity_matrix_).toarray() for each in (ours, other)]
    np.testing.assert_allclose(*dense, rtol=1e-7, atol=1e-12)
    scale = np.abs(other.embedding_).max()
    np.testing.assert_allclose(ours.embedding_, other.embedding_, atol=1e-7 * scale)
    for name in ("n_neighbors_", "gamma_"):
        if hasattr(other, name):
            assert getattr(ours, name) == getattr(other, name)


def test_gaussian_weights_of_neighbours_are_masked_and_symmetric():
    X = load_iris().data[::3]
    model = th.SpectralEmbedding(affinity="nearest_neighbors_rbf", n_neighbors=8, gamma=0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        W = model.fit(X).affinity_matrix_.toarray()
    square = ((X[:, None] - X) ** 2).sum(axis=2)
    near = square.argsort(axis=1, kind="stable")[:, :8]
    mask = np.zeros(W.shape, dtype=bool)
    mask[np.arange(len(X))[:, None], near] = True
    np.testing.assert_allclose(W, np.where(mask | mask.T, np.exp(-0.7 * square), 0.0), atol=1e-12)


@pytest.mark.parametrize("steps", [1, 3])
def test_distances_are_those_of_diffusion(steps):
    X = roll(25)
    model = th.SpectralEmbedding(24, affinity="rbf", gamma=0.01, diffusion_steps=steps).fit(X)
    W = model.affinity_matrix_.copy()
    np.fill_diagonal(W, 0.0)
    degree = W.sum(axis=1)
    walk = np.linalg.matrix_power(W / degree[:, None], steps)
    expected = th.distances.Euclidean().pairwise(walk / np.sqrt(degree))
    found = th.distances.Euclidean().pairwise(model.embedding_)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_a_graph_in_pieces_is_reported():
    with pytest.warns(UserWarning, match="not fully connected.*2 components, and the first 1"):
        model = th.SpectralEmbedding(2, affinity="precomputed").fit(two_triangles())
    assert model.n_connected_ == 2
    np.testing.assert_allclose(model.eigenvalues_, [0.0, 1.5], atol=1e-12)
    first = model.embedding_[:, 0]
    np.testing.assert_allclose(first[:3], first[0])
    np.testing.assert_allclose(first[3:], -first[0])


def test_rows_without_edges_are_pieces():
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = 1.0
    with pytest.warns(UserWarning, match="3 components"):
        model = th.SpectralEmbedding(3, affinity="precomputed").fit(W)
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_allclose(model.eigenvalues_, [0.0, 0.0, 2.0], atol=1e-12)


def test_sparse_rows_and_weights_are_as_dense_ones():
    X = np.abs(roll(80))
    X[X < 1] = 0.0
    for options in ({"n_neighbors": 9}, {"affinity": "rbf", "gamma": 0.01}):
        dense, sparse = (th.SpectralEmbedding(**options).fit(each) for each in (X, sp.csr_array(X)))
        np.testing.assert_allclose(dense.embedding_, sparse.embedding_, atol=1e-9)
    W = th.SpectralEmbedding(n_neighbors=9).fit(X).affinity_matrix_
    one, other = (
        th.SpectralEmbedding(affinity="precomputed").fit(each).embedding_
        for each in (W, W.toarray())
    )
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_single_precision_stays_accurate():
    X = roll(150)
    single = th.SpectralEmbedding(affinity="rbf", gamma=0.01).fit(X.astype(np.float32))
    double = th.SpectralEmbedding(affinity="rbf", gamma=0.01).fit(X)
    assert single.embedding_.dtype == np.float32
    np.testing.assert_allclose(single.embedding_, double.embedding_, atol=1e-5)


def test_a_kernel_gives_the_weights():
    X = roll(60)
    one = th.SpectralEmbedding(affinity=th.kernels.RBF(gamma=0.01)).fit(X)
    other = th.SpectralEmbedding(affinity="rbf", gamma=0.01).fit(X)
    np.testing.assert_array_equal(one.embedding_, other.embedding_)


@pytest.mark.parametrize("n", [80, 700])
def test_threads_do_not_change_the_bits(n):
    X = roll(n)
    for options in ({"n_neighbors": 10}, {"affinity": "rbf", "gamma": 0.01}):
        found = []
        for threads in (1, 3):
            with th.config(threads=threads):
                found.append(th.SpectralEmbedding(**options).fit(X).embedding_)
        np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "nearest_neighbors_rbf"])
def test_equal_rows_have_finite_points(affinity):
    model = th.SpectralEmbedding(affinity=affinity, n_neighbors=3).fit(np.ones((12, 2)))
    assert np.isfinite(model.embedding_).all()


def test_repeated_rows_have_one_place():
    X = np.repeat(roll(30), 2, axis=0)
    Z = th.SpectralEmbedding(affinity="rbf", gamma=0.01).fit_transform(X)
    np.testing.assert_allclose(Z[::2], Z[1::2], atol=1e-10)


def test_an_asymmetric_matrix_is_averaged_with_a_warning():
    W = np.exp(-0.01 * th.distances.Euclidean().pairwise(roll(20)) ** 2)
    uneven = W * np.linspace(1.0, 2.0, 20)
    for given in (uneven, sp.csr_array(uneven)):
        with pytest.warns(UserWarning, match="not symmetric"):
            model = th.SpectralEmbedding(affinity="precomputed").fit(given)
        expected = th.SpectralEmbedding(affinity="precomputed").fit((uneven + uneven.T) / 2)
        np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-10)


BAD = [
    ({"affinity": "precomputed"}, -np.ones((4, 4)), DataError, "must be ≥ 0.*smallest is -1"),
    ({"affinity": "precomputed"}, np.ones((4, 3)), DataError, r"square matrix.*\(4, 3\)"),
    ({"affinity": "precomputed"}, np.full((4, 4), np.nan), DataError, "NaN"),
    ({"affinity": lambda rows: np.full((5, 5), np.nan)}, np.ones((5, 2)), DataError, "finite"),
    ({"affinity": lambda rows: np.ones(5)}, np.ones((5, 2)), DataError, "square"),
    ({"affinity": "rbf"}, [[np.nan], [1.0]], DataError, "NaN"),
    ({"n_components": 5}, np.ones((5, 2)), ParameterError, "less than the number of rows"),
    ({"n_neighbors": 6}, np.ones((5, 2)), ParameterError, "n_neighbors=6 must be at most"),
    ({}, np.ones((1, 2)), DataError, "minimum of 2"),
    ({"affinity": "nearest"}, np.ones((5, 2)), ParameterError, "affinity"),
    ({"gamma": 0.0, "affinity": "rbf"}, np.ones((5, 2)), ParameterError, "gamma"),
    ({"eigen_solver": "other"}, np.ones((5, 2)), ParameterError, "eigen_solver"),
]


@pytest.mark.parametrize(("options", "X", "error", "message"), BAD)
def test_bad_input_is_refused(options, X, error, message):
    with pytest.raises(error, match=message):
        th.SpectralEmbedding(**options).fit(X)


def test_a_function_that_returns_text_is_named():
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(DataError, match=r"affinity must return a matrix.* returned 'x'"):
        th.SpectralEmbedding(affinity=lambda X: "x").fit(X)
