"""The squared risk as a quadratic in its columns."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor


def risk_of(intercept=True, penalty=None):
    random = np.random.default_rng(0)
    X, weight = random.standard_normal((50, 4)) + 1.0, random.random(50)
    y = X @ [1.0, 0.0, -2.0, 0.0] + random.standard_normal(50)
    source = as_source(X, y, weight)
    penalty = penalty or th.penalties.ElasticNet(0.1)
    return EmpiricalRisk(LinearPredictor(4, 0, intercept), th.losses.Squared(), penalty, source)


@pytest.mark.parametrize("intercept", [True, False])
def test_its_value_is_the_risk(intercept):
    risk = risk_of(intercept)
    form = risk.separable_quadratic()
    for seed in range(3):
        theta = np.random.default_rng(seed).standard_normal(risk.predictor.n_parameters)
        state = th.optimizers.CoordinateDescent().start(form, theta)
        np.testing.assert_allclose(state.value, risk.value(theta), rtol=1e-12)


@pytest.mark.parametrize(
    "penalty", [th.penalties.L1(0.1), th.penalties.L1(0.1) & th.penalties.NonNegative()], ids=str
)
def test_coordinate_descent_meets_the_optimality_conditions_of_the_risk(penalty):
    risk = risk_of(penalty=penalty)
    found = minimise(risk, th.optimizers.CoordinateDescent(), tolerance=1e-10)
    _, slope = risk.smooth_value_and_gradient(found.theta)
    assert risk.optimality_gap(found.theta, slope) < 1e-9
