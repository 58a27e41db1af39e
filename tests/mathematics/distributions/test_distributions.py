"""Distributions as values: formulas, relations between them, and refused arguments."""

import math
import pickle

import numpy as np
import pytest
from scipy import special, stats
from scipy.integrate import quad

from tests.mathematics.distributions.distribution_cases import TWINS, every, twins, values_of
from thetahat import distributions as d
from thetahat.errors import ParameterError


@twins()
def test_densities_are_scipys(own, twin):
    x = values_of(own)
    expected = twin.logpmf(x) if own.discrete else twin.logpdf(x)
    np.testing.assert_allclose(own.log_density(x), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(own.density(x), np.exp(expected), rtol=1e-9, atol=1e-12)


@twins()
def test_cdf_and_quantiles_are_scipys(own, twin):
    x = values_of(own)
    np.testing.assert_allclose(own.cdf(x), twin.cdf(x), rtol=1e-10, atol=1e-13)
    levels = np.linspace(0.0123, 0.9877, 41)
    np.testing.assert_allclose(own.quantile(levels), twin.ppf(levels), rtol=1e-9, atol=1e-12)


@twins()
def test_moments_and_entropy_are_scipys(own, twin):
    assert own.mean == pytest.approx(twin.mean(), rel=1e-9)
    assert own.variance == pytest.approx(twin.var(), rel=1e-6, abs=1e-12)
    assert own.standard_deviation == pytest.approx(np.sqrt(own.variance), rel=1e-12)
    if own != d.TruncatedNormal(0, 1, 3, np.inf):  # SciPy has NaN there
        assert own.entropy == pytest.approx(float(twin.entropy()), rel=1e-7, abs=1e-9)


@every()
def test_probabilities_sum_to_one(own):
    assert own.expectation(np.ones_like) == pytest.approx(1.0, abs=1e-9)
    if np.isfinite(own.mean):
        assert own.expectation(lambda x: x) == pytest.approx(own.mean, rel=1e-7, abs=1e-9)


@every()
def test_ends_of_the_range(own):
    low, high = own.support
    assert own.cdf(-np.inf) == 0
    assert own.cdf(np.inf) == 1
    np.testing.assert_array_equal(own.quantile([0.0, 1.0]), [low, high])
    if np.isfinite(low):
        assert own.log_density(low - 1) == -np.inf
        assert own.cdf(low - 1) == 0


@pytest.mark.parametrize("own", [own for own, _ in TWINS if not np.isnan(own.mode)], ids=str)
def test_the_mode_is_the_most_probable_value(own):
    x = values_of(own)
    assert own.log_density(own.mode) >= own.log_density(x).max() - 1e-12


@every()
def test_draws_follow_the_distribution_and_repeat(own):
    drawn = own.sample(3000, random_state=5)
    np.testing.assert_array_equal(drawn, own.sample(3000, random_state=5))
    assert not np.array_equal(drawn, own.sample(3000, random_state=6)) or own == d.Bernoulli(1.0)
    assert drawn.shape == (3000,)
    assert drawn.dtype == (np.int64 if own.discrete else np.float64)
    if own.discrete:
        found = np.searchsorted(np.sort(drawn), np.arange(60), side="right") / drawn.size
        assert abs(found - own.cdf(np.arange(60))).max() < 0.035
    else:
        assert stats.kstest(drawn, own.cdf).pvalue > 1e-4


@every()
def test_parts_are_frozen_equal_by_value_and_picklable(own):
    assert own == type(own)(**own.get_params())
    assert own == pickle.loads(pickle.dumps(own))
    assert hash(own) == hash(type(own)(**own.get_params()))
    with pytest.raises(AttributeError):
        own.p = 0.2


@every()
def test_scalars_and_arrays_have_their_shape(own):
    assert own.density(0.5).shape == ()
    assert own.cdf([[0.5, 1.0], [2.0, 3.0]]).shape == (2, 2)
    assert own.sample(0).shape == (0,)


def test_worked_numbers_of_the_gamma_function_and_f():
    assert d.gamma_function(3) == 2
    assert d.beta_function(2, 3) == pytest.approx(1 / 12)
    np.testing.assert_allclose(d.gamma_function([0.5, 5]), [math.sqrt(math.pi), 24])
    assert d.F(3, 10).mean == 1.25
    assert d.Gamma(3, 1).density(1.0) == pytest.approx(math.exp(-1) / 2)


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_chi_squared_divides_by_the_power_of_two(k):
    """Divided by (k/2)·Γ(k/2) instead, the density would not integrate to 1."""
    own = d.ChiSquared(k)
    x = 1.7
    right = x ** (k / 2 - 1) * math.exp(-x / 2) / (2 ** (k / 2) * math.gamma(k / 2))
    assert own.density(x) == pytest.approx(right, rel=1e-12)
    assert quad(lambda t: 2 * t * float(own.density(t * t)), 1e-12, 12)[0] == pytest.approx(1)
    wrong = 2 ** (k / 2) / (k / 2)
    assert {1: 2.828, 2: 2.0, 3: 1.886}.get(k, wrong) == pytest.approx(wrong, abs=5e-4)
    assert (own.mean, own.variance, own.mode) == (k, 2 * k, max(k - 2, 0))


def test_sums_of_squares_of_normal_numbers_are_chi_squared():
    normal = np.random.default_rng(3).standard_normal((4000, 5))
    assert stats.kstest((normal**2).sum(axis=1), d.ChiSquared(5).cdf).pvalue > 1e-3


def test_student_t_approaches_the_normal_distribution():
    x = np.linspace(-4, 4, 9)
    gaps = [abs(d.StudentT(df).cdf(x) - d.Normal().cdf(x)).max() for df in (3, 30, 300, 3e4)]
    assert np.all(np.diff(gaps) < 0)
    assert gaps[-1] < 1e-5
    np.testing.assert_allclose(d.StudentT(np.inf).density(x), d.Normal().density(x), rtol=1e-14)


def test_means_that_do_not_exist():
    assert np.isnan(d.StudentT(1).mean)
    assert d.StudentT(2).variance == np.inf
    assert d.F(3, 2).mean == np.inf


def test_logit_and_probability_are_one_distribution():
    own, twin = d.BernoulliLogit(0.7), d.Bernoulli(float(special.expit(0.7)))
    np.testing.assert_allclose(own.density([0, 1]), twin.density([0, 1]), rtol=1e-15)
    assert d.BernoulliLogit(800.0).log_density(0) == -800


def test_entropy_of_large_rates():
    large = d.Poisson(1e3)
    by_sum = large.expectation(lambda x: -large.log_density(x))
    assert large.entropy == pytest.approx(by_sum, abs=1e-10)
    assert d.Poisson(1e12).entropy == pytest.approx(0.5 * np.log(2 * np.pi * np.e * 1e12))


def test_tails_keep_their_digits():
    assert d.Normal().log_density(100.0) == pytest.approx(-5000.918938533205, rel=1e-15)
    far = d.TruncatedNormal(0, 1, 100, np.inf)
    assert far.mean - 100 == pytest.approx(0.01 - 2e-6, rel=1e-4)
    assert far.variance == pytest.approx(1e-4, rel=1e-3)
    assert far.cdf(far.quantile(0.3)) == pytest.approx(0.3, rel=1e-9)
    assert d.Poisson(1e6).quantile(0.5) == 1e6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: d.Beta(0, 1), r"Beta\(alpha=0\): alpha must be a finite number > 0"),
        (lambda: d.Beta(1, -2), r"Beta\(beta=-2\): beta must be a finite number > 0"),
        (lambda: d.Bernoulli(1.2), r"p must be a finite number ≥ 0 and ≤ 1"),
        (lambda: d.BernoulliLogit(np.inf), r"logit must be a finite number"),
        (lambda: d.Normal(0, 0), r"sigma must be a finite number > 0"),
        (lambda: d.Normal(np.nan, 1), r"mean must be a finite number"),
        (lambda: d.Poisson(-1), r"rate must be a finite number ≥ 0"),
        (lambda: d.Uniform(2, 2), r"high must be greater than low"),
        (lambda: d.Uniform(-1e308, 1e308), r"the width high − low must be finite"),
        (lambda: d.NegativeBinomial(1e20, 1e-9).entropy, r"more than 10,000,000"),
        (lambda: d.TruncatedNormal(low=1, high=0), r"high must be greater than low"),
        (lambda: d.TruncatedNormal(low=np.nan), r"low must be a number or infinity"),
        (lambda: d.TruncatedNormal(high="a"), r"high must be a number or infinity"),
        (lambda: d.StudentT(0), r"df must be a number > 0, or infinity"),
        (lambda: d.StudentT(np.nan), r"df must be a number > 0, or infinity"),
        (lambda: d.Categorical([0.5, 0.4]), r"sum to 0\.9, but they must sum to 1"),
        (lambda: d.Categorical([1.5, -0.5]), r"probabilities\[1\] = -0\.5"),
        (lambda: d.Categorical([]), r"at least one number"),
        (lambda: d.Dirichlet([1, 0]), r"alpha\[1\] = 0, but all must be > 0"),
        (lambda: d.Dirichlet([1]), r"at least two numbers"),
        (lambda: d.Normal().quantile(1.5), r"probability 1\.5 is not from 0 to 1"),
        (lambda: d.Normal().density([0, np.nan]), r"x\[1\] = nan"),
        (lambda: d.Normal().sample(-1), r"n=-1 must be a whole number ≥ 0"),
        (lambda: d.Normal().interval(1.0), r"level=1\.0 must lie strictly between 0 and 1"),
        (lambda: d.gamma_function(-1), r"x must be > 0, but it contains -1"),
        (lambda: d.beta_function(1, 0), r"beta_ must be > 0, but it contains 0"),
        (lambda: d.Dirichlet([1, 2]).marginal(2), r"category=2 must be a whole number from 0 to 1"),
        (lambda: d.Dirichlet([1, 2]).density([1.0]), r"every row must have 2 shares"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_dirichlet_is_scipys():
    own, twin = d.Dirichlet([2.0, 3.0, 0.5]), stats.dirichlet([2.0, 3.0, 0.5])
    rows = own.sample(50, random_state=0)
    np.testing.assert_allclose(own.log_density(rows), [twin.logpdf(row) for row in rows])
    np.testing.assert_allclose(own.mean, twin.mean())
    np.testing.assert_allclose(own.variance, twin.var())
    np.testing.assert_allclose(own.covariance, twin.cov())
    assert own.entropy == pytest.approx(twin.entropy())
    assert own.marginal(1) == d.Beta(3.0, 2.5)
    np.testing.assert_allclose(own.intervals(0.9)[1], stats.beta(3, 2.5).interval(0.9))
    assert np.isnan(own.mode).all()
    np.testing.assert_allclose(d.Dirichlet([2, 3, 4]).mode, [1 / 6, 2 / 6, 3 / 6])
    assert own.density([0.5, 0.6, 0.1]) == 0


@pytest.mark.parametrize("ends", [(0, 1e17, 0, 1), (0, 1e14, 0, 1), (0, 1, 0, 1e-9), (0, 1, 5, 6)])
def test_narrow_truncation_keeps_its_digits(ends):
    """The nearly flat density, against quadrature of φ over the window."""
    location, scale, low, high = ends
    law = d.TruncatedNormal(*ends)
    probability = np.array([1e-10, 1e-4, 0.3, 0.5, 0.999])
    x = law.quantile(probability)
    nodes, weights = np.polynomial.legendre.leggauss(40)

    def mass(top):
        # relative to the density at the lower end
        z = (low - location) / scale
        steps = np.multiply.outer((top - low) / scale / 2, nodes + 1)
        return np.exp(-steps * (z + steps / 2)) @ weights / 2 * (top - low)

    share = mass(x) / mass(np.array(float(high)))
    rounding = 4e-16 * abs(low) / (x - low).min()
    np.testing.assert_allclose(share, probability, rtol=1e-12 + rounding)
    np.testing.assert_allclose(law.cdf(x), probability, rtol=1e-12 + rounding)
    assert law.density(low) == pytest.approx(1 / float(mass(np.array(float(high)))), rel=1e-12)
    by_integral = law.expectation(lambda x: -law.log_density(x))
    assert law.entropy == pytest.approx(by_integral, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("low", [0.0, -1.0, -np.inf])
def test_quantiles_of_a_truncated_normal_keep_the_digits_of_the_upper_tail(low):
    """The smallest share above that a float64 below 1 leaves, and its mirror image below."""
    share = 2.0**-53
    end = stats.norm.isf(share * stats.norm.sf(low))
    assert d.TruncatedNormal(0, 1, low, np.inf).quantile(1 - share) == pytest.approx(end, rel=1e-12)
    mirror = d.TruncatedNormal(0, 1, -np.inf, -low)
    assert mirror.quantile(share) == pytest.approx(-end, rel=1e-12)


def test_parameters_of_shares_whose_sum_overflows_are_refused():
    with pytest.raises(ParameterError, match="the sum of alpha is larger"):
        d.Dirichlet([1e308, 1e308])
