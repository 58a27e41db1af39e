"""The curvature of a sample of the rows: exact for all of them, near it for some."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

RANDOM = np.random.default_rng(0)
N, D = 4000, 5
X = RANDOM.standard_normal((N, D)) + 0.5
Y = RANDOM.integers(0, 2, N)
THETA = RANDOM.standard_normal(D + 1)


def risk_of(x=X, weight=None, penalty=None, loss=None, outputs=0):
    return EmpiricalRisk(
        LinearPredictor(x.shape[1], outputs),
        loss or th.losses.Logistic(),
        penalty or th.penalties.L2(0.1),
        as_source(x, Y, weight, accept_sparse=True),
    )


def test_all_rows_give_the_newton_step():
    random = np.random.default_rng(1)
    risk, slope = risk_of(), random.standard_normal(D + 1)
    solve = risk.curvature_sketch(THETA, N)
    np.testing.assert_allclose(solve(slope), np.linalg.solve(risk.hessian(THETA), slope), rtol=1e-8)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_some_rows_come_near(make):
    random = np.random.default_rng(2)
    risk, slope = risk_of(make(X)), random.standard_normal(D + 1)
    step = risk.curvature_sketch(THETA, 800)(slope)
    assert 0.7 < (step @ risk.hessian(THETA) @ step) / (step @ slope) < 1.4


def test_rows_of_weight_zero_are_not_drawn():
    random = np.random.default_rng(3)
    weight = (np.arange(N) % 4 == 0).astype(float)
    poisoned = np.where(weight[:, None] > 0, X, 1e6)
    slope = random.standard_normal(D + 1)
    weighted = risk_of(poisoned, weight).curvature_sketch(THETA, 200)(slope)
    alone = X[weight > 0]
    risk = EmpiricalRisk(
        LinearPredictor(D),
        th.losses.Logistic(),
        th.penalties.L2(0.1),
        as_source(alone, Y[weight > 0]),
    )
    np.testing.assert_allclose(weighted, risk.curvature_sketch(THETA, 200)(slope), rtol=1e-10)


def test_a_column_that_the_sample_misses_calls_for_all_rows():
    random = np.random.default_rng(4)
    rare = np.column_stack([X, np.arange(N) == 1, np.zeros(N)])
    risk, slope = risk_of(rare), random.standard_normal(D + 3)
    theta = random.standard_normal(D + 3)
    exact = np.linalg.solve(risk.hessian(theta), slope)
    np.testing.assert_allclose(risk.curvature_sketch(theta, 100)(slope), exact, rtol=1e-8)


def test_a_singular_hessian_still_gives_a_way_down():
    risk = risk_of(np.column_stack([X, X[:, 0], np.zeros(N)]), penalty=th.penalties.NoPenalty())
    theta = np.zeros(D + 3)
    _, gradient = risk.value_and_gradient(theta)
    step = risk.curvature_sketch(theta, N)(gradient)
    assert np.isfinite(step).all()
    assert gradient @ step > 0


def test_classes_that_share_a_matrix():
    """At θ = 0 the softmax is Böhning's bound: ω = 1/C for every row."""
    random = np.random.default_rng(5)
    wide = random.standard_normal((N, 300))
    risk = EmpiricalRisk(
        LinearPredictor(300, 2),
        th.losses.SoftmaxCrossEntropy(),
        th.penalties.L2(0.1),
        as_source(wide, Y),
    )
    slope = np.repeat(random.standard_normal(301), 2) * np.tile([1.0, -1.0], 301)
    step = risk.curvature_sketch(np.zeros(602), 100 * N)(slope)
    np.testing.assert_allclose(risk.hessian_product(np.zeros(602), step), slope, rtol=1e-6)


def test_what_it_needs_is_said():
    lasso = risk_of(penalty=th.penalties.L1())
    with pytest.raises(th.errors.CapabilityError, match="SketchedNewton needs a smooth penalty"):
        th.minimise(lasso, th.optimizers.SketchedNewton())
    tukey = risk_of(loss=th.losses.Tukey())
    with pytest.raises(
        th.errors.CapabilityError, match="SketchedNewton needs a convex loss; Tukey is not"
    ):
        th.minimise(tukey, th.optimizers.SketchedNewton())


def test_a_poor_sample_grows_until_it_serves():
    """Rows whose order makes every other sample misleading: the optimum is reached all the same."""
    x = X * np.where(np.arange(N) % 40 == 20, 0.01, 1.0)[:, None]
    risk = risk_of(x)
    method = th.optimizers.SketchedNewton(rows_per_parameter=16)
    solution = th.minimise(risk, method, tolerance=1e-10)
    assert solution.outcome.success
    best = th.minimise(risk, th.optimizers.Newton(), tolerance=1e-12)
    np.testing.assert_allclose(solution.theta, best.theta, rtol=1e-7)
    assert solution.steps < 60
