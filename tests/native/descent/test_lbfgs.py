"""The compiled L-BFGS: the iterates of SciPy's L-BFGS-B, which stands for a plain version."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from thetahat import _native


def quadratic():
    random = np.random.default_rng(0)
    root = random.standard_normal((30, 30))
    H, b = root @ root.T / 30 + 0.1 * np.eye(30), random.standard_normal(30)
    return lambda x: (float(x @ H @ x / 2 - b @ x), H @ x - b), np.zeros(30)


def valley():
    return lambda x: (float(rosen(x)), rosen_der(x)), np.full(10, -1.2)


def waves():
    """Not convex, so that line searches need several trials."""
    start = 3 * np.random.default_rng(1).standard_normal(20)

    def function(x):
        return float(np.sum(np.cos(3 * x) + x**4 - 2 * x)), -3 * np.sin(3 * x) + 4 * x**3 - 2

    return function, start


def logistic():
    random = np.random.default_rng(2)
    X, y = random.standard_normal((60, 12)), random.choice([-1.0, 1.0], 60)

    def function(theta):
        margin = y * (X @ theta)
        slope = -X.T @ (y / (1 + np.exp(margin))) + 0.1 * theta
        return float(np.logaddexp(0, -margin).sum() + 0.05 * theta @ theta), slope

    return function, np.zeros(12)


def steps_of(function, start, memory, tolerance=1e-6):
    """The points after each step, and the number of evaluations."""
    points, evaluations = [], []

    def evaluate(theta):
        evaluations.append(theta.copy())
        return function(theta)

    def report(theta):
        points.append(theta.copy())
        if np.abs(function(theta)[1]).max() <= tolerance:
            raise StopIteration

    try:
        _native.lbfgs(evaluate, report, start.copy(), memory)
    except StopIteration:
        pass
    return points, len(evaluations)


@pytest.mark.parametrize("memory", [1, 3, 10])
@pytest.mark.parametrize("problem", [quadratic, valley, waves, logistic])
def test_the_steps_are_those_of_scipy(problem, memory):
    function, start = problem()
    points, evaluations = steps_of(function, start, memory)
    theirs = []
    options = {"maxcor": memory, "ftol": 0.0, "gtol": 1e-6, "maxls": 50, "maxiter": 5000}
    found = minimize(
        function, start, jac=True, method="L-BFGS-B", options=options,
        callback=lambda x: theirs.append(x.copy()),
    )  # fmt: skip
    for ours, other in zip(points[:12], theirs[:12], strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-7, atol=1e-9)
    # Rounding errors grow in the curved valley, so that later steps differ.
    assert abs(len(points) - found.nit) <= 0.3 * found.nit + 1
    assert abs(evaluations - found.nfev) <= 0.3 * found.nfev + 2
    assert function(points[-1])[0] <= found.fun + 1e-9 * abs(found.fun) + 1e-12


def test_it_ends_where_the_gradient_is_zero():
    reports = []
    _native.lbfgs(lambda x: (0.0, np.zeros(3)), reports.append, np.ones(3), 5)
    assert not reports


def test_it_ends_where_no_step_is_lower():
    """A gradient of the wrong sign: every step along it rises."""
    calls, reports = [], []

    def evaluate(x):
        calls.append(1)
        return float(x @ x), -2 * x

    _native.lbfgs(evaluate, reports.append, np.ones(2), 5)
    assert len(calls) <= 60
    assert len(reports) <= 2


def test_errors_of_the_function_arrive():
    def evaluate(x):
        raise ZeroDivisionError("from the function")

    with pytest.raises(ZeroDivisionError, match="from the function"):
        _native.lbfgs(evaluate, print, np.ones(2), 5)


def test_a_gradient_of_another_length_is_refused():
    with pytest.raises(ValueError, match="as long as theta"):
        _native.lbfgs(lambda x: (1.0, np.ones(3)), print, np.ones(2), 5)
    with pytest.raises(ValueError, match="memory"):
        _native.lbfgs(lambda x: (1.0, np.ones(2)), print, np.ones(2), 0)
