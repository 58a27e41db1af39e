"""The softmax with a reference class: C − 1 scores under the formulas of C."""

import numpy as np
import pytest

import thetahat as th
from thetahat.mathematics.losses.multiclass.reference_softmax import ReferenceSoftmax

RANDOM = np.random.default_rng(0)
N, C = 50, 4
Y = RANDOM.integers(0, C, N)
Z = RANDOM.standard_normal((N, C - 1))


@pytest.mark.parametrize("reference", range(C))
def test_it_is_the_softmax_with_a_score_of_zero(reference):
    loss, softmax = ReferenceSoftmax(reference), th.losses.SoftmaxCrossEntropy()
    scores = np.insert(Z, reference, 0.0, axis=1)
    others = [c for c in range(C) if c != reference]
    np.testing.assert_array_equal(loss.all_scores(Z), scores)
    np.testing.assert_allclose(loss.value(Y, Z), softmax.value(Y, scores))
    np.testing.assert_allclose(loss.gradient(Y, Z), softmax.gradient(Y, scores)[:, others])
    value, gradient = loss.value_and_gradient(Y, Z)
    np.testing.assert_allclose(value, loss.value(Y, Z))
    np.testing.assert_allclose(gradient, loss.gradient(Y, Z), atol=1e-14)
    np.testing.assert_allclose(loss.mean(Z).sum(axis=1), 1.0)
    rest = 1 + np.exp(Z).sum(axis=1)
    np.testing.assert_allclose(loss.mean(Z)[:, reference], 1 / rest)


@pytest.mark.parametrize("reference", [0, 2])
def test_its_derivatives(reference):
    loss, step = ReferenceSoftmax(reference), 1e-6
    for c in range(C - 1):
        unit = np.zeros_like(Z)
        unit[:, c] = 1.0
        up, down = Z + step * unit, Z - step * unit
        slope = (loss.value(Y, up) - loss.value(Y, down)) / (2 * step)
        np.testing.assert_allclose(loss.gradient(Y, Z)[:, c], slope, atol=1e-8)
        bend = (loss.gradient(Y, up) - loss.gradient(Y, down)) / (2 * step)
        np.testing.assert_allclose(loss.curvature_product(Y, Z, unit), bend, atol=1e-8)
        np.testing.assert_allclose(loss.curvature(Y, Z)[:, c], bend[:, c], atol=1e-8)


def test_its_best_constant_is_the_log_odds_against_the_reference():
    share = np.bincount(Y, minlength=C) / N
    expected = np.log(np.delete(share, 1) / share[1])
    np.testing.assert_allclose(ReferenceSoftmax(1).best_constant(Y, n_classes=C), expected)
