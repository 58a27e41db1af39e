"""The dual of Crammer and Singer's loss."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor


def risk_of(weight=None, fit_intercept=False):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 4))
    y = np.argmax(X[:, :3] + 0.5 * random.standard_normal((60, 3)), axis=1).astype(float)
    predictor = LinearPredictor(4, 3, fit_intercept=fit_intercept)
    source = as_source(X, y, weight)
    return EmpiricalRisk(predictor, th.losses.CrammerSinger(), th.penalties.L2(0.1), source)


def test_the_dual_without_multipliers_bounds_the_risk_from_below():
    risk = risk_of()
    dual = risk.class_dual_rows()
    nothing = dual.value(np.zeros((60, 3)), np.zeros((5, 3)), np.zeros(3))
    assert nothing == 0.0 <= risk.value(risk.start())


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_no_nearby_point_is_lower_at_the_optimum(fit_intercept):
    risk = risk_of(np.random.default_rng(1).random(60), fit_intercept)
    found = minimise(risk, th.optimizers.ClassDualDescent(), tolerance=1e-8)
    assert found.outcome.success
    for seed in range(20):
        move = 1e-2 * np.random.default_rng(seed).standard_normal(found.theta.size)
        assert risk.value(found.theta + move) >= found.value - 1e-8


def test_equal_weights_count_as_no_weights():
    method = th.optimizers.ClassDualDescent()
    plain, weighted = (minimise(risk_of(w), method) for w in (None, np.full(60, 5.0)))
    np.testing.assert_allclose(plain.theta, weighted.theta, atol=1e-6)


def test_the_multipliers_of_each_class_sum_to_zero_for_free_intercepts():
    risk = risk_of(fit_intercept=True)
    found = minimise(risk, th.optimizers.ClassDualDescent(), tolerance=1e-9)
    assert found.outcome.success
    assert np.ptp(found.theta[-3:]) > 0
    np.testing.assert_allclose(found.multipliers.sum(axis=0), 0.0, atol=1e-7)
    np.testing.assert_allclose(risk.source.X.T @ found.multipliers, found.theta[:-3].reshape(4, 3))
