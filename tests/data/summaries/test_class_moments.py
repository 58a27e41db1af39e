"""The moments of classes: their laws, their precision, and what they are a summary of."""

import numpy as np
import pytest
import scipy.sparse as sp

from thetahat.data.source import Block
from thetahat.data.summaries.class_moments import _summarise, class_moments
from thetahat.data.validation import as_source
from thetahat.foundation.config import config

KINDS = ("pooled", "full", "diagonal")


def sample(n=300, d=4, classes=3, seed=1):
    random = np.random.default_rng(seed)
    codes = random.integers(0, classes, n).astype(float)
    X = (
        random.standard_normal((n, d)) * [1, 10, 0.1, 5][:d]
        + random.normal(size=(classes, d))[codes.astype(int)] * [0, 100, -3, 1][:d]
    )
    return X, codes, random.integers(0, 4, n).astype(float)


def within(X, codes, weight, kind):
    """The scatter of every kind, by its definition."""
    parts = []
    for code in np.unique(codes):
        rows, w = X[codes == code], weight[codes == code]
        away = rows - np.average(rows, axis=0, weights=w)
        parts.append((away * w[:, None]).T @ away)
    if kind == "pooled":
        return sum(parts)
    return np.stack(parts if kind == "full" else [np.diagonal(part) for part in parts])


def scatter(moments):
    """The scatter in the units of the data."""
    unit = moments.unit
    square = unit**2 if moments.kind == "diagonal" else unit * unit[:, None]
    return np.asarray(moments.scatter) * square


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_definition(kind):
    X, codes, weight = sample()
    found = class_moments(as_source(X, codes, weight), 3, kind)
    np.testing.assert_allclose(scatter(found), within(X, codes, weight, kind), rtol=1e-10)
    for code in range(3):
        chosen = codes == code
        mean = np.average(X[chosen], axis=0, weights=weight[chosen])
        np.testing.assert_allclose(found.means[code], mean, rtol=1e-12)
        assert found.weight[code] == weight[chosen].sum()
        assert found.n_rows[code] == np.count_nonzero(weight[chosen])


@pytest.mark.parametrize("kind", KINDS)
def test_parts_merge_in_any_grouping_also_with_classes_that_are_new(kind):
    X, codes, weight = sample()
    order = np.argsort(codes, kind="stable")
    X, codes, weight = X[order], codes[order], weight[order]
    unknown = np.full((3, 4), np.nan)

    def part(rows):
        block = Block(X=X[rows], y=codes[rows], weight=weight[rows])
        return _summarise(block, unknown, np.array([1.0, 8.0, 0.125, 4.0]), kind)

    a, b, c = part(slice(0, 50)), part(slice(50, 170)), part(slice(170, 300))
    expected = within(X, codes, weight, kind)
    for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)):
        np.testing.assert_allclose(scatter(merged.centred()), expected, rtol=1e-10, atol=1e-9)
        assert merged.weight.sum() == weight.sum()
    again = a.merge(b.in_units(b.unit * 8)).merge(c).centred()
    np.testing.assert_allclose(scatter(again), expected, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ordered", [False, True])
def test_many_blocks_equal_one(kind, ordered):
    X, codes, _ = sample(40_000, 4, 7, seed=2)
    if ordered:
        order = np.argsort(codes, kind="stable")
        X, codes = X[order], codes[order]
    found = class_moments(as_source(X, codes), 7, kind)
    expected = within(X, codes, np.ones(len(X)), kind)
    np.testing.assert_allclose(scatter(found), expected, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_rows_give_the_same(kind):
    X, codes, weight = sample()
    X[np.abs(X) < 1] = 0.0
    dense = class_moments(as_source(X, codes, weight), 3, kind)
    sparse = class_moments(as_source(sp.csr_array(X), codes, weight, accept_sparse=True), 3, kind)
    np.testing.assert_allclose(scatter(sparse), scatter(dense), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sparse", [False, True])
def test_class_means_a_million_apart_cost_no_digits(kind, sparse):
    random = np.random.default_rng(4)
    codes = random.integers(0, 3, 3000).astype(float)
    noise = random.standard_normal((3000, 3))
    X = noise + 1e6 * np.array([[0, 1, 2], [5, -3, 1], [9, 9, -9]])[codes.astype(int)]
    exact = within(
        X - np.array([X[codes == c][0] for c in range(3)])[codes.astype(int)],
        codes,
        np.ones(3000),
        kind,
    )
    rows = as_source(sp.csr_array(X) if sparse else X, codes, accept_sparse=True)
    found = class_moments(rows, 3, kind)
    np.testing.assert_allclose(scatter(found), exact, rtol=1e-10, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_an_outlier_as_first_row_costs_no_digits(kind):
    random = np.random.default_rng(5)
    X, codes = random.standard_normal((4000, 3)), np.repeat([0.0, 1.0], 2000)
    X[0] = 1e9
    shifted = X.copy()
    found = class_moments(as_source(shifted, codes, np.r_[1e-9, np.ones(3999)]), 2, kind)
    exact = within(X, codes, np.r_[1e-9, np.ones(3999)], kind)
    np.testing.assert_allclose(scatter(found), exact, rtol=1e-8, atol=1e-6)


def test_columns_constant_in_a_class_have_variance_zero():
    X = np.column_stack([np.repeat([0.1, 0.7], 50), np.arange(100.0)])
    codes = np.repeat([0.0, 1.0], 50)
    assert (class_moments(as_source(X, codes), 2, "diagonal").scatter[:, 0] == 0).all()
    assert class_moments(as_source(X, codes), 2, "pooled").scatter[0, 0] == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e-140, 1e140])
def test_squares_near_the_limits_of_numbers(kind, size):
    X, codes, weight = sample()
    plain = class_moments(as_source(X, codes, weight), 3, kind)
    found = class_moments(as_source(X * size, codes, weight), 3, kind)
    ratio = np.asarray(found.variations * (found.unit / size) ** 2) / (
        plain.variations * plain.unit**2
    )
    np.testing.assert_allclose(ratio, 1.0, rtol=1e-9)


def test_squares_beyond_the_limits_are_refused():
    X, codes, _ = sample()
    with pytest.raises(ValueError, match="overflow"):
        class_moments(as_source(X * 1e200, codes), 3, "pooled")


@pytest.mark.parametrize("kind", KINDS)
def test_same_bits_for_any_number_of_threads(kind):
    X, codes, _ = sample(40_000, 4, 7, seed=3)
    found = []
    for threads in (1, 3):
        with config(threads=threads):
            found.append(class_moments(as_source(X, codes), 7, kind))
    np.testing.assert_array_equal(found[0].scatter, found[1].scatter)
    np.testing.assert_array_equal(found[0].means, found[1].means)
