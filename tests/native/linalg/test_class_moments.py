"""Sums over the rows of each class, and diagonal Gaussians, against plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference.linalg import class_moments as reference
from thetahat import _native

CLASSES = 4


def case(dtype, order, columns=37):
    random = np.random.default_rng(3)
    x = (random.standard_normal((90, columns)) + 50).astype(dtype)
    x = np.asfortranarray(x) if order == "F" else x[::2, ::3] if order == "sliced" else x
    code = random.integers(0, 3, x.shape[0])  # the last class is empty
    weight = random.integers(0, 3, x.shape[0]).astype(float)
    return x, code, weight


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_moments(dtype, order, weighted):
    x, code, weight = case(dtype, order)
    total, mean, scatter = np.empty(CLASSES), *np.empty((2, CLASSES, x.shape[1]))
    _native.class_moments(x, code, weight if weighted else np.empty(0), total, mean, scatter)
    weight = weight if weighted else np.ones(len(x))
    expected = reference.class_moments(x, code, weight, CLASSES)
    np.testing.assert_array_equal(total, expected[0])
    np.testing.assert_allclose(mean, expected[1], rtol=1e-12)
    np.testing.assert_allclose(scatter, expected[2], rtol=1e-10)


def test_equal_numbers_have_exact_means_and_no_scatter():
    x, code = np.full((7, 3), 0.1), np.zeros(7, dtype=np.int64)
    total, mean, scatter = np.empty(1), *np.empty((2, 1, 3))
    _native.class_moments(x, code, np.full(7, 0.3), total, mean, scatter)
    np.testing.assert_array_equal(mean, 0.1)
    np.testing.assert_array_equal(scatter, 0.0)


def test_large_means_keep_the_digits_of_the_variance():
    random = np.random.default_rng(0)
    small = random.standard_normal((500, 4)).round(8)
    code = random.integers(0, 2, 500)
    results = []
    for shift in (0.0, 2.0**30):
        total, mean, scatter = np.empty(2), *np.empty((2, 2, 4))
        _native.class_moments(small + shift, code, np.empty(0), total, mean, scatter)
        results.append(scatter)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
@pytest.mark.parametrize("threshold", [None, 50.0])
def test_class_sums(dtype, order, threshold):
    x, code, weight = case(dtype, order)
    sums = np.zeros((CLASSES, x.shape[1]))
    reading = (threshold is not None, threshold or 0.0)
    lowest = _native.class_sums(x, code, weight, *reading, sums)
    seen = x.astype(float) if threshold is None else (x > threshold).astype(float)
    np.testing.assert_allclose(sums, reference.class_sums(seen, code, weight, CLASSES), rtol=1e-12)
    assert lowest == x.min()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("threshold", [None, 50.0])
def test_class_sums_of_sparse_rows(dtype, index, threshold):
    x, code, weight = case(dtype, "C")
    rows = sp.csr_array(np.where(x > 50.5, x, 0).astype(dtype))
    sums = np.zeros((CLASSES, x.shape[1]))
    parts = (rows.data, rows.indices.astype(index), rows.indptr.astype(index))
    reading = (threshold is not None, threshold or 0.0)
    lowest = _native.class_sums_sparse(*parts, code, weight, *reading, sums)
    dense = rows.toarray().astype(float)
    seen = dense if threshold is None else (dense > threshold).astype(float)
    np.testing.assert_allclose(sums, reference.class_sums(seen, code, weight, CLASSES), rtol=1e-12)
    assert lowest == rows.data.min()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
@pytest.mark.parametrize("columns", [1, 5, 100])
def test_diagonal_gaussians(dtype, order, columns):
    x, _, _ = case(dtype, order, columns)
    random = np.random.default_rng(4)
    mean, factor = (
        random.standard_normal((CLASSES, x.shape[1])),
        random.random((CLASSES, x.shape[1])),
    )
    constant, out = random.standard_normal(CLASSES), np.empty((len(x), CLASSES))
    _native.diagonal_gaussians(x, mean, factor, constant, out)
    expected = reference.diagonal_gaussians(x.astype(float), mean, factor, constant)
    np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_sizes_and_codes_are_checked():
    x, code, nothing = np.ones((3, 2)), np.zeros(3, dtype=np.int64), np.empty(0)
    total, mean, scatter = np.empty(2), *np.empty((2, 2, 2))
    with pytest.raises(ValueError, match="out of range"):
        _native.class_moments(x, code + 2, nothing, total, mean, scatter)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.class_moments(x, code[:2], nothing, total, mean, scatter)
    with pytest.raises(ValueError, match="classes × columns"):
        _native.class_moments(x, code, nothing, total, mean[:, :1].copy(), scatter)
    with pytest.raises(ValueError, match="one column per column"):
        _native.class_sums(x, code, nothing, False, 0.0, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="column index is out of range"):
        _native.class_sums_sparse(
            np.ones(1), np.array([5]), np.array([0, 1]), code[:1], nothing, False, 0.0, mean
        )
    with pytest.raises(ValueError, match="rows × classes"):
        _native.diagonal_gaussians(x, mean, scatter, total, np.empty((3, 3)))
