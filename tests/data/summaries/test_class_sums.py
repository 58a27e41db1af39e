"""Summaries of the rows of every class: their laws, missing values, sparse rows and precision."""

import numpy as np
import pytest
import scipy.sparse as sp

from thetahat.data.columns.schema import Schema
from thetahat.data.source import Block
from thetahat.data.summaries.class_categories import summarise_categories
from thetahat.data.summaries.class_sums import (
    class_moments,
    summarise_class_moments,
    summarise_class_sums,
)
from thetahat.data.validation import as_source
from thetahat.foundation.errors import DataError

C = 3


def rows(missing=False):
    random = np.random.default_rng(0)
    X = random.poisson(1.5, (200, 5)).astype(float)
    if missing:
        X[random.random(X.shape) < 0.2] = np.nan
    return X, random.integers(0, C, 200).astype(float), random.integers(0, 3, 200).astype(float)


def assert_same(a, b):
    for name in ("count", "weight", "mean", "scatter"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("missing", [False, True])
def test_moments_are_those_of_numpy(missing):
    X, y, weight = rows(missing)
    found = summarise_class_moments(Block(X=X, y=y, weight=weight), C)
    for c in range(C):
        repeated = np.repeat(X[y == c], weight[y == c].astype(int), axis=0)
        np.testing.assert_allclose(found.mean[c], np.nanmean(repeated, axis=0))
        np.testing.assert_allclose(found.variance[c], np.nanvar(repeated, axis=0))
        np.testing.assert_array_equal(found.weight[c], np.isfinite(repeated).sum(axis=0))
    repeated = np.repeat(X, weight.astype(int), axis=0)
    np.testing.assert_allclose(found.total_variance, np.nanvar(repeated, axis=0))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_moments_merge_in_any_grouping(missing, sparse):
    X, y, weight = rows(missing)
    whole = summarise_class_moments(Block(X=X, y=y, weight=weight), C)
    X = sp.csr_array(X) if sparse else X
    a, b, c = (
        summarise_class_moments(Block(X=X[at], y=y[at], weight=weight[at]), C)
        for at in (slice(0, 3), slice(3, 90), slice(90, 200))
    )
    assert_same(a.merge(b).merge(c), whole)
    assert_same(a.merge(b.merge(c)), whole)
    assert_same(c.merge(b).merge(a), whole)


def test_many_blocks_are_one():
    random = np.random.default_rng(1)
    X = random.standard_normal((40_000, 3)) + 1e6
    y = random.integers(0, C, 40_000).astype(float)
    found = class_moments(as_source(X, y), C)
    for c in range(C):
        np.testing.assert_allclose(found.mean[c], X[y == c].mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(found.variance[c], X[y == c].var(axis=0), rtol=1e-9)


@pytest.mark.parametrize("threshold", [None, 1.0])
def test_sums_of_dense_and_sparse_rows(threshold):
    X, y, weight = rows()
    seen = X if threshold is None else (X > threshold) * 1.0
    hot = np.eye(C)[y.astype(int)] * weight[:, None]
    for kind in (np.asarray, sp.csr_array):
        found = summarise_class_sums(Block(X=kind(X), y=y, weight=weight), C, threshold)
        np.testing.assert_array_equal(found.sums, hot.T @ seen)
        np.testing.assert_array_equal(found.count, hot.sum(axis=0))


def test_categories_are_counted_and_merged():
    X, y, weight = rows(missing=True)
    parts = [
        summarise_categories(Block(X=X[at], y=y[at], weight=weight[at]), C, Schema(), None, "This")
        for at in (slice(0, 5), slice(5, 200))
    ]
    found = parts[0].merge(parts[1])
    for j, table in enumerate(found.columns):
        for c in range(C):
            for k in range(table.shape[1]):
                assert table[c, k] == weight[(y == c) & (X[:, j] == k)].sum()


@pytest.mark.parametrize(
    ("value", "words"),
    [(1.5, "holds 1.5 at row 12, but categories are whole"), (-1.0, "Negative values.*row 12")],
)
def test_entries_that_are_no_categories_are_named(value, words):
    X = np.ones((4, 2))
    X[2, 1] = value
    with pytest.raises(DataError, match=words):
        summarise_categories(Block(X=X, y=np.zeros(4), start=10), 1, Schema(), None, "This")
