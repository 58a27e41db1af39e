"""The public kd-tree: brute force as the oracle, its constructions, and refusals."""

import pickle

import numpy as np
import pytest

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
