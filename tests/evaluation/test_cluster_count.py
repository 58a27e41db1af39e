"""The number of clusters by the gap statistic and by stability."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import thetahat as th


def groups(k, n=160, seed=0):
    corners = 10.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 2]])[:k]
    return make_blobs(n, centers=corners, cluster_std=0.8, random_state=seed)[0]


@pytest.mark.parametrize("k", [1, pytest.param(2, marks=pytest.mark.slow), 4])
def test_the_number_of_separate_groups_is_found(k):
    found = th.how_many_clusters(groups(k), k_max=7, n_references=10, n_halves=4, random_state=0)
    assert int(found) == found.value == k
    assert str(found).startswith(f"{k} cluster{'s' * (k > 1)}: gap ")
    if k > 1:
        assert found.most_stable == k
        assert found.stability[k - 1] > 0.95
    assert (found.standard_error > 0).all()
    assert np.isnan(found.stability[0])


def test_the_gap_is_that_of_its_formula():
    X = groups(2, n=60)
    found = th.how_many_clusters(X, k_max=2, n_references=100, n_halves=2, random_state=0)
    # One cluster of uniform rows in a box: the loss is n times the sum of the variances.
    about = X - X.mean(axis=0)
    turned = about @ np.linalg.svd(about)[2].T
    uniform = 60 * (np.ptp(turned, axis=0) ** 2 / 12).sum()
    assert found.gap[0] == pytest.approx(np.log(uniform / (about**2).sum()), abs=0.05)


def test_units_and_rotation_do_not_matter():
    X = groups(3)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]
    few = dict(k_max=4, n_references=5, n_halves=2, random_state=0)
    one = th.how_many_clusters(X, **few)
    two = th.how_many_clusters(1000 * X @ turn + 5, **few)
    assert one.value == two.value == 3
    np.testing.assert_allclose(one.gap, two.gap, atol=0.15)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(k_max=0), "k_max=0 must be"),
        (dict(n_references=1), "n_references=1 must be"),
        (dict(n_halves=1), "n_halves=1 must be"),
        (dict(k_max=90), "160 distinct rows, but k_max=90 needs more than 180"),
    ],
)
def test_bad_parameters(change, words):
    with pytest.raises(ValueError, match=words):
        th.how_many_clusters(groups(2), **change)


def test_bad_rows():
    with pytest.raises(ValueError, match="NaN"):
        th.how_many_clusters([[0.0], [np.nan], [1.0]], k_max=1)
    with pytest.raises(ValueError, match="1 distinct row,"):
        th.how_many_clusters(np.ones((20, 2)), k_max=2)
