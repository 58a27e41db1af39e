"""Rows whose differences vanish or overflow in squares."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import thetahat as th


def rows():
    return np.random.default_rng(0).normal(size=(40, 3))


MEASURED = [
    th.NearestNeighbors(),
    th.NearestNeighbors(algorithm="brute", metric="euclidean"),
    th.NearestNeighbors(metric="minkowski", metric_params={"w": [1.0, 2.0, 0.5]}),
    th.NearestNeighbors(p=3),
    th.NearestNeighbors(p=0.7, algorithm="brute"),
]
"""Searches that measure distances again where their powers under- or overflow."""
REFUSING = [
    th.NearestNeighbors(metric="seuclidean"),
    th.NearestNeighbors(metric="mahalanobis"),
    th.NearestNeighbors(metric="nan_euclidean"),
    th.NadarayaWatson(),
    th.NadarayaWatson(1.0),
    th.NadarayaWatsonClassifier(),
    th.LocallyWeightedRegression(1.0),
    th.LocallyWeightedRegression(1.0, metric="manhattan"),
]
"""Models that form variances, or sums over rows, of powers."""
TAKING = [
    *MEASURED,
    th.NearestNeighbors(metric="sqeuclidean"),
    th.KNeighborsClassifier(),
    th.RadiusNeighborsClassifier(),
]


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-560, 2.0**530, 2.0**1000])
@pytest.mark.parametrize(
    ("model", "to_matrix"),
    [
        *((model, np.asarray) for model in MEASURED),
        *((model, sp.csr_array) for model in MEASURED if not model.metric_params),
    ],
    ids=repr,
)
def test_neighbours_do_not_depend_on_the_unit(model, unit, to_matrix):
    X, queries = rows(), rows()[::-1] + 0.01
    X[7] = X[3]
    model = clone(model).set_params(radius=1.0)
    near, around, own, counts = answers(model.fit(X), queries, 1.0)
    found = answers(model.fit(to_matrix(unit * X)), to_matrix(unit * queries), unit)
    np.testing.assert_array_equal(found[0][1], near[1])
    np.testing.assert_allclose(found[0][0] / unit, near[0], rtol=1e-12)
    for one, other in zip(found[1][1], around[1], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(found[1][0], around[0], strict=True):
        np.testing.assert_allclose(one / unit, other, rtol=1e-12)
    np.testing.assert_array_equal(found[2][1], own[1])
    np.testing.assert_array_equal(found[3], counts)


def answers(model, queries, unit):
    return (
        model.kneighbors(queries, 7),
        model.radius_neighbors(queries, 0.9 * unit, sort_results=True),
        model.kneighbors(),
        np.diff(model.radius_neighbors_graph(queries, 0.0).indptr),
    )


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
@pytest.mark.parametrize("tiny", [2.0**-700, 2.0**700])
def test_groups_in_two_units(algorithm, tiny):
    """No unit of the whole table serves both groups."""
    X = rows()
    both = np.vstack([X[:20] * tiny, X[20:]])
    far, near = th.NearestNeighbors(n_neighbors=6, algorithm=algorithm).fit(both).kneighbors(both)
    alike = X[:20] if tiny < 1 else np.vstack([X[:20], 0 * X[20:]])
    expected, group = th.NearestNeighbors(n_neighbors=6).fit(alike).kneighbors(X[:20])
    np.testing.assert_array_equal(near[:20], group)
    np.testing.assert_allclose(far[:20] / tiny, expected, rtol=1e-12)
    tree = th.KDTree(both)
    row = tree.query(both[:20], 6, return_distance=False)
    np.testing.assert_array_equal(row, group)
    found = tree.query_radius(both[:20], 0.9 * tiny)
    counts = tree.query_radius(both[:20], 0.9 * tiny, count_only=True)
    within = th.KDTree(alike).query_radius(X[:20], 0.9)
    for i in range(20):
        np.testing.assert_array_equal(found[i], within[i])
    np.testing.assert_array_equal(counts, [len(each) for each in within])


def test_predictions_do_not_depend_on_the_unit():
    X, y = rows(), np.random.default_rng(1).normal(size=40)
    for model in (
        th.KNeighborsRegressor(weights="distance"),
        th.RadiusNeighborsRegressor(2.0, weights="distance"),
        th.KNeighborsClassifier(weights="distance"),
        th.LocalOutlierFactor(5, novelty=True),
    ):
        target = y > 0 if isinstance(model, th.KNeighborsClassifier) else y
        expected = model.fit(X, target).predict(X + 0.01)
        for unit in (2.0**-900, 2.0**-600, 2.0**600):
            scaled = clone(model)
            if hasattr(model, "radius"):
                scaled.set_params(radius=2.0 * unit)
            found = scaled.fit(unit * X, target).predict(unit * (X + 0.01))
            np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1000])
@pytest.mark.parametrize(
    "model",
    [
        th.CondensedNearestNeighbors(random_state=0),
        th.PrototypeClassifier(),
        th.PrototypeClassifier(n_prototypes=3, random_state=0),
        th.VoronoiEditing(method="delaunay"),
        th.VoronoiEditing(method="hull"),
    ],
    ids=repr,
)
def test_fewer_rows_do_not_depend_on_the_unit(model, unit):
    X, y = rows()[:, :2], rows()[:, 2] > 0
    expected = model.fit(X, y).predict(X + 0.01)
    np.testing.assert_array_equal(model.fit(unit * X, y).predict(unit * (X + 0.01)), expected)
    if hasattr(model, "sample_indices_"):
        kept = model.sample_indices_
        np.testing.assert_array_equal(clone(model).fit(X, y).sample_indices_, kept)


def test_distances_whose_inverse_overflows():
    X, y = rows(), np.random.default_rng(1).normal(size=40)
    for model in (
        th.KNeighborsRegressor(weights="distance", metric="manhattan"),
        th.RadiusNeighborsRegressor(2.0**-1029, weights="distance", metric="manhattan"),
    ):
        found = model.fit(2.0**-1030 * X, y).predict(2.0**-1030 * (X + 0.1))
        if hasattr(model, "radius"):
            model.set_params(radius=2.0)
        np.testing.assert_allclose(found, model.fit(X, y).predict(X + 0.1), rtol=1e-9)
    with pytest.raises(th.errors.DataError, match=r"densities.*Rescale"):
        th.LocalOutlierFactor().fit(2.0**-1030 * X)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_averages_of_targets_near_the_largest_number(weights):
    X, y = rows(), 1e300 * np.sign(rows()[:, 0])
    for model in (
        th.KNeighborsRegressor(weights=weights),
        th.RadiusNeighborsRegressor(2.0, weights=weights),
    ):
        expected = model.fit(X, y / 1e300).predict(X + 1e-12)
        np.testing.assert_allclose(model.fit(X, y).predict(X + 1e-12) / 1e300, expected)


@pytest.mark.parametrize("scale", [1e-160, 1e-300])
@pytest.mark.parametrize("model", REFUSING, ids=repr)
def test_rows_whose_squares_underflow_are_refused(model, scale):
    X = rows()
    with pytest.raises(th.errors.DataError, match=r"underflow.*[Rr]escale"):
        model.fit(X * scale, X[:, 0] > 0)


@pytest.mark.parametrize("tree", [th.KDTree, th.BallTree])
def test_densities_of_trees_refuse_them_also(tree):
    X = rows() * 1e-300
    with pytest.raises(th.errors.DataError, match=r"underflow.*Rescale"):
        tree(X).kernel_density(X, 1.0)


def test_a_constant_column_or_zeros_hide_no_tiny_differences():
    X = np.column_stack([np.ones(40), rows() * 1e-300])
    expected = th.NearestNeighbors().fit(rows()).kneighbors()[1]
    for each in (X, sp.csr_array(X)):
        np.testing.assert_array_equal(th.NearestNeighbors().fit(each).kneighbors()[1], expected)


@pytest.mark.parametrize("value", [0.0, 1e-300, 7.0])
@pytest.mark.parametrize(
    "model", [m for m in TAKING + REFUSING if "mahalanobis" not in repr(m)], ids=repr
)
def test_equal_rows_stay_allowed(model, value):
    assert model.fit(np.full((40, 3), value), np.arange(40) % 2).n_features_in_ == 3


def test_few_tiny_entries_beside_others_are_measured():
    X = rows()
    X[:5] *= 1e-200
    distance, _ = th.NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X)
    np.testing.assert_array_equal(distance[:5, :5] > 0, [[False] + [True] * 4] * 5)


def test_distances_without_powers_take_tiny_rows():
    X = rows()
    for metric in ("manhattan", "chebyshev", "cosine"):
        near = th.NearestNeighbors(metric=metric)
        expected = near.fit(X).kneighbors(X)[1]
        tiny = X * 2.0**-1000
        np.testing.assert_array_equal(near.fit(tiny).kneighbors(tiny)[1], expected)


@pytest.mark.parametrize("scale", [2.0**-100, 2.0**80])
@pytest.mark.parametrize("to_matrix", [np.asarray, sp.csr_array])
def test_single_precision_products_do_not_overflow(scale, to_matrix):
    X = np.random.default_rng(0).normal(size=(3000, 30)).astype(np.float32)
    near = th.NearestNeighbors(algorithm="brute")
    expected = near.fit(X).kneighbors(X[:50])[1]
    scaled = X * np.float32(scale)
    found = near.fit(to_matrix(scaled)).kneighbors(to_matrix(scaled[:50]))[1]
    np.testing.assert_array_equal(found, expected)


def test_local_fits_refuse_kernels_with_negative_values():
    X = rows()
    with pytest.raises(th.errors.ParameterError, match=r"Silverman.*negative.*'gaussian'"):
        th.LocallyWeightedRegression(0.1, "silverman").fit(X, X[:, 0])
    model = th.LocallyWeightedRegression(1.0, "silverman", degree=0).fit(X, X[:, 0])
    np.testing.assert_allclose(
        model.predict(X), th.NadarayaWatson(1.0, "silverman").fit(X, X[:, 0]).predict(X)
    )
