"""The trust region: its subproblem is solved exactly, its steps never climb, bounds hold."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import thetahat as th
from thetahat.mathematics.optimizers.residuals.linearised import Linearised, relative_offset
from thetahat.mathematics.optimizers.residuals.newton_polish import newton_step

METHOD = th.optimizers.TrustRegion()


class Problem:
    """Residuals given as a function; the Jacobian by automatic differentiation."""

    def __init__(self, residuals, bounds=None):
        self.residuals, self.bounds = residuals, bounds

    def jacobian(self, theta):
        return th.autodiff.jacobian(self.residuals, theta)


def rosenbrock(b):
    return np.stack([10 * (b[1] - b[0] ** 2), 1 - b[0]])


def powell(b):
    """The Jacobian is singular at the minimum 0."""
    return np.stack(
        [
            b[0] + 10 * b[1],
            5**0.5 * (b[2] - b[3]),
            (b[1] - 2 * b[2]) ** 2,
            10**0.5 * (b[0] - b[3]) ** 2,
        ]
    )


@pytest.mark.parametrize("radius", [1e-6, 0.1, 1.0, 1e9])
@pytest.mark.parametrize("shape", [(30, 4), (5, 5), (3, 6)])
def test_step_is_the_best_in_its_ball(shape, radius):
    random = np.random.default_rng(701)
    jacobian, residuals = random.standard_normal(shape), random.standard_normal(shape[0])
    scale = np.abs(random.standard_normal(shape[1])) + 0.1
    tangent = Linearised.of(jacobian, residuals, scale)
    step = tangent.step(radius)
    left = residuals + jacobian @ step.move
    assert step.length == pytest.approx(np.linalg.norm(scale * step.move))
    assert step.length <= 1.05 * radius
    if step.damping == 0:
        np.testing.assert_allclose(jacobian.T @ left, 0, atol=1e-10)
    else:  # KKT: the gradient is −λD²p, and the step ends on the boundary
        np.testing.assert_allclose(
            jacobian.T @ left, -step.damping * scale**2 * step.move, rtol=1e-6
        )
        assert step.length == pytest.approx(radius, rel=0.051)
    promised = (residuals @ residuals - left @ left) / 2
    assert step.predicted == pytest.approx(promised, rel=1e-6)


def test_solve_is_the_damped_inverse():
    random = np.random.default_rng(702)
    jacobian, residuals = random.standard_normal((9, 3)), random.standard_normal(9)
    scale, slope = np.array([1.0, 5.0, 0.2]), random.standard_normal(3)
    tangent = Linearised.of(jacobian, residuals, scale)
    expected = np.linalg.solve(jacobian.T @ jacobian + 0.3 * np.diag(scale**2), slope)
    np.testing.assert_allclose(tangent.solve(slope, 0.3), expected, rtol=1e-10)


def test_relative_offset_is_the_distance_in_standard_errors():
    random = np.random.default_rng(703)
    X, y = random.standard_normal((40, 3)), random.standard_normal(40)
    best = np.linalg.lstsq(X, y)[0]
    theta = best + np.array([0.3, -0.2, 0.1])
    residuals = X @ theta - y
    away, rest = X @ (theta - best), X @ best - y
    expected = np.sqrt(away @ away / 3) / np.sqrt(rest @ rest / 37)
    tangent = Linearised.of(X, residuals, np.ones(3))
    assert relative_offset(tangent, residuals, np.full(3, 1e-6)) == pytest.approx(expected)
    # whatever the units that the tangent was factored in, and however large the parameters are
    stale = Linearised.of(X, residuals, np.array([1.0, 1e20, 1e-5]))
    assert relative_offset(stale, residuals, np.full(3, 1e9)) == pytest.approx(expected)


def test_relative_offset_of_an_exact_fit_is_the_change_of_a_parameter():
    random = np.random.default_rng(704)
    X, theta = random.standard_normal((40, 3)), np.array([1.0, -2.0, 3.0])
    residuals = X @ (np.array([0.0, 1e-11, 0.0]) * theta)
    tangent = Linearised.of(X, residuals, np.ones(3))
    assert relative_offset(tangent, residuals, theta) == pytest.approx(1e-11, rel=1e-3)


@pytest.mark.parametrize(
    ("residuals", "start", "best"),
    [
        (rosenbrock, [-1.2, 1.0], [1.0, 1.0]),
        (rosenbrock, [1e3, -1e3], [1.0, 1.0]),
        (powell, [3.0, -1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]),
    ],
    ids=["rosenbrock", "rosenbrock-far", "powell-singular"],
)
def test_reaches_the_minimum(residuals, start, best):
    solution = th.minimise(Problem(residuals), METHOD, np.array(start), tolerance=1e-10)
    np.testing.assert_allclose(solution.theta, best, atol=2e-5)
    assert solution.value < 1e-18


def test_never_climbs_and_forgets_units():
    x = np.linspace(0.0, 2.0, 30)
    y = 3 * np.exp(-1.3 * x) + 0.1 * np.sin(9 * x)
    units = np.array([1e6, 1e-4])

    def residuals(b):
        return b[0] * np.exp(-b[1] * x) - y

    start = np.array([1.0, 5.0])
    plain = th.minimise(Problem(residuals), METHOD, start, keep_trace=True)
    scaled = th.minimise(
        Problem(lambda b: residuals(b / units)), METHOD, start * units, keep_trace=True
    )
    assert np.all(np.diff(plain.trace) <= 1e-12)
    np.testing.assert_allclose(scaled.theta / units, plain.theta, rtol=1e-9)
    np.testing.assert_allclose(scaled.trace, plain.trace, rtol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_bounds_hold_and_the_minimum_is_that_of_scipy(seed):
    random = np.random.default_rng(seed)
    X, y = random.standard_normal((25, 4)), 3 * random.standard_normal(25)
    low, high = np.array([-0.2, -0.1, -5.0, 0.05]), np.array([0.2, 0.3, 5.0, 0.4])
    seen = []

    def residuals(b):
        seen.append(getattr(b, "value", b))
        return X @ np.tanh(b) + b[0] ** 2 - y

    start = np.array([0.1, 0.1, 0.1, 0.1])
    found = th.minimise(Problem(residuals, (low, high)), METHOD, start, tolerance=1e-10)
    peer = least_squares(residuals, start, bounds=(low, high), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert found.outcome.success
    assert found.value == pytest.approx(peer.cost, rel=1e-6)
    assert found.value <= peer.cost * (1 + 1e-9)
    # KKT: inside, the gradient is 0; at a bound it points outwards.
    slope = th.autodiff.jacobian(residuals, found.theta).T @ residuals(found.theta)
    inside = (found.theta > low) & (found.theta < high)
    np.testing.assert_allclose(slope[inside], 0, atol=1e-6)
    assert np.all(slope[found.theta == low] > 0)
    assert np.all(slope[found.theta == high] < 0)
    assert all(np.all(point >= low) and np.all(point <= high) for point in seen)


def test_steps_into_undefined_places_are_dropped():
    """√b is NaN below 0: steps that land there shrink, and the minimum at 0.01 is reached."""
    x = np.linspace(1.0, 2.0, 9)
    problem = Problem(lambda b: np.sqrt(b[0]) * x - 0.1 * x)
    solution = th.minimise(problem, METHOD, np.array([9.0]), tolerance=1e-10)
    np.testing.assert_allclose(solution.theta, [0.01], rtol=1e-8)


def test_a_start_without_a_value_diverges_at_once():
    solution = th.minimise(Problem(lambda b: np.log(b)), METHOD, np.array([-1.0]))
    assert solution.outcome is th.results.Outcome.DIVERGED


def test_patience_shortens_the_way_along_a_bent_valley():
    data = th.datasets.load_nonlinear("MGH10")
    problem = Problem(lambda b: data.model(data.X, b) - data.y)
    steps = [
        th.minimise(
            problem, th.optimizers.TrustRegion(patience=patience), data.starts[0], tolerance=1e-10
        ).steps
        for patience in (50, 10_000)
    ]
    assert steps[0] < 0.7 * steps[1]


def test_large_residuals_are_finished_by_newton():
    """Gauss-Newton alone closes a fixed share of the gap per step here; the whole Hessian all."""
    x, y = np.arange(1.0, 4.0), np.array([2.0, 4.0, -40.0])
    problem = Problem(lambda b: np.exp(b[0] * x) - y)
    found = th.minimise(problem, METHOD, np.array([0.0]), tolerance=1e-12)
    grid = np.linspace(-3.0, 1.0, 400_001)
    squares = sum((np.exp(grid * k) - value) ** 2 for k, value in zip(x, y, strict=True))
    assert found.theta[0] == pytest.approx(grid[squares.argmin()], abs=2e-5)
    slope = problem.jacobian(found.theta).T @ problem.residuals(found.theta)
    np.testing.assert_allclose(slope, 0, atol=1e-9)
    assert found.steps < 30


def test_where_the_jacobian_vanishes_a_run_stalls():
    """b² + 1 cannot reach 0: at b = 0 the only column of J is 0, and the offset tells nothing."""
    problem = Problem(lambda b: np.stack([b[0] ** 2 + 1, 2 * b[0] ** 2 + 1]))
    found = th.minimise(problem, METHOD, np.array([3.0]), tolerance=1e-10)
    assert found.theta[0] == pytest.approx(0.0, abs=1e-6)
    assert found.outcome is th.results.Outcome.STALLED
    flat = th.minimise(problem, METHOD, np.array([0.0]), tolerance=1e-10)
    assert flat.outcome is th.results.Outcome.STALLED
    assert flat.gap == np.inf


def test_newton_step_solves_a_quadratic():
    random = np.random.default_rng(705)
    X, y = random.standard_normal((12, 3)), random.standard_normal(12)
    problem, theta = Problem(lambda b: X @ b - y), np.array([1.0, -2.0, 0.5])
    everywhere = (np.full(3, -np.inf), np.full(3, np.inf))
    step = newton_step(problem, theta, np.ones(3), everywhere, np.array([True, True, False]))
    free = np.linalg.lstsq(X[:, :2], y - 0.5 * X[:, 2])[0]
    np.testing.assert_allclose(theta + step, [*free, 0.5], rtol=1e-6)
    tight = (theta - 1e-9, theta + 1e-9)
    assert newton_step(problem, theta, np.ones(3), tight, np.ones(3, dtype=bool)) is None


@pytest.mark.parametrize("options", [{"first_radius": 0.0}, {"patience": -1}])
def test_refuses_settings_out_of_range(options):
    with pytest.raises(th.errors.ParameterError, match=next(iter(options))):
        th.optimizers.TrustRegion(**options)
