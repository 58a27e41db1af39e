"""Exact and random trees against their plain twin: every split is the best there is."""

import numpy as np
import pytest

import thetahat as th
from tests.reference.trees import exact_trees as twin
from thetahat import _native
from thetahat.models.tree.growth.growing import grow_tree, sorted_columns

NUMBERS = ["squared_error", "friedman_mse", "absolute_error", "poisson"]
CLASSES = ["gini", "entropy", "log_loss", "error"]


def cells(seed, n=36, missing=True, categories=True):
    """A few columns with ties, missing values and (the last) categories; 0/1 if binary."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.integers(0, 6, n).astype(float),
            random.standard_normal(n),
            random.integers(0, 4, n).astype(float),
        ]
    )
    if missing:
        X[random.random(X.shape) < 0.15] = np.nan
    return X, np.array([False, False, categories]), random


def check_node_by_node(tree, criterion, X, y, w, categorical, subsets=True, **limits):
    """Weight, count, impurity, value and gain of every node, by their definitions."""
    rows = {0: np.arange(len(X))}
    coded = y.ndim == 3
    for node in range(tree.node_count):
        here = rows[node]
        ours = (X[here], y[here], w[here])
        assert tree.count[node] == here.size
        assert tree.weight[node] == pytest.approx(w[here].sum())
        assert tree.impurity[node] == pytest.approx(
            twin.impurity(criterion, y[here], w[here]), abs=1e-9
        )
        shape = y.shape[1:] if coded else (y.shape[1], 1)
        expected = (
            np.tensordot(w[here], y[here], axes=(0, 0)) / w[here].sum()
            if coded
            else twin.best_constant(criterion, y[here], w[here])[:, None]
        )
        np.testing.assert_allclose(
            tree.values[node].reshape(shape), expected, rtol=1e-9, atol=1e-12
        )
        best = twin.best_gain(criterion, *ours, categorical, subsets, **limits)
        if tree.feature[node] < 0:
            pure = tree.impurity[node] < 1e-12
            assert pure or best == -np.inf
            continue
        left = twin.goes_left(tree, node, X[here])
        spread = max(w[here].sum() * tree.impurity[node], 1e-12)
        assert tree.gain[node] * w.sum() == pytest.approx(best, abs=3e-9 * spread)
        j = tree.feature[node]
        share = twin.real_share(X[here, j], y[here], w[here]) if categorical[j] and subsets else 1
        assert share * twin.gain(criterion, y[here], w[here], left) == pytest.approx(
            best, abs=3e-9 * spread
        )
        rows[tree.left[node]], rows[tree.left[node] + 1] = here[left], here[~left]


@pytest.mark.parametrize("criterion", NUMBERS)
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers(criterion, outputs, weighted):
    X, categorical, random = cells(len(criterion) + outputs)
    y = random.poisson(2.0, (len(X), outputs)).astype(float)
    w = random.exponential(size=len(X)) if weighted else np.ones(len(X))
    columns = sorted_columns(X, categorical)
    # Subsets of categories in the order of their means are best for means of one output.
    subsets = outputs == 1 and criterion != "absolute_error"
    tree = grow_tree(
        columns, y, w if weighted else None, criterion=criterion, category_subsets=subsets
    )
    check_node_by_node(tree, criterion, X, y, w, categorical, subsets)


@pytest.mark.parametrize("criterion", CLASSES)
@pytest.mark.parametrize("n_classes", [(2,), (4,), (2, 3)], ids=["two", "four", "two_outputs"])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes(criterion, n_classes, weighted):
    X, categorical, random = cells(len(criterion) + sum(n_classes))
    codes = np.column_stack([random.integers(0, classes, len(X)) for classes in n_classes])
    w = random.exponential(size=len(X)) if weighted else np.ones(len(X))
    tree = grow_tree(
        sorted_columns(X, categorical),
        codes,
        w if weighted else None,
        criterion=criterion,
        n_classes=n_classes,
    )
    indicators = np.eye(max(n_classes))[codes]
    check_node_by_node(tree, criterion, X, indicators, w, categorical, n_classes == (2,))


@pytest.mark.parametrize("missing", [False, True])
def test_limits_of_leaves(missing):
    X, categorical, random = cells(3, missing=missing, categories=False)
    y, w = random.standard_normal((len(X), 1)), random.exponential(size=len(X))
    columns = sorted_columns(X)
    tree = grow_tree(columns, y, w, min_leaf=4, min_weight=3.0)
    leaves = tree.feature < 0
    assert tree.count[leaves].min() >= 4
    assert tree.weight[leaves].min() >= 3.0
    check_node_by_node(
        tree, "squared_error", X, y, w, categorical & False, min_leaf=4, min_weight=3.0
    )
    tree = grow_tree(columns, y, w, min_split=9, max_depth=3, min_gain=0.02)
    assert tree.max_depth <= 3
    inner = tree.feature >= 0
    assert tree.count[inner].min() >= 9
    assert (tree.gain[inner] * w.sum() / tree.weight[inner]).min() >= 0.02
    assert grow_tree(columns, y, w, min_gain=5.0).node_count == 1
    assert grow_tree(columns, y, w, min_decrease=5.0).node_count == 1


def test_best_first_takes_the_largest_gain():
    X, categorical, random = cells(4, n=60)
    y = random.standard_normal(60)
    columns = sorted_columns(X, categorical)
    whole = grow_tree(columns, y, max_leaves=60)
    # Nodes are numbered as they were made: each split's gain is the largest of those then open.
    open_leaves = {0}
    while any(whole.feature[node] >= 0 for node in open_leaves):
        taken = min(
            (node for node in open_leaves if whole.feature[node] >= 0), key=lambda k: whole.left[k]
        )
        assert whole.gain[taken] == max(whole.gain[node] for node in open_leaves)
        open_leaves -= {taken}
        open_leaves |= {whole.left[taken], whole.left[taken] + 1}
    for leaves in (1, 2, 7):
        assert grow_tree(columns, y, max_leaves=leaves).n_leaves == leaves
    depth_first = grow_tree(columns, y)
    assert sorted(whole.gain) == pytest.approx(sorted(depth_first.gain))


@pytest.mark.parametrize("ordered", [True, False])
def test_same_bits_for_any_number_of_threads(ordered):
    """Large enough for shared columns at the top and for subtrees below."""
    random = np.random.default_rng(0)
    X = random.standard_normal((30_000, 8)).round(2)
    X[random.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0]) * 2 + random.standard_normal(30_000)
    trees = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            columns = sorted_columns(X, ordered=ordered)
            trees.append(grow_tree(columns, y, max_depth=12, max_features=5, seed=7))
    for tree in trees[1:]:
        for name in ("feature", "left", "threshold", "missing_left", "gain", "impurity", "values"):
            np.testing.assert_array_equal(getattr(tree, name), getattr(trees[0], name))


def test_a_subtree_is_what_it_would_be_alone():
    """Below the size from which on subtrees are grown apart, nothing changes."""
    random = np.random.default_rng(1)
    X = random.standard_normal((40_000, 4))
    y = np.sign(X[:, 0]) * 5 + random.standard_normal(40_000)
    whole = grow_tree(sorted_columns(X), y, min_leaf=20)
    side = X[:, whole.feature[0]] <= whole.threshold[0]
    part = grow_tree(sorted_columns(X[side]), y[side], min_leaf=20)
    assert part.n_leaves == np.unique(whole.apply(X[side])).size
    np.testing.assert_allclose(part.predict(X[side]), whole.predict(X[side]), rtol=1e-12)


def test_random_splits_lie_between_the_extremes():
    X, categorical, random = cells(5, n=200)
    y = random.standard_normal(200)
    columns = sorted_columns(X, categorical, ordered=False)
    thresholds = set()
    for seed in range(50):
        tree = grow_tree(columns, y, seed=seed, max_features=1)
        rows = {0: np.arange(200)}
        for node in range(tree.node_count):
            if tree.feature[node] < 0:
                continue
            here = rows[node]
            left = twin.goes_left(tree, node, X[here])
            assert 0 < left.sum() < here.size
            column = X[here, tree.feature[node]]
            if tree.category_set[node] < 0 and np.isfinite(tree.threshold[node]):
                assert np.nanmin(column) <= tree.threshold[node] < np.nanmax(column)
            rows[tree.left[node]], rows[tree.left[node] + 1] = here[left], here[~left]
        thresholds.add(tree.threshold[0])
        np.testing.assert_array_equal(
            tree.values, grow_tree(columns, y, seed=seed, max_features=1).values
        )
    assert len(thresholds) > 20


def test_drawn_columns_that_are_constant_do_not_count():
    random = np.random.default_rng(0)
    X = np.zeros((50, 20))
    X[:, 13] = random.standard_normal(50)
    y = random.standard_normal(50)
    for ordered in (True, False):
        columns = sorted_columns(X, ordered=ordered)
        tree = grow_tree(columns, y, max_features=1, seed=1)
        assert tree.n_leaves == 50


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("n", [40, 900])
def test_strange_numbers_and_strides(dtype, ordered, n):
    """±∞ are the extremes, −0 is 0, neighbours that no number parts are still parted."""
    random = np.random.default_rng(2)
    values = np.array(
        [-np.inf, -1.0, -0.0, 0.0, 1.0, np.nextafter(dtype(1.0), dtype(2.0)), np.inf, np.nan],
        dtype=dtype,
    )
    X = values[random.integers(0, 8, (n, 6))]
    same = np.nan_to_num(X[:, 2] + 0.0, nan=77.0, posinf=88.0, neginf=-88.0)
    y = np.unique(same, return_inverse=True)[1].astype(float)
    for given in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        tree = grow_tree(sorted_columns(given, ordered=ordered), y, seed=3)
        np.testing.assert_array_equal(tree.predict(given)[:, 0], y)
    only = X[:, 2:3]
    tree = grow_tree(sorted_columns(only), y)
    assert tree.n_leaves == np.unique(y).size
    assert tree.threshold[tree.feature >= 0].min() == -np.inf


def test_rows_of_weight_zero_are_absent():
    X, categorical, random = cells(6, n=80)
    y, w = random.standard_normal(80), random.integers(0, 3, 80).astype(float)
    for ordered in (True, False):
        with_zeros = grow_tree(sorted_columns(X, categorical, ordered), y, w, seed=1)
        kept = w > 0
        without = grow_tree(sorted_columns(X[kept], categorical, ordered), y[kept], w[kept], seed=1)
        for name in ("feature", "threshold", "count", "values"):
            np.testing.assert_array_equal(getattr(with_zeros, name), getattr(without, name))


def test_far_off_targets_lose_no_digits():
    random = np.random.default_rng(3)
    X = random.standard_normal((300, 3))
    y = random.standard_normal(300).round(3)
    near, far = (grow_tree(sorted_columns(X), target, min_leaf=5) for target in (y, y + 2.0**30))
    np.testing.assert_array_equal(near.feature, far.feature)
    np.testing.assert_allclose(far.impurity, near.impurity, rtol=1e-4, atol=1e-12)


def test_refusals():
    X = np.arange(6.0).reshape(3, 2)
    plain, y = np.zeros(2, dtype=np.uint8), np.array([0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="one entry per column"):
        _native.sorted_columns(X, np.zeros(3, dtype=np.uint8), True, 1)
    with pytest.raises(ValueError, match="rows and columns"):
        _native.sorted_columns(X[:0], plain, True, 1)
    for bad in (-1.0, 0.5, 1e9, np.inf):
        with pytest.raises(ValueError, match="whole numbers"):
            sorted_columns(np.full((3, 2), bad), [True, False])
    columns = sorted_columns(X)
    with pytest.raises(ValueError, match="criterion must be"):
        grow_tree(columns, y, criterion="hinge")
    with pytest.raises(ValueError, match="take classes"):
        grow_tree(columns, y, criterion="gini")
    with pytest.raises(ValueError, match="codes of classes"):
        grow_tree(columns, y, criterion="gini", n_classes=(2,))
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            grow_tree(columns, np.array([0.0, bad, 1.0]))
        with pytest.raises(ValueError, match="finite"):
            grow_tree(columns, y, np.array([1.0, bad, 1.0]))
    with pytest.raises(ValueError, match="positive weight"):
        grow_tree(columns, y, np.zeros(3))
    with pytest.raises(ValueError, match="one entry per row"):
        grow_tree(columns, y, np.ones(2))
    with pytest.raises(ValueError, match="one output"):
        grow_tree(columns, np.column_stack([y, y]), monotone=[1, 0])


@pytest.mark.parametrize("missing", [False, True])
def test_columns_keep_their_order_through_levels(missing):
    """Few values per column, so that most neighbours of a stretch are equal or missing."""
    random = np.random.default_rng(0)
    X = random.integers(0, 3, (400, 6)).astype(float)
    X[:, 5] = 1.0
    if missing:
        X[random.random(X.shape) < 0.2] = np.nan
    y = random.standard_normal((400, 1))
    w = random.integers(0, 2, 400).astype(float)
    kept = w > 0
    tree = grow_tree(sorted_columns(X), y, w, use_up=True)
    check_node_by_node(
        grow_tree(sorted_columns(X[kept]), y[kept]),
        "squared_error",
        X[kept],
        y[kept],
        w[kept],
        np.zeros(6, dtype=bool),
    )
    again = grow_tree(sorted_columns(X), y, w)
    assert np.array_equal(tree.feature, again.feature)
    assert np.array_equal(tree.threshold, again.threshold)
    assert np.array_equal(tree.left, again.left)
