"""Hierarchies refuse damaged graphs."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th

ROWS = np.arange(24.0).reshape(12, 2) ** 2
ONES = np.ones((12, 12))
RING = np.roll(np.eye(12), 1, axis=1) + np.eye(12)


def damaged(kind, place):
    options = {"blocksize": (2, 2)} if kind == "bsr" else {}
    graph = getattr(sp, f"{kind}_matrix")(ONES, **options)
    if kind == "lil":
        graph.rows[3][2] = 10**6
    elif place == "indptr":
        graph.indptr[3] = 10**6
    else:
        getattr(graph, place)[3] = 10**6 if place != "col" else -(10**6)
    return graph


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("csr", "indices"),
        ("csr", "indptr"),
        ("csc", "indices"),
        ("csc", "indptr"),
        ("bsr", "indptr"),
        ("coo", "row"),
        ("coo", "col"),
        ("lil", "rows"),
    ],
)
def test_a_damaged_graph_is_refused(kind, place):
    graph = damaged(kind, place)
    for connectivity in (graph, lambda X: graph):
        model = th.AgglomerativeClustering(connectivity=connectivity)
        with pytest.raises(th.errors.DataError, match="sparse connectivity .* is damaged"):
            model.fit(ROWS)
    with pytest.raises(th.errors.DataError, match="sparse X .* is damaged"):
        th.LinearRegression().fit(graph, np.arange(12.0))


@pytest.mark.parametrize("dtype", [">f8", ">i4", "f2", "g", "?", "O", "u1"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_a_graph_of_any_numbers(dtype, form):
    graph = form(RING)
    try:
        if form is np.asarray:
            graph = graph.astype(dtype)
        else:
            graph.data = graph.data.astype(dtype)
    except (TypeError, ValueError):
        pytest.skip("SciPy has no such sparse matrix")
    expected = th.AgglomerativeClustering(3, connectivity=RING).fit(ROWS)
    found = th.AgglomerativeClustering(3, connectivity=graph).fit(ROWS)
    np.testing.assert_array_equal(found.children_, expected.children_)


@pytest.mark.parametrize(
    ("value", "dtype", "match"),
    [
        (1j, complex, "dtype complex128"),
        ("yes", str, "dtype <U"),
        ("yes", object, "the text 'yes'"),
        (1j, object, "not real numbers"),
        (np.nan, float, "contains NaN"),
        (np.nan, object, "contains NaN"),
    ],
)
def test_a_graph_of_no_numbers_is_refused(value, dtype, match):
    graph = RING.astype(dtype) if dtype is not str else RING.astype("U8")
    graph[2, 3] = value
    with pytest.raises(th.errors.DataError, match=match):
        th.AgglomerativeClustering(connectivity=graph).fit(ROWS)


def test_a_graph_is_not_changed():
    graph = sp.csr_array(sp.csr_array(RING))
    graph.indices = graph.indices.reshape(-1, 2)[:, ::-1].ravel().copy()
    graph.has_sorted_indices = graph.has_canonical_format = False
    before = graph.indices.copy()
    graph.data = graph.data.astype(">f8")
    th.AgglomerativeClustering(connectivity=graph).fit(ROWS)
    np.testing.assert_array_equal(graph.indices, before)
    assert graph.data.dtype == ">f8"


def test_a_sparse_graph_of_no_numbers_is_refused():
    for values, match in ((1j, "complex"), (np.nan, "NaN")):
        with pytest.raises(th.errors.DataError, match=match):
            th.AgglomerativeClustering(connectivity=sp.csr_array(RING * values)).fit(ROWS)
