"""Posteriors on grids: conjugate posteriors, sequential updates, uneven grids, and refusals."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import xlog1py, xlogy
from thetahat.distributions import Beta

from thetahat.theory import GridPosterior


def coin(heads, tails):
    def log_likelihood(theta):
        return xlogy(heads, theta) + xlog1py(tails, -theta)

    return log_likelihood


def commute():
    """Prior N(30, 10²), four observations with standard deviation 5."""
    grid = np.linspace(-20, 100, 4001)
    data = [25.0, 45.0, 30.0, 50.0]

    def log_likelihood(mu):
        return stats.norm.logpdf(np.array(data)[:, None], mu, 5.0).sum(axis=0)

    return GridPosterior(grid, stats.norm(30, 10)), log_likelihood


def test_a_coin_has_the_beta_posterior_and_its_evidence():
    found = GridPosterior(np.linspace(0, 1, 4001)).update(coin(4, 1))
    law = stats.beta(5, 2)
    assert found.mean() == pytest.approx(law.mean(), abs=1e-6)
    assert found.variance() == pytest.approx(law.var(), abs=1e-6)
    assert found.mode() == pytest.approx(4 / 5)
    assert found.evidence == pytest.approx(1 / 30, rel=1e-5)
    np.testing.assert_allclose(found.density, law.pdf(found.axes["theta"]), atol=1e-5)
    q = [0.0, 0.025, 0.3, 0.5, 0.975, 1.0]
    np.testing.assert_allclose(found.quantile(q), law.ppf(q), atol=1e-6)


def test_normal_prior_and_normal_data():
    prior, log_likelihood = commute()
    found = prior.update(log_likelihood)
    assert found.mean() == pytest.approx(37.058824, abs=1e-6)
    assert found.variance() == pytest.approx(5.882353, abs=1e-6)
    low, high = found.interval(0.9)
    np.testing.assert_allclose(
        [low, high], stats.norm(37.058824, 2.425356).interval(0.9), atol=1e-4
    )
    shortest = found.interval(0.9, kind="shortest")
    np.testing.assert_allclose(shortest, [low, high], atol=5e-3)


def test_one_batch_after_another_is_all_at_once():
    prior = GridPosterior(np.linspace(0, 1, 501), stats.beta(2, 3))
    at_once = prior.update(coin(7, 5))
    by_batch = prior.update(coin(3, 1)).update(coin(4, 0)).update(coin(0, 4))
    np.testing.assert_allclose(by_batch.density, at_once.density, rtol=1e-10)
    assert by_batch.log_evidence == pytest.approx(at_once.log_evidence, rel=1e-10)
    assert prior.log_evidence == 0.0


def test_a_million_flips_do_not_underflow():
    found = GridPosterior(np.linspace(0, 1, 100_001)).update(coin(600_000, 400_000))
    law = stats.beta(600_001, 400_001)
    assert found.log_evidence == pytest.approx(
        math.lgamma(600_001) + math.lgamma(400_001) - math.lgamma(1_000_002), rel=1e-8
    )
    assert found.evidence == 0.0
    np.testing.assert_allclose(found.interval(), law.interval(0.95), atol=1e-7)


def test_uneven_grids_give_the_same_posterior():
    uneven = np.sort(np.concatenate([np.linspace(0, 1, 31), np.linspace(0.5, 0.95, 3000)]))
    found = GridPosterior(np.unique(uneven)).update(coin(60, 20))
    law = stats.beta(61, 21)
    assert found.mean() == pytest.approx(law.mean(), abs=1e-6)
    assert found.quantile(0.5) == pytest.approx(law.median(), abs=1e-6)
    assert found.probabilities.sum() == pytest.approx(1.0)


def test_the_shortest_interval_is_shorter_and_has_its_probability():
    found = GridPosterior(np.linspace(0, 40, 8001), stats.gamma(1.5))
    low, high = found.interval(0.8, kind="shortest")
    tails = found.interval(0.8)
    assert high - low < tails[1] - tails[0] - 0.05
    law = stats.gamma(1.5)
    assert law.cdf(high) - law.cdf(low) == pytest.approx(0.8, abs=1e-3)
    assert law.pdf(high) == pytest.approx(law.pdf(low), abs=1e-2)


def test_a_few_values():
    """Two hypotheses about the sun, and a detector that errs with probability α = 1e-4."""
    says_yes = np.log([1e-4, 1 - 1e-4])
    for beta, expected in ((1e-8, 9.998e-5), (1e-4, 0.5), (0.5, 0.9999)):
        found = GridPosterior([0, 1], [1 - beta, beta], discrete=True).update(says_yes)
        assert found.probabilities[1] == pytest.approx(expected, rel=1e-4)
    names = GridPosterior(["fair", "bent"], discrete=True).update(np.log([0.5, 0.9]))
    assert names.mode() == "bent"
    assert names.evidence == pytest.approx(0.7)
    with pytest.raises(ValueError, match="are labels and have no mean"):
        names.mean()


def test_quantiles_of_a_few_values():
    found = GridPosterior([3, 1, 2], [0.2, 0.5, 0.3], discrete=True)
    np.testing.assert_array_equal(found.quantile([0, 0.5, 0.6, 0.8, 0.9, 1]), [1, 1, 2, 2, 3, 3])
    assert found.mean() == pytest.approx(1.7)


def test_two_parameters():
    """Mean and standard deviation of normal data; the marginal mean follows Student's law."""
    data = np.array([4.1, 5.3, 6.0, 4.7, 5.9, 5.2])
    mu, sigma = np.linspace(0, 10, 801), np.geomspace(0.05, 20, 700)

    def log_likelihood(mu, sigma):
        return sum(stats.norm.logpdf(x, mu, sigma) for x in data)

    found = GridPosterior({"mu": mu, "sigma": sigma}, lambda mu, sigma: 1 / sigma + 0 * mu)
    found = found.update(log_likelihood)
    student = stats.t(5, data.mean(), data.std(ddof=1) / math.sqrt(6))
    marginal = found.marginal("mu")
    np.testing.assert_allclose(marginal.interval(), student.interval(0.95), atol=2e-3)
    assert found.mean()["mu"] == pytest.approx(data.mean(), abs=1e-3)
    assert set(found.mode()) == {"mu", "sigma"}
    assert found.expect(lambda mu, sigma: mu * 0 + 2) == pytest.approx(2.0)
    assert marginal.log_evidence == found.log_evidence
    with pytest.raises(ValueError, match=r"Use marginal\(name\) first"):
        found.quantile(0.5)


def test_a_discrete_and_a_continuous_parameter():
    grid = {"model": ["fair", "bent"], "theta": np.linspace(0, 1, 2001)}

    def prior(model, theta):
        fair = np.exp(-0.5 * ((theta - 0.5) / 0.01) ** 2) / (0.01 * math.sqrt(2 * math.pi))
        return 0.5 * np.where(model == "fair", fair, 1.0)

    found = GridPosterior(grid, prior, discrete=["model"])
    assert found.marginal("model").probabilities == pytest.approx([0.5, 0.5], abs=1e-6)
    found = found.update(lambda model, theta: coin(9, 1)(theta))
    assert found.marginal("model").mode() == "bent"
    evidence = 1 / 110, 0.5**10
    odds = found.marginal("model").probabilities
    assert odds[1] / odds[0] == pytest.approx(evidence[0] / evidence[1], rel=0.02)


@pytest.mark.parametrize("points", [5, 400])
def test_draws_follow_the_density(points):
    grid = np.sort(np.random.default_rng(points).random(points)) * 4
    found = GridPosterior(grid, lambda theta: 0.2 + theta)
    drawn = found.sample(20_000, random_state=0)
    assert (found.sample(5, random_state=1) == found.sample(5, random_state=1)).all()
    for q in (0.1, 0.5, 0.9):
        assert (drawn <= found.quantile(q)).mean() == pytest.approx(q, abs=0.012)


def test_draws_of_several_parameters_keep_their_dependence():
    grid = np.linspace(-4, 4, 81)
    found = GridPosterior({"a": grid, "b": grid}, lambda a, b: np.exp(-(a**2 - a * b + b**2)))
    drawn = found.sample(20_000, random_state=0)
    assert np.corrcoef(drawn["a"], drawn["b"])[0, 1] == pytest.approx(0.5, abs=0.02)
    assert drawn["a"].std() == pytest.approx(math.sqrt(2 / 3), abs=0.02)


def test_predictive_of_a_coin_is_laplaces_rule():
    found = GridPosterior(np.linspace(0, 1, 4001)).update(coin(4, 1))
    predicted = found.predictive(lambda x, theta: theta if x else 1 - theta, [1, 0])
    np.testing.assert_allclose(predicted, [5 / 7, 2 / 7], atol=1e-6)
    log_next = found.update(coin(1, 0)).log_evidence - found.log_evidence
    assert predicted[0] == pytest.approx(math.exp(log_next), rel=1e-10)


def test_a_posterior_that_excludes_parts_of_the_grid():
    found = GridPosterior(np.linspace(0, 10, 2001), lambda theta: (theta > 5.0) * 1.0)
    assert found.quantile(0.0) == pytest.approx(5.0, abs=0.01)
    assert found.quantile(0.5) == pytest.approx(7.5, abs=0.01)
    assert found.expect(lambda theta: np.where(theta > 5.0, theta, np.inf)) == pytest.approx(
        7.5, abs=0.01
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GridPosterior([]), "needs at least two points"),
        (lambda: GridPosterior({}), "grid is empty"),
        (lambda: GridPosterior([], discrete=True), "give at least one value"),
        (lambda: GridPosterior([1.0, 1.0, 2.0]), "1 is followed by 1"),
        (lambda: GridPosterior([0.0, np.nan]), "must be finite"),
        (lambda: GridPosterior([1, 1], discrete=True), "are not distinct"),
        (lambda: GridPosterior([0, 1], discrete=["mu"]), "discrete names 'mu'"),
        (lambda: GridPosterior([0, 1], [0.5, 0.6], discrete=True), "sum to 1.1"),
        (lambda: GridPosterior([0, 1], [-1.0, 2.0], discrete=True), r"prior\[0\] = -1"),
        (lambda: GridPosterior([0, 1, 2], [1.0, -1.0, 1.0]), "must be ≥ 0"),
        (lambda: GridPosterior([0, 1, 2], [0.0, 0.0, 0.0]), "positive somewhere"),
        (lambda: GridPosterior([0, 1, 2], [0.0, np.nan, 1.0]), "a number or infinity"),
        (lambda: GridPosterior([0, 1, 2], [1.0, 1.0]), r"prior has shape \(2,\)"),
        (lambda: GridPosterior([0.0, 0.5, 1.0], Beta(0.5, 0.5)), "has an infinite density at"),
        (lambda: GridPosterior([0, 1]).update([-np.inf, -np.inf]), "posterior is not defined"),
        (lambda: GridPosterior([0, 1]).update([np.inf, 0.0]), "contains inf"),
        (lambda: GridPosterior([0, 1]).update([np.nan, 0.0]), "a number or infinity"),
        (lambda: GridPosterior([0, 1]).quantile(1.2), "between 0 and 1"),
        (lambda: GridPosterior([0, 1]).interval(1.0), "strictly between 0 and 1"),
        (lambda: GridPosterior([0, 1]).interval(kind="hdi"), "equal-tailed"),
        (lambda: GridPosterior([0, 1]).marginal("mu"), "'mu' is not one of them"),
        (lambda: GridPosterior([0, 1]).sample(0), "a whole number ≥ 1"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_grids_too_large_for_memory_are_refused_before_they_are_made():
    axis = np.linspace(0, 1, 10_001)
    with pytest.raises(MemoryError, match="Use fewer points per parameter"):
        GridPosterior({"a": axis, "b": axis, "c": axis})
