"""Expectations by numerical integration: poles, heavy tails, and integrals that do not exist."""

import numpy as np
import pytest
from scipy.special import digamma

from thetahat import distributions as d
from thetahat.errors import ParameterError

EXTREME = [
    d.Gamma(0.01, 1),
    d.Gamma(0.001, 3),
    d.StudentT(0.2),
    d.StudentT(0.05, 3, 2),
    d.F(0.5, 0.5),
    d.F(0.02, 0.02),
    d.F(3, 2.2),
    d.Beta(0.01, 0.01),
    d.Beta(0.3, 80),
    d.Exponential(1e-200),
    d.Exponential(1e200),
    d.Gamma(1e6, 1),
    d.Normal(1e8, 1e-2),
    d.TruncatedNormal(0, 1, 50, np.inf),
    d.TruncatedNormal(2, 1, -np.inf, 0),
    d.Uniform(1e9, 1e9 + 1),
]


@pytest.mark.parametrize("law", EXTREME, ids=str)
def test_mass_mean_and_entropy_of_extreme_parameters(law):
    assert law.expectation(np.ones_like) == pytest.approx(1, abs=1e-9)
    if np.isfinite(law.mean):
        assert law.expectation(lambda x: x) == pytest.approx(law.mean, rel=1e-8)
    by_integral = law.expectation(lambda x: -law.log_density(x))
    assert by_integral == pytest.approx(law.entropy, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("shape", [0.01, 0.2, 3.0])
def test_logarithm_of_a_gamma_variable(shape):
    found = d.Gamma(shape, 1).expectation(np.log)
    assert found == pytest.approx(float(digamma(shape)), rel=1e-10)


def test_moments_that_barely_exist():
    assert d.StudentT(2.1).expectation(np.square) == pytest.approx(21, rel=1e-9)
    assert d.F(1, 1).entropy == pytest.approx(np.log(4 * np.pi), rel=1e-12)
    assert d.Gamma(1.5, 1).expectation(lambda x: 1 / x) == pytest.approx(2, rel=1e-9)


def test_functions_with_jumps_and_poles():
    law = d.Normal(0, 2)
    assert law.expectation(lambda x: x > 1) == pytest.approx(1 - float(law.cdf(1)), rel=1e-9)
    expected = -0.5 * (np.euler_gamma + np.log(2))
    assert d.Normal().expectation(lambda x: np.log(np.abs(x))) == pytest.approx(expected, rel=1e-9)


def test_infinite_expectations_are_infinity():
    assert d.StudentT(1).expectation(np.abs) == np.inf
    assert d.StudentT(2).expectation(lambda x: -(x**2)) == -np.inf
    assert d.Gamma(1, 1).expectation(lambda x: 1 / x) == np.inf
    assert d.F(2, 2).expectation(lambda x: x) == np.inf


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: d.StudentT(1).expectation(lambda x: x), r"does not exist.*opposite signs"),
        (lambda: d.Gamma(2, 1).expectation(np.exp), r"does not converge"),
        (lambda: d.Normal().expectation(np.log), r"the function is NaN at x = -"),
        (lambda: d.Poisson(1).expectation(3), r"must be callable, but 3 is given"),
        (lambda: d.Normal().expectation(lambda x: np.sin(1e9 * x)), r"does not converge"),
    ],
)
def test_expectations_without_an_accurate_value_are_refused(act, message):
    with pytest.raises(ParameterError, match=message):
        act()
