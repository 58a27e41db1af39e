"""Evaluation and comparison: what they report, how often it is right, what they refuse."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import thetahat as th

RANDOM = np.random.default_rng(0)
N = 240
X = RANDOM.standard_normal((N, 4))
Y = X @ [1.0, -2.0, 0.5, 0.0] + RANDOM.standard_normal(N)
LABELS = np.where(Y + RANDOM.standard_normal(N) > 0, "yes", "no")


class NearestMean(ClassifierMixin, BaseEstimator):
    """Labels ±1 by the nearer class mean over some columns."""

    def __init__(self, columns=slice(None)):
        self.columns = columns

    def fit(self, X, y):
        rows = X[:, self.columns]
        self.classes_ = np.array([-1.0, 1.0])
        self.weight_ = rows[y > 0].mean(axis=0) - rows[y < 0].mean(axis=0)
        self.middle_ = (rows[y > 0].mean(axis=0) + rows[y < 0].mean(axis=0)) / 2
        return self

    def decision_function(self, X):
        return (X[:, self.columns] - self.middle_) @ self.weight_

    def predict(self, X):
        return np.where(self.decision_function(X) > 0, 1.0, -1.0)


def share_right(learner, Z, y, train, test):
    """Accuracy on some rows after a fit to others."""
    return np.mean(learner.fit(Z[train], y[train]).predict(Z[test]) == y[test])


def two_clouds(random, n=80, d=10):
    """Rows of two classes whose columns are exchangeable: no set of them is better than another."""
    y = random.choice([-1.0, 1.0], n)
    return random.standard_normal((n, d)) + 0.4 * y[:, None], y


# What is reported.


def test_scores_are_those_of_scikit_learn():
    folds = KFold(4, shuffle=True, random_state=3)
    found = th.evaluate(th.Ridge(), X, Y, cv=folds, scoring=["r2", "neg_mean_squared_error"])
    for metric in found.scores:
        expected = cross_val_score(th.Ridge(), X, Y, cv=folds, scoring=metric)
        np.testing.assert_allclose(found.scores[metric], expected)
    np.testing.assert_allclose(found.predictions, cross_val_predict(th.Ridge(), X, Y, cv=folds))


class InColumn(NearestMean):
    """Answers in a column, as some libraries do."""

    def predict(self, X):
        return super().predict(X)[:, None]


class Harsh(NearestMean):
    """Has a score of its own."""

    def score(self, X, y):
        return super().score(X, y) - 1.0


@pytest.mark.parametrize(
    "model", [NearestMean(), InColumn(), Harsh()], ids=lambda m: type(m).__name__
)
def test_without_a_metric_the_score_is_the_models_own(model):
    signs = np.sign(Y)
    folds = KFold(4, shuffle=True, random_state=3)
    found = th.evaluate(model, X, signs, cv=folds, interval="t")
    expected = cross_val_score(model, X, signs, cv=folds)
    np.testing.assert_allclose(found.scores["accuracy"], expected)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_same_for_any_number_of_threads(threads):
    expected = th.evaluate(GaussianNB(), X, LABELS, scoring=["accuracy", "roc_auc"])
    with th.config(threads=threads):
        found = th.evaluate(GaussianNB(), X, LABELS, scoring=["accuracy", "roc_auc"])
    for metric in expected.scores:
        np.testing.assert_array_equal(found.scores[metric], expected.scores[metric])
    np.testing.assert_array_equal(found.certainties, expected.certainties)


def test_tables_lists_and_weights_are_taken():
    import pandas

    frame = pandas.DataFrame(X, columns=list("abcd"))
    expected = th.evaluate(th.Ridge(), X, Y).scores["r2"]
    np.testing.assert_allclose(th.evaluate(th.Ridge(), frame, Y).scores["r2"], expected)
    np.testing.assert_allclose(th.evaluate(th.Ridge(), X.tolist(), Y).scores["r2"], expected)
    weighted = th.evaluate(th.Ridge(), X, Y, sample_weight=np.full(N, 2.0)).scores["r2"]
    np.testing.assert_allclose(weighted, expected, rtol=1e-3)


def test_intervals_fit_the_score():
    found = th.evaluate(GaussianNB(), X, LABELS, scoring=["accuracy", "roc_auc", "f1_macro"])
    right = found.predictions == LABELS
    rows = N / 1.25  # the training rows are chosen by chance, too
    expected = th.statistics.proportion_interval(right.mean() * rows, rows)
    accuracy = found.intervals["accuracy"]
    assert (accuracy.low, accuracy.high) == pytest.approx((expected.low, expected.high))
    assert found.intervals["roc_auc"].method == "DeLong over rows"
    assert found.intervals["f1_macro"].method == "t over rows"
    for kind in ("t", "bootstrap", "clopper_pearson"):
        chosen = th.evaluate(GaussianNB(), X, LABELS, interval=kind).intervals["accuracy"]
        assert chosen.low < chosen.estimate < chosen.high


def test_it_prints_plots_and_tells_of_progress(capsys):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    reported = []
    found = th.evaluate(th.Ridge(), X, Y, progress=lambda *what: reported.append(what))
    assert sorted(reported)[-1] == (5, 5, "Ridge")
    assert "Ridge: 5 folds" in str(found)
    assert found.plot().get_ylabel() == "r2"
    comparison = th.compare({"a": th.Ridge(), "b": th.Ridge(alpha=100.0)}, X, Y, progress=True)
    assert "10 of 10 fits" in capsys.readouterr().err
    assert [tick.get_text() for tick in comparison.plot().get_yticklabels()] == ["b", "a"]
    plt.close("all")


@pytest.mark.parametrize("folds", [2, 5, 10, N])
def test_folds_of_any_number(folds):
    """K = 2 (roles swapped), 5, 10, and N, one row left out at a time; stratified for classes."""
    found = th.evaluate(th.Ridge(), X, Y, cv=folds, scoring="neg_mean_squared_error")
    assert len(found.fits) == folds
    held = np.concatenate([fit.rows for fit in found.fits])
    np.testing.assert_array_equal(np.sort(held), np.arange(N))
    labels = np.repeat(["rare", "common"], [24, N - 24])
    stratified = th.evaluate(GaussianNB(), X, labels, cv=min(folds, 12)).fits
    share = 24 / len(stratified)
    assert all(abs(np.sum(labels[fit.rows] == "rare") - share) < 1 for fit in stratified)
    assert found.scores["neg_mean_squared_error"].var() > 0


@pytest.mark.parametrize("model", [th.Ridge(), make_pipeline(th.Standardizer(), th.Ridge())])
def test_leaving_one_row_out_of_a_regression(model):
    """R² is not defined on one row, so the squared error takes its place."""
    few, targets = X[:30], Y[:30]
    found = th.evaluate(model, few, targets, cv=30)
    predicted = cross_val_predict(model, few, targets, cv=LeaveOneOut())
    np.testing.assert_allclose(found.predictions, predicted)
    interval = found.intervals["neg_mean_squared_error"]
    assert interval.estimate == pytest.approx(-np.mean((predicted - targets) ** 2))
    assert interval.high <= 0
    curve = th.validation_curve(
        th.Ridge(), few, targets, parameter="alpha", values=[1.0, 1e4], cv=LeaveOneOut()
    )
    assert curve.metric == "neg_mean_squared_error"
    assert curve.best == 1.0
    with pytest.raises(th.errors.DataError, match="not defined on this fold"), pytest.warns():
        th.evaluate(model, few, targets, cv=30, scoring="r2")


def test_density_models_need_no_targets():
    model = th.DensityTree(bounds=[(-9, 9)], max_leaf_nodes=6)
    rows = X[:, :1]
    found = th.evaluate(model, rows)
    for fit, score in zip(found.fits, found.scores["log_likelihood"], strict=True):
        others = np.setdiff1d(np.arange(N), fit.rows)
        assert score == pytest.approx(model.fit(rows[others]).score(rows[fit.rows]))
        np.testing.assert_allclose(found.predictions[fit.rows], model.log_density(rows[fit.rows]))
    models = {"one cell": th.DensityTree(bounds=[(-9, 9)], max_leaf_nodes=1), "more": model}
    assert th.compare(models, rows).best == "more"
    options = {"parameter": "max_leaf_nodes", "values": [1, 6]}
    curve = th.validation_curve(model, rows, **options)
    assert curve.best == 6
    assert curve.scores[1].estimate == pytest.approx(found.intervals["log_likelihood"].estimate)
    assert th.learning_curve(model, rows, sizes=[20]).metric == "log_likelihood"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: th.evaluate(th.Ridge(), X), "Ridge is a regressor, which needs targets"),
        (lambda: th.evaluate(GaussianNB(), X), "GaussianNB is a classifier, which needs targets"),
        (lambda: th.search(th.Ridge(), {"alpha": [1.0]}, X), "needs targets"),
        (lambda: th.learning_curve(th.Ridge(), X), "needs targets"),
        (
            lambda: th.evaluate(th.DensityTree(), X),
            "density of 'DensityTree' is 0 at .* held-out rows of fold 0.*bounds=",
        ),
        (
            lambda: th.compare({"a": th.DensityTree(margin=9.0), "b": th.Ridge()}, X, Y),
            "different scores by default: log_likelihood and r2",
        ),
    ],
)
def test_refusals_without_targets(call, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        call()


def test_models_are_kept_when_asked_for():
    found = th.evaluate(th.Ridge(), X, Y, keep_models=True)
    assert all(hasattr(fit.estimator, "coef_") for fit in found.fits)
    assert th.evaluate(th.Ridge(), X, Y).fits[0].estimator is None


def test_a_better_model_is_called_better():
    models = {"guess": DummyClassifier(), "bayes": GaussianNB()}
    found = th.compare(models, X, LABELS)
    assert found.best == "bayes"
    (pair,) = found.pairs
    assert pair.test.rejects
    assert pair.sentence.startswith("bayes is better than guess by ")
    assert "points, 95% interval" in pair.sentence


def test_equal_models_are_practically_equal_within_a_margin():
    models = {"one": th.Ridge(alpha=1.0), "two": th.Ridge(alpha=1.5)}
    (pair,) = th.compare(models, X, Y).pairs
    assert pair.practically_equal
    assert "are practically equal" in pair.sentence
    assert pair.margin == pytest.approx(0.01 * th.evaluate(th.Ridge(), X, Y).scores["r2"].mean())
    (pair,) = th.compare(models, X, Y, margin=1e-7).pairs
    assert not pair.test.rejects
    assert not pair.practically_equal
    assert "cannot be distinguished with this much data" in pair.sentence
    same = th.compare({"one": th.Ridge(), "two": th.Ridge()}, X, Y).pairs[0]
    assert same.test.p == 1.0
    assert same.practically_equal


@pytest.mark.parametrize("test", ["corrected_t", "paired_t", "wilcoxon", "mcnemar", "5x2cv"])
def test_every_test_can_be_chosen(test):
    models = {
        "guess": DummyClassifier(),
        "bayes": GaussianNB(),
        "b2": GaussianNB(var_smoothing=0.1),
    }
    found = th.compare(models, X, LABELS, test=test)
    assert len(found.pairs) == 3
    assert found.among_all is not None
    assert found.nemenyi.details["p"].shape == (3, 3)
    assert all(pair.difference.low <= pair.difference.estimate for pair in found.pairs)


# How often it is right.


def test_coverage_of_the_corrected_interval_for_random_splits():
    random, hits, scores = np.random.default_rng(7), 0, []
    splits = list(ShuffleSplit(15, test_size=0.2, random_state=0).split(np.zeros(60)))
    learner = NearestMean()
    for _ in range(1000):
        Z, y = two_clouds(random, n=60)
        values = []
        for train, test in splits:
            learner.fit(Z[train], y[train])
            values.append(np.mean(learner.predict(Z[test]) == y[test]))
        scores.append(values)
    scores = np.array(scores)
    truth = scores.mean()
    from thetahat.evaluation.score_intervals import fold_interval

    hits = np.mean([truth in fold_interval(each, 0.25, 0.95) for each in scores])
    plain = np.mean([truth in fold_interval(each, 0.0, 0.95) for each in scores])
    assert 0.93 <= hits <= 0.97
    assert plain < 0.8  # what ignoring the overlap would do


@pytest.mark.slow
def test_type_one_error_of_comparisons():
    """Two learners that are equally good: how often each test says they are not."""
    random = np.random.default_rng(11)
    one, two = NearestMean(slice(0, 5)), NearestMean(slice(5, 10))
    tests = {"corrected_t": 0, "paired_t": 0, "mcnemar": 0, "5x2cv": 0}
    splits = ShuffleSplit(15, test_size=0.2, random_state=0)
    for _ in range(1000):
        Z, y = two_clouds(random, n=100)
        d = []
        for train, test in splits.split(Z):
            right = [
                np.mean(m.fit(Z[train], y[train]).predict(Z[test]) == y[test]) for m in (one, two)
            ]
            d.append(right)
        a, b = np.array(d).T
        tests["corrected_t"] += th.statistics.corrected_resampled_t(a, b, test_share=0.2).rejects
        tests["paired_t"] += th.statistics.paired_t(a, b).rejects
        half = np.arange(100) < 50
        held = [m.fit(Z[half], y[half]).predict(Z[~half]) == y[~half] for m in (one, two)]
        tests["mcnemar"] += th.statistics.mcnemar(*held, exact=False).rejects
        differences = np.empty((5, 2))
        for repeat in range(5):
            order = random.permutation(100)
            parts = order[:50], order[50:]
            for side in (0, 1):
                train, test = parts[side], parts[1 - side]
                right = [share_right(learner, Z, y, train, test) for learner in (one, two)]
                differences[repeat, side] = right[0] - right[1]
        tests["5x2cv"] += th.statistics.five_by_two_cv(differences).rejects
    rates = {name: count / 1000 for name, count in tests.items()}
    assert rates["paired_t"] > 0.15, rates  # overlapping training sets: far too often
    assert 0.03 <= rates["corrected_t"] <= 0.07, rates
    assert 0.03 <= rates["5x2cv"] <= 0.07, rates
    assert 0.02 <= rates["mcnemar"] <= 0.07, rates  # Yates' correction of few rows is cautious


# What is refused.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: th.evaluate(th.Ridge(), X[:3], Y[:3], cv=5), "cv=5 folds of 3 rows"),
        (lambda: th.evaluate(th.Ridge(), X, Y[:-1]), "X has 240 rows, but y has shape .239,."),
        (lambda: th.evaluate(th.Ridge(), X, Y, level=0.0), "level=0.0"),
        (lambda: th.evaluate(th.Ridge(), X, Y, interval="wald"), "interval='wald' must be one of"),
        (lambda: th.evaluate(th.Ridge(), X, Y, interval="wilson"), "needs accuracy"),
        (lambda: th.evaluate(th.Ridge(), X, Y, interval="delong"), "needs roc_auc"),
        (
            lambda: th.evaluate(GaussianNB(), X[:10], ["a"] * 9 + ["b"], cv=10),
            "have a single class, 'a'",
        ),
        (
            lambda: th.evaluate(
                GaussianNB(),
                X[:40],
                ["a"] * 20 + ["b"] * 20,
                cv=[(range(10, 40), range(10))],
                scoring=lambda *_: np.nan,
            ),
            "on fold 0 is nan",
        ),
        (lambda: th.compare({"a": th.Ridge()}, X, Y), "1 model given"),
        (
            lambda: th.compare({"a": th.Ridge(), "b": th.Ridge()}, X, Y, margin="much"),
            "margin='much' must be a number",
        ),
        (
            lambda: th.compare({"a": th.Ridge(), "b": th.Ridge()}, X, Y, margin=-0.1),
            "margin=-0.1 must be a number that is not negative",
        ),
        (lambda: th.evaluate(th.Ridge(), X, Y, groups=np.arange(N) % 3), "cv=5 folds of 3 groups"),
        (lambda: th.evaluate(th.Ridge(), X, Y, groups=[1, 2]), "Give one group per row"),
        (
            lambda: th.evaluate(th.Ridge(), X, Y, scoring=lambda *_: 1.0, interval="rows"),
            "interval='rows' needs a metric of scikit-learn",
        ),
        (
            lambda: th.compare(
                {"a": th.Ridge(), "b": th.Ridge()}, X, Y, scoring=lambda *_: 1.0, test="rows"
            ),
            "test='rows' needs a metric of scikit-learn",
        ),
        (lambda: th.compare({"a": th.Ridge(), "b": GaussianNB()}, X, Y), "some are not"),
        (lambda: th.compare({"a": th.Ridge(), "b": th.Ridge()}, X, Y, test="z"), "test='z'"),
        (
            lambda: th.compare({"a": th.Ridge(), "b": th.Ridge()}, X, Y, test="mcnemar"),
            "needs the accuracy of classifiers",
        ),
    ],
)
def test_refusals_say_what_to_do(call, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        call()


def test_a_failing_fit_names_model_and_fold():
    with pytest.raises(ValueError, match="NaN") as failure:
        th.evaluate(th.Ridge(), np.where(X > 2.5, np.nan, X), Y)
    assert any("while fitting 'Ridge' on fold 0" in note for note in failure.value.__notes__)


def test_models_without_row_weights_are_named_before_any_fit(monkeypatch):
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    models = {"svc": th.SVC(), "near": th.KNeighborsClassifier()}
    monkeypatch.setattr("thetahat.evaluation.evaluate.cross_fit", None)
    with pytest.raises(th.errors.CapabilityError, match=r"the fit of model 'near'.*Leave"):
        th.compare(models, X, y, cv=3, sample_weight=np.ones(6))
