"""The compiled steps of k-means against plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference.cluster.clusters import squares
from thetahat import _native
from thetahat.data.source import Block
from thetahat.models.cluster.nearest import Centres, Frame, find_nearest
from thetahat.models.cluster.sums import cluster_sums


def rows(n, d, dtype, seed=0, offset=0.0):
    return (np.random.default_rng(seed).standard_normal((n, d)) + offset).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (30, 3, 2), (2000, 7, 40), (700, 50, 33)])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_nearest_centres_are_those_of_a_full_search(n, d, k, dtype, offset):
    X = rows(n, d, dtype, offset=offset)
    centres = rows(k, d, dtype, seed=1, offset=offset).astype(float)
    middle = X.mean(axis=0, dtype=float)
    frame = Frame.around(middle, float(squares(X, middle[None]).max()))
    label, square, lower = np.zeros(n, np.int32), np.zeros(n), np.full(n, -np.inf)
    changed = find_nearest(X, Centres(centres, frame), label, square, lower)
    expected = squares(X, centres)
    assert changed == np.count_nonzero(expected.argmin(axis=1))
    np.testing.assert_array_equal(label, expected.argmin(axis=1))
    np.testing.assert_allclose(square, expected.min(axis=1), rtol=1e-12)
    if k > 1:
        assert (lower <= np.sqrt(np.sort(expected, axis=1)[:, 1])).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 21])
def test_rows_searched_together_have_the_squares_of_single_rows_bit_for_bit(d, dtype):
    n, k = 37, 11
    X, centres = rows(n, d, dtype), rows(k, d, float, seed=1)
    centres[7] = centres[2]  # the first of equal centres is the nearest
    which = np.random.default_rng(2).permutation(n)[:-2].astype(np.int32)
    label, square, lower = np.full(n, -1, np.int32), np.zeros(n), np.zeros(n)
    assert _native.settle_directly(X, which, centres, label, square, lower) == n - 2
    expected = squares(X, centres)
    np.testing.assert_array_equal(label[which], expected.argmin(axis=1)[which])
    second = np.sqrt(np.sort(expected, axis=1)[:, 1])[which]
    np.testing.assert_allclose(lower[which], second, rtol=1e-6)
    assert (np.delete(label, which) == -1).all()
    label[label < 0], single, far = 0, np.zeros(n), np.full(n, 1e9)
    still, doubtful = np.zeros(k), np.empty(n, np.int32)
    _native.rows_in_doubt(X, centres, still, still, label, single, far, doubtful)
    np.testing.assert_array_equal(square[which], single[which])


def test_sums_of_sparse_rows_are_those_of_dense_rows():
    random = np.random.default_rng(0)
    X = random.standard_normal((90, 6)) * (random.random((90, 6)) < 0.3)
    centres, label = rows(4, 6, float), random.integers(3, size=90).astype(np.int32)
    for dtype in (np.float32, np.float64):
        for weight in (None, random.integers(0, 3, 90).astype(float)):
            dense = X.astype(dtype)
            square = squares(dense, centres)[np.arange(90), label]
            found, expected = (
                cluster_sums(Block(X=each, weight=weight), centres, label, square)
                for each in (sp.csr_array(dense), dense)
            )
            np.testing.assert_allclose(found.sums, expected.sums, atol=1e-12)
            np.testing.assert_array_equal(found.weight, expected.weight)
            np.testing.assert_array_equal(found.count, expected.count)
            assert found.loss == pytest.approx(expected.loss)


def test_lengths_of_sparse_rows_are_kept_between_searches():
    random = np.random.default_rng(0)
    X = sp.csr_array(random.standard_normal((50, 6)) * (random.random((50, 6)) < 0.4))
    label, square, lower = np.zeros(50, np.int32), np.zeros(50), np.full(50, -np.inf)
    for seed in (1, 2):
        centres = rows(4, 6, float, seed=seed)
        find_nearest(X, Centres(centres, Frame(np.zeros(6), 1.0)), label, square, lower)
        expected = squares(X.toarray(), centres)
        np.testing.assert_array_equal(label, expected.argmin(axis=1))
        np.testing.assert_allclose(square, expected.min(axis=1))


def test_bounds_keep_labels_right_while_centres_move():
    random = np.random.default_rng(0)
    X = np.concatenate([rows(300, 12, float, seed=s, offset=4.0 * s) for s in range(8)])
    centres = X[random.choice(len(X), 64, replace=False)].copy()
    middle = X.mean(axis=0)
    frame = Frame.around(middle, float(squares(X, middle[None]).max()))
    n = len(X)
    label, square, lower = np.zeros(n, np.int32), np.zeros(n), np.full(n, -np.inf)
    move, searched = None, []
    for step in range(12):
        doubtful = np.empty(n, np.int32)
        now = Centres(centres, frame, move)
        bounds = lower.copy(), square.copy()
        searched.append(
            _native.rows_in_doubt(X, now.values, now.half_gap, now.move, label, *bounds[::-1],
                                  doubtful)
        )  # fmt: skip
        find_nearest(X, now, label, square, lower)
        expected = squares(X, centres)
        np.testing.assert_array_equal(label, expected.argmin(axis=1))
        np.testing.assert_allclose(square, expected.min(axis=1), rtol=1e-12)
        shift = random.standard_normal(centres.shape) * 0.3 * 0.5**step
        centres, move = centres + shift, np.linalg.norm(shift, axis=1) * (1 + 1e-12)
    assert searched[0] == n
    assert searched[-1] < 0.2 * n  # else the bounds would be of no use


def test_equal_distances_give_the_first_centre():
    X = np.zeros((3000, 30))
    centres = np.zeros((30, 30))
    centres[3:, 0] = 1.0
    label, square, lower = np.zeros(3000, np.int32), np.zeros(3000), np.full(3000, -np.inf)
    find_nearest(X, Centres(centres, Frame(np.zeros(30), 1.0)), label, square, lower)
    assert not label.any()
    assert not lower.any()


@pytest.mark.parametrize("weighted", [False, True])
def test_cluster_sums_are_sums_about_the_centres(weighted):
    X, centres = rows(400, 5, np.float32), rows(6, 5, float, seed=1)
    random = np.random.default_rng(2)
    label = random.integers(6, size=400).astype(np.int32)
    square = squares(X, centres)[np.arange(400), label]
    weight = random.integers(0, 3, 400).astype(float) if weighted else np.empty(0)
    sums, total, count = np.zeros((6, 5)), np.zeros(6), np.zeros(6, np.int64)
    loss = _native.cluster_sums(X, weight, label, square, centres, sums, total, count)
    weight = weight if weighted else np.ones(400)
    expected = np.zeros((6, 5))
    np.add.at(expected, label, weight[:, None] * (X - centres[label]))
    np.testing.assert_allclose(sums, expected, atol=1e-11)
    np.testing.assert_allclose(total, np.bincount(label, weight, 6))
    np.testing.assert_array_equal(count, np.bincount(label[weight > 0], minlength=6))
    assert loss == pytest.approx(weight @ square)


def test_candidates_of_far_rows_are_measured_where_they_may_be_nearer():
    X, centres, tried = rows(500, 4, float), rows(9, 4, float, seed=1), rows(3, 4, float, seed=2)
    now = squares(X, centres)
    nearest, owner = now.min(axis=1), now.argmin(axis=1).astype(np.int32)
    reach = 0.25 * squares(tried, centres)
    total = np.zeros(3)
    _native.potentials(X, np.empty(0), nearest, owner, tried, reach, total)
    expected = np.minimum(nearest[:, None], squares(X, tried))
    np.testing.assert_allclose(total, expected.sum(axis=0))
    _native.take_candidate(X, nearest, owner, tried[:1], reach[:1], 8)
    np.testing.assert_allclose(nearest, expected[:, 0])


@pytest.mark.parametrize("label", [-1, 3])
def test_labels_out_of_range_are_refused(label):
    X, centres = rows(4, 2, float), rows(3, 2, float)
    labels = np.full(4, label, np.int32)
    with pytest.raises(ValueError, match="labels must be numbers of centres"):
        _native.cluster_sums(X, np.empty(0), labels, np.zeros(4), centres, np.zeros((3, 2)),
                             np.zeros(3), np.zeros(3, np.int64))  # fmt: skip
    with pytest.raises(ValueError, match="labels must be numbers of centres"):
        _native.rows_in_doubt(X, centres, np.zeros(3), np.zeros(3), labels, np.zeros(4),
                              np.zeros(4), np.zeros(4, np.int32))  # fmt: skip


def test_rows_out_of_range_are_refused():
    X, which = rows(4, 2, float), np.array([4], np.int32)
    with pytest.raises(ValueError, match="within the block"):
        _native.settle_directly(X, which, X, np.zeros(4, np.int32), np.zeros(4), np.zeros(4))
