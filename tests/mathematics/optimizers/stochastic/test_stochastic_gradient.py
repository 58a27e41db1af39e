"""Gradients of some rows at a time."""

import itertools

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.optimizers.optimizer_problems import LeastSquares

opt = th.optimizers


class Recorder(LeastSquares):
    """Least squares that remembers which rows it was asked for."""

    def sample_gradient(self, theta, rows):
        self.__dict__.setdefault("asked", []).append(list(rows))
        return super().sample_gradient(theta, rows)


@pytest.mark.parametrize("batch_size", [1, 7, 40])
def test_reshuffling_visits_every_row_once_per_epoch(batch_size):
    problem = Recorder(*vars(LeastSquares.random()).values())
    method = opt.StochasticGradient(batch_size, "reshuffle", 0.01, random_state=0)
    th.minimise(problem, method, max_steps=2)
    order = list(itertools.chain(*problem.asked))
    assert sorted(order[:40]) == sorted(order[40:]) == list(range(40))
    assert order[:40] != order[40:]
    assert {len(rows) for rows in problem.asked} <= {batch_size, 40 % batch_size}


def test_replacement_draws_anew():
    problem = Recorder(*vars(LeastSquares.random()).values())
    method = opt.StochasticGradient(4, "replacement", 0.01, random_state=0)
    th.minimise(problem, method, max_steps=3)
    order = list(itertools.chain(*problem.asked))
    assert len(order) == 120
    assert len(set(order[:40])) < 40


@pytest.mark.parametrize("sampling", ["reshuffle", "replacement"])
def test_stochastic_runs_repeat_with_their_seed(sampling):
    problem = LeastSquares.random()

    def run(seed):
        method = opt.StochasticGradient(3, sampling, 0.05, random_state=seed)
        return th.minimise(problem, method, max_steps=4).theta

    np.testing.assert_array_equal(run(1), run(1))
    assert not np.array_equal(run(1), run(2))


def test_a_full_batch_is_gradient_descent():
    problem = LeastSquares.random()
    sgd = opt.StochasticGradient(batch_size=40, step=0.1, random_state=0)
    one = th.minimise(problem, sgd, max_steps=5, tolerance=-1.0)
    other = th.minimise(problem, opt.GradientDescent(step=0.1), max_steps=5, tolerance=-1.0)
    np.testing.assert_allclose(one.theta, other.theta, rtol=1e-12)


class RunningMean:
    """F(θ) = mean of (θ − xᵢ)²/2, whose minimum is the mean."""

    def __init__(self, data):
        self.data, self.n_terms = data, len(data)

    def sample_gradient(self, theta, rows):
        return theta - self.data[rows].mean(keepdims=True)

    def value_and_gradient(self, theta):
        error = theta - self.data
        return float(error @ error) / (2 * self.n_terms), error.mean(keepdims=True)


def test_inverse_time_is_the_running_mean():
    """With τ₀ = 1 the t-th iterate is the mean of the first t rows: θ + (x − θ)/t."""
    data = np.random.default_rng(0).normal(size=50)
    method = opt.StochasticGradient(step=opt.InverseTime(1.0), random_state=0)
    solution = th.minimise(RunningMean(data), method, np.full(1, 9.0), max_steps=1)
    np.testing.assert_allclose(solution.theta, data.mean(), rtol=1e-12)


def test_decay_converges_where_a_constant_step_keeps_its_noise():
    data = np.random.default_rng(0).normal(size=50)
    problem, runs = RunningMean(data), {}
    for step in (opt.Constant(0.3), opt.InverseTime(1.0)):
        method = opt.StochasticGradient(1, "replacement", step, random_state=0)
        trace = th.minimise(problem, method, np.zeros(1), max_steps=40, keep_trace=True).trace
        runs[step] = np.mean(trace[20:]) - data.var() / 2
    assert runs[opt.InverseTime(1.0)] < runs[opt.Constant(0.3)] / 20


def test_averaging_reports_the_mean_iterate():
    problem = LeastSquares.random()
    noisy = opt.StochasticGradient(1, "replacement", 0.05, random_state=0)
    calm = opt.StochasticGradient(1, "replacement", 0.05, averaging=True, random_state=0)

    def last(method):
        return th.minimise(problem, method, max_steps=30, keep_trace=True).trace[-1]

    best = problem.value(problem.optimum)
    assert last(calm) - best < (last(noisy) - best) / 2


def test_step_size_chosen_by_held_out_error():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(120, 4))
    y = X @ rng.normal(size=4) + 0.1 * rng.normal(size=120)
    folds = [(np.arange(60), np.arange(60, 120))]
    model = th.SGDRegressor(
        penalty=None, learning_rate="constant", fit_intercept=False, shuffle=False, max_iter=5,
        tol=None,
    )  # fmt: skip
    etas = [1e-5, 1e-3, 0.02, 0.2]
    found = th.search(model, {"eta0": etas}, X, y, cv=folds, scoring="neg_mean_squared_error")
    assert found.best == {"eta0": 0.02}
    for eta, each in zip(etas, found.evaluations, strict=True):
        theta = np.zeros(4)
        for row in 5 * list(range(60)):
            theta -= eta * (X[row] @ theta - y[row]) * X[row]
        error = np.mean((X[60:] @ theta - y[60:]) ** 2)
        assert each.scores["neg_mean_squared_error"][0] == pytest.approx(-error, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: opt.Constant(0.0), r"Constant\(eta=0.0\): eta must be a finite number > 0"),
        (lambda: opt.InverseTime(-1.0), "tau0 must be"),
        (lambda: opt.Momentum(alpha=1.0), "alpha must be"),
        (lambda: opt.Nesterov(eta=0), "eta must be"),
        (lambda: opt.Adam(beta2=1.0), "beta2 must be"),
        (lambda: opt.StochasticGradient(batch_size=0), "whole number ≥ 1"),
        (lambda: opt.StochasticGradient(batch_size=1.5), "whole number ≥ 1"),
        (lambda: opt.StochasticGradient(sampling="shuffle"), "'reshuffle' or 'replacement'"),
        (lambda: opt.StochasticGradient(step=-1.0), "eta must be"),
        (lambda: opt.GradientDescent(step="armijo"), "'backtracking', a number or a step rule"),
        (lambda: opt.GradientDescent(step=-0.1), "eta must be"),
        (lambda: opt.LBFGS(memory=0), "whole number ≥ 1"),
        (lambda: opt.Levenberg(tau0=0.0), "tau0 must be"),
        (lambda: opt.CoordinateDescent(sweeps=0), "whole number ≥ 1"),
    ],
)
def test_parameters_out_of_range_are_refused(make, words):
    with pytest.raises(th.errors.ParameterError, match=words):
        make()
