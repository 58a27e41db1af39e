"""Residuals and Jacobian of a non-linear fit."""

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.optimizers.checks.finite_differences import numeric_jacobian
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.curves.curve import Curve
from thetahat.objective.curves.curve_fit import CurveFit

LOSSES = [th.losses.Squared(), th.losses.Huber(0.5), th.losses.Cauchy(1.0)]


def decay(X, theta):
    return theta[0] * np.exp(-theta[1] * X[:, 0])


def problem(loss):
    random = np.random.default_rng(0)
    X = np.linspace(0.1, 3.0, 30)[:, None]
    y = decay(X, np.array([2.0, 0.7])) + 0.1 * random.standard_normal(30)
    free = np.full(2, np.inf)
    return CurveFit(Curve(decay, "autodiff"), X, y, random.random(30) + 0.5, loss, (-free, free))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_half_the_squared_residuals_are_the_loss(loss):
    fit, theta = problem(loss), np.array([1.5, 0.5])
    roots = fit.residuals(theta)
    expected = fit.weight @ loss.value(fit.y, decay(fit.X, theta))
    assert roots @ roots / 2 == pytest.approx(expected)
    numeric = numeric_jacobian(fit.residuals, theta).value
    np.testing.assert_allclose(fit.jacobian(theta), numeric, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_gradient_vanishes_at_the_minimum(loss):
    fit = problem(loss)
    found = minimise(fit, th.optimizers.TrustRegion(), np.array([1.0, 1.0]), tolerance=1e-10)
    slope = fit.jacobian(found.theta).T @ fit.residuals(found.theta)
    np.testing.assert_allclose(slope, 0.0, atol=1e-6)
    np.testing.assert_allclose(found.theta, [2.0, 0.7], atol=0.15)


def test_losses_of_other_targets_are_refused():
    with pytest.raises(th.errors.CapabilityError, match="smooth loss of real targets"):
        problem(th.losses.Logistic()).require_residual_loss("curve")
