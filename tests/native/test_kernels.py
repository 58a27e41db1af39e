"""Every compiled kernel against its plain twin, and its refusals at the boundary."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference import kernels as twin
from thetahat import _native

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("result", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_pack_rows(dtype, result, order, weighted):
    x = RANDOM.standard_normal((150, 70)).astype(dtype)
    x = np.asfortranarray(x) if order == "F" else x[::2, ::3] if order == "sliced" else x
    n, d = x.shape
    centre, scale = RANDOM.standard_normal(d), 2.0 ** RANDOM.integers(-3, 4, d)
    root = RANDOM.random(n) if weighted else np.empty(0)
    got, expected = (np.full((n, d + 3), np.nan, dtype=result) for _ in range(2))
    _native.pack_rows(x, centre, scale, root, got, 2)
    twin.pack_rows(x, centre, scale, root, expected, 2)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_gram(dtype, index, weighted):
    x = sp.random_array((40, 12), density=0.3, format="csr", rng=RANDOM).astype(dtype)
    indices, indptr = x.indices.astype(index), x.indptr.astype(index)
    weight = RANDOM.random(40) if weighted else np.empty(0)
    got, expected = np.ones((12, 12)), np.ones((12, 12))
    _native.sparse_gram(x.data, indices, indptr, weight, got)
    twin.sparse_gram(x.data, indices, indptr, weight, expected)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_quadratic_sweeps():
    root = RANDOM.standard_normal((30, 8))
    gram, c = root.T @ root, RANDOM.standard_normal(8) * 5
    gram[3], gram[:, 3] = 0.0, 0.0
    l1, l2 = RANDOM.random(8), RANDOM.random(8) * (np.arange(8) != 3)
    lower, upper = np.full(8, -0.1), np.full(8, np.inf)
    states = []
    for sweeps in (_native.quadratic_sweeps, twin.quadratic_sweeps):
        theta, gradient = np.zeros(8), -c.copy()
        largest = sweeps(gram, l1, l2, lower, upper, theta, gradient, 20)
        np.testing.assert_allclose(gradient, gram @ theta - c, atol=1e-10)
        states.append((theta, largest))
    np.testing.assert_allclose(states[0][0], states[1][0], rtol=1e-12)
    assert states[0][1] == pytest.approx(states[1][1])
    assert states[0][0][3] == 0.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_compensated_gradient_is_exact_to_rounding(dtype, weighted):
    x = (RANDOM.standard_normal((25, 4)) * 10.0 ** np.arange(4) + 1e5).astype(dtype)
    y = RANDOM.standard_normal((25, 2)) * 1e3
    centre, scale = x.mean(axis=0, dtype=float), 2.0 ** -np.arange(6.0)
    centre = np.r_[centre, 1.0, -2.0]
    weight = RANDOM.random(25) if weighted else np.empty(0)
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
    fitted = RANDOM.standard_normal((40, 3)).astype(dtype)
    fit_basis = RANDOM.standard_normal((3, 7))
    leverage, basis = RANDOM.random((40, 2)).astype(dtype), RANDOM.random((2, 7)) / 3
    leverage[5] = 9.0  # a row whose 1 − h is at its floor
    weight = 2 * RANDOM.random(40) if weighted else np.empty(0)
    y, totals = RANDOM.standard_normal(40), []
    for sums in (_native.leave_one_out_sums, twin.leave_one_out_sums):
        total = np.ones(7)
        sums(y, fitted, fit_basis, leverage, basis, weight, 0.01, 1e-3, total)
        totals.append(total)
    np.testing.assert_allclose(*totals, rtol=1e-10)


def gram_and_targets(n, d, targets):
    x, y = RANDOM.standard_normal((n, d)), RANDOM.standard_normal((n, targets))
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
    dictionary = RANDOM.standard_normal((atoms, 10))
    dictionary[3] = 0.0
    x = RANDOM.standard_normal((3, 10))
    gram, c = dictionary @ dictionary.T, np.ascontiguousarray(x @ dictionary.T)
    codes, violation = RANDOM.standard_normal(c.shape), np.full(3, np.nan)
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


@pytest.mark.parametrize("budget", [1, 3, 10**6])
@pytest.mark.parametrize("largest", [1, 4, 9])
def test_best_subsets(budget, largest):
    """However the search is cut into pieces, it finds what trying every subset finds."""
    factor, z = np.triu(RANDOM.standard_normal((9, 9))), RANDOM.standard_normal(9)
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


def test_wrong_sizes_are_refused_and_never_written():
    x, out = np.zeros((3, 2)), np.zeros((3, 2))
    none = np.empty(0)
    with pytest.raises(ValueError, match="centre and scale"):
        _native.pack_rows(x, np.zeros(1), np.zeros(2), none, out, 0)
    with pytest.raises(ValueError, match="room"):
        _native.pack_rows(x, np.zeros(2), np.zeros(2), none, out, 1)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.pack_rows(x, np.zeros(2), np.zeros(2), np.zeros(2), out, 0)
    with pytest.raises(TypeError):
        _native.pack_rows(x.astype(int), np.zeros(2), np.zeros(2), none, out, 0)
    data, indptr = np.ones(2), np.array([0, 2], dtype=np.int32)
    with pytest.raises(ValueError, match="column index"):
        _native.sparse_gram(data, np.array([0, 7], dtype=np.int32), indptr, none, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="past the stored"):
        _native.sparse_gram(
            data,
            np.array([0, 1], dtype=np.int32),
            np.array([0, 5], dtype=np.int32),
            none,
            np.zeros((2, 2)),
        )
    with pytest.raises(ValueError, match="must not decrease"):
        _native.sparse_gram(
            data,
            np.array([0, 1], dtype=np.int32),
            np.array([0, 2, 1, 2], dtype=np.int32),
            none,
            np.zeros((2, 2)),
        )
    one = np.zeros(1)
    with pytest.raises(ValueError, match="square"):
        _native.quadratic_sweeps(np.zeros((1, 2)), one, one, one, one, one.copy(), one.copy(), 1)
    with pytest.raises(ValueError, match="bases"):
        _native.leave_one_out_sums(
            one, np.zeros((1, 1)), np.zeros((2, 1)), np.zeros((1, 1)), np.zeros((1, 1)), none,
            0.0, 0.0, one.copy(),
        )  # fmt: skip
    with pytest.raises(ValueError, match="gamma"):
        _native.compensated_gradient(
            x, np.zeros((3, 1)), none, np.zeros(3), np.ones(3), np.zeros((2, 1)),
            np.zeros((1, 3)), np.zeros((1, 3)),
        )  # fmt: skip


def test_wrong_sizes_are_refused_by_the_sparse_kernels():
    gram, c, out = np.eye(2), np.zeros((3, 2)), np.zeros((3, 2))
    one, steps, none = np.zeros(3), np.zeros(3, dtype=np.int64), np.zeros((0, 2))
    with pytest.raises(ValueError, match="square"):
        _native.matching_pursuit(c, c, one, 1, 0.0, out, one, steps, none)
    with pytest.raises(ValueError, match="per target"):
        _native.matching_pursuit(gram, c, np.zeros(2), 1, 0.0, out, one, steps, none)
    with pytest.raises(ValueError, match="more steps"):
        _native.matching_pursuit(gram, c, one, 3, 0.0, out, one, steps, none)
    with pytest.raises(ValueError, match="path"):
        _native.matching_pursuit(gram, c, one, 2, 0.0, out, one, steps, np.zeros((5, 2)))
    with pytest.raises(ValueError, match="rows of correlation"):
        _native.sparse_codes(gram, 1.0, False, c, np.zeros((2, 2)), 0.0, 1, one)
    with pytest.raises(ValueError, match="more steps"):
        _native.least_angles(gram, c, 3, out)
    cursor, best = np.zeros(3, dtype=np.int64), np.zeros(2)
    members = np.zeros((2, 1), dtype=np.int64)
    with pytest.raises(ValueError, match="between 1"):
        _native.best_subsets(gram, np.zeros(2), 0.0, 3, cursor, best, members, 1)
    with pytest.raises(ValueError, match="one row per size"):
        _native.best_subsets(gram, np.zeros(2), 0.0, 2, cursor, best, members, 1)
    wrong = np.array([1, 9, 0], dtype=np.int64)
    with pytest.raises(ValueError, match="not there"):
        _native.best_subsets(gram, np.zeros(2), 0.0, 1, wrong, best, members, 1)
