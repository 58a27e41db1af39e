"""Maximum likelihood of every family: formulas, optimality, and relations."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import thetahat as th
from tests.mathematics.distributions.fitting.fit_cases import families
from thetahat import distributions as d


def nearby(fit, j, factor):
    """The fitted distribution with one parameter changed by a factor."""
    law = fit.distribution
    if isinstance(law, d.Categorical):
        p = np.array(law.probabilities)
        p[j] *= factor
        return d.Categorical(p / p.sum())
    return law.set_params(**{fit.names[j]: fit.estimates[j] * factor})


@families()
def test_no_nearby_parameters_are_more_likely(law, options):
    x = law.sample(300, random_state=1)
    fit = type(law).fit(x, **options)
    assert fit.log_likelihood == pytest.approx(fit.distribution.log_likelihood(x), rel=1e-10)
    for j in range(len(fit.names)):
        for factor in (0.99, 1.01):
            assert nearby(fit, j, factor).log_likelihood(x) < fit.log_likelihood


@families()
def test_estimates_are_near_the_truth(law, options):
    fit = type(law).fit(law.sample(20_000, random_state=2), **options)
    for name, estimate, error in zip(fit.names, fit.estimates, fit.standard_errors, strict=True):
        if name.startswith("probabilities"):
            continue
        assert abs(estimate - getattr(law, name)) < 4 * error + 1e-3 * (name in ("low", "high"))


@families()
def test_weights_are_repetitions(law, options):
    x = law.sample(60, random_state=3)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    weighted = type(law).fit(x, sample_weight=weight, **options)
    repeated = type(law).fit(np.repeat(x, weight), **options)
    np.testing.assert_allclose(weighted.estimates, repeated.estimates, rtol=1e-7)
    np.testing.assert_allclose(weighted.standard_errors, repeated.standard_errors, rtol=1e-6)
    np.testing.assert_allclose(weighted.intervals(), repeated.intervals(), rtol=1e-5)
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-9)


@families()
def test_files_give_the_bits_of_arrays(law, options, tmp_path):
    x = law.sample(500, random_state=4).astype(np.float64)
    pd.DataFrame({"x": x}).to_csv(tmp_path / "values.csv", index=False, float_format="%.17g")
    source = th.scan(tmp_path / "values.csv")
    kept, read = type(law).fit(x, **options), type(law).fit(source, **options)
    np.testing.assert_array_equal(kept.estimates, read.estimates)
    assert kept.log_likelihood == read.log_likelihood
    assert kept.distribution.log_likelihood(source) == kept.distribution.log_likelihood(x)


@families()
def test_many_blocks_and_any_number_of_threads_give_one_answer(law, options):
    x = law.sample(40_000, random_state=5)
    with th.config(threads=1):
        one = type(law).fit(x, **options)
    with th.config(threads=4):
        many = type(law).fit(x, **options)
    np.testing.assert_array_equal(one.estimates, many.estimates)
    np.testing.assert_allclose(
        one.estimates, type(law).fit(x[::-1], **options).estimates, rtol=1e-7
    )


@families()
def test_results_travel_and_print(law, options):
    fit = type(law).fit(law.sample(50, random_state=6), **options)
    again = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(again.intervals(0.9), fit.intervals(0.9))
    assert type(law).__name__ in str(fit)
    assert fit.names[0] in str(fit)
    narrow, wide = fit.intervals(0.5), fit.intervals(0.99)
    assert (narrow[:, 0] >= wide[:, 0]).all()
    assert (narrow[:, 1] <= wide[:, 1]).all()
    assert ((fit.estimates >= narrow[:, 0] - 1e-12) & (fit.estimates <= narrow[:, 1] + 1e-12)).all()


@pytest.mark.parametrize(
    "data",
    [[1, 0, 1, 1], np.array([1, 0, 1, 1], dtype=bool), pd.Series([1.0, 0.0, 1.0, 1.0]),
     np.array([[1.0], [0.0], [1.0], [1.0]], dtype=np.float32)],
    ids=["list", "boolean", "pandas", "float32 column"],
)  # fmt: skip
def test_all_kinds_of_arrays_are_read(data):
    assert d.Bernoulli.fit(data).distribution == d.Bernoulli(0.75)


def test_coin_of_the_course():
    """Heads four times of five: 4/5, and the likelihoods of two other coins."""
    tosses = [1, 1, 1, 1, 0]
    assert d.Bernoulli.fit(tosses).distribution.p == 4 / 5
    assert np.exp(d.Bernoulli(0.1).log_likelihood(tosses)) == pytest.approx(9.0e-5)
    assert np.exp(d.Bernoulli(0.9).log_likelihood(tosses)) == pytest.approx(0.06561)


def test_logit_of_the_coin_and_its_gradient():
    """ℓ(w) = n(x̄w − log(1 + e^w)) has the derivative n(x̄ − σ(w)), n on both terms."""
    tosses = [1, 1, 1, 1, 0]
    fit = d.BernoulliLogit.fit(tosses)
    assert fit.distribution.logit == pytest.approx(np.log(4))
    assert fit.log_likelihood == pytest.approx(d.Bernoulli.fit(tosses).log_likelihood)
    assert fit.distribution.gradient(tosses) == pytest.approx(0, abs=1e-12)
    for w in (-1.0, 0.3, 2.0):
        up, down = (d.BernoulliLogit(w + h).log_likelihood(tosses) for h in (1e-6, -1e-6))
        expected = 5 * (0.8 * w - np.log1p(np.exp(w)))
        assert d.BernoulliLogit(w).log_likelihood(tosses) == pytest.approx(expected)
        assert d.BernoulliLogit(w).gradient(tosses) == pytest.approx((up - down) / 2e-6, abs=1e-6)
        assert d.BernoulliLogit(w).gradient(tosses) == pytest.approx(5 * (0.8 - special.expit(w)))


def test_uniform_of_the_course():
    draws = [1, 1, 2, 4, 5, 3]
    fit = d.Uniform.fit(draws, low=0)
    assert fit.distribution == d.Uniform(0, 5)
    likelihood = [np.exp(d.Uniform(0, theta).log_likelihood(draws)) for theta in (4, 5, 6)]
    np.testing.assert_allclose(likelihood, [0, 6.4e-5, 2.143347e-5], rtol=1e-6)


def test_gaussian_and_its_two_variances():
    x = np.array([1.0, 2.0, 4.0, 9.0])
    fit, unbiased = d.Normal.fit(x), d.Normal.fit(x, unbiased=True)
    assert fit.distribution.mean == 4
    assert fit.distribution.variance == pytest.approx(38 / 4)
    assert unbiased.distribution.variance == pytest.approx(38 / 3)
    assert unbiased.log_likelihood == pytest.approx(unbiased.distribution.log_likelihood(x))
    assert unbiased.log_likelihood < fit.log_likelihood
    low, high = fit.interval("mean")
    np.testing.assert_allclose((low, high), stats.t(3, 4, stats.sem(x)).interval(0.95), rtol=1e-12)


def test_large_means_lose_no_digits():
    x = 1e9 + np.array([1.0, 2.0, 4.0, 9.0])
    assert d.Normal.fit(x).distribution.variance == pytest.approx(9.5, rel=1e-9)


def test_categorical_shares_are_those_of_the_multiplier():
    """∂/∂π_c (Σ N_c log π_c − λ(Σπ − 1)) = 0 gives π_c = N_c/λ with λ = N."""
    x = [0, 2, 1, 2, 2, 0]
    fit = d.Categorical.fit(x)
    counts = np.bincount(x)
    np.testing.assert_allclose(fit.estimates, counts / 6)
    np.testing.assert_allclose(counts / fit.estimates, 6)
    one_hot = np.eye(3)[x]
    by_product = np.sum(one_hot * np.log(fit.estimates))
    assert fit.log_likelihood == pytest.approx(by_product)
    assert d.Categorical.fit(x, n_categories=5).distribution.n_categories == 5


def test_categories_that_do_not_occur_have_an_interval():
    fit = d.Categorical.fit([0, 0, 1, 1, 1], n_categories=3)
    low, high = fit.interval("probabilities[2]")
    assert low == 0
    assert 0.3 < high < 0.6


@pytest.mark.parametrize(
    ("own", "scipys"),
    [
        (d.Gamma(3, 2), lambda x: (lambda a, _, s: (a, 1 / s))(*stats.gamma.fit(x, floc=0))),
        (d.Beta(0.7, 3), lambda x: stats.beta.fit(x, floc=0, fscale=1)[:2]),
        (d.StudentT(3, 1, 2), lambda x: np.roll(stats.t.fit(x), -1)),
    ],
    ids=["gamma", "beta", "student"],
)
def test_numeric_estimates_are_scipys(own, scipys):
    x = own.sample(400, random_state=7)
    np.testing.assert_allclose(type(own).fit(x).estimates, scipys(x), rtol=2e-3)


def test_truncated_normal_matches_the_moments():
    x = d.TruncatedNormal(1, 2, 0, 4).sample(500, random_state=8)
    found = d.TruncatedNormal.fit(x, low=0, high=4).distribution
    assert found.mean == pytest.approx(x.mean(), rel=1e-8)
    assert found.variance == pytest.approx(x.var(), rel=1e-7)
    free = d.TruncatedNormal.fit(x).distribution
    assert (free.location, free.scale) == pytest.approx((x.mean(), x.std()), rel=1e-8)


def test_dirichlet_fit_is_stationary_and_near_the_truth():
    law = d.Dirichlet([2.0, 3.0, 4.0])
    rows = law.sample(2000, random_state=9)
    fit = d.Dirichlet.fit(rows)
    assert (abs(fit.estimates - law.alpha) < 4 * fit.standard_errors).all()
    expected = special.digamma(fit.estimates) - special.digamma(fit.estimates.sum())
    np.testing.assert_allclose(np.log(rows).mean(axis=0), expected, atol=1e-8)
    two = d.Dirichlet.fit(rows[:, :2] / rows[:, :2].sum(axis=1, keepdims=True))
    beta = d.Beta.fit(rows[:, 0] / rows[:, :2].sum(axis=1))
    np.testing.assert_allclose(two.estimates, beta.estimates, rtol=1e-6)
    assert pickle.loads(pickle.dumps(fit)).distribution == fit.distribution


def test_light_tails_have_infinite_degrees_of_freedom():
    x = np.linspace(-1, 1, 50)
    fit = d.StudentT.fit(x)
    assert fit.distribution.df == np.inf
    assert fit.distribution.scale == pytest.approx(x.std())
    assert fit.log_likelihood == pytest.approx(d.Normal.fit(x).log_likelihood)
    low, high = fit.interval("df")
    assert 2 < low < 50
    assert high == np.inf


@pytest.mark.parametrize("mean", [1e5, 1e8])
def test_a_nearly_normal_gamma_sample_has_its_estimate(mean):
    noise = np.random.default_rng(0).normal(size=400)
    fit = d.Gamma.fit(mean + noise)
    normal = d.Normal.fit(mean + noise)
    mu, sigma = normal.estimates
    assert fit.distribution.mean == pytest.approx(mu, rel=1e-12)
    np.testing.assert_allclose(fit.estimates, [(mu / sigma) ** 2, mu / sigma**2], rtol=1e-4)
    assert fit.log_likelihood == pytest.approx(normal.log_likelihood, abs=0.01)
    low, high = fit.interval("shape")
    sigmas = mu / np.sqrt([high, low])
    np.testing.assert_allclose(sigmas, normal.interval("sigma"), rtol=1e-2)


def test_the_expansion_of_a_large_gamma_shape_is_newtons_answer():
    x = d.Gamma(4e6, 1).sample(300, random_state=0)  # both ways have enough digits
    newton = d.Gamma.fit(x)
    assert newton.solution is not None
    from thetahat.mathematics.distributions.fitting.rows import column
    from thetahat.mathematics.distributions.gamma import _large_shape

    expansion = _large_shape(d.Gamma, column(x, None, ""), x.mean(), 300.0)
    np.testing.assert_allclose(expansion.estimates, newton.estimates, rtol=1e-6)
    np.testing.assert_allclose(expansion.intervals(), newton.intervals(), rtol=1e-4)
    np.testing.assert_allclose(expansion.standard_errors, newton.standard_errors, rtol=1e-4)
    assert expansion.log_likelihood == pytest.approx(newton.log_likelihood, rel=1e-6)


def test_many_degrees_of_freedom_are_estimated():
    x = d.ChiSquared(1e8).sample(500, random_state=0)
    fit = d.ChiSquared.fit(x)
    assert fit.estimates[0] == pytest.approx(x.mean(), rel=1e-5)
    low, high = fit.interval("df")
    assert low < 1e8 < high
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(2e8 / 500), rel=1e-3)


def test_criteria_count_the_parameters():
    x = d.Normal(1, 2).sample(50, random_state=11)
    fit = d.Normal.fit(x)
    assert fit.aic == pytest.approx(4 - 2 * fit.log_likelihood)
    assert fit.bic == pytest.approx(2 * np.log(50) - 2 * fit.log_likelihood)


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e3, 1e150])
@pytest.mark.parametrize("name", ["Gamma", "Exponential", "StudentT", "TruncatedNormal", "Uniform"])
def test_units_of_the_data_only_rescale_the_fit(name, scale):
    x = d.Gamma(3, 2).sample(60, random_state=12)
    options = {"low": 0} if name in ("TruncatedNormal", "Uniform") else {}
    one, two = getattr(d, name).fit(x, **options), getattr(d, name).fit(x * scale, **options)
    power = {"rate": 1 / scale, "shape": 1.0, "df": 1.0}
    factor = np.array([power.get(each, scale) for each in one.names])
    np.testing.assert_allclose(two.estimates, one.estimates * factor, rtol=1e-6)
    np.testing.assert_allclose(two.intervals(), one.intervals() * factor[:, None], rtol=1e-4)
    assert two.log_likelihood == pytest.approx(one.log_likelihood - 60 * np.log(scale), rel=1e-9)


def test_a_sparse_column_is_read():
    from scipy import sparse

    x = sparse.csr_matrix([[0.0], [3.0], [0.0], [1.0]])
    assert d.Poisson.fit(x).distribution == d.Poisson(1.0)


def test_intervals_of_many_categories_are_those_of_each():
    counts = np.arange(1, 400)
    x = np.repeat(np.arange(399), counts)
    found = d.Categorical.fit(x).intervals()
    for c in (0, 57, 398):
        alone = d.Bernoulli.fit((x == c).astype(int)).intervals()
        np.testing.assert_allclose(found[c], alone[0], rtol=1e-9)
