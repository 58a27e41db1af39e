"""The optimum of every eighth row as a start."""

import numpy as np

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.subsampled_start import EVERY, FEWEST_ROWS, subsampled_start


def risk_of(n, weight=None):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 3))
    y = (X @ [1.0, -2.0, 0.5] + random.standard_normal(n) > 0).astype(float)
    source = as_source(X, y, weight)
    return EmpiricalRisk(LinearPredictor(3), th.losses.Logistic(), th.penalties.L2(0.01), source)


def test_the_start_is_near_the_optimum_of_all_rows():
    risk, newton = risk_of(16_000), th.optimizers.Newton()
    best = minimise(risk, newton, risk.start()).theta
    start = subsampled_start(risk, newton)
    assert np.linalg.norm(start - best) < 0.2 * np.linalg.norm(best)
    assert risk.value(start) < risk.value(risk.start())


def test_few_rows_or_rows_without_weight_give_none():
    newton = th.optimizers.Newton()
    assert subsampled_start(risk_of(EVERY * FEWEST_ROWS - EVERY), newton) is None
    weight = np.ones(16_000)
    weight[::EVERY] = 0.0
    assert subsampled_start(risk_of(16_000, weight), newton) is None
