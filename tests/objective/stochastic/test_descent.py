"""Epochs of single-row steps: when they end, and where."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.mathematics.optimizers.stochastic.learning_rates import LearningRate
from thetahat.objective.stochastic import descent as descent_module
from thetahat.objective.stochastic.descent import StochasticDescent, stacked
from thetahat.objective.stochastic.steps import Steps, Walk


def run(rate, n_walks=1, watch=None, **options):
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 2))
    y = X @ [1.0, -2.0] + 0.5 + 0.1 * random.standard_normal(300)
    descent = StochasticDescent(
        Steps(th.losses.Squared()), rate, lambda number, targets: (number + 1) * targets, **options
    )
    walks = [Walk(np.zeros(2), 0.0) for _ in range(n_walks)]
    solution, following = descent.run(
        as_source(X, y), walks, np.random.default_rng(1), watch or Watch()
    )
    return solution, following


def test_the_coefficients_are_near_those_of_least_squares():
    solution, following = run(LearningRate("constant", 0.01))
    assert solution.outcome is Outcome.CONVERGED
    np.testing.assert_allclose(solution.theta[:, 0], [1.0, -2.0, 0.5], atol=0.05)
    assert following == 1 + 300 * solution.steps


def test_every_walk_has_its_own_targets():
    solution, _ = run(LearningRate("constant", 0.01), n_walks=2)
    np.testing.assert_allclose(solution.theta[:, 1], 2 * solution.theta[:, 0], atol=0.1)


@pytest.mark.parametrize("n_walks", [1, 3])
def test_epochs_ahead_are_those_one_by_one(n_walks):
    """Walks of other targets end after other numbers of epochs."""
    rate, calls = LearningRate("constant", 0.001), []
    watch = Watch(on_step=lambda step, theta, value: calls.append(step))
    found, following = run(rate, n_walks, tolerance=0.05)
    expected, same = run(rate, n_walks, watch, tolerance=0.05)
    assert len(calls) == expected.steps == found.steps
    assert following == same
    np.testing.assert_array_equal(found.theta, expected.theta)


@pytest.mark.parametrize("limit", [0, 10**9])
def test_threads_change_no_bit_of_the_walks(limit, monkeypatch):
    monkeypatch.setattr(descent_module, "FEW_PRODUCTS", limit)
    rate = LearningRate("constant", 0.001)
    with th.config(threads=2):
        found, _ = run(rate, 3)
    with th.config(threads=1):
        np.testing.assert_array_equal(found.theta, run(rate, 3)[0].theta)


def test_epochs_are_limited_and_divergence_is_reported():
    solution, _ = run(LearningRate("constant", 1e-4), max_epochs=2, tolerance=None)
    assert (solution.outcome, solution.steps) == (Outcome.STEPS_EXHAUSTED, 2)
    assert run(LearningRate("constant", 10.0), max_epochs=3)[0].outcome is Outcome.DIVERGED


def test_stacking_puts_intercepts_last():
    found = stacked([(np.array([1.0, 2.0]), 3.0), (np.array([4.0, 5.0]), 6.0)])
    np.testing.assert_array_equal(found, [[1, 4], [2, 5], [3, 6]])
