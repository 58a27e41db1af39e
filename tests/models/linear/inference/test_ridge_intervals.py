"""Intervals of predictions of ridge regression."""

import numpy as np
import pytest
from scipy import stats

import thetahat as th


def rows(n=40, d=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) + 3.0
    return X, X @ random.standard_normal(d) + random.standard_normal(n)


@pytest.mark.parametrize("kind", ["prediction", "confidence"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_without_a_penalty_they_are_those_of_least_squares(kind, fit_intercept, weighted):
    X, y = rows()
    weight = np.random.default_rng(1).integers(1, 4, len(y)) if weighted else None
    options = {"fit_intercept": fit_intercept}
    ridge = th.Ridge(alpha=0.0, **options).fit(X, y, sample_weight=weight)
    plain = th.LinearRegression(**options).fit(X, y, sample_weight=weight)
    for meaning in ("frequency", "precision"):
        found = ridge.predict_interval(X[:9], kind=kind, weights=meaning)
        expected = plain.predict_interval(X[:9], kind=kind, weights=meaning)
        np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "qr", "svd"])
@pytest.mark.parametrize("standardize", [True, False])
def test_they_follow_from_the_formula(solver, standardize):
    X, y = rows()
    X[:, 1] *= 50.0
    model = th.Ridge(alpha=7.0, solver=solver, standardize=standardize).fit(X, y)
    centred = (X - X.mean(axis=0)) / (X.std(axis=0) if standardize else 1.0)
    inverse = np.linalg.inv(centred.T @ centred + 7.0 * np.eye(4))
    freedom = len(y) - 1 - np.trace(centred @ inverse @ centred.T)
    sigma = np.sqrt(np.sum((y - model.predict(X)) ** 2) / freedom)
    spread = np.einsum("ij,jk,ik->i", centred, inverse, centred) + 1 / len(y)
    for kind, extra in (("prediction", 1.0), ("confidence", 0.0)):
        half = stats.t.ppf(0.95, freedom) * sigma * np.sqrt(spread + extra)
        low, high = model.predict_interval(X, level=0.9, kind=kind)
        np.testing.assert_allclose(high - low, 2 * half, rtol=1e-7)
        np.testing.assert_allclose((low + high) / 2, model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.3, 5.0, 50.0])
@pytest.mark.parametrize("kind", ["prediction", "confidence"])
def test_coverage_over_the_prior_is_the_level(alpha, kind):
    """Coefficients of variance σ²/α: 80 % of the intervals hold the new y, or its mean."""
    random, inside = np.random.default_rng(0), []
    for _ in range(100):
        X = random.standard_normal((25, 6)) * [1, 1, 1, 3, 3, 0.3]
        beta = random.standard_normal(6) / np.sqrt(alpha)
        new = random.standard_normal((20, 6)) * 2.0
        model = th.Ridge(alpha=alpha).fit(X, X @ beta + 5.0 + random.standard_normal(25))
        low, high = model.predict_interval(new, level=0.8, kind=kind)
        value = new @ beta + 5.0 + (random.standard_normal(20) if kind == "prediction" else 0.0)
        inside.append(np.mean((low <= value) & (value <= high)))
    assert np.mean(inside) == pytest.approx(0.8, abs=0.04)


def test_several_targets_and_repeated_rows():
    X, y = rows()
    several = np.column_stack([y, 2 * y + 1])
    low, high = th.Ridge().fit(X, several).predict_interval(X)
    first = th.Ridge().fit(X, y).predict_interval(X)
    np.testing.assert_allclose(np.stack([low[:, 0], high[:, 0]]), first)
    twice = th.Ridge().fit(X, y, sample_weight=np.full(40, 2.0)).predict_interval(X)
    repeated = th.Ridge().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)).predict_interval(X)
    np.testing.assert_allclose(twice, repeated)


def test_saved_models_keep_their_intervals(tmp_path):
    X, y = rows()
    model = th.Ridge().fit(X, y)
    th.save(model, tmp_path / "ridge")
    loaded = th.load(tmp_path / "ridge")
    np.testing.assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))


def test_fits_without_intervals_say_why():
    X, y = rows()
    with pytest.raises(ValueError, match="positive=True"):
        th.Ridge(positive=True).fit(X, y).predict_interval(X)
    with pytest.raises(ValueError, match="one number for alpha"):
        th.Ridge(alpha=[1.0, 2.0]).fit(X, np.column_stack([y, y])).predict_interval(X)
    with pytest.raises(ValueError, match='solver="cholesky"'):
        th.Ridge().fit(X[:3], y[:3]).predict_interval(X)
    with pytest.raises(ValueError, match="rank 4"):
        th.Ridge(alpha=0.0).fit(X[:, [0, 1, 2, 3, 3]], y).predict_interval(X[:, [0, 1, 2, 3, 3]])
    with pytest.raises(ValueError, match="kind='both'"):
        th.Ridge().fit(X, y).predict_interval(X, kind="both")
    with pytest.raises(ValueError, match="more rows than effective coefficients"):
        th.Ridge(alpha=0.0, solver="qr").fit(X[:5], y[:5]).predict_interval(X)


def test_residuals_whose_squares_overflow_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = th.Ridge().fit(X, 1e200 * X[:, 0])
    with pytest.raises(th.errors.CapabilityError, match="Divide y by its standard deviation"):
        model.predict_interval(X)
