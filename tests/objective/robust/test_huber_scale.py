"""Huber's loss with its scale as one convex problem."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.checks.finite_differences import numeric_gradient
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.robust.huber_scale import HuberWithScale


def problem(make=np.asarray, d=2):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, d))
    y = X[:, 0] - X[:, 1] + 0.3 * random.standard_t(2, 60)
    source = as_source(make(X), y, random.random(60))
    return HuberWithScale(LinearPredictor(d), 1.35, 0.1, source)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_gradient_and_hessian_are_derivatives(make):
    risk, theta = problem(make), np.array([0.5, -0.5, 0.1, 0.7])
    _, gradient = risk.value_and_gradient(theta)
    np.testing.assert_allclose(gradient, numeric_gradient(risk.value, theta).value, atol=1e-7)
    step = 1e-6 * np.eye(4)
    slopes = [
        (risk.value_and_gradient(theta + e)[1] - risk.value_and_gradient(theta - e)[1]) / 2e-6
        for e in step
    ]
    np.testing.assert_allclose(risk.hessian(theta), slopes, atol=1e-5)


def test_the_gradient_vanishes_at_the_minimum_and_units_do_not_matter():
    risk = problem()
    found = minimise(risk, th.optimizers.Newton(), tolerance=1e-10)
    assert found.outcome.success
    source = as_source(risk.source.X, 10 * risk.source.y, risk.source.weight)
    # In other units of y the minimum is at 10·θ̂ if the penalty is divided by 10.
    other = HuberWithScale(risk.predictor, 1.35, 0.1 / 10, source)
    scaled = minimise(other, th.optimizers.Newton(), tolerance=1e-10)
    np.testing.assert_allclose(scaled.theta, 10 * found.theta, rtol=1e-5)


def test_the_majoriser_lies_above():
    risk, theta = problem(), np.array([0.5, -0.5, 0.1, 0.7])
    gradient, bend = risk.majoriser(theta)
    value = risk.value(theta)
    for seed in range(10):
        move = 0.02 * np.random.default_rng(seed).standard_normal(4)
        there = risk.value(theta + move)
        assert there <= value + gradient @ move + 0.6 * move @ bend @ move + 1e-9


def test_no_scale_below_the_smallest():
    assert problem().value(np.array([0.0, 0.0, 0.0, -1.0])) == np.inf


@pytest.mark.parametrize("d", [3, 80], ids=["compiled", "wide"])
def test_rows_of_other_processes_have_the_same_gram_matrix(d):
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    random = np.random.default_rng(2)
    X = random.standard_normal((1_200, d))
    y = X[:, 0] + random.standard_t(1.5, 1_200)
    parts = th.from_dask(da.from_array(X, chunks=(400, d)), da.from_array(y, chunks=400))
    here, there = (
        HuberWithScale(LinearPredictor(d), 1.35, 0.1, rows) for rows in (as_source(X, y), parts)
    )
    theta = np.append(np.zeros(d + 1), 1.0)
    with dask.config.set(scheduler="synchronous"):
        for step in (0.0, 0.05, 0.1, 5.0, 5.1):
            point = theta + step
            for risk in (here, there):
                risk.value_and_gradient(point)
            np.testing.assert_allclose(there.hessian(point), here.hessian(point), rtol=1e-9)
        fits = [th.HuberRegressor().fit(parts) for _ in range(3)]
    assert {fit.coef_.tobytes() for fit in fits} == {fits[0].coef_.tobytes()}
    assert len({fit.n_iter_ for fit in fits}) == 1
