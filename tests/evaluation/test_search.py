"""Searching parameters: scikit-learn's scores, the choice, and how sure it is."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline

import thetahat as th
from thetahat.evaluation.folds import RESAMPLES, folds_of

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((200, 6))
Y = X @ [1.0, -2.0, 0.5, 0.0, 0.0, 0.0] + 2 * RANDOM.standard_normal(200)
LABELS = np.where(Y > 0, "yes", "no")
ALPHAS = [1000.0, 100.0, 10.0, 1.0]


def test_scores_and_choice_are_those_of_scikit_learns_search():
    folds = KFold(4, shuffle=True, random_state=1)
    grid = [{"alpha": ALPHAS}, {"alpha": [0.1], "fit_intercept": [True, False]}]
    found = th.search(th.Ridge(), grid, X, Y, cv=folds)
    peer = GridSearchCV(th.Ridge(), grid, cv=folds).fit(X, Y)
    means = [each.scores["r2"].mean() for each in found.evaluations]
    np.testing.assert_allclose(means, peer.cv_results_["mean_test_score"])
    assert list(found.settings) == peer.cv_results_["params"]
    assert found.best == found.chosen == peer.best_params_
    np.testing.assert_allclose(found.model.coef_, peer.best_estimator_.coef_)


def test_one_standard_error_takes_the_first_that_is_close():
    alphas = [1000.0, 100.0, 30.0, 10.0, 1.0]
    found = th.search(th.Ridge(), {"alpha": alphas}, X, Y, choose="one_standard_error")
    scores = np.array([each.scores["r2"] for each in found.evaluations])
    best = scores.mean(axis=1).argmax()
    least = scores[best].mean() - scores[best].std(ddof=1) / np.sqrt(5)
    first = int(np.flatnonzero(scores.mean(axis=1) >= least)[0])
    assert found.chosen == found.first_within_error == {"alpha": alphas[first]}
    assert first < best
    assert found.model.alpha == alphas[first]


def test_models_that_cannot_be_distinguished_are_named():
    found = th.search(th.Ridge(), {"alpha": [1.0, 1.0001, 1e5]}, X, Y)
    assert sorted(each["alpha"] for each in [found.best, *found.not_worse]) == [1.0, 1.0001]
    assert "alpha=1.0001 and alpha=1.0 are practically equal" in found.sentence
    assert "Of 2 other settings, 1 cannot be distinguished" in found.sentence
    sure = th.search(th.Ridge(), {"alpha": [1.0, 1e5]}, X, Y)
    assert sure.not_worse == []
    assert "alpha=1.0 is better than alpha=100000.0 by" in sure.sentence
    assert "* alpha=1.0 " in str(sure)


def test_the_best_is_tested_against_all_others_with_adjusted_p_values():
    found = th.search(th.Ridge(), {"alpha": ALPHAS}, X, Y)
    pair = next(pair for pair in found.pairs if pair.worse == "alpha=100.0")
    alone = th.search(th.Ridge(), {"alpha": [found.best["alpha"], 100.0]}, X, Y).pairs[0]
    assert len(found.pairs) == 3
    assert pair.test.statistic == pytest.approx(alone.test.statistic)
    assert pair.test.p >= alone.test.p


def test_bootstrap_trains_on_drawn_rows_and_scores_the_others():
    folds = folds_of("bootstrap", X, Y, classifier=False, random_state=3)
    assert len(folds) == RESAMPLES
    for train, test in folds:
        assert len(train) == len(X)
        assert not set(train) & set(test)
        assert set(train) | set(test) == set(range(len(X)))
    found = th.search(th.Ridge(), {"alpha": ALPHAS}, X, Y, cv="bootstrap", random_state=3)
    train, test = folds[4]
    score = th.Ridge(alpha=10.0).fit(X[train], Y[train]).score(X[test], Y[test])
    assert found.evaluations[2].scores["r2"][4] == pytest.approx(score)
    assert found.best["alpha"] < 1000


def test_classifiers_pipelines_metrics_and_weights():
    random = np.random.default_rng(1)
    model = make_pipeline(th.Standardizer(), th.LogisticRegression())
    grid = {"logisticregression__C": [1e-4, 1.0]}
    found = th.search(model, grid, X, LABELS, scoring="roc_auc", refit=False)
    assert found.metric == "roc_auc"
    assert found.model is None
    assert found.evaluations[0].intervals["roc_auc"].method == "DeLong over rows"
    weight = random.random(200)
    weighted = th.search(th.Ridge(), {"alpha": [1.0, 2.0]}, X, Y, sample_weight=weight)
    expected = th.Ridge(**weighted.best).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(weighted.model.coef_, expected.coef_)


def test_tree_depth_and_pruning_level():
    """Depth 10 and depth 15 are the same tree of a rule that six splits tell."""
    random = np.random.default_rng(2)
    inside = (np.abs(X[:, 0]) < 1) & (np.abs(X[:, 1]) < 1)
    grid = {"max_depth": [1, 10, 15], "random_state": [0]}
    found = th.search(th.DecisionTreeClassifier(), grid, X[:, :2], inside, cv=4)
    assert found.best == {"max_depth": 10, "random_state": 0}
    assert found.model.get_depth() <= 10
    np.testing.assert_array_equal(*(each.scores["accuracy"] for each in found.evaluations[1:]))
    noisy = inside ^ (random.random(200) < 0.25)
    pruned = {"ccp_alpha": [0.02, 0.0]}
    cut = th.search(th.DecisionTreeClassifier(random_state=0), pruned, X, noisy, cv="bootstrap")
    assert cut.best == {"ccp_alpha": 0.02}
    assert cut.model.get_n_leaves() < 30


TWO_HILLS = np.concatenate(
    [
        np.random.default_rng(3).normal(-3, 0.5, (150, 1)),
        np.random.default_rng(4).normal(2, 1, (150, 1)),
    ]
)


@pytest.mark.parametrize(
    ("model", "grid", "best"),
    [
        (th.DensityTree(bounds=[(-8, 8)]), {"max_leaf_nodes": [1, 10]}, 10),
        (
            th.DensityForest(10, bounds=[(-8, 8)], random_state=0),
            {"max_leaf_nodes": [1, 10]},
            10,
        ),
        (KernelDensity(), {"bandwidth": [0.01, 0.3, 5.0]}, 0.3),
        (GaussianMixture(random_state=0), {"n_components": [1, 2]}, 2),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_density_models_are_searched_by_the_likelihood_of_held_out_rows(model, grid, best):
    folds = KFold(4, shuffle=True, random_state=1)
    found = th.search(model, grid, TWO_HILLS, cv=folds)
    peer = GridSearchCV(model, grid, cv=folds).fit(TWO_HILLS)
    means = [each.scores[found.metric].mean() for each in found.evaluations]
    np.testing.assert_allclose(means, peer.cv_results_["mean_test_score"])
    assert found.best == found.chosen == peer.best_params_ == dict.fromkeys(grid, best)
    np.testing.assert_allclose(found.model.score(TWO_HILLS), peer.score(TWO_HILLS))


class MeanOfNearest(RegressorMixin, BaseEstimator):
    """A model written by a user: the mean of the k nearest rows by distances of order p."""

    def __init__(self, k=1, p=2.0):
        self.k = k
        self.p = p

    def fit(self, X, y):
        self.rows_, self.targets_ = X, y
        return self

    def predict(self, X):
        apart = (np.abs(X[:, None] - self.rows_) ** self.p).sum(axis=2)
        return self.targets_[np.argsort(apart, axis=1)[:, : self.k]].mean(axis=1)


def test_any_parameter_of_any_model():
    """Neighbours, components and rates of models from anywhere, also inside a pipeline."""
    folds = KFold(3, shuffle=True, random_state=0)
    for model, grid in (
        (MeanOfNearest(), {"k": [1, 10], "p": [1.0, 2.0]}),
        (make_pipeline(PCA(), th.Ridge()), {"pca__n_components": [1, 6]}),
        (
            th.GradientBoostingRegressor(random_state=0),
            {"learning_rate": [1e-4, 0.1], "n_estimators": [20]},
        ),
    ):
        found = th.search(model, grid, X, Y, cv=folds)
        peer = GridSearchCV(model, grid, cv=folds).fit(X, Y)
        means = [each.scores["r2"].mean() for each in found.evaluations]
        np.testing.assert_allclose(means, peer.cv_results_["mean_test_score"])
        assert list(found.settings) == peer.cv_results_["params"]
        assert found.best == found.chosen == peer.best_params_
        np.testing.assert_allclose(found.model.predict(X), peer.predict(X))


def test_values_that_print_alike_stay_apart():
    class Plain:
        def __repr__(self):
            return "prior"

    found = th.search(th.Ridge(), {"alpha": [1, 1.0], "random_state": [None]}, X, Y)
    assert len({each.name for each in found.evaluations}) == 2
    alike = th.search(th.Ridge(), {"random_state": [Plain(), Plain()]}, X, Y, refit=False)
    assert [each.name for each in alike.evaluations] == [
        "random_state=prior (0)",
        "random_state=prior (1)",
    ]


def test_the_picture():
    pytest.importorskip("matplotlib").use("Agg")
    axes = th.search(th.Ridge(), {"alpha": ALPHAS}, X, Y).plot()
    assert [label.get_text() for label in axes.get_xticklabels()] == [f"alpha={a}" for a in ALPHAS]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grid": {}}, "grid is empty"),
        ({"grid": {"alpha": []}}, "sequences of values"),
        ({"grid": {"alpha": 1.0}}, "sequences of values"),
        ({"grid": "alpha"}, "sequences of values"),
        ({"choose": "first"}, "choose='first'"),
        ({"cv": "loo"}, "cv='loo'"),
        ({"scoring": ["r2", "neg_max_error"]}, "one at a time"),
    ],
    ids=["empty", "no values", "a number", "a name", "choose", "cv", "two metrics"],
)
def test_refusals(arguments, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        th.search(th.Ridge(), **{"grid": {"alpha": [1.0]}, "X": X, "y": Y} | arguments)


def test_an_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match="alhpa"):
        th.search(th.Ridge(), {"alhpa": [1.0]}, X, Y)


class FailsAbove(th.Ridge):
    """Cannot be fitted with a large alpha."""

    def fit(self, X, y=None, sample_weight=None):
        if self.alpha > 1:
            raise th.errors.DataError(f"alpha {self.alpha} is too large for this model.")
        return super().fit(X, y, sample_weight)


def test_a_setting_that_fails_is_left_out_with_a_warning():
    data = th.datasets.make_linear(60, 3, noise=1.0, random_state=0)
    with pytest.warns(FitFailedWarning, match=r"1 of 3 settings .* alpha=5.0: DataError"):
        found = th.search(FailsAbove(), {"alpha": [5.0, 1.0, 0.1]}, data.X, data.y)
    assert [each["alpha"] for each in found.settings] == [1.0, 0.1]
    assert found.failures[0][0] == {"alpha": 5.0}
    assert "too large" in str(found.failures[0][1])
    assert "alpha=5.0  failed: DataError" in str(found)
    alone = th.search(FailsAbove(), {"alpha": [1.0, 0.1]}, data.X, data.y)
    assert found.best == alone.best
    for a, b in zip(found.evaluations, alone.evaluations, strict=True):
        np.testing.assert_array_equal(a.scores["r2"], b.scores["r2"])


def test_if_all_settings_fail_the_first_error_is_raised():
    data = th.datasets.make_linear(60, 3, noise=1.0, random_state=0)
    with pytest.raises(th.errors.DataError, match=r"alpha 7\.0 is too large"):
        th.search(FailsAbove(), {"alpha": [7.0, 5.0]}, data.X, data.y)
