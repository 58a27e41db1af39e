"""Tensor sketches of the polynomial kernel: the formula, its mean, and relations."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.errors import MemoryBudgetError, ParameterError


def rows(n=30, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def by_products(model, X):
    """Σ of the signed products of columns at the sum of their places, for degree 2."""
    columns = np.sqrt(model.gamma) * X
    if model.coef0:
        columns = np.column_stack([columns, np.full(len(X), np.sqrt(model.coef0))])
    found = np.zeros((len(X), model.n_components))
    place, sign = model.indexHash_, model.bitHash_
    for i in range(columns.shape[1]):
        for j in range(columns.shape[1]):
            at = (place[0, i] + place[1, j]) % model.n_components
            found[:, at] += sign[0, i] * sign[1, j] * columns[:, i] * columns[:, j]
    return found


@pytest.mark.parametrize("m", [1, 2, 7, 16])
@pytest.mark.parametrize("coef0", [0, 2.5])
def test_features_are_sums_of_signed_products(m, coef0):
    X = rows()
    model = th.PolynomialCountSketch(gamma=0.3, coef0=coef0, n_components=m, random_state=1)
    found = model.fit_transform(X)
    assert model.indexHash_.shape == model.bitHash_.shape == (2, 4 + (coef0 > 0))
    np.testing.assert_allclose(found, by_products(model, X), atol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_mean_of_the_draws_is_the_kernel(degree):
    X = rows(8)
    K = th.kernels.Polynomial(degree=degree, coef0=1.0, gamma=0.5)(X)
    mean = np.zeros_like(K)
    for seed in range(200):
        model = th.PolynomialCountSketch(
            gamma=0.5, degree=degree, coef0=1.0, n_components=64, random_state=seed
        )
        Z = model.fit_transform(X)
        mean += Z @ Z.T / 200
    size = np.sqrt(np.outer(np.diag(K), np.diag(K)))
    assert np.abs((mean - K) / size).max() < 0.06


def test_sparse_rows_single_precision_and_blocks_agree():
    X = rows(100, 6)
    X[X < 0.5] = 0.0
    model = th.PolynomialCountSketch(degree=3, coef0=1.0, n_components=33, random_state=0).fit(X)
    dense = model.transform(X)
    np.testing.assert_allclose(model.transform(sp.csr_array(X)), dense, atol=1e-12)
    single = model.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, dense, atol=1e-4)
    one_by_one = np.concatenate([model.transform(X[i : i + 1]) for i in range(100)])
    np.testing.assert_allclose(one_by_one, dense, atol=1e-12)


@pytest.mark.parametrize(
    "wrong", [{"gamma": -1.0}, {"degree": 0}, {"degree": 1.5}, {"coef0": -1}, {"n_components": 0}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        th.PolynomialCountSketch(**wrong).fit(rows())


def test_features_that_do_not_fit_are_refused_first():
    model = th.PolynomialCountSketch(n_components=10_000).fit(rows())
    with th.config(memory=1_000_000), pytest.raises(MemoryBudgetError, match="fewer components"):
        model.transform(rows(500))
