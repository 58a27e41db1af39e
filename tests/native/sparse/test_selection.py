"""Matching pursuit, sparse codes, least angles and best subsets beside their plain twins."""

import numpy as np
import pytest

from tests.reference.sparse import selection as twin
from thetahat import _native


def gram_and_targets(n, d, targets):
    random = np.random.default_rng(n)
    x, y = random.standard_normal((n, d)), random.standard_normal((n, targets))
    gram = x.T @ x
    return gram, np.ascontiguousarray(y.T @ x), (y**2).sum(axis=0)


@pytest.mark.parametrize(("most", "tolerance"), [(4, -1.0), (12, 15.0), (12, -1.0)])
def test_matching_pursuit(most, tolerance):
    gram, c, squares = gram_and_targets(30, 12, 5)
    coef, residual = np.zeros_like(c), np.zeros(5)
    steps, path = np.zeros(5, dtype=np.int64), np.zeros((5 * most, 12))
    _native.matching_pursuit(gram, c, squares, most, tolerance, coef, residual, steps, path)
    expected = twin.matching_pursuit(gram, c, squares, most, tolerance)
    np.testing.assert_allclose(coef, expected[0], atol=1e-11)
    np.testing.assert_allclose(residual, expected[1], rtol=1e-9)
    np.testing.assert_array_equal(steps, expected[2])
    for target, taken in enumerate(steps):
        last = path[target * most + taken - 1]
        np.testing.assert_array_equal(last, coef[target])


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("atoms", [8, 15])
def test_sparse_codes(positive, atoms):
    """Fifteen atoms in ten dimensions depend on one another, and a zero atom codes nothing."""
    random = np.random.default_rng(6)
    dictionary = random.standard_normal((atoms, 10))
    dictionary[3] = 0.0
    x = random.standard_normal((3, 10))
    gram, c = dictionary @ dictionary.T, np.ascontiguousarray(x @ dictionary.T)
    codes, violation = random.standard_normal(c.shape), np.full(3, np.nan)
    codes[:, 3] = 0.0
    _native.sparse_codes(gram, 0.7, positive, c, codes, 1e-12, 10_000, violation)
    assert violation.max() <= 1e-12
    expected = twin.sparse_codes(gram, 0.7, positive, c)
    np.testing.assert_allclose(codes, expected, atol=1e-7)
    assert not positive or codes.min() >= 0


@pytest.mark.parametrize("most", [1, 3, 7])
def test_least_angles(most):
    gram, c, _ = gram_and_targets(20, 7, 5)
    coef = np.zeros_like(c)
    _native.least_angles(gram, c, most, coef)
    np.testing.assert_allclose(coef, twin.least_angles(gram, c, most), atol=1e-10)


@pytest.mark.parametrize("most", [1, 3, 7])
@pytest.mark.parametrize("by_columns", [False, True])
def test_least_angle_path(most, by_columns):
    X = np.random.default_rng(3).standard_normal((20, 7))
    c, gram = X.T @ np.arange(20.0), X.T @ X
    matrix = np.ascontiguousarray(X.T) if by_columns else gram
    largest, coefs, active, steps, dependent, end = _native.least_angle_path(
        matrix, c, by_columns, most, 7, 0.0, False, False, True
    )
    expected = [twin.least_angles(gram, c[None], k)[0] for k in range(most + 1)]
    np.testing.assert_allclose(coefs, expected, atol=1e-10)
    slopes = np.abs(c - coefs @ gram).max(axis=1)
    np.testing.assert_allclose(largest, slopes, atol=1e-9)
    assert (steps, dependent, end) == (most, 0, 0 if most == 7 else 1)
    assert len(active) == most
    last = _native.least_angle_path(matrix, c, by_columns, most, 7, 0.0, False, False, False)
    np.testing.assert_array_equal(last[1], coefs[-1:])


@pytest.mark.parametrize("budget", [1, 3, 10**6])
@pytest.mark.parametrize("largest", [1, 4, 9])
def test_best_subsets(budget, largest):
    """However the search is cut into pieces, it finds what trying every subset finds."""
    random = np.random.default_rng(7)
    factor, z = np.triu(random.standard_normal((9, 9))), random.standard_normal(9)
    cursor, best = np.zeros(10, dtype=np.int64), np.full(largest + 1, np.inf)
    members, rss = np.zeros((largest + 1, largest), dtype=np.int64), 2.0
    best[0] = rss + z @ z
    while cursor[0] >= 0:
        assert (
            _native.best_subsets(factor, z, rss, largest, cursor, best, members, budget) <= budget
        )
    np.testing.assert_allclose(best, twin.best_subsets(factor, z, rss, largest), rtol=1e-9)
    for size in range(1, largest + 1):
        chosen = factor[:, members[size, :size]]
        left = z - chosen @ np.linalg.lstsq(chosen, z)[0]
        assert rss + left @ left == pytest.approx(best[size])
