"""Single-row steps: compiled and Python steps agree, and follow the formula."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.objective.stochastic import steps as module
from thetahat.objective.stochastic.steps import Steps, Walk, take

N, D = 15, 3


def rows():
    random = np.random.default_rng(0)
    X = random.standard_normal((N, D))
    X[np.abs(X) < 0.4] = 0.0
    return X, np.sign(random.standard_normal(N)), random.random(N)


@pytest.mark.parametrize("penalty", [{}, {"l2": 0.1}, {"l1": 0.05}], ids=str)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_compiled_steps_are_those_in_python(penalty, make, monkeypatch):
    X, y, weight = rows()
    steps = Steps(th.losses.SignLogistic(), **penalty)
    order, rates = np.random.default_rng(1).permutation(N), np.full(N, 0.2)
    walks = []
    for compiled in (True, False):
        if not compiled:
            monkeypatch.setattr(module, "compiled", lambda loss: None)
        walk = Walk(np.zeros(D), 0.0, averages=True)
        total = take(steps, walk, make(X), y, weight, order, rates)
        walks.append((walk.coef, walk.intercept, *walk.reported(), total))
    for a, b in zip(*walks, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_one_step_is_a_gradient_step():
    X, y, _ = rows()
    loss, walk = th.losses.SignLogistic(), Walk(np.array([0.1, 0.2, -0.3]), 0.5)
    before, z = walk.coef.copy(), X[:1] @ walk.coef + 0.5
    take(Steps(loss), walk, X, y, None, np.array([0]), np.array([0.3]))
    slope = loss.gradient(y[:1], z)
    np.testing.assert_allclose(walk.coef, before - 0.3 * slope * X[0])
    np.testing.assert_allclose(walk.intercept, 0.5 - 0.3 * slope[0])


def test_the_penalty():
    coef = np.array([3.0, -4.0])
    assert Steps(th.losses.Hinge(), l2=2.0, l1=0.5).penalty(coef) == pytest.approx(25 + 3.5)
