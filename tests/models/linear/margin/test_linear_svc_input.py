"""Linear support vector machines on labels and rows of every kind, and refusals."""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.linear.margin.margin_data import blobs, three_classes
from thetahat.foundation.watch import Verdict


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
