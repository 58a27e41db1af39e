"""Methods that go through the multipliers of rows: duality, agreement, and the loop's promises."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses.box_dual import BoxDual
from thetahat.objective.bias_column import BiasColumn
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

losses, opt = th.losses, th.optimizers

LOSSES = [
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.EpsilonInsensitive(epsilon=0.2),
    losses.EpsilonInsensitive(epsilon=0.0),
    losses.SquaredEpsilonInsensitive(epsilon=0.2),
]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
METHODS = [opt.AugmentedLagrangian(), opt.DualCoordinateDescent()]
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def rows(loss, n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5
    y = X @ np.arange(1.0, d + 1) / d + rng.normal(size=n)
    return X, np.where(y > 1.5, 1.0, -1.0) if loss.targets.name == "SIGNS" else y


def risk_of(loss, *, intercept="column", alpha=0.02, weight=None, sparse=False, **size):
    X, y = rows(loss, **size)
    d = X.shape[1]
    predictor = {
        "none": LinearPredictor(d, fit_intercept=False),
        "free": LinearPredictor(d),
        "column": BiasColumn(d + 1, scaling=2.0),
    }[intercept]
    source = as_source(sp.csr_array(X) if sparse else X, y, weight, accept_sparse=True)
    return EmpiricalRisk(predictor, loss, th.penalties.L2(alpha), source)


@every_loss
def test_a_loss_is_the_best_of_its_lines(loss):
    assert isinstance(loss, BoxDual)
    z = np.linspace(-3, 3, 41)
    for target in (-1.0, 1.0):
        lower, upper, kink, curvature = loss.dual_box(np.array([target]))
        m = np.linspace(max(lower[0], -20.0), min(upper[0], 20.0), 40_001)[:, None]
        lines = m * (target - z) - kink * np.abs(m) - curvature * m * m / 2
        np.testing.assert_allclose(lines.max(axis=0), loss.value(np.full(41, target), z), atol=1e-6)


@every_loss
@pytest.mark.parametrize("intercept", ["none", "free", "column"])
def test_both_methods_reach_one_optimum_with_no_gap(loss, intercept):
    risk = risk_of(loss, intercept=intercept)
    exact = th.minimise(risk, METHODS[0], tolerance=1e-12)
    near = th.minimise(risk, METHODS[1], tolerance=1e-9, max_steps=3000)
    assert exact.gap <= 1e-12
    assert near.gap <= 1e-9
    assert exact.gap_kind == near.gap_kind == "duality gap"
    np.testing.assert_allclose(near.theta, exact.theta, atol=2e-3)
    assert abs(near.value - exact.value) <= 1e-9
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert risk.value(exact.theta + rng.normal(size=exact.theta.size) * 1e-3) >= exact.value


@every_loss
def test_the_gap_bounds_what_is_left_to_gain(loss):
    risk = risk_of(loss, intercept="none")
    best = th.minimise(risk, METHODS[0], tolerance=1e-13).value
    for method in METHODS:
        for steps in (1, 2, 4, 8):
            found = th.minimise(risk, method, tolerance=0.0, max_steps=steps)
            assert found.value - best <= found.gap + 1e-12


@every_loss
def test_multipliers_prove_the_optimum(loss):
    """θ = Σ s·m·x/λ with m in its box, and m = −∂ℓ/∂z wherever ℓ has a slope."""
    risk = risk_of(loss, intercept="none")
    found = th.minimise(risk, METHODS[0], tolerance=1e-13)
    X, y, m = risk.source.X, risk.source.y, found.multipliers
    np.testing.assert_allclose(X.T @ m / len(y) / 0.02, found.theta, atol=1e-6)
    lower, upper, *_ = loss.dual_box(y)
    assert np.all((m >= lower) & (m <= upper))
    z = X @ found.theta
    away = np.all([np.abs(z - kink) > 1e-6 for kink in loss.kinks(y)], axis=0)
    np.testing.assert_allclose(m[away], -loss.gradient(y, z)[away], atol=1e-6)


@every_loss
@every_method
def test_weights_count_rows_and_sparse_equals_dense(loss, method):
    weight = np.random.default_rng(2).integers(0, 3, 120).astype(float)
    weighted = risk_of(loss, intercept="free", weight=weight)
    X, y = rows(loss)
    repeat = np.repeat(np.arange(120), weight.astype(int))
    repeated = EmpiricalRisk(
        weighted.predictor, loss, weighted.penalty, as_source(X[repeat], y[repeat])
    )
    sparse = risk_of(loss, intercept="free", weight=weight, sparse=True)
    values = [
        th.minimise(risk, method, tolerance=1e-9, max_steps=3000).value
        for risk in (weighted, repeated, sparse)
    ]
    np.testing.assert_allclose(values, values[0], atol=1e-8)


def test_the_same_seed_visits_the_rows_in_the_same_order():
    risk = risk_of(losses.Hinge())
    runs = [
        th.minimise(risk, opt.DualCoordinateDescent(seed=seed), max_steps=2).theta
        for seed in (3, 3, 4)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_many_columns_go_coordinate_by_coordinate():
    risk = risk_of(losses.Hinge(), intercept="free", n=50, d=1200)
    method, reason = chosen(risk)
    assert method == opt.DualCoordinateDescent()
    assert "many columns" in reason
    assert th.minimise(risk, method, tolerance=1e-8).outcome.success


def chosen(risk):
    from thetahat.objective.choose import method_for

    return method_for(risk)


def crammer_singer(n=90, alpha=0.05):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.argmax(X + 0.5 * rng.normal(size=(n, 3)), axis=1).astype(float)
    predictor = BiasColumn(4, 3, scaling=1.0)
    return EmpiricalRisk(predictor, losses.CrammerSinger(), th.penalties.L2(alpha), as_source(X, y))


def test_class_multipliers_close_the_gap_and_prove_the_optimum():
    risk = crammer_singer()
    method, reason = chosen(risk)
    assert method == opt.ClassDualDescent()
    assert reason
    found = th.minimise(risk, method, tolerance=1e-10, max_steps=2000)
    assert found.gap <= 1e-10
    X = np.column_stack([risk.source.X, np.ones(90)])
    alpha, y = found.multipliers, risk.source.y.astype(int)
    np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-10)
    assert np.all(alpha <= np.eye(3)[y] / (0.05 * 90) + 1e-12)
    np.testing.assert_allclose((X.T @ alpha).ravel(), found.theta, atol=1e-9)
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert risk.value(found.theta + rng.normal(size=12) * 1e-3) >= found.value


def test_rows_without_a_pull_do_not_stop_the_classes_from_settling():
    risk = crammer_singer(alpha=0.01)
    found = th.minimise(risk, opt.ClassDualDescent(), tolerance=1e-6, max_steps=1000)
    assert found.outcome.success


@pytest.mark.parametrize(
    ("method", "risk"),
    [
        (opt.DualCoordinateDescent, risk_of(losses.SquaredHinge(), n=20, d=30, alpha=1e-5)),
        (opt.ClassDualDescent, crammer_singer(alpha=0.01)),
    ],
)
def test_the_gap_is_a_share_of_the_objective_where_that_is_asked_for(method, risk):
    loose = th.minimise(risk, method(), tolerance=0.1, max_steps=1000)
    assert loose.gap > 1e-4 * loose.value
    found = th.minimise(risk, method(share=1e-4), tolerance=0.1, max_steps=1000)
    assert found.gap <= 1e-4 * found.value


@pytest.mark.parametrize(
    ("method", "risk"),
    [
        (opt.AugmentedLagrangian(), risk_of(losses.Hinge())),
        (opt.DualCoordinateDescent(sweeps=1), risk_of(losses.Hinge())),
        (opt.ClassDualDescent(sweeps=1), crammer_singer()),
    ],
    ids=lambda part: getattr(part, "name", ""),
)
def test_the_loop_watches_them(method, risk):
    seen = []

    def stop(step, theta, value):
        seen.append(value)
        return step == 3

    found = th.minimise(risk, method, tolerance=0.0, watch=Watch(on_step=stop))
    assert found.outcome is th.results.Outcome.INTERRUPTED
    assert len(seen) == 3
    with th.config(max_time=1e-9):
        assert th.minimise(risk, method, tolerance=0.0).outcome is th.results.Outcome.OUT_OF_TIME
    assert th.minimise(risk, method, tolerance=0.0, max_steps=2).value <= risk.value(risk.start())


def test_refusals_name_what_is_missing():
    with pytest.raises(
        th.errors.CapabilityError, match=r"AugmentedLagrangian needs a loss that is the"
    ):
        th.minimise(risk_of(losses.Logistic(), n=8), opt.AugmentedLagrangian())
    with pytest.raises(
        th.errors.CapabilityError, match=r"an L2 penalty with alpha > 0; L2\(alpha=0.0\)"
    ):
        th.minimise(risk_of(losses.Hinge(), alpha=0.0), opt.DualCoordinateDescent())
    with pytest.raises(
        th.errors.CapabilityError, match=r"the loss of Crammer and Singer; Hinge is"
    ):
        th.minimise(risk_of(losses.Hinge()), opt.ClassDualDescent())
    with pytest.raises(th.errors.ParameterError, match=r"growth=1.0"):
        opt.AugmentedLagrangian(growth=1.0)


def test_crammer_singer_counts_the_worst_rival_and_its_gradient_is_two_sided():
    y, z = np.array([0, 1]), np.array([[2.0, 1.5, 1.75], [0.0, 3.0, -1.0]])
    loss = losses.CrammerSinger()
    np.testing.assert_allclose(loss.value(y, z), [0.75, 0.0])
    np.testing.assert_allclose(loss.gradient(y, z), [[-1, 0, 1], [0, 0, 0]])
    assert np.all(loss.value(y, z) <= losses.MulticlassHinge().value(y, z))


def test_the_multiclass_perceptron_is_the_gradient_step_without_a_margin():
    """W ← W − x·∂ℓᵀ with the margin 1 taken out: raise the right class, lower the one in front."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X = X[np.ptp(np.sort(X, axis=1)[:, 1:], axis=1) > 0.4]
    y = np.argmax(X, axis=1)
    W, loss = np.zeros((3, 3)), losses.CrammerSinger()
    mistakes = 1
    while mistakes:
        mistakes = 0
        for x, right in zip(X, y, strict=True):
            z = x @ W
            # A rival's lead of 1 is what the margin adds, so hand it to the right class here.
            shifted = z + np.eye(3)[right] * (1 - 1e-9)
            slope = loss.gradient(np.array([right]), shifted[None])[0]
            if slope.any():
                mistakes += 1
                assert slope[right] == -1
                assert slope[np.argmax(np.where(np.arange(3) == right, -np.inf, z))] == 1
                W -= np.outer(x, slope)
    assert np.array_equal(np.argmax(X @ W, axis=1), y)
