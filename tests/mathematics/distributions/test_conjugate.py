"""Bayesian updates with conjugate priors."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import quad

import thetahat as th
from thetahat import distributions as d
from thetahat.errors import DataError, ParameterError

COMMUTE = [25, 45, 30, 50]


def test_commute_time_of_the_course():
    """A = 4/25 + 1/100 = 0.17 and B = 150/25 + 30/100 = 6.3: the prior's deviation is 10."""
    after = d.posterior(d.Normal(30, 10), COMMUTE, noise=5)
    assert after.mean == pytest.approx(630 / 17, rel=1e-14)
    assert after.variance == pytest.approx(100 / 17, rel=1e-14)
    assert after.standard_deviation == pytest.approx(2.425356, abs=1e-6)
    assert 1 / after.variance == pytest.approx(0.17)
    assert after.mean / after.variance == pytest.approx(6.3)


def test_limits_of_the_normal_update():
    prior = d.Normal(30, 10)
    assert d.posterior(prior, [], noise=5) == prior
    x = d.Normal(40, 5).sample(100_000, random_state=0)
    after = d.posterior(prior, x, noise=5)
    assert after.mean == pytest.approx(x.mean(), abs=1e-4)
    assert after.standard_deviation == pytest.approx(5 / np.sqrt(x.size), rel=1e-4)
    flat = d.posterior(d.Normal(0, 1e9), COMMUTE, noise=5)
    assert (flat.mean, flat.sigma) == pytest.approx((37.5, 2.5))


def test_add_one_smoothing_of_the_course():
    prior = d.Beta(2, 2)
    assert d.Bernoulli.map_fit([], prior).distribution.p == 1 / 2
    assert d.Bernoulli.map_fit([1, 1, 1, 1, 0], prior).distribution.p == pytest.approx(5 / 7)
    assert d.Bernoulli.map_fit([1, 1, 1, 1, 0]) == d.Bernoulli.map_fit([1, 1, 1, 1, 0], prior)
    tosses = [1, 0, 0, 1, 1, 0, 1]
    for a, b in ((3, 1.5), (1, 1), (2, 7)):
        found = d.Bernoulli.map_fit(tosses, d.Beta(a, b)).distribution.p
        assert found == pytest.approx((4 + a - 1) / (7 + a + b - 2))
    assert (
        d.Bernoulli.map_fit(tosses, d.Beta(1, 1)).distribution
        == d.Bernoulli.fit(tosses).distribution
    )


def test_add_one_smoothing_of_categories():
    found = d.Categorical.map_fit([0, 2, 2, 2], n_categories=4).distribution
    np.testing.assert_allclose(found.probabilities, np.array([2, 1, 4, 1]) / 8)
    prior = d.Dirichlet([2, 3, 4])
    assert d.Categorical.map_fit([], prior).distribution.probabilities == pytest.approx(prior.mode)
    assert d.Categorical.map_fit([], 2.0, n_categories=2).distribution == d.Categorical([0.5, 0.5])


def by_integration(prior, log_likelihood, inside):
    """The posterior mean and P(θ ≤ inside) by numerical integration."""
    ends = prior.quantile([1e-12, 0.5, 1 - 1e-12])
    weight = lambda t: float(prior.density(t)) * np.exp(log_likelihood(t))  # noqa: E731
    total, first = (
        sum(quad(f, a, b, limit=200)[0] for a, b in pairwise(ends))
        for f in (weight, lambda t: t * weight(t))
    )
    below = quad(weight, ends[0], inside, limit=200)[0]
    return first / total, below / total


@pytest.mark.parametrize(
    ("prior", "likelihood", "data", "options"),
    [
        (d.Beta(2.5, 1.2), d.Bernoulli, [1, 0, 0, 1, 0], {}),
        (d.Normal(1, 2), lambda t: d.Normal(t, 3), [2.0, 5.0, -1.0], {"noise": 3}),
        (d.Gamma(2, 0.7), d.Poisson, [3, 0, 2, 4], {}),
    ],
    ids=["Beta", "Normal", "Gamma"],
)
def test_posteriors_are_those_of_integration(prior, likelihood, data, options):
    after = d.posterior(prior, data, **options)
    assert type(after) is type(prior)
    middle = float(after.quantile(0.3))
    mean, below = by_integration(prior, lambda t: likelihood(t).log_likelihood(data), middle)
    assert after.mean == pytest.approx(mean, rel=1e-6)
    assert below == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize(
    ("prior", "data", "options"),
    [
        (d.Beta(2.5, 1.2), [1, 0, 0, 1, 0], {}),
        (d.Normal(1, 2), [2.0, 5.0, -1.0, 0.5, 2.5], {"noise": 3}),
        (d.Gamma(2, 0.7), [3, 0, 2, 4, 1], {}),
        (d.Dirichlet([1, 2, 3]), [2, 0, 0, 1, 0], {}),
    ],
    ids=["Beta", "Normal", "Gamma", "Dirichlet"],
)
def test_relations_of_updates(prior, data, options, tmp_path):
    """In two steps, with weights, in another order and from a file: the same posterior."""
    whole = numbers(d.posterior(prior, data, **options))
    steps = d.posterior(d.posterior(prior, data[:2], **options), data[2:], **options)
    weighted = d.posterior(prior, data, sample_weight=[1, 2, 0, 1, 1], **options)
    repeated = d.posterior(prior, np.repeat(data, [1, 2, 0, 1, 1]), **options)
    pd.DataFrame({"x": data}).to_csv(tmp_path / "x.csv", index=False)
    read = d.posterior(prior, th.scan(tmp_path / "x.csv"), **options)
    np.testing.assert_allclose(numbers(steps), whole, rtol=1e-12)
    np.testing.assert_allclose(
        numbers(d.posterior(prior, data[::-1], **options)), whole, rtol=1e-12
    )
    np.testing.assert_allclose(numbers(weighted), numbers(repeated), rtol=1e-12)
    np.testing.assert_allclose(numbers(read), whole, rtol=1e-12)


def numbers(law):
    return np.concatenate([np.ravel(value) for value in law.get_params().values()])


@pytest.mark.parametrize(
    ("law", "likelihood", "options"),
    [
        (d.Beta(6, 3), d.Bernoulli, {}),
        (d.Gamma(5, 2), d.Poisson, {}),
        (d.Normal(3, 2), lambda t: d.Normal(t, 1.5), {"noise": 1.5}),
    ],
    ids=["Beta", "Gamma", "Normal"],
)
def test_predictive_is_the_average_over_the_parameter(law, likelihood, options):
    next_value = d.predictive(law, **options)
    for x in (0.0, 1.0):
        averaged = law.expectation(
            lambda t, x=x: np.array([float(likelihood(each).density(x)) for each in t])
        )
        assert float(next_value.density(x)) == pytest.approx(averaged, rel=1e-6)
    assert d.predictive(d.Dirichlet([1, 2, 1])) == d.Categorical([0.25, 0.5, 0.25])


def test_credible_intervals_hold_their_probability():
    after = d.posterior(d.Beta(2, 2), [1, 1, 1, 1, 0])
    low, high = after.interval(0.9)
    assert after.cdf(high) - after.cdf(low) == pytest.approx(0.9)
    assert (low, high) == pytest.approx(stats.beta(6, 3).interval(0.9))


def test_most_probable_rate_and_mean():
    fit = d.Poisson.map_fit([3, 5], d.Gamma(2, 1))
    assert fit.posterior == d.Gamma(10, 3)
    assert fit.distribution == d.Poisson(3.0)
    fit = d.Normal.map_fit(COMMUTE, d.Normal(30, 10), noise=5)
    assert fit.distribution.mean == pytest.approx(630 / 17)
    assert fit.distribution.sigma == 5


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: d.posterior(d.Beta(), [0, 2]), DataError, r"must be 0 or 1"),
        (lambda: d.posterior(d.Gamma(), [0.5]), DataError, r"whole numbers ≥ 0"),
        (lambda: d.posterior(d.Dirichlet([1, 1]), [2, 2]), DataError, r"must be 0 or 1"),
        (lambda: d.posterior(d.Normal(), [1.0]), ParameterError, r"noise is needed"),
        (lambda: d.posterior(d.Normal(), [1.0], noise=0), ParameterError, r"sigma must be"),
        (lambda: d.posterior(d.Beta(), [1], noise=1), ParameterError, r"noise=1 is only for"),
        (lambda: d.posterior(d.Uniform(), [1]), ParameterError, r"is not a conjugate prior"),
        (lambda: d.predictive("beta"), ParameterError, r"is not a conjugate prior"),
        (lambda: d.Bernoulli.map_fit([], d.Beta(1, 1)), ParameterError, r"has no single mode"),
        (lambda: d.Categorical.map_fit([], d.Dirichlet([1, 1])), ParameterError, r"single mode"),
        (lambda: d.Categorical.map_fit([]), ParameterError, r"n_categories is needed"),
        (lambda: d.Bernoulli.map_fit([1], d.Normal()), ParameterError, r"is not a Beta"),
        (lambda: d.Poisson.map_fit([1], d.Beta()), ParameterError, r"is not a Gamma"),
        (lambda: d.Normal.map_fit([1], d.Beta(), 1), ParameterError, r"is not a Normal"),
        (lambda: d.Categorical.map_fit([1], d.Beta()), ParameterError, r"is not a Dirichlet"),
    ],
)
def test_bad_priors_and_data_are_refused(act, error, message):
    with pytest.raises(error, match=message):
        act()
