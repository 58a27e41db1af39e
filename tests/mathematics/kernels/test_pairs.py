"""Sums over the columns of pairs of rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import thetahat as th
from thetahat.mathematics.kernels.pairs import squared_norms


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_squared_norms_of_sparse_rows(dtype):
    """Also of empty rows, of entries that are stored twice, and of other formats."""
    dense = np.array([[0, 3, 4], [0, 0, 0], [1, 0, 2], [0, 0, 0]], dtype=dtype)
    twice = csr_array((np.array([1, 2, 4], dtype), [1, 1, 2], [0, 3, 3, 3, 3]), (4, 3))
    for rows, expected in (
        (csr_array(dense), [25, 0, 5, 0]),
        (csr_array(dense).tocsc(), [25, 0, 5, 0]),
        (twice, [25, 0, 0, 0]),
    ):
        found = squared_norms(rows)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == dtype
        np.testing.assert_array_equal(th.kernels.RBF().diagonal(rows), np.ones(4, dtype))


RANGES = [1e-300, 1e-200, 1e-150, 1e100, 1e200, 1e300]


@pytest.mark.parametrize("unit", RANGES)
def test_kernels_of_distances_depend_on_distance_over_length(unit):
    """Also where squares overflow or underflow; the rows may be equal."""
    rows = np.array([[0.3, 1.0], [0.3, 1.0], [-1.2, 0.4], [2.0, 1.5]])
    k = th.kernels
    for make in (
        lambda length: k.RBF(sigma=length),
        lambda length: k.Laplacian(length),
        lambda length: k.Laplacian(length, norm="l1"),
        lambda length: k.Matern(length, nu=0.5),
        lambda length: k.Matern(length, nu=2.5),
        lambda length: k.Matern(length, nu=1.2),
        lambda length: k.RationalQuadratic(length, alpha=0.7),
        lambda length: k.Wendland(3 * length),
    ):
        np.testing.assert_allclose(make(unit)(unit * rows), make(1.0)(rows), rtol=1e-12)
        far = make(1.0)(rows * 1e200)
        assert far[0, :2].tolist() == [1.0, 1.0]
        assert far[0, 2:].max() < 1e-100
    cosine = k.Cosine()(unit * rows)
    np.testing.assert_allclose(cosine, k.Cosine()(rows), rtol=1e-14)
    assert np.diag(cosine).tolist() == [1.0] * 4


@pytest.mark.parametrize("unit", [1e-30, 1e25])
def test_rows_of_single_precision_are_in_range_too(unit):
    rows = np.array([[0.3, 1.0], [-1.2, 0.4], [2.0, 1.5]])
    small = (rows * unit).astype(np.float32)
    for kernel, expected in (
        (th.kernels.RBF(sigma=unit), th.kernels.RBF()),
        (th.kernels.Matern(unit), th.kernels.Matern()),
        (th.kernels.Cosine(), th.kernels.Cosine()),
    ):
        found = kernel(small, small.copy())
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected(rows, rows.copy()), rtol=1e-5)


def test_near_rows_among_distant_ones_keep_their_distance():
    """The inner products of rows of length 1e8 would lose distances below 1."""
    rows = np.array([[1e8, 1e-3], [-1e8, 0.0], [1e8, 0.0]])
    gap = 1e-6
    for kernel, expected in (
        (th.kernels.RBF(), np.exp(-gap / 2)),
        (th.kernels.RBF(sigma=1e-3), np.exp(-0.5)),
        (th.kernels.RationalQuadratic(), 1 / (1 + gap / 2)),
    ):
        for found in (kernel(rows), kernel(rows, rows.copy())):
            np.testing.assert_array_equal(found, found.T)
            assert found[0, 2] == pytest.approx(expected, rel=1e-12)
            np.testing.assert_array_equal(np.diag(found), 1.0)


def test_products_without_a_value_name_the_entry():
    rows = np.array([[1.0, 2.0], [1e200, -1e200], [1e200, 3e200]])
    for kernel in (th.kernels.Linear(), th.kernels.Polynomial(degree=3)):
        with pytest.raises(th.errors.DataError, match=r"X is 3e\+200 in row 2, column 1"):
            kernel(rows)


def test_histograms_of_large_counts():
    counts = np.array([[1e200, 0.0], [0.0, 1e200], [1e200, 0.0]])
    found = th.kernels.AdditiveChi2()(counts)
    np.testing.assert_allclose(found, -2e200 * np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    assert th.kernels.Chi2()(counts)[0].tolist() == [1.0, 0.0, 1.0]
