"""Hierarchies of clusters: worked numbers, SciPy and scikit-learn as oracles, bad input."""

import numpy as np
import pytest
import scipy.cluster.hierarchy as scipy_hierarchy
import scipy.sparse as sp
from sklearn.cluster import AgglomerativeClustering as Peer
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances

import thetahat as th
from thetahat.models.cluster.hierarchy import merging

LINE = np.array([[0.0], [1.0], [3.0], [7.0]])
LINKAGES = ("single", "complete", "average", "ward")


def heap(n=300, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize(
    ("linkage", "heights"),
    [("single", [1, 2, 4]), ("complete", [1, 3, 7]), ("average", [1, 2.5, 17 / 3])],
)
def test_worked_heights_of_the_lecture(linkage, heights):
    model = th.AgglomerativeClustering(2, linkage=linkage).fit(LINE)
    np.testing.assert_allclose(model.heights_, heights)
    assert model.labels_.tolist() == [0, 0, 0, 1]
    given = th.AgglomerativeClustering(2, linkage=linkage, metric="precomputed")
    np.testing.assert_allclose(given.fit(abs(LINE - LINE.T)).heights_, heights)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(("n", "d"), [(2, 1), (150, 4), (700, 2), (600, 30)])
def test_merges_are_those_of_scipy(linkage, n, d):
    X = heap(n, d) + 100.0
    model = th.AgglomerativeClustering(linkage=linkage).fit(X)
    expected = scipy_hierarchy.linkage(X, linkage)
    np.testing.assert_allclose(model.dendrogram_.linkage_matrix(), expected, rtol=1e-9)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("k", [1, 2, 7, 60])
def test_labels_are_those_of_scikit_learn(linkage, k):
    X = heap(60, 2)
    model = th.AgglomerativeClustering(k, linkage=linkage).fit(X)
    peer = Peer(k, linkage=linkage).fit(X)
    if linkage != "single":  # where scikit-learn gives the two clusters of a merge in any order
        np.testing.assert_array_equal(model.labels_, peer.labels_)
    assert adjusted_rand_score(model.labels_, peer.labels_) == 1.0
    np.testing.assert_array_equal(model.dendrogram_.cut(k), model.labels_)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_cut_at_a_height_needs_no_new_fit(linkage):
    X = heap(80, 2)
    tree = th.AgglomerativeClustering(linkage=linkage).fit(X).dendrogram_
    for height in (0.0, 0.3, 1.0, 100.0):
        model = th.AgglomerativeClustering(None, linkage=linkage, distance_threshold=height).fit(X)
        np.testing.assert_array_equal(tree.cut(height=height), model.labels_)
        assert tree.n_clusters_at(height) == model.n_clusters_ == len(set(model.labels_))
        if 0 < height < 100:
            flat = scipy_hierarchy.fcluster(tree.linkage_matrix(), height, "distance")
            assert adjusted_rand_score(flat, model.labels_) == 1.0


@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev", "canberra", "correlation"])
def test_any_dissimilarity(linkage, metric):
    X = heap(60, 5)
    named = th.AgglomerativeClustering(4, linkage=linkage, metric=metric).fit(X)
    matrix = pairwise_distances(X, metric=metric)
    np.fill_diagonal(matrix, 0.0)
    given = th.AgglomerativeClustering(4, linkage=linkage, metric="precomputed")
    given.fit((matrix + matrix.T) / 2)
    np.testing.assert_allclose(named.heights_, given.heights_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(named.labels_, given.labels_)


def test_functions_of_two_rows_and_of_all_rows():
    X = heap(30, 2)
    expected = th.AgglomerativeClustering(linkage="average", metric="manhattan").fit(X)
    for metric in (lambda x, y: abs(x - y).sum(), lambda X: pairwise_distances(X, metric="l1")):
        found = th.AgglomerativeClustering(linkage="average", metric=metric).fit(X)
        np.testing.assert_allclose(found.heights_, expected.heights_)


def naive(matrix, join):
    """Merge the two nearest clusters, one after the other."""
    groups, heights = [[i] for i in range(len(matrix))], []
    while len(groups) > 1:
        pairs = [
            (join(matrix[np.ix_(groups[a], groups[b])]), a, b)
            for a in range(len(groups))
            for b in range(a)
        ]
        height, a, b = min(pairs)
        groups[b] += groups.pop(a)
        heights.append(height)
    return heights


@pytest.mark.parametrize(
    ("linkage", "join"), [("single", np.min), ("complete", np.max), ("average", np.mean)]
)
def test_heights_are_those_of_the_definition(linkage, join):
    X = heap(25, 2, seed=3)
    model = th.AgglomerativeClustering(linkage=linkage).fit(X)
    np.testing.assert_allclose(model.heights_, naive(pairwise_distances(X), join))


@pytest.mark.parametrize("linkage", LINKAGES)
def test_equal_rows_and_ties_have_one_answer(linkage):
    X = np.random.default_rng(0).integers(0, 4, size=(700, 2)).astype(float)
    models = []
    for threads in (1, 2):
        with th.config(threads=threads):
            models.append(th.AgglomerativeClustering(5, linkage=linkage).fit(X))
    np.testing.assert_array_equal(models[0].children_, models[1].children_)
    np.testing.assert_array_equal(models[0].heights_, models[1].heights_)
    same = th.AgglomerativeClustering(16, linkage=linkage).fit(X)
    assert len({(*x, label) for x, label in zip(X, same.labels_, strict=True)}) == 16
    constant = th.AgglomerativeClustering(3, linkage=linkage).fit(np.ones((600, 2)))
    assert constant.heights_.max() == 0.0
    assert set(constant.labels_) == {0, 1, 2}


@pytest.mark.parametrize("linkage", LINKAGES)
def test_single_precision_and_scale(linkage):
    X = heap(200, 3)
    expected = th.AgglomerativeClustering(3, linkage=linkage).fit(X).heights_
    single = th.AgglomerativeClustering(3, linkage=linkage).fit(X.astype(np.float32))
    np.testing.assert_allclose(single.heights_, expected, rtol=1e-4, atol=1e-5)
    scaled = th.AgglomerativeClustering(3, linkage=linkage).fit(1e100 * X)
    np.testing.assert_allclose(scaled.heights_, 1e100 * expected, rtol=1e-9)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_connectivity_is_that_of_scikit_learn(linkage):
    X = heap(80, 2)
    graph = th.kneighbors_graph(X, 12)
    options = dict(linkage=linkage, connectivity=graph, compute_distances=True)
    model, peer = th.AgglomerativeClustering(5, **options), Peer(5, **options)
    model.fit(X), peer.fit(X)
    assert model.n_connected_components_ == peer.n_connected_components_ == 1
    np.testing.assert_allclose(np.sort(model.distances_), np.sort(peer.distances_))
    assert adjusted_rand_score(model.labels_, peer.labels_) == 1.0


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_complete_graph_changes_nothing(linkage):
    X = heap(60, 2)
    free = th.AgglomerativeClustering(4, linkage=linkage).fit(X)
    graph = sp.csr_array(np.ones((60, 60)))
    bound = th.AgglomerativeClustering(4, linkage=linkage, connectivity=graph).fit(X)
    np.testing.assert_allclose(bound.heights_, free.heights_)
    np.testing.assert_array_equal(bound.labels_, free.labels_)


def test_a_complete_graph_keeps_the_order_of_equal_heights_of_single_linkage():
    for seed in range(5):
        X = np.random.default_rng(seed).integers(0, 5, size=(40, 2)).astype(float)
        free = th.AgglomerativeClustering(6, linkage="single").fit(X)
        graph = np.ones((40, 40))
        bound = th.AgglomerativeClustering(6, linkage="single", connectivity=graph).fit(X)
        np.testing.assert_array_equal(bound.children_, free.children_)
        np.testing.assert_array_equal(bound.labels_, free.labels_)


def test_single_linkage_of_an_incomplete_tree_is_the_start_of_the_whole_tree():
    X = heap(60, 2)
    options = dict(connectivity=th.kneighbors_graph(X, 6), linkage="single")
    model = th.AgglomerativeClustering(7, compute_full_tree=False, **options).fit(X)
    whole = th.AgglomerativeClustering(7, compute_full_tree=True, **options).fit(X)
    np.testing.assert_array_equal(model.children_, whole.children_[:53])
    assert adjusted_rand_score(model.labels_, whole.labels_) == 1.0


def test_a_graph_in_pieces_is_reported_and_joined():
    X, y = make_blobs(90, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
    graph = th.kneighbors_graph(X, 8)
    model = th.AgglomerativeClustering(3, connectivity=graph)
    with pytest.warns(UserWarning, match="number of connected components .* is 3 > 1"):
        model.fit(X)
    assert model.n_connected_components_ == 3
    assert len(model.children_) == 89
    assert adjusted_rand_score(model.labels_, y) == 1.0


def test_an_incomplete_tree_stops_at_the_clusters():
    X = heap(60, 2)
    graph = th.kneighbors_graph(X, 12)
    options = dict(connectivity=graph, linkage="average")
    model = th.AgglomerativeClustering(7, compute_full_tree=False, **options).fit(X)
    whole = th.AgglomerativeClustering(7, compute_full_tree=True, **options).fit(X)
    assert len(model.children_) == 53
    assert adjusted_rand_score(model.labels_, whole.labels_) == 1.0
    with pytest.raises(th.errors.ParameterError, match="compute_full_tree=True"):
        model.dendrogram_.cut(3)
    with pytest.raises(th.errors.ParameterError, match="needs the whole hierarchy"):
        model.dendrogram_.linkage_matrix()


def diana(matrix):
    """DIANA in plain code: heights of the splits, in ascending order."""
    groups, heights = [list(range(len(matrix)))], []
    while any(len(group) > 1 for group in groups):
        groups.sort(key=lambda group: -matrix[np.ix_(group, group)].max())
        rest = groups.pop(0)
        heights.append(matrix[np.ix_(rest, rest)].max())
        away = [max(rest, key=lambda i: matrix[i, rest].sum())]
        rest = [i for i in rest if i not in away]
        while len(rest) > 1:
            gain = {
                i: matrix[i, rest].sum() / (len(rest) - 1) - matrix[i, away].mean() for i in rest
            }
            best = max(gain, key=gain.get)
            if gain[best] <= 0:
                break
            away.append(best)
            rest.remove(best)
        groups += [rest, away]
    return heights[::-1]


def test_divisions_are_those_of_plain_code():
    X = heap(40, 3, seed=5)
    model = th.DivisiveClustering(3).fit(X)
    np.testing.assert_allclose(model.heights_, diana(pairwise_distances(X)))
    assert scipy_hierarchy.is_valid_linkage(model.dendrogram_.linkage_matrix())


def test_divisions_find_separate_groups():
    X, y = make_blobs(200, centers=[[0, 0], [20, 0], [0, 20], [25, 25]], random_state=0)
    model = th.DivisiveClustering(4).fit(X)
    assert adjusted_rand_score(model.labels_, y) == 1.0
    within = th.DivisiveClustering(None, distance_threshold=10.0).fit(X)
    assert within.n_clusters_ == 4
    given = th.DivisiveClustering(4, metric="precomputed").fit(pairwise_distances(X))
    np.testing.assert_array_equal(given.labels_, model.labels_)
    assert th.DivisiveClustering(3).fit(np.ones((9, 2))).heights_.max() == 0.0


def test_equal_rows_are_divided_from_the_last_on():
    model = th.DivisiveClustering(3).fit(np.ones((1000, 2)))
    assert model.children_[:3].tolist() == [[998, 999], [997, 1000], [996, 1001]]
    assert model.labels_[:4].tolist() == [1, 2, 0, 0]


@pytest.mark.parametrize("Model", [th.AgglomerativeClustering, th.DivisiveClustering])
def test_bad_input(Model):
    linkage = {"linkage": "average"} if Model is th.AgglomerativeClustering else {}
    with pytest.raises(th.errors.DataError, match="more clusters than samples: 5 clusters"):
        Model(5).fit(LINE)
    with pytest.raises(th.errors.DataError, match="n_samples=1"):
        Model(1).fit([[1.0]])
    with pytest.raises(th.errors.ParameterError, match="Exactly one of n_clusters"):
        Model(2, distance_threshold=1.0).fit(LINE)
    with pytest.raises(th.errors.DataError, match="NaN"):
        Model(2).fit([[0.0], [np.nan], [1.0]])
    given = Model(2, metric="precomputed", **linkage)
    with pytest.raises(th.errors.DataError, match="must be numbers ≥ 0"):
        given.fit([[0.0, -1.0], [-1.0, 0.0]])
    with pytest.raises(th.errors.DataError, match="not symmetric: 1 from row 0 to row 1, but 2"):
        given.fit([[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(th.errors.DataError, match="should be square"):
        given.fit(np.ones((3, 2)))
    with th.config(memory=1000), pytest.raises(th.errors.MemoryBudgetError, match="300 rows"):
        Model(2, **linkage).fit(heap())
    assert Model(1, **linkage).fit(LINE).labels_.tolist() == [0, 0, 0, 0]


def test_ward_needs_rows_and_a_graph_of_their_number():
    with pytest.raises(th.errors.ParameterError, match="Ward can only work with euclidean"):
        th.AgglomerativeClustering(metric="manhattan").fit(LINE)
    with pytest.raises(th.errors.DataError, match="wrong shape for connectivity"):
        th.AgglomerativeClustering(connectivity=np.ones((3, 3))).fit(LINE)
    with pytest.raises(th.errors.ParameterError, match="must be True if distance_threshold"):
        th.AgglomerativeClustering(
            None, distance_threshold=1.0, compute_full_tree=False, connectivity=np.ones((4, 4))
        ).fit(LINE)
    tree = th.AgglomerativeClustering().fit(LINE).dendrogram_
    for options in ({}, {"n_clusters": 2, "height": 1.0}, {"n_clusters": 9}):
        with pytest.raises(th.errors.ParameterError):
            tree.cut(**options)


@pytest.mark.parametrize("linkage", ["ward", "single"])
def test_many_rows_in_little_memory(linkage):
    X = heap(3000, 2)
    with th.config(memory=1 << 20):
        model = th.AgglomerativeClustering(3, linkage=linkage).fit(X)
    np.testing.assert_allclose(model.heights_, scipy_hierarchy.linkage(X, linkage)[:, 2])


def test_the_drawing_has_a_bracket_per_merge():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    tree = th.AgglomerativeClustering().fit(heap(30, 2)).dendrogram_
    axes = tree.plot(n_clusters=3)
    brackets = sum(np.isnan(line.get_xdata()).sum() for line in axes.lines)
    assert brackets == 29
    assert sorted(tree.leaves().tolist()) == list(range(30))
    assert [int(each.get_text()) for each in axes.get_xticklabels()] == tree.leaves().tolist()
    pyplot.close("all")


def test_ward_takes_all_distances_of_many_columns_where_there_is_memory(monkeypatch):
    """4,000 rows need 64 MiB; centres in a tree would take twice the time."""

    class Reached(Exception):
        pass

    def squared_distances(points):
        raise Reached

    monkeypatch.setattr(merging, "squared_distances", squared_distances)
    with pytest.raises(Reached):
        merging.merged(np.ones((4000, 50)), "euclidean", "ward", "AgglomerativeClustering")
