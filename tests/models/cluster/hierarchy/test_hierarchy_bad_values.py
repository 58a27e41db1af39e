"""Hierarchies refuse damaged graphs, wrong cuts and forged files."""

import copy
import pickle

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
        with pytest.raises(th.errors.DataError, match=r"sparse connectivity .* is damaged"):
            model.fit(ROWS)
    with pytest.raises(th.errors.DataError, match=r"sparse X .* is damaged"):
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


@pytest.mark.parametrize("value", [1.5, 0, -1, "x", np.nan, True, [2]])
def test_a_cut_needs_a_whole_number(value):
    tree = th.AgglomerativeClustering().fit(ROWS).dendrogram_
    with pytest.raises(th.errors.ParameterError) as caught:
        tree.cut(value)
    assert "n_clusters" in str(caught.value)
    assert "compute_full_tree" not in str(caught.value)
    assert tree.cut(np.int64(3)).max() == 2


@pytest.mark.parametrize("value", [np.nan, "x", None, [1.0], 1j])
def test_a_cut_needs_a_height(value):
    tree = th.AgglomerativeClustering().fit(ROWS).dendrogram_
    with pytest.raises(th.errors.ParameterError, match="height"):
        tree.n_clusters_at(value)
    with pytest.raises(th.errors.ParameterError, match="height"):
        tree.cut(height=value)
    assert tree.n_clusters_at(np.inf) == 1
    assert tree.n_clusters_at(-1) == 12


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


FORGED = {
    "self": lambda found: {"children_": changed(found["children_"], (3, 0), 15)},
    "negative": lambda found: {"children_": changed(found["children_"], (3, 0), -1)},
    "outside": lambda found: {"children_": changed(found["children_"], (3, 0), 10**9)},
    "twice": lambda found: {"children_": changed(found["children_"], 3, found["children_"][2])},
    "short": lambda found: {"children_": found["children_"][:-2]},
    "ravelled": lambda found: {"children_": found["children_"].ravel()},
    "list": lambda found: {"children_": found["children_"].tolist()},
    "fractions": lambda found: {"children_": found["children_"] + 0.5},
    "heights": lambda found: {"heights_": found["heights_"][1:]},
    "leaves": lambda found: {"n_leaves_": 5},
    "many leaves": lambda found: {"n_leaves_": 10**12},
    "leaves beyond int64": lambda found: {"n_leaves_": 10**30},
    "no leaves": lambda found: {"n_leaves_": None},
    "labels": lambda found: {"labels_": found["labels_"][1:]},
    "clusters": lambda found: {"n_clusters_": 1},
}


@pytest.mark.parametrize("Model", [th.AgglomerativeClustering, th.DivisiveClustering])
@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_hierarchy_is_refused(Model, forged, tmp_path):
    model = Model(3).fit(ROWS)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).labels_, model.labels_)
    vars(model).update(FORGED[forged](vars(model)))
    stored = pickle.dumps(model)
    with pytest.raises(th.errors.DataError, match=r"The stored value is damaged; fit the model"):
        pickle.loads(stored)
    th.save(model, tmp_path / "model.theta")
    with pytest.raises(th.errors.DataError, match=r"The stored value is damaged; fit the model"):
        th.load(tmp_path / "model.theta")


def test_a_model_without_a_hierarchy_is_copied():
    model = th.AgglomerativeClustering(50)
    with pytest.raises(th.errors.DataError, match="more clusters than samples"):
        model.fit(ROWS)
    assert copy.deepcopy(model).n_clusters == 50
    tree = th.AgglomerativeClustering(7, connectivity=RING, compute_full_tree=False).fit(ROWS)
    assert copy.deepcopy(tree.dendrogram_).cut(7).tolist() == tree.labels_.tolist()


def test_too_many_rows_have_a_remedy_of_their_class():
    rows = np.zeros((300, 2))
    with th.config(memory=1000):
        with pytest.raises(th.errors.MemoryBudgetError, match=r"array of dissim.* needs") as caught:
            th.DivisiveClustering().fit(rows)
        assert "Use fewer rows, or th.AgglomerativeClustering" in str(caught.value)
        with pytest.raises(th.errors.MemoryBudgetError, match="Use linkage='ward'"):
            th.AgglomerativeClustering(linkage="average").fit(rows)
