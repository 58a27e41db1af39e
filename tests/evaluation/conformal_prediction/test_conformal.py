"""Conformal intervals and sets: their coverage, their ranks by hand, and their storage."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import FixedThresholdClassifier, RepeatedKFold

import thetahat as th
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.results import Conformal


def numbers(n, random, uneven=0.4):
    X = random.standard_normal((n, 3))
    plane = X @ [2.0, 1.0, 0.0]
    return X, plane + np.exp(uneven * plane) * random.standard_normal(n)


def classes(n, random, noise=0.2):
    X = random.standard_normal((n, 4))
    y = X[:, :3].argmax(axis=1)
    return X, np.where(random.random(n) < noise, random.integers(0, 3, n), y)


@pytest.mark.parametrize("level", [0.8, 0.9])
def test_intervals_cover_new_rows_as_often_as_they_say(level):
    random = np.random.default_rng(0)
    shares = []
    for _ in range(12):
        found = th.conformal(th.LinearRegression(), *numbers(250, random))
        shares.append(found.coverage(*numbers(1000, random), level).estimate)
    assert abs(np.mean(shares) - level) < 0.02


def test_intervals_are_wide_where_errors_are_large():
    random = np.random.default_rng(1)
    found = th.conformal(LinearRegression(), *numbers(1000, random))
    X, y = numbers(2000, random)
    low, high = found.interval(X, 0.9).T
    large = found.model.predict(X) > 2.0
    assert np.mean((high - low)[large]) > 3 * np.mean((high - low)[~large])
    inside = (low <= y) & (y <= high)
    assert abs(inside[large].mean() - 0.9) < 0.04  # one width for all rows covers 66% of these


def test_sets_cover_new_rows_and_always_hold_the_predicted_class():
    random = np.random.default_rng(2)
    found = th.conformal(th.LogisticRegression(), *classes(800, random))
    X, y = classes(4000, random)
    sets = found.sets(X, 0.9)
    assert sets.sum(axis=1).min() >= 1
    predicted = np.searchsorted(found.classes, found.model.predict(X))
    assert sets[np.arange(len(X)), predicted].all()
    assert abs(found.coverage(X, y, 0.9).estimate - 0.9) < 0.025
    assert found.sets(X, 0.95).sum() > sets.sum()


def test_ranks_by_hand():
    model = th.ConstantRegressor().fit(np.zeros((2, 1)), [10.0, 10.0])
    found = Conformal(model, np.arange(1.0, 100.0) - 50.0, np.array([10.0]), np.array([2.0]))
    # Of 99 scores, the 95th from either end: 45 and −45, times the scale 2.
    assert found.interval([[0.0]], 0.9).tolist() == [[-80.0, 100.0]]


def test_targets_in_other_units_give_intervals_in_these():
    X, y = numbers(300, np.random.default_rng(3))
    plain = th.conformal(th.LinearRegression(), X, y).interval(X[:20])
    scaled = th.conformal(th.LinearRegression(), X, 1000.0 * y - 5.0).interval(X[:20])
    np.testing.assert_allclose(scaled, 1000.0 * plain - 5.0, rtol=1e-8)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_stored_scores_never_make_intervals_narrower(level):
    X, y = numbers(5000, np.random.default_rng(4))
    found = th.conformal(th.LinearRegression(), X, y)
    data = found.as_data()
    assert len(data["scores"]) == 1999
    again = Conformal.from_data(found.model, data)
    low, high = found.interval(X[:50], level).T
    wider_low, wider_high = again.interval(X[:50], level).T
    assert (wider_low <= low).all()
    assert (wider_high >= high).all()
    np.testing.assert_allclose(wider_high - wider_low, high - low, rtol=0.05)


def test_a_class_that_a_fold_has_not_seen():
    random = np.random.default_rng(5)
    X, y = classes(200, random)
    y[:3] = 7
    folds = [(np.arange(3, 200), np.arange(3)), (np.arange(100), np.arange(100, 200))]
    found = th.conformal(th.LogisticRegression(), X, y, cv=folds)
    assert found.scores[-3:].tolist() == [1.0, 1.0, 1.0]
    assert found.sets(X).shape == (200, 4)


def test_refusals():
    X, y = numbers(30, np.random.default_rng(6))
    found = th.conformal(th.LinearRegression(), X, y)
    with pytest.raises(ParameterError, match=r"level=0\.95 needs the errors of at least 39"):
        found.interval(X, 0.95)
    with pytest.raises(ParameterError, match="strictly between 0 and 1"):
        found.interval(X, 1.5)
    with pytest.raises(CapabilityError, match="Use interval"):
        found.sets(X)
    with pytest.raises(DataError, match="result of as_data"):
        Conformal.from_data(found.model, {"scores": [1.0]})


def test_sets_hold_what_a_model_with_its_own_threshold_predicts():
    random = np.random.default_rng(7)
    X = random.standard_normal((300, 2))
    y = (X[:, 0] + 0.3 * random.standard_normal(300) > 0).astype(int)
    model = FixedThresholdClassifier(th.LogisticRegression(), threshold=0.05)
    found = th.conformal(model, X, y)
    said = found.model.predict(X)
    assert (said != found.model.predict_proba(X).argmax(axis=1)).any()
    assert found.sets(X, 0.5)[np.arange(len(X)), said].all()


def test_a_level_needs_groups_rather_than_rows():
    X, y = numbers(120, np.random.default_rng(8))
    found = th.conformal(th.LinearRegression(), X, y, groups=np.arange(120) % 6, cv=3)
    again = Conformal.from_data(found.model, found.as_data())
    for each in (found, again):
        with pytest.raises(ParameterError, match="at least 39 held-out groups, but there are 6"):
            each.interval(X, 0.95)
    assert found.interval(X[:4], 0.5).shape == (4, 2)


@pytest.mark.parametrize("learner", [th.LinearRegression(), th.LogisticRegression()])
def test_a_row_that_is_held_out_several_times_counts_once(learner):
    random = np.random.default_rng(9)
    X, y = numbers(30, random)
    if hasattr(learner, "predict_proba"):
        y = (y > 0).astype(int)
    folds = RepeatedKFold(n_splits=3, n_repeats=4, random_state=0)
    assert th.conformal(learner, X, y, cv=folds).scores.size == 30


def test_coverage_needs_one_truth_for_every_row():
    X, y = numbers(60, np.random.default_rng(10))
    found = th.conformal(th.LinearRegression(), X, y)
    with pytest.raises(DataError, match="X has 10 rows, but y has shape"):
        found.coverage(X[:10], y[:5], 0.5)
