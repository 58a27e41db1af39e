"""Curves that cannot be fitted: every refusal and warning says what is wrong."""

import math
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.nonlinear.decay_data import START, T, Y, decay, fitted


def test_no_row_to_spare():
    model = th.NonlinearRegression(decay, START).fit(T[[0, 10, 39]], Y[[0, 10, 39]])
    np.testing.assert_allclose(model.predict(T[[0, 10, 39]]), Y[[0, 10, 39]], rtol=1e-8)
    assert math.isnan(model.sigma_)
    with pytest.raises(th.errors.CapabilityError, match="more rows than parameters: n = 3, p = 3"):
        model.summary()


def test_steps_that_run_out_are_reported():
    with pytest.warns(ConvergenceWarning, match="maximum number of iterations"):
        fitted(max_iter=1)


def test_a_run_that_is_stuck_is_reported():
    """|b| has a kink at its minimum, where no tangent helps."""
    model = th.NonlinearRegression(lambda X, b: np.abs(b[0] - 1) + 0 * X[:, 0], [3.0])
    with pytest.warns(
        ConvergenceWarning, match="relative offset is still .* not differentiable near"
    ):
        model.fit(T, -1 + 0.1 * Y)


def nothing(X, theta):
    return np.full(len(X), np.nan)


@pytest.mark.parametrize(
    ("model", "start", "options", "message"),
    [
        (decay, None, {}, "needs initial values of its parameters"),
        (decay, [1.0, np.nan, 0.0], {}, "must be a list of finite numbers"),
        (decay, [[1.0, 2.0]], {}, "must be a list of finite numbers"),
        (decay, "abc", {}, "must be a list of finite numbers"),
        (None, [1.0], {}, "linear function of 1 features has 2"),
        (nothing, [1.0], {}, r"model is nan at the start b1 = 1, first in row 0 .*bounds="),
        (lambda X, b: np.sqrt(b[0]) * X[:, 0], [0.0], {}, "Jacobian is"),
        (lambda X, b: b[0] * X, [1.0], {}, r"shape \(40, 1\) for 40 rows; .*X\[:, 0\]"),
        (lambda X, b: b[0] * X[:3, 0], [1.0], {}, r"shape \(3,\) for 40 rows"),
        (lambda X, b: b[0] * X[:, 0] + 1j, [1.0], {}, "complex numbers.*real part"),
        (lambda X, b: np.array(["a"] * len(X)), [1.0], {}, "type <U1"),
        (decay, START, {"bounds": (0, 0.5)}, "b1 starts at 1 with bounds 0 and 0.5"),
        (decay, START, {"bounds": ([0, 0], [1, 1])}, "each of 3 parameters"),
        (decay, START, {"bounds": 3.0}, r"must be a pair \(low, high\)"),
        (decay, START, {"bounds": {"slope": (0, 1)}}, "parameters are b1, b2, b3"),
        (decay, START, {"method": "lbfgs"}, "does not minimise sums of squares"),
        (decay, START, {"method": "levenberg", "bounds": (-9, 9)}, "does not support bounds"),
        (decay, START, {"method": "gaus_newton"}, "Did you mean 'gauss_newton'"),
        (decay, START, {"loss": "absolute"}, "needs a smooth loss"),
        (decay, START, {"loss": "poisson"}, "needs a smooth loss of real targets"),
        (
            decay,
            START,
            {"loss": th.loss(lambda y, z: (z - y) ** 2 + 1.0, name="raised")},
            "raised is 1 at y = z",
        ),
        (decay, START, {"jacobian": "exact"}, "jacobian='exact' must be one of"),
        (decay, START, {"restarts": -1}, "restarts=-1 must be"),
        (decay, START, {"tol": -1.0}, "tol=-1.0 must be"),
        (3.0, START, {}, "model=3.0 must be"),
    ],
)
def test_refusals_say_what_is_wrong(model, start, options, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        th.NonlinearRegression(model, start, **options).fit(T, Y)


def test_an_error_in_the_model_says_where():
    def broken(X, theta):
        if theta[0] > 1.5:
            raise KeyError("table")
        return theta[0] * X[:, 0]

    with pytest.raises(KeyError) as caught:
        th.NonlinearRegression(broken, [1.0], jacobian="finite-differences").fit(T, 9 * T[:, 0])
    assert any("model(X, theta) at b1 = " in note for note in caught.value.__notes__)


def test_arithmetic_errors_on_the_way_are_steps_too_far():
    def narrow(X, theta):
        return np.array([math.exp(float(theta[0]) * x) for x in X[:, 0]])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = th.NonlinearRegression(
            narrow, [1.0], method=th.optimizers.TrustRegion(first_radius=1e6)
        ).fit(T, np.exp(-3 * T[:, 0]))
    np.testing.assert_allclose(model.theta_, [-3.0], rtol=1e-8)


def test_the_model_cannot_change_the_rows():
    def careless(X, theta):
        X[:, 0] = 0.0
        return X[:, 0] * theta[0]

    with pytest.raises(ValueError, match="read-only"):
        th.NonlinearRegression(careless, [1.0]).fit(T, Y)


def test_predict_interval_refuses_other_kinds():
    model = fitted()
    with pytest.raises(th.errors.ParameterError, match="kind='mean' must be"):
        model.predict_interval(T, kind="mean")
    with pytest.raises(th.errors.ParameterError, match="level=95 must lie strictly between"):
        model.predict_interval(T, level=95)
    with pytest.raises(th.errors.ParameterError, match="weights='row' must be"):
        model.summary(weights="row")
