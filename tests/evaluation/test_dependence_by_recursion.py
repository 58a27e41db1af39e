"""Partial dependence of trees by their training weights, against direct computations."""

import numpy as np
import pytest
import sklearn.inspection
import sklearn.tree
from sklearn.pipeline import make_pipeline

import thetahat as th

N_ROWS = 300


def table(missing=False):
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, 2))
    if missing:
        X[random.uniform(size=X.shape) < 0.1] = np.nan
    known = np.nan_to_num(X, nan=0.7)
    return X, np.sin(2 * known[:, 0]) + known[:, 0] * known[:, 1] + 0.1 * random.normal(size=N_ROWS)


def by_hand(tree, column, value, node=0):
    """The prediction if one column is known, node by node."""
    if tree.children_left[node] < 0:
        return tree.value[node, 0]
    left, right = tree.children_left[node], tree.children_right[node]
    if tree.feature[node] == column:
        child = left if value <= tree.threshold[node] else right
        return by_hand(tree, column, value, child)
    both = [
        (tree.weighted_n_node_samples[k], by_hand(tree, column, value, k)) for k in (left, right)
    ]
    return sum(w * v for w, v in both) / tree.weighted_n_node_samples[node]


def test_of_a_tree_is_the_walk_node_by_node():
    X, y = table()
    weight = np.linspace(0.5, 2.0, N_ROWS)
    model = th.DecisionTreeRegressor(max_leaf_nodes=25).fit(X, y, sample_weight=weight)
    for column in (0, 1):
        curve = th.partial_dependence(model, X, column, method="recursion")
        expected = [by_hand(model.tree_, column, v)[0] for v in curve.values]
        np.testing.assert_allclose(curve.mean, expected, rtol=1e-12)
        assert np.array_equal(curve.low, curve.high)


def test_of_a_forest_is_the_mean_over_its_trees():
    X, y = table()
    model = th.RandomForestClassifier(7, max_leaf_nodes=12, random_state=0).fit(X, y > 0)
    curve = th.partial_dependence(model, X, 0, method="recursion", n_values=6)
    expected = [
        np.mean([by_hand(each.tree_, 0, v)[1] for each in model.estimators_]) for v in curve.values
    ]
    np.testing.assert_allclose(curve.mean, expected, rtol=1e-12)
    assert curve.response == "probability of True"
    other = th.partial_dependence(model, X, 0, method="recursion", n_values=6, label=False)
    np.testing.assert_allclose(curve.mean + other.mean, 1.0)


def test_of_the_same_tree_is_scikit_learns():
    X, y = table()
    ours = th.DecisionTreeRegressor(max_depth=4).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(max_depth=4).fit(X, y)
    curve = th.partial_dependence(ours, X, 1, method="recursion")
    found = sklearn.inspection.partial_dependence(
        theirs,
        X,
        [1],
        method="recursion",
        kind="average",
        custom_values={1: np.array(curve.values)},
    )
    np.testing.assert_allclose(curve.mean, found["average"][0], rtol=1e-10)


def boosted(kind):
    X, y = table(missing="missing" in kind)
    if kind == "classes":
        labels = np.digitize(y, [-0.5, 0.5])
        return th.HistGradientBoostingClassifier(max_iter=15).fit(X, labels), X
    if kind == "two classes":
        return th.HistGradientBoostingClassifier(max_iter=15).fit(X, y > 0), X
    if kind == "categories":
        X[:, 1] = np.floor(np.abs(3 * X[:, 1]))
        model = th.HistGradientBoostingRegressor(max_iter=15, categorical_features=[1])
        return model.fit(X, y + X[:, 1] % 3), X
    if kind == "exact":
        return th.GradientBoostingRegressor(n_estimators=15).fit(X, y), X
    return th.HistGradientBoostingRegressor(max_iter=15).fit(X, y), X


@pytest.mark.parametrize(
    "kind", ["numbers", "missing", "categories", "classes", "two classes", "exact"]
)
def test_of_boosting_agrees_with_shapley_values(kind):
    """Of two columns, φ₀ = ½(f(x₀) − base) + ½(f(x₀, x₁) − f(x₁))."""
    model, X = boosted(kind)
    trees, rows = model._weighted_trees(), model._rows(X)
    values, base = trees.shapley(rows)
    both = values.sum(axis=1) + base
    alone = [trees.given(rows, column) for column in (0, 1)]
    expected = 0.5 * (alone[0] - base) + 0.5 * (both - alone[1])
    np.testing.assert_allclose(values[:, 0], expected, atol=1e-10)
    assert np.ptp(alone[0]) > 0.1


def test_labels_of_boosting():
    model, X = boosted("classes")
    rows = model._rows(X)
    curve = th.partial_dependence(model, X, 0, method="recursion", label=1, n_values=5)
    at = [int(np.flatnonzero(X[:, 0] == v)[0]) for v in curve.values]
    np.testing.assert_allclose(curve.mean, model._weighted_trees().given(rows, 0)[at, 1])
    two, X = boosted("two classes")
    yes, no = (
        th.partial_dependence(two, X, 0, method="recursion", label=label).mean
        for label in (True, False)
    )
    np.testing.assert_allclose(yes, -no)


def test_refusals():
    X, y = table()
    linear = th.LinearRegression().fit(X, y)
    tree = th.DecisionTreeRegressor(max_depth=2)
    for model in (linear, make_pipeline(th.Standardizer(), tree).fit(X, y)):
        with pytest.raises(th.errors.CapabilityError, match="Use method='brute'"):
            th.partial_dependence(model, X, 0, method="recursion")
    with pytest.raises(th.errors.CapabilityError, match="needs one target"):
        th.partial_dependence(tree.fit(X, np.c_[y, y]), X, 0, method="recursion")
    with pytest.raises(th.errors.ParameterError, match="method"):
        th.partial_dependence(tree.fit(X, y), X, 0, method="auto")
