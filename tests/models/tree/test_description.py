"""The description length counts the bits of a code that a receiver could read."""

import math
from dataclasses import replace

import numpy as np
import pytest

import thetahat as th
from tests.models.tree.test_pruning import all_prunings
from thetahat.models.tree.description import node_bits
from thetahat.models.tree.pruning import pruned, weakest_links


def noisy(n=120, d=3, flips=0.15, classes=2, seed=0):
    random = np.random.default_rng(seed)
    X = np.round(random.random((n, d)), 2)
    y = np.floor(classes * X[:, 0]).astype(int)
    flipped = random.random(n) < flips
    y[flipped] = random.integers(0, classes, flipped.sum())
    return X, y


def spelled_out(model, X, y, weight=None):
    """The same code, leaf by leaf and with whole binomial coefficients."""
    tree, n_classes = model.tree_, len(model.classes_)
    weight = np.ones(len(y), dtype=int) if weight is None else weight
    leaf = tree.apply(X)
    bits = float(tree.node_count) + tree.n_leaves * math.log2(n_classes)
    for node in np.flatnonzero(tree.feature >= 0):
        gaps = np.unique(X[:, tree.feature[node]]).size - 1
        bits += math.log2(X.shape[1]) + math.log2(gaps)
    for node in np.flatnonzero(tree.feature < 0):
        counts = np.bincount(np.repeat(y, weight)[np.repeat(leaf, weight) == node])
        n, wrong = counts.sum(), counts.sum() - counts.max(initial=0)
        bits += math.log2(n + 1) + math.log2(math.comb(n, wrong))
        bits += wrong * math.log2(n_classes - 1)
    return bits


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("max_depth", [1, 3, None])
def test_bits_are_those_of_the_code(classes, max_depth):
    X, y = noisy(classes=classes)
    model = th.DecisionTreeClassifier(max_depth=max_depth, random_state=0).fit(X, y)
    found = th.description_length(model, X, y)
    assert found.total == pytest.approx(spelled_out(model, X, y))
    assert found.tree_bits + found.exception_bits == found.total


def test_worked_number():
    """Eight rows, one clean cut of seven: 3 + log₂ 7 + 2·log₂ 2 bits, and 2·log₂ 5."""
    X, y = np.arange(8.0)[:, None], [0] * 4 + [1] * 4
    found = th.description_length(th.DecisionTreeClassifier().fit(X, y), X, y)
    assert found.tree_bits == pytest.approx(3 + math.log2(7) + 2)
    assert found.exception_bits == pytest.approx(2 * math.log2(5))
    assert found.label_bits == pytest.approx(2 + math.log2(9) + math.log2(70))


def test_weights_count_rows():
    X, y = noisy()
    model = th.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    weight = np.random.default_rng(1).integers(0, 3, y.size)
    weight[:2] = 1
    weighted = th.description_length(model, X, y, sample_weight=weight)
    assert weighted.total == pytest.approx(spelled_out(model, X, y, weight))


def test_categories_and_missing_values_cost_bits():
    X = np.array([[0.0], [1.0], [2.0], [3.0]] * 5)
    y = np.array([0, 1, 0, 1] * 5)
    model = th.DecisionTreeClassifier(random_state=0).fit(
        X.astype(int).astype(str).astype(object), y
    )
    bits = node_bits(model, X.astype(int).astype(str).astype(object), y)
    assert bits.inner[0] == pytest.approx(1 + math.log2(2**3 - 1))
    holed = X.copy()
    holed[0] = np.nan
    model = th.DecisionTreeClassifier(max_depth=1, random_state=0).fit(holed, y)
    assert node_bits(model, holed, y).inner[0] == pytest.approx(1 + math.log2(3) + 1)


@pytest.mark.parametrize("seed", range(4))
def test_pruning_finds_the_shortest_of_all_descriptions(seed):
    X, y = noisy(80, 2, 0.25, seed=seed)
    model = th.DecisionTreeClassifier(max_leaf_nodes=9, random_state=0).fit(X, y)
    bits = node_bits(model, X, y)
    shortest = min(
        bits.inner[kept].sum() + bits.leaf[leaves].sum() + bits.exceptions[leaves].sum()
        for kept, leaves in all_prunings(model.tree_)
    )
    result = th.prune(
        th.DecisionTreeClassifier(max_leaf_nodes=9, random_state=0), X, y, method="mdl"
    )
    assert th.description_length(result.model, X, y).total == pytest.approx(shortest)


def test_noise_is_not_worth_a_tree_and_structure_is():
    random = np.random.default_rng(0)
    X, y = random.random((200, 3)), random.integers(0, 2, 200)
    grown = th.DecisionTreeClassifier(random_state=0)
    assert th.prune(grown, X, y, method="mdl").model.tree_.node_count == 1
    X, y = noisy(300, 3, 0.1)
    assert th.prune(grown, X, y, method="mdl").model.tree_.n_leaves == 2


def test_a_tree_may_be_measured_after_any_pruning():
    X, y = noisy()
    model = th.DecisionTreeClassifier(random_state=0).fit(X, y)
    sequence = weakest_links(model.tree_)
    for step in range(sequence.n_steps):
        model.tree_ = sequence.tree_at(step)
        assert th.description_length(model, X, y).total == pytest.approx(spelled_out(model, X, y))
    model.tree_ = pruned(replace(sequence.tree), np.ones(sequence.tree.node_count))
    alone = th.description_length(model, X, y)
    assert alone.total == pytest.approx(alone.label_bits)


def test_what_has_no_labels_has_no_length():
    model = th.DecisionTreeRegressor().fit([[0.0], [1.0]], [0.5, 1.0])
    with pytest.raises(th.errors.CapabilityError, match="misclassified labels of one output"):
        th.description_length(model, [[0.0], [1.0]], [0.5, 1.0])
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        th.description_length(th.DecisionTreeClassifier(), [[0.0]], [0])
