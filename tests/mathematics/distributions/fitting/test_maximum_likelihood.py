"""Maximum likelihood of any density, and estimates as random variables."""

import pickle

import numpy as np
import pandas as pd
import pytest

import thetahat as th
from thetahat import distributions as d
from thetahat.errors import DataError, ParameterError


def normal(x, theta):
    z = (x - theta[0]) / theta[1]
    return -0.5 * z**2 - np.log(theta[1]) - 0.5 * np.log(2 * np.pi)


def logistic_curve(x, y, theta):
    z = theta[0] + theta[1] * x
    return y * z - np.log1p(np.exp(z))


def exponential(x, theta):
    return np.log(theta[0]) - theta[0] * x


def logistic(x, theta):
    z = (x - theta[0]) / theta[1]
    return -z - 2 * np.log1p(np.exp(-z)) - np.log(theta[1])


def values(n=200):
    return d.Normal(3, 2).sample(n, random_state=0)


def test_a_known_family_is_found_numerically():
    x = values()
    found = d.maximum_likelihood(
        normal, x, [0.0, 1.0], positive=[False, True], names=["mean", "sigma"]
    )
    closed = d.Normal.fit(x)
    assert found.solution.outcome.success
    np.testing.assert_allclose(found.estimates, closed.estimates, rtol=1e-7)
    assert found.log_likelihood == pytest.approx(closed.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(found.standard_errors, closed.standard_errors, rtol=0.01)
    np.testing.assert_allclose(found.intervals(), closed.intervals(), rtol=0.01)
    assert "normal, log-likelihood" in str(found)


def test_likelihood_of_labels_given_rows_is_logistic_regression():
    random = np.random.default_rng(1)
    x = random.normal(size=300)
    y = (random.random(300) < 1 / (1 + np.exp(-(0.5 + 2 * x)))).astype(float)
    found = d.maximum_likelihood(logistic_curve, x, [0.0, 0.0], y=y)
    model = th.LogisticRegression(C=np.inf, tol=1e-10).fit(x[:, None], y)
    np.testing.assert_allclose(found.estimates, [model.intercept_[0], model.coef_[0, 0]], rtol=1e-5)


def test_weights_are_repetitions_and_files_are_arrays(tmp_path):
    x = d.Exponential(2).sample(80, random_state=2)
    weight = np.random.default_rng(3).integers(0, 3, 80)
    one = d.maximum_likelihood(exponential, x, [1.0], positive=True, sample_weight=weight)
    two = d.maximum_likelihood(exponential, np.repeat(x, weight), [1.0], positive=True)
    np.testing.assert_allclose(one.estimates, two.estimates, rtol=1e-8)
    np.testing.assert_allclose(one.standard_errors, two.standard_errors, rtol=1e-8)
    pd.DataFrame({"x": x}).to_csv(tmp_path / "x.csv", index=False, float_format="%.17g")
    read = d.maximum_likelihood(exponential, th.scan(tmp_path / "x.csv"), [1.0], positive=True)
    kept = d.maximum_likelihood(exponential, x, [1.0], positive=True)
    np.testing.assert_array_equal(read.estimates, kept.estimates)
    assert kept.estimates[0] == pytest.approx(1 / x.mean())
    assert pickle.loads(pickle.dumps(kept)).intervals().shape == (1, 2)


def test_rows_of_several_columns():
    X = np.random.default_rng(4).normal([1.0, -2.0], 1.0, (100, 2))

    def two_means(rows, theta):
        return -0.5 * ((rows - theta) ** 2).sum(axis=1)

    np.testing.assert_allclose(
        d.maximum_likelihood(two_means, X, [0.0, 0.0]).estimates, X.mean(axis=0), atol=1e-8
    )


def test_an_estimate_is_a_random_variable():
    law = d.Normal(5, 2)
    small, large = (
        d.simulate_estimates(law, n, repetitions=400, random_state=7) for n in (25, 100)
    )
    np.testing.assert_array_equal(
        small.estimates, d.simulate_estimates(law, 25, repetitions=400, random_state=7).estimates
    )
    assert small.names == ("mean", "sigma")
    np.testing.assert_allclose(small.standard_deviation[0], 2 / 5, rtol=0.1)
    np.testing.assert_allclose(large.standard_deviation[0], 2 / 10, rtol=0.1)
    assert abs(small.mean[0] - 5) < 0.06
    expected_variance = 4 * 24 / 25  # the mean of σ̂², below σ² = 4
    assert np.mean(small.estimates[:, 1] ** 2) == pytest.approx(expected_variance, rel=0.05)
    assert "sigma" in str(small)


def test_the_largest_value_underestimates_the_end():
    """E max = θ·n/(n + 1): the estimate is biased, and the bias falls with n."""
    found = d.simulate_estimates(
        d.Uniform(0, 6), 5, fit=lambda x: d.Uniform.fit(x, low=0), repetitions=1500, random_state=8
    )
    assert found.mean[0] == pytest.approx(5, rel=0.02)
    assert found.estimates.max() <= 6


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: d.maximum_likelihood(normal, [], [0.0, 1.0]), DataError, r"data is empty"),
        (lambda: d.maximum_likelihood(normal, [1.0, np.nan], [0.0, 1.0]), DataError, r"NaN"),
        (lambda: d.maximum_likelihood(normal, values(), 1.0), ParameterError, r"start has shape"),
        (lambda: d.maximum_likelihood(normal, values(), [0.0, -1.0], positive=[False, True]),
         ParameterError, r"start\[1\] = -1, but this parameter must be positive"),
        (lambda: d.maximum_likelihood(normal, values(), [0.0, 1.0], names=["a"]),
         ParameterError, r"1 names were given for 2 parameters"),
        (lambda: d.maximum_likelihood(lambda x, t: t[0], values(), [0.0]),
         ParameterError, r"must return one number for each row"),
        (lambda: d.maximum_likelihood(lambda x, t: np.log(x - t[0]), np.ones(3), [1.0]),
         ParameterError, r"is -inf at row 0 .* Start where all values are possible"),
        (lambda: d.maximum_likelihood(exponential, -np.ones(5), [1.0], positive=True),
         DataError, r"has no maximum at finite, positive parameters"),
        (lambda: d.maximum_likelihood(logistic, values(), [-500.0, 1.0], positive=[False, True]),
         DataError, r"did not reach a maximum .* start nearer to the maximum"),
        (lambda: d.simulate_estimates(d.Normal(), 0), ParameterError, r"n=0 must be a whole"),
        (lambda: d.simulate_estimates(d.Normal(), 9, repetitions=1), ParameterError, r"≥ 2"),
        (lambda: d.simulate_estimates(d.NegativeBinomial(), 9), ParameterError, r"has no fit"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(act, error, message):
    with np.errstate(divide="ignore"), pytest.raises(error, match=message):
        act()
