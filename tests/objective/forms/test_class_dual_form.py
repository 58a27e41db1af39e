"""The dual of Crammer and Singer's loss."""

import numpy as np

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor


def risk_of(weight=None):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 4))
    y = np.argmax(X[:, :3] + 0.5 * random.standard_normal((60, 3)), axis=1).astype(float)
    predictor = LinearPredictor(4, 3, fit_intercept=False)
    source = as_source(X, y, weight)
    return EmpiricalRisk(predictor, th.losses.CrammerSinger(), th.penalties.L2(0.1), source)


def test_the_dual_without_multipliers_bounds_the_risk_from_below():
    risk = risk_of()
    dual = risk.class_dual_rows()
    nothing = dual.value(np.zeros((60, 3)), np.zeros((5, 3)))
    assert nothing == 0.0 <= risk.value(risk.start())


def test_no_nearby_point_is_lower_at_the_optimum():
    risk = risk_of(np.random.default_rng(1).random(60))
    found = minimise(risk, th.optimizers.ClassDualDescent(), tolerance=1e-8)
    assert found.outcome.success
    for seed in range(20):
        move = 1e-2 * np.random.default_rng(seed).standard_normal(12)
        assert risk.value(found.theta + move) >= found.value - 1e-8


def test_equal_weights_count_as_no_weights():
    method = th.optimizers.ClassDualDescent()
    plain, weighted = (minimise(risk_of(w), method) for w in (None, np.full(60, 5.0)))
    np.testing.assert_allclose(plain.theta, weighted.theta, atol=1e-6)
