"""Packed rows, Gram matrices, exact gradients and errors of leaving rows out beside plain twins."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference.linalg import sums_of_rows as twin
from thetahat import _native


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("result", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_pack_rows(dtype, result, order, weighted):
    random = np.random.default_rng(1)
    x = random.standard_normal((150, 70)).astype(dtype)
    x = np.asfortranarray(x) if order == "F" else x[::2, ::3] if order == "sliced" else x
    n, d = x.shape
    centre, scale = random.standard_normal(d), 2.0 ** random.integers(-3, 4, d)
    root = random.random(n) if weighted else np.empty(0)
    got, expected = (np.full((n, d + 3), np.nan, dtype=result) for _ in range(2))
    _native.pack_rows(x, centre, scale, root, got, 2)
    twin.pack_rows(x, centre, scale, root, expected, 2)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_gram(dtype, index, weighted):
    random = np.random.default_rng(2)
    x = sp.random_array((40, 12), density=0.3, format="csr", rng=random).astype(dtype)
    indices, indptr = x.indices.astype(index), x.indptr.astype(index)
    weight = random.random(40) if weighted else np.empty(0)
    got, expected = np.ones((12, 12)), np.ones((12, 12))
    _native.sparse_gram(x.data, indices, indptr, weight, got)
    twin.sparse_gram(x.data, indices, indptr, weight, expected)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_compensated_gradient_is_exact_to_rounding(dtype, weighted):
    random = np.random.default_rng(4)
    x = (random.standard_normal((25, 4)) * 10.0 ** np.arange(4) + 1e5).astype(dtype)
    y = random.standard_normal((25, 2)) * 1e3
    centre, scale = x.mean(axis=0, dtype=float), 2.0 ** -np.arange(6.0)
    centre = np.r_[centre, 1.0, -2.0]
    weight = random.random(25) if weighted else np.empty(0)
    z = np.c_[(x - centre[:4]) * scale[:4], np.ones(25)]
    target = (y - centre[4:]) * scale[4:]
    root = np.sqrt(weight)[:, None] if weighted else 1.0
    # At the least-squares solution the sums cancel: only extra precision sees what is left.
    gamma = np.linalg.lstsq(z * root, target * root)[0]
    value, error = np.zeros((2, 5)), np.zeros((2, 5))
    _native.compensated_gradient(x, y, weight, centre, scale, gamma, value, error)
    exact = twin.exact_gradient(x, y, weight, centre, scale, gamma)
    np.testing.assert_allclose(value + error, exact, rtol=1e-8)
    plain = (root**2 * (target - z @ gamma)).T @ z
    assert np.abs(plain / exact - 1.0).max() > 1e-4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_sums(dtype, weighted):
    random = np.random.default_rng(5)
    fitted = random.standard_normal((40, 3)).astype(dtype)
    fit_basis = random.standard_normal((3, 7))
    leverage, basis = random.random((40, 2)).astype(dtype), random.random((2, 7)) / 3
    leverage[5] = 9.0  # a row whose 1 − h is at its floor
    weight = 2 * random.random(40) if weighted else np.empty(0)
    y, totals = random.standard_normal(40), []
    for sums in (_native.leave_one_out_sums, twin.leave_one_out_sums):
        total = np.ones(7)
        sums(y, fitted, fit_basis, leverage, basis, weight, 0.01, 1e-3, total)
        totals.append(total)
    np.testing.assert_allclose(*totals, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
def test_column_frame(dtype, order):
    """Columns of any size, constant ones, and values that are not finite."""
    random = np.random.default_rng(3)
    sizes = 10.0 ** random.integers(-30, 30, 40)
    x = ((random.standard_normal((90, 40)) + random.standard_normal(40)) * sizes).astype(dtype)
    x[:, :3] = [0.0, 0.1, -7.0]
    x[5, 3:7] = np.nan, np.inf, -np.inf, np.finfo(dtype).max
    x[6, 5], x[7, 7], x[:, 8] = np.inf, np.finfo(dtype).tiny / 4, np.finfo(dtype).max
    x = np.asfortranarray(x) if order == "F" else x[::2] if order == "sliced" else x
    got, expected = np.full((2, 43), np.nan), np.full((2, 43), np.nan)
    _native.column_frame(x, *got, 2)
    twin.column_frame(x, *expected, 2)
    # Sums in another order may round differently.
    assert (np.abs(got[0] - expected[0]) <= 1e-12 * expected[1])[2:-1].all()
    np.testing.assert_array_equal(got[1], expected[1])


def test_a_frame_has_rows_and_room():
    room = np.empty(2)
    with pytest.raises(ValueError, match="must have a row"):
        _native.column_frame(np.empty((0, 2)), room, room.copy(), 0)
    with pytest.raises(ValueError, match="no room"):
        _native.column_frame(np.ones((1, 2)), room, room.copy(), 1)


@pytest.mark.parametrize("weight", [90.0, 0.3, 0.0])
def test_centre_products(weight):
    random = np.random.default_rng(4)
    rows = random.standard_normal((50, 7)) + 1e3 * random.random(7)
    rows[:, 2], rows[:, 3] = 0.0, 0.1
    first, products = weight / 50 * rows.sum(axis=0), weight / 50 * rows.T @ rows
    products = (products + products.T) / 2
    got, expected, offset, mean = products.copy(), products.copy(), np.empty(7), np.empty(7)
    shrunk = _native.centre_products(got, first, weight, offset)
    assert shrunk == pytest.approx(twin.centre_products(expected, first, weight, mean), rel=1e-6)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14 * products.max())
    np.testing.assert_array_equal(got, got.T)
    np.testing.assert_allclose(offset, mean)
    with pytest.raises(ValueError, match="must be square"):
        _native.centre_products(got, first[1:], weight, offset)


def test_products_of_equal_rows_lose_all_digits():
    """Whatever the sign of what rounding leaves."""
    for value in np.random.default_rng(5).random(20):
        products, offset = np.full((1, 1), 3 * value * value), np.empty(1)
        shrunk = _native.centre_products(products, np.array([3 * value]), 3.0, offset)
        assert 1e15 < shrunk < 1e16
