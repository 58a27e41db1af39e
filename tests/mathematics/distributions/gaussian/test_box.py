"""The mass of a Gaussian in a box, and draws from what is left of it."""

import numpy as np
import pytest
from scipy.stats import kstest, multivariate_normal, norm, truncnorm

from thetahat.mathematics.distributions.gaussian.box import draw_in_box, log_box_masses


def gaussian(d, random):
    mean = random.standard_normal(d)
    return mean, np.tril(random.standard_normal((d, d)), -1) * 0.5 + np.eye(d)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_masses_agree_with_scipy(d):
    random = np.random.default_rng(1)
    means, factors = map(np.array, zip(*(gaussian(d, random) for _ in range(5)), strict=True))
    low = means - random.random((5, d)) * 2
    high = low + random.random((5, d)) * 3 + 0.2
    expected = [
        multivariate_normal(means[k], factors[k] @ factors[k].T).cdf(
            high[k], lower_limit=low[k], rng=np.random.default_rng(0)
        )
        for k in range(5)
    ]
    got = np.exp(log_box_masses(means, factors, low, high))
    np.testing.assert_allclose(got, expected, rtol=0.015)


@pytest.mark.parametrize("full", [True, False])
def test_masses_of_independent_columns_are_exact_however_far_out(full):
    low, high = np.array([[-1.0, 30.0, -np.inf]]), np.array([[2.0, 31.0, -35.0]])
    deviation = np.array([[0.5, 1.0, 2.0]])
    factor = np.diag(deviation[0])[None] if full else deviation
    expected = np.log(norm.cdf(4) - norm.cdf(-2)) + np.log(norm.sf(30) - norm.sf(31))
    expected += norm.logcdf(-17.5)
    got = log_box_masses(np.zeros((1, 3)), factor, low, high)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    everywhere = np.full((1, 3), np.inf)
    assert log_box_masses(np.zeros((1, 3)), factor, -everywhere, everywhere) == 0.0


def test_a_box_beyond_all_floats_has_no_mass():
    for d in (1, 2):
        mean, factor = np.zeros(d), np.eye(d) + 0.5 * np.tri(d, k=-1)
        low, high = np.full(d, 60.0), np.full(d, 61.0)
        assert log_box_masses(mean[None], factor[None], low[None], high[None]) == -np.inf
        drawn = draw_in_box(5, mean, factor, low, high, np.random.default_rng(0))
        assert ((drawn >= 60) & (drawn <= 61)).all()


def test_draws_of_one_column_follow_the_truncated_law():
    for low, high in ((-1.0, 0.5), (1.0, np.inf), (-np.inf, -2.0)):
        rng = np.random.default_rng(1)
        drawn = draw_in_box(
            2000, np.array([0.3]), np.array([[2.0]]), np.array([low]), np.array([high]), rng
        )
        law = truncnorm((low - 0.3) / 2, (high - 0.3) / 2, 0.3, 2.0)
        assert kstest(drawn[:, 0], law.cdf).pvalue > 1e-3


def test_draws_of_correlated_columns_are_those_that_rejection_keeps():
    random = np.random.default_rng(2)
    mean, factor = np.zeros(2), np.array([[1.0, 0.0], [0.8, 0.6]])
    low, high = np.array([-0.5, 0.2]), np.array([2.0, 1.5])
    drawn = draw_in_box(4000, mean, factor, low, high, np.random.default_rng(1))
    plain = random.standard_normal((40_000, 2)) @ factor.T
    plain = plain[((plain >= low) & (plain <= high)).all(axis=1)]
    assert ((drawn >= low) & (drawn <= high)).all()
    for direction in np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]]):
        assert kstest(drawn @ direction, plain @ direction).pvalue > 1e-3
