"""Intervals of predictions of Huber regression."""

import numpy as np
import pytest
from scipy import stats

import thetahat as th
from tests.repeats import repeated


def rows(n=60, d=3, seed=0, noise="normal"):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)) + [5.0, 0.0, -2.0][:d]
    errors = random.standard_normal(n)
    if noise == "outliers":
        errors[random.random(n) < 0.1] *= 10.0
    if noise == "heavy":
        errors = random.standard_t(2.0, n)
    return X, X @ np.arange(1.0, d + 1) + 7.0 + errors


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_they_follow_from_the_formula(fit_intercept):
    X, y = rows(noise="outliers")
    y = y if fit_intercept else y - 7.0
    model = th.HuberRegressor(alpha=0.0, tol=1e-10, fit_intercept=fit_intercept).fit(X, y)
    design = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    residual, reach = y - model.predict(X), model.epsilon * model.scale_
    inner, (n, p) = abs(residual) <= reach, design.shape
    share = inner.mean()
    psi = np.clip(residual, -reach, reach)
    variance = np.sum(psi**2) / (n - p) / share**2 * (1 + p / n * (1 - share) / share) ** 2
    gram = design[inner].T @ design[inner] / share
    leverage = np.einsum("ij,jk,ik->i", design, np.linalg.inv(gram), design)
    low, high = model.predict_interval(X, level=0.9, kind="confidence")
    half = stats.t.ppf(0.95, n - p) * np.sqrt(variance * leverage)
    np.testing.assert_allclose(high - low, 2 * half, rtol=1e-6)
    low, high = model.predict_interval(X, level=0.9)
    quantile = np.sort(abs(residual))[int(np.ceil(0.9 * (n + 1))) - 1] * n / (n - p)
    np.testing.assert_allclose(
        high - low, 2 * quantile * np.sqrt((1 + leverage) / (1 + p / n)), rtol=1e-6
    )
    np.testing.assert_allclose((low + high) / 2, model.predict(X))


@pytest.mark.parametrize("noise", ["normal", "outliers", "heavy"])
@pytest.mark.parametrize("kind", ["prediction", "confidence"])
@repeated(40, 120)
def test_coverage_is_the_level(noise, kind, repeats):
    inside = []
    for seed in range(repeats):
        X, y = rows(50, noise=noise, seed=seed)
        new, later = rows(50, noise=noise, seed=1000 + seed)
        if kind == "confidence":
            later = new @ [1.0, 2.0, 3.0] + 7.0
        low, high = th.HuberRegressor().fit(X, y).predict_interval(new, level=0.8, kind=kind)
        inside.append(np.mean((low <= later) & (later <= high)))
    assert np.mean(inside) == pytest.approx(0.8, abs=0.04)


def test_outliers_do_not_widen_intervals_of_the_mean():
    X, y = rows(200)
    plain = np.ptp(th.HuberRegressor().fit(X, y).predict_interval(X, kind="confidence"), axis=0)
    y[:10] += 1000.0
    robust = np.ptp(th.HuberRegressor().fit(X, y).predict_interval(X, kind="confidence"), axis=0)
    least = np.ptp(th.LinearRegression().fit(X, y).predict_interval(X, kind="confidence"), axis=0)
    assert (robust < 1.5 * plain).all()
    assert (least > 20 * plain).all()


@pytest.mark.parametrize("kind", ["prediction", "confidence"])
def test_relations(kind):
    X, y = rows(noise="outliers")
    weight = np.random.default_rng(3).integers(0, 3, len(y))

    def found(X, y, sample_weight=None, new=X):
        model = th.HuberRegressor(alpha=0.0, tol=1e-10).fit(X, y, sample_weight=sample_weight)
        return np.stack(model.predict_interval(new, kind=kind))

    plain = found(X, y)
    np.testing.assert_allclose(found(X, 1000.0 * y) / 1000.0, plain, rtol=1e-6)
    np.testing.assert_allclose(found(X + 1e4, y, new=X + 1e4), plain, rtol=1e-4)
    np.testing.assert_allclose(
        found(X, y, weight), found(np.repeat(X, weight, axis=0), np.repeat(y, weight)), rtol=1e-6
    )


def test_many_rows_keep_some_residuals(tmp_path):
    X, y = rows(25_000)
    model = th.HuberRegressor().fit(X, y)
    assert len(model._evidence.sizes) == 12_500
    low, high = model.predict_interval(X)
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(0.95, abs=0.005)
    th.save(model, tmp_path / "huber")
    np.testing.assert_array_equal(th.load(tmp_path / "huber").predict_interval(X), [low, high])


def test_fits_without_intervals_say_why():
    X, y = rows()
    with pytest.raises(ValueError, match="at least 99 rows, but n = 60"):
        th.HuberRegressor().fit(X, y).predict_interval(X, level=0.99)
    with pytest.raises(ValueError, match="with a larger epsilon"):
        th.HuberRegressor().fit(X, X[:, 0]).predict_interval(X)
    with pytest.raises(ValueError, match="kind='both'"):
        th.HuberRegressor().fit(X, y).predict_interval(X, kind="both")
