"""DBSCAN: shapes, scikit-learn as oracle, relations of weights and order, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster as theirs
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances

import thetahat as th
from thetahat.errors import DataError, ParameterError
from thetahat.models.cluster.density import neighborhoods

COVARIANCE = np.diag([1.0, 2.0, 4.0])


def rows(n=200, d=3, seed=0):
    random = np.random.default_rng(seed)
    return np.vstack([random.normal(size=(n // 2, d)), 3 + 0.5 * random.normal(size=(n // 2, d))])


def assert_same(ours, expected):
    np.testing.assert_array_equal(ours.labels_, expected.labels_)
    np.testing.assert_array_equal(ours.core_sample_indices_, expected.core_sample_indices_)
    found, wanted = ours.components_, expected.components_
    if sp.issparse(wanted):
        found, wanted = found.toarray(), wanted.toarray()
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_shapes_are_found_where_k_means_fails(make):
    X, y = make(
        600, noise=0.04, random_state=0, **({"factor": 0.5} if make is make_circles else {})
    )
    assert adjusted_rand_score(y, th.DBSCAN(0.15).fit_predict(X)) == 1.0
    assert adjusted_rand_score(y, th.KMeans(2, random_state=0).fit_predict(X)) < 0.6


@pytest.mark.parametrize("algorithm", ["auto", "brute", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("eps", [0.2, 0.5, 1.0, 20.0])
@pytest.mark.parametrize("min_samples", [1, 5, 40])
def test_clusters_are_those_of_scikit_learn(algorithm, eps, min_samples):
    for X in (rows(), rows(60, 1), load_iris().data + 1e-3 * rows(150, 4)):
        options = {"min_samples": min_samples, "algorithm": algorithm}
        assert_same(th.DBSCAN(eps, **options).fit(X), theirs.DBSCAN(eps, **options).fit(X))


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "manhattan"},
        {"metric": "chebyshev"},
        {"metric": "minkowski", "p": 3},
        {"metric": "minkowski", "metric_params": {"p": 1.5}},
        {"metric": "cosine", "algorithm": "brute"},
        {"metric": "mahalanobis", "metric_params": {"V": COVARIANCE}, "algorithm": "brute"},
        {"metric": lambda x, z: float(np.abs(x - z).max())},
    ],
    ids=lambda options: str(options.get("metric"))[:11],
)  # fmt: skip
def test_distances_are_those_of_scikit_learn(options):
    X = rows(120)
    for eps in (0.05, 0.5):
        expected = theirs.DBSCAN(eps, **options)
        if "mahalanobis" in options.values():
            expected.set_params(metric_params={"VI": np.linalg.inv(COVARIANCE)})
        assert_same(th.DBSCAN(eps, **options).fit(X), expected.fit(X))


@pytest.mark.parametrize("kept", [0, 1 << 25])
def test_many_columns_sparse_rows_and_given_distances(kept, monkeypatch):
    monkeypatch.setattr(neighborhoods, "PAIRS_KEPT", kept)
    monkeypatch.setattr(neighborhoods, "PAIRS_AT_ONCE", 1 << 12)
    X = np.maximum(rows(200, 20), 0)
    expected = theirs.DBSCAN(2.5).fit(X)
    assert 0 < len(expected.core_sample_indices_) < 200
    assert_same(th.DBSCAN(2.5).fit(X), expected)
    assert_same(th.DBSCAN(2.5).fit(sp.csr_array(X)), theirs.DBSCAN(2.5).fit(sp.csr_array(X)))
    D = pairwise_distances(X)
    given = {"metric": "precomputed"}
    assert_same(th.DBSCAN(2.5, **given).fit(D), theirs.DBSCAN(2.5, **given).fit(D))
    graph = sp.csr_array(np.where(D <= 3.0, D, 0.0))
    assert_same(th.DBSCAN(2.5, **given).fit(graph), theirs.DBSCAN(2.5, **given).fit(graph))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_neighbors_in_many_columns_are_found_by_the_tree(dtype, monkeypatch):
    # Lists of all pairs took 200 times as long for 12,000 rows of 16 columns.
    X = rows(600, 16).astype(dtype)
    expected = {eps: th.DBSCAN(eps, algorithm="brute").fit(X) for eps in (2.0, 4.3)}
    assert set(np.unique(expected[4.3].labels_)) == {-1, 0, 1}

    def refused(*args):
        raise AssertionError("the other method is faster")

    for eps, slow in ((4.3, "_by_lists"), (2.0, "_by_tree")):
        with monkeypatch.context() as patched:
            patched.setattr(neighborhoods, slow, refused)
            assert_same(th.DBSCAN(eps).fit(X), expected[eps])


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
def test_a_weight_is_a_number_of_equal_rows(algorithm):
    X = rows(150)
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    model = th.DBSCAN(0.4, min_samples=9, algorithm=algorithm).fit(X, sample_weight=weight)
    repeated = th.DBSCAN(0.4, min_samples=9, algorithm=algorithm).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(np.repeat(model.labels_, weight), repeated.labels_)
    assert 0 < (model.labels_ >= 0).mean() < 1
    weight = np.maximum(weight, 1)
    model.fit(X, sample_weight=weight)
    assert_same(model, theirs.DBSCAN(0.4, min_samples=9).fit(X, sample_weight=weight))


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
def test_a_row_without_weight_joins_no_clusters(algorithm):
    """It is between two clusters with enough weight in reach, but it counts as no row."""
    X, weight = [[0.0], [1.0], [2.0], [2.5]], [3, 0, 3, 0]
    model = th.DBSCAN(1.2, min_samples=3, algorithm=algorithm).fit(X, sample_weight=weight)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.core_sample_indices_.tolist() == [0, 2]


def test_the_order_of_rows_changes_the_numbers_alone():
    X = rows(300, 2)
    model = th.DBSCAN(0.3).fit(X)
    order = np.random.default_rng(1).permutation(len(X))
    other = th.DBSCAN(0.3).fit(X[order])
    assert sorted(order[other.core_sample_indices_]) == model.core_sample_indices_.tolist()
    core = np.isin(order, model.core_sample_indices_)
    assert adjusted_rand_score(model.labels_[order][core], other.labels_[core]) == 1.0
    np.testing.assert_array_equal(model.labels_[order] < 0, other.labels_ < 0)


def test_results_do_not_depend_on_threads():
    X = rows(3000, 2)
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            found.append(th.DBSCAN(0.1).fit_predict(X))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_other_types_of_numbers(dtype):
    X = (2 * rows(100)).astype(dtype)
    assert_same(th.DBSCAN(0.5).fit(X), theirs.DBSCAN(0.5).fit(X))


def test_equal_rows_and_a_single_row():
    model = th.DBSCAN(1e-3, min_samples=10).fit(np.zeros((10, 2)))
    assert model.labels_.tolist() == [0] * 10
    assert th.DBSCAN(1e-3, min_samples=11).fit(np.zeros((10, 2))).labels_.tolist() == [-1] * 10
    assert th.DBSCAN().fit([[1.0, 2.0]]).components_.shape == (0, 2)
    assert th.DBSCAN(min_samples=1).fit([[1.0, 2.0]]).labels_.tolist() == [0]


def test_a_row_between_two_clusters_joins_the_first():
    X = np.array([[4.0], [5.0], [5.5], [0.0], [1.0], [0.5], [2.5]])
    model = th.DBSCAN(1.6, min_samples=4).fit(X)
    assert model.labels_.tolist() == theirs.DBSCAN(1.6, min_samples=4).fit(X).labels_.tolist()
    reverse = th.DBSCAN(1.6, min_samples=3).fit(X)
    assert reverse.labels_[-1] == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"eps": 0}, "eps"),
        ({"eps": -1.0}, "eps"),
        ({"min_samples": 0}, "min_samples"),
        ({"leaf_size": 0}, "leaf_size"),
        ({"p": -1}, "p="),
        ({"algorithm": "blub"}, "algorithm"),
        ({"metric": "cosines"}, "cosines"),
        ({"metric": np.dot, "algorithm": "kd_tree"}, "kd_tree"),
    ],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises(ParameterError, match=words):
        th.DBSCAN(**parameters).fit(rows(20))


def test_bad_data_is_refused():
    given = th.DBSCAN(metric="precomputed")
    with pytest.raises(DataError, match="DBSCAN: Precomputed matrix must be square: it has 3 rows"):
        given.fit(np.zeros((3, 2)))
    with pytest.raises(DataError, match="Negative values"):
        given.fit(-np.ones((3, 3)))
    with pytest.raises(DataError, match="NaN"):
        th.DBSCAN().fit([[np.nan], [1.0]])
    with pytest.raises(DataError, match="weight"):
        th.DBSCAN().fit(rows(20), sample_weight=-np.ones(20))
