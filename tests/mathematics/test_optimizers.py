"""Every method reaches the optimum it promises, behind one loop that stops, keeps and refuses."""

import itertools
import math
from dataclasses import dataclass, fields

import numpy as np
import pytest

import thetahat as th
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.damped_least_squares import damped_step
from thetahat.mathematics.optimizers.loop import methods
from thetahat.mathematics.optimizers.newton import newton_direction

opt = th.optimizers
METHODS = sorted(methods(), key=lambda kind: kind.name)
OTHER_OBJECTIVES = {
    "multiplier_form",
    "dual_rows",
    "class_dual_rows",
    "piecewise_linear",
    "l1_least_squares",
    "task_least_squares",
}
"""What methods need that least squares does not give; each has a test file of its own."""
GENERAL = [kind for kind in METHODS if not OTHER_OBJECTIVES & set(kind.needs)]
EXACT = [kind for kind in GENERAL if kind.reaches_optimum]


def every(kinds):
    return pytest.mark.parametrize("kind", kinds, ids=lambda kind: kind.__name__)


@dataclass
class LeastSquares:
    """F(θ) = ‖Aθ − y‖²/(2n), with everything that any method may ask for."""

    A: np.ndarray
    y: np.ndarray

    @classmethod
    def random(cls, n=40, d=4, seed=0):
        rng = np.random.default_rng(seed)
        return cls(rng.normal(size=(n, d)), rng.normal(size=n))

    @property
    def n_terms(self):
        return len(self.y)

    @property
    def gram(self):
        return self.A.T @ self.A / self.n_terms

    @property
    def optimum(self):
        return np.linalg.lstsq(self.A, self.y, rcond=None)[0]

    def start(self):
        return np.zeros(self.A.shape[1])

    def residuals(self, theta):
        return (self.A @ theta - self.y) / math.sqrt(self.n_terms)

    def jacobian(self, theta):
        return self.A / math.sqrt(self.n_terms)

    def value(self, theta):
        return float(np.sum(self.residuals(theta) ** 2)) / 2

    def value_and_gradient(self, theta):
        return self.value(theta), self.jacobian(theta).T @ self.residuals(theta)

    smooth_value_and_gradient = value_and_subgradient = value_and_gradient

    def hessian(self, theta):
        return self.gram

    def majoriser(self, theta):
        return self.value_and_gradient(theta)[1], self.gram

    def nonsmooth_value(self, theta):
        return 0.0

    def prox(self, theta, step):
        return theta

    def optimality_gap(self, theta, gradient):
        return float(np.abs(gradient).max())

    def sample_gradient(self, theta, rows):
        error = self.A[rows] @ theta - self.y[rows]
        return self.A[rows].T @ error / len(rows)

    def curvature_sketch(self, theta, n_rows):
        return lambda slope: np.linalg.solve(self.gram, slope)

    def separable_terms(self):
        none = np.zeros(self.A.shape[1])
        return none, none, none - np.inf, none + np.inf

    def hessian_block(self, theta, coordinates):
        return self.gram[np.ix_(coordinates, coordinates)]

    def separable_quadratic(self):
        linear = self.A.T @ self.y / self.n_terms
        return opt.SeparableQuadratic(self.gram, linear, self.value(self.start()))

    @property
    def partial_minimisers(self):
        def along(j):
            def minimise_part(theta):
                moved = theta.copy()
                moved[j] -= self.value_and_gradient(theta)[1][j] / self.gram[j, j]
                return moved

            return minimise_part

        return [along(j) for j in range(self.A.shape[1])]


class Rosenbrock:
    """(1 − x)² + 100(y − x²)², a curved valley with its minimum at (1, 1)."""

    def residuals(self, b):
        return math.sqrt(2) * np.array([10 * (b[1] - b[0] ** 2), 1 - b[0]])

    def jacobian(self, b):
        return math.sqrt(2) * np.array([[-20 * b[0], 10.0], [-1.0, 0.0]])

    def value(self, b):
        return float(np.sum(self.residuals(b) ** 2)) / 2

    def value_and_gradient(self, b):
        return self.value(b), self.jacobian(b).T @ self.residuals(b)

    def hessian(self, b):
        corner = 1200 * b[0] ** 2 - 400 * b[1] + 2
        return np.array([[corner, -400 * b[0]], [-400 * b[0], 200.0]])


ROSENBROCK_START = np.array([-1.2, 1.0])


class Function:
    """A smooth function from its value and gradient."""

    def __init__(self, value, gradient, hessian=None):
        self._value, self._gradient = value, gradient
        if hessian is not None:
            self.hessian = hessian

    def value(self, theta):
        return float(self._value(theta))

    def value_and_gradient(self, theta):
        return float(self._value(theta)), np.asarray(self._gradient(theta))


# --- every method ------------------------------------------------------------------------------


@every(EXACT)
def test_every_exact_method_solves_least_squares(kind):
    problem = LeastSquares.random()
    solution = th.minimise(problem, kind(), tolerance=1e-12 if kind.name[0] == "a" else 1e-9)
    assert solution.outcome is th.Outcome.CONVERGED
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
    with pytest.raises(th.ParameterError, match=r"'newtn' is not known\. Did you mean 'newton'\?"):
        opt.named("newtn")


@every(GENERAL)
def test_every_method_never_returns_worse_than_its_start(kind):
    problem = LeastSquares.random(seed=3)
    solution = th.minimise(problem, kind(), np.full(4, 5.0), max_steps=3)
    assert solution.steps <= 3
    assert solution.value <= problem.value(np.full(4, 5.0))
    assert solution.value == pytest.approx(problem.value(solution.theta))


# --- the loop ----------------------------------------------------------------------------------


@every(GENERAL)
def test_time_limit(kind):
    watch = Watch(max_time=1e-9)
    solution = th.minimise(LeastSquares.random(), kind(), watch=watch, tolerance=-1.0)
    assert solution.outcome is th.Outcome.OUT_OF_TIME
    assert solution.steps == 1


def test_time_limit_from_the_configuration():
    with th.config(max_time=1e-9):
        solution = th.minimise(Rosenbrock(), opt.GradientDescent(), ROSENBROCK_START)
    assert solution.outcome is th.Outcome.OUT_OF_TIME


@every(GENERAL)
def test_a_callback_sees_every_step_and_can_stop(kind):
    seen = []

    def on_step(step, theta, value):
        seen.append(value)
        return step == 2

    solution = th.minimise(
        LeastSquares.random(), kind(), watch=Watch(on_step=on_step), tolerance=-1.0
    )
    if solution.outcome is th.Outcome.STALLED:  # solved to rounding before the second step
        exact = (opt.Newton, opt.LBFGS, opt.SketchedNewton, opt.ProximalNewton, opt.TrustRegion)
        assert kind in exact
        assert len(seen) == solution.steps
    else:
        assert solution.outcome is th.Outcome.INTERRUPTED
        assert solution.steps == len(seen) == 2


def test_the_last_step_is_reported_too():
    seen = []
    watch = Watch(on_step=lambda step, theta, value: seen.append(step))
    solution = th.minimise(LeastSquares.random(), opt.Newton(), watch=watch)
    assert solution.outcome is th.Outcome.CONVERGED
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
    assert solution.outcome is th.Outcome.INTERRUPTED
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
    assert solution.outcome is th.Outcome.DIVERGED
    assert not solution.outcome.success
    assert np.isfinite(solution.theta).all()
    assert solution.value <= problem.value(problem.start())


def test_steps_exhausted():
    solution = th.minimise(Rosenbrock(), opt.GradientDescent(), ROSENBROCK_START, max_steps=5)
    assert solution.outcome is th.Outcome.STEPS_EXHAUSTED
    assert solution.steps == 5
    assert th.minimise(Rosenbrock(), opt.Newton(), ROSENBROCK_START, max_steps=0).steps == 0


def test_a_start_at_the_optimum_takes_no_step():
    problem = LeastSquares.random()
    solution = th.minimise(problem, opt.GradientDescent(), problem.optimum)
    assert solution.outcome is th.Outcome.CONVERGED
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
    with pytest.raises(th.CapabilityError) as refusal:
        th.minimise(Bowl(), opt.Newton(), np.ones(2))
    assert str(refusal.value) == (
        "Newton needs a Hessian; Bowl has no 'hessian'. "
        "Use GradientDescent, LBFGS, Momentum or Nesterov."
    )


def test_a_problem_nobody_can_minimise():
    with pytest.raises(th.CapabilityError, match="No method here can minimise it"):
        th.minimise(object(), opt.Newton(), np.ones(2))


def test_a_start_is_needed_from_someone():
    with pytest.raises(th.ParameterError, match=r"Bowl has no start\(\).*Pass start="):
        th.minimise(Bowl(), opt.GradientDescent())


# --- opt.gd ------------------------------------------------------------------------------------


def test_gradient_descent_on_an_asymmetric_quadratic():
    """∇(xᵀAx − bᵀx) = (A + Aᵀ)x − b, so the minimum solves (A + Aᵀ)x = b."""
    A, b = np.array([[3.0, 1.0], [0.0, 2.0]]), np.array([1.0, -2.0])
    problem = Function(lambda x: x @ A @ x - b @ x, lambda x: (A + A.T) @ x - b)
    expected = np.linalg.solve(A + A.T, b)
    for step in ("backtracking", 0.1, opt.Constant(0.1)):
        solution = th.minimise(problem, opt.GradientDescent(step=step), np.zeros(2))
        np.testing.assert_allclose(solution.theta, expected, atol=1e-8)


def test_constant_step_is_w_minus_eta_gradient():
    problem, w = LeastSquares.random(), np.arange(4.0)
    solution = th.minimise(problem, opt.GradientDescent(step=0.01), w, max_steps=1)
    expected = w - 0.01 * problem.value_and_gradient(w)[1]
    np.testing.assert_array_equal(solution.theta, expected)


def test_one_dimension_follows_the_sign():
    """On a line the step goes against the sign of the derivative."""
    problem = Function(lambda x: (x - 2.0) ** 4, lambda x: 4 * (x - 2.0) ** 3)
    for start in (-1.0, 5.0):
        method = opt.GradientDescent(step=0.5, normalised=True)
        one = th.minimise(problem, method, start, max_steps=1)
        assert float(one.theta) == start - 0.5 * np.sign(start - 2.0)
        whole = th.minimise(problem, opt.GradientDescent(), start, tolerance=1e-9)
        assert float(whole.theta) == pytest.approx(2.0, abs=1e-2)


def test_the_steepest_unit_step_lowers_a_linear_function_by_its_norm():
    w = np.array([3.0, -4.0])
    problem = Function(lambda x: w @ x, lambda x: w)
    method = opt.GradientDescent(step=1.0, normalised=True)
    solution = th.minimise(problem, method, np.zeros(2), max_steps=1)
    np.testing.assert_allclose(solution.theta, -w / 5)
    assert solution.value == pytest.approx(-5.0)
    around = np.linspace(0, 2 * np.pi, 100)
    assert all(w @ [np.cos(a), np.sin(a)] >= solution.value - 1e-12 for a in around)


def test_random_starts_reach_the_same_optimum():
    problem, rng = LeastSquares.random(), np.random.default_rng(5)
    for _ in range(3):
        solution = th.minimise(problem, opt.GradientDescent(), rng.normal(size=4))
        np.testing.assert_allclose(solution.theta, problem.optimum, atol=1e-7)


def test_backtracking_forgets_the_units_of_f():
    small, large = LeastSquares.random(), LeastSquares.random()
    for factor in (1e-6, 1e6):
        scaled = Function(
            lambda x, factor=factor: factor * small.value(x),
            lambda x, factor=factor: factor * small.value_and_gradient(x)[1],
        )
        solution = th.minimise(scaled, opt.GradientDescent(), np.zeros(4), tolerance=1e-7 * factor)
        np.testing.assert_allclose(solution.theta, large.optimum, atol=1e-5)


# --- opt.sgd and step rules --------------------------------------------------------------------


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
    train, test = LeastSquares.random(seed=0), LeastSquares.random(seed=0)
    rng = np.random.default_rng(9)
    truth = rng.normal(size=4)
    for part in (train, test):
        part.A = rng.normal(size=(60, 4))
        part.y = part.A @ truth + 0.1 * rng.normal(size=60)

    def held_out(eta):
        method = opt.StochasticGradient(step=eta, random_state=0)
        return test.value(th.minimise(train, method, max_steps=5).theta)

    assert min((1e-5, 1e-3, 0.02), key=held_out) == 0.02


@pytest.mark.parametrize(
    "rule",
    [opt.Constant(0.3), opt.HeavyBall(0.5, 0.2), opt.LookAhead(0.5, 0.2), opt.AdaGrad(1.0)],
    ids=lambda rule: rule.name,
)
def test_rules_drive_full_and_sampled_gradients(rule):
    problem = LeastSquares.random()
    full = th.minimise(problem, opt.GradientDescent(step=rule))
    np.testing.assert_allclose(full.theta, problem.optimum, atol=1e-6)
    assert full.outcome is th.Outcome.CONVERGED


def test_adam_comes_near_from_far():
    problem = LeastSquares.random()
    method = opt.StochasticGradient(8, step=opt.Adam(0.05), random_state=0)
    solution = th.minimise(problem, method, np.full(4, 3.0), max_steps=100)
    np.testing.assert_allclose(solution.theta, problem.optimum, atol=0.1)


def test_adam_by_hand():
    rule = opt.Adam(eta=0.1, beta1=0.5, beta2=0.75, epsilon=1e-12)
    memory = rule.start(np.zeros(1))
    _, memory = rule.move(1, np.array([2.0]), memory)
    move, _ = rule.move(2, np.array([4.0]), memory)
    first = (0.5 * 1.0 + 0.5 * 4.0) / (1 - 0.25)
    second = (0.75 * 1.0 + 0.25 * 16.0) / (1 - 0.75**2)
    np.testing.assert_allclose(move, -0.1 * first / math.sqrt(second))


def test_adagrad_by_hand():
    rule, memory = opt.AdaGrad(eta=0.5), np.zeros(1)
    for t, gradient in enumerate((3.0, 4.0), start=1):
        move, memory = rule.move(t, np.array([gradient]), memory)
    np.testing.assert_allclose(move, -0.5 * 4 / 5)


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
    with pytest.raises(th.ParameterError, match=words):
        make()


# --- opt.momentum ------------------------------------------------------------------------------


SLOPE = Function(lambda x: x.sum(), lambda x: np.ones_like(x))


@pytest.mark.parametrize(("alpha", "eta"), [(0.9, 0.1), (0.5, 1.0), (0.0, 0.3)])
def test_momentum_under_a_constant_gradient(alpha, eta):
    """V_i = −ηg(1 − αⁱ)/(1 − α)."""
    method = opt.Momentum(alpha, eta)
    state = method.start(SLOPE, np.zeros(1))
    for i in range(1, 8):
        before, state = state, method.advance(SLOPE, state)
        velocity = state.theta - before.theta
        np.testing.assert_allclose(velocity, -eta * (1 - alpha**i) / (1 - alpha))


def test_momentum_worked_number():
    rule, velocity = opt.HeavyBall(alpha=0.9, eta=0.1), np.zeros(1)
    for i in range(1, 6):
        _, velocity = rule.move(i, np.ones(1), velocity)
    np.testing.assert_allclose(velocity, -0.40951)


def test_the_first_momentum_step_is_gradient_descent():
    problem = LeastSquares.random()
    first = th.minimise(problem, opt.Momentum(0.9, 0.05), max_steps=1).theta
    np.testing.assert_array_equal(
        first, th.minimise(problem, opt.GradientDescent(step=0.05), max_steps=1).theta
    )


def test_nesterov_looks_ahead():
    """The rule in θ = w + αV is the textbook's recursion in w."""
    problem, alpha, eta = LeastSquares.random(), 0.8, 0.1
    w, velocity = np.ones(4), np.zeros(4)
    for _ in range(6):
        ahead = problem.value_and_gradient(w + alpha * velocity)[1]
        velocity = alpha * velocity - eta * ahead
        w = w + velocity
    method = opt.Nesterov(alpha, eta)
    state = method.start(problem, np.ones(4))
    for _ in range(6):
        state = method.advance(problem, state)
    np.testing.assert_allclose(state.theta, w + alpha * velocity)


@pytest.mark.parametrize("kind", [opt.Momentum, opt.Nesterov])
def test_momentum_is_faster_than_descent_in_a_valley(kind):
    scale = np.array([1.0, 100.0])
    valley = Function(lambda x: x @ (scale * x) / 2, lambda x: scale * x)
    plain = th.minimise(valley, opt.GradientDescent(step=0.01), np.ones(2))
    rolling = th.minimise(valley, kind(0.8, 0.01), np.ones(2))
    assert rolling.outcome.success
    assert rolling.steps < plain.steps / 3


# --- opt.newton --------------------------------------------------------------------------------


def test_newton_solves_a_quadratic_in_one_step():
    problem = LeastSquares.random()
    solution = th.minimise(problem, opt.Newton(), np.full(4, 100.0))
    assert solution.steps == 1
    np.testing.assert_allclose(solution.theta, problem.optimum, rtol=1e-10)


@pytest.mark.parametrize("duplicate", [2, 3])
def test_newton_takes_the_least_norm_step_where_the_hessian_is_singular(duplicate):
    problem = LeastSquares.random(n=3 if duplicate == 3 else 40)
    problem.A[:, duplicate] = problem.A[:, 0]
    solution = th.minimise(problem, opt.Newton())
    assert solution.outcome is th.Outcome.CONVERGED
    assert solution.theta[duplicate] == pytest.approx(solution.theta[0])
    assert problem.value(solution.theta) == pytest.approx(problem.value(problem.optimum), abs=1e-14)


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_newton_forgets_the_units_of_its_parameters(unit):
    problem = LeastSquares.random()
    expected = problem.optimum
    problem.A[:, 1] *= unit
    direction = newton_direction(problem.gram, problem.value_and_gradient(np.zeros(4))[1])
    np.testing.assert_allclose(direction * [1, unit, 1, 1], expected, rtol=1e-9)


def test_newton_goes_downhill_from_a_saddle():
    """F = x⁴ − x² + y² has an indefinite Hessian near 0; the minima are at x = ±1/√2."""
    problem = Function(
        lambda p: p[0] ** 4 - p[0] ** 2 + p[1] ** 2,
        lambda p: np.array([4 * p[0] ** 3 - 2 * p[0], 2 * p[1]]),
        lambda p: np.diag([12 * p[0] ** 2 - 2, 2.0]),
    )
    solution = th.minimise(problem, opt.Newton(), np.array([0.1, 1.0]))
    np.testing.assert_allclose(np.abs(solution.theta), [math.sqrt(0.5), 0], atol=1e-8)


def test_newton_counts_negative_curvature_by_its_size():
    direction = newton_direction(np.diag([2.0, -8.0]), np.array([2.0, 8.0]))
    np.testing.assert_allclose(direction, [-1.0, -1.0])


def test_newton_moves_on_a_plane():
    problem = Function(lambda p: p @ [1.0, 2.0], lambda p: [1.0, 2.0], lambda p: np.zeros((2, 2)))
    solution = th.minimise(problem, opt.Newton(), np.zeros(2), max_steps=3)
    assert solution.value < -10


class Separable:
    """Logistic loss of two separable points: F → 0 as θ → ∞, and never arrives."""

    def value_and_gradient(self, theta):
        return float(np.logaddexp(0, -theta[0])), -1 / (1 + np.exp(theta))

    def hessian(self, theta):
        p = 1 / (1 + np.exp(-theta))
        return np.diag(p * (1 - p))


@pytest.mark.parametrize("tolerance", [1e-8, 0.0])
def test_newton_ends_gracefully_where_the_optimum_is_at_infinity(tolerance):
    solution = th.minimise(Separable(), opt.Newton(), np.zeros(1), tolerance=tolerance)
    assert np.isfinite(solution.theta).all()
    assert 0 <= solution.value < 1e-7
    assert solution.outcome is not th.Outcome.DIVERGED


@every([opt.Newton, opt.LBFGS, opt.GaussNewton, opt.Levenberg, opt.LevenbergMarquardt])
def test_rosenbrock(kind):
    solution = th.minimise(Rosenbrock(), kind(), ROSENBROCK_START)
    assert solution.outcome is th.Outcome.CONVERGED
    np.testing.assert_allclose(solution.theta, [1, 1], atol=1e-7)


def test_lbfgs_goes_beyond_the_rounding_of_the_value():
    """Values of F ≈ 1e6 hide gradients below 0.01; the gradients themselves do not."""
    base = LeastSquares.random()
    high = Function(lambda x: 1e6 + base.value(x), lambda x: base.value_and_gradient(x)[1])
    solution = th.minimise(high, opt.LBFGS(), np.zeros(4))
    assert solution.outcome is th.Outcome.CONVERGED
    np.testing.assert_allclose(solution.theta, base.optimum, atol=1e-7)


def test_lbfgs_keeps_the_shape_of_its_parameters():
    target = np.arange(6.0).reshape(2, 3)
    problem = Function(lambda x: np.sum((x - target) ** 2), lambda x: 2 * (x - target))
    solution = th.minimise(problem, opt.LBFGS(), np.zeros((2, 3)))
    np.testing.assert_allclose(solution.theta, target, atol=1e-7)


def test_lbfgs_returns_from_where_f_is_infinite():
    """A barrier: F = x − log(x) is infinite for x ≤ 0; the first trial may land there."""

    def value(x):
        return float(x[0] - np.log(x[0])) if x[0] > 0 else math.inf

    barrier = Function(value, lambda x: 1 - 1 / x)
    solution = th.minimise(barrier, opt.LBFGS(), np.array([3.0]))
    np.testing.assert_allclose(solution.theta, [1.0], atol=1e-6)


# --- nls.gaussnewton, nls.lm -------------------------------------------------------------------


class Decay:
    """y = b₀·exp(b₁ t) with noise."""

    def __init__(self):
        self.t = np.linspace(0, 3, 20)
        noise = 0.05 * np.random.default_rng(0).normal(size=20)
        self.y = 3 * np.exp(-0.7 * self.t) + noise

    def residuals(self, b):
        return b[0] * np.exp(b[1] * self.t) - self.y

    def jacobian(self, b):
        curve = np.exp(b[1] * self.t)
        return np.stack([curve, b[0] * self.t * curve], axis=1)


def test_gauss_newton_step():
    """Δ = (JᵀJ)⁻¹Jᵀ(Y − f)."""
    problem, b = Decay(), np.array([2.0, -0.5])
    J, r = problem.jacobian(b), problem.residuals(b)
    state = opt.GaussNewton().advance(problem, opt.GaussNewton().start(problem, b))
    np.testing.assert_allclose(state.theta, b + np.linalg.solve(J.T @ J, J.T @ -r))


@every([opt.GaussNewton, opt.Levenberg, opt.LevenbergMarquardt])
def test_non_linear_least_squares_agrees_with_scipy(kind):
    from scipy.optimize import least_squares

    problem, b = Decay(), np.array([2.0, -0.5])
    peer = least_squares(problem.residuals, b, problem.jacobian, xtol=1e-15, ftol=1e-15)
    solution = th.minimise(problem, kind(), b)
    np.testing.assert_allclose(solution.theta, peer.x, rtol=1e-6)
    assert solution.value == pytest.approx(peer.cost)
    assert solution.outcome is th.Outcome.CONVERGED


def test_gauss_newton_takes_the_least_norm_step_where_j_has_not_full_rank():
    problem = LeastSquares.random()
    problem.A[:, 3] = problem.A[:, 0]
    solution = th.minimise(problem, opt.GaussNewton())
    np.testing.assert_allclose(solution.theta, problem.optimum, atol=1e-10)


@pytest.mark.parametrize("marquardt", [False, True])
def test_damped_steps_and_their_limits(marquardt):
    problem, b = Decay(), np.array([2.0, -0.5])
    J, r = problem.jacobian(b), problem.residuals(b)
    gram = J.T @ J
    metric = np.diag(gram) if marquardt else np.ones(2)
    step = damped_step(J, r, 0.3, metric)
    damped = gram * (1 + 0.3 * np.eye(2)) if marquardt else gram + 0.3 * np.eye(2)
    np.testing.assert_allclose(step, np.linalg.solve(damped, -J.T @ r))
    np.testing.assert_allclose(damped_step(J, r, 1e-14, metric), np.linalg.solve(gram, -J.T @ r))
    gradient_step = -(J.T @ r) / (1e9 * metric)
    np.testing.assert_allclose(damped_step(J, r, 1e9, metric), gradient_step, rtol=1e-6)


@pytest.mark.parametrize("kind", [opt.Levenberg, opt.LevenbergMarquardt])
def test_step_control(kind):
    """τ₀ = 0.1; τ/√2 after a step that lowers the residual, √2·τ and a retry otherwise."""
    problem, b, tau = Rosenbrock(), ROSENBROCK_START, 0.1
    assert kind().tau0 == 0.1
    state, rejected = kind().start(problem, b), 0
    for _ in range(8):
        state = kind().advance(problem, state)
        J, r = problem.jacobian(b), problem.residuals(b)
        metric = np.ones(2) if kind is opt.Levenberg else np.sum(J * J, axis=0)
        while True:
            trial = b + np.linalg.solve(J.T @ J + tau * np.diag(metric), -J.T @ r)
            if np.sum(problem.residuals(trial) ** 2) < np.sum(r**2):
                break
            tau, rejected = tau * math.sqrt(2), rejected + 1
        b, tau = trial, tau / math.sqrt(2)
        np.testing.assert_allclose(state.theta, b)
        assert state.memory["tau"] == pytest.approx(tau)
    assert rejected > 0


def test_marquardt_forgets_units_and_levenberg_does_not():
    class Rescaled(Decay):
        def residuals(self, b):
            return super().residuals(b * [1, 1e-3])

        def jacobian(self, b):
            return super().jacobian(b * [1, 1e-3]) * [1, 1e-3]

    for kind, same in ((opt.LevenbergMarquardt, True), (opt.Levenberg, False)):
        one = th.minimise(Decay(), kind(), np.array([2.0, -0.5]), max_steps=2, tolerance=0.0)
        other = th.minimise(Rescaled(), kind(), np.array([2.0, -500.0]), max_steps=2, tolerance=0.0)
        assert np.allclose(one.theta, other.theta * [1, 1e-3], rtol=1e-8) is same


def test_levenberg_marquardt_stalls_at_rounding_instead_of_looping():
    solution = th.minimise(Decay(), opt.LevenbergMarquardt(), np.array([2.0, -0.5]), tolerance=0.0)
    assert solution.outcome is th.Outcome.STALLED
    assert solution.gap < 1e-6


def test_gauss_newton_may_overshoot_where_levenberg_marquardt_does_not():
    """f = arctan far from 0: the tangent step overshoots ever further, to a higher plateau."""

    class Flat:
        def residuals(self, b):
            return np.arctan(b)

        def jacobian(self, b):
            return np.diag(1 / (1 + b**2))

    wild = th.minimise(Flat(), opt.GaussNewton(), np.array([3.0]), max_steps=50)
    assert wild.outcome is th.Outcome.STALLED
    assert wild.theta == 3.0
    tame = th.minimise(Flat(), opt.LevenbergMarquardt(), np.array([3.0]))
    np.testing.assert_allclose(tame.theta, 0, atol=1e-7)


# --- opt.coord ---------------------------------------------------------------------------------


def separable_problems():
    base = LeastSquares.random(seed=4)
    base.y *= 3
    gram, linear = base.gram, base.A.T @ base.y / 40
    some = np.array([0.1, 0.0, 2.0, 0.3])
    return {
        "lasso": opt.SeparableQuadratic(gram, linear, l1=0.3),
        "weighted": opt.SeparableQuadratic(gram, linear, 1.0, l1=some, l2=0.5),
        "nonnegative": opt.SeparableQuadratic(gram, linear, lower=0.0),
        "box": opt.SeparableQuadratic(gram, linear, l1=0.05, lower=-some / 2, upper=some),
    }


@pytest.mark.parametrize("name", separable_problems())
def test_coordinate_descent_meets_the_optimality_conditions(name):
    """The optimum is a fixed point of the proximal gradient map, whatever the step."""
    problem = separable_problems()[name]
    solution = th.minimise(problem, opt.CoordinateDescent(), tolerance=1e-12, keep_trace=True)
    assert solution.outcome is th.Outcome.CONVERGED
    assert all(b <= a + 1e-15 for a, b in itertools.pairwise(solution.trace))
    theta, (l1, l2, lower, upper) = solution.theta, problem.terms()
    slope = problem.gram @ theta - problem.linear
    for step in (0.01, 1.0):
        forward = theta - step * slope
        shrunk = np.sign(forward) * np.maximum(np.abs(forward) - step * l1, 0) / (1 + step * l2)
        np.testing.assert_allclose(np.clip(shrunk, lower, upper), theta, atol=1e-11)
    value = theta @ problem.gram @ theta / 2 - problem.linear @ theta + problem.constant
    value += np.sum(l1 * np.abs(theta) + l2 * theta**2 / 2)
    assert solution.value == pytest.approx(value)


@pytest.mark.parametrize("name", separable_problems())
def test_the_gap_is_zero_only_at_the_optimum(name):
    problem = separable_problems()[name]
    optimum = th.minimise(problem, opt.CoordinateDescent(), tolerance=1e-13).theta
    _, _, lower, upper = problem.terms()
    rng = np.random.default_rng(0)
    for _ in range(20):
        nearby = np.clip(optimum + 0.1 * rng.normal(size=4), lower, upper)
        assert opt.CoordinateDescent().start(problem, nearby).gap > 1e-4


def test_sweeps_per_step_do_not_change_the_path():
    problem = separable_problems()["lasso"]
    one = th.minimise(problem, opt.CoordinateDescent(), max_steps=4, tolerance=-1.0)
    four = th.minimise(problem, opt.CoordinateDescent(sweeps=4), max_steps=1, tolerance=-1.0)
    np.testing.assert_array_equal(one.theta, four.theta)


def test_a_start_outside_the_bounds_is_brought_inside():
    problem = separable_problems()["nonnegative"]
    solution = th.minimise(problem, opt.CoordinateDescent(), np.full(4, -3.0))
    assert (solution.theta >= 0).all()


def test_alternating_minimisation_over_blocks_is_monotone():
    """‖Y − uvᵀ‖²: least squares in u for fixed v, and in v for fixed u; the limit is the best
    rank-one approximation."""
    Y = np.random.default_rng(0).normal(size=(6, 4))

    class RankOne:
        def value(self, theta):
            return float(np.sum((Y - np.outer(theta[:6], theta[6:])) ** 2))

        @property
        def partial_minimisers(self):
            def left(theta):
                v = theta[6:]
                return np.concatenate([Y @ v / (v @ v), v])

            def right(theta):
                u = theta[:6]
                return np.concatenate([u, Y.T @ u / (u @ u)])

            return left, right

    solution = th.minimise(
        RankOne(),
        opt.AlternatingMinimisation(),
        np.ones(10),
        tolerance=1e-13,
        keep_trace=True,
    )
    assert all(b <= a for a, b in itertools.pairwise(solution.trace))
    singular = np.linalg.svd(Y, compute_uv=False)
    assert solution.value == pytest.approx(np.sum(singular[1:] ** 2), abs=1e-8)


def test_a_partial_minimiser_that_raises_the_objective_is_not_followed():
    class Faulty:
        def value(self, theta):
            return float(theta @ theta)

        partial_minimisers = (lambda theta: theta / 2, lambda theta: theta + 10)

    trace = th.minimise(
        Faulty(), opt.AlternatingMinimisation(), np.ones(2), max_steps=5, keep_trace=True
    ).trace
    np.testing.assert_allclose(trace, 2 * 4.0 ** -np.arange(6))


def test_coordinates_minimise_any_objective_one_axis_at_a_time():
    start = np.array([0.5, 0.8])
    solution = th.minimise(
        opt.Coordinates(Rosenbrock(), 2),
        opt.AlternatingMinimisation(),
        start,
        max_steps=50,
        keep_trace=True,
    )
    assert all(b <= a for a, b in itertools.pairwise(solution.trace))
    assert solution.value < Rosenbrock().value(start) / 2
    base = LeastSquares.random()
    solution = th.minimise(
        opt.Coordinates(base, 4), opt.AlternatingMinimisation(), np.zeros(4), tolerance=1e-14
    )
    np.testing.assert_allclose(solution.theta, base.optimum, atol=1e-5)


# --- proximal gradient and subgradients --------------------------------------------------------


class Penalised(LeastSquares):
    """Least squares with a penalty of the library."""

    penalty = th.penalties.L1(0.2)

    def nonsmooth_value(self, theta):
        return self.penalty.value(theta)

    def prox(self, theta, step):
        return self.penalty.prox(theta, step)

    def optimality_gap(self, theta, gradient):
        return self.penalty.optimality_gap(theta, gradient)


@pytest.mark.parametrize(
    "penalty",
    [
        th.penalties.L1(0.2),
        th.penalties.ElasticNet(0.3, 0.5),
        th.penalties.L1(0.1) & th.penalties.NonNegative(),
        th.penalties.Box(-0.05, 0.05),
    ],
    ids=str,
)
def test_proximal_gradient_agrees_with_coordinate_descent(penalty):
    problem = Penalised.random(seed=4)
    problem.penalty = penalty
    quadratic = LeastSquares.separable_quadratic(problem)
    l1, l2, lower, upper = penalty.kernel_terms(4)
    swept = opt.SeparableQuadratic(
        quadratic.gram, quadratic.linear, quadratic.constant, l1, l2, lower, upper
    )
    one = th.minimise(problem, opt.ProximalGradient(), tolerance=1e-11)
    other = th.minimise(swept, opt.CoordinateDescent(), tolerance=1e-11)
    assert one.outcome is other.outcome is th.Outcome.CONVERGED
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-9)
    assert one.value == pytest.approx(other.value, abs=1e-12)


def test_restarts_make_acceleration_linear():
    """Condition 100: about 200 steps; without restarts the momentum swings for 2,000."""
    problem = LeastSquares(np.diag(np.sqrt(np.logspace(0, 2, 20))), np.zeros(20))
    solution = th.minimise(problem, opt.ProximalGradient(), np.ones(20), tolerance=1e-8 / 20)
    assert solution.outcome is th.Outcome.CONVERGED
    assert solution.steps < 500


def test_proximal_gradient_leaves_zero_under_a_count_penalty():
    """Under L0 zero is stationary for every F; a proximal step still leaves it when that pays."""
    problem = Penalised.random()
    problem.y = problem.A @ [5.0, 0.0, 0.0, -4.0]
    problem.penalty = th.penalties.L0(0.1)
    solution = th.minimise(problem, opt.ProximalGradient())
    np.testing.assert_allclose(solution.theta, [5, 0, 0, -4], atol=1e-6)


def test_subgradient_descent_finds_a_median():
    data = np.array([-7.0, 1.0, 2.0, 3.0, 50.0])

    class Distance:
        def value_and_subgradient(self, theta):
            return float(np.abs(theta - data).sum()), np.sign(theta - data).sum(keepdims=True)

    solution = th.minimise(Distance(), opt.SubgradientDescent(), np.array([10.0]), max_steps=3000)
    np.testing.assert_allclose(solution.theta, 2.0, atol=0.05)


def test_irls_finds_the_geometric_median():
    points = np.random.default_rng(0).normal(size=(15, 2))

    class Distances:
        def value(self, theta):
            return float(np.linalg.norm(points - theta, axis=1).sum())

        def majoriser(self, theta):
            weight = 1 / np.linalg.norm(points - theta, axis=1)
            return weight @ (theta - points), weight.sum() * np.eye(2)

    solution = th.minimise(Distances(), opt.IRLS(), np.full(2, 9.0), keep_trace=True)
    assert all(b <= a + 1e-14 for a, b in itertools.pairwise(solution.trace))
    assert solution.outcome is th.Outcome.CONVERGED
    pull = (solution.theta - points) / np.linalg.norm(points - solution.theta, axis=1)[:, None]
    np.testing.assert_allclose(pull.sum(axis=0), 0, atol=1e-7)
