"""What a risk can do follows from its parts; stochastic steps, and other forms of it."""

import numpy as np
import pytest

import thetahat as th
from tests.objective.risk_cases import Chunks, draw, every, risk_of, somewhere
from thetahat.mathematics.losses.base import (
    Curved,
    Loss,
    Reweightable,
    Smooth,
    Subdifferentiable,
)
from thetahat.mathematics.losses.custom import loss as loss_from

opt, losses, penalties = th.optimizers, th.losses, th.penalties


# --- capabilities ------------------------------------------------------------------------------


def refusal(risk, method):
    with pytest.raises(th.errors.CapabilityError) as refused:
        th.minimise(risk, method)
    return str(refused.value)


def test_a_refusal_names_the_part_at_fault_and_a_way_out():
    risk = risk_of(losses.Squared(), penalties.L1())
    assert refusal(risk, opt.LBFGS()) == (
        'LBFGS needs a smooth penalty; L1 is not. Use solver="coordinate_descent", '
        '"proximal_gradient", "proximal_newton" or "working_sets".'
    )
    risk = risk_of(losses.Absolute())
    assert refusal(risk, opt.Newton()) == (
        'Newton needs a smooth loss; Absolute is not. Use solver="augmented_lagrangian", '
        '"dual_coordinate_descent", "interior_point" or "irls".'
    )
    risk = risk_of(losses.Logistic(), penalties.L1())
    assert refusal(risk, opt.CoordinateDescent()) == (
        "CoordinateDescent needs the squared loss; Logistic is another. "
        'Use solver="proximal_gradient" or "proximal_newton".'
    )
    risk = risk_of(losses.Hinge())
    assert refusal(risk, opt.IRLS()) == (
        "IRLS needs a loss that reweights residuals; Hinge does not. "
        'Use solver="augmented_lagrangian", "dual_coordinate_descent" or "interior_point".'
    )
    data = draw(losses.Squared())
    risk = risk_of(losses.Squared(), source=Chunks.of(*data, [30, 30]))
    assert refusal(risk, opt.SketchedNewton()).startswith(
        "SketchedNewton needs rows in any order; Chunks gives them one after another. Use"
    )
    assert "LevenbergMarquardt needs residuals alone, without a penalty; L2 is one." in refusal(
        risk, opt.LevenbergMarquardt()
    )


def test_a_refusal_calls_a_custom_loss_by_its_name():
    custom = loss_from(lambda y, z: np.abs(z - y), name="my_distance")
    assert "a smooth loss; my_distance is not" in refusal(risk_of(custom), opt.LBFGS())


@every(Loss)
def test_what_is_offered_follows_the_types(loss):
    smooth, kinked = risk_of(loss, penalties.L2()), risk_of(loss, penalties.L1())
    assert hasattr(smooth, "value_and_gradient") is isinstance(loss, Smooth)
    assert hasattr(smooth, "hessian") is isinstance(loss, Curved)
    assert hasattr(smooth, "majoriser") is isinstance(loss, Reweightable)
    assert hasattr(smooth, "separable_quadratic") is isinstance(loss, losses.Squared)
    assert hasattr(smooth, "value_and_subgradient") is isinstance(loss, Subdifferentiable)
    assert hasattr(kinked, "smooth_value_and_gradient") is isinstance(loss, Smooth)
    assert not hasattr(kinked, "value_and_gradient")
    assert not hasattr(kinked, "hessian")
    assert not hasattr(smooth, "residuals")


def test_a_smooth_penalty_belongs_to_the_smooth_part():
    risk = risk_of(losses.Logistic(), penalties.L2(0.3))
    theta = somewhere(risk)
    assert risk.smooth_value_and_gradient(theta)[0] == risk.value(theta)
    assert risk.nonsmooth_value(theta) == 0.0
    np.testing.assert_array_equal(risk.prox(theta, 1.0), theta)


def test_the_prox_leaves_the_intercept():
    risk = risk_of(losses.Logistic(), penalties.L1(1.0))
    np.testing.assert_allclose(
        risk.prox(np.array([3.0, -0.5, 2.0, -7.0]), 1.0), [2.0, 0.0, 1.0, -7.0]
    )
    theta = np.zeros(4)
    assert risk.optimality_gap(theta, np.array([0.5, 0.0, -1.0, 0.25])) == 0.25


# --- stochastic gradients: opt.sgd, ols.gd -----------------------------------------------------


@every(Subdifferentiable)
def test_single_rows_are_unbiased(loss):
    risk = risk_of(loss)
    theta = somewhere(risk)
    _, full = risk.value_and_subgradient(theta)
    rows = range(risk.n_terms)
    singles = np.mean([risk.sample_gradient(theta, np.array([i])) for i in rows], axis=0)
    np.testing.assert_allclose(singles, full, atol=1e-12)
    order = np.random.default_rng(0).permutation(risk.n_terms).reshape(-1, 6)
    batches = np.mean([risk.sample_gradient(theta, rows) for rows in order], axis=0)
    np.testing.assert_allclose(batches, full, atol=1e-12)


def test_mean_squared_error_and_its_gradient():
    """MSE is twice the mean of the library's r²/2: ∇MSE = (2/m) Σ (wᵀx + b − y) x."""
    X, y, _ = draw(losses.Squared())
    risk = risk_of(losses.Squared(), penalties.NoPenalty(), (X, y, None))
    theta = somewhere(risk)
    error = X @ theta[:3] + theta[3] - y
    value, gradient = risk.value_and_gradient(theta)
    assert 2 * value == pytest.approx(np.mean(error**2))
    np.testing.assert_allclose(2 * gradient[:3], 2 / len(y) * X.T @ error)
    assert 2 * gradient[3] == pytest.approx(2 * error.mean())


def test_the_stochastic_step_for_squared_error():
    """w ← w − 2η(wᵀx + b − y)x: with r²/2 in place of r², a step of 2η."""
    X, y, _ = draw(losses.Squared())
    eta, theta = 0.01, np.array([0.5, 1.0, -1.0, 2.0])
    risk = risk_of(losses.Squared(), penalties.NoPenalty(), (X[:1], y[:1], None))
    method = opt.StochasticGradient(step=2 * eta, random_state=0)
    state = method.advance(risk, method.start(risk, theta))
    error = X[0] @ theta[:3] + theta[3] - y[0]
    np.testing.assert_allclose(state.theta[:3], theta[:3] - 2 * eta * error * X[0])


@pytest.mark.parametrize(
    "method",
    [
        opt.GradientDescent(),
        opt.GradientDescent(step=0.3),
        opt.StochasticGradient(1, step=opt.InverseTime(1.0), random_state=0),
        opt.StochasticGradient(10, "replacement", 0.1, averaging=True, random_state=0),
    ],
    ids=str,
)
def test_descent_solves_least_squares(method):
    X, y, weight = draw(losses.Squared())
    risk = risk_of(losses.Squared(), penalties.NoPenalty())
    design = np.column_stack([X, np.ones(len(y))]) * np.sqrt(weight)[:, None]
    exact = np.linalg.lstsq(design, y * np.sqrt(weight), rcond=None)[0]
    solution = th.minimise(risk, method, max_steps=None if method.reaches_optimum else 50)
    atol = 1e-6 if method.reaches_optimum else 0.05
    np.testing.assert_allclose(solution.theta, exact, atol=atol)


# --- other forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_risk_as_a_separable_quadratic(fit_intercept):
    penalty = penalties.ElasticNet(0.2, 0.5) & penalties.NonNegative()
    risk = risk_of(losses.Squared(), penalty, fit_intercept=fit_intercept)
    quadratic = risk.separable_quadratic()
    for seed in range(3):
        theta = np.abs(somewhere(risk, seed))
        state = opt.CoordinateDescent().start(risk, theta)
        assert state.value == pytest.approx(risk.value(theta), rel=1e-12)
        np.testing.assert_allclose(state.theta, theta, atol=1e-15)
        np.testing.assert_allclose(quadratic.outside(quadratic.inside(theta)), theta, atol=1e-15)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_risk_as_residuals(fit_intercept):
    risk = risk_of(losses.Squared(), penalties.NoPenalty(), fit_intercept=fit_intercept)
    theta = somewhere(risk)
    residuals, jacobian = risk.residuals(theta), risk.jacobian(theta)
    value, gradient = risk.value_and_gradient(theta)
    assert np.sum(residuals**2) / 2 == pytest.approx(value)
    np.testing.assert_allclose(jacobian.T @ residuals, gradient, atol=1e-12)
    one = th.minimise(risk, opt.GaussNewton())
    other = th.minimise(risk, opt.Newton())
    assert one.steps == other.steps == 1
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-10)
