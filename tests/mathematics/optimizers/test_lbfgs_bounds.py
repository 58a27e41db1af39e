"""L-BFGS between the bounds of a problem."""

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
