"""Graphs of neighbours: transformers, functions, and sparse matrices of given distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import neighbors as peer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import thetahat as th


def draw(n=60, d=4, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("name", ["KNeighborsTransformer", "RadiusNeighborsTransformer"])
def test_transformers_agree_with_scikit_learn(name, mode):
    X, _ = draw()
    ours, theirs = getattr(th, name)(mode=mode), getattr(peer, name)(mode=mode)
    for one, other in (
        (ours.fit_transform(X), theirs.fit_transform(X)),
        (ours.transform(X[:7] + 0.1), theirs.transform(X[:7] + 0.1)),
    ):
        np.testing.assert_allclose(one.toarray(), other.toarray(), atol=1e-12)
        np.testing.assert_array_equal(one.indptr, other.indptr)
        for i in range(one.shape[0] if mode == "distance" else 0):
            assert (np.diff(one.data[one.indptr[i] : one.indptr[i + 1]]) >= 0).all()


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("include_self", [True, False, "auto"])
def test_functions_agree_with_scikit_learn(mode, include_self):
    X, _ = draw()
    options = dict(mode=mode, include_self=include_self, metric="manhattan")
    for name, size in (("kneighbors_graph", 4), ("radius_neighbors_graph", 1.5)):
        one = getattr(th, name)(X, size, **options)
        other = getattr(peer, name)(X, size, **options)
        np.testing.assert_allclose(one.toarray(), other.toarray(), atol=1e-12)
        assert one.nnz == other.nnz
        fitted = th.NearestNeighbors(metric="manhattan").fit(X)
        again = getattr(th, name)(fitted, size, **options)
        np.testing.assert_array_equal(again.toarray(), one.toarray())


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_models_of_a_graph_are_those_of_the_rows(weights):
    X, y = draw(80)
    new = draw(20, seed=1)[0]
    for k, graph_k in ((3, 3), (3, 10)):
        chain = make_pipeline(
            th.KNeighborsTransformer(n_neighbors=graph_k),
            th.KNeighborsClassifier(k, weights=weights, metric="precomputed"),
        ).fit(X, y)
        whole = th.KNeighborsClassifier(k, weights=weights).fit(X, y)
        np.testing.assert_array_equal(chain.predict_proba(new), whole.predict_proba(new))
    chain = make_pipeline(
        th.RadiusNeighborsTransformer(radius=5.0),
        th.RadiusNeighborsRegressor(radius=4.0, weights=weights, metric="precomputed"),
    ).fit(X, X[:, 0])
    whole = th.RadiusNeighborsRegressor(radius=4.0, weights=weights).fit(X, X[:, 0])
    np.testing.assert_allclose(chain.predict(new), whole.predict(new), rtol=1e-13)


@pytest.mark.parametrize("convert", [sp.csr_array, sp.csc_array, sp.coo_matrix])
def test_searches_in_a_given_graph(convert):
    X, _ = draw(40)
    rows = th.NearestNeighbors(n_neighbors=4).fit(X)
    graph = th.KNeighborsTransformer(n_neighbors=6).fit_transform(X)
    search = th.NearestNeighbors(n_neighbors=4, metric="precomputed").fit(convert(graph))
    for one, other in zip(search.kneighbors(), rows.kneighbors(), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(search.kneighbors(convert(graph[:5])), rows.kneighbors(X[:5]),
                          strict=True):  # fmt: skip
        np.testing.assert_array_equal(one, other)
    radius = float(np.min(graph.data[6::7])) * 0.999  # nearer than the last entry of every row
    for by_distance in (True, False):
        one = search.radius_neighbors(graph, radius, sort_results=by_distance)
        other = rows.radius_neighbors(X, radius, sort_results=by_distance)
        for i in range(40):
            np.testing.assert_array_equal(one[0][i], other[0][i])
            np.testing.assert_array_equal(one[1][i], other[1][i])


def test_ties_go_to_the_smaller_row_and_stored_zeros_count():
    graph = sp.csr_array(
        (np.array([2.0, 0.0, 2.0, 0.0, 1.0, 1.0]), np.array([2, 0, 1, 1, 2, 0]), [0, 3, 5, 6]),
        shape=(3, 3),
    )
    search = th.NearestNeighbors(n_neighbors=1, metric="precomputed").fit(graph)
    assert search.kneighbors(graph[[0]], 3)[1].tolist() == [[0, 1, 2]]
    assert search.kneighbors(graph[[1]], 2)[1].tolist() == [[1, 2]]
    assert search.radius_neighbors(graph, 1.0, return_distance=False)[0].tolist() == [0]


def test_cross_validation_of_given_graphs():
    X, y = draw(90)
    everything = th.KNeighborsTransformer(n_neighbors=89).fit_transform(X)
    scores = cross_val_score(th.KNeighborsClassifier(metric="precomputed"), everything, y)
    np.testing.assert_array_equal(scores, cross_val_score(th.KNeighborsClassifier(), X, y))


def test_wrong_graphs_are_refused():
    X, _ = draw(20)
    graph = th.KNeighborsTransformer(n_neighbors=3).fit_transform(X)
    search = th.NearestNeighbors(metric="precomputed").fit(graph)
    with pytest.raises(th.errors.DataError, match=r"5 neighbors per samples .* have only 4"):
        search.kneighbors(graph)
    with pytest.raises(th.errors.DataError, match="must be square"):
        th.NearestNeighbors(metric="precomputed").fit(graph[:5])
    graph.data[7] = -1.0
    with pytest.raises(th.errors.DataError, match=r"first at row 1, column \d+: -1"):
        th.NearestNeighbors(metric="precomputed").fit(graph)
    with pytest.raises(th.errors.ParameterError, match="mode"):
        th.kneighbors_graph(X, 2, mode="length")
    with pytest.raises(th.errors.ParameterError, match="include_self"):
        th.radius_neighbors_graph(X, 2, include_self="maybe")


def test_a_saved_graph_gives_the_same_neighbours(tmp_path):
    X, y = draw(30)
    graph = th.KNeighborsTransformer(n_neighbors=6).fit_transform(X)
    model = th.KNeighborsClassifier(metric="precomputed").fit(graph, y)
    th.save(model, tmp_path / "model.theta")
    again = th.load(tmp_path / "model.theta")
    np.testing.assert_array_equal(again.predict_proba(graph), model.predict_proba(graph))
