"""One tree by the engine of forests: its nodes say what the rows in them say."""

import itertools

import numpy as np
import pytest
import scipy.sparse

import thetahat as th


def rows(n=300, d=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    X[:, 1] = np.round(X[:, 1])
    X[random.random(n) < 0.1, 2] = np.nan
    X[:, 3] = random.integers(0, 5, n)
    y = X[:, 0] + np.where(np.isnan(X[:, 2]), 1.0, X[:, 1]) + (X[:, 3] == 2) * 2.0
    return X, y + 0.3 * random.standard_normal(n), random.uniform(0.1, 3.0, n)


def impurity_of(criterion, y, w):
    share = w / w.sum()
    if criterion == "squared_error":
        return share @ (y - share @ y) ** 2
    if criterion == "poisson":
        mean = share @ y
        return share @ (np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / mean), 0.0))
    p = np.array([share[y == 0].sum(), share[y == 1].sum()])
    if criterion == "gini":
        return 1.0 - p @ p
    return -sum(q * np.log2(q) for q in p if q > 0)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "gini", "entropy"])
@pytest.mark.parametrize("min_gain", [0.0, 1e-9])  # the two engines
def test_every_node_describes_its_rows(criterion, min_gain):
    X, y, w = rows()
    if criterion in ("gini", "entropy"):
        kind, y = th.ExtraTreeClassifier, (y > np.median(y)).astype(int)
    else:
        kind, y = th.ExtraTreeRegressor, np.exp(y / 3) if criterion == "poisson" else y
    tree = kind(
        criterion=criterion, categorical_features=[3], min_gain=min_gain, random_state=1
    ).fit(X, y, sample_weight=w)
    visits = tree.decision_path(X).toarray().astype(bool)
    nodes = tree.tree_
    assert nodes.node_count > 50
    for node in range(nodes.node_count):
        here = visits[:, node]
        assert nodes.n_node_samples[node] == here.sum()
        assert nodes.weighted_n_node_samples[node] == pytest.approx(w[here].sum())
        assert nodes.impurity[node] == pytest.approx(
            impurity_of(criterion, y[here], w[here]), abs=1e-9
        )
        mean = np.average(y[here], weights=w[here])
        assert nodes.value[node, 0, -1] == pytest.approx(mean, abs=1e-12)


def test_means_of_several_outputs():
    X, y, w = rows()
    Y = np.column_stack([y, -2 * y + X[:, 0]])
    tree = th.ExtraTreeRegressor(max_depth=4, random_state=0).fit(X, Y, sample_weight=w)
    visits = tree.decision_path(X).toarray().astype(bool)
    for node in range(tree.tree_.node_count):
        here = visits[:, node]
        assert tree.tree_.value[node, :, 0] == pytest.approx(
            np.average(Y[here], axis=0, weights=w[here])
        )
        apart = [impurity_of("squared_error", column[here], w[here]) for column in Y.T]
        assert tree.tree_.impurity[node] == pytest.approx(np.mean(apart))


@pytest.mark.parametrize(
    ("limit", "held"),
    [
        ({"max_depth": 3}, lambda tree, w: tree.max_depth == 3),
        ({"max_leaf_nodes": 7}, lambda tree, w: tree.n_leaves == 7),
        ({"max_leaf_nodes": 1}, lambda tree, w: tree.node_count == 1),
        ({"min_samples_leaf": 20}, lambda tree, w: tree.n_node_samples.min() >= 20),
        (
            {"min_weight_fraction_leaf": 0.1},
            lambda tree, w: tree.weighted_n_node_samples.min() >= 0.1 * w.sum(),
        ),
        ({"min_impurity_decrease": 1e9}, lambda tree, w: tree.node_count == 1),
        ({"leaf_rate": 1.0}, lambda tree, w: tree.n_leaves == int(w.sum() ** (1 / 3))),
    ],
)
def test_limits_of_growth(limit, held):
    X, y, w = rows()
    tree = th.ExtraTreeRegressor(**limit, random_state=0).fit(X, y, sample_weight=w).tree_
    assert held(tree, w)


def test_thresholds_are_uniform_between_the_ends_of_a_column():
    X = np.array([[0.0], [1.0], [1.0], [1.0]])
    model = th.ExtraTreeRegressor(max_depth=1)
    thresholds = [
        model.set_params(random_state=seed).fit(X, [0, 1, 2, 3]).tree_.threshold[0]
        for seed in range(400)
    ]
    assert np.all((np.array(thresholds) >= 0.0) & (np.array(thresholds) < 1.0))
    assert np.quantile(thresholds, [0.25, 0.5, 0.75]) == pytest.approx([0.25, 0.5, 0.75], abs=0.1)


def test_a_split_along_the_only_column_tried_is_the_best_one():
    X, y, w = rows(d=100)
    X[:, 3] += 0.01 * X[:, 0]
    tree = th.DecisionTreeRegressor(max_features=1, random_state=0).fit(X, y, sample_weight=w)
    nodes, visits = tree.tree_, tree.decision_path(X).toarray().astype(bool)

    def cost(here):
        return w[here].sum() * impurity_of("squared_error", y[here], w[here])

    for node in np.flatnonzero(nodes.feature >= 0):
        here, column = visits[:, node], X[:, nodes.feature[node]]
        found = cost(visits[:, nodes.children_left[node]])
        found += cost(visits[:, nodes.children_right[node]])
        values = np.unique(column[here & ~np.isnan(column)])
        for low, high in itertools.pairwise(values):
            for missing in (np.isnan(column), np.zeros(len(column), dtype=bool)):
                left = here & ((column <= (low + high) / 2) | missing)
                assert found <= cost(left) + cost(here & ~left) + 1e-8


def test_few_of_many_columns_predict_as_well_as_in_scikit_learn():
    from sklearn.tree import DecisionTreeClassifier

    random = np.random.default_rng(0)
    X = random.standard_normal((1500, 200))
    y = (X[:, :50].sum(axis=1) > 0).astype(int)
    ours, theirs = (
        np.mean(
            [
                kind(max_features=20, random_state=seed)
                .fit(X[:1000], y[:1000])
                .score(X[1000:], y[1000:])
                for seed in range(20)
            ]
        )
        for kind in (th.DecisionTreeClassifier, DecisionTreeClassifier)
    )
    assert ours > theirs - 0.02


@pytest.mark.parametrize("kind", [th.DecisionTreeRegressor, th.ExtraTreeRegressor])
def test_sparse_rows_give_the_tree_of_dense_rows(kind):
    random = np.random.default_rng(0)
    X = scipy.sparse.random_array((300, 120), density=0.1, rng=random).tocsr()
    y = X[:, :9].sum(axis=1) + 0.1 * random.standard_normal(300)
    model = kind(max_features=3, random_state=0)
    found = model.fit(X, y).predict(X)
    assert np.array_equal(found, model.fit(X.toarray(), y).predict(X.toarray()))
