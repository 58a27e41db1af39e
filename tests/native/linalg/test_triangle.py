"""Substitution with a lower triangle, against its plain twin."""

import numpy as np
import pytest

from tests.reference import kernels as twin
from thetahat import _native

SIZES = [0, 1, 2, 3, 4, 5, 8, 31, 64]


def triangle(size, seed=0):
    """A factor in the corner of a larger array, with what must not be read beside it."""
    random = np.random.default_rng(seed)
    root = random.standard_normal((size, size + 3))
    room = np.full((size + 2, size + 5), np.nan)
    if size:
        room[:size, :size] = np.tril(np.linalg.cholesky(root @ root.T))
        room[:size, :size][np.triu_indices(size, 1)] = np.nan
    return room


def rows_of(count, size):
    return np.random.default_rng(1).standard_normal((count, size + 1))[:, :size]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 8, 9, 23])
def test_rows(size, count):
    L = triangle(size)
    rows = rows_of(count, size)
    expected = rows.copy()
    _native.substitute_rows(L, rows, 0)
    twin.substitute_rows(L, expected, 0)
    np.testing.assert_allclose(rows, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(rows @ np.tril(L[:size, :size]).T, rows_of(count, size), atol=1e-9)


@pytest.mark.parametrize("first", [0, 1, 5, 8, 30, 31])
def test_entries_that_are_done_stay(first):
    L, rows = triangle(31), rows_of(6, 31)
    whole, step = rows.copy(), rows.copy()
    _native.substitute_rows(L, whole, 0)
    step[:, :first] = whole[:, :first]
    _native.substitute_rows(L, step, first)
    np.testing.assert_array_equal(step, whole)


def test_neighbours_change_no_bit():
    L, rows = triangle(64), rows_of(23, 64)
    together, alone = rows.copy(), rows.copy()
    _native.substitute_rows(L, together, 0)
    for at in range(len(rows)):
        _native.substitute_rows(L, alone[at : at + 1], 0)
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("size", SIZES)
def test_back(size):
    L, x = triangle(size), np.random.default_rng(2).standard_normal(size)
    found, expected = x.copy(), x.copy()
    _native.substitute_back(L, found)
    twin.substitute_back(L, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.tril(L[:size, :size]).T @ found, x, atol=1e-9)


def test_sizes_and_strides_are_checked():
    for L, rows in ((np.eye(2), np.zeros((1, 3))), (np.ones((3, 2)), np.zeros((1, 3)))):
        with pytest.raises(ValueError, match="side"):
            _native.substitute_rows(L, rows, 0)
        with pytest.raises(ValueError, match="side"):
            _native.substitute_back(L, rows[0])
    across = np.asfortranarray(np.eye(3))
    with pytest.raises(ValueError, match="contiguous"):
        _native.substitute_rows(across, np.zeros((1, 3)), 0)
    with pytest.raises(ValueError, match="contiguous"):
        _native.substitute_back(across, np.zeros(3))
    with pytest.raises(ValueError, match="contiguous"):
        _native.substitute_rows(np.eye(3), np.zeros((3, 2)).T, 0)


@pytest.mark.parametrize("rank", [0, 1, 3, 6])
@pytest.mark.parametrize("size", [1, 6, 20])
def test_independent_columns(rank, size):
    columns = np.random.default_rng(rank).standard_normal((size, rank))
    a, order = columns @ columns.T, np.empty(size, dtype=np.int64)
    least = 1e-9 * np.maximum(np.diagonal(a), 1.0)
    found = _native.independent_columns(a.copy(), least, order)
    assert found == min(rank, size)
    assert sorted(order) == list(range(size))
    assert np.linalg.matrix_rank(columns[order[:found]]) == found


def test_sizes_of_what_is_to_be_told_apart_are_checked():
    with pytest.raises(ValueError, match="square"):
        _native.independent_columns(np.eye(3), np.zeros(2), np.empty(3, dtype=np.int64))
