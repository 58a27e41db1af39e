"""Every method reaches the optimum it promises, behind one loop that stops, keeps and refuses."""

import itertools
import math
from dataclasses import fields

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.optimizers.optimizer_problems import (
    EXACT,
    GENERAL,
    METHODS,
    ROSENBROCK_START,
    LeastSquares,
    Rosenbrock,
    every,
)
from thetahat.foundation.watch import Watch

opt = th.optimizers


@every(EXACT)
def test_every_exact_method_solves_least_squares(kind):
    problem = LeastSquares.random()
    solution = th.minimise(problem, kind(), tolerance=1e-12 if kind.name[0] == "a" else 1e-9)
    assert solution.outcome is th.results.Outcome.CONVERGED
    assert solution.solver == kind.name
    np.testing.assert_allclose(solution.theta, problem.optimum, atol=1e-6)
    assert solution.value == pytest.approx(problem.value(problem.optimum), abs=1e-12)


@every([kind for kind in METHODS if not kind.reaches_optimum])
def test_every_rough_method_comes_near(kind):
    problem = LeastSquares.random()
    solution = th.minimise(problem, kind(), max_steps=400)
    start, best = problem.value(problem.start()), problem.value(problem.optimum)
    assert best - 1e-12 < solution.value < best + 0.02 * (start - best)


@every(METHODS)
def test_every_method_is_found_by_name_and_is_a_value(kind):
    assert opt.named(kind.name) == kind()
    assert all(opt.named(alias) == kind() for alias in kind.aliases)
    assert opt.named(kind()) == kind()
    assert hash(kind()) == hash(kind())
    assert kind().get_params() == {f.name: getattr(kind(), f.name) for f in fields(kind)}
    assert getattr(opt, kind.__name__) is kind


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(
        th.errors.ParameterError, match=r"'newtn' is not known\. Did you mean 'newton'\?"
    ):
        opt.named("newtn")


@every(GENERAL)
def test_every_method_never_returns_worse_than_its_start(kind):
    problem = LeastSquares.random(seed=3)
    solution = th.minimise(problem, kind(), np.full(4, 5.0), max_steps=3)
    assert solution.steps <= 3
    assert solution.value <= problem.value(np.full(4, 5.0))
    assert solution.value == pytest.approx(problem.value(solution.theta))


@every(GENERAL)
def test_time_limit(kind):
    watch = Watch(max_time=1e-9)
    solution = th.minimise(LeastSquares.random(), kind(), watch=watch, tolerance=-1.0)
    assert solution.outcome is th.results.Outcome.OUT_OF_TIME
    assert solution.steps == 1


def test_time_limit_from_the_configuration():
    with th.config(max_time=1e-9):
        solution = th.minimise(Rosenbrock(), opt.GradientDescent(), ROSENBROCK_START)
    assert solution.outcome is th.results.Outcome.OUT_OF_TIME


@every(GENERAL)
def test_a_callback_sees_every_step_and_can_stop(kind):
    seen = []

    def on_step(step, theta, value):
        seen.append(value)
        return step == 2

    solution = th.minimise(
        LeastSquares.random(), kind(), watch=Watch(on_step=on_step), tolerance=-1.0
    )
    if solution.outcome is th.results.Outcome.STALLED:  # solved to rounding before the second step
        exact = (opt.Newton, opt.LBFGS, opt.SketchedNewton, opt.ProximalNewton, opt.TrustRegion)
        assert kind in exact
        assert len(seen) == solution.steps
    else:
        assert solution.outcome is th.results.Outcome.INTERRUPTED
        assert solution.steps == len(seen) == 2


def test_the_last_step_is_reported_too():
    seen = []
    watch = Watch(on_step=lambda step, theta, value: seen.append(step))
    solution = th.minimise(LeastSquares.random(), opt.Newton(), watch=watch)
    assert solution.outcome is th.results.Outcome.CONVERGED
    assert seen == [1]


class Interrupted:
    """A problem during whose work somebody presses Ctrl-C."""

    def __init__(self, problem, after):
        self._problem, self._calls, self._after = problem, 0, after
        self.best = math.inf

    def __getattr__(self, name):
        attribute = getattr(self._problem, name)
        if name == "partial_minimisers":
            return [self._counted(name, part) for part in attribute]
        return self._counted(name, attribute) if callable(attribute) else attribute

    def _counted(self, name, attribute):
        def call(*args):
            self._calls += 1
            if self._calls > self._after:
                raise KeyboardInterrupt
            return attribute(*args)

        return call


@every([kind for kind in GENERAL if kind is not opt.CoordinateDescent])
def test_ctrl_c_keeps_the_best_parameters(kind):
    problem = LeastSquares.random()
    far = np.full(4, 10.0)
    slow = {
        opt.StochasticGradient: 100,
        opt.AlternatingMinimisation: 12,
        opt.ProximalGradient: 40,
        opt.ProximalNewton: 12,
    }
    after = slow.get(kind, 5)
    with pytest.raises(KeyboardInterrupt) as caught:
        th.minimise(Interrupted(problem, after), kind(), far, tolerance=-1.0)
    solution = caught.value.solution
    assert solution.outcome is th.results.Outcome.INTERRUPTED
    assert solution.value == pytest.approx(problem.value(solution.theta))
    assert solution.value < problem.value(far)


def test_ctrl_c_in_compiled_sweeps_is_taken_between_them():
    def press(step, theta, value):
        if step == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        th.minimise(
            LeastSquares.random(),
            opt.CoordinateDescent(),
            watch=Watch(on_step=press),
            tolerance=-1.0,
        )
    assert caught.value.solution.steps == 2


def test_ctrl_c_before_the_start_has_no_solution():
    with pytest.raises(KeyboardInterrupt) as caught:
        th.minimise(Interrupted(LeastSquares.random(), 0), opt.Newton(), np.zeros(4))
    assert not hasattr(caught.value, "solution")


@pytest.mark.parametrize(
    "method",
    [
        opt.GradientDescent(step=100.0),
        opt.Momentum(eta=100.0),
        opt.Nesterov(eta=100.0),
        opt.StochasticGradient(step=100.0, random_state=0),
    ],
    ids=lambda method: type(method).__name__,
)
def test_too_long_steps_diverge_and_keep_the_best(method):
    problem = LeastSquares.random()
    solution = th.minimise(problem, method, tolerance=-1.0)
    assert solution.outcome is th.results.Outcome.DIVERGED
    assert not solution.outcome.success
    assert np.isfinite(solution.theta).all()
    assert solution.value <= problem.value(problem.start())


def test_steps_exhausted():
    solution = th.minimise(Rosenbrock(), opt.GradientDescent(), ROSENBROCK_START, max_steps=5)
    assert solution.outcome is th.results.Outcome.STEPS_EXHAUSTED
    assert solution.steps == 5
    assert th.minimise(Rosenbrock(), opt.Newton(), ROSENBROCK_START, max_steps=0).steps == 0


def test_a_start_at_the_optimum_takes_no_step():
    problem = LeastSquares.random()
    solution = th.minimise(problem, opt.GradientDescent(), problem.optimum)
    assert solution.outcome is th.results.Outcome.CONVERGED
    assert solution.steps == 0


MONOTONE = [
    opt.AlternatingMinimisation,
    opt.CoordinateDescent,
    opt.GradientDescent,
    opt.IRLS,
    opt.Levenberg,
    opt.LevenbergMarquardt,
    opt.Newton,
]


@every(MONOTONE)
def test_the_trace_never_rises(kind):
    problem = LeastSquares.random(seed=1)
    solution = th.minimise(problem, kind(), keep_trace=True, tolerance=1e-12)
    assert len(solution.trace) == solution.steps + 1
    assert solution.trace[0] == pytest.approx(problem.value(problem.start()))
    rounding = 1e-15 * abs(solution.trace[0])
    assert all(b <= a + rounding for a, b in itertools.pairwise(solution.trace))


def test_no_trace_unless_asked():
    assert th.minimise(LeastSquares.random(), opt.Newton()).trace == ()


class Bowl:
    def value_and_gradient(self, theta):
        return float(theta @ theta), 2 * theta


def test_a_missing_ability_is_refused_with_a_way_out():
    with pytest.raises(th.errors.CapabilityError) as refusal:
        th.minimise(Bowl(), opt.Newton(), np.ones(2))
    assert str(refusal.value) == (
        "Newton needs a Hessian; Bowl has no 'hessian'. "
        'Use solver="gradient_descent", "lbfgs", "momentum" or "nesterov".'
    )


def test_a_problem_nobody_can_minimise():
    with pytest.raises(th.errors.CapabilityError, match=r"No method of .* can minimise it"):
        th.minimise(object(), opt.Newton(), np.ones(2))


def test_a_start_is_needed_from_someone():
    with pytest.raises(th.errors.ParameterError, match=r"Bowl has no start\(\).*Pass start="):
        th.minimise(Bowl(), opt.GradientDescent())
