"""The counts summary: its laws, and what it counts."""

import numpy as np

from thetahat.data.summaries.counts import Counts, counts
from thetahat.data.validation import as_source

RANDOM = np.random.default_rng(0)
Y = RANDOM.integers(-2, 5, 40_000).astype(float)
WEIGHT = RANDOM.integers(0, 3, 40_000).astype(float)
X = np.zeros((40_000, 3))


def same(a, b):
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_array_equal(a.weights, b.weights)


def test_equals_numpy_over_many_blocks():
    values, numbers = np.unique(Y, return_counts=True)
    same(counts(as_source(X, Y)), Counts(values, numbers))


def test_weight_two_is_a_row_twice():
    repeated = np.repeat(Y, WEIGHT.astype(int))
    same(counts(as_source(X, Y, WEIGHT)), counts(as_source(np.zeros((len(repeated), 1)), repeated)))


def test_merge_is_associative_commutative_and_has_an_empty_element():
    a, b, c = (counts(as_source(X[rows], Y[rows])) for rows in np.split(np.arange(30), 3))
    same(a.merge(b).merge(c), a.merge(b.merge(c)))
    same(a.merge(b), b.merge(a))
    empty = Counts(np.empty(0), np.empty(0))
    same(a.merge(empty), a)
    same(empty.merge(a), a)


def test_shares_sum_to_one():
    found = counts(as_source(X, Y, WEIGHT))
    np.testing.assert_allclose(found.shares.sum(), 1.0)
    assert found.shares[3] == WEIGHT[Y == found.values[3]].sum() / WEIGHT.sum()
