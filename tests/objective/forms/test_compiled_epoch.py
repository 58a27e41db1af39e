"""Compiled epochs of single-row steps, against the same steps one gradient at a time."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from tests.mathematics.losses.loss_cases import draw_targets, losses
from thetahat.data.validation import as_source
from thetahat.mathematics.losses.base import Subdifferentiable
from thetahat.mathematics.optimizers import InverseTime, StochasticGradient
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.forms.compiled_epoch import epoch_is_compiled
from thetahat.objective.predictor import LinearPredictor

RANDOM = np.random.default_rng(0)
N, D = 30, 4
X = np.where(RANDOM.random((N, D)) < 0.4, 0.0, RANDOM.standard_normal((N, D)))


def risk_of(loss, penalty, *, rows=X, weight=None, fit_intercept=True):
    y = draw_targets(loss, N, np.random.default_rng(1))
    predictor = LinearPredictor(D, fit_intercept=fit_intercept)
    return EmpiricalRisk(predictor, loss, penalty, as_source(rows, y, weight))


class Hidden:
    """A risk that keeps its compiled epochs to itself."""

    def __init__(self, risk):
        self.risk = risk

    def __getattr__(self, name):
        if name == "compiled_epoch":
            raise AttributeError(name)
        return getattr(self.risk, name)


compiled = losses(
    Subdifferentiable,
    where=lambda loss: epoch_is_compiled(risk_of(loss, th.penalties.L2())) is None,
)


@compiled
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_compiled_steps_are_those_of_single_gradients(loss, weighted, fit_intercept):
    random = np.random.default_rng(1)
    weight = random.uniform(0.5, 2.0, N) if weighted else None
    rates = 0.2 / np.arange(1.0, N + 1)
    order = random.integers(N, size=N)
    for rows in (X, np.asfortranarray(X), sp.csr_array(X), X.astype(np.float32).astype(float)):
        risk = risk_of(
            loss, th.penalties.L2(0.3), rows=rows, weight=weight, fit_intercept=fit_intercept
        )
        theta = total = 0.0 * risk.start()
        for row, rate in zip(order, rates, strict=True):
            theta = theta - rate * risk.sample_gradient(theta, row[None])
            total = total + theta
        last, mean = risk.compiled_epoch(0.0 * risk.start(), order, rates)
        np.testing.assert_allclose(last, theta, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(mean, total / len(order), rtol=1e-9, atol=1e-12)


def test_a_step_beyond_zero_turns_round_as_it_should():
    """η·α > 1: the compiled steps would stop at 0."""
    risk = risk_of(th.losses.Squared(), th.penalties.L2(8.0))
    order, rates = np.arange(5), np.full(5, 0.2)
    theta = np.ones(D + 1)
    last, _ = risk.compiled_epoch(theta, order, rates)
    for row in order:
        theta = theta - 0.2 * risk.sample_gradient(theta, row[None])
    np.testing.assert_allclose(last, theta)


@pytest.mark.parametrize("sampling", ["reshuffle", "replacement"])
@pytest.mark.parametrize("averaging", [False, True])
@pytest.mark.parametrize("step", [0.05, InverseTime(0.5)], ids=["constant", "inverse time"])
def test_the_method_gives_the_same_either_way(sampling, averaging, step):
    risk = risk_of(th.losses.Logistic(), th.penalties.L2(0.1))
    method = StochasticGradient(1, sampling, step, averaging, random_state=0)
    fast = th.minimise(risk, method, max_steps=4, keep_trace=True)
    slow = th.minimise(Hidden(risk), method, max_steps=4, keep_trace=True)
    np.testing.assert_allclose(fast.theta, slow.theta, rtol=1e-9)
    np.testing.assert_allclose(fast.trace, slow.trace, rtol=1e-9)


def test_offered_only_where_the_kernel_has_the_parts():
    logistic, ridge = th.losses.Logistic(), th.penalties.L2()
    assert hasattr(risk_of(logistic, ridge), "compiled_epoch")
    assert hasattr(risk_of(logistic, th.penalties.NoPenalty()), "compiled_epoch")
    assert not hasattr(risk_of(logistic, th.penalties.L1()), "compiled_epoch")
    assert not hasattr(risk_of(th.losses.Cauchy(), ridge), "compiled_epoch")
    assert not hasattr(risk_of(th.losses.SoftmaxCrossEntropy(), ridge), "compiled_epoch")


def test_steps_that_overflow_end_the_run():
    risk = risk_of(th.losses.Squared(), th.penalties.NoPenalty())
    method = StochasticGradient(step=1e200, random_state=0)
    assert th.minimise(risk, method, max_steps=5).outcome is th.results.Outcome.DIVERGED
