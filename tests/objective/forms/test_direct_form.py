"""Ridge and least squares as direct solutions of a risk."""

import numpy as np
import pytest

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.forms.direct_form import RidgeTerms, ridge_terms
from thetahat.objective.predictor import LinearPredictor

RIDGE, BOX = th.penalties.L2(0.3), th.penalties.Box(-1.0, 1.0)


@pytest.mark.parametrize("penalty", [th.penalties.NoPenalty(), RIDGE], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_gradient_vanishes_at_the_solution(penalty, intercept):
    random = np.random.default_rng(0)
    X, y, weight = random.standard_normal((40, 3)) + 2, random.random(40), random.random(40)
    risk = EmpiricalRisk(
        LinearPredictor(3, 0, intercept), th.losses.Squared(), penalty, as_source(X, y, weight)
    )
    found = risk.direct_least_squares()
    value, gradient = risk.value_and_gradient(found.theta)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
    np.testing.assert_allclose(value, found.value, rtol=1e-9)


def test_which_penalties_are_ridges():
    assert ridge_terms(RIDGE, 4) == RidgeTerms(0.3, False)
    assert ridge_terms(RIDGE & th.penalties.NonNegative(), 4) == RidgeTerms(0.3, True)
    for other in (th.penalties.L1(0.1), RIDGE & BOX, th.penalties.GroupLasso(0.1)):
        assert ridge_terms(other, 4) is None
