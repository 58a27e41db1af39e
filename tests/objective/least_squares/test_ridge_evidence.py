"""The evidence of ridge regression: its formula, its summaries, its fixed point."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from thetahat.data.summaries.moments import moments
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.checks.finite_differences import numeric_gradient
from thetahat.objective.least_squares.ridge_evidence import (
    EvidenceFixedPoint,
    Hyperprior,
    RidgeEvidence,
)
from thetahat.objective.least_squares.ridge_path import RidgePath

FLAT, SET = Hyperprior(), Hyperprior(2.0, 0.5, 1.0, 3.0)


def problem(n, d, prior=FLAT):
    random = np.random.default_rng(n)
    X = random.standard_normal((n, d))
    y = X @ random.standard_normal(d) + random.standard_normal(n)
    source = as_source(X, y)
    if n < d:
        path = RidgePath.of_few_rows(source, np.empty(0), intercept=False)
    else:
        path = RidgePath.of(source, moments(source), np.empty(0), intercept=False)
    return RidgeEvidence.of(path, source, prior), X, y


@pytest.mark.parametrize("shape", [(30, 4), (6, 9)], ids=["tall", "wide"])
def test_value_is_the_density_of_the_targets(shape):
    evidence, X, y = problem(*shape)
    for alpha, weight in ((1.0, 1.0), (0.3, 5.0), (40.0, 0.01)):
        cloud = np.eye(len(y)) / alpha + X @ X.T / weight
        expected = multivariate_normal.logpdf(y, np.zeros(len(y)), cloud)
        assert -evidence.value(np.array([alpha, weight])) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("shape", [(30, 4), (6, 9)], ids=["tall", "wide"])
def test_posterior_is_the_normal_equations(shape):
    evidence, X, y = problem(*shape)
    theta = np.array([2.0, 0.7])
    precision = 0.7 * np.eye(shape[1]) + 2.0 * X.T @ X
    np.testing.assert_allclose(evidence.covariance(theta), np.linalg.inv(precision), atol=1e-10)
    mean = np.linalg.solve(precision, 2.0 * X.T @ y)
    np.testing.assert_allclose(evidence.coefficients(theta), mean, rtol=1e-8)
    in_axes = evidence.in_axes(theta)
    assert evidence.squares(in_axes, theta) == pytest.approx(((y - X @ mean) ** 2).sum())


@pytest.mark.parametrize("prior", [FLAT, SET], ids=["flat", "set"])
def test_the_fixed_point_is_stationary(prior):
    evidence, _, _ = problem(40, 5, prior)
    theta = np.array([1.0, 1.0])
    for _ in range(200):
        theta = evidence.improved(theta)
    slope = numeric_gradient(lambda log: evidence.value(np.exp(log)), np.log(theta))
    np.testing.assert_allclose(slope.value, 0.0, atol=1e-5)
    method = EvidenceFixedPoint()
    state = method.advance(evidence, method.start(evidence, theta))
    assert state.gap < 1e-10
