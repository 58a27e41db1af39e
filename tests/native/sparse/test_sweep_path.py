"""Paths by sweeps over dense columns: every penalty against the conditions of its optimum."""

import numpy as np
import pytest

from tests.reference.sparse import coordinate_descent as twin
from thetahat import _native


def problem(n, d, kind="plain"):
    random = np.random.default_rng(n + d)
    X = random.standard_normal((n, d))
    if kind == "alike":
        X += random.standard_normal((n, 1))
    if kind == "dependent":
        X[:, d // 2 :] = X[:, : d - d // 2]
    if kind == "empty column":
        X[:, 0] = 0.0
    y = X @ (random.standard_normal(d) * (random.random(d) < 0.4)) + random.standard_normal(n)
    return X, y


def walk(
    X, y, l1, l2, lower=-np.inf, *, first=None, tolerance=1e-7, floor=0.0, most=5000, once=False,
    squares=None,
):  # fmt: skip
    d, count = X.shape[1], len(l1)
    betas, sweeps = np.full((count, d), np.nan), np.full(count, -1, dtype=np.int64)
    values, gaps = np.full((2, count), np.nan)
    each = np.ones(d)
    solved = _native.sweep_path(
        np.ascontiguousarray(X.T), y, (X * X).sum(axis=0) if squares is None else squares, X.T @ y,
        np.outer(l1, each), np.outer(l2, each), lower * each,
        np.zeros(d) if first is None else first, tolerance * float(y @ y), floor, most, np.inf,
        once, betas, values, gaps, sweeps, np.empty(d),
    )  # fmt: skip
    return solved, betas, values, gaps, sweeps


def gap_of(X, y, beta, l1, l2, lower):
    r, each = y - X @ beta, np.ones(X.shape[1])
    return twin.lasso_gap(
        beta, X.T @ r, np.zeros(1), l1 * each, l2 * each, lower * each, r @ r, y @ r
    )


@pytest.mark.parametrize("lower", [-np.inf, 0.0])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("kind", ["plain", "alike", "dependent", "empty column"])
@pytest.mark.parametrize(("n", "d"), [(40, 1), (60, 7), (30, 80), (45, 44)])
def test_every_penalty_is_at_its_optimum(n, d, kind, ratio, lower):
    X, y = problem(n, d, kind)
    alphas = np.geomspace(1, 1e-2, 30) * np.abs(X.T @ y).max() / ratio
    l1, l2 = alphas * ratio, alphas * (1 - ratio)
    solved, betas, values, gaps, sweeps = walk(X, y, l1, l2, lower)
    assert solved == 30
    assert (gaps <= 1e-7 * (y @ y)).all()
    assert (betas >= lower).all()
    for beta, value, gap, a, b in zip(betas, values, gaps, l1, l2, strict=True):
        found = gap_of(X, y, beta, a, b, lower)[0]
        assert gap == pytest.approx(found, abs=1e-9 * (y @ y))  # rounding of extrapolated residuals
        r = y - X @ beta
        assert value == pytest.approx(r @ r / 2 + a * np.abs(beta).sum() + b / 2 * beta @ beta)
    assert (sweeps <= 5000).all()


def test_terms_belong_to_their_columns():
    """A column without a penalty, one with its own, and bounds on some."""
    X, y = problem(50, 4)
    l1, l2 = np.array([[0.0, 5.0, 1.0, 9.0]]), np.array([[0.1, 0.0, 2.0, 0.3]])
    lower = np.array([-np.inf, 0.0, -np.inf, 0.0])
    betas, one, slopes = np.empty((1, 4)), np.empty((2, 1)), np.empty(4)
    solved = _native.sweep_path(
        np.ascontiguousarray(X.T), y, (X * X).sum(axis=0), X.T @ y, l1, l2, lower, np.zeros(4),
        1e-12, 0.0, 5000, np.inf, False, betas, *one, np.zeros(1, dtype=np.int64), slopes,
    )  # fmt: skip
    expected = np.zeros(4)
    twin.descend_gram(X.T @ X, X.T @ y, l1[0], l2[0], lower, expected, 500)
    assert solved == 1
    np.testing.assert_allclose(betas[0], expected, atol=1e-6)
    np.testing.assert_allclose(slopes, X.T @ (y - X @ betas[0]), atol=1e-9)


def test_a_start_within_the_tolerance_is_kept_unless_a_sweep_is_asked_for():
    X, y = problem(100, 5)
    alphas = np.full(2, 0.1 * np.abs(X.T @ y).max())
    _, betas, _, _, sweeps = walk(X, y, alphas, 0 * alphas)
    assert sweeps[0] > 0
    assert sweeps[1] == 0
    np.testing.assert_array_equal(betas[0], betas[1])
    first = betas[0].copy()
    assert walk(X, y, alphas, 0 * alphas, first=first)[4].tolist() == [0, 0]
    assert (walk(X, y, alphas, 0 * alphas, first=first, once=True)[4] > 0).all()


def test_the_first_hard_penalty_ends_the_path_and_tells_how_far_it_came():
    X, y = problem(40, 60, "alike")
    alphas = np.array([1.0, 1e-3, 1e-4]) * np.abs(X.T @ y).max()
    solved, betas, values, gaps, sweeps = walk(X, y, alphas, 0 * alphas, most=7)
    assert solved == 1
    assert not betas[0].any()
    assert sweeps[1] == 7
    assert gaps[1] == pytest.approx(gap_of(X, y, betas[1], alphas[1], 0.0, -np.inf)[0])
    assert values[1] < y @ y / 2
    assert np.isnan(betas[2]).all()


def test_a_sweep_that_moves_nothing_ends_the_path():
    X, y = problem(40, 60, "alike")
    alphas = np.array([1e-3]) * np.abs(X.T @ y).max()
    solved, _, _, _, sweeps = walk(X, y, alphas, 0 * alphas, floor=1e9)
    assert solved == 0
    assert sweeps[0] < 5000


def test_a_start_is_put_within_its_bounds_and_off_empty_columns():
    X, y = problem(20, 3, "empty column")
    first = np.array([7.0, -3.0, 1.0])
    alpha = np.full(1, 0.1 * np.abs(X.T @ y).max())
    _, betas, *_ = walk(X, y, alpha, 0 * alpha, 0.0, first=first)
    assert betas[0, 0] == 0
    assert (betas >= 0).all()


def test_columns_whose_squares_are_called_zero_stay_out():
    """What centring leaves of a constant column is rounding, which no penalty should fit."""
    X, y = problem(30, 4)
    squares = (X * X).sum(axis=0)
    squares[2] = 0.0
    alpha = np.full(1, 1e-3 * np.abs(X.T @ y).max())
    _, betas, *_ = walk(X, y, alpha, 0 * alpha, squares=squares)
    assert betas[0, 2] == 0
    assert np.count_nonzero(betas[0]) == 3


def test_sizes_are_checked():
    one, two, x = np.ones(1), np.ones(2), np.ones((2, 3))
    given = {
        "y": np.ones(3), "squares": two, "start": two, "l1": np.ones((1, 2)),
        "l2": np.ones((1, 2)), "betas": np.ones((1, 2)), "values": one.copy(), "slopes": two.copy(),
    }  # fmt: skip

    def call(y, squares, start, l1, l2, betas, values, slopes):
        _native.sweep_path(
            x, y, squares, start, l1, l2, two, two, 1.0, 0.0, 5, np.inf, False, betas, values,
            one.copy(), np.ones(1, dtype=np.int64), slopes,
        )  # fmt: skip

    call(**given)
    for wrong, rule in (
        ({"y": two}, "one entry per row"),
        ({"squares": one}, "one entry per column"),
        ({"start": one}, "one entry per column"),
        ({"slopes": one.copy()}, "one entry per column"),
        ({"l1": np.ones((1, 3))}, "an entry per column"),
        ({"l2": np.ones((2, 2))}, "a row per penalty"),
        ({"betas": np.ones((2, 2))}, "betas must have"),
        ({"values": two.copy()}, "one entry per penalty"),
    ):
        with pytest.raises(ValueError, match=rule):
            call(**{**given, **wrong})
