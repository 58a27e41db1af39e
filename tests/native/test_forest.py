"""The kernels that grow forests, beside their plain twins."""

import numpy as np
import pytest

from tests.reference import forest as reference
from thetahat import _native
from thetahat.models.ensemble.grown_forest import GrownForest
from thetahat.models.tree.codes import ColumnCodes
from thetahat.models.tree.columns import TreeColumns

RANDOM = np.random.default_rng(0)
N, D = 60, 3
X = RANDOM.standard_normal((N, D))
Y = X[:, 0] - 2.0 * (X[:, 1] > 0.3) + 0.1 * RANDOM.standard_normal(N)


def grow(rows=X, y=Y, splits="exact", categorical=None, **changed):
    """Trees of squared errors on codes of the rows, all columns at every node unless changed."""
    columns = TreeColumns.learn(rows, categorical)
    rows = columns.read(rows)
    codes = ColumnCodes.learn(rows, None, columns, splits)
    y = np.ascontiguousarray(y, dtype=float).reshape(len(rows), -1)
    n_classes = changed.get("n_classes", 0)
    settings = {
        "codes": codes.codes,
        "n_codes": codes.n_codes,
        "first": codes.first,
        "lowest": codes.lowest,
        "highest": codes.highest,
        "categorical": codes.categorical,
        "monotone": np.empty(0, dtype=np.int8),
        "y": y,
        "weight": np.empty(0),
        "n_classes": n_classes,
        "criterion": "gini" if n_classes else "squared_error",
        "seeds": np.arange(3, dtype=np.uint64),
        "draws": 0,
        "balanced": False,
        "max_features": rows.shape[1],
        "features_per_tree": rows.shape[1],
        "max_candidates": 0,
        "random_thresholds": False,
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
    weight = RANDOM.integers(0, 4, 20).astype(float) if weighted else None
    counts = np.empty(20, dtype=np.uint32)
    _native.drawn_counts(7, 50, np.empty(0) if weight is None else weight, counts)
    np.testing.assert_array_equal(counts, reference.drawn_counts(7, 50, weight, 20))
    assert counts.sum() == 50
    if weighted:
        assert not counts[weight == 0].any()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("splits", ["exact", "histogram"])
def test_trees_on_all_columns_are_the_best_by_brute_force(weighted, splits):
    weight = RANDOM.uniform(0.5, 2.0, N) if weighted else np.ones(N)
    forest = grow(weight=weight if weighted else np.empty(0), min_leaf=4, splits=splits)
    tree = reference.grow(X, Y, weight, 4, 1000)
    expected = [reference.answer(tree, row) for row in X]
    for t in range(3):
        got = forest.packed.some(t, t + 1).sum(X)[:, 0]
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_threads_change_no_bit(extra, n_classes):
    y = RANDOM.integers(0, n_classes, N) if n_classes else Y
    one, two = (
        grow(
            y=y, n_classes=n_classes, random_thresholds=extra, draws=N, max_features=1,
            threads=threads, seeds=np.arange(9, dtype=np.uint64),
        )
        for threads in (1, 2)
    )  # fmt: skip
    for name in ("nodes", "roots", "values"):
        np.testing.assert_array_equal(getattr(one.packed, name), getattr(two.packed, name))
    np.testing.assert_array_equal(one.gains, two.gains)


@pytest.mark.parametrize("extra", [False, True])
def test_bins_of_one_value_each_are_exact(extra):
    rows = RANDOM.integers(0, 12, (N, D)).astype(float)
    exact, bins = (
        grow(rows, splits=splits, random_thresholds=extra) for splits in ("exact", "histogram")
    )
    np.testing.assert_array_equal(exact.packed.nodes["feature"], bins.packed.nodes["feature"])
    np.testing.assert_allclose(exact.packed.sum(rows), bins.packed.sum(rows))


@pytest.mark.parametrize("n_distinct", [3, 400])
def test_codes_of_every_width(n_distinct):
    """One byte or four: the same tree whatever the codes are held in."""
    n = max(500, n_distinct + 10)
    values = RANDOM.permutation(np.resize(np.arange(n_distinct), n)).astype(float)[:, None]
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


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_categories_are_divided_by_sets(extra, n_classes):
    rows = np.column_stack([np.arange(40) % 8, RANDOM.standard_normal(40)]).astype(float)
    y = np.isin(rows[:, 0], (1, 4, 6)).astype(float) + (n_classes == 3) * (rows[:, 0] == 2)
    forest = grow(
        rows, y, categorical=[0], n_classes=n_classes, random_thresholds=extra, max_features=1
    )
    told = forest.packed.sum(rows)
    told = told.argmax(axis=1) if n_classes else told[:, 0] / 3
    np.testing.assert_allclose(told, y)
    if not extra and n_classes != 3:
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


def test_sums_of_rows_left_out():
    forest = grow(draws=N, seeds=np.arange(5, dtype=np.uint64))
    grown_on = RANDOM.integers(0, 2, (5, N)).astype(np.uint8)
    out, votes = np.zeros((N, 1)), np.zeros(N, dtype=np.int64)
    forest.packed.sum_of_left_out(X, grown_on, out, votes)
    each = forest.packed.each(X)[:, :, 0]
    np.testing.assert_allclose(out[:, 0], (each * (grown_on == 0)).sum(axis=0))
    np.testing.assert_array_equal(votes, (grown_on == 0).sum(axis=0))


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"max_features": 0}, "one column"),
        ({"features_per_tree": D + 1}, "none twice"),
        ({"weight": np.ones(3)}, "match the rows"),
        ({"n_codes": np.ones(D, dtype=np.uint32)}, "exceed"),
        ({"criterion": "gini"}, "must match"),
        ({"n_classes": 2, "y": np.full((N, 1), 2.0)}, "codes"),
        ({"monotone": np.zeros(1, dtype=np.int8)}, "every column"),
    ],
)
def test_sizes_are_checked_at_the_boundary(wrong, rule):
    with pytest.raises(ValueError, match=rule):
        grow(**wrong)
