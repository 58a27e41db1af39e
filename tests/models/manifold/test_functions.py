"""Embeddings as functions: what scikit-learn's return, with the values of the models."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.manifold
import sklearn.neighbors

import thetahat as th

functions = th.functions


def sheet():
    random = np.random.default_rng(0)
    turn, height = np.sort(random.uniform(0.0, 4.0, 90)), random.uniform(size=90)
    return np.column_stack([np.cos(turn), height, np.sin(turn)])


@pytest.mark.parametrize("method", ["standard", "modified", "hessian", "ltsa"])
def test_locally_linear_embedding_is_that_of_the_model(method):
    options = dict(n_neighbors=12, n_components=2, method=method)
    Z, error = functions.locally_linear_embedding(sheet(), **options)
    model = th.LocallyLinearEmbedding(**options).fit(sheet())
    assert np.array_equal(Z, model.embedding_)
    assert error == model.reconstruction_error_


def test_locally_linear_embedding_is_scikit_learns():
    options = dict(n_neighbors=12, n_components=2, eigen_solver="dense")
    Z, error = functions.locally_linear_embedding(sheet(), **options)
    theirs = sklearn.manifold.locally_linear_embedding(sheet(), **options)
    assert np.allclose(np.abs(Z), np.abs(theirs[0]), atol=1e-6)
    assert error == pytest.approx(theirs[1], abs=1e-9)


def test_locally_linear_embedding_of_a_search_that_was_fitted():
    options = dict(n_neighbors=12, n_components=2)
    expected = functions.locally_linear_embedding(sheet(), **options)
    found = functions.locally_linear_embedding(th.NearestNeighbors().fit(sheet()), **options)
    assert np.array_equal(found[0], expected[0])
    theirs = sklearn.neighbors.NearestNeighbors().fit(sheet())
    assert np.array_equal(functions.locally_linear_embedding(theirs, **options)[0], expected[0])
    with pytest.raises(th.errors.DataError, match="n_neighbors"):
        functions.locally_linear_embedding(sheet(), n_neighbors=90, n_components=2)


def dissimilarities():
    return np.sqrt(th.distances.Euclidean().pairwise(sheet()[::3]))


@pytest.mark.parametrize("metric", [True, False])
def test_smacof_is_scikit_learns_from_the_same_start(metric):
    D, start = dissimilarities(), np.random.default_rng(1).uniform(size=(30, 2))
    options = dict(metric=metric, init=start, n_init=1, max_iter=2000, eps=1e-9)
    Z, stress, n_iter = functions.smacof(D, return_n_iter=True, **options)
    theirs = sklearn.manifold.smacof(D, **options)
    assert Z.shape == (30, 2)
    assert stress <= theirs[1] * (1 + 1e-2)
    assert 1 < n_iter <= 2000


def test_smacof_is_that_of_the_model():
    D = dissimilarities()
    Z, stress = functions.smacof(D, n_components=3, n_init=2, random_state=5)
    model = th.MDS(3, metric="precomputed", init="random", n_init=2, random_state=5).fit(D)
    assert np.array_equal(Z, model.embedding_)
    assert stress == model.stress_


def test_smacof_takes_the_dimensions_of_the_start_and_refuses_other_matrices():
    D = dissimilarities()
    start = np.random.default_rng(1).uniform(size=(30, 4))
    assert functions.smacof(D, init=start, max_iter=2000)[0].shape == (30, 4)
    with pytest.raises(ValueError, match="symmetric"):
        functions.smacof(np.triu(D))
    with pytest.raises(ValueError, match="init matrix should be of shape"):
        functions.smacof(D, init=start[:5])


def path(n):
    return np.eye(n, k=1) + np.eye(n, k=-1) + 0.1 * np.eye(n, k=2) + 0.1 * np.eye(n, k=-2)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("norm_laplacian", [True, False])
@pytest.mark.parametrize("drop_first", [True, False])
def test_spectral_embedding_is_scikit_learns(form, norm_laplacian, drop_first):
    options = dict(n_components=3, norm_laplacian=norm_laplacian, drop_first=drop_first)
    ours = functions.spectral_embedding(form(path(25)), **options)
    theirs = sklearn.manifold.spectral_embedding(path(25), random_state=0, **options)
    for mine, other in zip(ours.T, theirs.T, strict=True):
        assert abs(mine @ other) == pytest.approx(np.linalg.norm(mine) * np.linalg.norm(other))


def test_spectral_embedding_is_that_of_the_model():
    model = th.SpectralEmbedding(3, affinity="precomputed").fit(path(25))
    found = functions.spectral_embedding(path(25), n_components=3)
    assert np.array_equal(found, model.embedding_)


def test_spectral_embedding_with_the_first_eigenvector_may_have_all_of_them():
    found = functions.spectral_embedding(path(6), n_components=6, drop_first=False)
    assert found.shape == (6, 6)
    assert np.ptp(found[:, 0]) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(th.errors.ParameterError, match="less than the number of rows, because"):
        functions.spectral_embedding(path(6), n_components=6)
    with pytest.raises(th.errors.ParameterError, match="must be at most the number of rows"):
        functions.spectral_embedding(path(6), n_components=7, drop_first=False)


def test_spectral_embedding_reports_several_components():
    with pytest.warns(UserWarning, match="not fully connected"):
        functions.spectral_embedding(np.kron(np.eye(2), path(6)), n_components=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        functions.spectral_embedding(path(12), n_components=2)
