"""Third and fourth moments of centred norms: against plain sums, merged in any grouping."""

import numpy as np
import pytest
import scipy.sparse

from thetahat.data.summaries.norm_moments import norm_moments
from thetahat.data.validation import as_source


def plain(X, weight, centre):
    z = X - centre
    square = (z**2).sum(axis=1)
    return (weight * square) @ z, float(weight @ square**2)


def shifted_rows(n, d, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.logspace(-1, 1, d) + 50.0 * rng.normal(size=d)


@pytest.mark.parametrize(("n", "sort"), [(1, False), (40, False), (40_000, False), (40_000, True)])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_equal_the_plain_sums_over_one_or_many_blocks(n, sort, weighted):
    X = shifted_rows(n, 4, seed=n)
    X = np.sort(X, axis=0) if sort else X
    weight = np.random.default_rng(1).integers(0, 3, n) + (n == 1) if weighted else np.ones(n)
    found = norm_moments(as_source(X, None, weight if weighted else None, who="test"))
    third, fourth = plain(X, weight, np.average(X, axis=0, weights=weight))
    size = np.abs(X - X.mean(axis=0)).max() ** 3 * n + 1e-300
    np.testing.assert_allclose(found.third * found.unit**3, third, rtol=1e-9, atol=1e-13 * size)
    np.testing.assert_allclose(found.fourth * found.unit**4, fourth, rtol=1e-11, atol=1e-300)


def test_sums_about_zero():
    X = shifted_rows(30, 3, seed=2)
    found = norm_moments(as_source(X)).about_zero()
    third, fourth = plain(X, np.ones(30), 0.0)
    np.testing.assert_allclose(found.third * found.unit**3, third, rtol=1e-11)
    np.testing.assert_allclose(found.fourth * found.unit**4, fourth, rtol=1e-11)
    covariance, _ = found.in_one_unit()
    np.testing.assert_allclose(covariance * found.unit**2, X.T @ X / 30, rtol=1e-12)


def test_a_target_beside_the_rows_changes_nothing():
    X = shifted_rows(20_000, 3, seed=8)
    alone, beside = (norm_moments(as_source(X, y)) for y in (None, 1e3 * X[:, 0]))
    assert beside.fourth * beside.unit**4 == pytest.approx(alone.fourth * alone.unit**4)
    assert beside.about_zero().third.shape == (3,)


def test_sparse_rows_give_the_sums_of_dense_ones():
    X = np.where(np.random.default_rng(3).random((300, 5)) < 0.3, shifted_rows(300, 5, 4), 0.0)
    sparse = norm_moments(as_source(scipy.sparse.csr_array(X), accept_sparse=True))
    dense = norm_moments(as_source(X))
    ratio = (sparse.fourth * sparse.unit**4) / (dense.fourth * dense.unit**4)
    assert ratio == pytest.approx(1.0, rel=1e-11)


@pytest.mark.parametrize("size", [1e-120, 1e120])
def test_extreme_units_neither_overflow_nor_vanish(size):
    X = shifted_rows(100, 3, seed=5)
    here, there = norm_moments(as_source(X * size)), norm_moments(as_source(X))
    for found, expected in zip(here.in_one_unit(), there.in_one_unit(), strict=True):
        power = 2 if np.ndim(found) else 4
        ratio = (here.unit / there.unit / size) ** power
        np.testing.assert_allclose(found * ratio, expected, rtol=1e-10)


def test_late_rows_far_larger_than_the_first_stay_finite():
    X = shifted_rows(20_000, 2, seed=6)
    X[-1] = 1e100
    found = norm_moments(as_source(X))
    _, fourth = plain(X / 1e100, np.ones(20_000), X.mean(axis=0) / 1e100)
    assert found.fourth * (found.unit / 1e100) ** 4 == pytest.approx(fourth, rel=1e-9)
