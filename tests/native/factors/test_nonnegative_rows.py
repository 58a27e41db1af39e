"""The compiled updates of non-negative factors beside plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference.factors import nonnegative_rows as reference
from thetahat import _native


@pytest.mark.parametrize(("dtype", "accuracy"), [(np.float64, 1e-10), (np.float32, 1e-3)])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (7, 3), (8, 4), (16, 5), (33, 9)])
@pytest.mark.parametrize("sweeps", [1, 3])
def test_sweeps(n, k, sweeps, dtype, accuracy):
    rng = np.random.default_rng(n + k)
    H = rng.random((k, 20)).astype(dtype)
    if k == 5:
        H[2] = 0.0  # a component without curvature
    gram, cross = H @ H.T, rng.standard_normal((n, k)).astype(dtype)
    start = np.maximum(rng.standard_normal((n, k)), 0.0).astype(dtype)
    order = rng.permutation(k)
    expected, violation = reference.nonnegative_sweeps(gram, cross, order, sweeps, start)
    found = start.copy()
    total = _native.nonnegative_sweeps(gram, cross, order, sweeps, 0.0, found)
    np.testing.assert_allclose(found, expected, rtol=accuracy, atol=accuracy)
    assert total == pytest.approx(violation, rel=10 * accuracy)


def test_rows_do_not_depend_on_each_other_and_stop_alone():
    rng = np.random.default_rng(0)
    H = rng.random((4, 9))
    gram, cross, order = H @ H.T, rng.random((19, 9)) @ H.T, np.arange(4)
    together = np.zeros((19, 4))
    _native.nonnegative_sweeps(gram, cross, order, 50, 1e-3, together)
    for i in range(19):
        alone = np.zeros((1, 4))
        _native.nonnegative_sweeps(gram, cross[i : i + 1], order, 50, 1e-3, alone)
        assert np.array_equal(alone[0], together[i])


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 1.5, 3.0])
def test_sparse_divergence(beta, index):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((11, 8)) < 0.5, 0.0, rng.random((11, 8)))
    left, right = rng.random((11, 3)), rng.random((8, 3))
    left[2] = 0.0
    stored = sp.csr_array(X)
    numerator = np.empty((11, 3))
    value = _native.sparse_divergence(
        stored.data, stored.indices.astype(index), stored.indptr.astype(index), left, right, beta,
        1e-7, True, numerator,
    )  # fmt: skip
    expected = reference.sparse_divergence(X, left, right, beta, 1e-7)
    np.testing.assert_allclose(numerator, expected[0], rtol=1e-10)
    assert value == pytest.approx(expected[1], rel=1e-10)


@pytest.mark.parametrize("beta", [-1.0, 0.0, 0.7, 1.0, 1.5, 3.0])
@pytest.mark.parametrize(("dtype", "accuracy"), [(np.float64, 1e-11), (np.float32, 1e-4)])
def test_ratios_and_powers(beta, dtype, accuracy):
    rng = np.random.default_rng(0)
    X, left, right = (rng.random(size).astype(dtype) for size in ((9, 21), (9, 3), (3, 21)))
    ratios = np.empty_like(X)
    powers = np.empty_like(X) if beta != 1 else np.empty((0, 0), dtype)
    value = _native.divergence_ratios(X, left, right, beta, 1e-12, True, ratios, powers)
    p = left.astype(float) @ right
    np.testing.assert_allclose(ratios, X * p ** (beta - 2), rtol=accuracy)
    if beta == 1:
        expected = (X * np.log(X / p)).sum()
    else:
        np.testing.assert_allclose(powers, p ** (beta - 1), rtol=accuracy)
        parts = (beta - 1) * p**beta - beta * X * p ** (beta - 1)
        expected = (X / p - np.log(X / p) - 1 if beta == 0 else parts).sum()
    assert value == pytest.approx(expected, rel=10 * accuracy)


@pytest.mark.parametrize("power", [1.0, 0.5])
@pytest.mark.parametrize("rows", [1, 7])
def test_factors_are_multiplied_by_their_ratios(power, rows):
    rng = np.random.default_rng(0)
    factor, up, down = rng.random((7, 3)), rng.random((7, 3)), rng.random((rows, 3))
    down[0, 1], factor[2, 2] = 0.0, 1e-300
    expected = factor * np.divide(
        up, down + 0.1 * (down > 0), out=np.zeros_like(up), where=np.broadcast_to(down > 0, (7, 3))
    )
    found = factor.copy()
    _native.multiply_factor(found, up, down, 0.0, 0.0, power)
    assert (found[down[:, 1] == 0, 1] == 0).all() if rows == 7 else (found[:, 1] == 0).all()
    assert found[2, 2] == 0.0
    penalised = factor.copy()
    _native.multiply_factor(penalised, up, down, 0.2, 0.3, power)
    expected = factor * (up / (down + 0.2 + 0.3 * factor)) ** power
    np.testing.assert_allclose(penalised[:2], expected[:2], rtol=1e-12)


@pytest.mark.parametrize("index", [None, np.int32, np.int64])
@pytest.mark.parametrize("penalty", [(0.0, 0.0), (0.05, 0.02)])
@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 1.3, 1.5, 2.0, 3.0])
def test_weights_of_rows_are_optimal(beta, penalty, index):
    rng = np.random.default_rng(1)
    H, X = rng.random((3, 10)) ** 3, rng.random((6, 10))
    if beta > 0:
        X[:, ::3] = 0.0
        X[2] = 0.0
    weights, power = np.empty((6, 3)), {0.0: 0.5, 0.5: 2 / 3, 3.0: 0.5}.get(beta, 1.0)
    settings = (np.ascontiguousarray(H.T), beta, power, *penalty, 1e-12, 20_000, 1e-9, weights)
    if index is None:
        _native.divergence_weights(X, *settings)
    else:
        stored = sp.csr_array(X)
        bounds = stored.indices.astype(index), stored.indptr.astype(index)
        _native.sparse_divergence_weights(stored.data, *bounds, *settings)
    for x, w in zip(X, weights, strict=True):
        if not x.any():
            assert not w.any()
            continue
        slopes, size = reference.divergence_slopes(x, w, H, beta, *penalty), 1 + H.sum()
        assert np.abs(slopes[w > 1e-6]).max(initial=0.0) < 1e-5 * size
        assert slopes.min() > -1e-5 * size
    alone = np.empty((1, 3))
    _native.divergence_weights(X[4:5], *settings[:-1], alone)
    assert np.array_equal(alone[0], weights[4])


def test_weights_leave_0_and_stay_at_0():
    """One component alone explains the rows, whatever the start."""
    H = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    weights = np.empty((2, 2))
    _native.divergence_weights(
        np.array([[2.0, 4.0, 0.0], [0.0, 2.0, 6.0]]), np.ascontiguousarray(H.T), 1.0, 1.0, 0.0, 0.0,
        1e-12, 1000, 1e-12, weights,
    )  # fmt: skip
    np.testing.assert_allclose(weights, [[2.0, 0.0], [0.0, 2.0]], atol=1e-9)


def test_wrong_shapes_are_refused():
    square, row = np.eye(3), np.ones((2, 3))
    with pytest.raises(ValueError, match="numbers of components"):
        _native.nonnegative_sweeps(square, row, np.array([0, 1, 3]), 1, 0.0, row.copy())
    with pytest.raises(ValueError, match="shape of the rows"):
        _native.nonnegative_sweeps(square, row[:1], np.arange(3), 1, 0.0, row.copy())
    with pytest.raises(ValueError, match="out of range"):
        _native.sparse_divergence(
            np.ones(1), np.array([3]), np.array([0, 1, 1]), row, square, 1.0, 1e-7, True, row.copy()
        )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (70, 9, 5), (33, 300, 12)])
def test_swept_products_are_sweeps_between_two_products(n, d, k, dtype):
    rng = np.random.default_rng(n)
    X, right, start = (rng.random(size).astype(dtype) for size in ((n, d), (d, k), (n, k)))
    gram, order = right.T @ right, rng.permutation(k)
    expected = start.copy()
    violation = _native.nonnegative_sweeps(gram, X @ right - dtype(0.5), order, 3, 0.01, expected)
    found, back = start.copy(), np.empty((d, k), dtype)
    total = _native.swept_products(X, right, gram, 0.5, order, 3, 0.01, found, back)
    accuracy = 1e-9 if dtype is np.float64 else 1e-2
    assert total == pytest.approx(violation, rel=accuracy)
    np.testing.assert_allclose(found, expected, rtol=accuracy, atol=accuracy)
    np.testing.assert_allclose(back, X.T @ found, rtol=accuracy)


@pytest.mark.parametrize(("dtype", "accuracy"), [(np.float64, 1e-12), (np.float32, 1e-4)])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (6, 43, 3), (9, 16, 20)])
def test_divergence_ratios(n, d, k, dtype, accuracy):
    rng = np.random.default_rng(n)
    X = np.where(rng.random((n, d)) < 0.3, 0.0, 10 ** rng.uniform(-5, 5, (n, d))).astype(dtype)
    left, right = rng.random((n, k)).astype(dtype), rng.random((k, d)).astype(dtype)
    left[0] = 0.0
    ratios = np.empty_like(X)
    value = _native.divergence_ratios(X, left, right, 1.0, 1e-6, True, ratios, ratios[:0])
    product = np.maximum(left.astype(float) @ right, 1e-6)
    np.testing.assert_allclose(ratios, X / product, rtol=accuracy)
    positive = X > 0
    terms = X[positive] * np.log(X[positive] / product[positive])
    assert value == pytest.approx(terms.sum(), abs=accuracy * np.abs(terms).sum())
    assert _native.divergence_ratios(X, left, right, 1.0, 1e-6, False, ratios, ratios[:0]) == 0.0
    with pytest.raises(ValueError, match="must have"):
        _native.divergence_ratios(X, left, right, 0.5, 1e-6, True, ratios, ratios[:0])
