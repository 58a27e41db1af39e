"""Held-out likelihoods of density models: scores, intervals, and densities that are 0."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold

import thetahat as th
from thetahat.catalog import estimators
from thetahat.evaluation.cross_fitting import is_density_model

ROWS = np.random.default_rng(0).standard_normal((150, 2))
FOLDS = KFold(5)


class OnlyDensity(BaseEstimator):
    """A density model without any other output, such as `predict`."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y=None):
        self.fitted_ = clone(self.model).fit(X)
        return self

    def log_density(self, X):
        return self.fitted_.log_density(X)


WITH_LABELS = [
    model
    for model in (kind._example() for kind in estimators().values())
    if is_density_model(model) and hasattr(model, "predict")
]


def test_there_are_density_models_that_predict():
    names = {type(each).__name__ for each in WITH_LABELS}
    assert {"GaussianMixture", "BayesianGaussianMixture", "EllipticEnvelope"} <= names


@pytest.mark.parametrize("model", WITH_LABELS, ids=lambda each: type(each).__name__)
def test_intervals_come_from_the_likelihoods_not_the_labels(model):
    """`predict` numbers the components; the score is the mean log density of the rows."""
    if "random_state" in model.get_params():
        model = clone(model).set_params(random_state=0)
    found, plain = (
        th.evaluate(model, ROWS, cv=FOLDS),
        th.evaluate(OnlyDensity(model), ROWS, cv=FOLDS),
    )
    assert found.intervals == plain.intervals
    logs = np.empty(len(ROWS))
    for train, test in FOLDS.split(ROWS):
        logs[test] = clone(model).fit(ROWS[train]).log_density(ROWS[test])
    interval = found.intervals["log_likelihood"]
    assert interval.estimate == pytest.approx(logs.mean())
    half = stats.t.ppf(0.975, 149) * logs.std(ddof=1) / np.sqrt(150)
    assert interval.high - interval.low == pytest.approx(2 * half, rel=0.35)
    np.testing.assert_array_equal(
        np.concatenate([fit.row_values["log_likelihood"].values for fit in found.fits]), logs
    )


def test_a_search_compares_settings_by_their_likelihoods():
    hills = np.concatenate([ROWS - 4, ROWS + 4])[np.random.default_rng(1).permutation(300)]
    grid = {"n_components": [1, 2]}
    found = th.search(th.GaussianMixture(random_state=0), grid, hills, cv=FOLDS)
    first, second = (
        np.concatenate([fit.row_values["log_likelihood"].values for fit in each.fits])
        for each in found.evaluations
    )
    (pair,) = found.pairs
    difference = second - first
    error = difference.std(ddof=1) / np.sqrt(300)
    assert found.best == {"n_components": 2}
    assert pair.test.rejects
    low, high = pair.difference.low, pair.difference.high
    assert (low + high) / 2 == pytest.approx(difference.mean(), rel=0.05)
    assert high - low == pytest.approx(2 * 1.97 * error, rel=0.35)


def test_the_sum_of_distances_has_an_interval_over_folds():
    """The score of KMeans is a sum over rows, not a mean: its interval is that of the folds."""
    model = th.KMeans(3, random_state=0)
    found = th.evaluate(model, ROWS, cv=FOLDS)
    scores = np.array([clone(model).fit(ROWS[a]).score(ROWS[b]) for a, b in FOLDS.split(ROWS)])
    half = stats.t.ppf(0.975, 4) * scores.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4)
    interval = found.intervals["score"]
    np.testing.assert_allclose(
        [interval.low, interval.high], [scores.mean() - half, scores.mean() + half]
    )


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        (th.Histogram(20), "bounds=.* or a larger margin .*, and smoothing=1 for empty bins"),
        (th.DensityTree(max_leaf_nodes=3), "bounds=.* or a larger margin"),
        (th.KernelDensity(bandwidth=0.01, kernel="tophat"), "larger bandwidth or kernel="),
    ],
)
def test_a_density_of_zero_is_refused_with_a_way_that_helps(model, remedy):
    with pytest.raises(th.errors.DataError, match=f"is 0 at .* of fold .*{remedy}") as caught:
        th.evaluate(model, ROWS, cv=FOLDS)
    assert ("smoothing" in str(caught.value)) == hasattr(model, "smoothing")


def test_the_bins_of_a_histogram_are_searched_as_the_refusal_says():
    column, grid = ROWS[:, :1], {"bins": [5, 10, 20]}
    with pytest.raises(th.errors.DataError, match="smoothing=1"):
        th.search(th.Histogram(), grid, column)
    found = th.search(th.Histogram(bounds=[(-5, 5)], smoothing=1), grid, column)
    assert len(found.evaluations) == 3
    assert np.isfinite([each.scores["log_likelihood"].mean() for each in found.evaluations]).all()
