"""Intervals and tests of balanced accuracy and F₁ hold for rare classes too."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import RepeatedStratifiedKFold

import thetahat as th
from thetahat.evaluation.cross_fitting import FoldFit
from thetahat.evaluation.sampling.design import Design, values_of
from thetahat.evaluation.sampling.row_values import row_values

N, N_POSITIVE, FOLDS = 400, 20, 5
ROWS = np.arange(N)
FOLD = ROWS % FOLDS  # four positive rows in each


def balanced(y, called):
    return np.mean([(called[y == label] == label).mean() for label in (0, 1)])


def f1(y, called):
    return 2 * (y * called).sum() / (y + called).sum()


SCORES = {"balanced_accuracy": balanced, "f1": f1}


class InColumn(ClassifierMixin, BaseEstimator):
    """Reads its answer in a column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[X[:, self.column].astype(int)]


class Known:
    """Predictions that are known already."""

    def __init__(self, called):
        self.called = called

    def predict(self, rows):
        return self.called[rows]


def fits_of(metric, called, y):
    found = []
    for number in range(FOLDS):
        rows = ROWS[number == FOLD]
        score = SCORES[metric](y[rows], called[rows])
        values = row_values(metric, None, Known(called[rows]), y[rows], score, rows)
        kept = {metric: values}
        found.append(
            FoldFit("", number, rows, called[rows], None, {metric: score}, 0, 0, None, N - 80, kept)
        )
    return found


@pytest.mark.parametrize("metric", SCORES)
def test_size_for_a_rare_class(metric):
    """Values around the recall of each fold rejected 18 and 23% of true hypotheses."""
    y, rejected = (ROWS < N_POSITIVE).astype(int), 0
    for seed in range(100):
        random = np.random.default_rng((21, seed))
        shares = np.where(y == 1, 0.3, 0.005)
        fits = [fits_of(metric, (random.random(N) < shares).astype(int), y) for _ in range(2)]
        values = [values_of(each, metric, metric, y, ROWS) for each in fits]
        if any(each is None for each in values):
            continue
        first, second = (np.mean([fit.scores[metric] for fit in each]) for each in fits)
        design = Design.of(fits[0], ROWS)
        judged = design.gap(first - second, *values, metric, 1.0, N_POSITIVE)
        rejected += judged.p_at(0.0) < 0.05
    assert rejected <= 6


@pytest.mark.parametrize("metric", SCORES)
def test_values_have_the_score_as_mean(metric):
    random, y = np.random.default_rng(0), (ROWS < 200).astype(int)
    fits = fits_of(metric, np.where(random.random(N) < 0.2, 1 - y, y), y)
    values, design = values_of(fits, metric, metric, y, ROWS), Design.of(fits, ROWS)
    mean = np.mean([fit.scores[metric] for fit in fits])
    assert design.weights @ values.values == pytest.approx(mean, abs=2e-3)
    assert values.unseen > 0


@pytest.mark.parametrize("metric", SCORES)
def test_the_choice_of_the_training_rows_adds_its_whole_share(metric):
    """A fold of a fifth of the rows adds a quarter to the variance, as for accuracy."""
    random, y = np.random.default_rng(0), (ROWS < 200).astype(int)
    fits = fits_of(metric, np.where(random.random(N) < 0.2, 1 - y, y), y)
    values, design = values_of(fits, metric, metric, y, ROWS), Design.of(fits, ROWS)
    error = design.studentised(0.8, values, metric).error
    alone = design.variance(design.sums(values)) + values.unseen
    assert error**2 == pytest.approx(1.25 * alone)


def test_a_class_with_one_row_in_each_fold_is_not_certain():
    """Around the recall of each fold, such a class did not vary, and the interval was ±.03."""
    y = (np.arange(100) < 5).astype(int)
    called = np.where(np.arange(100) < 3, 1, 0)
    found = th.evaluate(InColumn(), called[:, None], y, scoring="balanced_accuracy")
    interval = found.intervals["balanced_accuracy"]
    assert interval.low < 0.65
    assert interval.high > 0.93


def test_labels_that_are_words_have_the_same_interval():
    random = np.random.default_rng(1)
    y = (random.random(200) < 0.3).astype(int)
    X = np.where(random.random(200) < 0.2, 1 - y, y)[:, None]
    numbers = th.evaluate(InColumn(), X, y, scoring="f1").intervals["f1"]
    words = np.where(y == 1, "spam", "ham")
    scorer = make_scorer(f1_score, average="binary", pos_label="spam")
    found = th.evaluate(InColumn(), X, words, scoring={"f1": scorer}).intervals["f1"]
    assert (found.low, found.high) == pytest.approx((numbers.low, numbers.high))


def test_repetitions_of_folds_add_no_rows():
    random = np.random.default_rng(2)
    y = (np.arange(100) < 20).astype(int)
    X = np.where(random.random(100) < 0.2, 1 - y, y)[:, None]
    widths = []
    for repeats in (1, 4):
        cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0)
        found = th.evaluate(InColumn(), X, y, cv=cv, scoring="balanced_accuracy")
        interval = found.intervals["balanced_accuracy"]
        widths.append(interval.high - interval.low)
    assert 0.85 < widths[1] / widths[0] < 1.15
