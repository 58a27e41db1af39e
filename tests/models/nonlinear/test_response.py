"""Transformed responses: there and back, intervals through ψ⁻¹, the smeared mean, refusals."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils import get_tags

import thetahat as th

RANDOM = np.random.default_rng(2)
X = RANDOM.uniform(1.0, 3.0, (300, 2))
NOISE = 0.6 * RANDOM.standard_normal(300)
LOG = X @ [1.0, -0.5] + 0.3 + NOISE
PER_AREA = (lambda y, X: np.log(y / X[:, 0]), lambda z, X: X[:, 0] * np.exp(z))


def test_agrees_with_scikit_learn_where_it_can():
    y = np.exp(LOG)
    ours = th.TransformedResponseRegressor(response="log").fit(X, y)
    theirs = TransformedTargetRegressor(th.LinearRegression(), func=np.log, inverse_func=np.exp)
    np.testing.assert_allclose(ours.predict(X), theirs.fit(X, y).predict(X), rtol=1e-10)


def test_transform_that_depends_on_the_row():
    """log(y/x₁) is linear in x: ψ(y, x) makes the fit exact, log y alone does not."""
    y = X[:, 0] * np.exp(X @ [1.0, -0.5] + 0.3)
    model = th.TransformedResponseRegressor(response=PER_AREA).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-10)
    np.testing.assert_allclose(model.regressor_.coef_, [1.0, -0.5], rtol=1e-10)
    plain = th.TransformedResponseRegressor(response="log").fit(X, y)
    assert np.abs(plain.predict(X) / y - 1).max() > 0.01


def test_naive_is_the_median_and_smeared_the_mean():
    """exp of a normal variable: median e^μ, mean e^{μ + σ²/2}."""
    random = np.random.default_rng(201)
    rows = np.repeat(X[:50], 400, axis=0)
    y = np.exp(rows @ [1.0, -0.5] + 0.6 * random.standard_normal(len(rows)))
    median = th.TransformedResponseRegressor(response="log").fit(rows, y)
    mean = th.TransformedResponseRegressor(response="log", retransform="mean").fit(rows, y)
    ratio = mean.predict(X) / median.predict(X)
    np.testing.assert_allclose(ratio, np.exp(0.18), rtol=0.02)
    assert np.mean(y < median.predict(rows)) == pytest.approx(0.5, abs=0.01)
    assert np.mean(mean.predict(rows)) == pytest.approx(np.mean(y), rel=0.02)
    assert np.mean(median.predict(rows)) < 0.9 * np.mean(y)


def test_smearing_averages_over_the_residuals():
    y = np.exp(LOG)
    model = th.TransformedResponseRegressor(response=PER_AREA, retransform="mean").fit(X, y)
    z = model.regressor_.predict(X)
    residuals = np.log(y / X[:, 0]) - z
    expected = X[:, 0] * np.mean(np.exp(z[:, None] + residuals), axis=1)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-10)
    np.testing.assert_allclose(model.predict(X[7:8]), expected[7:8], rtol=1e-10)
    many = np.tile(X, (400, 1))
    np.testing.assert_allclose(model.predict(many), np.tile(expected, 400), rtol=1e-10)


@pytest.mark.parametrize("response", ["log", PER_AREA, "reciprocal"], ids=["log", "row", "falling"])
def test_intervals_go_through_and_keep_their_level(response):
    y = 1 / (5 + LOG) if response == "reciprocal" else np.exp(LOG)
    model = th.TransformedResponseRegressor(response=response).fit(X, y)
    low, high = model.predict_interval(X, level=0.9)
    assert np.all(low < high)
    assert np.mean((low < y) & (y < high)) == pytest.approx(0.9, abs=0.04)
    inner = model.regressor_.predict_interval(X, level=0.9)
    ends = np.sort([model.response_.inverse(end, X) for end in inner], axis=0)
    np.testing.assert_allclose([low, high], ends)
    tight = model.predict_interval(X, level=0.9, kind="confidence")
    assert np.all(tight[0] > low)
    assert np.all(tight[1] < high)


@pytest.mark.parametrize("retransform", ["median", "mean"])
def test_weight_two_is_a_row_twice(retransform):
    random = np.random.default_rng(202)
    weight = random.integers(0, 3, len(X))
    model = th.TransformedResponseRegressor(response="log", retransform=retransform)
    weighted = model.fit(X, np.exp(LOG), weight).predict(X)
    rows = np.repeat(np.arange(len(X)), weight)
    repeated = model.fit(X[rows], np.exp(LOG)[rows]).predict(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8)


@pytest.mark.parametrize("name", ["identity", "log", "log1p", "sqrt", "reciprocal", "logit"])
def test_named_transforms_lead_back(name):
    y = 1 / (1 + np.exp(-LOG / 4))
    model = th.TransformedResponseRegressor(response=name).fit(X, y)
    z = model.response_.forward(y, X)
    np.testing.assert_allclose(model.response_.inverse(z, X), y, rtol=1e-12)


def test_any_regressor():
    model = th.TransformedResponseRegressor(KNeighborsRegressor(3), response="log")
    assert model.fit(X, np.exp(LOG)).predict(X).shape == (300,)
    with pytest.raises(th.errors.CapabilityError, match="has no predict_interval"):
        model.predict_interval(X)
    with pytest.raises(th.errors.CapabilityError, match="does not support sample_weight"):
        model.fit(X, np.exp(LOG), np.ones(300))


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ("log", r"ψ\(y, x\) is nan for 1 of 300 rows \(first at row 4: y = -1\)"),
        (
            (lambda y, X: y**2, lambda z, X: np.sqrt(z)),
            "inverse does not undo forward for 1 of 300",
        ),
        ((lambda y, X: y[:5], lambda z, X: z), r"forward returned float64 numbers of shape \(5,\)"),
        ((lambda y, X: y + 1j, lambda z, X: z), "forward returned complex128"),
        ("logarithm", "response='logarithm' must be"),
        ((np.log,), "a pair of functions"),
    ],
)
def test_refusals_say_what_is_wrong(response, message):
    y = np.exp(LOG)
    y[4] = -1.0
    with pytest.raises(th.errors.ThetahatError, match=message):
        th.TransformedResponseRegressor(response=response).fit(X, y)


def test_prediction_outside_the_range_of_the_inverse():
    model = th.TransformedResponseRegressor(response=(lambda y, X: y**2, lambda z, X: np.sqrt(z)))
    model.fit(X, X[:, 0])
    with pytest.raises(th.errors.DataError, match=r"ψ⁻¹\(z, x\) is nan"):
        model.predict([[-50.0, 0.0]])


def test_below_the_range_of_a_square_root_is_zero():
    """A line for √y falls below 0; y does not: the interval there is [0, high], of full level."""
    random = np.random.default_rng(5)
    x = np.linspace(0.0, 4.0, 2000)[:, np.newaxis]
    y = np.maximum(x[:, 0] + 0.5 * random.standard_normal(2000), 0.0) ** 2
    model = th.TransformedResponseRegressor(response="sqrt").fit(x, y)
    low, high = model.predict_interval(x)
    inner = model.regressor_.predict_interval(x)
    crossing = inner[0] < 0
    assert crossing.sum() > 200
    np.testing.assert_array_equal(low[crossing], 0.0)
    np.testing.assert_allclose(low[~crossing], inner[0][~crossing] ** 2)
    np.testing.assert_allclose(high, inner[1] ** 2)
    inside = (low <= y) & (y <= high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
    assert np.mean(inside[crossing]) > 0.93
    assert model.regressor_.predict([[-1.0]])[0] < -0.5
    assert model.predict([[-1.0]])[0] == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_reciprocal_of_zero_has_no_bound(sign):
    random = np.random.default_rng(6)
    x = np.linspace(0.0, 4.0, 1000)[:, np.newaxis]
    y = sign / np.maximum(x[:, 0] - 0.1 + 0.2 * random.standard_normal(1000), 1e-6)
    model = th.TransformedResponseRegressor(response="reciprocal").fit(x, y)
    low, high = model.predict_interval(x)
    inner = model.regressor_.predict_interval(x)
    crossing = (inner[0] < 0) & (inner[1] > 0)
    assert crossing.sum() > 50
    far, near = (high, low) if sign > 0 else (low, high)
    np.testing.assert_array_equal(far[crossing], sign * np.inf)
    np.testing.assert_allclose(near[crossing], 1 / inner[1 if sign > 0 else 0][crossing])
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(0.95, abs=0.02)
    with pytest.raises(th.errors.DataError, match=r"ψ⁻¹\(z, x\) is -?inf for 1 of 1 rows"):
        model.predict([[-3.0]])


def test_a_reciprocal_across_its_jump_has_no_intervals():
    z = np.linspace(-1.0, 1.0, 20)
    model = th.TransformedResponseRegressor(response="reciprocal").fit(z[:, np.newaxis], 1 / z)
    np.testing.assert_allclose(model.predict(z[:, np.newaxis]), 1 / z, rtol=1e-8)
    with pytest.raises(
        th.errors.CapabilityError, match="'reciprocal' is not monotone for these targets"
    ):
        model.predict_interval(z[:, np.newaxis])


def test_a_range_of_ones_own():
    square = th.ResponseTransform(
        lambda y, X: y**2, lambda z, X: np.sqrt(z), "square", z_range=(0.0, np.inf)
    )
    model = th.TransformedResponseRegressor(response=square).fit(X, X[:, 0])
    assert model.predict([[-50.0, 0.0]])[0] == 0.0


@pytest.mark.parametrize("n", [900, 3001, 20_001])
@pytest.mark.parametrize("tails", ["heavy", "normal"])
def test_smearing_keeps_the_tails(n, tails):
    """The mean of exp over Student's t hangs on a few residuals: none may be thinned out."""
    random = np.random.default_rng(8)
    rows = random.uniform(size=(n, 2))
    noise = 2 * random.standard_t(3, n) if tails == "heavy" else random.standard_normal(n)
    y = np.exp(rows @ [1.0, -2.0] + noise)
    model = th.TransformedResponseRegressor(response="log", retransform="mean").fit(rows, y)
    z = model.regressor_.predict(rows)
    factor = np.mean(np.exp(np.log(y) - z))
    exact = n <= 1000 or tails == "heavy"
    found = model.predict(rows[:5]) / np.exp(z[:5])
    np.testing.assert_allclose(found, factor, rtol=1e-9 if exact else 1e-5)
    assert model.residual_weights_.sum() == pytest.approx(1.0)
    assert len(model.residuals_) <= 2000


def test_sparse_rows_are_handed_on():
    y = np.exp(LOG)
    dense = th.TransformedResponseRegressor(response="log", retransform="mean").fit(X, y)
    sparse = clone(dense).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.predict(csr_array(X)), dense.predict(X), rtol=1e-8)
    intervals = sparse.predict_interval(csr_array(X)), dense.predict_interval(X)
    np.testing.assert_allclose(*intervals, rtol=1e-8)
    assert get_tags(dense).input_tags.sparse
    none = th.TransformedResponseRegressor(th.NonlinearRegression(), response="log")
    assert not get_tags(none).input_tags.sparse
    with pytest.raises(TypeError, match="NonlinearRegression does not accept sparse input"):
        none.fit(csr_array(X), y)
