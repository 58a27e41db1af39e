"""The fewest errors of any halfspace: against brute force, and beside the surrogates."""

from itertools import product

import numpy as np
import pytest

import thetahat as th


def by_brute_force(X, y, cost):
    """The least cost over all labelings that some halfspace makes."""
    design, best = np.column_stack([X, np.ones(len(y))]), np.inf
    for labels in product((-1.0, 1.0), repeat=len(y)):
        error = cost[np.array(labels) != y].sum()
        if error < best:
            signed = -np.array(labels)[:, None] * design
            if th.optimizers.linear_program(inequalities=(signed, -np.ones(len(y)))).feasible:
                best = error
    return best


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["general", "grid"])
def test_no_halfspace_does_better(seed, kind):
    rng = np.random.default_rng(seed)
    d, n = 1 + seed % 3, 7
    X = rng.normal(size=(n, d)) if kind == "general" else rng.integers(0, 3, (n, d)).astype(float)
    y, cost = rng.choice([-1.0, 1.0], n), rng.integers(1, 4, n).astype(float)
    best = th.best_halfspace(X, y, cost)
    assert best.error == by_brute_force(X, y, cost)
    assert best.error == cost[y * best.score(X) <= 0].sum()
    assert best.error == cost @ th.losses.ZeroOne().value(y, best.score(X))


def test_separable_rows_have_no_errors_and_duplicates_cost_the_lighter_side():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(X[:, 0] > X[:, 1], 1, -1)
    assert th.best_halfspace(X, y).error == 0.0
    twins = th.best_halfspace([[1.0, 1.0]] * 5, [1, 1, -1, -1, -1])
    assert twins.error == 2.0
    assert th.best_halfspace([[1.0]], [-1]).error == 0.0
    line = th.best_halfspace([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [1, -1, 1])
    assert line.error == 1.0


def test_weights_count_rows():
    rng = np.random.default_rng(3)
    X, y, weight = rng.normal(size=(12, 2)), rng.choice([-1, 1], 12), rng.integers(0, 3, 12)
    repeated = th.best_halfspace(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert th.best_halfspace(X, y, weight).error == repeated.error


def test_surrogates_bound_the_errors_but_need_not_count_them():
    """One far outlier drags every convex surrogate; the count does not care how far it is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) * 0.3 + np.where(np.arange(30) % 2, 1.0, -1.0)[:, None]
    y = np.where(np.arange(30) % 2, 1.0, -1.0)
    X, y = np.vstack([X, [[60.0, 60.0], [61.0, 60.0]]]), np.append(y, [-1.0, -1.0])
    best = th.best_halfspace(X, y)
    assert best.error == 2.0
    squared = th.LinearSVC(C=10.0).fit(X, y)
    assert np.sum(squared.predict(X) != y) > best.error
    for loss in (th.losses.Hinge(), th.losses.SquaredHinge(), th.losses.Exponential()):
        z = best.score(X)
        assert loss.value(y, z).sum() >= th.losses.ZeroOne().value(y, z).sum()


def test_larger_problems_and_bad_input_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(
        th.errors.MemoryBudgetError, match=r"100 different rows with 8 columns.*at most.*Lin"
    ):
        th.best_halfspace(rng.normal(size=(100, 8)), np.ones(100))
    with pytest.raises(th.errors.DataError, match=r"row 1 is 0.*2·y − 1"):
        th.best_halfspace([[0.0], [1.0]], [1, 0])
    with pytest.raises(th.errors.DataError, match="NaN"):
        th.best_halfspace([[np.nan], [1.0]], [1, -1])
    with pytest.raises(th.errors.DataError, match="shape"):
        th.best_halfspace([1.0, 2.0], [1, -1])
    with pytest.raises(th.errors.DataError, match="one finite number"):
        th.best_halfspace([[0.0], [1.0]], [1, -1], [1.0, -1.0])
    with pytest.raises(th.errors.DataError, match="all weights are zero"):
        th.best_halfspace([[0.0], [1.0]], [1, -1], [0.0, 0.0])
