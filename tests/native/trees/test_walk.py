"""Walks through trees against their plain twin, and the check that keeps them inside."""

import numpy as np
import pytest

from tests.reference.trees import tree_walk as twin
from thetahat import _native
from thetahat.models.tree.packed import CATEGORICAL, MISSING_LEFT, NODE, PackedTrees


def random_tree(random, n_splits, n_features, n_sets, first_leaf):
    """A random tree: every split takes a random leaf, so that depths differ."""
    nodes = np.zeros(1 + 2 * n_splits, dtype=NODE)
    nodes["feature"] = -1
    leaves = [0]
    for split in range(n_splits):
        at = leaves.pop(random.integers(len(leaves)))
        child = 1 + 2 * split
        feature = random.integers(n_features)
        categorical = feature == 0 and n_sets > 0
        flags = MISSING_LEFT * random.integers(2) + CATEGORICAL * categorical
        threshold = random.integers(n_sets) if categorical else random.standard_normal()
        nodes[at] = (threshold, feature + flags, child)
        leaves += [child, child + 1]
    nodes["child"][leaves] = first_leaf + random.permutation(len(leaves))
    return nodes


def random_trees(n_trees=5, n_features=4, n_sets=3, width=2, n_splits=40):
    random = np.random.default_rng(n_trees)
    nodes = [
        random_tree(random, n_splits, n_features, n_sets, tree * (n_splits + 1))
        for tree in range(n_trees)
    ]
    return PackedTrees(
        nodes=np.concatenate(nodes),
        roots=np.arange(n_trees + 1, dtype=np.int64) * len(nodes[0]),
        values=random.standard_normal((n_trees * (n_splits + 1), width)),
        sets=random.integers(0, 2**32, (n_sets, 2), dtype=np.uint32),
        n_features=n_features,
    )


def rows(n, n_features=4, dtype=np.float64):
    random = np.random.default_rng(n)
    x = random.standard_normal((n, n_features))
    x[:, 0] = random.integers(-2, 70, n)
    x[random.random((n, n_features)) < 0.1] = np.nan
    x[random.random((n, n_features)) < 0.05] = np.inf
    x[random.random((n, n_features)) < 0.05] = -np.inf
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("width", "n_columns"), [(2, 2), (1, 1), (1, 3)])
@pytest.mark.parametrize("n", [1, 7, 8, 100])
def test_sum_of_trees(dtype, width, n_columns, n):
    trees, x = random_trees(width=width), rows(n, dtype=dtype)
    expected = twin.sum_of_trees(x, trees.nodes, trees.roots, trees.sets, trees.values, n_columns)
    np.testing.assert_array_equal(trees.sum(x, n_columns=n_columns), expected)


def test_same_bits_for_any_number_of_threads():
    trees, x = random_trees(n_trees=20), rows(5000)
    bytes_ = trees.nodes.view(np.uint8).reshape(-1, 16)
    sums = []
    for threads in (1, 2, 3):
        out = np.zeros((len(x), 2))
        _native.sum_of_trees(x, bytes_, trees.roots, trees.sets, trees.values, out, 4, threads)
        sums.append(out)
    np.testing.assert_array_equal(sums[0], sums[1])
    np.testing.assert_array_equal(sums[0], sums[2])


def test_leaves_of_trees():
    trees, x = random_trees(), rows(2500)
    leaves = trees.leaves(x)
    for tree, (start, end) in enumerate(zip(trees.roots[:-1], trees.roots[1:], strict=True)):
        expected = [twin.leaf(trees.nodes[start:end], trees.sets, row) for row in x]
        np.testing.assert_array_equal(leaves[tree], expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_splits", [0, 1, 2, 63, 64, 300])
@pytest.mark.parametrize("missing", [False, True])
def test_trees_of_every_size_without_categories(dtype, n_splits, missing):
    """Up to 64 leaves they are crossed out, up to 512 nodes rows walk in step, then one by one."""
    trees, x = random_trees(n_trees=9, n_sets=0, n_splits=n_splits), rows(300, dtype=dtype)
    x = x if missing else np.nan_to_num(x)
    expected = twin.sum_of_trees(x, trees.nodes, trees.roots, trees.sets, trees.values, 2)
    np.testing.assert_array_equal(trees.sum(x, n_columns=2), expected)
    np.testing.assert_array_equal(
        trees.leaves(x)[3],
        [twin.leaf(trees.nodes[trees.roots[3] : trees.roots[4]], trees.sets, row) for row in x],
    )


def test_any_column_order_is_read():
    trees, x = random_trees(), rows(50)
    np.testing.assert_array_equal(trees.sum(np.asfortranarray(x)), trees.sum(x))


def broken(change):
    trees = random_trees()
    parts = {name: getattr(trees, name).copy() for name in ("nodes", "roots", "values", "sets")}
    change(parts)
    return {**parts, "n_features": trees.n_features}


def inner(parts):
    return int(np.flatnonzero(parts["nodes"]["feature"] >= 0)[1])


def a_leaf(parts):
    return int(np.flatnonzero(parts["nodes"]["feature"] < 0)[0])


def set_field(name, where, value):
    def change(parts):
        parts["nodes"][name][where(parts)] = value

    return change


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (set_field("child", inner, 0), "follow their parent"),
        (set_field("child", inner, 10**6), "follow their parent"),
        (set_field("child", inner, -5), "follow their parent"),
        (set_field("feature", inner, 4), "name a column"),
        (set_field("child", a_leaf, -1), "row of the values"),
        (set_field("child", a_leaf, 10**6), "row of the values"),
        (lambda parts: parts["roots"].__setitem__(1, 0), "needs a node"),
        (lambda parts: parts["roots"].__setitem__(-1, 10**6), "end at the number"),
        (lambda parts: parts["roots"].__setitem__(1, 10**9), "needs a node"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_tree_that_leads_nowhere_is_refused(change, rule):
    with pytest.raises(ValueError, match=rule):
        PackedTrees(**broken(change))


@pytest.mark.parametrize("number", [-1.0, 3.0, 0.5, np.nan])
def test_a_categorical_node_names_a_set(number):
    def change(parts):
        at = inner(parts)
        parts["nodes"]["feature"][at] |= CATEGORICAL
        parts["nodes"]["threshold"][at] = number

    with pytest.raises(ValueError, match="category set"):
        PackedTrees(**broken(change))


def test_rows_of_another_width_are_refused():
    with pytest.raises(ValueError, match="columns the trees were grown on"):
        random_trees().sum(rows(5)[:, :3])
