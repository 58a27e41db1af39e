"""Trees grown from merged histograms are those of the rows in one process."""

import numpy as np
import pytest

from thetahat import _native
from thetahat.data.bins import Bins
from thetahat.models.ensemble.gradient_boosting.gradient_trees import (
    NO_NUMBERS,
    TreeRules,
    grow_tree,
)


def plain_histograms(codes, n_columns, stride, leaves, words, weight):
    """The twin of `leaf_histograms`, one row at a time."""
    sums = np.zeros((len(leaves), n_columns, stride), dtype=np.int64)
    weights = np.zeros(sums.shape)
    for number, rows in enumerate(leaves):
        for row in rows:
            for column in range(n_columns):
                sums[number, column, codes[row, column]] += words[row]
                weights[number, column, codes[row, column]] += weight[row] if weight.size else 1.0
    return sums, weights


def problem(weighted):
    rng = np.random.default_rng(3)
    X = np.round(rng.standard_normal((160, 3)), 1)
    X[::9, 1] = np.nan
    slope = np.nan_to_num(X[:, 0] * X[:, 1]) + 0.1 * rng.standard_normal(160)
    curvature = rng.random(160) + 0.01
    weight = rng.integers(1, 3, 160).astype(float) if weighted else NO_NUMBERS
    return Bins.learn(X, max_bins=20), X, slope, curvature, weight


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "rules", [TreeRules(max_leaves=7, min_rows=5), TreeRules(max_depth=3, min_rows=9)]
)
def test_the_tree_is_that_of_the_rows(curved, weighted, rules):
    bins, X, slope, curvature, weight = problem(weighted)
    codes = bins.codes(X)
    h = curvature if curved else NO_NUMBERS
    expected, _ = grow_tree(
        codes, bins, slope, h if curved else None, weight if weighted else None, rules, seed=5
    )
    scales = _native.gradient_scales(_native.gradient_sums(slope, h, weight), 160, not curved)
    words = _native.gradient_words(slope, h, weight, scales, 0, 5)
    w, curves = weight if weighted else np.ones(160), h if curved else np.ones(160)
    stride = 1 + int(bins.n_bins.max())
    leaves = {0: np.arange(160)}

    def facts(rows):
        g = slope[rows]
        sums = [w[rows] * g, w[rows] * curves[rows], w[rows], w[rows] * g * g, w[rows] ** 2]
        return [*(each.sum() for each in sums), len(rows)]

    def histograms(counted):
        sums, weights = plain_histograms(codes.by_row, 3, stride, counted, words, weight)
        return sums, weights if curved else weights[:0]

    def divide(places, features, goes_left, sides):
        found, counted = [], []
        for place, feature, table, side in zip(places, features, goes_left, sides, strict=True):
            rows = leaves[int(place)]
            left = table[codes.by_row[rows, feature]].astype(bool)
            children = rows[left], rows[~left]
            for child in children:
                leaves[len(leaves)] = child
            found.append([facts(child) for child in children])
            if side:
                counted.append(children[side - 1])
        return (np.array(found), *histograms(counted))

    arrays, nodes = _native.grow_from_histograms(
        *bins.flat_cuts,
        *bins.flat_categories,
        np.array(facts(leaves[0])),
        *histograms([leaves[0]]),
        scales,
        *rules.arguments(3),
        5,
        divide,
    )
    assert arrays[0].tolist() == expected.feature.tolist()
    assert arrays[2].tolist() == expected.threshold.tolist()
    np.testing.assert_allclose(arrays[9], expected.values, rtol=1e-12)
    assert len(nodes) == len(leaves)


def test_histograms_are_sums_by_code():
    bins, X, slope, curvature, weight = problem(weighted=True)
    codes = bins.codes(X).by_row
    words = _native.gradient_words(
        slope,
        curvature,
        weight,
        _native.gradient_scales(_native.gradient_sums(slope, curvature, weight), 160, False),
        7,
        1,
    )
    rows = np.array([3, 5, 90, 4, 8], dtype=np.uint32)
    found = _native.leaf_histograms(codes, 3, 21, rows, np.array([0, 3, 3, 5]), words, weight, True)
    expected = plain_histograms(codes, 3, 21, [rows[:3], rows[:0], rows[3:]], words, weight)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"rows": np.array([160], dtype=np.uint32)}, "numbers of rows"),
        ({"bounds": np.array([0, 2])}, "bounds"),
        ({"words": np.zeros(3, dtype=np.int64)}, "one word"),
        ({"n_columns": 99}, "codes of all columns"),
    ],
)
def test_wrong_arguments_are_refused(changed, rule):
    arguments = {
        "by_row": np.zeros((160, 8), dtype=np.uint8),
        "n_columns": 3,
        "stride": 21,
        "rows": np.array([1], dtype=np.uint32),
        "bounds": np.array([0, 1]),
        "words": np.zeros(160, dtype=np.int64),
        "weight": NO_NUMBERS,
        "with_weights": False,
    }
    with pytest.raises(ValueError, match=rule):
        _native.leaf_histograms(**arguments | changed)
