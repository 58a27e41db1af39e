"""Intervals of cross-validated scores: of what, how sure, and what few or equal folds allow."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    PredefinedSplit,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import thetahat as th
from thetahat.evaluation.cross_fitting import cross_fit
from thetahat.evaluation.folds import folds_of
from thetahat.evaluation.score_intervals import fold_interval, score_interval

RANDOM = np.random.default_rng(0)
N = 100
X = RANDOM.standard_normal((N, 3))
Y = X[:, 0] + 0.5 * RANDOM.standard_normal(N)
LABELS = (Y > 0).astype(int)


@pytest.fixture(autouse=True)
def one_thread():
    """Fits as short as these only wait for each other."""
    with th.config(threads=1):
        yield


class NearestMean(ClassifierMixin, BaseEstimator):
    """Ranks rows by how much nearer they are to the mean of class 1."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.means_ = [X[y == label].mean(axis=0) for label in (0, 1)]
        return self

    def decision_function(self, X):
        apart = [((X - mean) ** 2).sum(axis=1) for mean in self.means_]
        return apart[0] - apart[1]

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


# Targets and metrics are what they are.


@pytest.mark.parametrize("kind", ["column", "frame", "series", "list"])
def test_a_column_of_targets_is_one_target_per_row(kind):
    import pandas

    y = {
        "column": LABELS[:, None],
        "frame": pandas.DataFrame({"y": LABELS}),
        "series": pandas.Series(LABELS, index=np.arange(N)[::-1]),
        "list": LABELS.tolist(),
    }[kind]
    expected = th.evaluate(GaussianNB(), X, LABELS, scoring=["accuracy", "roc_auc"])
    found = th.evaluate(GaussianNB(), X, y, scoring=["accuracy", "roc_auc"])
    assert found.intervals == expected.intervals
    np.testing.assert_array_equal(found.predictions, expected.predictions)
    assert th.evaluate(GaussianNB(), X, y).intervals["accuracy"] == found.intervals["accuracy"]
    models = {"one": GaussianNB(), "two": GaussianNB(var_smoothing=1.0)}
    pairs = [th.compare(models, X, each, test="mcnemar").pairs for each in (LABELS, y)]
    assert pairs[0] == pairs[1]
    assert th.search(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, X, y).model.score(X, y) > 0.8


def accuracy(model, X, y):
    return 0.25


def test_a_metric_is_what_it_is_and_not_what_it_is_called():
    named = {"accuracy": "f1", "right": "accuracy", "roc_auc": "precision", "area": "roc_auc"}
    found = th.evaluate(GaussianNB(), X, LABELS, scoring=named)
    methods = {name: interval.method for name, interval in found.intervals.items()}
    assert methods == {
        "accuracy": "t over rows",
        "right": "Wilson over rows",
        "roc_auc": "t over rows",
        "area": "DeLong over rows",
    }
    for name in named:
        assert found.intervals[name].estimate == found.scores[name].mean()
    assert found.known_as == named
    own = th.evaluate(GaussianNB(), X, LABELS, scoring=accuracy).intervals["accuracy"]
    assert own.estimate == 0.25
    scorer = make_scorer(accuracy_score)
    assert th.evaluate(GaussianNB(), X, LABELS, scoring=scorer).intervals["score"].method == (
        "Wilson over rows"
    )
    weighted = make_scorer(accuracy_score, normalize=False)
    assert th.evaluate(GaussianNB(), X, LABELS, scoring=weighted).known_as == {"score": None}


@pytest.mark.parametrize(
    "model", [make_pipeline(GaussianNB()), GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]})]
)
def test_what_scores_by_the_share_of_right_rows_has_wilsons_interval(model):
    assert th.evaluate(model, X, LABELS).intervals["accuracy"].method == "Wilson over rows"


def test_rows_of_several_labels():
    y = np.column_stack([LABELS, X[:, 1] > 0])
    found = th.evaluate(DecisionTreeClassifier(random_state=0), X, y)
    right = (found.predictions == y).all(axis=1)
    assert found.intervals["accuracy"].estimate == pytest.approx(right.mean())
    assert found.certainties is None


# The estimate is the mean over the folds; uneven folds are worth fewer rows.


def test_uneven_folds_are_worth_fewer_rows():
    groups = np.repeat(range(6), [90, 2, 2, 2, 2, 2])
    found = th.evaluate(GaussianNB(), X, LABELS, cv=PredefinedSplit(groups))
    interval = found.intervals["accuracy"]
    assert interval.estimate == found.scores["accuracy"].mean()
    overlap = (90 / 10 + 5 * 2 / 98) / 6
    rows = 36 / (1 / 90 + 5 / 2) / (1 + min(overlap, 1.0))
    expected = th.statistics.proportion_interval(interval.estimate * rows, rows)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_uneven_folds_cover():
    """A share of 0.8 on folds of 60 and five times 8 rows."""
    random, hits = np.random.default_rng(3), 0
    groups = np.repeat(range(6), [60, 8, 8, 8, 8, 8])
    fold = PredefinedSplit(groups)
    for _ in range(300):
        y = random.integers(0, 2, N)
        guess = np.where(random.random(N) < 0.8, y, 1 - y)
        found = th.evaluate(ByColumn(), np.column_stack([guess, guess]), y, cv=fold)
        hits += 0.8 in found.intervals["accuracy"]
    assert 0.92 <= hits / 300 <= 0.98


class ByColumn(ClassifierMixin, BaseEstimator):
    """Tells what is written in a column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, self.column]


@pytest.mark.parametrize(
    "splits",
    [
        ShuffleSplit(8, train_size=0.1, test_size=0.5, random_state=0),
        TimeSeriesSplit(4),
        GroupKFold(3),
    ],
    ids=lambda splits: type(splits).__name__,
)
def test_the_correction_goes_by_the_folds_own_sizes(splits):
    groups = np.repeat(range(3), [20, 30, 50]) if isinstance(splits, GroupKFold) else None
    found = th.evaluate(th.Ridge(), X, Y, cv=splits, groups=groups, interval="corrected_t")
    parts = list(splits.split(X, Y, groups))
    ratio = np.mean([len(test) / len(train) for train, test in parts])
    scores = cross_val_score(th.Ridge(), X, Y, cv=splits, groups=groups)
    half = stats.t.isf(0.025, len(scores) - 1) * scores.std(ddof=1)
    half *= np.sqrt(1 / len(scores) + ratio)
    interval = found.intervals["r2"]
    assert interval.low == pytest.approx(scores.mean() - half)
    assert interval.high == pytest.approx(min(1.0, scores.mean() + half))
    models = {"one": th.Ridge(), "two": th.Ridge(alpha=30.0)}
    pair = th.compare(models, X, Y, cv=splits, groups=groups, test="corrected_t").pairs[0]
    other = cross_val_score(th.Ridge(alpha=30.0), X, Y, cv=splits, groups=groups)
    share = ratio / (1 + ratio)
    expected = th.statistics.corrected_resampled_t(scores, other, test_share=share)
    assert abs(pair.test.statistic) == pytest.approx(abs(expected.statistic))


def test_learning_curves_go_by_the_rows_learned_from():
    curve = th.learning_curve(th.Ridge(), X, Y, sizes=[10, 40, 80], cv=5)
    folds = folds_of(5, X, Y, classifier=False)
    scores = cross_val_score(th.Ridge(), X, Y, cv=folds)
    whole = curve.scores[-1]
    assert whole.estimate == pytest.approx(scores.mean())
    half = stats.t.isf(0.025, 4) * scores.std(ddof=1) * np.sqrt(1 / 5 + 20 / 80)
    assert (whole.high - whole.low) / 2 == pytest.approx(half)
    from thetahat.evaluation.curves import growth

    overlaps = []

    def noted(scores, overlap, level):
        overlaps.append(overlap)
        return fold_interval(scores, overlap, level)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth, "fold_interval", noted)
        th.learning_curve(th.Ridge(), X, Y, sizes=[10, 40, 80], cv=5)
    assert overlaps == pytest.approx([20 / 10, 20 / 40, 20 / 80])


def test_intervals_stay_in_the_range_of_the_metric():
    metrics = ["neg_mean_squared_error", "neg_mean_absolute_error", "r2"]
    found = th.evaluate(th.Ridge(), X[:12], Y[:12], cv=2, scoring=metrics, interval="corrected_t")
    assert all(interval.high <= 0 for interval in list(found.intervals.values())[:2])
    assert found.intervals["r2"].high <= 1
    kinds = th.evaluate(GaussianNB(), X[:20], LABELS[:20], cv=2, interval="corrected_t")
    assert kinds.intervals["accuracy"].high <= 1
    assert kinds.intervals["accuracy"].low >= 0


# Folds that score alike tell no spread.


def test_equal_scores_are_no_certainty():
    apart = X + 20 * LABELS[:, None]
    metrics = ["accuracy", "roc_auc", "f1"]
    found = th.evaluate(GaussianNB(), apart, LABELS, scoring=metrics).intervals
    few = min(LABELS.sum(), N - LABELS.sum())
    assert all(interval.estimate == 1.0 for interval in found.values())
    assert found["roc_auc"].low == pytest.approx(0.025 ** (1 / few))
    assert found["f1"].low == pytest.approx(0.025 ** (1 / few))
    by_folds = th.evaluate(GaussianNB(), apart, LABELS, scoring="f1", interval="corrected_t")
    assert by_folds.intervals["f1"].low == 0.0
    assert "all folds score alike" in by_folds.intervals["f1"].method
    splits = ShuffleSplit(6, test_size=0.2, random_state=0)
    again = th.evaluate(GaussianNB(), apart, LABELS, cv=splits, interval="corrected_t")
    again = again.intervals["accuracy"]
    assert again.low == pytest.approx(th.statistics.proportion_interval(20, 20).low)
    guess = th.evaluate(DummyClassifier(), X, LABELS, scoring="roc_auc").intervals["roc_auc"]
    assert guess.low < 0.45
    assert guess.high > 0.55


def test_areas_of_rows_held_back_repeatedly_are_not_taken_as_independent():
    splits = ShuffleSplit(10, test_size=0.3, random_state=0)
    found = th.evaluate(GaussianNB(), X, LABELS, scoring="roc_auc", cv=splits)
    interval, once = (
        found.intervals["roc_auc"],
        th.evaluate(GaussianNB(), X, LABELS, scoring="roc_auc").intervals["roc_auc"],
    )
    assert interval.high - interval.low > 0.8 * (once.high - once.low)
    with pytest.raises(th.errors.ThetahatError, match="each row at most once"):
        th.evaluate(GaussianNB(), X, LABELS, scoring="roc_auc", cv=splits, interval="delong")


# How often it is right.


def area(model, X, y):
    """The area under the ROC curve, without the checks that take scikit-learn most of its time."""
    values = model.decision_function(X)
    return np.mean(values[y == 1][:, None] > values[y == 0])


def share(model, X, y):
    return np.mean(model.predict(X) == y)


def expected_covered(scorer, known, positives, negatives, repetitions, kind="auto"):
    """How often an interval holds the expected score of the nearest mean in ten columns."""
    y = np.repeat([1, 0], [positives, negatives])
    found = []
    for repetition in range(repetitions):
        random = np.random.default_rng((3, repetition))
        Z = random.standard_normal((y.size, 10)) + 0.35 * y[:, None]
        folds = folds_of(5, Z, y, classifier=True, random_state=repetition)
        fits = cross_fit({"": NearestMean()}, Z, y, folds, {"": {"": scorer}})
        found.append(
            score_interval(fits, "", y, known=known, kind=kind, level=0.95, random_state=0)
        )
    truth = np.mean([interval.estimate for interval in found])
    return np.mean([truth in interval for interval in found])


@pytest.mark.slow
def test_areas_over_folds_cover():
    """0.88 and 0.41 without what few rows and training add."""
    assert 0.93 <= expected_covered(area, "roc_auc", 30, 30, 600) <= 0.97
    assert 0.90 <= expected_covered(area, "roc_auc", 5, 95, 600) <= 0.97


@pytest.mark.parametrize("scorer", [area, share])
def test_the_bootstrap_over_few_folds_covers(scorer):
    """0.84 and 0.80 if means of drawn folds were taken as they are."""
    known = {area: "roc_auc", share: "accuracy"}[scorer]
    assert 0.93 <= expected_covered(scorer, known, 50, 50, 150, "bootstrap")


# What is refused.

HALF = np.arange(N) < N // 2


def test_folds_by_masks_are_folds_by_numbers():
    masks = [(HALF, ~HALF), (~HALF, HALF)]
    numbers = [tuple(np.flatnonzero(part) for part in fold) for fold in masks]
    found = [th.evaluate(GaussianNB(), X, LABELS, cv=cv) for cv in (masks, numbers)]
    assert found[0].intervals == found[1].intervals
    np.testing.assert_array_equal(found[0].predictions, found[1].predictions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": np.ones(2 * N)}, r"sample_weight has shape \(200,\)"),
        ({"sample_weight": np.ones(N // 2)}, r"sample_weight has shape \(50,\)"),
        ({"cv": True}, "cv=True must be a number of folds"),
        ({"cv": 5.0}, "cv=5.0 must be a number of folds"),
        ({"cv": [(HALF[:40], ~HALF)]}, "Fold 0 of cv holds 40 rows as bool"),
        ({"cv": [(range(50), [N])]}, "contains row 100"),
        ({"cv": [(range(50), [])]}, "Fold 0 of cv holds 0 rows"),
        ({"scoring": []}, "is empty"),
        ({"scoring": {}}, "is empty"),
        ({"scoring": [lambda *_: 1.0, lambda *_: 2.0]}, "have the same name"),
    ],
)
def test_refusals_say_what_to_do(options, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        th.evaluate(GaussianNB(), X, LABELS, **options)


@pytest.mark.parametrize("scale", [1e-120, 1e150])
@pytest.mark.parametrize("kind", ["auto", "corrected_t"])
def test_intervals_of_large_and_small_errors_are_those_of_others_in_their_unit(scale, kind):
    options = {"scoring": "neg_mean_absolute_error", "interval": kind}
    plain, found = (
        th.evaluate(th.LinearRegression(), X, k * Y, **options).intervals[options["scoring"]]
        for k in (1.0, scale)
    )
    np.testing.assert_allclose([found.low, found.high], [scale * plain.low, scale * plain.high])


@pytest.mark.parametrize("scale", [1e-85, 1e78])
def test_comparisons_over_folds_do_not_depend_on_the_unit(scale):
    models = {"a": th.LinearRegression(), "b": th.ConstantRegressor()}
    options = {"scoring": "neg_mean_squared_error", "test": "corrected_t"}
    plain, found = (th.compare(models, X, k * Y, **options).pairs[0] for k in (1.0, scale))
    assert found.test.p == pytest.approx(plain.test.p)
