"""The kernels that grow forests, beside their plain twins."""

import numpy as np
import pytest

from tests.reference.trees import forest as reference
from thetahat import _native
from thetahat.data.bins import Bins
from thetahat.models.tree.growth.codes import column_codes, columns_for_random_splits
from thetahat.models.tree.growth.columns import TreeColumns
from thetahat.models.tree.growth.grown_forest import GrownForest

RANDOM = np.random.default_rng(0)
N, D = 60, 3
X = RANDOM.standard_normal((N, D))
Y = X[:, 0] - 2.0 * (X[:, 1] > 0.3) + 0.1 * RANDOM.standard_normal(N)


def grow(rows=X, y=Y, splits="exact", categorical=None, **changed):
    """Trees of squared errors on codes of the rows, all columns at every node unless changed."""
    columns = TreeColumns.learn(rows, categorical)
    rows = columns.read(rows)
    y = np.ascontiguousarray(y, dtype=float).reshape(len(rows), -1)
    n_classes = changed.get("n_classes", 0)
    settings = {
        "columns": columns_for_random_splits(rows, None, columns)
        if splits == "random"
        else column_codes(rows, None, columns, splits),
        "monotone": np.empty(0, dtype=np.int8),
        "y": y,
        "weight": np.empty(0),
        "n_classes": n_classes,
        "criterion": "gini" if n_classes else "squared_error",
        "seeds": np.arange(3, dtype=np.uint64),
        "draws": 0,
        "balanced": False,
        "replacement": True,
        "max_features": rows.shape[1],
        "features_per_tree": rows.shape[1],
        "max_candidates": 0,
        "exact_rows": 65_535,
        "max_depth": 1000,
        "max_leaves": 0,
        "min_split": 2,
        "min_leaf": 1,
        "min_weight_share": 0.0,
        "min_decrease": 0.0,
        "threads": 1,
        **changed,
    }
    kind = (n_classes,) * y.shape[1] if n_classes else (1,) * y.shape[1]
    empty = GrownForest.empty(settings["criterion"], y.shape[1], kind, rows.shape[1])
    parts = _native.grow_forest(**settings, first_value=empty.packed.values.shape[0], first_set=0)
    return empty.extended([parts], settings["seeds"])


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_drawn_as_their_weights_say(weighted):
    random = np.random.default_rng(1)
    weight = random.integers(0, 4, 20).astype(float) if weighted else None
    counts = np.empty(20, dtype=np.uint32)
    _native.drawn_counts(7, 50, np.empty(0) if weight is None else weight, counts, True)
    np.testing.assert_array_equal(counts, reference.drawn_counts(7, 50, weight, 20))
    assert counts.sum() == 50
    if weighted:
        assert not counts[weight == 0].any()


@pytest.mark.parametrize("weighted", [False, True])
def test_distinct_rows_are_drawn_with_equal_probabilities(weighted):
    random = np.random.default_rng(1)
    weight = random.integers(0, 4, 20).astype(float) if weighted else None
    given = np.empty(0) if weight is None else weight
    counts, total = np.empty(20, dtype=np.uint32), np.zeros(20)
    for seed in range(2000):
        _native.drawn_counts(seed, 8, given, counts, False)
        if seed < 20:
            np.testing.assert_array_equal(counts, reference.distinct_rows(seed, 8, weight, 20))
        assert counts.sum() == 8
        assert counts.max() == 1
        total += counts
    usable = np.ones(20, dtype=bool) if weight is None else weight > 0
    assert not total[~usable].any()
    np.testing.assert_allclose(total[usable] / 2000, 8 / usable.sum(), atol=0.05)
    _native.drawn_counts(3, 99, given, counts, False)
    np.testing.assert_array_equal(counts, usable)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("splits", ["exact", "histogram"])
def test_trees_on_all_columns_are_the_best_by_brute_force(weighted, splits):
    random = np.random.default_rng(2)
    weight = random.uniform(0.5, 2.0, N) if weighted else np.ones(N)
    forest = grow(weight=weight if weighted else np.empty(0), min_leaf=4, splits=splits)
    tree = reference.grow(X, Y, weight, 4, 1000)
    expected = [reference.answer(tree, row) for row in X]
    for t in range(3):
        got = forest.packed.some(t, t + 1).sum(X)[:, 0]
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("splits", ["exact", "histogram", "random"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_threads_change_no_bit(splits, n_classes):
    random = np.random.default_rng(3)
    y = random.integers(0, n_classes, N) if n_classes else Y
    one, two = (
        grow(
            y=y, n_classes=n_classes, splits=splits, draws=N, max_features=1,
            threads=threads, seeds=np.arange(9, dtype=np.uint64),
        )
        for threads in (1, 2)
    )  # fmt: skip
    for name in ("nodes", "roots", "values"):
        np.testing.assert_array_equal(getattr(one.packed, name), getattr(two.packed, name))
    np.testing.assert_array_equal(one.gains, two.gains)


def test_bins_of_one_value_each_are_exact():
    random = np.random.default_rng(4)
    rows = random.integers(0, 12, (N, D)).astype(float)
    exact, bins = (grow(rows, splits=splits) for splits in ("exact", "histogram"))
    np.testing.assert_array_equal(exact.packed.nodes["feature"], bins.packed.nodes["feature"])
    np.testing.assert_allclose(exact.packed.sum(rows), bins.packed.sum(rows))


@pytest.mark.parametrize("n_distinct", [3, 400])
def test_codes_of_every_width(n_distinct):
    """One byte or four: the same tree whatever the codes are held in."""
    random = np.random.default_rng(5)
    n = max(500, n_distinct + 10)
    values = random.permutation(np.resize(np.arange(n_distinct), n)).astype(float)[:, None]
    forest = grow(values, np.floor(values[:, 0] / 2), seeds=np.zeros(1, dtype=np.uint64))
    np.testing.assert_array_equal(forest.packed.sum(values)[:, 0], np.floor(values[:, 0] / 2))


def test_missing_values_go_to_the_better_side():
    rows = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan], [4.0]])
    for side in (0.0, 1.0):
        y = np.array([0.0, 0.0, 1.0, side, side, 1.0])
        forest = grow(rows, y)
        np.testing.assert_array_equal(forest.packed.sum(rows)[:, 0], 3 * y)
        assert forest.packed.nodes["feature"].max() & (1 << 30) == (0 if side else 1 << 30)


def test_missing_against_all_others():
    rows = np.array([[1.0], [np.nan], [2.0], [np.nan], [np.inf]])
    y = np.array([0.0, 5.0, 0.0, 5.0, 0.0])
    forest = grow(rows, y, seeds=np.zeros(1, dtype=np.uint64))
    np.testing.assert_array_equal(forest.packed.sum(rows)[:, 0], y)
    assert forest.packed.nodes.shape[0] == 3


@pytest.mark.parametrize("splits", ["exact", "histogram", "random"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_categories_are_divided_by_sets(splits, n_classes):
    random = np.random.default_rng(6)
    rows = np.column_stack([np.arange(40) % 8, random.standard_normal(40)]).astype(float)
    y = np.isin(rows[:, 0], (1, 4, 6)).astype(float) + (n_classes == 3) * (rows[:, 0] == 2)
    forest = grow(rows, y, splits, [0], n_classes=n_classes, max_features=1)
    predicted = forest.packed.sum(rows)
    predicted = predicted.argmax(axis=1) if n_classes else predicted[:, 0] / 3
    np.testing.assert_allclose(predicted, y)
    if splits != "random" and n_classes != 3:
        alone = grow(rows[:, :1], y, categorical=[0], n_classes=n_classes)
        assert alone.packed.nodes.shape[0] == 3 * 3  # one split: the best subset, at once


def test_candidates_drawn_at_random_are_some_of_all():
    """One candidate per column: every split lies at one of the midpoints, not always the best."""
    forest = grow(max_candidates=1, max_depth=1, seeds=np.arange(40, dtype=np.uint64))
    roots = forest.packed.nodes[forest.packed.roots[:-1]]
    ordered = np.sort(X, axis=0)
    midpoints = (ordered[1:] + ordered[:-1]) / 2
    for node in roots:
        column = node["feature"] & ((1 << 29) - 1)
        assert np.abs(midpoints[:, column] - node["threshold"]).min() < 1e-12
    assert np.unique(roots["threshold"]).size > 10


def test_trees_draw_their_columns_once():
    forest = grow(features_per_tree=1, seeds=np.arange(20, dtype=np.uint64))
    used = [set(forest.packed.some(t, t + 1).nodes["feature"].tolist()) - {-1} for t in range(20)]
    flags = (1 << 29) - 1
    assert all(len({feature & flags for feature in of}) == 1 for of in used)
    assert len({next(iter(of)) & flags for of in used}) == D


def test_sums_of_out_of_bag_rows():
    random = np.random.default_rng(7)
    forest = grow(draws=N, seeds=np.arange(5, dtype=np.uint64))
    grown_on = random.integers(0, 2, (5, N)).astype(np.uint8)
    out, votes = np.zeros((N, 1)), np.zeros(N, dtype=np.int64)
    forest.packed.sum_out_of_bag(X, grown_on, out, votes)
    each = forest.packed.each(X)[:, :, 0]
    np.testing.assert_allclose(out[:, 0], (each * (grown_on == 0)).sum(axis=0))
    np.testing.assert_array_equal(votes, (grown_on == 0).sum(axis=0))


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"max_features": 0}, "one column"),
        ({"features_per_tree": D + 1}, "none twice"),
        ({"weight": np.ones(3)}, "match the rows"),
        ({"criterion": "gini"}, "must match"),
        ({"n_classes": 2, "y": np.full((N, 1), 2.0)}, "codes"),
        ({"monotone": np.zeros(1, dtype=np.int8)}, "every column"),
    ],
)
def test_sizes_are_checked_at_the_boundary(wrong, rule):
    with pytest.raises(ValueError, match=rule):
        grow(**wrong)


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: _native.binned_columns(X, CODES, np.zeros(D, np.uint32), PLAIN), "exceed"),
        (lambda: _native.binned_columns(X, CODES[:, 1:], CODED, PLAIN), "match"),
        (lambda: _native.coded_columns(CODES, 0 * CODED, PLAIN, ENDS, ENDS), "exceed"),
        (lambda: _native.coded_columns(CODES, CODED, PLAIN, ENDS[1:], ENDS), "ends of its codes"),
        (lambda: _native.coded_columns(CODES, 9 * CODED, PLAIN, ENDS, ENDS), "have its ends"),
        (lambda: _native.coded_columns(CODES[:, :0], CODED, PLAIN, ENDS, ENDS), "some"),
        (lambda: _native.ranked_columns(X, CODED, PLAIN[1:], 1), "every column"),
        (lambda: _native.ranked_columns(np.abs(X) // 1, 0 * CODED, 1 + PLAIN, 1), "their codes"),
        (lambda: _native.value_columns(X, CODED, 1 + PLAIN, 1), "their codes"),
        (lambda: _native.value_columns(X[:0], CODED, PLAIN, 1), "some"),
    ],
)
def test_columns_are_checked_at_the_boundary(make, rule):
    with pytest.raises(ValueError, match=rule):
        make()


CODES = np.ones((D, N), dtype=np.uint8)
CODED, PLAIN = np.ones(D, dtype=np.uint32), np.zeros(D, dtype=np.uint8)
ENDS = np.zeros((D, 2))


def test_codes_without_rows_are_split_at_the_ends_of_bins():
    columns = TreeColumns.learn(X)
    bins = Bins.learn(X, max_bins=8)
    codes = bins.codes(X, by_row=False).by_column
    upper = bins.values_of_codes
    lower = np.column_stack([np.full(D, -np.inf), upper[:, :-1]])
    n_codes = np.array([len(cuts) + 1 for cuts in bins.cuts], dtype=np.uint32)
    streamed = grow(columns=_native.coded_columns(codes, n_codes, PLAIN, lower, upper))
    held = grow(columns=_native.binned_columns(X, codes, n_codes, PLAIN))
    assert columns.n_features == D
    for number in range(3):
        ours, theirs = streamed.tree(number), held.tree(number)
        np.testing.assert_array_equal(ours.feature, theirs.feature)
        np.testing.assert_array_equal(ours.values, theirs.values)
        np.testing.assert_array_equal(ours.apply(X), theirs.apply(X))
        for feature, threshold in zip(ours.feature, ours.threshold, strict=True):
            if feature >= 0:
                cuts = bins.cuts[feature]
                assert cuts[0] <= threshold <= cuts[-1]


@pytest.mark.parametrize("missing", [False, True])
def test_blocks_of_every_size_hold_the_same_cells(missing):
    """From all rows through the blocks of 65,535 and of 8,192 rows to the smallest ones."""
    random = np.random.default_rng(8)
    rows = random.integers(0, 50_000, (70_000, 1)) / 7.0
    y = np.floor(rows[:, 0] / 40.0) + random.integers(0, 3, 70_000)
    if missing:
        rows[random.random(rows.shape) < 0.1] = np.nan
    one = {"seeds": np.zeros(1, dtype=np.uint64), "min_leaf": 3}
    in_blocks = grow(rows, y, exact_rows=70_000, **one)
    without = grow(rows, y, exact_rows=70_000, max_leaves=70_000, **one)  # best first: none
    np.testing.assert_array_equal(in_blocks.packed.sum(rows), without.packed.sum(rows))


def test_large_nodes_are_split_between_groups_of_values():
    random = np.random.default_rng(9)
    rows = np.arange(40_000.0)[random.permutation(40_000)][:, None]
    y = (rows[:, 0] >= 20_003).astype(float)
    one = {"seeds": np.zeros(1, dtype=np.uint64), "max_depth": 1}
    exact, grouped = (
        grow(rows, y, exact_rows=exact_rows, **one).packed.nodes["threshold"][0]
        for exact_rows in (40_000, 39_999)
    )
    assert exact == 20_002.5
    # Of 40,000 values four are taken together.
    assert grouped % 4 == 3.5
    assert abs(grouped - exact) < 4


@pytest.mark.parametrize("draws", [0, 20])
@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_weights_that_no_tree_can_grow_on_are_refused(draws, weight):
    with pytest.raises(ValueError, match="positive weight"):
        grow(weight=np.full(N, weight), draws=draws)
