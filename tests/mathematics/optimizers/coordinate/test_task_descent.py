"""Coordinate descent for several targets: the number of sweeps, the objective, and its bits."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th

RANDOM = np.random.default_rng(7)
WIDE = RANDOM.normal(size=(100, 500))
TARGETS = WIDE[:, :4] @ RANDOM.normal(size=(4, 3)) + 0.3 * RANDOM.normal(size=(100, 3))
SLOPES = (WIDE - WIDE.mean(axis=0)).T @ (TARGETS - TARGETS.mean(axis=0))
LARGEST = np.linalg.norm(SLOPES, axis=1).max() / 100


def value(model, alpha, l1_ratio):
    residual, norms = TARGETS - model.predict(WIDE), np.linalg.norm(model.coef_, axis=0)
    penalty = l1_ratio * norms.sum() + (1 - l1_ratio) / 2 * np.sum(norms**2)
    return np.sum(residual**2) / 200 + alpha * penalty


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_a_small_penalty_on_wide_data_takes_few_sweeps(l1_ratio):
    alpha = 0.001 * LARGEST
    model = th.MultiTaskElasticNet(alpha, l1_ratio=l1_ratio).fit(WIDE, TARGETS)
    exact = th.MultiTaskElasticNet(alpha, l1_ratio=l1_ratio, tol=1e-10, max_iter=100_000)
    exact.fit(WIDE, TARGETS)
    assert model.n_iter_ < 400
    least = value(exact, alpha, l1_ratio)
    assert least <= value(model, alpha, l1_ratio) <= least + model.dual_gap_


def test_a_set_of_all_columns_is_solved_far_within_the_tolerance():
    few = th.MultiTaskLasso(0.01 * LARGEST).fit(WIDE[:, :60], TARGETS)
    spread = np.sum((TARGETS - TARGETS.mean(axis=0)) ** 2) / 100
    assert few.dual_gap_ <= 0.02 * few.tol * spread


def test_the_kind_of_columns_hardly_changes_the_coefficients():
    alpha, options = 0.05 * LARGEST, {"tol": 1e-12, "max_iter": 100_000}
    thinned = np.where(np.abs(WIDE) > 1, WIDE, 0.0).astype(np.float32)
    weights = np.linspace(0.5, 2.0, 100)
    expected = th.MultiTaskLasso(alpha, **options).fit(np.float64(thinned), TARGETS, weights)
    for X in (thinned, np.asfortranarray(thinned), sp.csr_array(np.float64(thinned))):
        model = th.MultiTaskLasso(alpha, **options).fit(X, TARGETS, weights)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)


def test_threads_do_not_change_the_bits():
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            found.append(th.MultiTaskLasso(0.003 * LARGEST).fit(WIDE, TARGETS).coef_)
    np.testing.assert_array_equal(*found)
