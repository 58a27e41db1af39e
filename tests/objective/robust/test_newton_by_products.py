"""Huber regression on sparse rows of many columns, from products alone."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.robust.huber_scale import HuberWithScale


def rows(n=1600, d=520, seed=0):
    random = np.random.default_rng(seed)
    X = sp.csr_array(sp.random_array((n, d), density=0.02, rng=random, format="csr"))
    y = X @ random.standard_normal(d) + 0.3 * random.standard_normal(n)
    y[::25] += 30.0
    return X, y


@pytest.mark.parametrize("above", [False, True])
def test_products_are_those_of_the_hessian_and_of_the_majoriser(above):
    X, y = rows(80, 12)
    problem = HuberWithScale(LinearPredictor(12), 1.35, 0.5, as_source(X, y))
    theta = problem.start()
    whole = problem.majoriser(theta)[1] if above else problem.hessian(theta)
    product, diagonal = problem.curvature_products(theta, above=above)
    v = np.random.default_rng(1).standard_normal(14)
    np.testing.assert_allclose(product(v), whole @ v, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(diagonal, np.diagonal(whole), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_of_many_columns_have_the_optimum_of_dense_ones(weighted):
    X, y = rows()
    weight = np.random.default_rng(2).integers(1, 4, len(y)) if weighted else None
    sparse = th.HuberRegressor(alpha=0.1).fit(X, y, sample_weight=weight)
    dense = th.HuberRegressor(alpha=0.1).fit(X.toarray(), y, sample_weight=weight)
    assert sparse.solution_.outcome.success
    assert "products" in sparse.solution_.reason
    assert sparse.solution_.value == pytest.approx(dense.solution_.value, rel=1e-8)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-4)
    assert (sparse.outliers_ == dense.outliers_).mean() > 0.99
