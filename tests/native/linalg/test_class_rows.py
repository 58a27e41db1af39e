"""Rows about a centre of their class: kernels against their twins, and their refusals."""

import numpy as np
import pytest

from tests.reference.linalg import class_rows as twin
from thetahat import _native


def case(dtype, order, weighted):
    random = np.random.default_rng(3)
    x = random.standard_normal((150, 70)).astype(dtype)
    x = np.asfortranarray(x) if order == "F" else x[::2, ::3] if order == "sliced" else x
    n, d = x.shape
    rows = random.permutation(n)[: n - 3]
    codes = random.integers(0, 4, len(rows))
    root = random.random(len(rows)) if weighted else np.empty(0)
    centres, scale = random.standard_normal((5, d)), 2.0 ** random.integers(-3, 4, d)
    return x, rows, codes, centres, scale, root


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_pack_class_rows(dtype, order, weighted):
    given = case(dtype, order, weighted)
    n, (classes, d) = len(given[1]), given[3].shape
    got, expected = ((np.full((n, d), np.nan), np.ones((classes, d))) for _ in range(2))
    _native.pack_class_rows(*given, *got)
    twin.pack_class_rows(*given, *expected)
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_allclose(got[1], expected[1], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_squares(dtype, order, weighted):
    given = case(dtype, order, weighted)
    got, expected = ((np.ones((5, given[3].shape[1])), np.ones_like(given[3])) for _ in range(2))
    _native.class_squares(*given, *got)
    twin.class_squares(*given, *expected)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (1, np.array([0, 2])),  # a row beyond x
        (1, np.array([0, -1])),
        (2, np.array([0, 3])),  # a class beyond the centres
        (2, np.array([0, -1])),
        (2, np.array([0])),
        (3, np.zeros((3, 1))),
        (4, np.ones(1)),
        (5, np.ones(1)),
        (6, np.zeros((1, 2))),
        (7, np.zeros((2, 2))),
    ],
)
def test_wrong_sizes_are_refused(place, value):
    both = np.array([0, 1])
    given = [np.zeros((2, 2)), both, both, np.zeros((3, 2)), np.ones(2), np.empty(0)]
    given += [np.zeros((2, 2)), np.zeros((3, 2))]
    given[place] = value
    with pytest.raises(ValueError, match="must"):
        _native.pack_class_rows(*given)
    squares = np.zeros((3, 2)) if place != 6 else np.zeros((1, 2))
    with pytest.raises(ValueError, match="must"):
        _native.class_squares(*given[:6], given[7], squares)
