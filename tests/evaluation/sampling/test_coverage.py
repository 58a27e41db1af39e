"""Intervals hold the truth as often as they say, and agree with their tests."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import RepeatedKFold, ShuffleSplit, TimeSeriesSplit

import thetahat as th
from thetahat.evaluation.cross_fitting import cross_fit
from thetahat.evaluation.evaluate import Evaluation
from thetahat.evaluation.folds import folds_of
from thetahat.evaluation.pairs import judged_pairs
from thetahat.evaluation.sampling.design import units_of_sampling
from thetahat.evaluation.sampling.row_values import row_values
from thetahat.evaluation.score_intervals import score_interval


@pytest.fixture(autouse=True)
def one_thread():
    """Fits as short as these only wait for each other."""
    with th.config(threads=1):
        yield


class Threshold(ClassifierMixin, BaseEstimator):
    """Class 1 beyond the middle of the class means of the first column."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.middle_ = (X[y == 1, 0].mean() + X[y == 0, 0].mean()) / 2
        return self

    def predict(self, X):
        return (X[:, 0] > self.middle_).astype(int)


class Zero(ClassifierMixin, BaseEstimator):
    """Always class 0."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


class InColumn(ClassifierMixin, BaseEstimator):
    """Reads its answer in a column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return X[:, self.column]


def accuracy(model, X, y):
    return float(np.mean(model.predict(X) == y))


def evaluated(models, X, y, *, groups=None, seed=0, cv=5):
    folds = folds_of(cv, X, y, classifier=True, groups=groups, random_state=seed)
    units = units_of_sampling(folds, len(y), groups)
    fits = cross_fit(models, X, y, folds, {name: {"accuracy": accuracy} for name in models})
    found = {}
    for name in models:
        own = tuple(fit for fit in fits if fit.model == name)
        scores = {"accuracy": np.array([fit.scores["accuracy"] for fit in own])}
        known = {"accuracy": "accuracy"}
        found[name] = Evaluation(name, {}, scores, None, None, own, known, units)
    return found, units


def interval_of(evaluation, y, units):
    return score_interval(
        evaluation.fits,
        "accuracy",
        y,
        known="accuracy",
        kind="auto",
        level=0.95,
        random_state=0,
        units=units,
    )


def share_covered(intervals):
    truth = np.mean([each.estimate for each in intervals])
    return np.mean([truth in each for each in intervals])


@pytest.mark.parametrize("separation", [pytest.param(1.5, marks=pytest.mark.slow), 6.0])
def test_differences_to_a_constant_cover_with_stratified_folds(separation):
    """The corrected t over folds covers 56% at separation 6, as folds fix the class shares."""
    models, found, by_folds = {"line": Threshold(), "zero": Zero()}, [], []
    for seed in range(200):
        random = np.random.default_rng((1, seed))
        y = (random.random(300) < 0.25).astype(int)
        X = random.standard_normal((300, 1)) + separation * y[:, None]
        evaluations, _ = evaluated(models, X, y, seed=seed)
        for test, kept in (("auto", found), ("corrected_t", by_folds)):
            pairs = judged_pairs([("line", "zero")], evaluations, "accuracy", y, test, 0.95)
            kept.append(pairs[0].difference)
    assert 0.92 <= share_covered(found) <= 0.985
    if separation == 6.0:
        assert share_covered(by_folds) < 0.75


def test_groups_are_the_units_of_sampling():
    """Rows as units cover 36.5% of the time with 40 groups of 20."""
    groups, found, by_rows = np.repeat(np.arange(40), 20), [], []
    for seed in range(100):
        random = np.random.default_rng((2, seed))
        y = random.integers(0, 2, 800)
        right = random.random(800) < random.beta(0.8, 0.4, 40)[groups]
        X = np.where(right, y, 1 - y)[:, None]
        evaluations, units = evaluated({"": InColumn()}, X, y, groups=groups, seed=seed)
        assert all(len(np.unique(groups[fit.rows])) == 8 for fit in evaluations[""].fits)
        found.append(interval_of(evaluations[""], y, units))
        by_rows.append(interval_of(evaluations[""], y, np.arange(800)))
    assert 0.92 <= share_covered(found) <= 0.985
    assert share_covered(by_rows) < 0.6


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_size_of_the_test_of_equal_models(share):
    rejected = 0
    for seed in range(200):
        random = np.random.default_rng((3, seed))
        y = random.integers(0, 2, 150)
        X = np.where(random.random((150, 2)) < share, 1 - y[:, None], y[:, None])
        models = {"a": InColumn(0), "b": InColumn(1)}
        evaluations, _ = evaluated(models, X, y, seed=seed)
        pairs = judged_pairs([("a", "b")], evaluations, "accuracy", y, "auto", 0.95)
        rejected += pairs[0].test.rejects
    assert 0.005 <= rejected / 200 <= 0.08


def test_blocks_of_time_are_the_units_where_folds_keep_the_order():
    folds = list(TimeSeriesSplit(4).split(np.zeros(100)))
    units = units_of_sampling(folds, 100, None)
    held = np.concatenate([test for _, test in folds])
    assert 8 <= np.unique(units[held]).size <= 12
    assert all((np.diff(units[test]) >= 0).all() for _, test in folds)
    assert len({tuple(np.unique(units[test])) for _, test in folds}) == 4
    shuffled = list(ShuffleSplit(4, random_state=0).split(np.zeros(100)))
    np.testing.assert_array_equal(units_of_sampling(shuffled, 100, None), np.arange(100))


def test_units_are_named_as_what_they_are():
    models, folds = {"one": th.Ridge(), "two": th.Ridge(alpha=1e3)}, TimeSeriesSplit(4)
    found = th.compare(models, X, TARGETS, cv=folds)
    assert found.evaluations["one"].intervals["r2"].method == "t over blocks of time"
    assert found.pairs[0].test.name == "t test over blocks of time"
    found = th.compare(models, X, TARGETS, groups=np.arange(90) // 3)
    assert found.evaluations["one"].intervals["r2"].method == "t over groups"
    found = th.evaluate(th.Ridge(), X, TARGETS, cv=list(folds.split(X)), groups=np.arange(90) // 3)
    assert found.intervals["r2"].method == "t over groups"


def test_a_margin_of_nothing_is_not_compared_with_no_difference():
    models = {"one": th.Ridge(), "two": th.Ridge()}
    (pair,) = th.compare(models, X, TARGETS, margin=0).pairs
    assert "more than the margin" not in pair.sentence
    assert pair.sentence.endswith("; a margin of 0 counts no models as practically equal.")


# Interval and p-value agree, for every test and any number of pairs.

X = np.random.default_rng(4).standard_normal((90, 4))
LABELS = (X[:, 0] + 0.8 * np.random.default_rng(5).standard_normal(90) > 0).astype(int)
TARGETS = X[:, 0] + np.random.default_rng(6).standard_normal(90)


def agree(pair):
    within = -pair.margin < pair.difference.low and pair.difference.high < pair.margin
    return (0 in pair.difference) != pair.test.rejects and within == pair.practically_equal


@pytest.mark.parametrize(
    "test", ["auto", "corrected_t", "paired_t", "wilcoxon", "mcnemar", "5x2cv"]
)
@pytest.mark.parametrize("level", [0.5, pytest.param(0.8, marks=pytest.mark.slow), 0.95])
def test_interval_and_p_value_agree(test, level):
    from sklearn.naive_bayes import GaussianNB

    models = {f"{each:g}": GaussianNB(var_smoothing=each) for each in (1e-9, 1.0, 30.0)}
    models["zero"] = Zero()
    found = th.compare(models, X, LABELS, test=test, level=level, cv=6, margin=0.05)
    assert len(found.pairs) == 6
    assert all(agree(pair) for pair in found.pairs)
    assert all("adjusted for 6 pairs" in pair.difference.method for pair in found.pairs)
    assert all(pair.test.interval == pair.difference for pair in found.pairs)


@pytest.mark.parametrize(
    "metric", ["r2", "neg_root_mean_squared_error", "neg_mean_absolute_error", "max_error"]
)
def test_interval_and_p_value_agree_for_numbers(metric):
    metric = "neg_max_error" if metric == "max_error" else metric
    models = {f"{each:g}": th.Ridge(alpha=each) for each in (0.1, 100.0, 300.0, 1e4)}
    for level in (0.6, 0.9):
        found = th.compare(models, X, TARGETS, scoring=metric, level=level, margin="10%")
        assert all(agree(pair) for pair in found.pairs)


def test_differences_have_the_unit_of_the_metric():
    models = {"good": th.Ridge(), "bad": th.Ridge(alpha=1e4)}
    assert " in R², 95% interval" in th.compare(models, X, TARGETS).pairs[0].sentence
    (pair,) = th.compare(models, X, TARGETS, scoring="neg_root_mean_squared_error").pairs
    assert " in root mean squared error, 95% interval" in pair.sentence
    classes = {"line": Threshold(), "zero": Zero()}
    assert " points, 95% interval" in th.compare(classes, X, LABELS).pairs[0].sentence


def test_sentences_have_minus_signs():
    models = {"a": th.Ridge(alpha=1.0), "b": th.Ridge(alpha=1.01)}
    (pair,) = th.compare(models, X, TARGETS).pairs
    assert pair.difference.low < 0
    assert f"interval −{-pair.difference.low:.3g} to".replace("e-", "e−") in pair.sentence


def test_perfect_models_leave_room_for_errors():
    apart = X + 20 * LABELS[:, None]
    models = {"one": Threshold(), "two": Threshold()}
    (pair,) = th.compare(models, apart, LABELS).pairs
    assert pair.difference.estimate == 0
    assert 0.02 < pair.difference.high < 0.08
    assert pair.difference.low == pytest.approx(-pair.difference.high)
    interval = th.evaluate(Threshold(), apart, LABELS).intervals["accuracy"]
    assert interval.estimate == interval.high == 1.0
    assert 0.9 < interval.low < 0.97


def test_a_margin_is_a_number_or_a_percentage():
    models = {"one": th.Ridge(alpha=1.0), "two": th.Ridge(alpha=2.0)}
    half = th.compare(models, X, TARGETS, margin="50%").pairs[0]
    best = max(th.evaluate(m, X, TARGETS).scores["r2"].mean() for m in models.values())
    assert half.margin == pytest.approx(0.5 * best)
    same = th.compare(models, X, TARGETS, margin=0.5 * best).pairs[0]
    assert same.equivalence == pytest.approx(half.equivalence)
    assert th.compare(models, X, TARGETS, margin=0.0).pairs[0].equivalence == 1.0


@pytest.mark.parametrize("metric", ["roc_auc_ovo", "roc_auc_ovr"])
def test_areas_of_several_classes_have_values_of_single_rows(metric):
    random = np.random.default_rng(5)
    y = np.repeat(["a", "b", "c"], 30)
    points = random.normal(size=(90, 2)) + np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 30, 0)
    model = th.LogisticRegression().fit(points, y)
    scorer = get_scorer(metric)
    score = float(scorer(model, points, y))
    found = row_values(metric, scorer, Rows(model, points), y, score, np.arange(90))
    assert not found.blocked
    assert found.values.mean() == pytest.approx(score, abs=1e-12)
    kept = [np.delete(np.arange(90), row) for row in (3, 40, 77)]
    without = [scorer(model, points[rows], y[rows]) for rows in kept]
    jackknife = [score + 89 * (score - each) for each in without]
    np.testing.assert_allclose(found.values[[3, 40, 77]], jackknife, atol=0.03)


class Rows:
    """A model that answers for numbers of rows."""

    def __init__(self, model, X):
        self.model, self.X, self.classes_ = model, X, model.classes_

    def predict_proba(self, rows):
        return self.model.predict_proba(self.X[rows])


def test_repetitions_do_not_widen_differences_of_losses():
    """Pairs of rows held out together were taken for an effect of training: 1.15 times as wide."""
    widths = {1: [], 3: []}
    for seed in range(4):
        random = np.random.default_rng((51, seed))
        X = random.standard_normal((60, 4))
        y = X[:, 0] + random.standard_normal(60)
        models = {"all": th.LinearRegression(), "other": th.Ridge(alpha=30.0)}
        for repeats, found in widths.items():
            cv = RepeatedKFold(n_splits=5, n_repeats=repeats, random_state=seed)
            pair = th.compare(models, X, y, cv=cv, scoring="neg_mean_squared_error").pairs[0]
            found.append(pair.difference.high - pair.difference.low)
    assert np.mean(widths[3]) < 1.05 * np.mean(widths[1])
