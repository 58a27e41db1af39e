"""Standardisation and the way back: predictions do not notice."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression as PeerRegression
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

import thetahat as th

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3)) * [1.0, 1e-3, 50.0] + [0.0, 2.0, -1e4]
y = X @ [1.0, 300.0, -0.1] + 5.0 + RNG.normal(size=200)
Y = np.column_stack([y, -2.0 * y + RNG.normal(size=200)])


def test_columns_get_mean_0_and_variance_1():
    Z = th.Standardizer().fit_transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-11)
    np.testing.assert_allclose(Z.var(axis=0), 1, rtol=1e-13)
    np.testing.assert_allclose(Z, StandardScaler().fit_transform(X), atol=1e-10)


def test_length_divides_by_the_root_of_the_sum_of_squares():
    Z = th.Standardizer(scale="length").fit_transform(X)
    np.testing.assert_allclose((Z**2).sum(axis=0), 1, rtol=1e-13)
    deviations = X - X.mean(axis=0)
    np.testing.assert_allclose(Z, deviations / np.sqrt((deviations**2).sum(axis=0)), atol=1e-12)
    as_they_stand = th.Standardizer(center=None, scale="length").fit_transform(X)
    np.testing.assert_allclose(as_they_stand, X / np.sqrt((X**2).sum(axis=0)), rtol=1e-12)


def test_z_score_of_a_known_population():
    scores = th.Standardizer(center=100.0, scale=15.0).fit_transform([[130.0], [85.0]])
    assert scores.tolist() == [[2.0], [-1.0]]
    per_column = th.Standardizer(center=[1.0, 2.0], scale=[10.0, 5.0]).fit([[0.0, 0.0]])
    assert per_column.transform([[21.0, -8.0]]).tolist() == [[2.0, -2.0]]


def test_training_statistics_are_reused():
    model = th.Standardizer().fit(X[:100])
    np.testing.assert_allclose(
        model.transform(X[100:]), StandardScaler().fit(X[:100]).transform(X[100:]), atol=1e-10
    )


@pytest.mark.parametrize("scale", ["deviation", "length"])
def test_weights_count_rows(scale):
    random = np.random.default_rng(1)
    weight = random.integers(0, 4, size=200)
    weighted = th.Standardizer(scale=scale).fit(X, sample_weight=weight)
    repeated = th.Standardizer(scale=scale).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_, rtol=1e-12)
    np.testing.assert_allclose(weighted.scale_, repeated.scale_, rtol=1e-11)


@pytest.mark.parametrize("scale", ["deviation", "length"])
@pytest.mark.parametrize("value", [0.1, 0.0, 1e8, -3e-9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_columns_are_centred_and_left_at_their_size(scale, value, dtype):
    random = np.random.default_rng(2)
    rows = np.full((50_000, 2), value, dtype=dtype)
    rows[:, 1] = random.normal(size=50_000)
    model = th.Standardizer(scale=scale).fit(rows)
    assert model.scale_[0] == 1
    assert np.abs(model.transform(rows)[:, 0]).max() <= 1e-15 * abs(value)


def test_huge_and_tiny_columns():
    rows = X * [1e-200, 1e200, 1e150]
    Z = th.Standardizer().fit_transform(rows)
    np.testing.assert_allclose(Z, th.Standardizer().fit_transform(X), atol=1e-9)
    Z = th.Standardizer(scale="length").fit_transform(rows)
    np.testing.assert_allclose((Z**2).sum(axis=0), 1, rtol=1e-12)


SCALERS = {
    "ours": th.Standardizer(),
    "length": th.Standardizer(scale="length"),
    "population": th.Standardizer(center=[1.0, 2.0, 3.0], scale=4.0),
    "standard": StandardScaler(),
    "uncentred": StandardScaler(with_mean=False),
    "unscaled": StandardScaler(with_std=False),
    "neither": StandardScaler(with_mean=False, with_std=False),
    "robust": RobustScaler(),
    "robust uncentred": RobustScaler(with_centering=False),
    "robust unscaled": RobustScaler(with_scaling=False),
    "max": MaxAbsScaler(),
    "min-max": MinMaxScaler((-1.0, 3.0)),
    "none": None,
}


@pytest.mark.parametrize("x_scaler", SCALERS.values(), ids=SCALERS)
@pytest.mark.parametrize("y_scaler", [None, th.Standardizer(), MinMaxScaler()], ids=str)
@pytest.mark.parametrize("targets", [y, Y], ids=["one target", "two targets"])
def test_least_squares_is_the_same_after_the_way_back(x_scaler, y_scaler, targets):
    columns = targets.reshape(len(X), -1)
    x_scaled = X if x_scaler is None else x_scaler.fit_transform(X)
    y_scaled = columns if y_scaler is None else y_scaler.fit_transform(columns)
    fitted = th.LinearRegression().fit(x_scaled, y_scaled.reshape(targets.shape))
    coef, intercept = th.unstandardize(fitted.coef_, fitted.intercept_, x_scaler, y_scaler)
    plain = th.LinearRegression().fit(X, targets)
    assert coef.shape == plain.coef_.shape
    assert np.shape(intercept) == np.shape(plain.intercept_)
    np.testing.assert_allclose(coef, plain.coef_, rtol=1e-8)
    np.testing.assert_allclose(intercept, plain.intercept_, rtol=1e-7)
    np.testing.assert_allclose(X @ coef.T + intercept, plain.predict(X), rtol=1e-9)


def test_the_formulas_of_the_way_back():
    x_scaler, y_scaler = StandardScaler().fit(X), StandardScaler().fit(y[:, None])
    fitted = PeerRegression().fit(x_scaler.transform(X), y_scaler.transform(y[:, None])[:, 0])
    coef, intercept = th.unstandardize(fitted.coef_, fitted.intercept_, x_scaler, y_scaler)
    np.testing.assert_allclose(coef, fitted.coef_ * y.std() / X.std(axis=0), rtol=1e-10)
    assert intercept == pytest.approx(y.mean() - X.mean(axis=0) @ coef, rel=1e-10)


def test_the_way_back_refuses_what_is_no_scaler_of_this_model():
    with pytest.raises(th.errors.DataError, match="x_scaler is Normalizer, which has no scale_"):
        th.unstandardize([1.0], 0.0, Normalizer())
    with pytest.raises(th.errors.DataError, match=r"x_scaler is StandardScaler.*Pass a fitted"):
        th.unstandardize([1.0], 0.0, StandardScaler())
    with pytest.raises(
        th.errors.DataError, match="x_scaler was fitted to 3 columns, but the model has 2"
    ):
        th.unstandardize([1.0, 2.0], 0.0, StandardScaler().fit(X))


def test_bad_parameters_are_refused():
    for center in ("median", [[1.0]], "mean "):
        with pytest.raises(
            th.errors.ParameterError, match=r"center=.* must be one of 'mean', or None"
        ):
            th.Standardizer(center=center).fit(X)
    with pytest.raises(th.errors.ParameterError, match="scale has 2 numbers, but X has 3 columns"):
        th.Standardizer(scale=[1.0, 2.0]).fit(X)
    with pytest.raises(th.errors.ParameterError, match="scale is 0 for column 1; it must be > 0"):
        th.Standardizer(scale=[1.0, 0.0, 2.0]).fit(X)
    with pytest.raises(th.errors.ParameterError, match="center=nan must be finite"):
        th.Standardizer(center=float("nan")).fit(X)
