"""The compiled updates of non-negative factors beside plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference import nonnegative_rows as reference
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
    value = _native.divergence_ratios(X, left, right, 1e-6, True, ratios)
    product = np.maximum(left.astype(float) @ right, 1e-6)
    np.testing.assert_allclose(ratios, X / product, rtol=accuracy)
    positive = X > 0
    terms = X[positive] * np.log(X[positive] / product[positive])
    assert value == pytest.approx(terms.sum(), abs=accuracy * np.abs(terms).sum())
    assert _native.divergence_ratios(X, left, right, 1e-6, False, ratios) == 0.0
    with pytest.raises(ValueError, match="must have"):
        _native.divergence_ratios(X, left, right, 1e-6, True, np.empty((n + 1, d), dtype))
