"""Approximate neighbours: recall, exact distances, the same result for any number of threads."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.models.neighbors.search.graph import NeighborGraph


def draw(kind="normal", n=2500, d=20, seed=0):
    random = np.random.default_rng(seed)
    if kind == "clusters":  # far apart, so that walks must find the right one
        return random.standard_normal((100, d))[random.integers(0, 100, n)] * 100 + draw(n=n, d=d)
    if kind == "repeated":
        return np.repeat(random.standard_normal((n // 20, d)), 20, axis=0)
    if kind == "far from zero":
        return 1e7 + draw(n=n, d=d)
    return random.standard_normal((n, d))


def recall(found, rows, queries, **options):
    """The share of the found rows that are as near as the true neighbours."""
    k = found[0].shape[1]
    exact = th.NearestNeighbors(n_neighbors=k, algorithm="brute", **options).fit(rows)
    farthest = exact.kneighbors(queries)[0][:, -1:]
    return float(np.mean(found[0] <= farthest * (1 + 1e-12)))


@pytest.mark.parametrize("kind", ["normal", "clusters", "repeated", "far from zero"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_finds_most_of_the_true_neighbours(kind, metric):
    rows, queries = np.split(draw(kind)[np.random.default_rng(1).permutation(2500)], [2200])
    search = th.NearestNeighbors(n_neighbors=10, algorithm="approximate", metric=metric).fit(rows)
    assert recall(search.kneighbors(queries), rows, queries, metric=metric) >= 0.94


def test_a_wanted_recall_is_reached_by_wider_walks():
    rows, queries = np.split(draw(d=24), [2200])
    widths = []
    for wanted in (0.8, 0.99):
        algorithm = th.ApproximateSearch(recall=wanted, n_links=12, width=16)
        search = th.NearestNeighbors(n_neighbors=10, algorithm=algorithm).fit(rows)
        assert recall(search.kneighbors(queries), rows, queries) >= wanted - 0.02
        assert search._index.graph.recall >= wanted
        widths.append(search._index.graph.width)
    assert widths[0] < widths[1]


@pytest.mark.slow
def test_recall_of_many_rows():
    rows, queries = np.split(draw(n=200_300, d=64).astype(np.float32), [200_000])
    search = th.NearestNeighbors(n_neighbors=10, algorithm="approximate").fit(rows)
    assert recall(search.kneighbors(queries), rows, queries) >= 0.94


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "sqeuclidean"])
def test_distances_have_the_bits_of_an_exact_search(dtype, metric):
    rows, queries = np.split(draw(n=800).astype(dtype), [700])
    options = dict(n_neighbors=700, metric=metric)
    distance, row = th.NearestNeighbors(**options, algorithm="brute").fit(rows).kneighbors(queries)
    by_row = np.take_along_axis(distance, np.argsort(row, axis=1), axis=1)
    search = th.NearestNeighbors(**options, algorithm="approximate").fit(rows)
    found, at = search.kneighbors(queries, n_neighbors=7)
    np.testing.assert_array_equal(found, np.take_along_axis(by_row, at, axis=1))
    assert found.dtype == dtype
    assert (np.diff(found, axis=1) >= 0).all()


def test_same_graph_and_neighbours_for_any_number_of_threads():
    rows, queries = np.split(draw(), [2200])
    found = []
    for threads in (1, 2, 5):
        with th.config(threads=threads):
            search = th.NearestNeighbors(algorithm="approximate").fit(rows)
            found.append((search._index.graph.links, *search.kneighbors(queries)))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)


def test_random_state_changes_the_graph():
    rows = draw(n=1500)
    links = [
        th.NearestNeighbors(algorithm=th.ApproximateSearch(random_state=seed))
        .fit(rows)
        ._index.graph.links
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(links[0], links[1])
    assert (links[0] != links[2]).any()


def test_rows_are_neighbours_of_others_but_not_of_themselves():
    rows = draw(n=2000, d=8)
    search = th.NearestNeighbors(n_neighbors=3, algorithm="approximate").fit(rows)
    _, row = search.kneighbors()
    assert (row != np.arange(2000)[:, None]).all()
    graph = search.kneighbors_graph(mode="distance")
    assert graph.nnz == 6000


def test_many_neighbours_few_rows_and_radii_are_exact():
    rows, queries = np.split(draw(n=1300, d=6), [1200])
    search = th.NearestNeighbors(algorithm="approximate").fit(rows)
    exact = th.NearestNeighbors(algorithm="brute").fit(rows)
    for k in (700, 1200):
        np.testing.assert_array_equal(
            search.kneighbors(queries, k)[1], exact.kneighbors(queries, k)[1]
        )
    for one, other in zip(
        search.radius_neighbors(queries, 1.5, return_distance=False),
        exact.radius_neighbors(queries, 1.5, return_distance=False),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    few = th.NearestNeighbors(algorithm="approximate").fit(rows[:50])
    assert few._index.graph is None
    assert few.kneighbors(queries)[1].shape == (100, 5)


def test_queries_at_any_distance_have_neighbours():
    rows = draw(n=1500, d=5)
    search = th.NearestNeighbors(algorithm="approximate").fit(rows)
    for far in (1e20, 1e100):
        distance, row = search.kneighbors(np.full((2, 5), far))
        assert np.isfinite(distance).all()
        assert (row < 1500).all()


def test_equal_rows_and_constant_columns():
    search = th.NearestNeighbors(algorithm="approximate").fit(np.ones((1200, 3)))
    distance, row = search.kneighbors(np.ones((4, 3)))
    assert not distance.any()
    assert all(len(set(each)) == 5 for each in row.tolist())


def test_classifier_and_regressor():
    X = draw(n=3000, d=12)
    y = X[:, 0] + X[:, 1]
    regressor = th.KNeighborsRegressor(10, algorithm="approximate").fit(X[:2500], y[:2500])
    assert regressor.score(X[2500:], y[2500:]) > 0.6
    classifier = th.KNeighborsClassifier(10, algorithm="approximate").fit(X[:2500], y[:2500] > 0)
    assert classifier.score(X[2500:], y[2500:] > 0) > 0.8


def test_settings_can_be_searched_and_cloned():
    model = th.KNeighborsClassifier(algorithm=th.ApproximateSearch())
    model.set_params(algorithm__recall=0.8)
    assert model.algorithm == th.ApproximateSearch(recall=0.8)
    assert model.get_params()["algorithm__recall"] == 0.8
    assert model.algorithm.n_links == 32


def test_saved_models_have_the_same_neighbours(tmp_path):
    X = draw(n=1500)
    model = th.NearestNeighbors(algorithm="approximate").fit(X)
    th.save(model, tmp_path / "model.theta")
    for again in (th.load(tmp_path / "model.theta"), pickle.loads(pickle.dumps(model))):
        for one, same in zip(model.kneighbors(X[:50]), again.kneighbors(X[:50]), strict=True):
            np.testing.assert_array_equal(one, same)


def test_damaged_graphs_are_refused():
    graph = th.NearestNeighbors(algorithm="approximate").fit(draw(n=1200, d=4))._index.graph
    for place, value in (((0, 0), 1200), ((3, 1), -2), ((5, 0), -1)):
        links = graph.links.copy()
        links[place] = value
        with pytest.raises(th.errors.DataError, match="link"):
            replace(graph, links=links)
    with pytest.raises(th.errors.DataError, match="entry"):
        replace(graph, entry=1200)
    with pytest.raises(th.errors.DataError, match="entry"):
        replace(graph, width=10**9)
    search = th.NearestNeighbors(algorithm="approximate").fit(draw(n=1300, d=4))
    with pytest.raises(th.errors.DataError, match="belong to the rows"):
        replace(search._index, graph=graph)
    with pytest.raises(th.errors.DataError, match="lacks"):
        NeighborGraph.__new__(NeighborGraph).__setstate__({"links": graph.links})


@pytest.mark.parametrize(
    ("model", "X", "words"),
    [
        (th.RadiusNeighborsRegressor(algorithm="approximate"), draw(n=30), "within a radius"),
        (th.NearestNeighbors(algorithm="approximate"), sp.eye_array(30), "dense rows"),
        (
            th.NearestNeighbors(algorithm="approximate", metric="chebyshev"),
            draw(n=30),
            "metric='chebyshev'",
        ),
        (
            th.NearestNeighbors(algorithm="approximate", metric="precomputed"),
            np.ones((30, 30)),
            "metric='precomputed'",
        ),
    ],
)
def test_what_a_graph_cannot_do_is_refused_with_a_remedy(model, X, words):
    with pytest.raises((th.errors.ParameterError, th.errors.CapabilityError), match=words) as found:
        model.fit(X, np.ones(30))
    assert "Use" in str(found.value)


@pytest.mark.parametrize(
    "options", [dict(recall=0), dict(recall=1), dict(n_links=3), dict(n_links=129), dict(width=4)]
)
def test_settings_out_of_range_are_refused(options):
    with pytest.raises(th.errors.ParameterError, match=next(iter(options))):
        th.ApproximateSearch(**options)


def test_rows_with_many_copies_are_linked_once(tmp_path):
    random = np.random.default_rng(0)
    X = np.r_[np.zeros((2000, 8)), random.normal(size=(2000, 8))][random.permutation(4000)]
    X[:7] = X[7]
    search = th.NearestNeighbors(algorithm=th.ApproximateSearch(recall=0.99)).fit(X)
    assert len(search._index.graph.links) < 2001
    exact = th.NearestNeighbors(algorithm="brute").fit(X)
    zero = np.flatnonzero(~X.any(axis=1))
    queries = np.r_[X[zero[:1]], X[:1], 0.3 * X[-60:], random.normal(size=(60, 8))]
    for k in (3, 10, 100):
        assert recall(search.kneighbors(queries, k), X, queries) >= 0.985
        for one, same in zip(
            search.kneighbors(queries[:2], k), exact.kneighbors(queries[:2], k), strict=True
        ):
            np.testing.assert_array_equal(one[:, : min(k, 8)], same[:, : min(k, 8)])
    np.testing.assert_array_equal(search.kneighbors(X[zero[:1]], 1500)[1][0], zero[:1500])
    th.save(search, tmp_path / "model.theta")
    again = th.load(tmp_path / "model.theta")
    for one, same in zip(search.kneighbors(queries), again.kneighbors(queries), strict=True):
        np.testing.assert_array_equal(one, same)


def test_more_neighbours_than_measured_reach_the_recall():
    rows, queries = np.split(draw(n=6100, d=16), [6000])
    search = th.NearestNeighbors(algorithm=th.ApproximateSearch(recall=0.95)).fit(rows)
    for k in (1, 50, 100):
        assert recall(search.kneighbors(queries, k), rows, queries) >= 0.95
