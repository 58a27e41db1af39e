"""The public trees: brute force as the oracle, scikit-learn as the peer, and refusals."""

import pickle

import numpy as np
import pytest
import sklearn.neighbors as peer

import thetahat as th


def rows(n=1000, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("axis", ["widest", "alternating"])
@pytest.mark.parametrize("pivot", ["median", "random"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "mahalanobis", "cosine"])
def test_identical_to_brute_force(axis, pivot, metric):
    tree = th.KDTree(rows(), metric=metric, axis=axis, pivot=pivot, leaf_size=3)
    brute = th.NearestNeighbors(metric=metric, algorithm="brute").fit(rows())
    for k in (1, 8):
        distance, row = tree.query(rows(100, seed=1), k=k)
        expected = brute.kneighbors(rows(100, seed=1), k)
        np.testing.assert_array_equal(row, expected[1])
        np.testing.assert_array_equal(distance, expected[0])
    near = tree.query_radius(rows(100, seed=1), r=0.5)
    expected = brute.radius_neighbors(rows(100, seed=1), 0.5, return_distance=False)
    assert all(np.array_equal(a, b) for a, b in zip(near, expected, strict=True))


def test_a_median_tree_is_balanced_and_a_random_one_logarithmic():
    assert th.KDTree(rows(1024), leaf_size=1).depth == 10
    assert 10 < th.KDTree(rows(1024), leaf_size=1, pivot="random").depth < 50


def test_pickled_is_the_same():
    tree = th.KDTree(rows(), leaf_size=4, metric=th.distances.Minkowski(3), pivot="random")
    again = pickle.loads(pickle.dumps(tree))
    assert again.depth == tree.depth
    for a, b in zip(tree.query(rows(20), 3), again.query(rows(20), 3), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: th.KDTree([[1.0], [np.nan]]), "row 1, column 0 is nan"),
        (lambda: th.KDTree([[1.0]], leaf_size=0), "leaf_size=0 must be a whole number ≥ 1"),
        (lambda: th.KDTree([[1.0]], axis="all"), "axis='all' must be one of"),
        (lambda: th.KDTree([[1.0]], metric="hamming"), "not a sum or maximum"),
        (lambda: th.KDTree([[1.0]]).query([[1.0]], k=2), "k=2 neighbours .* holds 1 rows"),
        (lambda: th.KDTree([[1.0]]).query([[1.0]], k=0), "k=0 must be"),
        (
            lambda: th.KDTree([[1.0]]).query([[1.0, 2.0]]),
            "2 columns, but the rows of the tree have 1",
        ),
        (lambda: th.KDTree([[1.0]]).query_radius([[1.0]], r=-1), "r=-1 must be a number ≥ 0"),
    ],
)
def test_refusals(act, message):
    with pytest.raises(ValueError, match=message):
        act()


METRICS = ["euclidean", "manhattan", "canberra", "braycurtis", "hamming", "jaccard", "dice"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.filterwarnings("ignore:.*boolean")
def test_a_ball_tree_finds_the_rows_of_scikit_learn(metric):
    data, new = ((rows(n, 4, seed) > 0).astype(float) * 2 for n, seed in ((60, 0), (9, 1)))
    data[:, 0] = new[:, 0] = 1.0  # theirs is NaN for two rows without any yes
    if metric not in ("jaccard", "dice", "hamming"):
        data, new = np.abs(rows(60, 4)), np.abs(rows(9, 4, 1))
    ours = th.BallTree(data, metric=metric).query(new, 5)[0]
    theirs = peer.BallTree(data, metric=metric).query(new, 5)[0]
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", ["KDTree", "BallTree"])
def test_queries_have_the_arguments_of_scikit_learn(kind):
    ours, theirs = (getattr(each, kind)(rows(200), metric="minkowski", p=3) for each in (th, peer))
    new, radii = rows(30, seed=1), np.linspace(0.0, 1.0, 30)
    options = {"dualtree": True, "breadth_first": True, "sort_results": False}
    found = ours.query(new, 3, return_distance=False, **options)
    np.testing.assert_array_equal(found, theirs.query(new, 3, return_distance=False))
    row, distance = ours.query_radius(new, radii, return_distance=True, sort_results=True)
    expected = theirs.query_radius(new, radii, return_distance=True, sort_results=True)
    for a, b, c, d in zip(row, distance, *expected, strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_allclose(b, d, rtol=1e-12)
    counts = ours.query_radius(new, radii, count_only=True)
    assert counts.tolist() == [len(each) for each in row]
    np.testing.assert_array_equal(
        ours.two_point_correlation(new, radii), theirs.two_point_correlation(new, radii)
    )
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.query(new)[0], ours.query(new)[0])


def test_a_ball_tree_takes_functions_and_their_parameters():
    def gap(a, b, power):
        return float(np.abs(a - b).sum() ** power)

    tree = th.BallTree(rows(50), metric=gap, metric_params={"power": 1})
    expected = th.KDTree(rows(50), metric="manhattan").query(rows(5, seed=1), 3)
    found = tree.query(rows(5, seed=1), 3)
    np.testing.assert_array_equal(found[1], expected[1])
    assert (tree.query_radius(rows(5, seed=1), 1.0, count_only=True)
            == [len(each) for each in tree.query_radius(rows(5, seed=1), 1.0)]).all()  # fmt: skip


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda tree: tree.query([[1.7e308] * 3]), "overflow"),
        (lambda tree: tree.query_radius([[1.7e308] * 3], np.inf), "overflow"),
        (lambda tree: tree.query_radius([[0.0] * 3], [0.1, 0.2]), "each of the 1 queries"),
        (lambda tree: tree.query_radius([[0.0] * 3], "far"), "must be a number ≥ 0"),
        (
            lambda tree: tree.query_radius([[0.0] * 3], 1.0, count_only=True, return_distance=True),
            "cannot both be true",
        ),
        (lambda tree: tree.query_radius([[0.0] * 3], 1.0, sort_results=True), "must be True"),
        (lambda tree: th.BallTree(tree.data, metric_params=3), "must be a dict"),
        (lambda tree: th.BallTree(tree.data, leaf_size=0), "whole number ≥ 1"),
    ],
)
def test_further_refusals(act, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        act(th.KDTree(rows()))


NO_NUMBERS = ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")


@pytest.mark.parametrize("tree", [th.KDTree, th.BallTree])
def test_valid_metrics_are_accepted(tree):
    rows = np.random.default_rng(0).random((30, 2))
    for name in tree.valid_metrics:
        options = {"func": lambda a, b: abs(a - b).sum()} if name == "pyfunc" else {}
        yes_or_no = (rows > 0.5).astype(float)
        X = yes_or_no if name in NO_NUMBERS else rows
        distance, _ = tree(X, metric=name, **options).query(X, k=2)
        assert distance.shape == (30, 2)


def test_a_function_is_passed_as_in_scikit_learn():
    rows = np.random.default_rng(0).random((30, 2))
    tree = th.BallTree(rows, metric="pyfunc", func=lambda a, b: abs(a - b).sum())
    expected = th.BallTree(rows, metric="manhattan").query(rows, k=3)
    for one, same in zip(tree.query(rows, k=3), expected, strict=True):
        np.testing.assert_allclose(one, same)
    with pytest.raises(th.errors.ParameterError, match="func"):
        th.BallTree(rows, metric="pyfunc")
    with pytest.raises(th.errors.ParameterError, match="pyfunc"):
        th.BallTree(rows, func=max)
