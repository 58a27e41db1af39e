"""The dual of a risk with one multiplier per row."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

LOSSES = [th.losses.Hinge(), th.losses.SquaredHinge()]


def risk_of(loss, make=np.asarray, intercept=True):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 3))
    y = np.sign(X @ [1.0, -2.0, 0.0] + random.standard_normal(60))
    source = as_source(make(X), y, random.random(60))
    return EmpiricalRisk(LinearPredictor(3, 0, intercept), loss, th.penalties.L2(0.1), source)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_touching_function_lies_below_the_risk_and_has_its_gradient(loss, make):
    risk = risk_of(loss, make)
    form, theta, reach = risk.dual_form(), np.array([0.5, -0.5, 0.1, 0.2]), 2.0
    touch = form.at(theta, form.start(), reach)
    np.testing.assert_allclose(touch.primal, risk.value(theta), rtol=1e-12)
    step = 1e-6 * np.eye(4)
    values = [[form.at(theta + s * e, form.start(), reach).value for s in (1, -1)] for e in step]
    numeric = np.array([(up - down) / 2e-6 for up, down in values])
    np.testing.assert_allclose(touch.gradient, numeric, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_both_dual_methods_reach_the_same_optimum(loss, intercept):
    risk = risk_of(loss, intercept=intercept)
    exact = minimise(risk, th.optimizers.AugmentedLagrangian(), tolerance=1e-10)
    other = minimise(risk, th.optimizers.DualCoordinateDescent(), tolerance=1e-9)
    assert other.value - exact.value <= other.gap + 1e-10
    np.testing.assert_allclose(other.theta, exact.theta, atol=1e-3)


def test_dense_rows_that_are_mostly_zeros_are_visited_as_sparse_rows():
    X = sp.random_array((50, 40), density=0.05, rng=np.random.default_rng(1), format="csr")
    y = np.where(np.arange(50) % 2, 1.0, -1.0)
    predictor, penalty = LinearPredictor(40, 0, fit_intercept=False), th.penalties.L2(0.1)
    found = []
    for rows in (X, X.toarray()):
        source = as_source(rows, y, accept_sparse=True)
        risk = EmpiricalRisk(predictor, th.losses.Hinge(), penalty, source)
        assert len(risk.dual_rows().rows) == 4
        found.append(minimise(risk, th.optimizers.DualCoordinateDescent(), tolerance=1e-9).theta)
    np.testing.assert_allclose(*found, atol=1e-12)
