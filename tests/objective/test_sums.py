"""Sums over rows: they merge, and are the value, gradient and Hessian of the risk."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.source import Block
from thetahat.mathematics.optimizers.checks.finite_differences import numeric_gradient
from thetahat.objective import sums
from thetahat.objective.predictor import LinearPredictor

N, D = 20, 3
LOSSES = {
    "logistic": ("logistic", 0),
    "tukey": ("tukey", 0),
    "softmax": ("softmax_cross_entropy", 3),
}


def problem(name, weighted=True):
    loss, k = LOSSES[name]
    random = np.random.default_rng(0)
    X = random.standard_normal((N, D))
    y = random.integers(0, k or 2, N).astype(float)
    block = Block(X=X, y=y, weight=random.random(N) if weighted else None)
    predictor = LinearPredictor(D, k)
    theta = 0.5 * random.standard_normal(predictor.n_parameters)
    return block, predictor, th.losses.named(loss), theta


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_and_hessian_are_derivatives_of_the_value(name):
    block, predictor, loss, theta = problem(name)

    def value(point):
        return sums.value_sums(block, predictor, loss, point).means()[0]

    def gradient(point):
        return sums.gradient_sums(block, predictor, loss, point).means()[1]

    np.testing.assert_allclose(gradient(theta), numeric_gradient(value, theta).value, atol=1e-7)
    (hessian,) = sums.hessian_sums(block, predictor, loss, theta).means()
    direction = np.random.default_rng(1).standard_normal(theta.size)
    step = 1e-5 * direction
    change = (gradient(theta + step) - gradient(theta - step)) / 2e-5
    np.testing.assert_allclose(hessian @ direction, change, atol=1e-6)
    (product,) = sums.hessian_product_sums(block, predictor, loss, theta, direction).means()
    np.testing.assert_allclose(product, hessian @ direction, atol=1e-10)


@pytest.mark.parametrize("name", LOSSES)
def test_halves_merge_to_the_whole(name):
    block, predictor, loss, theta = problem(name)
    halves = [block.take(slice(0, 8)), block.take(slice(8, N))]
    first, second = (sums.gradient_sums(half, predictor, loss, theta) for half in halves)
    merged, whole = first.merge(second), sums.gradient_sums(block, predictor, loss, theta)
    assert merged.weight == pytest.approx(whole.weight)
    for a, b in zip(merged.parts, whole.parts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_blocks_of_the_hessian_are_parts_of_it(name):
    block, predictor, loss, theta = problem(name)
    (whole,) = sums.hessian_sums(block, predictor, loss, theta).parts
    some = np.array([1, theta.size - 1])
    (part,) = sums.hessian_block_sums(block, predictor, loss, theta, some).parts
    np.testing.assert_allclose(part, whole[np.ix_(some, some)], atol=1e-12)


def test_the_majoriser_lies_above_the_loss():
    block, predictor, loss, theta = problem("tukey")
    gradient, bend = sums.majoriser_sums(block, predictor, loss, theta).means()
    (value,) = sums.value_sums(block, predictor, loss, theta).means()
    for seed in range(20):
        move = np.random.default_rng(seed).standard_normal(theta.size)
        (there,) = sums.value_sums(block, predictor, loss, theta + move).means()
        assert there <= value + gradient @ move + move @ bend @ move / 2 + 1e-12


def test_rows_without_weight_have_no_mean():
    with pytest.raises(th.errors.DataError, match="weights are zero"):
        sums.Sums(0.0, (1.0,)).means()
