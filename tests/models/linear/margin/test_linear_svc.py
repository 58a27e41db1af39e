"""Linear support vector machines: forms that agree, rows that do not matter, peers, refusals."""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.foundation.watch import Verdict


def blobs(n=80, gap=1.0, d=2, seed=0):
    """Two clouds around ±gap on the diagonal."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.normal(size=(n, d)) + gap * y[:, None], y


def three_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 2.0, 0.5, 1.0] + 0.5
    return X, np.searchsorted([-0.5, 1.5], X @ [1.0, 0.5, -1.0, 0.3] + rng.normal(size=n))


def objective(model, X, y, *, loss="squared_hinge", C=1.0, penalty="l2", weight=1.0):
    """scikit-learn's: the penalty of β and b, and C times the sum of the losses."""
    coef, intercept = model.coef_, np.asarray(model.intercept_)
    z = X @ coef.T + intercept
    if len(model.classes_) == 2:
        signs = np.where(y == model.classes_[1], 1, -1)[:, None]
    else:
        signs = np.where(y[:, None] == model.classes_, 1, -1)
    hinge = np.maximum(0, 1 - signs * z)
    losses = (hinge if loss == "hinge" else hinge**2).sum(axis=1)
    theta = np.append(coef.ravel(), intercept)
    size = theta @ theta / 2 if penalty == "l2" else np.abs(theta).sum()
    return size + C * np.sum(weight * losses)


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


# --- bad input


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [3.0, 7.0]], ids=str)
def test_labels_of_every_kind(labels):
    X, y = blobs()
    named = np.array(labels)[(y > 0).astype(int)]
    for options in ({}, {"loss": "hinge"}, {"multi_class": "crammer_singer"}):
        model = th.LinearSVC(**options).fit(X, named)
        assert model.classes_.tolist() == labels
        assert model.predict(X).dtype == named.dtype
        assert np.mean(model.predict(X) == named) > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, r"C=0.0 must be a number > 0"),
        ({"C": -1.0}, r"C=-1.0"),
        ({"C": math.nan}, r"C=nan"),
        ({"intercept_scaling": 0}, r"intercept_scaling=0"),
        ({"loss": "hinges"}, r"Did you mean 'hinge'"),
        ({"penalty": "l1", "loss": "hinge"}, r"Unsupported set of arguments.*loss='squared_hinge'"),
        ({"penalty": "l1", "dual": True}, r"Unsupported set of arguments.*Use dual=False"),
        ({"loss": "hinge", "dual": False}, r"Unsupported set of arguments.*Use dual=True"),
        ({"penalty": "l1", "C": math.inf, "dual": False}, r"Use penalty='l2'"),
        ({"class_weight": {9: 1.0}}, r"class_weight contains 9"),
        ({"class_weight": "even"}, r"class_weight='even'"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(options, message):
    X, y = blobs()
    with pytest.raises(th.errors.ParameterError, match=message):
        th.LinearSVC(**options).fit(X, y)


def test_hard_margin_on_rows_that_no_plane_separates():
    X, y = blobs(40, gap=0.3)
    with pytest.raises(th.errors.DataError, match=r"hard margin.*class 1 there is none.*finite C"):
        th.LinearSVC(C=math.inf).fit(X, y)
    with pytest.raises(th.errors.DataError, match=r"none for these 2 rows"):
        th.LinearSVC(C=math.inf).fit([[1.0, 2.0], [1.0, 2.0]], ["a", "b"])
    X, y = three_classes(60)
    with pytest.raises(th.errors.DataError, match=r"class 0|class 1|class 2"):
        th.LinearSVC(C=math.inf).fit(sp.csr_array(X), y)
    with pytest.raises(th.errors.ParameterError, match="C=inf is not available with"):
        th.LinearSVC(C=math.inf, multi_class="crammer_singer").fit(X, y)


def test_one_class_only():
    with pytest.raises(th.errors.DataError, match=r"one class only, 'a', but at least two classes"):
        th.LinearSVC().fit([[1.0], [2.0]], ["a", "a"])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_equal_rows_constant_columns_and_duplicates_of_both_classes(loss):
    same = th.LinearSVC(loss=loss).fit(np.ones((6, 2)), [0, 0, 0, 0, 1, 1])
    assert np.all(same.predict(np.ones((3, 2))) == 0)
    X, y = blobs(30)
    constant = np.column_stack([X, np.zeros(30), np.full(30, 4.0)])
    model = th.LinearSVC(loss=loss, tol=1e-9).fit(constant, y)
    assert model.coef_[0, 2] == 0
    doubled = th.LinearSVC(loss=loss, tol=1e-10).fit(np.vstack([X, X]), np.append(y, -y))
    np.testing.assert_allclose(doubled.coef_, 0.0, atol=1e-6)


@pytest.mark.parametrize("options", [{"loss": "hinge"}, {"dual": True}, {}], ids=str)
def test_unscaled_columns_end_with_an_answer_or_a_warning_with_the_gap(options):
    X, y = blobs(60, d=3)
    X = X * [1e4, 1.0, 1e-3] + [1e5, 0.0, 0.0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = th.LinearSVC(**options, C=1e3, max_iter=50).fit(X, y)
    assert np.isfinite(model.coef_).all()
    if model.solution_.outcome is th.results.Outcome.STEPS_EXHAUSTED:
        assert any("gap" in str(each.message) or "gradient" in str(each.message) for each in caught)
    else:
        assert not caught


def test_too_few_steps_warn_with_the_gap():
    X, y = blobs(200, gap=0.2, d=5)
    with pytest.warns(
        ConvergenceWarning,
        match=r"LinearSVC: the maximum number of iterations was reached.*duality gap",
    ):
        th.LinearSVC(loss="hinge", max_iter=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"dual_coordinate_descent.*duality gap"):
        th.LinearSVC(dual=True, max_iter=1, C=100.0).fit(X, y)


def test_huge_cost_of_separable_rows_is_the_hard_margin():
    X, y = blobs(40, gap=3.0)
    huge = th.LinearSVC(loss="hinge", C=1e10).fit(X, y)
    np.testing.assert_allclose(huge.coef_, th.LinearSVC(C=math.inf).fit(X, y).coef_, atol=1e-5)


def test_rows_in_files(tmp_path):
    X, y = blobs(3000, gap=0.4, d=3)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    source = th.scan(tmp_path / "rows.npy", target=3)
    for loss in ("hinge", "squared_hinge"):
        streamed = th.LinearSVC(loss=loss, tol=1e-9).fit(source)
        whole = th.LinearSVC(loss=loss, tol=1e-9).fit(X, y)
        np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-6)
        assert not hasattr(streamed, "support_vectors_")
    np.testing.assert_array_equal(
        th.LinearSVC(loss="hinge", tol=1e-9).fit(source).support_,
        th.LinearSVC(loss="hinge", tol=1e-9).fit(X, y).support_,
    )
    with pytest.raises(th.errors.CapabilityError, match="in memory"):
        th.LinearSVC(C=math.inf).fit(source)
    X, y = three_classes(100)
    np.save(tmp_path / "three.npy", np.column_stack([X, y]))
    with pytest.raises(th.errors.CapabilityError, match="in memory"):
        th.LinearSVC(multi_class="crammer_singer").fit(th.scan(tmp_path / "three.npy", target=4))


def test_ctrl_c_keeps_the_best_machines_so_far(monkeypatch):
    X, y = three_classes()
    steps = []

    def interrupted(self, step, theta, value):
        steps.append(step)
        if len(steps) == 2:  # the first machine is done: small ones are reported once, at their end
            raise KeyboardInterrupt
        return Verdict.GO_ON

    monkeypatch.setattr("thetahat.foundation.watch.Watch.__call__", interrupted)
    model = th.LinearSVC()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert np.abs(model.coef_[0]).max() > 0
    assert np.all(model.coef_[2] == 0)
    assert model.predict(X).shape == y.shape


def test_a_time_limit_is_reported():
    X, y = three_classes()
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        th.LinearSVC(loss="hinge").fit(X, y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("scaling", [0.1, 7.0])
def test_the_constant_column_counts_by_its_entry(loss, scaling):
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 5)) + 1
    y = (X[:, 0] + random.standard_normal(300) > 1).astype(int)
    options = {"loss": loss, "intercept_scaling": scaling, "tol": 1e-9, "max_iter": 1_000_000}
    ours, theirs = th.LinearSVC(**options).fit(X, y), svm.LinearSVC(**options, dual=True).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)


@pytest.mark.parametrize(
    ("C", "seed"),
    [
        *((1e5, 0), (1e7, 5), (1e8, 11)),
        *(pytest.param(C, seed, marks=pytest.mark.slow) for C in (1e5, 1e8) for seed in (5, 0)),
    ],
)
def test_costs_so_high_that_no_row_needs_slack(C, seed):
    """From some cost on, the soft margin is the hard one."""
    random = np.random.default_rng(seed)
    rows = random.standard_normal((120, 3))
    score = rows @ random.standard_normal(3)
    rows, y = rows[abs(score) > 0.05], np.sign(score[abs(score) > 0.05])
    hard = th.LinearSVC(C=np.inf, loss="hinge").fit(rows, y)
    soft = th.LinearSVC(C=C, loss="hinge").fit(rows, y)

    def objective(model):
        norm = (model.coef_**2).sum() + (model.intercept_**2).sum()
        return norm / 2 + C * np.maximum(0, 1 - y * model.decision_function(rows)).sum()

    assert objective(soft) <= 1.001 * objective(hard)
    np.testing.assert_allclose(soft.coef_, hard.coef_, rtol=1e-3)
    np.testing.assert_allclose(soft.dual_coef_ @ soft.support_vectors_, soft.coef_, rtol=1e-4)


# --- losses of one's own -----------------------------------------------------------------------


def test_a_loss_of_ones_own_is_the_margin_loss():
    random = np.random.default_rng(2)
    rows = random.standard_normal((200, 3))
    y = np.argmax(rows @ random.standard_normal((3, 3)) + random.gumbel(size=(200, 3)), axis=1)
    square = th.loss(
        lambda y, z: np.maximum(1 - y * z, 0.0) ** 2, targets="signs", name="my squared hinge"
    )
    for labels in (y, y == 1):
        own = th.LinearSVC(loss=square, C=0.5, tol=1e-7).fit(rows, labels)
        known = th.LinearSVC(loss="squared_hinge", C=0.5, tol=1e-7).fit(rows, labels)
        np.testing.assert_allclose(own.coef_, known.coef_, rtol=1e-4)
        np.testing.assert_allclose(own.intercept_, known.intercept_, rtol=1e-4)
        assert own.solution_.outcome.success


def test_margin_losses_of_the_library_have_the_same_objective():
    random = np.random.default_rng(3)
    rows = random.standard_normal((150, 2))
    y = np.where(rows.sum(axis=1) + random.logistic(size=150) > 0, "yes", "no")
    model = th.LinearSVC(loss=th.losses.SignLogistic(), C=2.0, fit_intercept=False, tol=1e-8)
    expected = th.LogisticRegression(C=2.0, fit_intercept=False, tol=1e-8).fit(rows, y)
    np.testing.assert_allclose(model.fit(rows, y).coef_, expected.coef_, rtol=1e-5)
    assert set(model.predict(rows)) == {"yes", "no"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": th.losses.Logistic()}, "targets 0 or 1, but these are −1 and"),
        ({"loss": th.losses.SignLogistic(), "C": np.inf}, "always use the hinge loss"),
        (
            {"loss": th.losses.SignLogistic(), "multi_class": "crammer_singer"},
            "Use multi_class='ovr'",
        ),
        ({"loss": "log"}, "'hinge', 'squared_hinge', or a loss such as"),
    ],
)
def test_losses_that_do_not_fit_are_refused(options, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.LinearSVC(**options).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(("n", "solver"), [(60, "dual"), (700, "augmented")])
def test_few_rows_of_many_columns_are_visited_one_by_one(n, solver):
    """Otherwise each step of 60 rows would solve a system of 101 columns."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 100))
    y = X[:, 0] + random.standard_normal(n) > 0
    model = th.LinearSVC(loss="hinge", C=0.1).fit(X, y)
    assert solver in model.solution_.solver
    exact = th.LinearSVC(loss="hinge", C=0.1, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.solution_.value, exact.solution_.value, rtol=1e-4)


# --- the gap at the end --------------------------------------------------------------------------


def wide(n=80, d=200):
    """Rows that a hyperplane separates, some of them of weight 0."""
    random = np.random.default_rng(3)
    X = random.normal(size=(n, d))
    y = np.where(X[:, :5].sum(axis=1) + random.normal(size=n) > 0, 1, -1)
    return X, y, random.integers(0, 4, n) * 1.0


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_gap_is_small_compared_with_the_objective_reached(loss, C):
    """The optimum is a tiny share of the objective at β = 0, so a share of that is not small."""
    X, y, weight = wide()
    model = th.LinearSVC(C=C, loss=loss, dual=True).fit(X, y, weight)
    exact = th.LinearSVC(C=C, loss=loss, dual=True, tol=1e-10).fit(X, y, weight)
    reached, least = (
        objective(each, X, y, loss=loss, C=C, weight=weight) for each in (model, exact)
    )
    assert model.solution_.outcome.success
    assert reached <= (1 + 1e-4) * least


def test_a_gap_small_only_compared_with_the_start_is_not_convergence():
    X, y, weight = wide()
    with pytest.warns(ConvergenceWarning):
        th.LinearSVC(C=1e4, dual=True, max_iter=10).fit(X, y, weight)


def test_few_rows_with_an_l1_penalty_and_a_large_cost_need_few_steps():
    """From β = 0 Newton's method needs hundreds of steps."""
    X, y, _ = wide(60, 150)
    model = th.LinearSVC(C=100, penalty="l1", dual=False).fit(X, y)
    exact = th.LinearSVC(C=100, penalty="l1", dual=False, tol=1e-7).fit(X, y)
    reached, least = (objective(each, X, y, C=100, penalty="l1") for each in (model, exact))
    assert model.solution_.outcome.success
    assert model.n_iter_ < 60
    assert reached <= 1.001 * least


@pytest.mark.parametrize("limit", [1, 10, 11, 15])
def test_the_path_of_l1_penalties_keeps_to_its_steps(limit):
    X, y, _ = wide(60, 150)
    with pytest.warns(ConvergenceWarning):
        model = th.LinearSVC(C=100, penalty="l1", dual=False, max_iter=limit).fit(X, y)
    assert model.n_iter_ == limit
    value = objective(model, X, y, C=100, penalty="l1")
    np.testing.assert_allclose(model.solution_.value * 100 * len(y), value)
