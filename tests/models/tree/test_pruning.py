"""Sequences of pruned trees: optimal at every level, nested, and as scikit-learn's."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.models.tree.foreign_tree import as_tree
from thetahat.models.tree.pruning import (
    error_risk,
    impurity_risk,
    least_impact,
    pruned,
    weakest_links,
)
from thetahat.models.tree.structure import Tree


def grown(kind, **options):
    X, y = {
        DecisionTreeClassifier: lambda: load_breast_cancer(return_X_y=True),
        DecisionTreeRegressor: lambda: load_diabetes(return_X_y=True),
    }[kind]()
    return kind(random_state=0, **options).fit(X, y), X, y


def bush(n_inner, seed):
    """A tree of random shape with random risks, and random costs of its nodes."""
    random = np.random.default_rng(seed)
    feature, left, leaves = [-1], [-1], [0]
    for _ in range(n_inner):
        node = leaves.pop(random.integers(len(leaves)))
        feature[node], left[node] = 0, len(feature)
        leaves += [len(feature), len(feature) + 1]
        feature += [-1, -1]
        left += [-1, -1]
    n = len(feature)
    return Tree(
        feature=np.array(feature, dtype=np.int32),
        left=np.array(left, dtype=np.int32),
        threshold=np.zeros(n),
        missing_left=np.zeros(n, dtype=np.uint8),
        category_set=np.full(n, -1, dtype=np.int32),
        gain=np.zeros(n),
        impurity=np.zeros(n),
        weight=np.ones(n),
        count=np.ones(n, dtype=np.int64),
        values=np.arange(float(n))[:, None],
        category_sets=np.zeros((0, 0), dtype=np.uint32),
        n_features=1,
    ), random


def all_prunings(tree):
    """Every set of leaves that a pruning can have, with the inner nodes above them."""
    inner = np.flatnonzero(tree.feature >= 0).tolist()
    for k in range(len(inner) + 1):
        for kept in itertools.combinations(inner, k):
            reached = {0}
            for node in kept:
                if node in reached:
                    reached |= {int(tree.left[node]), int(tree.left[node]) + 1}
            if set(kept) <= reached:
                yield list(kept), sorted(reached - set(kept))


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize("options", [{}, {"min_samples_leaf": 5}, {"max_leaf_nodes": 20}])
def test_the_path_is_that_of_scikit_learn(kind, options):
    peer, X, y = grown(kind, **options)
    path = peer.cost_complexity_pruning_path(X, y)
    sequence = weakest_links(as_tree(peer.tree_))
    np.testing.assert_allclose(sequence.levels, path.ccp_alphas, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sequence.risks, path.impurities, rtol=1e-9, atol=1e-12)


def test_weights_and_entropy_too():
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, y.size).astype(float)
    peer = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, y, weight)
    path = peer.cost_complexity_pruning_path(X, y, weight)
    sequence = weakest_links(as_tree(peer.tree_))
    np.testing.assert_allclose(sequence.levels, path.ccp_alphas, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_pruned_trees_predict_as_scikit_learn_prunes(kind):
    peer, X, y = grown(kind)
    sequence = weakest_links(as_tree(peer.tree_))
    for step in (0, 1, sequence.n_steps // 2, sequence.n_steps - 2):
        alpha = (sequence.levels[step] + sequence.levels[step + 1]) / 2
        tree = sequence.tree_at(sequence.step_at(alpha))
        smaller = kind(random_state=0, ccp_alpha=alpha).fit(X, y).tree_
        assert tree.node_count == smaller.node_count
        x = X.astype(np.float32)
        np.testing.assert_allclose(
            tree.predict(x), smaller.predict(x).reshape(tree.predict(x).shape)
        )


@pytest.mark.parametrize("seed", range(6))
def test_every_level_is_optimal_among_all_prunings(seed):
    tree, random = bush(7, seed)
    n = tree.node_count
    risk, leaf_cost, inner_cost = random.random(n), 0.1 + random.random(n), random.random(n)
    leaf_cost[tree.feature >= 0] = 0.1  # a branch costs more than the leaf that replaces it
    sequence = weakest_links(tree, risk, leaf_cost, inner_cost)
    prunings = [
        (risk[leaves].sum(), leaf_cost[leaves].sum() + inner_cost[kept].sum())
        for kept, leaves in all_prunings(tree)
    ]
    for alpha in np.concatenate([np.linspace(0, 2, 41), [1e9]]):
        step = sequence.step_at(alpha)
        leaves = leaves_at(sequence, step)
        kept = list(set(ancestors(tree, leaves)))
        found = risk[leaves].sum() + alpha * (leaf_cost[leaves].sum() + inner_cost[kept].sum())
        assert found == pytest.approx(min(r + alpha * c for r, c in prunings))


def leaves_at(sequence, step):
    """The nodes of the whole tree that are leaves at a step."""
    above = sequence.tree.parent
    is_leaf = sequence.leaf_from <= step
    below_none = np.array([above[t] < 0 or not is_leaf[above[t]] for t in range(above.size)])
    return np.flatnonzero(is_leaf & below_none)


def ancestors(tree, nodes):
    above = tree.parent
    for node in nodes:
        while above[node] >= 0:
            node = above[node]
            yield node


@pytest.mark.parametrize("make", [weakest_links, least_impact])
def test_sequences_are_nested_and_say_their_sizes(make):
    peer, X, _ = grown(DecisionTreeClassifier)
    tree = as_tree(peer.tree_)
    sequence = make(tree)
    assert sequence.n_nodes[0] == tree.node_count
    assert sequence.n_nodes[-1] == 1
    previous = None
    for step in range(sequence.n_steps):
        smaller = sequence.tree_at(step)
        leaves = set(leaves_at(sequence, step).tolist())
        assert smaller.node_count == sequence.n_nodes[step]
        assert smaller.n_leaves == sequence.n_leaves[step] == len(leaves)
        assert impurity_risk(tree)[list(leaves)].sum() == pytest.approx(sequence.risks[step])
        if previous is not None:
            above = previous | set(ancestors(tree, previous))
            assert leaves <= above
        previous = leaves
    root = sequence.tree_at(sequence.n_steps - 1)
    assert np.unique(root.predict(X.astype(np.float32)), axis=0).shape[0] == 1


def test_least_impact_takes_the_pair_of_leaves_that_costs_least():
    tree, random = bush(12, 3)
    risk = random.random(tree.node_count)
    sequence = least_impact(tree, risk)
    for step in range(1, sequence.n_steps):
        before = leaves_at(sequence, step - 1)
        twigs = [
            node
            for node in np.flatnonzero(tree.feature >= 0)
            if {tree.left[node], tree.left[node] + 1} <= set(before)
        ]
        impacts = [risk[t] - risk[tree.left[t]] - risk[tree.left[t] + 1] for t in twigs]
        assert sequence.levels[step] == pytest.approx(min(impacts))
        assert sequence.n_nodes[step] == sequence.n_nodes[step - 1] - 2
    assert sequence.step_of_size(7) == sequence.n_steps - 4
    assert sequence.tree_at(sequence.step_of_size(8)).node_count == 7
    assert sequence.step_of_size(1000) == 0


def test_error_risk_counts_the_misclassified():
    X, y = make_classification(300, n_informative=4, n_classes=3, flip_y=0.3, random_state=0)
    peer = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    tree = as_tree(peer.tree_)
    leaves = tree.feature < 0
    assert error_risk(tree)[leaves].sum() == pytest.approx(np.mean(peer.predict(X) != y))


def test_a_deep_chain_needs_no_recursion():
    n = 20_001
    inner = np.arange(n) % 2 == 0
    inner[-1] = False
    left = np.where(inner, np.arange(n) + 1, -1)
    tree, _ = bush(0, 0)
    size = {name: np.resize(getattr(tree, name), (n,)) for name in ("threshold", "gain", "count")}
    chain = Tree(
        feature=np.where(inner, 0, -1).astype(np.int32),
        left=left.astype(np.int32),
        missing_left=np.zeros(n, dtype=np.uint8),
        category_set=np.full(n, -1, dtype=np.int32),
        impurity=np.ones(n),
        weight=np.ones(n),
        values=np.zeros((n, 1)),
        category_sets=tree.category_sets,
        n_features=1,
        **size,
    )
    assert least_impact(chain).tree_at(9_000).node_count == n - 18_000
    assert pruned(chain, np.arange(n) == 0).node_count == 1


def test_pruning_keeps_only_the_category_sets_in_use():
    tree, _ = bush(2, 0)
    sets = np.array([[1], [2]], dtype=np.uint32)
    inner = tree.feature >= 0
    of_node = np.full(tree.node_count, -1, dtype=np.int32)
    of_node[inner] = [1, 0]
    from dataclasses import replace

    tree = replace(tree, category_set=of_node, category_sets=sets)
    below = np.flatnonzero(inner)[1]
    smaller = pruned(tree, np.arange(tree.node_count) == below)
    assert smaller.category_set.tolist() == [0, -1, -1]
    assert smaller.category_sets.tolist() == [[2]]
    whole = pruned(tree, np.zeros(tree.node_count))
    np.testing.assert_array_equal(whole.category_set, tree.category_set)
    np.testing.assert_array_equal(whole.left, tree.left)
