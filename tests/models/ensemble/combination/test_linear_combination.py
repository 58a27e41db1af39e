"""Weights of models by least squares: free, non-negative, summing to one."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import nnls

import thetahat as th
from thetahat.models.ensemble.combination.linear_combination import best_average

RANDOM = np.random.default_rng(0)
N, M = 120, 6
Y = RANDOM.standard_normal(N) * 3
SHARED = RANDOM.standard_normal((N, 1))
OUTPUTS = Y[:, None] + SHARED + RANDOM.standard_normal((N, M)) * RANDOM.uniform(0.1, 2.0, M)


def least_on_the_simplex(G):
    """Every subset of models that may share the weight is tried."""
    best = np.inf
    for size in range(1, len(G) + 1):
        for chosen in map(list, combinations(range(len(G)), size)):
            alpha = np.linalg.solve(G[np.ix_(chosen, chosen)], np.ones(size))
            alpha /= alpha.sum()
            if (alpha >= 0).all():
                best = min(best, alpha @ G[np.ix_(chosen, chosen)] @ alpha)
    return best


@pytest.mark.parametrize("seed", range(8))
def test_best_average_is_the_best_of_all(seed):
    random = np.random.default_rng(seed)
    residuals = random.standard_normal((30, 7)) * random.uniform(0.05, 1, 7)
    residuals += random.standard_normal((30, 1)) * random.choice([0.0, 1.0, 10.0])
    G = residuals.T @ residuals / 30
    alpha = best_average(G)
    assert (alpha >= 0).all()
    np.testing.assert_allclose(alpha.sum(), 1.0)
    np.testing.assert_allclose(alpha @ G @ alpha, least_on_the_simplex(G), rtol=1e-9)


def test_free_weights_are_least_squares():
    model = th.LinearCombination().fit(OUTPUTS, Y)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(OUTPUTS, Y, rcond=None)[0], rtol=1e-9)
    assert model.intercept_ == 0
    ridge = th.LinearCombination(alpha=0.5).fit(OUTPUTS, Y)
    G = OUTPUTS.T @ OUTPUTS / N + 0.5 * np.eye(M)
    np.testing.assert_allclose(ridge.coef_, np.linalg.solve(G, OUTPUTS.T @ Y / N), rtol=1e-8)


def test_non_negative_weights():
    model = th.LinearCombination(positive=True).fit(OUTPUTS, Y)
    np.testing.assert_allclose(model.coef_, nnls(OUTPUTS, Y)[0], atol=1e-7)


def test_weights_that_sum_to_one():
    """α ∝ G⁻¹1, with G the products of residuals; positive ones are an average."""
    residuals = Y[:, None] - OUTPUTS
    alpha = np.linalg.solve(residuals.T @ residuals, np.ones(M))
    free = th.LinearCombination(sum_to_one=True).fit(OUTPUTS, Y)
    np.testing.assert_allclose(free.coef_, alpha / alpha.sum(), rtol=1e-6)
    average = th.LinearCombination(sum_to_one=True, positive=True).fit(OUTPUTS, Y)
    assert (average.coef_ >= 0).all()
    np.testing.assert_allclose(average.coef_.sum(), 1.0)
    found = average.coef_ @ (residuals.T @ residuals) @ average.coef_
    np.testing.assert_allclose(found, least_on_the_simplex(residuals.T @ residuals), rtol=1e-8)
    shifted = th.LinearCombination(sum_to_one=True, positive=True).fit(OUTPUTS + 100, Y + 100)
    np.testing.assert_allclose(shifted.coef_, average.coef_, atol=1e-6)


def test_a_penalty_draws_to_equal_weights():
    strict = th.LinearCombination(alpha=1e6, sum_to_one=True, positive=True).fit(OUTPUTS, Y)
    np.testing.assert_allclose(strict.coef_, 1 / M, atol=1e-4)


def test_an_intercept_takes_what_all_models_miss():
    for options in ({}, {"sum_to_one": True}, {"sum_to_one": True, "positive": True}):
        model = th.LinearCombination(fit_intercept=True, **options).fit(OUTPUTS - 50, Y)
        plain = th.LinearCombination(fit_intercept=True, **options).fit(OUTPUTS, Y)
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-7)
        np.testing.assert_allclose(model.predict(OUTPUTS - 50), plain.predict(OUTPUTS), atol=1e-6)


def test_models_that_agree_share_alike():
    twins = np.column_stack([Y + SHARED[:, 0], Y + SHARED[:, 0]])
    model = th.LinearCombination(sum_to_one=True, positive=True).fit(twins, Y)
    np.testing.assert_allclose(model.coef_, 0.5)
    exact = np.column_stack([Y, Y])
    np.testing.assert_allclose(th.LinearCombination(sum_to_one=True).fit(exact, Y).coef_, 0.5)
    opposite = np.column_stack([Y + SHARED[:, 0], Y - SHARED[:, 0], Y + 2 * SHARED[:, 0]])
    best = th.LinearCombination(sum_to_one=True, positive=True).fit(opposite, Y)
    np.testing.assert_allclose(best.predict(opposite), Y, atol=1e-6)


def test_weights_are_repetitions():
    random = np.random.default_rng(1)
    weight = random.integers(0, 3, N)
    rows = np.repeat(np.arange(N), weight)
    for options in ({"alpha": 0.1}, {"sum_to_one": True, "positive": True, "alpha": 0.1}):
        weighted = th.LinearCombination(**options).fit(OUTPUTS, Y, sample_weight=weight)
        repeated = th.LinearCombination(**options).fit(OUTPUTS[rows], Y[rows])
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8)


def test_bad_parameters():
    with pytest.raises(th.errors.ParameterError, match="alpha=-1 must be a number ≥ 0"):
        th.LinearCombination(alpha=-1).fit(OUTPUTS, Y)
