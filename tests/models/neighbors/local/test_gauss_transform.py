"""The fast Gauss transform against sums over all pairs, and its error bound."""

import numpy as np
import pytest

import thetahat as th
from thetahat.models.neighbors.search import gauss_transform as fast


def direct(rows, values, queries, width):
    squares = ((queries[:, None] - rows) ** 2).sum(axis=2)
    return np.exp(-squares / (2 * width**2)) @ values


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("width", [0.03, 0.2, 5.0])
def test_sums_are_within_the_bound(d, width):
    random = np.random.default_rng(0)
    rows, queries = random.random((400, d)), random.random((70, d)) * 1.6 - 0.3
    values = np.column_stack([np.ones(400), random.standard_normal(400)])
    found = fast.gauss_sums(rows, values, queries, width, 8.0)
    bound = fast.truncation_error(d) + np.exp(-0.5 * 8.0**2)
    error = np.abs(found - direct(rows, values, queries, width))
    assert (error <= bound * np.abs(values).sum(axis=0) + 1e-12).all()


@pytest.mark.parametrize("d", [1, 2])
def test_the_bound_is_that_of_the_worst_row(d):
    """A row in a corner of its box, at every query around."""
    side = np.sqrt(2.0)
    rows = np.array([np.zeros(d), np.full(d, 3 * side)])
    queries = np.stack(np.meshgrid(*[np.linspace(-6, 6, 121)] * d), axis=-1).reshape(-1, d)
    found = fast.gauss_sums(rows, np.ones((2, 1)), queries, 1.0, 12.0)
    error = np.abs(found - direct(rows, np.ones((2, 1)), queries, 1.0)).max()
    assert 1e-15 < error <= 2 * fast.truncation_error(d)


@pytest.mark.parametrize(("d", "n", "bandwidth"), [(1, 3000, 0.05), (1, 3000, 1.0)])
def test_averages_by_the_transform_are_within_the_tolerance(d, n, bandwidth):
    random = np.random.default_rng(1)
    rows, new = random.random((n, d)), random.uniform(-0.5, 1.5, (500, d))
    y = np.sin(6 * rows[:, 0])
    model = th.NadarayaWatson(bandwidth).fit(rows, y)
    around = model._around(model._widths(new), model._targets, model._reach())
    assert model._index.gauss_moments(new, around) is not None  # the transform is used
    exact = th.NadarayaWatson(bandwidth, tolerance=0.0).fit(rows, y).predict(new)
    assert np.abs(model.predict(new) - exact).max() <= 1e-8 * np.ptp(y)


def test_it_is_used_where_it_is_faster():
    rows = np.random.default_rng(0).random((20_000, 2))
    assert fast.suits_transform(rows[:, :1], 1000, 0.05, 7.0, 2)
    assert not fast.suits_transform(rows[:, :1], 1, 0.05, 7.0, 2)
    assert not fast.suits_transform(rows[:, :1], 1000, 0.05, np.inf, 2)
    assert not fast.suits_transform(rows[:, :1], 1000, 1e-5, 7.0, 2)
    assert not fast.suits_transform(rows, 1000, 0.01, 7.0, 2)
    assert not fast.suits_transform(np.column_stack([rows, rows]), 1000, 0.5, 7.0, 2)
