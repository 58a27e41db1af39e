"""The direction in which a risk over classes is constant, and Newton's method along it."""

import numpy as np
import pytest

import thetahat as th
from tests.mathematics.losses.loss_cases import loss_classes
from thetahat.data.in_memory import InMemory
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.newton import Newton
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

SHIFT_INVARIANT = [kind for kind in loss_classes() if kind.shift_invariant]


def risk_of(loss, *, fit_intercept=True, n=60, d=4, k=3):
    random = np.random.default_rng(5)
    X, y = random.standard_normal((n, d)), random.integers(0, k, n).astype(float)
    source = InMemory(X=X, y=y, n_features=d, has_target=True)
    predictor = LinearPredictor(d, n_outputs=k, fit_intercept=fit_intercept)
    return EmpiricalRisk(predictor, loss, th.penalties.L2(0.1), source)


@pytest.mark.parametrize("kind", SHIFT_INVARIANT)
def test_a_shift_of_all_scores_changes_nothing(kind):
    random = np.random.default_rng(6)
    y, z = random.integers(0, 4, 50), random.standard_normal((50, 4))
    shift = random.standard_normal((50, 1))
    np.testing.assert_allclose(kind().value(y, z + shift), kind().value(y, z), rtol=1e-12)


@pytest.mark.parametrize("kind", SHIFT_INVARIANT)
def test_the_hessian_is_singular_along_the_direction(kind):
    risk = risk_of(kind())
    theta = np.random.default_rng(7).standard_normal(risk.predictor.n_parameters)
    flat = risk.flat_direction
    assert np.linalg.norm(flat) == pytest.approx(1.0)
    np.testing.assert_allclose(risk.hessian(theta) @ flat, 0.0, atol=1e-13)
    assert risk.value_and_gradient(theta)[1] @ flat == pytest.approx(0.0, abs=1e-14)


def test_there_is_none_without_an_intercept_or_for_other_losses():
    assert risk_of(th.losses.SoftmaxCrossEntropy(), fit_intercept=False).flat_direction is None
    assert risk_of(th.losses.MulticlassHinge()).flat_direction is None


def test_newton_does_not_move_along_it():
    risk = risk_of(th.losses.SoftmaxCrossEntropy())
    found = minimise(risk, Newton(), tolerance=1e-12)
    assert found.outcome.success
    assert found.theta @ risk.flat_direction == pytest.approx(0.0, abs=1e-12)
    assert found.steps < 10
