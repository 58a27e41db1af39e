"""Certified values come out of the shipped data in exact arithmetic; generators obey their θ."""

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest
from statsmodels.datasets import longley as peer_longley

import thetahat as th
from thetahat.data import datasets
from thetahat.data.datasets.dataset import read_columns
from thetahat.foundation.errors import ParameterError

GENERATORS = [getattr(datasets, name) for name in datasets.__all__ if name.startswith("make_")]


def exact_fit(X, y):
    """θ̂, its standard errors and the residual deviation; rows of Fractions, ones included."""
    width = len(X[0])
    table = [
        [sum(row[i] * row[j] for row in X) for j in range(width)]
        + [sum(row[i] * value for row, value in zip(X, y, strict=True))]
        + [Fraction(int(i == j)) for j in range(width)]
        for i in range(width)
    ]
    for i in range(width):  # Gauss-Jordan; XᵀX is positive definite, so no pivot is zero
        pivot = table[i][i]
        table[i] = [entry / pivot for entry in table[i]]
        for k in range(width):
            if k != i:
                factor = table[k][i]
                table[k] = [a - factor * b for a, b in zip(table[k], table[i], strict=True)]
    theta = [row[width] for row in table]
    residuals = [
        value - sum(a * b for a, b in zip(row, theta, strict=True))
        for row, value in zip(X, y, strict=True)
    ]
    variance = sum(r * r for r in residuals) / (len(y) - width)
    errors = [math.sqrt(variance * table[i][width + 1 + i]) for i in range(width)]
    return theta, errors, math.sqrt(variance)


def powers(x, degree):
    return [[value**power for power in range(degree + 1)] for value in x]


def exact_problem(name):
    """The data set and its rows as exact fractions of the decimals in the file."""
    if name.startswith("wampler"):
        data = datasets.wampler(int(name[-1]))
        y = [Fraction(round(value * 10**5), 10**5) for value in data.y]
        return data, powers([Fraction(k) for k in range(21)], 5), y
    if name == "filip":
        data = datasets.filip()
        columns = read_columns(data.path)
        return data, powers(map(Fraction, columns["x"]), 10), [*map(Fraction, columns["y"])]
    data = datasets.load_longley()
    columns = read_columns(data.path)
    rows = zip(*(columns[feature] for feature in data.feature_names), strict=True)
    X = [[Fraction(1), *map(Fraction, row)] for row in rows]
    return data, X, [*map(Fraction, columns[data.target_name])]


@pytest.mark.parametrize("name", ["longley", "filip", *(f"wampler{k}" for k in range(1, 6))])
def test_certified_values_in_exact_arithmetic(name):
    data, X, y = exact_problem(name)
    theta, errors, deviation = exact_fit(X, y)
    certified = [data.intercept, *data.coef]
    np.testing.assert_allclose([float(t) for t in theta], certified, rtol=1e-14)
    np.testing.assert_allclose(errors, data.standard_errors, rtol=1e-14)
    assert deviation == pytest.approx(data.residual_deviation, rel=1e-14)
    # The floating-point X is the exact one, but for the rounding of x in the tenth power.
    np.testing.assert_allclose(data.X, [[float(v) for v in row[1:]] for row in X], rtol=2e-15)


@pytest.mark.parametrize("k", [1, 3, 4, 5])
def test_wampler_fits_are_ones_exactly(k):
    _, X, y = exact_problem(f"wampler{k}")
    assert exact_fit(X, y)[0] == [1] * 6


def test_wampler_numbers():
    assert datasets.wampler(1).y[[0, 1, 20]].tolist() == [1, 6, 3368421]
    assert datasets.wampler(2).y[[0, 1, 20]].tolist() == [1, 1.11111, 63]
    assert datasets.wampler(3).y[[0, 1, 20]].tolist() == [760, -2042, 3369180]
    assert datasets.wampler(4).y[[0, 1, 20]].tolist() == [75901, -204794, 3444321]
    with pytest.raises(ParameterError, match=r"k=6"):
        datasets.wampler(6)


def test_longley_is_the_peers():
    data, peer = datasets.load_longley(), peer_longley.load_pandas()
    np.testing.assert_array_equal(data.X, peer.exog)
    np.testing.assert_array_equal(data.y, peer.endog)
    assert data.feature_names == tuple(peer.exog.columns)


def test_tables_carry_the_names():
    data = datasets.load_abalone()
    np.testing.assert_array_equal(data.table.to_numpy(), data.X)
    assert "Shell_weight" in str(th.LinearRegression().fit(data.table, data.y).summary())


def test_abalone():
    data = datasets.load_abalone()
    assert data.X.shape == (4177, 7)
    assert data.X.flags.c_contiguous
    assert data.X[0].tolist() == [0.455, 0.365, 0.095, 0.514, 0.2245, 0.101, 0.15]
    assert (data.y.min(), data.y.max(), data.y[0]) == (1, 29, 15)
    assert data.y.mean() == pytest.approx(9.933684, abs=1e-6)
    sexes, counts = np.unique(data.categorical["Sex"], return_counts=True)
    assert dict(zip(sexes.tolist(), counts.tolist(), strict=True)) == {
        "F": 1307,
        "I": 1342,
        "M": 1528,
    }
    assert "CC BY 4.0" in data.description


@pytest.mark.parametrize("generate", GENERATORS)
def test_same_seed_same_rows(generate):
    one, again, other = (generate(50, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.X, again.X)
    np.testing.assert_array_equal(one.y, again.y)
    assert not np.array_equal(one.X, other.X)
    assert len(one.feature_names) == one.X.shape[1] == one.coef.size


@pytest.mark.parametrize(
    "generate", [g for g in GENERATORS if "noise" in inspect.signature(g).parameters]
)
def test_without_noise_theta_fits_exactly(generate):
    data = generate(60, noise=0.0, random_state=1)
    design = np.column_stack([np.ones(60), data.X])
    theta = np.linalg.lstsq(design, data.y, rcond=None)[0]
    np.testing.assert_allclose(theta, [data.intercept, *data.coef], atol=1e-10)


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e8])
def test_condition_is_met(condition):
    data = datasets.make_linear(80, 6, condition=condition, correlation=0.5, random_state=0)
    found = np.linalg.cond(data.X - data.X.mean(axis=0))
    assert found == pytest.approx(condition, rel=1e-6)


def test_correlation_and_noise_are_met():
    n = 100_000
    data = datasets.make_linear(n, 4, noise=2.0, correlation=0.7, random_state=0)
    found = np.corrcoef(data.X.T)
    np.testing.assert_allclose(found[~np.eye(4, dtype=bool)], 0.7, atol=5 / math.sqrt(n))
    residual = data.y - data.X @ data.coef - data.intercept
    assert residual.std() == pytest.approx(2.0, rel=5 / math.sqrt(2 * n))


def test_labels_follow_the_logistic_rule():
    n = 100_000
    data = datasets.make_classification_linear(n, 3, scale=2.0, random_state=0)
    assert set(data.y.tolist()) == {0, 1}
    assert np.linalg.norm(data.coef) == pytest.approx(2.0)
    probability = 1 / (1 + np.exp(-(data.X @ data.coef + data.intercept)))
    # The score of the true θ has mean zero: E[(y − p) x] = 0.
    score = data.X.T @ (data.y - probability) / n
    np.testing.assert_allclose(score, 0, atol=5 / math.sqrt(4 * n))


def test_margin_is_met():
    data = datasets.make_classification_linear(5_000, 4, margin=0.3, random_state=0)
    distance = (data.X @ data.coef + data.intercept) / np.linalg.norm(data.coef)
    signed = distance * (2 * data.y - 1)
    assert signed.min() >= 0.3 - 1e-12
    assert signed.min() < 0.31


def test_circle_of_the_lecture():
    """Centre (1, −3), radius 2: β̃ = (2, −6, −6)."""
    data = datasets.make_circle(40, arc=math.pi / 2, random_state=0)
    assert [*data.coef, data.intercept] == [2, -6, -6]
    np.testing.assert_allclose(np.hypot(*(data.X - [1, -3]).T), 2)


@pytest.mark.parametrize(
    ("generate", "wrong"),
    [
        (datasets.make_linear, {"n_rows": 0}),
        (datasets.make_linear, {"noise": -1}),
        (datasets.make_linear, {"correlation": 1.0}),
        (datasets.make_linear, {"condition": 0.5}),
        (datasets.make_linear, {"n_rows": 5, "n_features": 5, "condition": 10.0}),
        (datasets.make_classification_linear, {"scale": 0}),
        (datasets.make_classification_linear, {"margin": -0.1}),
        (datasets.make_circle, {"radius": 0}),
        (datasets.make_circle, {"arc": 7}),
        (datasets.make_polynomial, {"coefficients": (1.0,)}),
        (datasets.make_polynomial, {"interval": (1.0, 1.0)}),
    ],
)
def test_parameters_out_of_range(generate, wrong):
    name, value = next(iter(wrong.items()))
    with pytest.raises(ParameterError) as caught:
        generate(**wrong)
    assert f"{name}={value!r}" in str(caught.value)
