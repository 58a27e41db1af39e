"""Extreme arguments and parameters: infinity, large shapes, far truncation, user functions."""

from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from scipy import stats

from tests.mathematics.distributions.distribution_cases import every
from thetahat import binning
from thetahat import distributions as d
from thetahat.errors import DataError, ParameterError

EXTREME = [
    *(d.Poisson(rate) for rate in (0.0, 1e-300, 1e16, 1e300)),
    *(d.Gamma(k, r) for k in (1e-300, 1e8, 1e300) for r in (1e-300, 1.0, 1e300)),
    *(d.ChiSquared(k) for k in (1e-300, 1e12, 1e300)),
    *(d.F(a, b) for a in (1e-300, 1.0, 1e10, 1e300) for b in (1e-300, 1e10, 1e300, np.inf)),
    *(d.Beta(a, b) for a in (1e-300, 1.0, 1e10, 1e300) for b in (1e-300, 1e10, 1e300)),
    *(d.NegativeBinomial(r, p) for r in (1e-300, 1e8, 1e300) for p in (1e-300, 1e-9, 0.5, 1.0)),
    *(d.StudentT(5.0, x, s) for x in (0.0, 1e300) for s in (1e-300, 1e300)),
    *(d.TruncatedNormal(x, s, 0, 1) for x in (-1e300, 0.0, 1e12) for s in (1.0, 1e-4)),
    d.TruncatedNormal(0, 1, 1e300),
    d.TruncatedNormal(0, 1, -np.inf, -1.0),
    d.Uniform(0, 1e300),
]
POINTS = [-np.inf, -1e300, -1.0, 0.0, 1e-300, 0.5, 1.0, 3.0, 1e8, 1e16, 1e150, 1e300, np.inf]


@pytest.mark.parametrize("own", EXTREME, ids=str)
def test_extreme_parameters_give_numbers(own):
    """With warnings as errors: no NaN and no overflow warning anywhere."""
    assert not np.isnan(own.log_density(POINTS)).any()
    assert not np.isnan(own.density(POINTS)).any()
    below = own.cdf(POINTS)
    assert (np.diff(below) >= -1e-12).all()
    assert (below[0], below[-1]) == (0, 1)
    found = own.quantile([0, 1e-10, 0.3, 0.5, 0.9, 1])
    assert (found[1:] >= found[:-1]).all()
    assert own.standard_deviation >= 0 or np.isnan(own.standard_deviation)


@every()
def test_densities_vanish_at_infinity(own):
    np.testing.assert_array_equal(own.log_density([-np.inf, np.inf]), -np.inf)
    np.testing.assert_array_equal(own.density([-np.inf, np.inf]), 0)


def _log_gamma(x):
    """log Γ(x) of a Decimal by Stirling's series."""
    terms = [(1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188)]
    shift = Decimal(0)
    while x < 200:
        shift, x = shift - x.ln(), x + 1
    pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
    series = sum(Decimal(a) / b / x ** (2 * i + 1) for i, (a, b) in enumerate(terms))
    return shift + (x - Decimal("0.5")) * x.ln() - x + (2 * pi).ln() / 2 + series


@pytest.mark.parametrize("k", [0.3, 7.0, 1e5, 1e9, 1e15])
def test_large_shapes_keep_the_digits_of_the_density(k):
    """Against 60 decimal digits; at 1e15 the formula with log Γ has none left."""
    for z in (-3.0, 0.0, 2.0):
        x = k * np.exp(z / np.sqrt(k + 1))
        with localcontext() as context:
            context.prec = 60
            shape, y = Decimal(float(k)), Decimal(float(x))
            gamma = (shape - 1) * y.ln() - y - _log_gamma(shape)
            count = Decimal(max(round(k), 1))
            poisson = count * y.ln() - y - _log_gamma(count + 1)
            both = Decimal(float(k)) + 3
            share = Decimal(float(min(0.5 * x / k, 0.9)))
            beta = (shape - 1) * share.ln() + 2 * (1 - share).ln()
            beta += _log_gamma(both) - _log_gamma(shape) - Decimal(2).ln()
        assert d.Gamma(k, 1).log_density(x) == pytest.approx(float(gamma), rel=1e-13, abs=1e-13)
        own = d.Poisson(x).log_density(float(count))
        assert own == pytest.approx(float(poisson), rel=1e-13, abs=1e-13)
        own = d.Beta(k, 3).log_density(float(share))
        assert own == pytest.approx(float(beta), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("k", [2e5, 1e8, 1e12])
@pytest.mark.parametrize("z", [-12.0, -6.0, -1.0, 0.0, 1e-3, 2.0, 7.0])
def test_large_shapes_keep_the_digits_of_the_cdf(k, z):
    """The integral of the density by Gauss's rule; SciPy is wrong from six deviations on."""
    own, y = d.Gamma(k, 1), k + z * np.sqrt(k)
    nodes, weights = np.polynomial.legendre.leggauss(100)
    edges = np.linspace(min(k, y) - 14 * np.sqrt(k), y, 11)
    half = np.diff(edges)[:, None] / 2
    x = edges[:-1, None] + half * (nodes + 1)
    integral = float((half * own.density(x)).sum(axis=0) @ weights)
    assert own.cdf(y) == pytest.approx(integral, rel=1e-9)
    assert d.Poisson(y).cdf(k - 1) == pytest.approx(1 - integral, rel=1e-9, abs=1e-12)
    assert own.quantile(float(own.cdf(y))) == pytest.approx(y, rel=1e-9) or z > 5


def test_large_beta_and_f_are_normal():
    levels = np.array([1e-12, 1e-3, 0.3, 0.5, 0.9])
    z = stats.norm.ppf(levels)
    for k in (1e14, 1e16):
        own = d.Beta(k, k)
        x = own.quantile(levels)
        np.testing.assert_allclose((x - 0.5) * np.sqrt(8 * k), z, atol=1e-6)
        np.testing.assert_allclose(own.cdf(x), levels, rtol=1e-6)
        assert own.entropy == pytest.approx(0.5 * np.log(2 * np.pi * np.e / (8 * k)), abs=1e-10)
        ratio = d.F(k, k)
        np.testing.assert_allclose((ratio.quantile(levels) - 1) * np.sqrt(k) / 2, z, atol=1e-5)
    assert d.Gamma(1e16, 1).entropy == pytest.approx(0.5 * np.log(2 * np.pi * np.e * 1e16))


def test_divergences_of_large_shapes():
    """Two nearly normal distributions with means one standard deviation apart."""
    k = 1e14
    assert d.kl(d.Gamma(k, 1), d.Gamma(k + 1e7, 1)) == pytest.approx(0.5, rel=1e-6)
    assert d.kl(d.Poisson(k), d.Poisson(k + 1e7)) == pytest.approx(0.5, rel=1e-6)
    assert d.kl(d.Beta(k, k), d.Beta(k + 2**0.5 * 5e6, k - 2**0.5 * 5e6)) == pytest.approx(
        0.5, rel=1e-6
    )
    three = d.Dirichlet([1e15, 2e15, 3e15])
    assert d.kl(three, three) == 0
    assert three.log_density(three.mean) == pytest.approx(
        d.Dirichlet([1e5, 2e5, 3e5]).log_density(three.mean) + 10 * np.log(10), rel=1e-5
    )


def test_f_with_an_infinite_denominator_is_gamma():
    own, twin = d.F(6, np.inf), d.Gamma(3, 3)
    x = np.array([0.1, 1.0, 2.5])
    np.testing.assert_allclose(own.log_density(x), twin.log_density(x), rtol=1e-13)
    np.testing.assert_allclose(own.cdf(x), twin.cdf(x), rtol=1e-13)
    np.testing.assert_allclose(own.quantile([0.1, 0.9]), twin.quantile([0.1, 0.9]), rtol=1e-13)
    assert (own.mean, own.variance, own.mode) == (1.0, pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert own.entropy == pytest.approx(twin.entropy, rel=1e-13)
    assert own.sample(20000, 0).var() == pytest.approx(1 / 3, rel=0.05)
    np.testing.assert_allclose(d.F(6, 1e12).cdf(x), own.cdf(x), rtol=1e-9)


@pytest.mark.parametrize("distance", [9.0, 1e3, 1e8, 1e14])
@pytest.mark.parametrize("width", [np.inf, 20.0, 2.0])
def test_truncation_far_from_the_location(distance, width):
    """In units of 1/distance the density is e^{−t − t²/(2·distance²)}, by Gauss's rule."""
    own = d.TruncatedNormal(-distance, 1, 0, width / distance)
    mirror = d.TruncatedNormal(distance, 1, -width / distance, 0)
    nodes, weights = np.polynomial.legendre.leggauss(60)

    def integral(low, high, power=0):
        edges = np.linspace(low, high, 9)
        half = np.diff(edges)[:, None] / 2
        t = edges[:-1, None] + half * (nodes + 1)
        return float((half * t**power * np.exp(-t - (t / distance) ** 2 / 2)).sum(axis=0) @ weights)

    last = min(width, 45.0)
    whole = integral(0, last)
    for t in (1e-3, 0.5, 1.9):
        assert own.cdf(t / distance) == pytest.approx(integral(0, t) / whole, rel=1e-12)
        assert mirror.cdf(-t / distance) == pytest.approx(integral(t, last) / whole, rel=1e-12)
        density = distance * np.exp(-t - (t / distance) ** 2 / 2) / whole
        assert own.density(t / distance) == pytest.approx(density, rel=1e-12)
    p = np.array([1e-200, 1e-9, 0.2, 0.7, 1 - 1e-9])
    np.testing.assert_allclose(own.cdf(own.quantile(p)), p, rtol=1e-12)
    np.testing.assert_allclose(mirror.cdf(mirror.quantile(p[1:])), p[1:], rtol=1e-6)
    mean = integral(0, last, 1) / whole
    assert own.mean == pytest.approx(mean / distance, rel=1e-12)
    assert mirror.mean == pytest.approx(-mean / distance, rel=1e-12)
    variance = integral(0, last, 2) / whole - mean**2
    assert own.variance * distance**2 == pytest.approx(variance, rel=1e-10)
    energy = mean + integral(0, last, 2) / whole / (2 * distance**2)
    assert own.entropy == pytest.approx(np.log(whole / distance) + energy, rel=1e-12)
    assert mirror.entropy == pytest.approx(own.entropy, rel=1e-12)


def test_heavy_tails_of_student_t():
    assert d.StudentT(1).log_density(1e200) == pytest.approx(-np.log(np.pi) - 400 * np.log(10))
    far = d.StudentT(1e9).log_density(30.0) - d.Normal().log_density(30.0)
    assert far == pytest.approx(30.0**4 / 4e9 - 900 / 2e9, rel=1e-4)
    assert d.StudentT(1e12).entropy == pytest.approx(d.Normal().entropy, abs=1e-11)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: d.Normal(10**400, 1), r"mean must be a finite number\."),
        (lambda: d.Normal(10**5000, 1), r"a whole number of more than 4,983 digits"),
        (lambda: d.Uniform.fit([1, 2], low=10**400), r"must be a finite number, or None"),
        (lambda: d.TruncatedNormal(0, 1e-300, 1e10), r"finite number of standard deviations"),
        (lambda: d.Poisson(1e300).sample(3), r"64-bit integers.*is 1e\+300\. Draw from Normal"),
        (lambda: d.NegativeBinomial(2, 1e-300).sample(), r"64-bit integers.*Draw from Gamma"),
        (lambda: d.NegativeBinomial(1e12, 1e-300).entropy, r"a sum of (inf|nan) terms"),
        (lambda: d.Poisson(2).expectation(lambda x: x[:3]), r"shape \(3,\) for values of shape"),
        (lambda: d.Normal().expectation(lambda x: x[:3]), r"shape \(3,\) for values of shape"),
        (lambda: d.Normal().expectation(lambda x: x[None]), r"result has shape \(1, \d+\)"),
        (lambda: d.Poisson(2).expectation(lambda x: x + np.nan), r"is NaN at x = 0"),
        (lambda: d.Poisson(2).expectation(lambda x: "a"), r"must be a real number or an array"),
        (lambda: d.jensen_gap(lambda x: np.log(x - 9), d.Uniform(0, 1)), r"is NaN at x = 0\.5"),
        (lambda: d.jensen_gap(lambda x: np.array([]), d.Uniform()), r"result has shape \(0,\)"),
        (lambda: d.simulate_estimates(d.Normal(), 5, fit=len), r"it returned 5 of type int"),
        (
            lambda: d.simulate_estimates(d.Categorical([0.5, 0.3, 0.2]), 3, random_state=0),
            r"same parameters in every repetition",
        ),
        (
            lambda: binning.best_width([1, 2, 5], lambda counts, width: np.nan),
            r"cost must return one number.*returned NaN for the width",
        ),
        (lambda: binning.best_width([1, 2, 5], lambda *_: [1, 2]), r"returned shape \(2,\)"),
        (lambda: binning.best_width([1, 2, 5], lambda *_: "x"), r"must be a real number"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_extreme_arguments_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_whole_numbers_beyond_float64_count_as_infinite():
    assert d.StudentT(10**400).df == np.inf
    assert d.TruncatedNormal(high=10**400).high == np.inf


def test_uniform_of_any_width_has_a_variance():
    assert d.Uniform(0, 1e300).variance == np.inf
    assert d.Uniform(0, 1e150).variance == pytest.approx(1e300 / 12)


def test_scale_of_light_tails_allows_for_heavier_ones():
    """With df free, smaller scales are likely too: the interval contains that of df = 5."""
    z = stats.norm.ppf((np.arange(50) + 0.5) / 50)
    fit = d.StudentT.fit(z)
    assert fit.estimates[2] == np.inf
    low, high = fit.interval("scale")
    alone = d.StudentT.fit(z, df=np.inf).interval("scale")
    assert low < 0.95 * alone[0]
    assert high == pytest.approx(alone[1], rel=0.05)
    heavy = d.StudentT.fit(z, df=fit.interval("df")[0] * 1.05).estimates[1]
    assert low <= heavy


SHAPES = (1e-3, 0.5, 2.0, 10.0, 1e3, 1e6, 1e10)


@pytest.mark.parametrize("probability", [1e-200, 1e-100, 1e-12, 0.1, 0.9])
@pytest.mark.parametrize("law", [d.Beta, d.F, d.StudentT])
def test_the_distribution_function_at_a_quantile_is_its_probability(law, probability):
    """SciPy's quantiles lose digits, or are NaN, far in a tail and for large shapes."""
    for shapes in [(a,) for a in SHAPES] if law is d.StudentT else product(SHAPES, SHAPES):
        distribution = law(*shapes)
        x = float(distribution.quantile(probability))
        if 1e-290 < abs(x) < 1e150:
            low, high = distribution.cdf([np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])
            assert low <= probability * (1 + 1e-6), (shapes, x)
            assert high >= probability * (1 - 1e-6), (shapes, x)
        assert not np.isnan(x)


def test_a_small_distribution_function_keeps_its_digits_near_one():
    assert d.Beta(1000, 1).cdf(0.9332) == pytest.approx(0.9332**1000, rel=1e-12)
    assert d.StudentT(1).quantile(1e-300) == pytest.approx(-1e300 / np.pi, rel=1e-12)


def test_values_whose_likelihood_is_not_defined_are_refused():
    with pytest.raises(DataError, match=r"F\.fit: the likelihood of these values is 0 or not"):
        d.F.fit([1e300, 1e308, 1e307])


def test_density_of_ratios_beyond_all_numbers():
    """F(v₁, v₂) has a density ∝ x^(−1 − v₂/2) far above 1, and ∝ x^(v₁/2 − 1) far below."""
    law = d.F(10, 1)
    steps = law.log_density([1e300, 1e308]) + 1.5 * np.log([1e300, 1e308])
    assert steps[1] == pytest.approx(steps[0], abs=1e-10)
    mirrored = d.F(1, 10).log_density([1e-306, 5e-324]) + 0.5 * np.log([1e-306, 5e-324])
    assert mirrored[1] == pytest.approx(mirrored[0], abs=1e-10)
    x = [0.01, 0.5, 1.0, 2.0, 300.0]
    np.testing.assert_allclose(d.F(1e308, 1).log_density(x), d.F(1e200, 1).log_density(x))
    np.testing.assert_allclose(d.F(3, 1e308).log_density(x), d.F(3, np.inf).log_density(x))
