"""HDBSCAN: densities, scikit-learn as oracle, cuts, special rows, centres, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster as theirs
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances

import thetahat as th
from thetahat.errors import DataError, ParameterError
from thetahat.models.cluster.density.condensed import CondensedTree

WIDTHS = [0.3, 1.0, 0.6]


def groups(n=300, d=2, seed=0):
    return make_blobs(n, d, centers=3 * np.eye(3, d), cluster_std=WIDTHS, random_state=seed)[0]


def oracle(**parameters):
    return theirs.HDBSCAN(**parameters, copy=True)


def same_partition(ours, expected):
    return adjusted_rand_score(ours, expected) == 1.0 and ((ours < 0) == (expected < 0)).all()


def test_clusters_of_different_densities_where_dbscan_fails():
    X, y = make_blobs(
        [150, 150, 200], centers=[[0, 0], [1.6, 0], [7, 0]], cluster_std=[0.2, 0.2, 1.2],
        random_state=0,
    )  # fmt: skip
    labels = th.HDBSCAN(20).fit_predict(X)
    inside = labels >= 0
    assert inside.mean() > 0.9
    assert adjusted_rand_score(y[inside], labels[inside]) > 0.99
    radii = np.geomspace(0.05, 2, 40)
    assert max(adjusted_rand_score(y, th.DBSCAN(eps).fit_predict(X)) for eps in radii) < 0.97


@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("size", [2, 5, 20])
@pytest.mark.parametrize(("d", "limit"), [(1, None), (2, 60), (12, None)])
def test_clusters_are_those_of_scikit_learn_without_ties(method, single, size, d, limit):
    # With min_samples=1 the lengths of all edges differ, so that the hierarchy is unique.
    parameters = {
        "min_cluster_size": size, "min_samples": 1, "cluster_selection_method": method,
        "allow_single_cluster": single, "max_cluster_size": limit,
    }  # fmt: skip
    if single and limit:
        parameters.pop("max_cluster_size")  # scikit-learn fails where the root is too large
    for X in (groups(200, d), groups(700, d, 1)):
        ours, expected = th.HDBSCAN(**parameters).fit(X), oracle(**parameters).fit(X)
        assert same_partition(ours.labels_, expected.labels_)
        np.testing.assert_allclose(ours.probabilities_, expected.probabilities_, atol=1e-9)


@pytest.mark.parametrize("k", [2, 5, 15])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"metric": "manhattan"},
        {"metric": "chebyshev", "algorithm": "kd_tree"},
        {"metric": "cosine"},
        {"alpha": 0.5},
        {"metric": "seuclidean", "metric_params": {"V": np.array([1.0, 4.0])}},
    ],
    ids=str,
)
def test_heights_are_those_of_scikit_learn(k, options):
    X = groups(600) + 5
    ours, expected = th.HDBSCAN(min_samples=k, **options).fit(X), oracle(min_samples=k, **options)
    heights = np.sort(expected.fit(X)._single_linkage_tree_["value"])
    np.testing.assert_allclose(ours._heights, heights, rtol=1e-6, atol=1e-7)
    assert adjusted_rand_score(ours.labels_, expected.labels_) > 0.85  # ties


@pytest.mark.parametrize("method", ["eom", "leaf"])
def test_the_same_hierarchy_gives_the_clusters_of_scikit_learn(method):
    X = load_iris().data  # with many ties
    for size in (2, 4, 9):
        options = {"min_cluster_size": size, "cluster_selection_method": method}
        expected = oracle(**options).fit(X)
        given = expected._single_linkage_tree_
        children = np.column_stack([given["left_node"], given["right_node"]]).astype(np.int64)
        # scikit-learn splits edges of one length one after the other.
        heights = given["value"] * (1 + 1e-12 * np.arange(len(children)))
        tree = CondensedTree.of(children, heights, size)
        chosen = tree.most_stable(False, np.inf) if method == "eom" else tree.leaves()
        labels, strength = tree.labels(chosen, 0.0)
        assert same_partition(labels, expected.labels_)
        np.testing.assert_allclose(strength, expected.probabilities_, atol=1e-9)


@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize("step", [0.0, 0.25], ids=["core distances", "equal distances"])
def test_clusters_do_not_depend_on_the_order_of_the_rows(method, step):
    # Core distances are the lengths of several edges, which are removed together.
    for seed in range(4):
        X = make_blobs(200, centers=4, cluster_std=2, random_state=seed)[0]
        X = np.round(X / step) * step if step else X
        order = np.random.default_rng(seed).permutation(len(X))
        model = th.HDBSCAN(cluster_selection_method=method)
        labels, strength = model.fit_predict(X), model.probabilities_
        assert same_partition(model.fit_predict(X[order]), labels[order])
        np.testing.assert_allclose(model.probabilities_, strength[order], atol=1e-12)


def test_three_branches_that_meet_at_one_height_are_three_clusters():
    # Rows 0–1, 2–3 and 4–5 join at 1, all three pairs at 2, and row 6 last.
    children = np.array([[0, 1], [2, 3], [4, 5], [7, 8], [9, 10], [6, 11]])
    tree = CondensedTree.of(children, np.array([1.0, 1.0, 1.0, 2.0, 2.0, 4.0]), 2)
    assert tree.parent.tolist() == [-1, 0, 0, 0]
    assert tree.birth.tolist() == [0.0, 0.5, 0.5, 0.5]
    assert tree.size.tolist() == [7, 2, 2, 2]
    assert tree.leaving.tolist() == [1.0] * 6 + [0.25]


def test_the_cut_is_dbscan_without_border_rows():
    X = groups(400)
    model = th.HDBSCAN(min_samples=7).fit(X)
    for eps in (0.15, 0.3, 0.8):
        dense = th.DBSCAN(np.nextafter(eps, 0), min_samples=7).fit(X)
        core = dense.core_sample_indices_
        labels = model.dbscan_clustering(eps, min_cluster_size=1)
        assert adjusted_rand_score(labels[core], dense.labels_[core]) == 1.0
        others = np.setdiff1d(np.arange(len(X)), core)
        assert len(np.unique(labels[others])) == len(others)
    expected = oracle(min_samples=7).fit(X)
    for eps in (0.2, 1.0):
        found = model.dbscan_clustering(eps, 5)
        assert same_partition(found, expected.dbscan_clustering(eps, 5))


def test_a_larger_epsilon_joins_clusters():
    X = np.concatenate([np.linspace(a, a + 1, 20) for a in (0.0, 2.0, 20.0)])[:, None]
    counts = [
        th.HDBSCAN(5, cluster_selection_epsilon=eps).fit(X).labels_.max() + 1
        for eps in (0.0, 0.9, 1.1)
    ]
    assert counts == [3, 3, 2]
    one = th.HDBSCAN(5, cluster_selection_epsilon=30.0, allow_single_cluster=True).fit(X)
    assert one.labels_.tolist() == [0] * 60


def test_a_single_cluster_is_found_on_request_alone():
    X = np.random.default_rng(0).normal(size=(200, 2))
    assert th.HDBSCAN(50, allow_single_cluster=True).fit(X).labels_.max() == 0
    assert (th.HDBSCAN(150).fit(X).labels_ == -1).all()


def test_moons_and_numbers_in_the_order_of_first_rows():
    X, y = make_moons(400, noise=0.05, random_state=0)
    labels = th.HDBSCAN(20).fit_predict(X)
    assert adjusted_rand_score(y, labels) > 0.98
    found = labels[labels >= 0]
    assert np.unique(found, return_index=True)[1].tolist() == sorted(
        np.unique(found, return_index=True)[1]
    )


@pytest.mark.parametrize("n", [300, 2000])
def test_results_depend_neither_on_threads_nor_on_the_algorithm(n):
    X = groups(n)
    found = []
    for threads, algorithm in ((1, "kd_tree"), (2, "kd_tree"), (2, "brute")):
        with th.config(threads=threads):
            found.append(th.HDBSCAN(10, algorithm=algorithm).fit(X))
    for other in found[1:]:
        np.testing.assert_array_equal(other.labels_, found[0].labels_)
        np.testing.assert_array_equal(other.probabilities_, found[0].probabilities_)


def test_given_distances_and_sparse_rows():
    X = np.maximum(groups(150, 4), 0)
    expected = th.HDBSCAN().fit(X)
    D = pairwise_distances(X)
    graph = sp.csr_array(D + 1.0)
    graph.data -= 1.0  # distances of 0 are stored, too
    for given in (D, graph):
        found = th.HDBSCAN(metric="precomputed").fit(given)
        np.testing.assert_allclose(found._heights, expected._heights, atol=1e-7)
        assert adjusted_rand_score(found.labels_, expected.labels_) > 0.95
    found = th.HDBSCAN().fit(sp.csr_array(X))
    np.testing.assert_allclose(found._heights, expected._heights, atol=1e-12)
    by_function = th.HDBSCAN(metric=lambda x, z: float(np.linalg.norm(x - z))).fit(X)
    np.testing.assert_allclose(by_function._heights, expected._heights, atol=1e-12)


def test_rows_that_are_not_finite_have_labels_of_their_own():
    X = groups(100)
    broken = np.insert(X, [0, 50, 100], [[np.nan, 1.0], [np.inf, 0.0], [np.nan, np.inf]], axis=0)
    for rows in (broken, sp.csr_array(broken)):
        model = th.HDBSCAN(store_centers="both").fit(rows)
        assert model.labels_[[0, 51, 102]].tolist() == [-3, -2, -3]
        assert np.isnan(model.probabilities_[[0, 102]]).all()
        assert model.probabilities_[51] == 0
        rest = np.delete(model.labels_, [0, 51, 102])
        np.testing.assert_array_equal(rest, th.HDBSCAN().fit(X).labels_)
        assert model.dbscan_clustering(0.5)[[0, 51, 102]].tolist() == [-3, -2, -3]
        assert np.isfinite(model.centroids_).all()
        assert len(model.centroids_) == rest.max() + 1


def test_centres():
    X = groups(200)
    model = th.HDBSCAN(10, store_centers="both").fit(X)
    assert len(model.medoids_) == model.labels_.max() + 1
    for c, (mean, middle) in enumerate(zip(model.centroids_, model.medoids_, strict=True)):
        own = model.labels_ == c
        weight = model.probabilities_[own]
        np.testing.assert_allclose(mean, np.average(X[own], weights=weight, axis=0))
        total = pairwise_distances(X[own]) @ weight
        np.testing.assert_array_equal(middle, X[own][np.argmin(total)])
    assert not hasattr(model.set_params(store_centers=None).fit(X), "medoids_")


def test_equal_rows_are_a_cluster():
    X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 10, axis=0)
    model = th.HDBSCAN().fit(X)
    assert model.labels_.tolist() == [0] * 10 + [1] * 10
    assert (model.probabilities_ == 1).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"min_cluster_size": 1}, "min_cluster_size"),
        ({"min_samples": 0}, "min_samples"),
        ({"alpha": 0}, "alpha"),
        ({"cluster_selection_epsilon": -1}, "cluster_selection_epsilon"),
        ({"cluster_selection_method": "best"}, "cluster_selection_method"),
        ({"store_centers": "mean"}, "store_centers"),
        ({"max_cluster_size": 0}, "max_cluster_size"),
        ({"metric": "precomputed", "store_centers": "both"}, "Cannot store centers"),
    ],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises(ParameterError, match=words):
        th.HDBSCAN(**parameters).fit(np.zeros((20, 20)))


def test_bad_data_is_refused():
    given = th.HDBSCAN(metric="precomputed", min_samples=2)
    with pytest.raises(DataError, match="more than one sample"):
        th.HDBSCAN().fit([[1.0]])
    with pytest.raises(DataError, match="at most the number of samples"):
        th.HDBSCAN(min_samples=21).fit(groups(20))
    with pytest.raises(DataError, match="square"):
        given.fit(np.zeros((5, 4)))
    with pytest.raises(DataError, match="symmetric"):
        given.fit(np.triu(np.ones((5, 5)), 1))
    with pytest.raises(DataError, match="nan"):
        given.fit(np.full((5, 5), np.nan))
    with pytest.raises(DataError, match="2 connected components"):
        given.fit(sp.csr_array(np.kron(np.eye(2), 1 + np.ones((5, 5)))))
    with pytest.raises(DataError, match="fewer than 2 neighbors"):
        given.fit(sp.csr_array(np.eye(5)))
    far = np.where(np.kron(np.eye(2), np.ones((5, 5))) > 0, 1.0, np.inf)
    with pytest.warns(UserWarning, match="infinity"):
        given.fit(far)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x",), "cut_distance='x' must be a number"),
        ((np.nan,), "cut_distance=nan must be a number"),
        ((0.5, -3), "min_cluster_size=-3 must be"),
    ],
)
def test_arguments_of_a_cut_are_checked(arguments, message):
    model = th.HDBSCAN().fit(np.random.default_rng(0).normal(size=(40, 2)))
    with pytest.raises(th.errors.ParameterError, match=message):
        model.dbscan_clustering(*arguments)
