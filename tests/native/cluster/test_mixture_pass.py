"""The compiled pass of expectation-maximisation beside plain NumPy."""

import numpy as np
import pytest

from tests.reference.cluster.mixture import mixture_pass
from thetahat import _native

NONE, NO_ROWS = np.empty(0), np.empty((0, 0))
NO_LABELS = np.empty(0, dtype=np.int64)


def case(n, d, k, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    roots = np.triu(rng.standard_normal((k, d, d)))
    labels = rng.integers(-1, k, n)
    return X, rng.random(n), labels, rng.standard_normal(k), rng.standard_normal((k, d)), roots


def compiled(X, weight, labels, scale, centres, factors, given=NO_ROWS, posterior=True):
    k, d = centres.shape
    count, first, second = np.zeros(k), np.zeros((k, d)), np.zeros(factors.shape)
    logs, rows = np.empty(len(X)), np.empty((len(X), k))
    value = _native.mixture_pass(
        X, weight, labels, given, scale, centres, factors, count, first, second, logs, rows,
        posterior,
    )  # fmt: skip
    return logs, rows, value, count, first, second


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(1, 1, 1), (31, 2, 3), (32, 4, 2), (33, 5, 1), (100, 9, 4), (70, 17, 3)]
)
def test_full_factors(n, d, k, dtype, order):
    X, weight, labels, scale, centres, roots = case(n, d, k, n + d, dtype)
    X = np.asarray(X, order=order)
    logs, joint, shares, value, *sums = mixture_pass(X, weight, labels, scale, centres, roots)
    found = compiled(X, weight, labels, scale, centres, roots.reshape(k * d, d))
    np.testing.assert_allclose(found[0], logs, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found[1], shares, rtol=1e-9, atol=1e-200)
    assert found[2] == pytest.approx(value, rel=1e-11)
    for ours, theirs in zip(found[3:], sums, strict=True):
        np.testing.assert_allclose(ours.reshape(theirs.shape), theirs, rtol=1e-10, atol=1e-10)
    found = compiled(X, weight, labels, scale, centres, roots.reshape(k * d, d), posterior=False)
    np.testing.assert_allclose(found[1], joint, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(("n", "d", "k"), [(33, 3, 2), (64, 6, 3)])
def test_diagonal_factors(n, d, k):
    X, weight, labels, scale, centres, roots = case(n, d, k, n)
    diagonal = np.ascontiguousarray(np.einsum("kii->ki", roots))
    full = np.stack([np.diag(each) for each in diagonal])
    logs, _, _, value, count, first, second = mixture_pass(X, weight, labels, scale, centres, full)
    found = compiled(X, weight, labels, scale, centres, diagonal)
    np.testing.assert_allclose(found[0], logs, rtol=1e-11)
    assert found[2] == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(found[3], count, rtol=1e-11)
    np.testing.assert_allclose(found[4], first, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found[5], np.einsum("kii->ki", second), rtol=1e-11)


def test_given_responsibilities_are_summed():
    X, _, _, scale, centres, roots = case(50, 3, 2, 0)
    shares = np.random.default_rng(1).random((50, 2))
    found = compiled(X, NONE, NO_LABELS, scale, centres, roots.reshape(6, 3), given=shares)
    np.testing.assert_allclose(found[3], shares.sum(axis=0))
    apart = X[:, None, :] - centres
    expected = np.einsum("nk,nki,nkj->kij", shares, apart, apart)
    np.testing.assert_allclose(found[5].reshape(2, 3, 3), expected, rtol=1e-11, atol=1e-12)


def test_components_of_weight_zero_and_rows_without_density():
    X = np.array([[0.0], [1e200], [3.0]])
    scale, centres, factors = np.array([0.0, -np.inf]), np.zeros((2, 1)), np.ones((2, 1))
    logs, rows, *_ = compiled(X, NONE, NO_LABELS, scale, centres, factors)
    np.testing.assert_array_equal(logs, [0.0, -np.inf, -4.5])
    np.testing.assert_array_equal(rows, [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]])


@pytest.mark.parametrize("broken", range(6))
def test_wrong_sizes_are_refused(broken):
    X, weight, labels, scale, centres, roots = case(10, 2, 3, 0)
    arguments = [X, weight, labels, scale, centres, roots.reshape(6, 2)]
    wrong = [X[:, :1], weight[:9], np.full(10, 3), scale[:2], centres[:2], roots.reshape(6, 2)[:5]]
    arguments[broken] = wrong[broken]
    with pytest.raises(ValueError, match=r"must|none"):
        compiled(*arguments)
