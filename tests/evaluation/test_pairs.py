"""Two models compared: what is tested is what is ranked, and no spread is no certainty."""

import numpy as np
import pytest
from scipy.stats import chi2, wilcoxon
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.naive_bayes import GaussianNB

import thetahat as th
from thetahat.evaluation.fold_tests import FoldScores
from thetahat.evaluation.sampling.judgement import equivalence

RANDOM = np.random.default_rng(0)
N = 100
X = RANDOM.standard_normal((N, 3))
LABELS = (X[:, 0] + 0.5 * RANDOM.standard_normal(N) > 0).astype(int)
MODELS = {"bayes": GaussianNB(), "smooth": GaussianNB(var_smoothing=10.0)}
RANDOM_TARGETS = np.random.default_rng(10).standard_normal(N)
SPLIT = [(np.arange(40), np.arange(40, N))]


@pytest.fixture(autouse=True)
def one_thread():
    """Fits as short as these only wait for each other."""
    with th.config(threads=1):
        yield


class ByColumn(ClassifierMixin, BaseEstimator):
    """Tells what is written in a column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, self.column]


COLUMNS = {"A": ByColumn(0), "B": ByColumn(1)}


def uneven():
    """A is right on all small folds and errs on the large one; B the other way round."""
    groups = np.repeat(range(6), [100, 2, 2, 2, 2, 2])
    y = np.arange(110) % 2
    columns = np.column_stack([y, y])
    columns[:6, 0] ^= 1
    columns[100::2, 1] ^= 1
    return columns, y, groups


def right_by_chance(random, n, share=0.8):
    """Two columns that are right equally often."""
    y = np.tile([0, 1], n // 2)
    return np.column_stack([np.where(random.random(n) < share, y, 1 - y) for _ in range(2)]), y


def test_what_is_ranked_is_what_is_tested():
    columns, y, groups = uneven()
    found = th.compare(COLUMNS, columns, y, cv=GroupKFold(6), groups=groups)
    (pair,) = found.pairs
    means = {name: each.scores["accuracy"].mean() for name, each in found.evaluations.items()}
    assert found.best == pair.better == "A"
    assert pair.difference.estimate == pytest.approx(means["A"] - means["B"])
    assert all(each.intervals["accuracy"].estimate == means[name] for name, each in
               found.evaluations.items())  # fmt: skip


def test_mcnemars_test_counts_rows():
    columns, y, groups = uneven()
    (pair,) = th.compare(COLUMNS, columns, y, cv=GroupKFold(6), groups=groups, test="mcnemar").pairs
    assert (pair.better, pair.worse) == ("B", "A")
    assert pair.difference.estimate == pytest.approx(1 / 110)
    assert pair.test.details["only_a_right"] == 6
    assert pair.test.effect_size == pytest.approx(1 / 11)
    assert "over all held-out rows together, which is 0.955 for B and 0.945 for A" in pair.sentence


def test_mcnemars_interval_is_not_bounded_by_the_rows_that_differ():
    """Given the number of rows that differ, intervals covered 54% to 70% of the time."""
    split, hits = [(np.arange(2), np.arange(2, 202))], 0
    for seed in range(300):
        random = np.random.default_rng((8, seed))
        y = np.tile([0, 1], 101)
        kind = random.random(202)
        columns = np.column_stack([y ^ (kind < 0.005), y ^ (kind > 0.985)])
        (pair,) = th.compare(COLUMNS, columns, y, cv=split, test="mcnemar", margin=0.012).pairs
        gap = 0.01 if pair.better == "A" else -0.01
        hits += gap in pair.difference
        assert (0 in pair.difference) != pair.test.rejects
    assert 0.92 <= hits / 300 <= 0.99
    same = np.column_stack([np.tile([0, 1], 101)] * 2)
    same[2, 0] ^= 1
    (pair,) = th.compare(COLUMNS, same, same[:, 1], cv=split, test="mcnemar", margin=0.01).pairs
    assert pair.difference.high > 0.02  # 1 row of 200 differs
    assert not pair.practically_equal


def test_a_search_chooses_by_the_mean_over_folds():
    columns, y, groups = uneven()
    folds = GroupKFold(6)
    found = th.search(ByColumn(), {"column": [1, 0]}, columns, y, cv=folds, groups=groups)
    peer = GridSearchCV(ByColumn(), {"column": [1, 0]}, cv=folds).fit(columns, y, groups=groups)
    assert found.chosen == found.best == peer.best_params_ == {"column": 0}


# No spread is no certainty.


def test_equal_differences_on_two_folds_prove_nothing():
    """Differences of one row on either fold: 5 to 5 points, p = 0, in 7% of such experiments."""
    equal = 0
    for seed in range(60):
        columns, y = right_by_chance(np.random.default_rng(seed), 40)
        (pair,) = th.compare(COLUMNS, columns, y, cv=2, random_state=seed, test="corrected_t").pairs
        d = pair.difference
        equal += d.estimate > 0 and "all differences are the same" in str(pair.test)
        assert not pair.test.rejects
        assert d.low < d.estimate < d.high
    assert equal > 0


def test_where_rows_cannot_help_nothing_is_claimed():
    def score(model, X, y):
        return 0.5 + 0.1 * model.column

    columns, y = right_by_chance(np.random.default_rng(0), 40)
    (pair,) = th.compare(COLUMNS, columns, y, scoring=score).pairs
    assert pair.test.p == 1.0
    assert pair.test.effect_size is None
    assert (pair.difference.low, pair.difference.high) == (-np.inf, np.inf)
    assert "has an unknown spread" in pair.sentence


# One split.


def test_one_split_is_tested_by_mcnemar():
    asked = th.compare(MODELS, X, LABELS, cv=SPLIT, test="mcnemar").pairs[0]
    test = SPLIT[0][1]
    right = [
        model.fit(X[:40], LABELS[:40]).predict(X[test]) == LABELS[test] for model in MODELS.values()
    ]
    only = [int((right[0] > right[1]).sum()), int((right[1] > right[0]).sum())]
    statistic = (only[0] - only[1]) ** 2 / sum(only)
    assert asked.test.statistic == pytest.approx(statistic)
    assert asked.test.p == pytest.approx(chi2.sf(statistic, 1))


def test_one_split_is_tested_by_its_rows():
    models = {"one": th.Ridge(), "two": th.Ridge(alpha=9.0)}
    y = X[:, 1] + X[:, 2]
    (pair,) = th.compare(models, X, y, cv=SPLIT, scoring="neg_mean_squared_error").pairs
    train, test = SPLIT[0]
    errors = [(m.fit(X[train], y[train]).predict(X[test]) - y[test]) ** 2 for m in models.values()]
    gap = errors[1] - errors[0]
    assert pair.difference.estimate == pytest.approx(gap.mean())
    assert pair.test.rejects
    (pair,) = th.compare(models, X, y, cv=SPLIT, scoring=lambda m, X, y: m.alpha).pairs
    assert not pair.test.rejects
    assert "has an unknown spread" in pair.sentence
    found = th.search(th.Ridge(), {"alpha": [1.0, 9.0]}, X, X[:, 1], cv=SPLIT)
    assert found.best == {"alpha": 1.0}
    with pytest.raises(th.errors.ThetahatError, match="needs the scores of at least 2 folds"):
        th.compare(models, X, X[:, 1], cv=SPLIT, test="corrected_t")


def test_type_one_error_on_one_split():
    """Two columns right equally often, distinguished by `compare` as often as the level says."""
    random, rejected = np.random.default_rng(7), 0
    split = [(np.arange(20), np.arange(20, 620))]
    for _ in range(200):
        columns, y = right_by_chance(random, 620)
        rejected += th.compare(COLUMNS, columns, y, cv=split).pairs[0].test.rejects
    assert 0.02 <= rejected / 200 <= 0.08


# What the folds allow.


def test_ranks_of_few_folds_ask_for_folds_and_not_for_rows():
    random = np.random.default_rng(1)
    models = {"good": th.Ridge(), "bad": th.Ridge(alpha=1e4)}
    y = X @ [1.0, 2.0, 0.0] + random.standard_normal(N)
    (pair,) = th.compare(models, X, y, test="wilcoxon").pairs
    assert pair.test.p == pytest.approx(0.0625)
    assert "more folds" in pair.sentence
    assert "more rows" not in pair.sentence
    assert th.compare(models, X, y, test="wilcoxon", cv=8).pairs[0].test.rejects


def by_ranks(difference):
    """Models A and B whose scores differ by these numbers, one per fold."""
    k = len(difference)
    columns = np.repeat(np.column_stack([0.5 + np.asarray(difference), np.full(k, 0.5)]), 2, axis=0)
    folds = [
        (np.delete(np.arange(2 * k), [2 * i, 2 * i + 1]), [2 * i, 2 * i + 1]) for i in range(k)
    ]
    models = {"A": ByColumn(0), "B": ByColumn(1)}
    found = th.compare(
        models,
        columns,
        np.tile([0, 1], k),
        cv=folds,
        test="wilcoxon",
        scoring=lambda model, X, y: X[0, model.column],
    )
    return found.pairs[0]


def test_the_signed_rank_test_has_the_direction_and_the_interval_of_its_ranks():
    """One large difference turns the mean; the interval was stretched to it, and contained 0."""
    difference = np.append(np.linspace(0.01, 0.02, 13), -0.4)
    pair = by_ranks(difference)
    assert difference.mean() < 0
    assert pair.better == "A"
    assert pair.test.p == pytest.approx(wilcoxon(difference).pvalue)
    assert pair.test.rejects
    assert 0 < pair.difference.low < pair.difference.estimate < pair.difference.high
    averages = (difference[:, None] + difference)[np.triu_indices(14)] / 2
    assert pair.difference.estimate == pytest.approx(np.median(averages))
    # The critical value of 14 differences at 5% (two-sided) is 21.
    ends = np.sort(averages)[[21, -22]]
    assert (pair.difference.low, pair.difference.high) == pytest.approx(tuple(ends))
    assert "ahead by their ranks, while the mean over the folds is greater for B" in pair.sentence


@pytest.mark.parametrize("folds", [5, 8, 20, 60])
def test_signed_ranks_agree_with_their_interval_with_and_without_ties(folds):
    for seed in range(2 if folds == 20 else 8):  # 20 take ten times as long
        random = np.random.default_rng((9, folds, seed))
        smooth = 0.05 * random.standard_normal(folds) + 0.03
        for difference in (smooth, np.round(20 * smooth) / 20):
            scores = FoldScores(0.5 + difference, np.full(folds, 0.5), "", 0.2, None, False)
            test, judged = scores.tested("wilcoxon", 0.05)
            low, high = judged.bounds(0.05)
            assert (low <= 0 <= high) != test.rejects
            within = -0.04 < low and high < 0.04
            assert within == (equivalence(judged, 0.04) < 0.05)
            assert low <= judged.estimate <= high
            if difference is smooth:
                assert test.p == pytest.approx(wilcoxon(smooth).pvalue)


# Effect sizes and refusals.


@pytest.mark.parametrize("test", ["auto", "paired_t", "wilcoxon", "mcnemar", "5x2cv"])
def test_every_test_tells_the_size_of_the_effect(test):
    (pair,) = th.compare(MODELS, X, LABELS, test=test).pairs
    assert np.isfinite(pair.test.effect_size)
    assert pair.test.effect_size > 0


def test_names_may_be_numbers():
    found = th.compare(dict(enumerate(MODELS.values())), X, LABELS)
    assert "0 and 1 cannot be distinguished" in str(found)


def test_a_list_of_models_is_refused():
    with pytest.raises(th.errors.ThetahatError, match=r"models is a list\. Give a dict"):
        th.compare(list(MODELS.values()), X, LABELS)


class OwnScore(th.Ridge):
    """A regressor with a score of its own."""

    def score(self, X, y, sample_weight=None):
        return 0.5 - float(np.abs(self.predict(X) - y).mean())


def test_a_score_method_that_returns_r2_is_compared_by_rows():
    y = X[:, 1] + RANDOM_TARGETS
    models = {"mean": DummyRegressor(), "line": th.Ridge()}
    found = th.compare(models, X, y)
    named = th.compare(models, X, y, scoring="r2")
    assert found.pairs[0].test == named.pairs[0].test
    assert found.pairs[0].test.name == "t test over rows"
    assert found.evaluations["mean"].intervals["r2"] == named.evaluations["mean"].intervals["r2"]
    models["own"] = OwnScore()
    assert "corrected" in th.compare(models, X, y).pairs[0].test.name
    message = r"the score method of model 'own' is its own .* scoring='r2'"
    with pytest.raises(th.errors.ThetahatError, match=message):
        th.compare(models, X, y, test="rows")


def test_models_are_compared_by_the_first_of_several_metrics():
    data = th.datasets.make_linear(90, 3, noise=1.0, random_state=0)
    models = {"plain": th.LinearRegression(), "shrunk": th.Ridge(alpha=1e3)}
    metrics = ["neg_mean_absolute_error", "r2"]
    found = th.compare(models, data.X, data.y, scoring=metrics)
    alone = th.compare(models, data.X, data.y, scoring=metrics[0])
    assert found.metric == metrics[0]
    assert list(found.evaluations["plain"].intervals) == metrics
    assert found.pairs[0].difference == alone.pairs[0].difference
