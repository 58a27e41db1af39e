"""Nearest class means: the rule, shrunken centroids, and the Gaussian model behind them."""

import numpy as np
import pytest
import sklearn.neighbors as peer

import thetahat as th
from tests.models.generative.generative_cases import IRIS, gaussians


def test_the_nearest_mean_wins():
    X, y = gaussians(classes=4)
    model = th.NearestCentroid().fit(X, y)
    means = np.stack([X[y == c].mean(axis=0) for c in range(4)])
    np.testing.assert_allclose(model.centroids_, means, rtol=1e-12)
    distance = ((X[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.predict(X), distance.argmin(axis=1))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shrink_threshold": 0.5},
        {"priors": "empirical"},
        {"priors": [0.2, 0.3, 0.5], "shrink_threshold": 2.0},
        {"metric": "manhattan"},
        {"metric": "manhattan", "priors": [0.2, 0.3, 0.5], "shrink_threshold": 0.2},
    ],
    ids=str,
)
def test_equals_scikit_learn(options):
    X, y = IRIS[0][10:], IRIS[1][10:]
    ours, theirs = (
        th.NearestCentroid(**options).fit(X, y),
        peer.NearestCentroid(**options).fit(X, y),
    )
    for name in ("centroids_", "deviations_", "within_class_std_dev_", "class_prior_"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12
        )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if "metric" not in options:
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), rtol=1e-9
        )


def test_probabilities_follow_bayes_rule_for_gaussians_at_the_centroids():
    """p(c | x) ∝ π_c exp(−½ Σ (x − μ)²/s²), half the exponent of scikit-learn's."""
    X, y = IRIS
    model = th.NearestCentroid(priors=[0.2, 0.3, 0.5]).fit(X, y)
    scaled = (X[:, None] - model.centroids_) / model.within_class_std_dev_
    logs = np.log([0.2, 0.3, 0.5]) - 0.5 * (scaled**2).sum(axis=2)
    shares = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
    np.testing.assert_allclose(model.predict_proba(X), shares, atol=1e-12)
    constant = np.log(model.within_class_std_dev_).sum() + 2 * np.log(2 * np.pi)
    np.testing.assert_allclose(model.log_density(X), np.logaddexp.reduce(logs, axis=1) - constant)


def test_weighted_medians_equal_repeated_rows():
    X, y = IRIS
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    once = th.NearestCentroid(metric="manhattan").fit(X, y, sample_weight=weight)
    again = th.NearestCentroid(metric="manhattan").fit(
        np.repeat(X, weight, 0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(once.centroids_, again.centroids_)


def test_a_large_threshold_leaves_no_column():
    model = th.NearestCentroid(shrink_threshold=1e3).fit(*IRIS)
    assert (model.deviations_ == 0).all()
    np.testing.assert_allclose(model.centroids_, np.tile(IRIS[0].mean(axis=0), (3, 1)))


def test_a_column_that_is_constant_within_classes_is_named():
    X = np.column_stack([IRIS[0], IRIS[1] * 1.0])
    with pytest.warns(UserWarning, match="zero standard deviation, of column 4"):
        model = th.NearestCentroid().fit(X, IRIS[1])
    assert np.isfinite(model.log_density(X)).all()


def test_one_row_per_class():
    with pytest.warns(UserWarning, match="zero standard deviation"):
        model = th.NearestCentroid().fit([[0.0, 1.0], [4.0, 2.0]], ["a", "b"])
    assert model.predict([[1.0, 1.0], [3.9, 0.0]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba", "decision_function"])
def test_manhattan_has_no_probabilities(method):
    model = th.NearestCentroid(metric="manhattan").fit(*IRIS)
    assert not hasattr(model, method)


def test_manhattan_has_no_density_and_no_batches():
    model = th.NearestCentroid(metric="manhattan").fit(*IRIS)
    with pytest.raises(TypeError, match='need metric="euclidean"'):
        model.log_density(IRIS[0])
    with pytest.raises(TypeError, match="previous fit kept no summary"):
        model.partial_fit(*IRIS)
    with pytest.raises(TypeError, match="medians"):
        th.NearestCentroid(metric="manhattan").partial_fit(*IRIS, classes=[0, 1, 2])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "cosine"}, "metric='cosine' must be one of"),
        ({"shrink_threshold": 0.0}, "shrink_threshold"),
        ({"priors": "equal"}, "priors='equal'"),
        ({"priors": [0.5, 0.5]}, "priors has shape"),
        ({"priors": [-0.5, 1.0, 0.5]}, "priors must be non-negative"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        th.NearestCentroid(**options).fit(*IRIS)


@pytest.mark.parametrize("priors", ["uniform", "empirical"])
def test_sums_of_absolute_differences_leave_missing_values_out(priors):
    X, y = gaussians()
    model = th.NearestCentroid(metric="manhattan", priors=priors).fit(X, y)
    rows = X[:40].copy()
    rows[::3, 0] = np.nan
    spread = 1.0 if priors == "uniform" else model.within_class_std_dev_
    away = np.nansum(np.abs((rows[:, None] - model.centroids_) / spread), axis=2)
    level = 0.0 if priors == "uniform" else 2.0 * np.log(model.class_prior_)
    near = -away if priors == "uniform" else level - away**2
    np.testing.assert_array_equal(model.predict(rows), model.classes_[near.argmax(axis=1)])
