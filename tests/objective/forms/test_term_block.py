"""Terms of one block: gradients that average to that of all rows."""

import numpy as np

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.forms.term_block import TermBlock
from thetahat.objective.predictor import LinearPredictor


def test_gradients_of_single_rows_average_to_the_gradient():
    random = np.random.default_rng(0)
    X, weight = random.standard_normal((12, 2)), random.random(12)
    source = as_source(X, random.integers(0, 2, 12), weight)
    risk = EmpiricalRisk(LinearPredictor(2), th.losses.Logistic(), th.penalties.L2(0.1), source)
    (block,) = source.blocks()
    terms, theta = TermBlock(risk, block), np.array([0.3, -1.0, 0.2])
    assert terms.n_terms == 12
    single = [terms.sample_gradient(theta, np.array([row])) for row in range(12)]
    np.testing.assert_allclose(np.mean(single, axis=0), risk.value_and_gradient(theta)[1])
    rows = np.array([5, 5, 7])
    expected = risk.sample_gradient(theta, rows)
    np.testing.assert_allclose(terms.sample_gradient(theta, rows), expected)
