"""Coordinate descent and the bounds of the lasso beside their plain twins."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference.sparse import coordinate_descent as twin
from thetahat import _native


def test_quadratic_sweeps():
    random = np.random.default_rng(3)
    root = random.standard_normal((30, 8))
    gram, c = root.T @ root, random.standard_normal(8) * 5
    gram[3], gram[:, 3] = 0.0, 0.0
    l1, l2 = random.random(8), random.random(8) * (np.arange(8) != 3)
    lower, upper = np.full(8, -0.1), np.full(8, np.inf)
    states = []
    for sweeps in (_native.quadratic_sweeps, twin.quadratic_sweeps):
        theta, gradient = np.zeros(8), -c.copy()
        largest = sweeps(gram, l1, l2, lower, upper, theta, gradient, 20)
        np.testing.assert_allclose(gradient, gram @ theta - c, atol=1e-10)
        states.append((theta, largest))
    np.testing.assert_allclose(states[0][0], states[1][0], rtol=1e-12)
    assert states[0][1] == pytest.approx(states[1][1])
    assert states[0][0][3] == 0.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
def test_correlate_and_column_squares(dtype, order):
    random = np.random.default_rng(12)
    x = random.standard_normal((150, 70)).astype(dtype)
    x = np.asfortranarray(x) if order == "F" else x[::2, ::3] if order == "sliced" else x
    n, d = x.shape
    r, mean, weight = random.standard_normal(n), random.standard_normal(d), random.random(n)
    slopes, squares = np.full(d + 3, 7.0), np.full(d + 3, 7.0)
    _native.correlate(x, r, slopes, 2)
    _native.column_squares(x, mean, weight, squares, 2)
    wide = x.astype(float)
    np.testing.assert_allclose(slopes[2 : 2 + d], wide.T @ r, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(squares[2 : 2 + d], weight @ (wide - mean) ** 2, rtol=1e-12)
    for out in (slopes, squares):
        assert (out[[0, 1, -1]] == 7.0).all()
    columns = sp.csc_array(np.where(np.abs(x) < 0.5, 0, x))
    sparse = np.zeros(d)
    _native.correlate_sparse(columns.data, columns.indices, columns.indptr, r, sparse, 0)
    np.testing.assert_allclose(sparse, columns.T @ r, rtol=1e-6)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.7])
def test_lasso_gap_and_room(nonnegative, l2):
    random = np.random.default_rng(13)
    for _ in range(20):
        beta, slopes = random.standard_normal((2, 6)) * (random.random((2, 6)) < 0.6)
        beta = np.abs(beta) if nonnegative else beta
        squares, room = random.random(6) * (random.random(6) < 0.8), np.empty(6)
        terms = random.random(6) + 0.1, np.full(6, l2), np.full(6, 0.0 if nonnegative else -np.inf)
        for slack in (np.zeros(1), random.random(6)):
            given = beta, slopes, slack, *terms, 3.0, 2.0
            found, expected = _native.lasso_gap(*given), twin.lasso_gap(*given)
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            given = beta, slopes, slack, squares, *terms, 0.7
            _native.lasso_room(*given, room)
            np.testing.assert_allclose(room, twin.lasso_room(*given), rtol=1e-12)
            found, expected = _native.lasso_move(*given[:-1]), twin.lasso_move(*given[:-1])
            np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("kind", ["gram", "sparse", "float32", "wide index"])
def test_descents_reach_the_minimum_of_their_twin(kind, nonnegative):
    """Two ways to hold the residual, one minimum; columns have means that are taken off."""
    random = np.random.default_rng(14)
    x = random.standard_normal((40, 9)) + random.standard_normal(9)
    x = np.where(np.abs(x) < 0.4, 0.0, x)
    x = x.astype(np.float32) if kind == "float32" else x
    mean, y = x.mean(axis=0, dtype=float), random.standard_normal(40) * 3
    y -= y.mean()
    centred = x - mean
    gram, start = centred.T @ centred, centred.T @ y
    terms = np.full(9, 4.0), np.full(9, 0.5), np.full(9, 0.0 if nonnegative else -np.inf)
    expected = np.zeros(9)
    slopes = twin.descend_gram(gram, start, *terms, expected, 500)
    beta, limits = np.zeros(9), (1e-13, 0.0, 10_000)
    order = np.arange(9)[::-1].astype(np.int64)
    if kind == "gram":
        room = np.full((12, 12), np.nan)
        room[:9, :9] = gram
        left, active = np.empty(9), _native.ActiveSet(9)
        sweeps, gap, _ = _native.descend_gram(
            room, start, y @ y, *terms, beta, left, active, *limits
        )
        np.testing.assert_allclose(left, slopes, atol=1e-6)
    else:
        index = np.int64 if kind == "wide index" else np.int32
        columns, part, residual = sp.csc_array(x), np.zeros(9), np.append(y, 0.0)
        sweeps, gap, _ = _native.descend_sparse(
            columns.data, columns.indices.astype(index), columns.indptr.astype(index), mean, 40.0,
            y, order, np.diagonal(gram)[order].copy(), *terms, part, residual, *limits,
        )  # fmt: skip
        beta[order] = part
        np.testing.assert_allclose(residual[:-1] + residual[-1], y - centred @ beta, atol=1e-8)
    assert sweeps < 10_000
    assert gap <= 1e-13
    np.testing.assert_allclose(beta, expected, atol=1e-6)


def test_descend_tasks():
    random = np.random.default_rng(15)
    root = random.standard_normal((30, 7))
    gram, start = root.T @ root, random.standard_normal((7, 3)) * 20
    l1, l2 = np.full(7, 15.0), np.full(7, 0.3)
    expected = np.zeros((7, 3))
    slopes = twin.descend_tasks(gram, start, l1, l2, expected, 500)
    beta, left, by_task = np.zeros((3, 7)), start.T.copy(), start.T.copy()
    yy = float(np.sum(start * np.linalg.solve(gram, start))) + 1.0
    _, gap, _ = _native.descend_tasks(gram, by_task, yy, l1, l2, beta, left, 1e-10, 0.0, 10_000)
    np.testing.assert_allclose(beta.T, expected, atol=1e-7)
    np.testing.assert_allclose(left.T, slopes, atol=1e-5)
    rr = yy - np.sum(beta * (by_task + left))
    room, squares = np.empty(7), np.diagonal(gram).copy()
    squares[3] = 0.0
    again, value = _native.task_gap(
        beta, left, squares, l1, l2, rr, yy - np.sum(beta * by_task), room
    )
    assert gap == pytest.approx(again, abs=1e-9)
    assert gap <= 1e-10
    sizes = np.linalg.norm(beta, axis=0)
    assert value == pytest.approx(rr / 2 + np.sum(l1 * sizes + l2 / 2 * sizes**2))
    steepness = np.linalg.norm(left - l2 * beta, axis=0)
    expected_room = (l1 - steepness) / np.sqrt(squares + l2)
    expected_room[3] = np.inf
    np.testing.assert_allclose(room, expected_room, atol=1e-12)
    with pytest.raises(ValueError, match="room must have"):
        _native.task_gap(beta, left, squares, l1, l2, rr, rr, room[1:])


def test_descents_refuse_wrong_sizes():
    one, two, whole = np.ones(1), np.ones(2), np.zeros(1, dtype=np.int64)
    limits = (0.0, 0.0, 1)
    with pytest.raises(ValueError, match="out of range"):
        _native.descend_sparse(
            one, np.zeros(1, np.int32), np.array([0, 1], np.int32), one, 1.0, np.ones(3),
            whole + 2, one, one, one, one, one.copy(), np.ones(4), *limits,
        )  # fmt: skip
    with pytest.raises(ValueError, match="row index"):
        _native.descend_sparse(
            one, np.full(1, 9, np.int32), np.array([0, 1], np.int32), one, 1.0, np.ones(3), whole,
            one, one, one, one, one.copy(), np.ones(4), *limits,
        )  # fmt: skip
    with pytest.raises(ValueError, match="as large as beta"):
        _native.descend_gram(
            np.ones((1, 1)), two, 1.0, two, two, two, two.copy(), two.copy(),
            _native.ActiveSet(2), *limits,
        )  # fmt: skip
    with pytest.raises(ValueError, match="l1 must be positive"):
        _native.descend_tasks(
            np.ones((1, 1)), np.ones((1, 1)), 1.0, np.zeros(1), np.zeros(1), np.ones((1, 1)),
            np.ones((1, 1)), *limits,
        )  # fmt: skip
    with pytest.raises(ValueError, match="no room"):
        _native.correlate(np.ones((3, 2), order="F"), np.ones(3), two.copy(), 1)
    with pytest.raises(ValueError, match="row indices"):
        _native.correlate_sparse(
            one, np.full(1, 9, np.int32), np.array([0, 1], np.int32), np.ones(3), two.copy(), 0
        )
