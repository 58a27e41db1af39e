"""Linear support vector machines: forms that agree, rows that do not matter, peers."""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.linear.margin.margin_data import blobs, objective, three_classes

# --- forms of the same problem


def test_hinge_and_slack_forms_have_the_same_optimum():
    """min ½‖θ‖² + C Σ ξ with y f ≥ 1 − ξ, ξ ≥ 0, as a quadratic program of its own."""
    from scipy.optimize import LinearConstraint, minimize

    X, y = blobs(24)
    C, n = 0.5, len(y)
    design = np.column_stack([X, np.ones(n)])
    slack = minimize(
        lambda v: v[:3] @ v[:3] / 2 + C * v[3:].sum(),
        np.append(np.zeros(3), np.ones(n)),
        jac=lambda v: np.append(v[:3], np.full(n, C)),
        bounds=[(None, None)] * 3 + [(0, None)] * n,
        constraints=LinearConstraint(np.hstack([y[:, None] * design, np.eye(n)]), lb=1.0),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    model = th.LinearSVC(loss="hinge", C=C, tol=1e-10).fit(X, y)
    assert objective(model, X, y, loss="hinge", C=C) == pytest.approx(slack.fun, rel=1e-8)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), slack.x[:3], atol=1e-5)
    xi = np.maximum(0, 1 - y * model.decision_function(X))
    np.testing.assert_allclose(xi, slack.x[3:], atol=1e-5)


def test_cost_is_one_over_the_penalty():
    """C = 1/λ up to the mean: λ = 1/(C·n) for the mean hinge loss; no bias, so no difference."""
    X, y = blobs(50)
    for C in (0.01, 1.0, 100.0):
        machine = th.LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-10).fit(X, y)
        general = th.LinearModel(
            loss="hinge",
            penalty=th.penalties.L2(alpha=1 / (C * 50)),
            fit_intercept=False,
            tol=1e-13,
        ).fit(X, y.astype(float))
        np.testing.assert_allclose(machine.coef_[0], general.coef_, rtol=1e-6)


def test_hard_margin_is_the_limit_of_large_costs():
    X, y = blobs(60, gap=3.0)
    hard = th.LinearSVC(C=math.inf, loss="hinge").fit(X, y)
    margins = y * hard.decision_function(X)
    assert margins.min() == pytest.approx(1.0, abs=1e-6)
    norms, distances = [], []
    for C in (1e-3, 1e-2, 1e-1, 1e1, 1e4):
        soft = th.LinearSVC(C=C, loss="hinge", tol=1e-8).fit(X, y)
        distances.append(np.abs(soft.coef_ - hard.coef_).max())
        norms.append(np.linalg.norm(soft.coef_))
    assert np.all(np.diff(distances) <= 1e-6)
    assert np.all(np.diff(norms) >= -1e-6)
    assert distances[-1] < 1e-5
    squared = th.LinearSVC(C=math.inf).fit(X, y)
    np.testing.assert_allclose(squared.coef_, hard.coef_, atol=1e-6)


def test_hard_margin_has_the_widest_margin():
    """Of two points the plane is their perpendicular bisector; 2/‖β‖ is their distance."""
    X, y = np.array([[0.0, 0.0], [3.0, 4.0], [9.0, 12.0]]), np.array([0, 1, 1])
    model = th.LinearSVC(C=math.inf, intercept_scaling=1e4).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[6 / 25, 8 / 25]], rtol=1e-5)
    assert 2 / np.linalg.norm(model.coef_) == pytest.approx(5.0, rel=1e-5)
    np.testing.assert_array_equal(model.support_, [0, 1])
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_, rtol=1e-5)


def test_hard_margin_of_weighted_rows_is_that_of_the_rows():
    random = np.random.default_rng(1)
    X, y = blobs(40, gap=3.0)
    weight = random.integers(0, 4, 40).astype(float)
    plain = th.LinearSVC(C=math.inf).fit(X[weight > 0], y[weight > 0])
    weighted = th.LinearSVC(C=math.inf).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=1e-6)
    several = th.LinearSVC(C=math.inf).fit(
        np.array([[0.0, 5.0], [5.0, 0.0], [-5.0, -5.0], [0.0, 6.0]]), [0, 1, 2, 0]
    )
    assert several.coef_.shape == (3, 2)


# --- support vectors


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_rows_outside_the_margin_have_no_say(loss):
    X, y = blobs(60)
    tight = {"loss": loss, "tol": 1e-11, "dual": "auto"}
    model = th.LinearSVC(**tight).fit(X, y)
    outside = y * model.decision_function(X) > 1 + 1e-6
    assert 5 < outside.sum() < 55
    for kept in (np.delete(np.arange(60), np.flatnonzero(outside)[0]), np.flatnonzero(~outside)):
        again = th.LinearSVC(**tight).fit(X[kept], y[kept])
        np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-7)
        np.testing.assert_allclose(again.intercept_, model.intercept_, atol=1e-7)
    moved = X.copy()
    moved[outside] += 5.0 * y[outside, None]
    np.testing.assert_allclose(th.LinearSVC(**tight).fit(moved, y).coef_, model.coef_, atol=1e-7)
    inside = np.flatnonzero(y * model.decision_function(X) < 0.9)[0]
    other = th.LinearSVC(**tight).fit(np.delete(X, inside, axis=0), np.delete(y, inside))
    assert np.abs(other.coef_ - model.coef_).max() > 1e-4


@pytest.mark.parametrize("sparse", [False, True])
def test_support_vectors_and_their_pull(sparse):
    random = np.random.default_rng(2)
    X, y = blobs(70, gap=0.7)
    weight = random.integers(0, 3, 70).astype(float)
    model = th.LinearSVC(loss="hinge", C=0.8, tol=1e-11)
    model.fit(sp.csr_array(X) if sparse else X, y, sample_weight=weight)
    pull = np.zeros(70)
    pull[model.support_] = model.dual_coef_[0]
    assert np.all(weight[model.support_] > 0)
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, model.coef_, atol=1e-9)
    np.testing.assert_allclose(model.dual_coef_.sum(), model.intercept_, atol=1e-9)
    alpha, cost = y * pull, 0.8 * weight
    assert np.all((alpha >= 0) & (alpha <= cost + 1e-12))
    side = model.margin_side(X, y)
    counted = weight > 0
    assert set(side) == {"outside", "on", "inside", "wrong"}
    assert np.all(alpha[side == "outside"] == 0)
    np.testing.assert_allclose(
        alpha[counted & (side == "inside")], cost[counted & (side == "inside")]
    )
    on = counted & (side == "on")
    assert on.sum() <= 3
    assert np.all((alpha[on] >= 0) & (alpha[on] <= cost[on]))


def test_only_the_dual_knows_support_vectors():
    X, y = blobs()
    model = th.LinearSVC(dual=True).fit(X, y)
    assert hasattr(model, "support_")
    assert not hasattr(model.set_params(dual=False).fit(X, y), "support_")


def test_sides_of_several_classes():
    X, y = three_classes()
    model = th.LinearSVC().fit(X, y)
    z = model.decision_function(X)[np.arange(len(y)), y]
    np.testing.assert_array_equal(model.margin_side(X, y) == "outside", z > 1 + 1e-6)
    np.testing.assert_array_equal(model.margin_side(X, y) == "wrong", z <= 0)


# --- peers


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 0.01},
        {"C": 30.0, "intercept_scaling": 5.0},
        {"fit_intercept": False},
        {"class_weight": {0: 3.0}},
        {"class_weight": "balanced"},
        {"loss": "hinge"},
        {"loss": "hinge", "C": 0.05},
        {"dual": True},
        {"penalty": "l1", "dual": False, "C": 0.1},
    ],
    ids=str,
)
def test_objective_is_at_most_the_peers(classes, options):
    X, y = three_classes()
    y = np.minimum(y, classes - 1)
    ours = th.LinearSVC(**options).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = svm.LinearSVC(**options, max_iter=20_000, random_state=0).fit(X, y)
    if "class_weight" in options:
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
        return
    if "intercept_scaling" in options:
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-3)
        return
    shared = {key: options[key] for key in ("C", "loss", "penalty") if key in options}
    assert objective(ours, X, y, **shared) <= objective(theirs, X, y, **shared) * (1 + 1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-2)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert isinstance(ours.n_iter_, int)


@pytest.mark.parametrize("classes", [2, 3])
def test_crammer_singer_agrees_with_the_peer(classes):
    X, y = three_classes()
    y = np.minimum(y, classes - 1)
    ours = th.LinearSVC(multi_class="crammer_singer", C=0.1, tol=1e-6).fit(X, y)
    theirs = svm.LinearSVC(multi_class="crammer_singer", C=0.1, tol=1e-8, max_iter=100_000)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if classes == 3:
        np.testing.assert_allclose(ours.dual_coef_ @ ours.support_vectors_, ours.coef_, atol=1e-9)
        np.testing.assert_allclose(ours.dual_coef_.sum(axis=0), 0.0, atol=1e-12)
        assert "outside" in ours.margin_side(X, y)


def test_crammer_singer_with_tiny_columns_is_not_zero():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 4))
    y = np.argmax(X[:, :3] + 0.5 * random.normal(size=(150, 3)), axis=1)
    model = th.LinearSVC(multi_class="crammer_singer").fit(1e-6 * X, y)
    assert model.solution_.outcome.success
    assert model.solution_.gap < 1e-9
    assert np.abs(model.coef_).max() > 1e-5


def test_one_against_all_hinge_by_its_gradient():
    """Σ_{c≠y}[1 − (f_y − f_c)]₊ in the general model; at its optimum no step lowers it much."""
    X, y = three_classes(150)
    model = th.LinearModel(
        loss="multiclass_hinge", penalty=th.penalties.L2(alpha=0.1), tol=1e-3, max_iter=300
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y.astype(float))
    assert model.coef_.shape == (3, 4)
    assert np.mean(model.predict(X) == y) > 0.7


def test_many_columns_use_the_dual():
    rng = np.random.default_rng(0)
    X = sp.random_array((80, 3000), density=0.01, format="csr", rng=rng)
    y = np.where(X[:, :1500].sum(axis=1) > X[:, 1500:].sum(axis=1), "left", "right")
    for loss in ("hinge", "squared_hinge"):
        model = th.LinearSVC(loss=loss, dual=True, random_state=1).fit(X, y)
        assert model.solution_.solver == "dual_coordinate_descent"
        assert model.solution_.outcome.success
        peer = svm.LinearSVC(loss=loss, tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.coef_, peer.coef_.reshape(1, -1), atol=2e-2)
        again = th.LinearSVC(loss=loss, dual=True, random_state=1).fit(X, y)
        np.testing.assert_array_equal(again.coef_, model.coef_)
        primal = th.LinearSVC(loss=loss, dual="auto").fit(X, y)
        np.testing.assert_allclose(primal.coef_, model.coef_, atol=2e-2)


def test_compiled_rounds_are_those_of_the_method(monkeypatch):
    """The same steps to the same multipliers, whether or not single steps are reported."""
    from thetahat.objective.forms.dual_form import DualForm

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = X[:, 0] + rng.normal(size=200) > 0
    weight = rng.integers(0, 3, 200).astype(float)
    found = th.LinearSVC(loss="hinge").fit(X, y, weight)
    monkeypatch.setattr(DualForm, "is_compiled", False)
    expected = th.LinearSVC(loss="hinge").fit(X, y, weight)
    assert found.n_iter_ == expected.n_iter_
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(found.dual_coef_, expected.dual_coef_, atol=1e-9)


def test_thinned_rows_only_say_where_to_start(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = X[:, 0] + rng.normal(size=20_000) > 0
    fast = th.LinearSVC().fit(X, y)
    monkeypatch.setattr(
        "thetahat.models.linear.margin.linear_svc.subsampled_start", lambda *parts: None
    )
    slow = th.LinearSVC().fit(X, y)
    assert fast.solution_.steps < slow.solution_.steps
    np.testing.assert_allclose(fast.coef_, slow.coef_, rtol=1e-9)
