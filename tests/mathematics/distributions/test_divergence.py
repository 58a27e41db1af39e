"""Kullback-Leibler divergence, cross-entropy and Jensen's inequality."""

import numpy as np
import pytest

from thetahat import distributions as d
from thetahat.errors import ParameterError

PAIRS = [
    (d.Bernoulli(0.5), d.Bernoulli(0.9)),
    (d.BernoulliLogit(0.4), d.BernoulliLogit(-2.0)),
    (d.Categorical([0.2, 0.5, 0.3]), d.Categorical([0.4, 0.4, 0.2])),
    (d.Poisson(2.5), d.Poisson(4.0)),
    (d.Normal(0, 1), d.Normal(1, 3)),
    (d.Uniform(1, 2), d.Uniform(0, 4)),
    (d.Beta(2, 5), d.Beta(1.5, 2)),
    (d.Gamma(2, 1), d.Gamma(3.5, 0.5)),
    (d.Exponential(2), d.Exponential(0.7)),
    (d.ChiSquared(3), d.ChiSquared(6)),
]


def test_worked_numbers():
    coin, biased = d.Bernoulli(0.5), d.Bernoulli(0.9)
    assert d.kl(coin, biased) == pytest.approx(0.510826, abs=1e-6)
    assert d.kl(biased, coin) == pytest.approx(0.368064, abs=1e-6)
    assert d.kl(d.Normal(0, 1), d.Normal(1, 1)) == pytest.approx(0.5)
    assert d.Normal(0, 1).entropy == pytest.approx(1.418939, abs=1e-6)
    assert d.kl([0.5, 0.5], [0.1, 0.9]) == pytest.approx(0.510826, abs=1e-6)


@pytest.mark.parametrize(("q", "p"), PAIRS, ids=lambda each: str(each))
def test_formulas_are_the_expectation(q, p):
    expected = q.expectation(lambda x: q.log_density(x) - p.log_density(x))
    assert d.kl(q, p) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(("q", "p"), PAIRS, ids=lambda each: str(each))
def test_it_is_zero_for_equal_ones_positive_otherwise_and_not_symmetric(q, p):
    assert d.kl(q, q) == pytest.approx(0, abs=1e-12)
    assert d.kl(q, p) > 0.01
    assert abs(d.kl(q, p) - d.kl(p, q)) > 1e-3
    assert d.cross_entropy(q, p) == pytest.approx(q.entropy + d.kl(q, p))
    assert d.cross_entropy(q, q) == pytest.approx(q.entropy)


def test_dirichlet_of_two_shares_is_beta():
    one, two = d.Dirichlet([2, 5]), d.Dirichlet([1.5, 2])
    assert d.kl(one, two) == pytest.approx(d.kl(d.Beta(2, 5), d.Beta(1.5, 2)))
    assert one.entropy == pytest.approx(d.Beta(2, 5).entropy)


def test_different_families_are_compared_numerically():
    assert d.kl(d.Exponential(2), d.Gamma(1, 3)) == pytest.approx(
        d.kl(d.Gamma(1, 2), d.Gamma(1, 3)), rel=1e-8
    )
    assert d.kl(d.StudentT(np.inf), d.Normal(1, 1)) == pytest.approx(0.5, rel=1e-8)
    assert d.kl(d.Bernoulli(0.3), d.Categorical([0.6, 0.4])) == pytest.approx(
        d.kl(d.Bernoulli(0.3), d.Bernoulli(0.4)), rel=1e-12
    )


def test_special_cases_of_a_family_use_its_formula():
    tiny, unit = d.Gamma(0.01, 1), d.Uniform(0, 1)
    assert d.kl(tiny, d.Exponential(1)) == pytest.approx(94.95579672524797, rel=1e-12)
    assert d.kl(d.ChiSquared(3), tiny) == d.kl(d.Gamma(1.5, 0.5), tiny)
    assert d.kl(d.Beta(0.01, 0.01), unit) == pytest.approx(-d.Beta(0.01, 0.01).entropy, rel=1e-12)
    assert d.kl(unit, d.Beta(2, 5)) == d.kl(d.Beta(1, 1), d.Beta(2, 5))
    assert d.cross_entropy(d.Gamma(0.1, 1), d.Exponential(1)) == pytest.approx(0.1, rel=1e-12)


def test_divergences_of_heavy_tails():
    q, p = d.StudentT(0.5), d.StudentT(1)
    t = np.linspace(-700, 700, 400_001)  # x = sinh t: the trapezoid rule is exact to rounding
    x = np.sinh(t)
    weight = q.density(x) * np.cosh(t)
    with np.errstate(invalid="ignore"):
        gap = np.where(weight > 0, q.log_density(x) - p.log_density(x), 0.0)
    assert d.kl(q, p) == pytest.approx(float((weight * gap).sum() * (t[1] - t[0])), rel=1e-8)
    assert d.kl(d.StudentT(1), d.Normal()) == np.inf
    assert d.jensen_gap(lambda x: x, d.F(3, 2.2)) == pytest.approx(0, abs=1e-9)


def test_impossible_values_make_it_infinite():
    assert d.kl(d.Bernoulli(0.5), d.Bernoulli(1.0)) == np.inf
    assert d.kl(d.Bernoulli(1.0), d.Bernoulli(0.5)) == pytest.approx(np.log(2))
    assert d.kl(d.Uniform(0, 2), d.Uniform(0, 1)) == np.inf
    assert d.kl(d.Normal(), d.Exponential()) == np.inf
    assert d.kl([0.5, 0.5], [1.0, 0.0]) == np.inf
    assert d.kl(d.Poisson(1), d.Bernoulli(0.5)) == np.inf


def test_mean_log_likelihood_is_minus_the_divergence_from_the_sample():
    """(1/n) Σ log p(xᵢ) = −KL(empirical‖p) − H(empirical): the constant does not depend on p."""
    x = d.Poisson(2.0).sample(400, random_state=0)
    empirical = d.Categorical.fit(x).distribution
    rates = np.linspace(1, 3.5, 26)
    means = np.array([d.Poisson(rate).log_likelihood(x) / x.size for rate in rates])
    divergences = np.array([d.kl(empirical, d.Poisson(rate)) for rate in rates])
    np.testing.assert_allclose(means, -divergences - empirical.entropy, rtol=1e-10)
    np.testing.assert_allclose(
        -means, [d.cross_entropy(empirical, d.Poisson(rate)) for rate in rates], rtol=1e-10
    )


def test_maximum_likelihood_is_the_smallest_divergence():
    x = d.Poisson(2.0).sample(400, random_state=1)
    empirical = d.Categorical.fit(x).distribution
    best = d.Poisson.fit(x).distribution.rate
    at = d.kl(empirical, d.Poisson(best))
    for step in (0.9, 0.99, 1.01, 1.1):
        assert d.kl(empirical, d.Poisson(best * step)) > at


def test_jensens_inequality():
    for law in (d.Normal(1, 2), d.Gamma(2, 1), d.Bernoulli(0.3), d.Categorical([0.2, 0.3, 0.5])):
        for convex in (np.square, np.exp, np.abs, lambda x: np.maximum(x, 1)):
            if law == d.Gamma(2, 1) and convex is np.exp:
                continue  # its expectation is infinite
            assert d.jensen_gap(convex, law) >= -1e-10
            assert d.jensen_gap(lambda x, convex=convex: -convex(x), law) <= 1e-10
        assert d.jensen_gap(np.square, law) == pytest.approx(law.variance, rel=1e-7)
        assert d.jensen_gap(lambda x: 3 * x - 1, law) == pytest.approx(0, abs=1e-9)
    assert d.jensen_gap(np.square, [0.5, 0.5]) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: d.kl(d.Normal(), d.Poisson()), r"q is continuous and p is discrete"),
        (lambda: d.kl([0.5, 0.5], [0.2, 0.3, 0.5]), r"2 and 3 categories"),
        (lambda: d.kl([0.5, 0.4], [0.5, 0.5]), r"sum to 0\.9"),
        (lambda: d.kl([0.5, 0.5], [1.5, -0.5]), r"must be ≥ 0"),
        (lambda: d.kl(d.Normal, d.Normal()), r"is a class"),
        (lambda: d.kl(d.Dirichlet([1, 1]), d.Normal()), r"no divergence between"),
        (lambda: d.kl(d.Dirichlet([1, 1]), d.Dirichlet([1, 1, 1])), r"2 and 3 shares"),
        (lambda: d.jensen_gap(np.square, d.StudentT(1)), r"has no finite mean"),
    ],
)
def test_bad_arguments_are_refused(act, message):
    with pytest.raises(ParameterError, match=message):
        act()


def test_improbable_values_are_not_impossible():
    """P(0) = exp(−10⁶) is 0 in float64, but its logarithm is −10⁶."""
    coin, count = d.Bernoulli(0.25), d.Poisson(1e6)
    expected = -coin.entropy + 1e6 - 0.25 * np.log(1e6)
    assert d.kl(coin, count) == pytest.approx(expected, rel=1e-12)
    assert d.kl(coin, d.Bernoulli(0.0)) == np.inf
