"""A run that finds no lower point: at the limit of rounding, or lost, and said to be so."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.mathematics.optimizers.loop import State
from thetahat.mathematics.optimizers.stuck import is_stuck

opt = th.optimizers


class Bowl:
    """½‖θ‖²·size + level, for which no digit of F tells of a small θ."""

    def __init__(self, size=1.0, level=0.0):
        self.size, self.level = size, level

    def value_and_gradient(self, theta):
        return self.size * float(theta @ theta) / 2 + self.level, self.size * theta


class Idle(opt.Method):
    """Gives up at once."""

    name, needs = "idle", ("value_and_gradient",)

    def start(self, problem, theta):
        value, gradient = problem.value_and_gradient(theta)
        return State(theta, value, float(np.abs(gradient).max()))

    def advance(self, problem, state):
        return State(state.theta, state.value, state.gap, stalled=True)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8, 1e40])
def test_giving_up_above_lower_points_is_no_limit_of_rounding(size):
    solution = th.minimise(Bowl(size), Idle(), np.ones(2), tolerance=1e-9 * size)
    assert solution.outcome is th.results.Outcome.STUCK
    assert not solution.outcome.success


def test_a_gradient_that_rounding_hides_is_its_limit():
    there = np.array([1e-3, 0.0])
    solution = th.minimise(Bowl(1.0, level=1e5), Idle(), there, tolerance=1e-9)
    assert solution.outcome is th.results.Outcome.STALLED


def test_duality_gaps_count_as_shares_of_the_objective():
    at = (Bowl(), np.ones(2))
    assert is_stuck(*at, 1e-6, 1e-8, "duality gap")
    assert not is_stuck(*at, 1.0, 1e-8, "duality gap")


def test_steps_of_a_proximal_problem_are_tried_too():
    class Lasso:
        def smooth_value_and_gradient(self, theta):
            return float((theta - 2) @ (theta - 2)) / 2, theta - 2

        def prox(self, theta, step):
            return np.sign(theta) * np.maximum(np.abs(theta) - step, 0)

        def value(self, theta):
            return self.smooth_value_and_gradient(theta)[0] + float(np.abs(theta).sum())

    kind = "distance from −∇S to the subdifferential of R"
    for theta, stuck in ((np.zeros(2), True), (np.ones(2), False)):
        assert is_stuck(Lasso(), theta, Lasso().value(theta), 1e-3, kind) is stuck


@pytest.mark.parametrize("size", [1e3, 1e5])
def test_lbfgs_comes_back_from_steps_that_overflow(size):
    """Its first step has length 1; along a column of that size, exp is beyond all measure there."""
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 4))
    y = random.poisson(np.exp(0.5 + X @ [0.5, -0.3, 0, 0.2])).astype(float)
    units = np.array([1, size, 1, 1])
    model = th.LinearModel("poisson", "none", solver="lbfgs", max_iter=1000, tol=1e-6)
    exact = th.LinearModel("poisson", "none", solver="newton").fit(X, y)
    np.testing.assert_allclose(model.fit(X * units, y).coef_ * units, exact.coef_, rtol=1e-4)
    assert model.solution_.outcome.success


def test_an_estimator_warns_of_it_and_says_what_to_do():
    X = np.array([[-1.0], [1.0], [2.0]])
    with pytest.warns(ConvergenceWarning, match=r"stuck.*Scale the columns, or use another solver"):
        th.LinearModel("poisson", "none", solver=Idle()).fit(X, [1.0, 2.0, 4.0])
