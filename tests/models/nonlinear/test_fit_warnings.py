"""From poor starts, a fit is a stationary point or says that it is not one."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th

X = np.linspace(0.0, 4.0, 40)[:, np.newaxis]
NOISE = np.random.default_rng(1).standard_normal(40)


def decay(X, b):
    return b[0] * np.exp(-b[1] * X[:, 0])


def raised_decay(X, b):
    return b[0] * np.exp(-b[1] * X[:, 0]) + b[2]


def bump(X, b):
    return b[0] * np.exp(-(((X[:, 0] - b[1]) / b[2]) ** 2))


def growth(X, b):
    return b[0] / (1 + np.exp(b[1] - b[2] * X[:, 0]))


def two_decays(X, b):
    return b[0] * np.exp(-b[1] * X[:, 0]) + b[2] * np.exp(-b[3] * X[:, 0])


CURVES = {
    "raised decay": (raised_decay, [5.0, 0.7, 1.0], [61.7, -18.05, 22.6]),
    "bump": (bump, [3.0, 2.0, 0.5], [0.588, 20.32, -0.894]),
    "growth": (growth, [5.0, 2.0, 1.5], [-3.22, 321.8, -59.0]),
    "two decays": (two_decays, [5.0, 0.7, 2.0, 3.0], [28.7, -36.7, 159.0, -3.41]),
}
"""A curve, the truth, and a start from which columns of J fall or rise by many magnitudes."""


def warned_fit(model, start, y, **options):
    """The fit, and whether it warned; any other warning is an error."""
    curve = th.NonlinearRegression(model, start, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.simplefilter("always", th.errors.IllConditionedWarning)
        curve.fit(X, y)
    return curve, " ".join(str(warning.message) for warning in caught)


def steepness(model, theta, y):
    """The largest |Jₖᵀr| / ‖Jₖ‖‖r‖, by differences."""
    widths = 1e-6 * np.maximum(np.abs(theta), 1e-3)
    slopes = [
        (model(X, theta + shift) - model(X, theta - shift)) / (2 * width)
        for shift, width in zip(np.diag(widths), widths, strict=True)
    ]
    residuals = model(X, theta) - y
    return max(abs(s @ residuals) / np.linalg.norm(s) for s in slopes) / np.linalg.norm(residuals)


@pytest.mark.parametrize("start", [[1, -8, 1], [1, -10, 1], [1, -20, 1]])
def test_a_huge_column_at_the_start_hides_no_later_step(start):
    y = raised_decay(X, [5.0, 0.7, 1.0]) + 0.05 * NOISE
    curve, warning = warned_fit(raised_decay, start, y)
    assert warning
    assert curve.score(X, y) > -1e-6


@pytest.mark.parametrize("unit", [1e-100, 1e-20, 1e-10, 1e5, 1e10])
def test_the_units_of_the_targets_change_no_rate(unit):
    y = 5 * np.exp(-0.7 * X[:, 0]) + 0.05 * NOISE
    plain, _ = warned_fit(decay, [1.0, 1.0], y)
    scaled, warning = warned_fit(decay, [1.0, 1.0], y * unit)
    assert not warning
    np.testing.assert_allclose(scaled.theta_, plain.theta_ * [unit, 1.0], rtol=1e-9)


@pytest.mark.parametrize("name", CURVES)
def test_a_fit_from_anywhere_is_stationary_or_warns(name):
    model, truth, wild = CURVES[name]
    random = np.random.default_rng(3)
    y = model(X, truth) + 0.05 * NOISE
    arrived = 0
    starts = [np.array(wild)]
    for k in range(8):
        around = truth * np.exp((1 + k % 3) * random.normal(size=len(truth)))
        starts.append(around * random.choice([1, 1, -1], size=len(truth)))
    for start in starts:
        try:
            curve, warning = warned_fit(model, start, y)
        except th.errors.ParameterError:
            continue
        if warning:
            continue
        arrived += 1
        assert curve.solution_.outcome.success or curve.solution_.gap < 1e-4
        again, _ = warned_fit(model, curve.theta_, y)
        falls = 1 - again.solution_.value / curve.solution_.value
        assert falls < 1e-6 or steepness(model, curve.theta_, y) < 1e-6
    assert arrived >= 3


@pytest.mark.parametrize(
    "start", [[0.72, 5.12, 0.063], [0.588, 20.32, -0.894], [-102.9, -1.28, 5.28]]
)
def test_a_radius_beyond_the_smallest_squares_is_solved_for(start):
    curve, _ = warned_fit(bump, start, bump(X, [3.0, 2.0, 0.5]))
    assert np.isfinite(curve.theta_).all()
    assert curve.solution_.steps > 0


def test_a_jacobian_that_vanished_is_no_minimum():
    """exp(−10⁴x) is 0 in every row: no step shows, and none is taken."""
    rows, y = X[1:], decay(X[1:], [5.0, 0.7])
    curve = th.NonlinearRegression(decay, {"height": 1.0, "rate": 1e4})
    with pytest.warns(ConvergenceWarning, match=r"do not determine height, rate .* rank 0 of 2"):
        curve.fit(rows, y)
    assert curve.solution_.outcome is th.results.Outcome.STALLED
    assert np.isinf(curve.standard_errors_).all()


@pytest.mark.parametrize("name", ["MGH10", "Eckerle4"])
def test_steps_that_overshoot_to_nowhere_are_reported(name):
    """Plain Gauss-Newton runs to θ ~ 1e57, where all columns of J are one."""
    data = th.datasets.load_nonlinear(name)
    curve = th.NonlinearRegression(data.model, data.starts[0], method="gauss_newton")
    with pytest.warns(
        th.errors.IllConditionedWarning, match=r"do not determine b1, b2, b3 .* rank 1 of 3"
    ):
        curve.fit(data.X, data.y)


def test_worse_than_a_constant_is_reported():
    y = 100 + NOISE
    curve, warning = warned_fit(
        decay, [1.0, 1.0], 100 + 30 * X[:, 0] + NOISE, bounds=([0, 0], [90, 9])
    )
    assert curve.solution_.outcome.success
    assert "fits worse than the constant 160" in warning
    assert "another start" in warning
    _, warning = warned_fit(lambda X, b: b[0] + 0 * X[:, 0], [1.0], y)
    assert not warning
    _, warning = warned_fit(lambda X, b: b[0] + 0 * X[:, 0], [1.0], np.full(40, 0.1))
    assert not warning
    _, warning = warned_fit(
        lambda X, b: b[0] + 0 * X[:, 0], [99.0], y, loss=th.losses.Huber(delta=0.5)
    )
    assert not warning


@pytest.mark.parametrize("method", ["gauss_newton", "levenberg", "levenberg_marquardt"])
@pytest.mark.parametrize(
    "start", [[-144.8, 17.09, 0.00143], [12.3, 0.0214, -31.17], [-4.52, 0.633, -1.02]]
)
def test_steps_to_where_the_derivative_is_undefined_are_dropped(method, start):
    y = growth(X, [5.0, 2.0, 1.5]) + 0.05 * NOISE
    curve, _ = warned_fit(growth, start, y, method=method)
    assert np.isfinite(curve.theta_).all()
    assert np.sum((y - growth(X, curve.theta_)) ** 2) <= np.sum((y - growth(X, start)) ** 2)


def test_a_start_whose_squares_overflow_is_refused():
    with pytest.raises(
        th.errors.ParameterError, match=r"sum of losses is inf at the start b1 = 1, b2"
    ):
        th.NonlinearRegression(decay, [1.0, -150.0]).fit(X, X[:, 0])
