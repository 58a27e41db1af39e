"""Answers of forests for the rows that trees left out, and intervals from them."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score

import thetahat as th
from tests.models.ensemble.forest.forest_data import (
    CLASSIFIERS,
    FORESTS,
    LABELS,
    X,
    Y,
    answer,
    forest,
    targets,
)


@pytest.mark.parametrize("name", FORESTS)
def test_left_out_answers_by_hand(name):
    y = targets(name)
    model = forest(name, bootstrap=True, oob_score=True, n_estimators=60).fit(X, y)
    total, votes = 0.0, np.zeros(300)
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = ~np.isin(np.arange(300), rows)
        assert 0.25 < out.mean() < 0.5
        predicted = answer(tree)
        total = total + predicted * (out[:, None] if predicted.ndim == 2 else out)
        votes += out
    mean = total / (votes[:, None] if total.ndim == 2 else votes)
    if name in CLASSIFIERS:
        np.testing.assert_allclose(model.oob_decision_function_, mean, atol=1e-12)
        expected = accuracy_score(y, model.classes_[mean.argmax(axis=1)])
    else:
        np.testing.assert_allclose(model.oob_prediction_, mean, atol=1e-12)
        expected = r2_score(y, mean)
    assert model.oob_score_ == pytest.approx(expected)
    low, high = model.oob_score_interval_
    assert low < expected < high < low + 0.3


def test_left_out_score_by_a_function_of_the_user():
    from sklearn.metrics import balanced_accuracy_score, mean_absolute_error

    model = forest("RandomForestClassifier", oob_score=balanced_accuracy_score, n_estimators=40)
    codes = model.fit(X, LABELS).oob_decision_function_.argmax(axis=1)
    assert model.oob_score_ == balanced_accuracy_score(np.searchsorted(["a", "b"], LABELS), codes)
    assert not hasattr(model, "oob_score_interval_")
    model = forest("RandomForestRegressor", oob_score=mean_absolute_error, n_estimators=40)
    model.fit(X, Y)
    assert model.oob_score_ == pytest.approx(mean_absolute_error(Y, model.oob_prediction_))


def test_rows_that_all_trees_drew_are_named():
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        model = forest("RandomForestClassifier", n_estimators=2, oob_score=True).fit(X, LABELS)
    never = np.isnan(model.oob_decision_function_[:, 0])
    assert 0.2 < never.mean() < 0.6
    assert model.oob_score_ > 0.4


@pytest.mark.parametrize("kind", ["RandomForestClassifier", "RandomForestRegressor"])
def test_some_row_of_positive_weight_must_be_out_of_bag(kind):
    weight = np.arange(len(X)) == 3
    y = LABELS if kind == "RandomForestClassifier" else Y
    with pytest.raises(ValueError, match=r"drew all rows of positive weight\. Increase"):
        forest(kind, n_estimators=3, oob_score=True).fit(X, y, weight)


def test_intervals_hold_what_they_promise():
    random = np.random.default_rng(1)
    rows = random.uniform(-2, 2, (3000, 3))
    y = rows[:, 0] ** 2 + 0.5 * random.standard_normal(3000)
    model = th.RandomForestRegressor(60, random_state=0, oob_score=True, min_samples_leaf=3)
    model.fit(rows[:1500], y[:1500])
    for level in (0.5, 0.9):
        low, high = model.predict_interval(rows[1500:], level)
        inside = np.mean((low <= y[1500:]) & (y[1500:] <= high))
        assert abs(inside - level) < 0.04
    mean, spread = model.predict(rows[1500:], return_std=True)
    each = [tree.predict(rows[1500:]) for tree in model.estimators_]
    np.testing.assert_allclose(spread, np.std(each, axis=0), atol=1e-9)
    np.testing.assert_allclose(mean, np.mean(each, axis=0), atol=1e-9)
