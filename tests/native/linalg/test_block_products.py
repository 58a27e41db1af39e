"""Products of the columns of centred rows: the plain version, every width of a tile, refusals."""

import numpy as np
import pytest

from tests.reference.linalg.block_products import block_products as plain
from thetahat import _native


def compiled(x, y, centre, scale, root, span=1 << 20, threads=1):
    width = x.shape[1] + y.shape[1]
    out, sums = np.full((width, width), np.nan), np.full(width, np.nan)
    _native.block_products(x, y, centre, scale, root, out, sums, span, threads)
    return out, sums


def problem(n, d, k=1, *, dtype=np.float64, weighted=False):
    random = np.random.default_rng(n + d)
    x, y = random.standard_normal((n, d)).astype(dtype), random.standard_normal((n, k))
    centre, scale = random.standard_normal(d + k), 2.0 ** random.integers(-3, 4, d + k)
    root = random.random(n) if weighted else np.empty(0)
    return x, y, centre, scale, root


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_the_plain_version(dtype, order, weighted):
    x, y, centre, scale, root = problem(300, 70, 2, dtype=dtype, weighted=weighted)
    if order == "sliced":
        x, y, root = x[::2, ::3], y[::2], root[::2].copy()
        centre, scale = (part[: x.shape[1] + 2].copy() for part in (centre, scale))
    x = np.asfortranarray(x) if order == "F" else x
    for got, expected in zip(
        compiled(x, y, centre, scale, root), plain(x, y, centre, scale, root), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("d", [*range(1, 52), 119, 120, 121, 150, 247])
def test_every_width_fills_whole_and_narrow_tiles(d):
    arguments = problem(131, d)
    (square, sums), expected = compiled(*arguments), plain(*arguments)
    np.testing.assert_array_equal(square, square.T)
    np.testing.assert_allclose(square, expected[0], rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(sums, expected[1], rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 256])
def test_any_number_of_rows(n):
    arguments = problem(n, 9, 0)
    (square, sums), expected = compiled(*arguments), plain(*arguments)
    np.testing.assert_allclose(square, expected[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sums, expected[1], rtol=1e-12, atol=1e-12)


def test_an_entry_has_the_same_bits_in_any_tile():
    x, y, centre, scale, root = problem(300, 60, 0)
    whole = compiled(x, y, centre, scale, root)[0]
    for first in range(1, 40, 7):
        part = compiled(x[:, first:], y, centre[first:], scale[first:], root)[0]
        np.testing.assert_array_equal(part, whole[first:, first:])


def test_what_is_not_finite_is_not_hidden():
    x, y, centre, scale, root = problem(200, 30)
    x[150, 7] = np.inf
    square, sums = compiled(x, y, centre, scale, root)
    assert not np.isfinite(square[7]).any()
    assert not np.isfinite(sums[7])
    assert np.isfinite(np.delete(np.delete(square, 7, 0), 7, 1)).all()


@pytest.mark.parametrize("d", [30, 239, 240, 255, 256, 362, 501])
@pytest.mark.parametrize("span", [128, 300, 1024, 5000])
def test_threads_share_the_work_without_a_change_of_bits(d, span):
    """Several spans and layers of rows, and columns of more than one piece."""
    arguments = problem(1301, d, 2, weighted=True)
    (square, sums), expected = compiled(*arguments, span), plain(*arguments)
    np.testing.assert_allclose(square, expected[0], rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(sums, expected[1], rtol=1e-11, atol=1e-10)
    for threads in (2, 3, 7):
        shared = compiled(*arguments, span, threads)
        np.testing.assert_array_equal(shared[0], square)
        np.testing.assert_array_equal(shared[1], sums)


@pytest.mark.parametrize("d", [30, 300])
def test_spans_given_one_by_one_have_the_same_bits(d):
    x, y, centre, scale, root = problem(700, d, weighted=True)
    whole = compiled(x, y, centre, scale, root, 256, 2)
    parts = [slice(0, 256), slice(256, 512), slice(512, 700)]
    each = [compiled(x[here], y[here], centre, scale, root[here]) for here in parts]
    for place in range(2):
        np.testing.assert_array_equal(sum(part[place] for part in each), whole[place])


def test_refusals():
    x, y, centre, scale, root = problem(5, 3)
    out, sums = np.empty((4, 4)), np.empty(4)
    with pytest.raises(ValueError, match="rows of x"):
        _native.block_products(x, y[:4], centre, scale, root, out, sums, 9, 1)
    with pytest.raises(ValueError, match="one entry per column"):
        _native.block_products(x, y, centre[:3], scale, root, out, sums, 9, 1)
    with pytest.raises(ValueError, match="one entry per column"):
        _native.block_products(x, y, centre, scale, root, out, sums[:3], 9, 1)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.block_products(x, y, centre, scale, np.ones(4), out, sums, 9, 1)
    with pytest.raises(ValueError, match="a row and a column"):
        _native.block_products(x, y, centre, scale, root, out[:3].copy(), sums, 9, 1)
