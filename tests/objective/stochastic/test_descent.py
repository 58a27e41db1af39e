"""Epochs of single-row steps: when they end, and where."""

import numpy as np

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.mathematics.optimizers.stochastic.learning_rates import LearningRate
from thetahat.objective.stochastic.descent import StochasticDescent, stacked
from thetahat.objective.stochastic.steps import Steps, Walk


def run(rate, n_walks=1, **options):
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 2))
    y = X @ [1.0, -2.0] + 0.5 + 0.1 * random.standard_normal(300)
    descent = StochasticDescent(
        Steps(th.losses.Squared()), rate, lambda number, targets: (number + 1) * targets, **options
    )
    walks = [Walk(np.zeros(2), 0.0) for _ in range(n_walks)]
    solution, following = descent.run(as_source(X, y), walks, np.random.default_rng(1), Watch())
    return solution, following


def test_the_coefficients_are_near_those_of_least_squares():
    solution, following = run(LearningRate("constant", 0.01))
    assert solution.outcome is Outcome.CONVERGED
    np.testing.assert_allclose(solution.theta[:, 0], [1.0, -2.0, 0.5], atol=0.05)
    assert following == 1 + 300 * solution.steps


def test_every_walk_has_its_own_targets():
    solution, _ = run(LearningRate("constant", 0.01), n_walks=2)
    np.testing.assert_allclose(solution.theta[:, 1], 2 * solution.theta[:, 0], atol=0.1)


def test_epochs_are_limited_and_divergence_is_reported():
    solution, _ = run(LearningRate("constant", 1e-4), max_epochs=2, tolerance=None)
    assert (solution.outcome, solution.steps) == (Outcome.STEPS_EXHAUSTED, 2)
    assert run(LearningRate("constant", 10.0), max_epochs=3)[0].outcome is Outcome.DIVERGED


def test_stacking_puts_intercepts_last():
    found = stacked([(np.array([1.0, 2.0]), 3.0), (np.array([4.0, 5.0]), 6.0)])
    np.testing.assert_array_equal(found, [[1, 4], [2, 5], [3, 6]])
