"""Newton's steps in one compiled call: those of the method that is written for any problem."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.problem import MissingCapability
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((300, 4)) * [1.0, 10.0, 0.1, 1.0]
LINE = X @ [1.0, 0.1, -3.0, 0.5] + RANDOM.standard_normal(300)
WEIGHT = RANDOM.integers(0, 4, 300).astype(float)
TARGETS = {
    th.losses.Logistic(): (LINE > 0).astype(float),
    th.losses.SquaredHinge(): (LINE > 0).astype(float),
    th.losses.Poisson(): np.floor(np.exp(np.clip(LINE, -2, 2))),
    th.losses.Squared(): LINE,
    th.losses.Huber(1.0): LINE,
}


def risk(loss, penalty=None, *, weight=None, intercept=True, x=X, y=None):
    y = TARGETS[loss] if y is None else y
    predictor = LinearPredictor(x.shape[1], fit_intercept=intercept)
    penalty = th.penalties.L2(0.1) if penalty is None else penalty
    return EmpiricalRisk(predictor, loss, penalty, as_source(x, y, weight))


def step_by_step(problem, **options):
    """As if somebody looked at each step."""
    watch = Watch(on_step=lambda step, theta, value: False)
    return th.minimise(problem, th.optimizers.Newton(), watch=watch, **options)


@pytest.mark.parametrize("loss", TARGETS, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", [th.penalties.L2(0.3), th.penalties.NoPenalty()])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_steps_as_one_by_one(loss, weighted, intercept, penalty, dtype):
    problem = risk(
        loss, penalty, weight=WEIGHT if weighted else None, intercept=intercept, x=X.astype(dtype)
    )
    assert hasattr(problem, "compiled_newton")
    compiled = th.minimise(problem, th.optimizers.Newton())
    one_by_one = step_by_step(problem)
    assert compiled.outcome is one_by_one.outcome
    assert compiled.steps == one_by_one.steps
    np.testing.assert_array_equal(compiled.theta, one_by_one.theta)
    np.testing.assert_allclose(compiled.value, one_by_one.value, rtol=1e-14)
    assert compiled.gap == one_by_one.gap


@pytest.mark.parametrize("max_steps", [0, 1, 2])
def test_too_few_steps(max_steps):
    problem = risk(th.losses.Logistic())
    compiled = th.minimise(problem, th.optimizers.Newton(), max_steps=max_steps)
    assert compiled.outcome is Outcome.STEPS_EXHAUSTED
    assert compiled.steps == max_steps
    expected = step_by_step(problem, max_steps=max_steps)
    np.testing.assert_array_equal(compiled.theta, expected.theta)


def test_a_step_that_leads_nowhere_counts_as_one():
    problem = risk(th.losses.Logistic())
    compiled = th.minimise(problem, th.optimizers.Newton(), tolerance=0.0)
    expected = step_by_step(problem, tolerance=0.0)
    assert compiled.outcome is expected.outcome
    assert compiled.steps == expected.steps


def test_a_start_that_is_good_enough_needs_no_step():
    problem = risk(th.losses.Logistic())
    best = th.minimise(problem, th.optimizers.Newton()).theta
    again = th.minimise(problem, th.optimizers.Newton(), best)
    assert (again.steps, again.outcome) == (0, Outcome.CONVERGED)
    np.testing.assert_array_equal(again.theta, best)


def test_singular_hessians_are_left_to_the_method_for_any_problem():
    twice = np.column_stack([X, X[:, :1]])
    problem = risk(th.losses.Logistic(), th.penalties.NoPenalty(), x=twice, y=(LINE > 0) * 1.0)
    compiled, expected = th.minimise(problem, th.optimizers.Newton()), step_by_step(problem)
    assert compiled.outcome.success
    np.testing.assert_allclose(compiled.theta, expected.theta, atol=1e-6)
    assert compiled.theta[0] == pytest.approx(compiled.theta[-2], abs=1e-6)


def test_separable_classes_end():
    problem = risk(th.losses.Logistic(), th.penalties.NoPenalty(), y=(X[:, 0] > 0) * 1.0)
    compiled, expected = th.minimise(problem, th.optimizers.Newton()), step_by_step(problem)
    assert compiled.outcome is expected.outcome
    assert compiled.steps == expected.steps


def test_overflow_is_reported():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = risk(th.losses.Poisson())
        start = np.full(5, 1e200)
        solution = th.minimise(problem, th.optimizers.Newton(), start)
    assert solution.outcome is Outcome.DIVERGED


@pytest.mark.parametrize(
    ("change", "lack"),
    [
        ({"x": np.random.default_rng(1).standard_normal((300, 60))}, "at most 40 parameters"),
        ({"x": np.asfortranarray(X)}, "dense rows"),
        ({"penalty": th.penalties.L1(0.1)}, "ridge penalty or none"),
    ],
    ids=["many", "columns", "penalty"],
)
def test_where_there_is_none(change, lack):
    problem = risk(th.losses.Logistic(), **change)
    with pytest.raises(MissingCapability, match=lack):
        problem.compiled_newton  # noqa: B018


def test_rows_of_which_none_counts():
    problem = risk(th.losses.Logistic())
    problem = replace(problem, source=replace(problem.source, weight=np.zeros(300)))
    assert not hasattr(problem, "compiled_newton")
    with pytest.raises(th.errors.DataError, match="All sample weights are zero"):
        th.minimise(problem, th.optimizers.Newton())


def test_losses_that_the_kernel_does_not_know():
    problem = risk(th.losses.Exponential(), y=TARGETS[th.losses.Logistic()])
    with pytest.raises(MissingCapability, match="Exponential"):
        problem.compiled_newton  # noqa: B018


def test_sizes_are_checked():
    from thetahat import _native

    none, y = np.empty(0), np.ones(3)
    for theta, ridge, total, rule in (
        (np.zeros(2), np.zeros(3), 1.0, "ridge"),
        (np.zeros(2), np.zeros(2), 0.0, "total"),
    ):
        with pytest.raises(ValueError, match=rule):
            _native.compiled_newton(
                np.ones((3, 2)), y, none, theta, 0.0, 0, 0.0, ridge, total, 1e-8, 5, 1e-11, 0.0
            )


@pytest.mark.parametrize("level", [0.0, 100.0, 1e5])
@pytest.mark.parametrize("penalty", [th.penalties.L2(1e-3), th.penalties.NoPenalty()])
def test_far_from_the_bend_the_parabola_above_leads_back(level, penalty):
    """All rows beyond δ: no curvature at the start, and too little of it on the way."""
    problem = risk(th.losses.Huber(1.0), penalty, y=100 * LINE + level, weight=WEIGHT)
    compiled = th.minimise(problem, th.optimizers.Newton())
    assert compiled.outcome is Outcome.CONVERGED
    assert compiled.steps < 40
    one_by_one = step_by_step(problem)
    assert compiled.steps == one_by_one.steps
    np.testing.assert_array_equal(compiled.theta, one_by_one.theta)
