"""Every penalty's proximal step is the minimiser of its objective."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import thetahat as th
from tests.mathematics.penalties.penalty_cases import D, coefficients, feasible, penalties
from thetahat.foundation.errors import CapabilityError
from thetahat.mathematics.penalties.base import Separable
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise


def proximal_objective(penalty, theta, step, u):
    return np.sum((u - theta) ** 2) / 2 + step * penalty.value(u)


@penalties(where=lambda penalty: penalty.convex)
@pytest.mark.parametrize("step", [0.1, 1.0, 3.0])
def test_prox_of_a_convex_penalty_is_the_minimiser(penalty, step):
    """F(u) = ½‖u − θ‖² + step·R(u) is strongly convex: p minimises it exactly when
    F(u) ≥ F(p) + ½‖u − p‖² for all u."""
    rng = np.random.default_rng(1)
    for theta in coefficients(penalty):
        p = penalty.prox(theta, step)
        assert p.shape == theta.shape
        lowest = proximal_objective(penalty, theta, step, p)
        assert np.isfinite(lowest)
        others = [theta, np.zeros_like(theta)]
        others += [p + rng.normal(scale=s, size=p.shape) for s in np.repeat([1e-3, 0.1, 1], 8)]
        for entry in np.ndindex(p.shape):  # one coordinate at a time, zeros and bounds included
            for value in [-1.0, 0.0, 1.0, p[entry] - 1e-4, p[entry] + 1e-4]:
                other = p.copy()
                other[entry] = value
                others.append(other)
        for u in others:
            u = feasible(penalty, u)
            bound = lowest + np.sum((u - p) ** 2) / 2
            assert proximal_objective(penalty, theta, step, u) >= bound - 1e-8


@penalties(Separable)
@pytest.mark.parametrize("step", [0.1, 1.0])
def test_prox_of_a_separable_penalty_by_brute_force(penalty, step):
    theta = coefficients(penalty, seed=2)[0]
    p = penalty.prox(theta, step)
    best = proximal_objective(penalty, theta, step, p)
    for entry in np.ndindex(p.shape):
        for value in [0.0, theta[entry], *np.linspace(-2, 2, 81)]:
            other = p.copy()
            other[entry] = value
            assert best <= proximal_objective(penalty, theta, step, other) + 1e-12


def test_prox_of_groups_by_a_general_minimiser():
    penalty = th.penalties.GroupLasso(alpha=0.3, groups=[0, 1, 0, 1])
    theta = np.array([2.0, 0.2, -1.0, 0.1])
    found = minimize(
        lambda u: proximal_objective(penalty, theta, 1.0, u),
        theta,
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20_000, "maxfev": 20_000},
    )
    np.testing.assert_allclose(penalty.prox(theta, 1.0), found.x, atol=1e-6)
    np.testing.assert_array_equal(penalty.prox(theta, 1.0)[[1, 3]], 0.0)


def test_group_lasso_worked_numbers():
    penalty = th.penalties.GroupLasso(alpha=2.0, groups=[0, 0, 1])
    assert penalty.value(np.array([3.0, 4.0, -1.0])) == pytest.approx(2 * (math.sqrt(2) * 5 + 1))
    rows = th.penalties.GroupLasso(alpha=1.0)
    assert rows.value(np.array([[3.0, 4.0], [0.0, 0.0]])) == pytest.approx(math.sqrt(2) * 5)


def test_groups_of_one_are_the_lasso():
    theta = np.random.default_rng(0).normal(size=D)
    group, lasso = th.penalties.GroupLasso(0.4), th.penalties.L1(0.4)
    assert group.value(theta) == pytest.approx(lasso.value(theta))
    np.testing.assert_allclose(group.prox(theta, 0.7), lasso.prox(theta, 0.7), atol=1e-15)
    slope = np.random.default_rng(1).normal(size=D)
    theta[:3] = 0
    assert group.optimality_gap(theta, slope) == pytest.approx(lasso.optimality_gap(theta, slope))


def test_unused_groups_and_single_coefficients_agree_in_every_order():
    """Relabelling groups and permuting coefficients permutes the prox."""
    theta = np.random.default_rng(0).normal(size=D)
    labels = np.array([0, 1, 1, 7, 0, 1])
    order = np.random.default_rng(1).permutation(D)
    straight = th.penalties.GroupLasso(0.4, labels).prox(theta, 1.0)
    permuted = th.penalties.GroupLasso(0.4, 5 - labels[order]).prox(theta[order], 1.0)
    np.testing.assert_allclose(permuted, straight[order], atol=1e-15)


@penalties(where=lambda penalty: not isinstance(penalty, Coordinatewise))
def test_combinations_without_an_exact_prox_are_refused(penalty):
    with pytest.raises(CapabilityError, match=r"cannot be combined.*Only NoPenalty"):
        penalty & th.penalties.NonNegative()
    with pytest.raises(CapabilityError, match=type(penalty).__name__):
        th.penalties.NonNegative() & penalty


@pytest.mark.parametrize("radius", [0.2, 1.0, 2.5])
def test_projection_on_the_l1_ball_by_brute_force(radius):
    """In two dimensions the boundary is a curve: walk it, and take its nearest point."""
    t = np.linspace(-1, 1, 20_001)
    upper = np.column_stack([t, 1 - np.abs(t)])
    boundary = radius * np.vstack([upper, -upper])
    ball = th.penalties.L1Ball(radius)
    for theta in np.random.default_rng(6).normal(scale=2.0, size=(20, 2)):
        nearest = boundary[((boundary - theta) ** 2).sum(axis=1).argmin()]
        expected = theta if np.abs(theta).sum() <= radius else nearest
        np.testing.assert_allclose(ball.prox(theta, 1.0), expected, atol=3e-4)
        assert np.abs(ball.prox(theta, 1.0)).sum() <= radius * (1 + 1e-12)


@pytest.mark.parametrize("ball", [th.penalties.L1Ball(0.8), th.penalties.L2Ball(0.8)])
def test_the_step_does_not_matter_to_a_constraint(ball):
    theta = np.random.default_rng(7).normal(size=D)
    np.testing.assert_array_equal(ball.prox(theta, 0.0), ball.prox(theta, 9.0))
    np.testing.assert_allclose(ball.prox(ball.prox(theta, 1.0), 1.0), ball.prox(theta, 1.0))


def test_l0_keeps_what_is_worth_its_cost():
    penalty = th.penalties.L0(alpha=0.5)
    assert penalty.value(np.array([0.0, 2.0, -1e-30])) == 1.0
    np.testing.assert_array_equal(penalty.prox(np.array([1.01, -0.99]), 1.0), [1.01, 0.0])
    assert penalty.optimality_gap(np.array([1.0, 0.0]), np.array([0.0, 9.0])) == 0.0
    assert penalty.optimality_gap(np.array([1.0, 0.0]), np.array([2.0, 9.0])) == 2.0
    free = th.penalties.L0(alpha=0.0)
    assert free.optimality_gap(np.array([1.0, 0.0]), np.array([2.0, 9.0])) == 9.0
