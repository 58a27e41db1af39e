"""Automatic differentiation goes through every loss, twice."""

import numpy as np

import thetahat as th
from tests.mathematics.losses.loss_cases import draw, losses, one_column
from thetahat.mathematics.losses.base import Curved, Smooth


@losses()
def test_derivatives_by_autodiff_are_those_of_the_formulas(loss):
    y, z = draw(loss, n=8)

    def total(raw):
        return loss.value(y, raw).sum()

    slope = th.autodiff.gradient(total)(z)
    np.testing.assert_allclose(slope, loss.gradient(y, z), rtol=1e-9, atol=1e-12)
    hessian = th.autodiff.hessian(total, z).reshape(z.size, z.size)
    if isinstance(loss, Curved) and one_column(loss):
        np.testing.assert_allclose(hessian, np.diag(loss.curvature(y, z)), rtol=1e-8, atol=1e-12)
    elif isinstance(loss, Smooth):
        step, along = 1e-6, np.eye(z.size)
        for j in range(z.size):
            move = step * along[j].reshape(z.shape)
            change = (loss.gradient(y, z + move) - loss.gradient(y, z - move)) / (2 * step)
            np.testing.assert_allclose(hessian[:, j], change.ravel(), rtol=1e-5, atol=1e-7)
    else:
        np.testing.assert_array_equal(hessian, 0)
    direction = np.linspace(-1, 1, z.size).reshape(z.shape)
    product = th.autodiff.hessian_product(total, z, direction)
    np.testing.assert_allclose(np.ravel(product), hessian @ direction.ravel(), atol=1e-10)


@losses(Smooth, where=one_column)
def test_second_derivatives_of_the_risk_of_a_linear_model(loss):
    """∇²Σℓ(y, Xβ) = Xᵀ diag(curvature) X."""
    y, _ = draw(loss, n=30)
    X = np.random.default_rng(1).standard_normal((30, 3))
    beta = np.array([0.31, -0.42, 0.17])
    hessian = th.autodiff.hessian(lambda b: loss.value(y, X @ b).sum(), beta)
    step = 1e-6
    for j, e in enumerate(np.eye(3)):
        ahead, behind = (X.T @ loss.gradient(y, X @ (beta + s * e)) for s in (step, -step))
        np.testing.assert_allclose(
            hessian[:, j], (ahead - behind) / (2 * step), rtol=1e-4, atol=1e-4
        )
