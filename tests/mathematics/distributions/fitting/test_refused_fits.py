"""Maximum likelihood refuses data without an estimate, and names the remedy."""

import numpy as np
import pytest

from tests.mathematics.distributions.fitting.fit_cases import FAMILIES, families
from thetahat import distributions as d
from thetahat.errors import DataError, ParameterError


@pytest.mark.parametrize(
    ("law", "options"),
    [
        pytest.param(law, options, id=name)
        for name, (law, options) in FAMILIES.items()
        if np.isfinite(law.support).any() and (options or not isinstance(law, d.Uniform))
    ],
)
def test_data_outside_the_support_are_refused(law, options):
    who = type(law).__name__
    x = law.sample(20, random_state=10).astype(float)
    x[7] = law.support[0] - 2
    with pytest.raises(DataError, match=rf"{who}\.fit: values must be .* row 7: -?\d") as error:
        type(law).fit(x, **options)
    assert "1 of 20 values is not" in str(error.value)


@families()
def test_bad_data_are_refused(law, options):
    fit = type(law).fit
    with pytest.raises(DataError, match=r"data is empty, but at least one value"):
        fit([], **options)
    with pytest.raises(DataError, match=r"NaN|finite|not a|values must be"):
        fit([1.0, np.nan], **options)
    with pytest.raises(DataError, match=r"data has 2 columns"):
        fit(np.ones((3, 2)), **options)
    with pytest.raises(DataError, match=r"negative"):
        fit([1, 0, 1], sample_weight=[1, -1, 1], **options)
    with pytest.raises(DataError, match=r"all sample weights are zero"):
        fit([1, 0, 1], sample_weight=[0, 0, 0], **options)


@pytest.mark.parametrize("name", ["Normal", "Beta", "Gamma", "StudentT", "F", "Uniform"])
def test_equal_values_are_refused(name):
    with pytest.raises(DataError, match=r"at least two different values .* all 3 values are 0\.5"):
        getattr(d, name).fit([0.5, 0.5, 0.5])
    with pytest.raises(DataError, match=r"the only value is 0\.5"):
        getattr(d, name).fit([0.5])


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: d.Poisson.fit([1, 2.5]), r"whole numbers ≥ 0, but 1 of 2 values .* row 1: 2\.5"),
        (lambda: d.Poisson.fit([1, -1, -2]), r"2 of 3 values are not \(first at row 1: -1\)"),
        (lambda: d.Bernoulli.fit([0, 2]), r"must be 0 or 1, .*Code the two outcomes"),
        (lambda: d.Beta.fit([0.2, 1.0]), r"strictly between 0 and 1"),
        (lambda: d.Gamma.fit([0.2, 0.0]), r"numbers > 0"),
        (lambda: d.Categorical.fit([0, 1e9]), r"at most 1,000,000 categories"),
        (lambda: d.Categorical.fit([0, 3], n_categories=2), r"from 0 to 1|0 or 1"),
        (lambda: d.BernoulliLogit.fit([1, 1]), r"all 2 values are 1, so that the likelihood grows"),
        (lambda: d.Exponential.fit([0, 0]), r"at least one positive value"),
        (lambda: d.Uniform.fit([0, 0], low=0), r"above the known lower end"),
        (lambda: d.Uniform.fit([1, -1], low=0), r"numbers ≥ 0"),
        (lambda: d.Dirichlet.fit([[0.5, 0.4], [0.5, 0.5]]), r"row 0 sums to 0\.9"),
        (lambda: d.Dirichlet.fit([[0.5, 0.5], [0.5, 0.5]]), r"all 2 rows are equal"),
        (lambda: d.Normal.fit([1, 2], sample_weight=[0.2, 0.3]), r"the weights sum to 0\.5"),
        (lambda: d.TruncatedNormal.fit([0.01, 0.02, 0.5, 0.98, 0.99], low=0, high=1),
         r"the likelihood has no maximum: it grows with the scale without end"),
    ],
)  # fmt: skip
def test_data_without_an_estimate_are_refused(act, message):
    with pytest.raises(DataError, match=message):
        act()


@pytest.mark.parametrize("seed", range(2, 12))
def test_ridges_without_a_maximum_are_refused(seed):
    x = np.random.default_rng(seed).beta(0.3, 0.3, 200)
    with pytest.raises(DataError, match=r"has no maximum: it grows with the scale"):
        d.TruncatedNormal.fit(x, low=0, high=1)
    with pytest.raises(DataError, match=r"has no maximum at finite"):
        d.F.fit(x)


def test_the_limit_of_truncated_normals_decides_whether_there_is_a_maximum():
    """An exponential sample spreads as much as the limit, a slightly narrower one does not."""
    x = d.Exponential(2).quantile((np.arange(4000) + 0.5) / 4000)
    narrower = x.mean() + 0.8 * (x - x.mean()) * 0.5 * x.mean() / (0.5 * x.std())
    assert np.isfinite(d.TruncatedNormal.fit(narrower, low=0).estimates).all()
    wider = np.maximum(x.mean() + 1.3 * (x - x.mean()), 0)
    with pytest.raises(DataError, match=r"has no maximum"):
        d.TruncatedNormal.fit(wider, low=0)


def test_bad_options_are_refused():
    with pytest.raises(ParameterError, match=r"low='a' must be a finite number"):
        d.Uniform.fit([1, 2], low="a")
    with pytest.raises(ParameterError, match=r"n_categories=0 must be a whole number ≥ 1"):
        d.Categorical.fit([0, 1], n_categories=0)
    with pytest.raises(ParameterError, match=r"name='q' is not a parameter .* are p\."):
        d.Bernoulli.fit([0, 1]).interval("q")
    with pytest.raises(ParameterError, match=r"level=0 must lie strictly"):
        d.Bernoulli.fit([0, 1]).intervals(0)
