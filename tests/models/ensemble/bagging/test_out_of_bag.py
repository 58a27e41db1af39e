"""How sure a bag is: the spread of its members, and the rows that they left out."""

import numpy as np
import pytest
from sklearn import ensemble as peers
from sklearn.metrics import r2_score

import thetahat as th
from tests.models.ensemble.bagging.bagging_data import LABELS, N, X, Y, bag, class_bag


def test_spread_of_members_is_the_bootstraps_standard_error():
    model = bag(n_estimators=400).fit(X, Y)
    mean, spread = model.predict(X[:20], return_std=True)
    each = np.array([member.predict(X[:20]) for member in model.estimators_])
    np.testing.assert_allclose(spread, each.std(axis=0, ddof=1))
    np.testing.assert_array_equal(mean, model.predict(X[:20]))
    classic = th.LinearRegression().fit(X, Y)
    low, high = classic.predict_interval(X[:20], level=0.95, kind="confidence")
    np.testing.assert_allclose(4 * spread, high - low, rtol=0.25)
    below, above = model.predict_interval(X[:20])
    np.testing.assert_allclose(above - below, high - low, rtol=0.25)
    _, of_classes = class_bag().fit(X, LABELS).predict_proba(X[:5], return_std=True)
    assert of_classes.shape == (5, 3)
    assert (of_classes > 0).all()


def test_rows_left_out_judge_the_bag():
    model = bag(n_estimators=100, oob_score=True).fit(X, Y)
    total, count = np.zeros(N), np.zeros(N)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        rest = np.setdiff1d(np.arange(N), rows)
        total[rest] += member.predict(X[rest])
        count[rest] += 1
    np.testing.assert_allclose(model.oob_prediction_, total / count)
    error, low, high = model.oob_error()
    np.testing.assert_allclose(error, np.mean((Y - total / count) ** 2))
    assert low < 1.0 < high  # the noise has variance 1
    assert model.oob_error(0.5).high < high
    np.testing.assert_allclose(model.oob_score_, 1 - error / np.var(Y))
    new = np.random.default_rng(5).standard_normal((4000, 4))
    y = new @ [1.0, 2.0, 0.0, -1.0] + np.random.default_rng(6).standard_normal(4000)
    below, above = model.predict_interval(new, level=0.9, kind="prediction")
    assert abs(np.mean((below <= y) & (y <= above)) - 0.9) < 0.04


def test_error_rate_of_rows_left_out():
    model = class_bag(n_estimators=60, oob_score=True).fit(X, LABELS)
    theirs = peers.BaggingClassifier(
        th.LogisticRegression(), 60, oob_score=True, random_state=0
    ).fit(X, LABELS)
    assert abs(model.oob_score_ - theirs.oob_score_) < 0.03
    np.testing.assert_allclose(model.oob_decision_function_.sum(axis=1), 1.0)
    error, low, high = model.oob_error()
    from scipy.stats import binomtest

    wrong = round(error * N)
    wilson = binomtest(wrong, N).proportion_ci(method="wilson")
    np.testing.assert_allclose((low, high), (wilson.low, wilson.high))
    np.testing.assert_allclose(error, 1 - model.oob_score_)


def test_rows_of_weight_zero_are_not_judged():
    weight = np.r_[np.zeros(20), np.ones(N - 20)]
    wild = np.r_[np.full(20, 1e6), Y[20:]]
    model = bag(n_estimators=50, oob_score=True).fit(X, wild, sample_weight=weight)
    assert model.oob_error().error < 2.0


@pytest.mark.parametrize("kind", [th.BaggingRegressor, th.BaggingClassifier])
def test_the_out_of_bag_score_counts_all_rows_alike(kind):
    weight = np.random.default_rng(0).uniform(0.1, 5.0, N)
    y = Y if kind is th.BaggingRegressor else LABELS
    model = kind(n_estimators=60, oob_score=True, random_state=0).fit(X, y, weight)
    if kind is th.BaggingRegressor:
        expected = r2_score(y, model.oob_prediction_)
    else:
        expected = np.mean(model.classes_[model.oob_decision_function_.argmax(axis=1)] == y)
    np.testing.assert_allclose(model.oob_score_, expected)


def test_few_members_leave_rows_unjudged():
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        model = bag(n_estimators=2, oob_score=True).fit(X, Y)
    missing = np.isnan(model.oob_prediction_)
    assert missing.any()
    assert np.isfinite(model.oob_score_)


@pytest.mark.parametrize("kind", [th.BaggingRegressor, th.BaggingClassifier])
def test_some_row_of_positive_weight_must_be_out_of_bag(kind):
    y = Y if kind is th.BaggingRegressor else LABELS
    with pytest.raises(ValueError, match=r"drew all rows of positive weight\. Increase"):
        kind(n_estimators=3, oob_score=True).fit(X, y, np.arange(N) == 3)
