"""A grown tree: its measures, its answers, its importances."""

import numpy as np
import pytest

from thetahat.models.tree.structure import Tree


def grown(**changes):
    """x₀ ≤ 0.5 (missing goes left): 1; else the categories {0, 2} of x₁: 3; the others: 4."""
    parts = {
        "feature": np.array([0, -1, 1, -1, -1], dtype=np.int32),
        "left": np.array([1, -1, 3, -1, -1], dtype=np.int32),
        "threshold": np.array([0.5, 0.0, 0.0, 0.0, 0.0]),
        "missing_left": np.array([1, 0, 0, 0, 0], dtype=np.uint8),
        "category_set": np.array([-1, -1, 0, -1, -1], dtype=np.int32),
        "gain": np.array([0.5, 0.0, 0.25, 0.0, 0.0]),
        "impurity": np.array([1.0, 0.25, 0.5, 0.0, 0.5]),
        "weight": np.array([8.0, 4.0, 4.0, 2.0, 2.0]),
        "count": np.array([8, 4, 4, 2, 2]),
        "values": np.arange(5.0)[:, None],
        "category_sets": np.array([[0b101]], dtype=np.uint32),
        "n_features": 2,
    }
    return Tree(**{**parts, **changes})


def test_size_and_depth():
    tree = grown()
    assert (tree.node_count, tree.n_leaves, tree.max_depth) == (5, 3, 2)
    np.testing.assert_array_equal(tree.depth, [0, 1, 1, 2, 2])
    np.testing.assert_array_equal(tree.compute_node_depths(), [1, 2, 2, 3, 3])
    np.testing.assert_array_equal(tree.children_left, [1, -1, 3, -1, -1])
    np.testing.assert_array_equal(tree.children_right, [2, -1, 4, -1, -1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_row_gets_the_value_of_its_leaf(dtype):
    nan = np.nan
    rows = [[0.2, 9], [nan, 0], [0.7, 0], [0.7, 1], [0.7, 2], [0.7, nan], [0.7, 77], [0.9, -1]]
    x = np.array(rows, dtype=dtype)
    np.testing.assert_array_equal(grown().predict(x).ravel(), [1, 1, 3, 4, 3, 4, 4, 4])
    np.testing.assert_array_equal(grown().apply(x), [1, 1, 3, 4, 3, 4, 4, 4])
    assert grown(values=np.zeros((5, 6)), n_outputs=2).predict(x).shape == (8, 2, 3)


def test_importances_share_out_what_the_splits_gained():
    # 8·1 − 4·¼ − 4·½ = 5 at the root, 4·½ − 2·0 − 2·½ = 1 below it.
    np.testing.assert_allclose(grown().compute_feature_importances(), [5 / 6, 1 / 6])
    np.testing.assert_allclose(grown().compute_feature_importances(normalize=False), [5 / 8, 1 / 8])


def test_a_tree_of_one_leaf_has_no_importances():
    leaf = {
        name: getattr(grown(), name)[1:2] for name in Tree.__dataclass_fields__ if name[0] != "n"
    }
    tree = Tree(**{**leaf, "n_features": 2, "category_sets": np.empty((0, 0), dtype=np.uint32)})
    assert (tree.n_leaves, tree.max_depth) == (1, 0)
    np.testing.assert_array_equal(tree.compute_feature_importances(), [0.0, 0.0])
    np.testing.assert_array_equal(tree.predict(np.zeros((3, 2))).ravel(), [1.0, 1.0, 1.0])
