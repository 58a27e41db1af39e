"""Links: inverses of each other, stable for any score, and true to the losses that use them."""

import numpy as np
import pytest
import scipy.special

import thetahat as th
from tests.mathematics.losses.loss_cases import draw, losses
from thetahat.foundation.errors import CapabilityError
from thetahat.mathematics.losses.links import Link, inverse_link, link, log_sum_exp, softplus

SCORES = np.concatenate([[-1e6, -1e3, 1e3, 1e6], np.linspace(-40, 40, 801)])


def test_sigmoid_and_its_mirror_sum_to_one():
    p = th.losses.sigmoid(SCORES)
    np.testing.assert_allclose(p + th.losses.sigmoid(-SCORES), 1, rtol=1e-15)
    np.testing.assert_allclose(p, scipy.special.expit(SCORES), rtol=1e-14)


def test_sigmoid_keeps_the_digits_of_small_probabilities():
    z = np.array([-700.0, -100.0, -50.0])
    np.testing.assert_allclose(th.losses.sigmoid(z), np.exp(z), rtol=1e-14)


def test_sigmoid_has_the_slope_of_its_own_product():
    z, step = np.linspace(-5, 5, 101), 1e-6
    slope = (th.losses.sigmoid(z + step) - th.losses.sigmoid(z - step)) / (2 * step)
    p = th.losses.sigmoid(z)
    np.testing.assert_allclose(slope, p * (1 - p), rtol=1e-8)


@pytest.mark.parametrize("n_classes", [1, 6, 60])
def test_softmax_gives_probabilities_that_sum_to_one(n_classes):
    z = np.random.default_rng(0).normal(scale=5.0, size=(50, n_classes))
    p = th.losses.softmax(z)
    np.testing.assert_allclose(np.sum(p, axis=1), 1, rtol=1e-15)
    assert np.all((p > 0) & ((p < 1) | (n_classes == 1)))
    np.testing.assert_allclose(p, scipy.special.softmax(z, axis=1), rtol=1e-13)
    np.testing.assert_allclose(np.sum(th.losses.softmax(1e3 * z), axis=1), 1, rtol=1e-15)


def test_sigmoid_is_softmax_of_two_scores():
    z = np.stack([np.zeros_like(SCORES), SCORES], axis=1)
    np.testing.assert_allclose(th.losses.softmax(z)[:, 1], th.losses.sigmoid(SCORES), rtol=1e-14)


@pytest.mark.parametrize("n_classes", [1, 6, 60])
def test_log_sum_exp_and_softplus_against_scipy(n_classes):
    z = np.random.default_rng(0).normal(scale=300.0, size=(50, n_classes))
    np.testing.assert_allclose(log_sum_exp(z), scipy.special.logsumexp(z, axis=1), rtol=1e-14)
    np.testing.assert_allclose(softplus(SCORES), np.logaddexp(0, SCORES), rtol=1e-14)


@pytest.mark.parametrize("kind", [kind for kind in Link if kind is not Link.SIGN])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_links_undo_their_inverses(kind, dtype):
    z = np.random.default_rng(0).normal(size=(20, 3)).astype(dtype)
    if kind is Link.SOFTMAX:
        z -= np.mean(z, axis=1, keepdims=True)
    back = link(kind, inverse_link(kind, z))
    assert back.dtype == dtype
    np.testing.assert_allclose(back, z, atol=100 * np.finfo(dtype).eps)


def test_links_of_extreme_means_are_finite():
    for kind in (Link.LOGIT, Link.LOG, Link.SOFTMAX):
        assert np.all(np.isfinite(link(kind, np.array([0.0, 1.0]))))
    with pytest.raises(CapabilityError, match="no inverse"):
        link(Link.SIGN, np.ones(2))


def test_sign_link_labels_zero_as_plus_one():
    np.testing.assert_array_equal(inverse_link(Link.SIGN, np.array([-2.0, 0.0, 3.0])), [-1, 1, 1])


@losses(where=lambda loss: loss.link in (Link.LOGIT, Link.LOG, Link.SOFTMAX))
def test_the_mean_of_the_best_constant_is_the_mean_of_the_targets(loss):
    y, _ = draw(loss)
    weight = np.random.default_rng(1).uniform(size=len(y))
    mean = loss.mean(loss.best_constant(y, weight))
    if loss.link is Link.SOFTMAX:
        expected = np.bincount(y, weights=weight) / np.sum(weight)
    else:
        positive = (y + 1) / 2 if np.min(y) < 0 else y
        expected = np.average(positive, weights=weight)
    np.testing.assert_allclose(mean, expected, rtol=1e-12)
