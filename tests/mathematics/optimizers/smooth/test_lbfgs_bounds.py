"""L-BFGS between the bounds of a problem, and where rounding errors hide the minimum."""

import numpy as np

import thetahat as th


class Valley:
    """½(x − c)ᵀD(x − c) with its minimum outside the box."""

    scale, centre = np.array([1.0, 50.0, 3.0]), np.array([2.0, -1.0, 0.3])
    bounds = np.array([[0.0, 1.0], [-0.5, 4.0], [-1.0, 1.0]])

    def value_and_gradient(self, x):
        gap = x - self.centre
        return float(gap @ (self.scale * gap)) / 2, self.scale * gap


def test_the_minimum_within_the_bounds_is_found():
    found = th.minimise(Valley(), th.optimizers.LBFGS(), np.zeros(3), tolerance=1e-9)
    assert found.outcome.success
    np.testing.assert_allclose(found.theta, [1.0, -0.5, 0.3], atol=1e-8)
    assert found.gap <= 1e-9


class RoundedValley:
    """A valley whose values have rounding errors, while its gradients are accurate."""

    evaluations = 0

    def value_and_gradient(self, x):
        self.evaluations += 1
        scale = np.array([1.0, 30.0, 1000.0])
        rounding = 1e-10 * np.sin(1e12 * x.sum())
        return 1.0 + float(x @ (scale * x)) / 2 + rounding, scale * x


def test_a_minimum_hidden_by_rounding_errors_ends_the_run():
    valley = RoundedValley()
    found = th.minimise(valley, th.optimizers.LBFGS(), np.ones(3), tolerance=1e-5)
    assert found.outcome.success
    assert found.gap <= 1e-5
    assert valley.evaluations <= 25
