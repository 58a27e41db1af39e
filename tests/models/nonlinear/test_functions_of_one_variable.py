"""Curves of one's own that take a single column."""

import functools
import inspect

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import curve_fit
from sklearn.base import clone

import thetahat as th
from thetahat.models.nonlinear.parameters import named_arguments


class TestFunctionsOfOneVariable:
    """As users of scipy.optimize.curve_fit write them: a vector x, and parameters by name."""

    x = np.linspace(0.0, 4.0, 40)
    y = 2.5 * np.exp(-1.3 * x) + 0.5 + 0.01 * np.sin(30 * x)

    @staticmethod
    def decay(x, height, rate, floor):
        return height * np.exp(-rate * x) + floor

    def test_agrees_with_curve_fit(self):
        expected, covariance = curve_fit(self.decay, self.x, self.y, p0=[1.0, 1.0, 1.0])
        model = th.NonlinearRegression(self.decay, start=[1.0, 1.0, 1.0]).fit(self.x, self.y)
        assert model.parameter_names_ == ["height", "rate", "floor"]
        np.testing.assert_allclose(model.theta_, expected, rtol=1e-6)
        np.testing.assert_allclose(model.covariance_, covariance, rtol=1e-4)
        np.testing.assert_allclose(model.predict(self.x), self.decay(self.x, *expected), rtol=1e-6)
        assert "automatic differentiation" in model.solution_.reason

    def test_a_column_or_a_series_is_the_same(self):
        vector = th.NonlinearRegression(self.decay, start=[1.0, 1.0, 1.0]).fit(self.x, self.y)
        series = clone(vector).fit(pd.Series(self.x), self.y)
        column = th.NonlinearRegression(
            lambda X, theta: self.decay(X[:, 0], *theta), start=[1.0, 1.0, 1.0]
        ).fit(self.x[:, None], self.y)
        assert series.theta_.tolist() == vector.theta_.tolist()
        np.testing.assert_allclose(column.theta_, vector.theta_, rtol=1e-9)
        assert vector.predict(self.x[:3]).tolist() == vector.predict(self.x[:3, None]).tolist()
        low, high = vector.predict_interval(self.x)
        assert (low < high).all()

    def test_a_start_by_name_may_have_any_order(self):
        start = {"floor": 1.0, "height": 1.0, "rate": 1.0}
        model = th.NonlinearRegression(self.decay, start=start).fit(self.x, self.y)
        assert model.parameter_names_ == ["height", "rate", "floor"]

    def test_an_argument_with_a_default_is_a_constant(self):
        model = th.NonlinearRegression(
            lambda x, theta, power=1: theta[0] * x**power + theta[1], start=[1.0, 1.0]
        ).fit(self.x, 3 * self.x + 2)
        np.testing.assert_allclose(model.theta_, [3.0, 2.0])

    @pytest.mark.parametrize(
        ("model", "start", "message"),
        [
            (lambda x, a, b: a * x + b, [1.0], "start has length 1, but the model has 2"),
            (lambda x, a, b: a * x + b, {"a": 1.0, "c": 1.0}, "the parameters of the model are a"),
            (lambda x, theta: theta[0] * x + theta[2], [1.0], "start has 1 number, but"),
        ],
        ids=["too short", "other names", "index"],
    )
    def test_a_start_that_does_not_fit_the_model(self, model, start, message):
        with pytest.raises(th.errors.ParameterError, match=message):
            th.NonlinearRegression(model, start=start).fit(self.x, self.y)


def plain(x, a, b):
    return a * x + b


@functools.wraps(plain)
def wrapped(*args):
    return plain(*args)


def renamed(*args):
    return plain(*args)


renamed.__signature__ = inspect.signature(plain)


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (plain, ["a", "b"]),
        (wrapped, ["a", "b"]),
        (renamed, ["a", "b"]),
        (functools.partial(plain, b=1.0), []),
        (lambda x, a, b, c=1.0: a * x + b + c, ["a", "b"]),
        (lambda x, a, /, b, *, c=2.0: a * x + b + c, ["a", "b"]),
        (lambda x, theta: theta[0] * x, []),
        (lambda x=0.0, a=1.0, b=2.0: a * x + b, []),
        (lambda *arguments: plain(*arguments), []),
        (TestFunctionsOfOneVariable().decay, ["height", "rate", "floor"]),
        (np.exp, []),
    ],
)
def test_names_of_the_arguments(model, names):
    assert named_arguments(model) == names
