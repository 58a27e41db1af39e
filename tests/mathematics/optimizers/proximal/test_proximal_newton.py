"""Proximal Newton over risks: the optimality conditions, few steps, working sets, flat losses."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

RANDOM = np.random.default_rng(0)
N, D = 200, 8
X = RANDOM.standard_normal((N, D)) + 1.0
SCORE = X @ np.array([1.0, -1.0, 0.5, 0, 0, 0, 0, 0]) * 0.5
TARGETS = {
    "logistic": (SCORE + RANDOM.logistic(size=N) > 0).astype(float),
    "poisson": RANDOM.poisson(np.exp(SCORE / 2)).astype(float),
    "huber": SCORE + RANDOM.standard_t(2, size=N),
    "squared_hinge": np.sign(SCORE + RANDOM.logistic(size=N)),
    "softmax": RANDOM.integers(0, 3, N).astype(float),
}
PENALTIES = [
    th.penalties.L1(0.05),
    th.penalties.ElasticNet(0.1, 0.5),
    th.penalties.NonNegative(),
    th.penalties.Box(-0.2, 0.3),
    th.penalties.L2(0.1),
    th.penalties.NoPenalty(),
]


def risk_of(loss, penalty, x=X, y=None, intercept=True):
    outputs = 3 if loss == "softmax" else 0
    return EmpiricalRisk(
        LinearPredictor(x.shape[1], outputs, intercept),
        th.losses.named(loss),
        penalty,
        as_source(x, TARGETS[loss] if y is None else y, accept_sparse=True),
    )


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", TARGETS)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_optimum_in_a_few_steps(loss, penalty, intercept):
    risk = risk_of(loss, penalty, intercept=intercept)
    found = th.minimise(risk, th.optimizers.ProximalNewton(), tolerance=1e-9)
    assert found.outcome.success, found
    assert found.steps <= 20
    assert found.value == pytest.approx(risk.value(found.theta), rel=1e-12)
    other = th.minimise(risk, th.optimizers.ProximalGradient(), tolerance=1e-8)
    assert found.value <= other.value + 1e-10


def test_hessian_block_is_a_part_of_the_hessian():
    random = np.random.default_rng(1)
    for loss, outputs in (("logistic", 1), ("softmax", 3)):
        risk = risk_of(loss, th.penalties.L2(0.3))
        theta = random.standard_normal(risk.predictor.n_parameters)
        some = np.array([0, 2, 3 * outputs, D * outputs])
        whole = risk.hessian(theta)
        np.testing.assert_allclose(
            risk.hessian_block(theta, some), whole[np.ix_(some, some)], rtol=1e-12
        )
        everything = np.arange(len(theta))
        np.testing.assert_allclose(risk.hessian_block(theta, everything), whole, rtol=1e-12)


@pytest.mark.parametrize("largest", [3000, 20])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_many_columns_few_of_them_used(make, largest):
    """The Hessian is formed on the working set, which may be smaller than the support."""
    random = np.random.default_rng(2)
    n, d = 150, 1200
    x = random.standard_normal((n, d)) * (random.random((n, d)) < 0.2)
    y = (x[:, :5].sum(axis=1) + 0.3 * random.logistic(size=n) > 0).astype(float)
    risk = risk_of("logistic", th.penalties.L1(0.02), make(x), y)
    method = th.optimizers.ProximalNewton(largest_working_set=largest)
    found = th.minimise(risk, method, tolerance=1e-7)
    assert found.outcome.success
    support = np.flatnonzero(found.theta[:-1])
    assert 5 <= len(support) < 150
    _, slope = risk.smooth_value_and_gradient(found.theta)
    assert np.abs(slope[:-1]).max() <= 0.02 + 1e-7


def test_a_loss_without_curvature_at_the_start():
    """Every residual is beyond Huber's delta, so the first Hessian is zero."""
    random = np.random.default_rng(3)
    y = 50.0 + random.standard_normal(N)
    risk = EmpiricalRisk(
        LinearPredictor(D), th.losses.Huber(0.5), th.penalties.L1(0.01), as_source(X, y)
    )
    found = th.minimise(risk, th.optimizers.ProximalNewton(), tolerance=1e-7)
    assert found.outcome.success
    other = th.minimise(risk, th.optimizers.ProximalGradient(), tolerance=1e-7, max_steps=20_000)
    assert found.value == pytest.approx(other.value, abs=1e-7)


def test_a_strong_penalty_leaves_the_intercept_alone():
    risk = risk_of("logistic", th.penalties.L1(10.0))
    found = th.minimise(risk, th.optimizers.ProximalNewton(), tolerance=1e-12)
    y = TARGETS["logistic"]
    assert not found.theta[:-1].any()
    assert found.theta[-1] == pytest.approx(np.log(y.mean() / (1 - y.mean())), rel=1e-9)


def test_the_general_model_uses_it():
    counts = th.LinearModel("poisson", th.penalties.L1(0.05)).fit(X, TARGETS["poisson"])
    assert counts.solution_.solver == "proximal_newton"
    assert counts.solution_.outcome.success
    assert (counts.coef_ == 0).any()
