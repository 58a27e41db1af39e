"""Stumps on bins: the exact stump of the plain twin and of the engine, whatever the weights."""

import numpy as np
import pytest

from tests.reference.trees.stump import PlainStump
from thetahat import _native
from thetahat.models.ensemble.adaboost.rounds import pull
from thetahat.models.tree.growth.growing import grow_tree, sorted_columns

KINDS = ("continuous", "tied", "missing", "constant")


def problem(seed, kind, n):
    """Columns of a kind, noisy labels, and weights as boosting makes them."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((n, 4))
    labels = ((x[:, 2] > 0.3) ^ (random.random(n) < 0.3)).astype(np.uint8)
    if kind == "tied":
        x = x.round(1)
    if kind == "missing":
        x[random.random(x.shape) < 0.2] = np.nan
        x[:, 0] = np.nan
    if kind == "constant":
        x[:, 1:] = 1.0
    counts = np.maximum(random.integers(0, 3, n), np.arange(n) == 0).astype(float)
    weight, _ = pull(counts, random.standard_normal(n).round(1))
    return x, labels, weight


def grown(x, labels, weight, threads=2):
    columns = sorted_columns(x)
    bins = _native.stump_bins(columns, labels, threads)
    left = np.empty(len(x), dtype=np.uint8)
    return columns, _native.grow_stump(columns, bins, weight, left, threads), left


@pytest.mark.parametrize("n", [1, 2, 7, 150, 3000])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_is_the_tree_that_a_pass_over_all_rows_finds(n, kind, seed):
    x, labels, weight = problem(seed, kind, n)
    columns, parts, left = grown(x, labels, weight)
    tree = grow_tree(columns, labels, weight, criterion="gini", n_classes=(2,), max_depth=1)
    names = ("feature", "left", "threshold", "missing_left", "category_set", "gain", "impurity")
    expected = [getattr(tree, name) for name in (*names, "weight", "count", "values")]
    for got, wanted in zip(parts, expected, strict=False):
        np.testing.assert_array_equal(got, wanted)
    if tree.node_count == 3:
        np.testing.assert_array_equal(2 - left, tree.apply(x))


@pytest.mark.parametrize("seed", range(5))
def test_against_the_plain_twin(seed):
    x, labels, weight = problem(seed, "continuous", 200)
    _, parts, left = grown(x, labels, weight)
    plain = PlainStump().fit(x[weight > 0], labels[weight > 0], weight[weight > 0])
    assert parts[0][0] == plain.feature_
    assert parts[2][0] == pytest.approx(plain.threshold_)
    np.testing.assert_allclose(parts[9][1:], plain.sides_[::-1], atol=1e-12)
    np.testing.assert_array_equal(left, x[:, plain.feature_] <= parts[2][0])


def test_same_bits_for_any_number_of_threads():
    """So many entries that columns are shared among threads."""
    random = np.random.default_rng(0)
    x = random.standard_normal((300_000, 30)).round(3)
    labels = (x[:, 0] + random.standard_normal(len(x)) > 0).astype(np.uint8)
    weight = random.random(len(x))
    one, two = grown(x, labels, weight, 1), grown(x, labels, weight, 3)
    for first, second in zip(one[1], two[1], strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(one[2], two[2])


def test_refuses_what_is_no_problem_of_two_classes():
    x, labels, weight = problem(0, "continuous", 50)
    columns = sorted_columns(x)
    left = np.empty(50, dtype=np.uint8)
    with pytest.raises(ValueError, match="classes must be 0 or 1"):
        _native.stump_bins(columns, labels + np.uint8(1), 1)
    with pytest.raises(ValueError, match="one class per row"):
        _native.stump_bins(columns, labels[:9], 1)
    with pytest.raises(ValueError, match="rows in order"):
        _native.stump_bins(sorted_columns(x, ordered=False), labels, 1)
    coded = sorted_columns(np.abs(x).round(), np.array([True, False, False, False]))
    with pytest.raises(ValueError, match="numbers only"):
        _native.stump_bins(coded, labels, 1)
    bins = _native.stump_bins(columns, labels, 1)
    for wrong in (np.zeros(50), np.full(50, np.nan), -weight):
        with pytest.raises(ValueError, match="finite and ≥ 0"):
            _native.grow_stump(columns, bins, wrong, left, 1)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.grow_stump(columns, bins, weight[:9], left, 1)
    with pytest.raises(ValueError, match="bins must be those"):
        _native.grow_stump(sorted_columns(x[:20]), bins, weight, left, 1)
