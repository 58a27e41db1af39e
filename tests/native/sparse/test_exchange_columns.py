"""Dependent columns that change places: the same fit, a smaller penalty, fewer in use."""

import numpy as np
import pytest

from thetahat import _native


def problem(seed, inside=8, outside=5, idle=0):
    """Columns inside and outside, of which the last outside are at zero."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((inside + outside, inside))
    beta = random.standard_normal(inside + outside)
    if idle:
        beta[-idle:] = 0.0
    sign = np.where(beta == 0, random.choice([-1.0, 1.0], len(beta)), np.sign(beta))
    l1 = random.uniform(0.5, 1.5, len(beta))
    table = np.linalg.solve(x[:inside].T, x[inside:].T).T.copy()
    return x, beta, sign, l1, table


def exchanged(beta, sign, l1, table):
    inside = table.shape[1]
    which = np.arange(len(beta))
    parts = [
        [array[cut].copy() for array in (which, beta, sign, l1)]
        for cut in (slice(0, inside), slice(inside, None))
    ]
    _native.exchange_columns(table, *parts[0], *parts[1])
    found = np.empty_like(beta)
    for columns, coefficients, *_ in parts:
        found[columns] = coefficients
    return found, parts


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("idle", [0, 2, 5])
def test_the_fit_stays_and_the_penalty_falls(seed, idle):
    x, beta, sign, l1, table = problem(seed, idle=idle)
    found, (inside, outside) = exchanged(beta, sign, l1, table.copy())
    np.testing.assert_allclose(found @ x, beta @ x, atol=1e-9)
    assert (l1 * np.abs(found)).sum() <= (l1 * np.abs(beta)).sum() + 1e-9
    assert not outside[1].any()  # a vertex: no more are in use than are independent
    assert sorted([*inside[0], *outside[0]]) == list(range(len(beta)))
    turned = (found != 0) & (np.sign(found) != sign)
    assert not turned.any()
    for columns, _, signs, penalties in (inside, outside):
        np.testing.assert_array_equal(signs, sign[columns])
        np.testing.assert_array_equal(penalties, l1[columns])


def test_the_smallest_penalty_of_a_line():
    """Two columns inside and their sum outside: one coefficient does the work of two."""
    table = np.array([[1.0, 1.0]])
    beta, sign = np.array([2.0, 3.0, 0.0]), np.ones(3)
    found, (inside, _) = exchanged(beta, sign, np.ones(3), table)
    np.testing.assert_allclose(found, [0.0, 1.0, 2.0])
    assert inside[0].tolist() == [2, 1]


def test_a_copy_at_zero_stays_there():
    beta, sign = np.array([2.0, 0.0]), np.ones(2)
    found, _ = exchanged(beta, sign, np.ones(2), np.array([[1.0]]))
    np.testing.assert_array_equal(found, beta)


def test_a_copy_in_use_is_given_up():
    found, _ = exchanged(np.array([2.0, 1.0]), np.ones(2), np.ones(2), np.array([[1.0]]))
    np.testing.assert_allclose(found, [3.0, 0.0])


def test_rounding_turns_no_sign():
    beta, sign = np.array([1.0, 5e-14, 1.0]), np.ones(3)
    found, _ = exchanged(beta, sign, np.array([0.1, 1.0, 1.0]), np.array([[1.0, -1e-13]]))
    assert (found >= 0).all()


def test_sizes_are_checked():
    which, some = np.arange(2), np.ones(2)
    with pytest.raises(ValueError, match="table"):
        _native.exchange_columns(
            np.ones((1, 2)), which, some, some.copy(), some.copy(), which.copy(), some.copy(),
            some.copy(), some.copy(),
        )  # fmt: skip
    with pytest.raises(ValueError, match="one entry per column"):
        _native.exchange_columns(
            np.ones((2, 2)), which, np.ones(3), some, some.copy(), which.copy(), some.copy(),
            some.copy(), some.copy(),
        )  # fmt: skip
