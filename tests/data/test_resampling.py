"""Draws have the probabilities they claim; shuffles and subsets lose nothing."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from scipy.stats import binom, chisquare

from thetahat.data import resampling
from thetahat.foundation.errors import DataError, ParameterError

X = np.arange(30).reshape(10, 3)


def holders():
    return {
        "array": X,
        "sparse": scipy.sparse.csr_array(X),
        "pandas": pd.DataFrame(X, columns=list("abc")),
        "polars": pl.DataFrame(X, schema=list("abc"), orient="row"),
        "arrow": pa.table({name: X[:, j] for j, name in enumerate("abc")}),
        "list": X.tolist(),
    }


def numbers(held):
    if isinstance(held, pa.Table):
        held = held.to_pandas()
    return held.toarray() if scipy.sparse.issparse(held) else np.asarray(held)


@pytest.mark.parametrize("kind", holders())
def test_shuffle_keeps_rows_together(kind):
    shuffled, labels = resampling.shuffle(holders()[kind], np.arange(10), random_state=0)
    np.testing.assert_array_equal(numbers(shuffled), X[labels])
    assert sorted(labels.tolist()) == list(range(10))
    assert labels.tolist() != list(range(10))


@pytest.mark.parametrize("kind", holders())
@pytest.mark.parametrize(("size", "count"), [(4, 4), (0.4, 4), (1.0, 10), (1, 1), (0.01, 1)])
def test_subset_of_rows(kind, size, count):
    subset, labels = resampling.subset_rows(holders()[kind], np.arange(10), size=size)
    assert labels.size == count
    assert (np.diff(labels) > 0).all()
    np.testing.assert_array_equal(numbers(subset), X[labels])


def test_one_array_comes_back_alone():
    assert resampling.shuffle(X, random_state=0).shape == X.shape
    assert resampling.subset_rows(X, size=2, random_state=0).shape == (2, 3)


def test_subset_of_features():
    for held in (X, pd.DataFrame(X)):
        subset, columns = resampling.subset_features(held, size=2, random_state=1)
        assert (np.diff(columns) > 0).all()
        np.testing.assert_array_equal(np.asarray(subset), X[:, columns])


def test_every_order_is_equally_likely():
    rng = np.random.default_rng(0)
    orders = [tuple(resampling.shuffle(np.arange(3), random_state=rng)) for _ in range(6_000)]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert counts.size == 6
    assert chisquare(counts).pvalue > 1e-3


def test_every_subset_is_equally_likely():
    rng = np.random.default_rng(0)
    draws = [
        tuple(resampling.subset_rows(np.arange(4), size=2, random_state=rng)) for _ in range(6_000)
    ]
    counts = np.unique(draws, axis=0, return_counts=True)[1]
    assert counts.size == 6
    assert chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("n", [1, 2, 5, 50])
def test_out_of_bag_probability(n):
    """A row is left out with probability (1 − 1/n)ⁿ."""
    rng = np.random.default_rng(0)
    repeats = 4_000
    left_out = sum(
        0 in resampling.bootstrap_indices(n, random_state=rng).out_of_bag for _ in range(repeats)
    )
    expected = (1 - 1 / n) ** n
    low, high = binom.interval(0.999, repeats, expected) if 0 < expected < 1 else (0, 0)
    assert low <= left_out <= high


def test_out_of_bag_tends_to_one_over_e():
    n = 200_000
    rows = resampling.bootstrap_indices(n, random_state=0)
    # The variance of the count is n·(e⁻¹ − 2e⁻²), less than n/10.
    assert abs(rows.out_of_bag.size / n - math.exp(-1)) < 4 * math.sqrt(0.1 / n)
    assert rows.drawn.size == n
    np.testing.assert_array_equal(np.union1d(rows.drawn, rows.out_of_bag), np.arange(n))
    assert not np.intersect1d(rows.drawn, rows.out_of_bag).size


def test_bootstrap_of_another_size():
    rows = resampling.bootstrap_indices(10, size=3, random_state=0)
    assert rows.drawn.size == 3
    assert rows.out_of_bag.size >= 7


@pytest.mark.parametrize("systematic", [False, True])
def test_weighted_draws_follow_the_weights(systematic):
    weight = np.array([0.0, 1.0, 2.0, 0.0, 5.0, 0.0])
    rng = np.random.default_rng(0)
    counts = np.zeros(6)
    for _ in range(2_000):
        rows = resampling.weighted_indices(weight, size=5, systematic=systematic, random_state=rng)
        counts += np.bincount(rows, minlength=6)
    assert counts[weight == 0].sum() == 0
    expected = 10_000 * weight / weight.sum()
    if systematic:
        np.testing.assert_allclose(counts, expected, atol=150)
    else:
        assert chisquare(counts[weight > 0], expected[weight > 0]).pvalue > 1e-3


def test_systematic_draws_are_the_expected_number_rounded():
    rng = np.random.default_rng(0)
    weight = rng.random(40)
    for _ in range(50):
        rows = resampling.weighted_indices(weight, size=1000, systematic=True, random_state=rng)
        counts = np.bincount(rows, minlength=40)
        expected = 1000 * weight / weight.sum()
        assert (np.floor(expected) <= counts).all()
        assert (counts <= np.ceil(expected)).all()


def test_equal_weights_draw_every_row_once():
    rows = resampling.weighted_indices(np.full(1_000, 1e-300), systematic=True, random_state=0)
    np.testing.assert_array_equal(rows, np.arange(1_000))


def test_draw_until_another_label():
    """Draw y' until y' ≠ y: uniform over the other labels."""
    rng = np.random.default_rng(0)
    draws = [
        resampling.draw_until(
            lambda generator: int(generator.integers(5)), lambda y: y != 3, random_state=rng
        )
        for _ in range(4_000)
    ]
    values, counts = np.unique(draws, return_counts=True)
    assert values.tolist() == [0, 1, 2, 4]
    assert chisquare(counts).pvalue > 1e-3


def test_draw_until_gives_up():
    calls = []
    with pytest.raises(ParameterError, match=r"none of 50 draws.*P\(accept\) < 0\.06"):
        resampling.draw_until(calls.append, lambda _: False, max_draws=50)
    assert len(calls) == 50


def test_same_seed_same_draws():
    for _ in range(2):
        one, again = (resampling.bootstrap_indices(9, random_state=7) for _ in range(2))
        np.testing.assert_array_equal(one.drawn, again.drawn)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: resampling.shuffle(), ParameterError, "No array"),
        (lambda: resampling.shuffle(X, [1, 2]), DataError, "10, 2 rows"),
        (
            lambda: resampling.subset_rows(X, size=11),
            ParameterError,
            "between 1 and 10, the number of rows",
        ),
        (lambda: resampling.subset_rows(X, size=0), ParameterError, "size=0"),
        (lambda: resampling.subset_rows(X, size=1.5), ParameterError, r"\(0, 1\]"),
        (
            lambda: resampling.subset_features(X, size=4),
            ParameterError,
            "between 1 and 3, the number of features",
        ),
        (lambda: resampling.bootstrap_indices(0), ParameterError, "n_rows=0"),
        (lambda: resampling.bootstrap_indices(3, size=0), ParameterError, "size=0"),
        (lambda: resampling.weighted_indices([1.0, -1.0]), DataError, "row 1: -1"),
        (lambda: resampling.weighted_indices([1.0, np.nan]), DataError, "row 1: nan"),
        (lambda: resampling.weighted_indices([0.0]), DataError, "All weights are zero"),
        (lambda: resampling.weighted_indices([[1.0]]), DataError, r"\(1, 1\)"),
        (lambda: resampling.weighted_indices([1.0], size=0), ParameterError, "size=0"),
        (
            lambda: resampling.draw_until(int, bool, max_draws=0),
            ParameterError,
            "max_draws=0",
        ),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
