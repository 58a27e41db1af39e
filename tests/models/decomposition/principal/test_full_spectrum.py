"""Singular values of tall rows from products of matrices, against LAPACK's of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

import thetahat as th
from thetahat.models.decomposition.principal import spectrum
from thetahat.models.decomposition.principal.triangle_by_products import triangle_by_products


def of_condition(condition, n=2500, d=12):
    random = np.random.default_rng(3)
    left = np.linalg.qr(random.standard_normal((n, d)))[0]
    right = np.linalg.qr(random.standard_normal((d, d)))[0]
    return (left * np.geomspace(1, 1 / condition, d)) @ right.T


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6, 1e9, 1e13])
def test_all_values_are_as_accurate_as_those_of_the_rows(condition):
    X = of_condition(condition)
    found = th.PCA(svd_solver="full").fit(X).singular_values_
    expected = linalg.svdvals(X - X.mean(axis=0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found, expected, rtol=1e-15 * 30 * condition)


def test_the_factor_is_that_of_reflections_up_to_signs():
    X = of_condition(1e5)
    found = triangle_by_products(X.__getitem__, *X.shape)
    expected = np.linalg.qr(X, mode="r")
    np.testing.assert_allclose(
        found, expected * np.sign(np.diagonal(expected))[:, None], rtol=0, atol=1e-15
    )


@pytest.mark.parametrize(
    "X",
    [of_condition(1e12), np.zeros((100, 3)), np.ones((100, 2)), np.full((100, 2), np.inf)],
    ids=["condition 1e12", "zeros", "equal columns", "infinite"],
)
def test_columns_that_almost_depend_have_no_factor_by_products(X):
    assert triangle_by_products(X.__getitem__, *X.shape) is None


def test_weights_and_scales_enter_the_products(monkeypatch):
    X, weight = of_condition(10.0), np.random.default_rng(0).integers(0, 3, 2500)
    model = th.PCA(3, svd_solver="full", scale=True)
    by_products = model.fit(X, sample_weight=weight).components_
    monkeypatch.setattr(spectrum, "VERY_TALL", np.inf)
    np.testing.assert_allclose(
        by_products, model.fit(X, sample_weight=weight).components_, atol=1e-12
    )
