"""Locally linear embedding: scikit-learn and brute force as oracles, relations, bad input."""

import numpy as np
import pytest
import sklearn.manifold as theirs
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll

import thetahat as th
from thetahat.errors import DataError, ParameterError

METHODS = ["standard", "modified", "hessian", "ltsa"]


def roll(n=300, seed=0):
    return make_swiss_roll(n, random_state=seed)[0]


def cloud(n=60, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def neighbors(X, k):
    return np.argsort(cdist(X, X), axis=1)[:, 1 : k + 1]


def like(Z, other):
    """Z with the signs of the columns of another embedding."""
    return Z * np.sign((Z * other).sum(axis=0))


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("method", ["standard", "modified", "ltsa"])
def test_embedding_is_scikit_learns(method, d):
    """With 20 columns there are fewer neighbours than columns."""
    X, new = (roll(n, s) @ cloud(3, d, 5) if d > 3 else roll(n, s) for n, s in [(250, 0), (9, 1)])
    X = X + 0.1 * cloud(250, d, 3)
    options = {"n_neighbors": 10, "method": method}
    ours = th.LocallyLinearEmbedding(**options).fit(X)
    other = theirs.LocallyLinearEmbedding(**options, eigen_solver="dense").fit(X)
    np.testing.assert_allclose(like(ours.embedding_, other.embedding_), other.embedding_, atol=1e-6)
    np.testing.assert_allclose(ours.reconstruction_error_, other.reconstruction_error_, rtol=1e-5)
    expected = other.transform(new)
    np.testing.assert_allclose(like(ours.transform(new), expected), expected, atol=1e-5)


@pytest.mark.parametrize("solver", ["dense", "arpack"])
def test_kernel_pca_with_the_kernel_of_the_weights(solver):
    """K = λ_max·I − M has the same eigenvectors as M = (I − W)ᵀ(I − W), the smallest first."""
    X, k = cloud(80), 8
    W = np.zeros((80, 80))
    for i, near in enumerate(neighbors(X, k)):
        G = (X[near] - X[i]) @ (X[near] - X[i]).T
        w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(k), np.ones(k))
        W[i, near] = w / w.sum()
    M = (np.eye(80) - W).T @ (np.eye(80) - W)
    kernel = np.linalg.eigvalsh(M)[-1] * np.eye(80) - M
    pca = th.KernelPCA(3, kernel="precomputed").fit(kernel)
    model = th.LocallyLinearEmbedding(n_neighbors=k, n_components=3, eigen_solver=solver, tol=0)
    Z = model.fit_transform(X)
    np.testing.assert_allclose(like(Z, pca.eigenvectors_), pca.eigenvectors_, atol=1e-8)
    np.testing.assert_allclose(model.reconstruction_error_, ((Z - W @ Z) ** 2).sum(), rtol=1e-8)


def test_second_derivatives_by_brute_force():
    X, k, n = cloud(80), 30, 80
    assert len(np.unique(neighbors(X, k))) == n
    M = np.zeros((n, n))
    for near in neighbors(X, k):
        u = np.linalg.svd(X[near] - X[near].mean(axis=0), full_matrices=False)[0][:, :2]
        flat = np.column_stack([np.ones(k), u])
        curved = np.column_stack([u[:, 0] ** 2, u[:, 0] * u[:, 1], u[:, 1] ** 2])
        curved -= flat @ np.linalg.lstsq(flat, curved)[0]
        M[np.ix_(near, near)] += curved @ np.linalg.pinv(curved)
    values, vectors = np.linalg.eigh(M)
    model = th.LocallyLinearEmbedding(n_neighbors=k, method="hessian", eigen_solver="dense").fit(X)
    np.testing.assert_allclose(model.reconstruction_error_, values[1:3].sum(), rtol=1e-8)
    expected = vectors[:, 1:3]
    np.testing.assert_allclose(like(model.embedding_, expected), expected, atol=1e-7)


@pytest.mark.parametrize("method", METHODS[1:])
def test_flat_sheets_are_found_exactly(method):
    """These methods have no error for a plane, of which they find an affine image.

    Some rows are the neighbour of no other row.
    """
    plane = cloud(120, 2)
    X = plane @ cloud(2, 4, seed=1)
    assert len(np.unique(neighbors(X, 12))) < 120
    model = th.LocallyLinearEmbedding(n_neighbors=12, method=method, reg=1e-10).fit(X)
    assert model.reconstruction_error_ < 1e-10
    design = np.column_stack([np.ones(120), plane])
    rest = model.embedding_ - design @ np.linalg.lstsq(design, model.embedding_)[0]
    assert np.abs(rest).max() < 1e-5


@pytest.mark.parametrize("method", METHODS)
def test_points_are_orthonormal_and_centred(method):
    Z = th.LocallyLinearEmbedding(n_neighbors=12, method=method).fit_transform(roll())
    np.testing.assert_allclose(Z.T @ Z, np.eye(2), atol=1e-8)
    np.testing.assert_allclose(Z.sum(axis=0), 0.0, atol=1e-8)


def test_new_rows_are_placed_by_their_weights():
    X = roll()
    model = th.LocallyLinearEmbedding(n_neighbors=10).fit(X)
    new = X[:30] + 0.05 * cloud(30)
    assert np.abs(model.transform(new) - model.embedding_[:30]).max() < 0.01
    far = X[:5] * 1e-160
    assert np.isfinite(model.transform(far)).all()


@pytest.mark.parametrize("method", METHODS)
def test_same_bits_for_any_number_of_threads(method):
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            model = th.LocallyLinearEmbedding(n_neighbors=8, method=method)
            found.append(model.fit(roll(200)).transform(roll(30, seed=2)))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("method", METHODS)
def test_units_and_repeated_rows(method):
    X = roll(150)
    model = th.LocallyLinearEmbedding(n_neighbors=12, method=method, eigen_solver="dense")
    Z = model.fit_transform(X)
    np.testing.assert_allclose(like(model.fit_transform(X * 1024.0), Z), Z, atol=1e-5)
    repeated = np.vstack([X, X[:40], X[:40]])
    assert np.isfinite(model.fit_transform(repeated)).all()


def test_disconnected_graphs_are_reported():
    X = np.vstack([cloud(20), cloud(15, seed=1) + 50.0])
    with pytest.warns(UserWarning, match="connected components of the neighbors graph is 2 > 1"):
        Z = th.LocallyLinearEmbedding(n_components=1).fit_transform(X)[:, 0]
    np.testing.assert_allclose(Z[:20], Z[0], atol=1e-6)
    np.testing.assert_allclose(Z[20:], Z[20], atol=1e-6)


def test_single_precision():
    X = roll(200)
    model = th.LocallyLinearEmbedding(n_neighbors=10)
    wide, narrow = model.fit_transform(X), model.fit_transform(X.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(like(narrow, wide), wide, atol=1e-2)


@pytest.mark.parametrize(("options", "message"), [
    ({"n_neighbors": 20}, "n_samples = 20, n_neighbors = 20"),
    ({"n_components": 4}, "n_components=4 and X has 3 columns"),
    ({"method": "hessian"}, r"greater than \[n_components .* Use 6 neighbours or more"),
    ({"method": "modified", "n_neighbors": 1}, "at least n_components, but n_neighbors=1"),
    ({"method": "ltsa", "n_neighbors": 3}, "Use 4 neighbours or more"),
    ({"method": "modified", "reg": 0}, "reg must be positive"),
    ({"method": "linear"}, "method"),
])  # fmt: skip
def test_bad_parameters_are_refused(options, message):
    with pytest.raises((DataError, ParameterError), match=message):
        th.LocallyLinearEmbedding(**options).fit(cloud(20))


def test_bad_rows_are_refused():
    X = cloud(20)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match="NaN"):
        th.LocallyLinearEmbedding().fit(X)
    with pytest.raises(DataError, match="all 20 rows of X are equal"):
        th.LocallyLinearEmbedding().fit(np.ones((20, 3)))
    with pytest.raises(ParameterError, match="Use a larger reg"):
        th.LocallyLinearEmbedding(reg=0, n_components=1).fit(np.repeat(np.eye(4), 6, axis=0))
