"""Problems that optimizers are tried on, and the lists of methods to try."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.optimizers.by_name import methods

opt = th.optimizers
METHODS = sorted(methods(), key=lambda kind: kind.name)
OTHER_OBJECTIVES = {
    "dual_form",
    "dual_rows",
    "class_dual_rows",
    "piecewise_linear",
    "structured_terms",
    "direct_least_squares",
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

    def hessian_product(self, theta, direction):
        return self.gram @ direction

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

    def hessian_product(self, b, direction):
        return self.hessian(b) @ direction


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
