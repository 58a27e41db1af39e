"""The compiled distances and the kernels that fall with them, against plain NumPy."""

import numpy as np
import pytest

from tests.reference.kernels.distances import distance_block
from thetahat import _native

KINDS = ["manhattan", "euclidean", "chi_squared"]


def block(kind, degree, factor, X, Z):
    """The result of compiled code in a new matrix."""
    out = np.full((len(X), len(Z)), np.nan)
    _native.distance_block(kind, degree, factor, X, np.ascontiguousarray(Z.T), out)
    return out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("degree", [-1, 0, 1, 2])
@pytest.mark.parametrize(("n", "m", "d"), [(0, 3, 2), (1, 1, 1), (3, 16, 4), (5, 37, 7)])
def test_values_are_those_of_numpy(kind, degree, n, m, d):
    random = np.random.default_rng(0)
    X, Z = np.abs(random.standard_normal((n, d))), np.abs(random.standard_normal((m, d)))
    X[: n // 2] = Z[0]
    Z[:, 0] = X[: n // 2 + 1, :1].sum()
    expected = distance_block(kind, degree, 0.7, X, Z)
    np.testing.assert_allclose(block(kind, degree, 0.7, X, Z), expected, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_has_the_same_bits_in_every_block_and_either_way_round(kind):
    X = np.abs(np.random.default_rng(1).standard_normal((41, 6)))
    K = block(kind, 2, 0.3, X, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K[3:20, 9:], block(kind, 2, 0.3, X[3:20], X[9:]))


def test_distances_whose_squares_overflow_or_underflow():
    for unit in (1e-300, 1e-200, 1e200, 1e300):
        X = unit * np.array([[3.0, 4.0], [0.0, 0.0], [3.0, 4.0]])
        found = block("euclidean", -1, 1.0, X, X) / unit
        np.testing.assert_allclose(found, [[0, 5, 0], [5, 0, 5], [0, 5, 0]], rtol=1e-15)
        counts = block("chi_squared", -1, 1.0, X, X) / unit
        np.testing.assert_allclose(counts, [[0, 7, 0], [7, 0, 7], [0, 7, 0]], rtol=1e-15)
    for degree in (0, 1, 2):  # no 0·∞
        assert block("euclidean", degree, 1.0, X, X)[0].tolist() == [1.0, 0.0, 1.0]


def test_missing_values_stay_visible():
    found = block("euclidean", 2, 1.0, np.array([[np.nan]]), np.ones((3, 1)))
    assert np.isnan(found).all()


def test_arguments_are_checked():
    rows = np.ones((2, 3))
    for kind, degree, factor, words in (
        ("cosine", 0, 1.0, "kind of distance"),
        ("euclidean", 3, 1.0, "degree"),
        ("euclidean", 0, 0.0, "factor"),
        ("euclidean", 0, np.inf, "factor"),
    ):
        with pytest.raises(ValueError, match=words):
            block(kind, degree, factor, rows, rows)
    with pytest.raises(ValueError, match="transposed"):
        _native.distance_block("euclidean", 0, 1.0, rows, rows, np.ones((2, 2)))
