"""Distances, weights and other functions of the user that return what they should not."""

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import DataError, ParameterError

ROWS, NUMBERS, CLASSES = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 4.0, 8.0], [0, 0, 1, 1]


def always_far(x, z):
    return np.inf


def near_or_far(x, z):
    between = abs(x[0] - z[0])
    return between if between < 1.5 else np.inf


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", th.smoothing.Nearest(4)])
@pytest.mark.parametrize("model", [th.NadarayaWatson, th.LocallyWeightedRegression])
def test_all_rows_are_averaged_if_all_are_at_infinite_distance(model, kernel):
    fitted = model(1.0, kernel=kernel, metric=near_or_far).fit(ROWS, NUMBERS)
    np.testing.assert_allclose(fitted.predict([[10.0]]), [3.75])
    assert np.isfinite(fitted.predict([[0.0], [1.2]])).all()
    voting = th.NadarayaWatsonClassifier(1.0, kernel=kernel, metric=always_far)
    np.testing.assert_allclose(voting.fit(ROWS, CLASSES).predict_proba([[0.0]]), [[0.5, 0.5]])


def test_prototypes_at_infinite_distance_are_a_tie():
    model = th.CondensedNearestNeighbors(metric=always_far, random_state=0).fit(ROWS, CLASSES)
    np.testing.assert_array_equal(model.decision_function(ROWS), np.zeros(4))


def test_a_row_without_near_ones_has_no_outlier_factor():
    with pytest.raises(DataError, match="row 0 has fewer than 2 rows at a finite distance"):
        th.LocalOutlierFactor(2, metric=near_or_far).fit(ROWS)
    model = th.LocalOutlierFactor(1, metric=near_or_far, novelty=True).fit(ROWS)
    assert model.score_samples([[10.0]])[0] == -np.inf


@pytest.mark.parametrize(
    "model",
    [
        th.KNeighborsRegressor(2),
        th.KNeighborsClassifier(2),
        th.RadiusNeighborsRegressor(1.5),
        th.RadiusNeighborsClassifier(1.5),
    ],
)
def test_neighbours_of_infinite_weight_count_alone(model):
    y = NUMBERS if hasattr(model, "score") and "Regressor" in type(model).__name__ else CLASSES
    with np.errstate(divide="ignore"):
        model.set_params(weights=lambda distance: 1 / distance).fit(ROWS, y)
        np.testing.assert_array_equal(model.predict(ROWS), y)
    model.set_params(weights=lambda distance: np.full(distance.shape, 1e308))
    found = model.predict([[0.4], [2.6]])
    even = model.set_params(weights="uniform").predict([[0.4], [2.6]])
    np.testing.assert_allclose(found, even)


@pytest.mark.parametrize(
    "weights", [lambda distance: distance + 1j, lambda distance: np.ma.masked_less(distance, 9.0)]
)
def test_weights_that_are_no_real_numbers_are_refused(weights):
    model = th.KNeighborsRegressor(2, weights=weights).fit(ROWS, NUMBERS)
    with pytest.raises(ParameterError, match="must return numbers"):
        model.predict(ROWS)


def test_similarities_are_checked_and_leave_the_rows_alone():
    X = np.array(ROWS)
    for wrong in (
        lambda A, B: A @ B.T + 1j,
        lambda A, B: np.full((len(A), len(B)), "a"),
        lambda A, B: [[1.0], [2.0, 3.0]],
    ):
        with pytest.raises(ParameterError, match="the function similarity returned"):
            th.SimilarityFeatures(wrong).fit_transform(X)

    def overwrites(A, B):
        A[:] = 7.0
        return A @ B.T

    with pytest.raises(ValueError, match="read-only"):
        th.SimilarityFeatures(overwrites).fit_transform(X)
    np.testing.assert_array_equal(X, ROWS)


def test_a_callback_cannot_change_the_metric():
    X = np.random.default_rng(0).standard_normal((30, 3))
    y = (X[:, 0] > 0).astype(int)
    plain = th.NeighborhoodComponentsAnalysis(max_iter=3, random_state=0).fit(X, y)
    seen = []

    def overwrites(theta, step):
        theta[:] = np.nan
        seen.append(step)

    model = th.NeighborhoodComponentsAnalysis(callback=overwrites, max_iter=3, random_state=0)
    np.testing.assert_array_equal(model.fit(X, y).components_, plain.components_)
    assert seen
