"""Shrinkage of covariances: against scikit-learn and against the formulas of the definitions."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf, oas, shrunk_covariance

from thetahat.mathematics.covariance_shrinkage import (
    ledoit_wolf_intensity,
    oas_intensity,
    shrunk,
)


def rows(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X - X.mean(axis=0)


def fourth(X):
    return float(((X**2).sum(axis=1) ** 2).sum())


def test_shrunk_moves_towards_the_mean_variance():
    found = shrunk(np.array([[2.0, 1.0], [1.0, 4.0]]), 0.5)
    np.testing.assert_array_equal(found, [[2.5, 0.5], [0.5, 3.5]])


def test_shrunk_takes_stacks_and_leaves_its_argument_unchanged():
    stack = np.stack([np.cov(rows(20, 3, seed), rowvar=False) for seed in (0, 1)])
    before = stack.copy()
    np.testing.assert_allclose(shrunk(stack, 0.3), shrunk_covariance(stack, 0.3), rtol=1e-14)
    np.testing.assert_array_equal(stack, before)


@pytest.mark.parametrize(("n", "d"), [(2, 2), (10, 40), (50, 5), (2000, 20), (30, 1)])
def test_intensities_are_those_of_scikit_learn(n, d):
    X = rows(n, d, seed=n + d)
    covariance = X.T @ X / n
    assert ledoit_wolf_intensity(covariance, fourth(X), n) == pytest.approx(ledoit_wolf(X)[1])
    assert oas_intensity(covariance, n) == pytest.approx(oas(X)[1])


@pytest.mark.parametrize("size", [1e-70, 1e70])
def test_intensities_do_not_depend_on_units(size):
    X = rows(30, 4, seed=0)
    covariance = X.T @ X / 30
    scaled = covariance * size**2
    assert oas_intensity(scaled, 30) == pytest.approx(oas_intensity(covariance, 30))
    assert ledoit_wolf_intensity(scaled, fourth(X * size), 30) == pytest.approx(
        ledoit_wolf_intensity(covariance, fourth(X), 30)
    )


def test_a_multiple_of_the_identity_and_zero_need_no_more_than_full_shrinkage():
    assert oas_intensity(np.eye(3), 100) == 1.0
    assert oas_intensity(np.zeros((2, 2)), 5) == 1.0
    assert ledoit_wolf_intensity(np.zeros((2, 2)), 0.0, 5) == 0.0
    # Rows ±e_j: the covariance is I/2, and every distance from it is sampling error.
    assert ledoit_wolf_intensity(np.eye(2) / 2, 4.0, 4) == 1.0
