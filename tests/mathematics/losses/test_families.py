"""Losses family by family: relations within it, peers, and the worked numbers."""

import numpy as np
import pytest
import scipy.special
import sklearn.metrics

import thetahat as th
from tests.mathematics.losses.loss_cases import draw, losses, per_class
from thetahat.mathematics.losses.base import Targets

# Margin losses


def margin_losses():
    return losses(
        where=lambda loss: loss.targets is Targets.SIGNS or isinstance(loss, th.losses.Squared),
    )


@margin_losses()
def test_margin_losses_depend_on_the_product_of_label_and_score(loss):
    z = np.linspace(-5, 5, 101)
    ones = np.ones_like(z)
    np.testing.assert_array_equal(loss.value(-ones, -z), loss.value(ones, z))


@margin_losses()
def test_margin_losses_over_their_value_at_zero_bound_the_errors(loss):
    margin = np.linspace(-20, 20, 4001)
    ones = np.ones_like(margin)
    errors = th.losses.ZeroOne().value(ones, margin)
    at_zero = loss.value(np.ones(1), np.zeros(1))
    if at_zero == 0:
        assert loss == th.losses.Perceptron()  # its loss is 0 at the prediction 0
        return
    assert np.all(loss.value(ones, margin) / at_zero >= errors - 1e-15)


@margin_losses()
def test_margin_losses_have_one_interface(loss):
    """Value, slope, best constant and kinks of all of them, the zero-one loss among them."""
    y, z = draw(loss)
    step = 1e-6
    slope = (loss.value(y, z + step) - loss.value(y, z - step)) / (2 * step)
    np.testing.assert_allclose(loss.gradient(y, z), slope, rtol=1e-5, atol=1e-5)
    assert loss.gradient(y.astype(np.float32), z.astype(np.float32)).dtype == np.float32
    best = loss.value(y, np.full_like(z, loss.best_constant(y))).mean()
    assert best <= loss.value(y, np.full_like(z, 0.3)).mean() + 1e-12


@margin_losses()
def test_margin_losses_have_their_asymptotes(loss):
    """Left: the line, parabola or exponential; right: zero for all that forgive large margins."""
    far = np.array([200.0])
    left = {
        "squared": (1 + far) ** 2 / 2,
        "zero_one": 1.0,
        "sign_logistic": far,
        "hinge": 1 + far,
        "squared_hinge": (1 + far) ** 2,
        "class_huber": 4 * far,
        "exponential": np.exp(far),
        "perceptron": far,
    }
    np.testing.assert_allclose(loss.value(np.ones(1), -far), left[loss.name])
    if loss.name != "squared":
        np.testing.assert_allclose(loss.value(np.ones(1), far), 0, atol=1e-80)


def test_margin_worked_numbers():
    ones = np.ones(4)
    class_huber = th.losses.ClassHuber().value(ones, np.array([-1.0, 0.0, 0.5, 1.0]))
    np.testing.assert_allclose(class_huber, [4.0, 1.0, 0.25, 0.0])
    assert th.losses.SignLogistic().value(np.ones(1), np.zeros(1)) == pytest.approx(np.log(2))
    assert th.losses.Hinge().value(np.ones(1), np.array([0.5])) == 0.5


def test_the_two_logistic_losses_are_one():
    y, z = draw(th.losses.SignLogistic())
    for name in ["value", "gradient", "curvature"]:
        signs = getattr(th.losses.SignLogistic(), name)(y, z)
        np.testing.assert_allclose(
            getattr(th.losses.Logistic(), name)((y + 1) / 2, z), signs, rtol=1e-13
        )


def test_logistic_keeps_the_digits_of_small_losses():
    z = np.array([20.0, 50.0, 300.0])
    expected = np.exp(-z) * (1 - np.exp(-z) / 2)
    for loss, y in [(th.losses.Logistic(), np.ones(3)), (th.losses.SignLogistic(), np.ones(3))]:
        np.testing.assert_allclose(loss.value(y, z), expected, rtol=1e-14)
        np.testing.assert_allclose(loss.gradient(y, z), -np.exp(-z) / (1 + np.exp(-z)), rtol=1e-14)


def test_losses_against_scikit_learn_and_scipy():
    rng = np.random.default_rng(0)
    y, z = rng.normal(size=200), rng.normal(size=200)
    labels = rng.integers(0, 2, size=200)
    counts = rng.poisson(3.0, size=200) + 1.0
    scores, classes = rng.normal(size=(200, 3)), rng.integers(0, 3, size=200)
    sigmoid, softmax = scipy.special.expit(z), scipy.special.softmax(scores, axis=1)
    metrics, losses = sklearn.metrics, th.losses
    poisson = losses.Poisson()
    pairs = {
        "squared": (losses.Squared().value(y, z), metrics.mean_squared_error(y, z) / 2),
        "absolute": (losses.Absolute().value(y, z), metrics.mean_absolute_error(y, z)),
        "quantile": (
            losses.Quantile(0.3).value(y, z),
            metrics.mean_pinball_loss(y, z, alpha=0.3),
        ),
        "huber": (losses.Huber(0.7).value(y, z), np.mean(scipy.special.huber(0.7, z - y))),
        "logistic": (losses.Logistic().value(labels, z), metrics.log_loss(labels, sigmoid)),
        "softmax": (
            losses.SoftmaxCrossEntropy().value(classes, scores),
            metrics.log_loss(classes, softmax),
        ),
        "hinge": (losses.Hinge().value(2 * labels - 1, z), metrics.hinge_loss(labels, z)),
        "zero_one": (
            losses.ZeroOne().value(2 * labels - 1, z),
            metrics.zero_one_loss(labels, z > 0),
        ),
        "poisson": (
            2 * (poisson.value(counts, z) - poisson.value(counts, np.log(counts))),
            metrics.mean_poisson_deviance(counts, np.exp(z)),
        ),
    }
    for name, (ours, theirs) in pairs.items():
        assert np.mean(ours) == pytest.approx(theirs, rel=1e-12), name


def test_special_parameters_give_simpler_losses():
    y, z = draw(th.losses.Squared())
    value = {
        loss: loss.value(y, z)
        for loss in [
            th.losses.Squared(),
            th.losses.Absolute(),
            th.losses.Quantile(0.5),
            th.losses.EpsilonInsensitive(0.0),
            th.losses.SquaredEpsilonInsensitive(0.0),
            th.losses.Huber(1e9),
        ]
    }
    squared, absolute, quantile, tube, squared_tube, huber = value.values()
    np.testing.assert_allclose(quantile, absolute / 2)
    np.testing.assert_allclose(tube, absolute)
    np.testing.assert_allclose(squared_tube, squared)
    np.testing.assert_allclose(huber, squared)


# Class scores


@losses(where=per_class)
def test_adding_a_constant_to_a_row_of_scores_changes_nothing(loss):
    y, z = draw(loss)
    np.testing.assert_allclose(loss.value(y, z + 7), loss.value(y, z), atol=1e-13)
    np.testing.assert_allclose(np.sum(loss.gradient(y, z), axis=1), 0, atol=1e-14)


def test_two_classes_reduce_to_the_binary_losses():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, size=100), rng.normal(scale=3.0, size=(100, 2))
    z = scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(
        th.losses.SoftmaxCrossEntropy().value(y, scores), th.losses.Logistic().value(y, z)
    )
    np.testing.assert_allclose(
        th.losses.MulticlassHinge().value(y, scores), th.losses.Hinge().value(2 * y - 1, z)
    )


def test_multiclass_hinge_counts_violated_margins():
    z = np.array([[2.0, 1.0, 1.5, -4.0]])
    y = np.array([0])
    loss = th.losses.MulticlassHinge()
    np.testing.assert_allclose(loss.value(y, z), [0.5])
    # a margin of exactly 1 is kept: δ_c = 1[f_y < f_c + 1]
    np.testing.assert_array_equal(loss.gradient(y, z), [[-1.0, 0.0, 1.0, 0.0]])
