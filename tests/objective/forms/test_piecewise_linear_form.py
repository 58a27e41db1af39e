"""Piecewise linear losses as linear programs."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.forms.piecewise_linear_form import best_level
from thetahat.objective.predictor import LinearPredictor

LOSSES = [th.losses.Absolute(), th.losses.Quantile(0.8), th.losses.EpsilonInsensitive(0.2)]


def risk_of(loss, penalty=None, shift=0.0):
    random = np.random.default_rng(0)
    X, weight = random.standard_normal((60, 3)) + shift, random.random(60)
    y = X @ [1.0, -1.0, 0.0] + random.standard_t(2, 60)
    penalty = penalty or th.penalties.NoPenalty()
    return EmpiricalRisk(LinearPredictor(3), loss, penalty, as_source(X, y, weight))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_its_value_is_the_risk(loss, shift):
    risk = risk_of(loss, th.penalties.ElasticNet(0.1), shift)
    form = risk.piecewise_linear()
    theta = np.array([0.5, -1.0, 0.2, 0.3])
    np.testing.assert_allclose(form.value(theta), risk.value(theta), rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_no_nearby_point_is_lower(loss):
    risk = risk_of(loss)
    found = minimise(risk, th.optimizers.InteriorPoint())
    for seed in range(30):
        move = 1e-3 * np.random.default_rng(seed).standard_normal(4)
        assert risk.value(found.theta + move) >= risk.value(found.theta) - 1e-12


def test_the_best_level_is_the_best_constant():
    risk = risk_of(th.losses.Quantile(0.8))
    start = best_level(risk.predictor, risk.loss, risk.source)
    assert not start[:-1].any()
    for shift in (-0.01, 0.01):
        assert risk.value(start) <= risk.value(start + shift * np.eye(4)[3])
