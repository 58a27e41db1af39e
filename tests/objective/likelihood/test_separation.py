"""Separated classes: likelihoods without a maximum."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.likelihood.separation import Separation, separation
from thetahat.objective.predictor import LinearPredictor

LINE = np.linspace(-1.0, 1.0, 20)[:, None]


def found(X, y, loss="logistic", penalty="none"):
    risk = EmpiricalRisk(
        LinearPredictor(X.shape[1]),
        th.losses.named(loss),
        th.penalties.named(penalty),
        as_source(X, y),
    )
    fit = minimise(risk, th.optimizers.Newton(), tolerance=1e-8)
    return separation(risk, fit.theta, fit.gap)


def test_perfect_separation():
    assert found(LINE, (LINE[:, 0] > 0).astype(float)) is Separation.PERFECT


def test_quasi_separation():
    X = np.vstack([LINE, [[0.0]], [[0.0]]])
    y = np.append(LINE[:, 0] > 0, [1, 0]).astype(float)
    assert found(X, y) is Separation.QUASI


def test_overlapping_classes_have_a_maximum():
    y = np.tile([0.0, 1.0], 10)
    assert found(LINE, y) is None


def test_counts():
    assert found(LINE, np.zeros(20), "poisson") is Separation.NO_COUNTS
    group = (np.arange(20) < 8).astype(float)[:, None]
    counts = np.where(group[:, 0] == 1, 0.0, np.arange(20) % 3 + 1)
    assert found(group, counts, "poisson") is Separation.EMPTY_GROUP
    assert found(group, counts + 1, "poisson") is None


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_other_losses_have_a_minimum(loss):
    assert found(LINE, LINE[:, 0], loss) is None


def test_a_penalty_holds_the_coefficients():
    assert found(LINE, (LINE[:, 0] > 0).astype(float), penalty="l2") is None
