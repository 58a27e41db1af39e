"""Quasi-Newton steps within bounds from the curvature of a sample."""

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.kernel import marginal_likelihood
from thetahat.objective.kernel.projected_bfgs import ProjectedBFGS, curvature


class Valley:
    """Σ cⱼ(xⱼ − 1)²/2 + (x₀x₁)⁴/4 within bounds, with its gradient."""

    def __init__(self, low=-5.0, high=5.0):
        self.bounds = np.array([[low, high]] * 3)
        self.evaluations = 0

    def value_and_gradient(self, x):
        self.evaluations += 1
        scale, both = np.array([1.0, 100.0, 1e4]), x[0] * x[1]
        value = float(scale @ (x - 1) ** 2) / 2 + both**4 / 4
        return value, scale * (x - 1) + both**3 * np.array([x[1], x[0], 0.0])


def test_the_minimum_is_reached_in_few_steps():
    problem = Valley()
    start = np.array([3.0, -2.0, 0.5])
    found = minimise(problem, ProjectedBFGS(curvature(Valley(), start)), start, tolerance=1e-9)
    assert found.outcome.success
    np.testing.assert_allclose(problem.value_and_gradient(found.theta)[1], 0.0, atol=1e-9)
    assert problem.evaluations < 40


def test_variables_stop_at_their_bounds():
    problem = Valley(high=0.5)
    start = np.full(3, -1.0)
    found = minimise(problem, ProjectedBFGS(curvature(Valley(), start)), start, tolerance=1e-9)
    assert found.outcome.success
    np.testing.assert_array_equal(found.theta, 0.5)


def test_curvature_is_the_hessian_with_positive_eigenvalues():
    x = np.array([0.3, -0.2, 2.0])
    both = x[0] * x[1]
    mixed = 4 * both**3
    H = np.diag([1.0, 100.0, 1e4]) + np.array(
        [[3 * both**2 * x[1] ** 2, mixed, 0], [mixed, 3 * both**2 * x[0] ** 2, 0], [0, 0, 0]]
    )
    values, vectors = np.linalg.eigh(H)
    expected = (vectors * np.maximum(np.abs(values), 10.0)) @ vectors.T
    np.testing.assert_allclose(curvature(Valley(), x), expected, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("noise", [1e-8, "per row"])
def test_a_fit_that_begins_with_a_sample_has_the_same_optimum(monkeypatch, noise):
    random = np.random.default_rng(0)
    X = random.standard_normal((400, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * random.standard_normal(400)
    kernel = 1.0 * th.kernels.RBF(length_scale=(1.0, 1.0)) + th.kernels.White(1.0)
    alpha = noise if noise == 1e-8 else np.full(400, 1e-8)
    evaluations = []
    evaluate = marginal_likelihood.MarginalLikelihood._evaluate

    def counted(self, theta):
        evaluations.append(len(self.X))
        return evaluate(self, theta)

    monkeypatch.setattr(marginal_likelihood.MarginalLikelihood, "_evaluate", counted)
    whole = th.GaussianProcessRegressor(kernel, alpha=alpha).fit(X, y)
    n_whole = evaluations.count(400)
    evaluations.clear()
    monkeypatch.setattr(marginal_likelihood, "LEAST_SAMPLED", 400)
    sampled = th.GaussianProcessRegressor(kernel, alpha=alpha).fit(X, y)
    assert sampled.solution_.outcome.success
    assert "start and curvature from 100 of 400 rows" in sampled.solution_.reason
    assert evaluations.count(400) < 0.7 * n_whole
    assert evaluations.count(100) > 0
    np.testing.assert_allclose(
        sampled.log_marginal_likelihood_value_, whole.log_marginal_likelihood_value_, atol=1e-3
    )
