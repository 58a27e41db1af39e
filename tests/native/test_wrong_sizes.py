"""Compiled kernels refuse arrays of wrong sizes at the boundary, and write nothing."""

import numpy as np
import pytest

from thetahat import _native


def test_wrong_sizes_are_refused_and_never_written():
    x, out = np.zeros((3, 2)), np.zeros((3, 2))
    none = np.empty(0)
    with pytest.raises(ValueError, match="centre and scale"):
        _native.pack_rows(x, np.zeros(1), np.zeros(2), none, out, 0)
    with pytest.raises(ValueError, match="room"):
        _native.pack_rows(x, np.zeros(2), np.zeros(2), none, out, 1)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.pack_rows(x, np.zeros(2), np.zeros(2), np.zeros(2), out, 0)
    with pytest.raises(TypeError):
        _native.pack_rows(x.astype(int), np.zeros(2), np.zeros(2), none, out, 0)
    data, indptr = np.ones(2), np.array([0, 2], dtype=np.int32)
    with pytest.raises(ValueError, match="column index"):
        _native.sparse_gram(data, np.array([0, 7], dtype=np.int32), indptr, none, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="past the stored"):
        _native.sparse_gram(
            data,
            np.array([0, 1], dtype=np.int32),
            np.array([0, 5], dtype=np.int32),
            none,
            np.zeros((2, 2)),
        )
    with pytest.raises(ValueError, match="must not decrease"):
        _native.sparse_gram(
            data,
            np.array([0, 1], dtype=np.int32),
            np.array([0, 2, 1, 2], dtype=np.int32),
            none,
            np.zeros((2, 2)),
        )
    one = np.zeros(1)
    with pytest.raises(ValueError, match="square"):
        _native.quadratic_sweeps(np.zeros((1, 2)), one, one, one, one, one.copy(), one.copy(), 1)
    with pytest.raises(ValueError, match="bases"):
        _native.leave_one_out_sums(
            one, np.zeros((1, 1)), np.zeros((2, 1)), np.zeros((1, 1)), np.zeros((1, 1)), none,
            0.0, 0.0, one.copy(),
        )  # fmt: skip
    with pytest.raises(ValueError, match="gamma"):
        _native.compensated_gradient(
            x, np.zeros((3, 1)), none, np.zeros(3), np.ones(3), np.zeros((2, 1)),
            np.zeros((1, 3)), np.zeros((1, 3)),
        )  # fmt: skip


def test_wrong_sizes_are_refused_by_the_sparse_kernels():
    gram, c, out = np.eye(2), np.zeros((3, 2)), np.zeros((3, 2))
    one, steps, none = np.zeros(3), np.zeros(3, dtype=np.int64), np.zeros((0, 2))
    with pytest.raises(ValueError, match="square"):
        _native.matching_pursuit(c, c, one, 1, 0.0, out, one, steps, none)
    with pytest.raises(ValueError, match="per target"):
        _native.matching_pursuit(gram, c, np.zeros(2), 1, 0.0, out, one, steps, none)
    with pytest.raises(ValueError, match="more steps"):
        _native.matching_pursuit(gram, c, one, 3, 0.0, out, one, steps, none)
    with pytest.raises(ValueError, match="path"):
        _native.matching_pursuit(gram, c, one, 2, 0.0, out, one, steps, np.zeros((5, 2)))
    with pytest.raises(ValueError, match="rows of correlation"):
        _native.sparse_codes(gram, 1.0, False, c, np.zeros((2, 2)), 0.0, 1, one)
    with pytest.raises(ValueError, match="more steps"):
        _native.least_angles(gram, c, 3, out)
    with pytest.raises(ValueError, match="a row for each entry"):
        _native.least_angle_path(gram, np.zeros(3), False, 1, 1, 0.0, False, False, True)
    with pytest.raises(ValueError, match="no more active columns"):
        _native.least_angle_path(gram, np.zeros(2), False, 1, 3, 0.0, False, False, True)
    cursor, best = np.zeros(3, dtype=np.int64), np.zeros(2)
    members = np.zeros((2, 1), dtype=np.int64)
    with pytest.raises(ValueError, match="between 1"):
        _native.best_subsets(gram, np.zeros(2), 0.0, 3, cursor, best, members, 1)
    with pytest.raises(ValueError, match="one row per size"):
        _native.best_subsets(gram, np.zeros(2), 0.0, 2, cursor, best, members, 1)
    wrong = np.array([1, 9, 0], dtype=np.int64)
    with pytest.raises(ValueError, match="not there"):
        _native.best_subsets(gram, np.zeros(2), 0.0, 1, wrong, best, members, 1)

    rows, shares, theta = np.zeros((2, 3)), np.ones(2), np.zeros(4)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.dual_epochs(
            rows, one, shares, shares, shares, 0.0, 0.0, 1.0, 1.0, 0.0, shares, theta, 0, 1, 0.0
        )
    with pytest.raises(ValueError, match="for the constant"):
        _native.dual_epochs(
            rows, shares, shares, shares, shares, 0.0, 0.0, 1.0, 1.0, 0.0, shares, one, 0, 1, 0.0
        )
    with pytest.raises(ValueError, match="positive"):
        _native.dual_epochs(
            rows, shares, shares, shares, shares, 0.0, 0.0, 0.0, 1.0, 0.0, shares, theta, 0, 1, 0.0
        )
    labels, weights = np.array([0, 2]), np.zeros((4, 2))
    with pytest.raises(ValueError, match="class numbers"):
        _native.class_dual_epochs(rows, labels, shares, 1.0, np.zeros((2, 2)), weights, 0, 1, 0.0)
    with pytest.raises(ValueError, match="classes"):
        _native.class_dual_epochs(rows, labels, shares, 1.0, np.zeros((2, 3)), weights, 0, 1, 0.0)
