"""Decision and extra trees as estimators: relations, scikit-learn as oracle, bad input."""

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import thetahat as th

RANDOM = np.random.default_rng(0)
N = 400
# float32 numbers, for scikit-learn rounds to them; no ties among larger nodes.
X = RANDOM.standard_normal((N, 5)).astype(np.float32).astype(float)
Y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * RANDOM.standard_normal(N)
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.7, 0.7])]
WEIGHT = RANDOM.exponential(size=N)
MISSING = np.where(RANDOM.random(X.shape) < 0.2, np.nan, X)
LARGE = {"min_samples_leaf": 8}


def nodes(tree):
    """The nodes of a tree in an order that does not depend on their numbers."""
    order = np.lexsort((tree.threshold, tree.feature, tree.n_node_samples))
    return np.column_stack(
        [tree.feature, tree.threshold, tree.n_node_samples, tree.impurity, tree.value[:, 0, 0]]
    )[order][:, [0, 1, 2, 3]]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("x", [X, MISSING], ids=["whole", "missing"])
@pytest.mark.parametrize(
    "stop",
    [
        LARGE,
        {**LARGE, "max_depth": 3},
        {**LARGE, "max_leaf_nodes": 9},
        {**LARGE, "min_impurity_decrease": 0.01},
        {**LARGE, "ccp_alpha": 0.01},
        {"min_samples_split": 40, "min_weight_fraction_leaf": 0.02},
    ],
    ids=lambda stop: next(reversed(stop)),
)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regression_is_scikit_learns(criterion, stop, x, weight):
    y = Y - Y.min() + 0.1
    if criterion == "absolute_error":
        weight = WEIGHT  # medians of equal weights tie in small nodes, and either way is right
    ours = th.DecisionTreeRegressor(criterion=criterion, **stop).fit(x, y, weight)
    theirs = sklearn.tree.DecisionTreeRegressor(criterion=criterion, random_state=0, **stop)
    theirs.fit(x, y, weight)
    np.testing.assert_allclose(ours.predict(x), theirs.predict(x), rtol=1e-9)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-7)
    assert (ours.get_depth(), ours.get_n_leaves()) == (theirs.get_depth(), theirs.get_n_leaves())
    inner = [tree[tree[:, 0] >= 0] for tree in (nodes(ours.tree_), nodes(theirs.tree_))]
    np.testing.assert_allclose(*inner, rtol=1e-6)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize(
    ("class_weight", "weight"),
    [(None, None), (None, WEIGHT), ("balanced", None), ({"low": 3.0}, WEIGHT)],
    ids=["plain", "weighted", "balanced", "both"],
)
def test_classification_has_scikit_learns_risk(criterion, weight, class_weight):
    """Class counts tie often, and either way is right: compared are the impurities reached."""
    settings = {"criterion": criterion, "class_weight": class_weight, "max_leaf_nodes": 20, **LARGE}
    ours = th.DecisionTreeClassifier(**settings).fit(X, LABELS, weight)
    theirs = sklearn.tree.DecisionTreeClassifier(random_state=0, **settings).fit(X, LABELS, weight)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(
        np.sort(ours.tree_.impurity), np.sort(theirs.tree_.impurity), rtol=1e-9, atol=1e-12
    )
    agree = np.isclose(ours.predict_proba(X), theirs.predict_proba(X)).all(axis=1)
    assert agree.mean() > 0.95


def test_outputs_of_several_targets():
    y = np.column_stack([Y, X[:, 3] ** 2])
    ours = th.DecisionTreeRegressor(**LARGE).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(**LARGE).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    assert ours.tree_.value.shape == theirs.tree_.value.shape
    labels = np.column_stack([LABELS, np.where(X[:, 0] > 0, "yes", "no")])
    ours = th.DecisionTreeClassifier(max_depth=4).fit(X, labels)
    theirs = sklearn.tree.DecisionTreeClassifier(max_depth=4).fit(X, labels)
    np.testing.assert_array_equal(ours.n_classes_, theirs.n_classes_)
    assert isinstance(ours.n_classes_, np.ndarray)
    for mine, other in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine.sum(axis=1), 1.0)
    assert ours.predict(X).shape == labels.shape
    assert (ours.predict(X) == labels).mean() == pytest.approx(
        (theirs.predict(X) == labels).mean(), abs=0.02
    )


@pytest.mark.parametrize("signs", [[1, 0, 0, 0, 0], [0, -1, 1, 0, 0]])
def test_monotone_columns(signs):
    ours = th.DecisionTreeRegressor(monotonic_cst=signs, **LARGE).fit(X, Y)
    theirs = sklearn.tree.DecisionTreeRegressor(monotonic_cst=signs, **LARGE).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    classifier = th.DecisionTreeClassifier(monotonic_cst=signs, **LARGE).fit(X, Y > 0)
    for j, sign in enumerate(signs):
        if sign:
            rows = np.repeat(X[:50], 20, axis=0)
            rows[:, j] = np.tile(np.linspace(-3, 3, 20), 50)
            for answers in (ours.predict(rows), classifier.predict_proba(rows)[:, 1]):
                steps = np.diff(answers.reshape(50, 20), axis=1) * sign
                assert steps.min() >= -1e-12


@pytest.mark.parametrize(
    ("model", "d"),
    [
        (th.ExtraTreeRegressor(random_state=0), 6),
        (th.DecisionTreeRegressor(max_features="sqrt", random_state=0), 120),
    ],
    ids=["random thresholds", "few of many columns"],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_monotone_constraints_hold_in_inner_nodes_too(model, d, sign):
    """Both sides of a split are bounded by the middle of its values, in every node below.

    Without constraints, the engine of forests would grow these trees.
    """
    random = np.random.default_rng(3)
    rows, target = random.standard_normal((300, d)), random.standard_normal(300)
    signs = [sign] * (d // 2) + [0] * (d - d // 2)
    tree = clone(model).set_params(monotonic_cst=signs).fit(rows, target).tree_
    value, left, right = tree.value[:, 0, 0], tree.children_left, tree.children_right
    waiting = [(0, -np.inf, np.inf)]
    while waiting:
        node, low, high = waiting.pop()
        assert low - 1e-12 <= value[node] <= high + 1e-12
        if left[node] < 0:
            continue
        below, above = (left[node], right[node]) if sign > 0 else (right[node], left[node])
        middle = (value[below] + value[above]) / 2 if signs[tree.feature[node]] else None
        waiting += [
            (below, low, high if middle is None else middle),
            (above, low if middle is None else middle, high),
        ]
    assert tree.node_count > 50


@pytest.mark.parametrize(("kind", "y"), [("Regressor", Y), ("Classifier", LABELS)])
def test_pruning_path_is_scikit_learns(kind, y):
    ours, theirs = (
        getattr(library, f"DecisionTree{kind}")(**LARGE).cost_complexity_pruning_path(X, y)
        for library in (th, sklearn.tree)
    )
    np.testing.assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, atol=1e-10)
    np.testing.assert_allclose(ours.impurities, theirs.impurities, atol=1e-10)


def test_paths_lead_to_leaves():
    ours = th.DecisionTreeRegressor(max_depth=6).fit(MISSING, Y)
    path = ours.decision_path(MISSING)
    leaves = ours.apply(MISSING)
    assert path.shape == (N, ours.tree_.node_count)
    np.testing.assert_array_equal(
        np.asarray(path.sum(axis=1)).ravel(), ours.tree_.depth[leaves] + 1
    )
    assert (np.asarray(path[np.arange(N), leaves]) == 1).all()
    np.testing.assert_array_equal(np.asarray(path.sum(axis=0)).ravel(), ours.tree_.count)


@pytest.mark.parametrize("kind", ["DecisionTree", "ExtraTree"])
def test_draws_depend_on_the_seed_alone(kind):
    for task, y in (("Regressor", Y), ("Classifier", LABELS)):
        learner = getattr(th, kind + task)
        first, again, other = (
            learner(max_features=2, random_state=seed).fit(X, y) for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(first.tree_.threshold, again.tree_.threshold)
        assert not np.array_equal(first.tree_.feature[:5], other.tree_.feature[:5]) or (
            first.tree_.threshold[0] != other.tree_.threshold[0]
        )


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, 5), (3, 3), (0.5, 2), (1.0, 5), ("sqrt", 2), ("log2", 2), (100, 100)],
)
def test_number_of_columns_drawn(given, expected):
    model = th.DecisionTreeRegressor(max_features=given, max_depth=1).fit(X, Y)
    assert model.max_features_ == expected


def test_categories_and_missing_values_come_as_they_are():
    random = np.random.default_rng(1)
    colour = random.choice(["red", "green", "blue", None], N)
    effect = {"red": 2.0, "green": -1.0, "blue": 0.5, None: 7.0}
    y = np.array([effect[one] for one in colour]) + 0.01 * random.standard_normal(N)
    table = pd.DataFrame({"size": X[:, 0], "colour": pd.Categorical(colour)})
    model = th.DecisionTreeRegressor(max_leaf_nodes=4).fit(table, y)
    np.testing.assert_allclose(model.predict(table), y, atol=0.1)
    assert model.feature_importances_[1] == pytest.approx(1.0, abs=1e-3)
    # A category that was not there is missing.
    unseen = pd.DataFrame({"size": [0.0, 0.0], "colour": ["violet", None]})
    np.testing.assert_allclose(model.predict(unseen), 7.0, atol=0.1)
    coded = np.column_stack([X[:, 0], [["red", "green", "blue", None].index(c) for c in colour]])
    by_place = th.DecisionTreeRegressor(max_leaf_nodes=4, categorical_features=[1]).fit(coded, y)
    np.testing.assert_allclose(by_place.predict(coded), model.predict(table))


@pytest.mark.parametrize("name", ["DecisionTreeRegressor", "DecisionTreeClassifier"])
def test_random_levels_do_no_harm(name):
    random = np.random.default_rng(6)
    rows = np.column_stack([random.standard_normal((1200, 2)), random.integers(0, 400, 1200)])
    y = np.sin(2 * rows[:, 0]) + 0.3 * random.standard_normal(1200)
    y = y > 0 if name == "DecisionTreeClassifier" else y
    options = {"min_samples_leaf": 10, "random_state": 0}
    without = getattr(th, name)(**options).fit(rows[:600, :2], y[:600])
    levels = getattr(th, name)(**options, categorical_features=[2]).fit(rows[:600], y[:600])
    assert levels.score(rows[600:], y[600:]) > without.score(rows[600:, :2], y[600:]) - 0.04


def test_the_best_subset_of_few_levels_is_found():
    random = np.random.default_rng(7)
    level = random.integers(0, 7, 400)
    y = random.standard_normal(7)[level] + 0.3 * random.standard_normal(400)
    x = np.column_stack([level, random.standard_normal(400)])
    tree = th.DecisionTreeRegressor(max_depth=1, categorical_features=[0]).fit(x, y)
    best = min(
        sum(((y[side] - y[side].mean()) ** 2).sum() for side in (left, ~left))
        for bits in range(1, 2**6)
        for left in [(bits >> level) % 2 == 1]
    )
    assert ((y - tree.predict(x)) ** 2).sum() == pytest.approx(best, rel=1e-12)


def test_missing_values_go_where_most_rows_went():
    rows = np.arange(10.0)[:, None]
    for cut, expected in ((7, 0.0), (3, 1.0)):
        model = th.DecisionTreeRegressor().fit(rows, (rows[:, 0] >= cut).astype(float))
        assert model.predict([[np.nan]])[0] == expected


def test_one_row_one_class_constant_columns():
    for kind in (th.DecisionTreeRegressor, th.ExtraTreeRegressor):
        assert kind().fit([[1.0, 2.0]], [3.0]).predict([[9.0, 9.0]])[0] == 3.0
        assert kind().fit(np.ones((5, 2)), np.arange(5.0)).predict([[1, 1]])[0] == 2.0
        model = kind().fit(np.full((4, 1), np.nan), [1.0, 1.0, 2.0, 2.0])
        assert model.predict([[np.nan]])[0] == 1.5
    for kind in (th.DecisionTreeClassifier, th.ExtraTreeClassifier):
        model = kind().fit([[1.0], [2.0]], ["only", "only"])
        assert model.predict([[5.0]])[0] == "only"
        np.testing.assert_array_equal(model.predict_proba([[5.0]]), [[1.0]])
        np.testing.assert_array_equal(model.feature_importances_, [0.0])
    assert (th.DecisionTreeClassifier().fit(X, LABELS).predict_log_proba(X) <= 0).all()


def test_a_chain_as_deep_as_the_rows():
    """Depth is bounded by memory, not by a stack: one row is split off at a time."""
    n = 3000
    line = np.arange(float(n))[:, None]
    model = th.DecisionTreeRegressor().fit(line, 4.0 ** np.minimum(np.arange(n) / 4, 490))
    assert model.get_depth() > 300
    assert model.decision_path(line[:3]).shape[0] == 3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"criterion": "hinge"}, "criterion='hinge' must be one of"),
        ({"splitter": "worst"}, "splitter='worst' must be one of"),
        ({"max_depth": 0}, "max_depth=0 must be a whole number ≥ 1"),
        ({"max_leaf_nodes": 0}, "max_leaf_nodes=0 must be a whole number ≥ 1"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0 must be"),
        ({"min_samples_split": 1.5}, "min_samples_split=1.5 must be"),
        ({"max_features": 0.0}, "max_features=0.0 must be"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf=0.6 must be"),
        ({"ccp_alpha": -1.0}, "ccp_alpha=-1.0 must be a number ≥ 0"),
        ({"candidates": "all"}, "candidates='all' must be one of"),
        ({"leaf_rate": -1}, "leaf_rate=-1 must be"),
        ({"monotonic_cst": [1, 0]}, "has shape"),
        ({"monotonic_cst": [2, 0, 0, 0, 0]}, "-1, 0 or 1"),
        ({"monotonic_cst": [1, 0, 0, 0, 0], "oblique": 3}, "oblique=0"),
    ],
    ids=lambda value: "" if isinstance(value, str) else "-".join(value),
)
def test_parameters_out_of_range(settings, words):
    with pytest.raises(th.errors.ParameterError, match=words):
        th.DecisionTreeRegressor(**settings).fit(X, Y)


def test_bad_targets_and_weights():
    with pytest.raises(th.errors.DataError, match=r"negative \(first at row 3: -1.0\)"):
        th.DecisionTreeRegressor(criterion="poisson").fit(X[:5], [1, 2, 3, -1, 4])
    with pytest.raises(ValueError, match="y"):
        th.DecisionTreeRegressor().fit(X[:2], [np.nan, 1.0])
    with pytest.raises(ValueError, match=r"NaN \(first at row 1\)"):
        th.DecisionTreeClassifier().fit(X[:2], [1.0, np.nan])
    with pytest.raises(ValueError, match="weight"):
        th.DecisionTreeRegressor().fit(X, Y, np.zeros(N))
    with pytest.raises(th.errors.ParameterError, match="two classes"):
        th.DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0, 0]).fit(X, LABELS)
    with pytest.raises(NotFittedError):
        th.DecisionTreeRegressor().get_depth()


def test_infinite_values_are_extremes():
    rows = np.array([[-np.inf], [0.0], [1.0], [np.inf]])
    for kind in (th.DecisionTreeRegressor, th.ExtraTreeRegressor):
        model = kind(random_state=0).fit(rows, [1.0, 2.0, 3.0, 4.0])
        np.testing.assert_array_equal(model.predict(rows), [1.0, 2.0, 3.0, 4.0])


def test_memory_is_estimated_before_it_is_taken():
    with (
        th.config(memory=10_000),
        pytest.raises(th.errors.MemoryBudgetError, match="400 × 5 numbers"),
    ):
        th.DecisionTreeRegressor().fit(X, Y)


@pytest.mark.parametrize("name", ["DecisionTreeRegressor", "RandomForestRegressor"])
def test_friedmans_improvement_is_the_gain_in_squared_error(name):
    """Also with several outputs, whose differences of means must not cancel."""
    X = np.random.default_rng(0).normal(size=(120, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] <= 0]).astype(float)
    options = {"max_depth": 1, "random_state": 0}
    same = [
        getattr(th, name)(criterion=criterion, **options).fit(X, Y).predict(X)
        for criterion in ("squared_error", "friedman_mse")
    ]
    np.testing.assert_array_equal(*same)
    assert np.abs(same[0] - Y).mean() < 0.25


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [th.DecisionTreeRegressor, th.ExtraTreeRegressor])
def test_poisson_leaves_are_positive(kind, seed):
    """The sum of the right side is a difference: rounding does not make a sum of zeros positive."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((1000, 6))
    y = np.maximum(X[:, 0] + random.standard_normal(1000), 0.0)
    assert kind(criterion="poisson", random_state=seed).fit(X, y).predict(X).min() > 0


def test_poisson_trees_find_a_side_of_tiny_targets():
    X = np.arange(200.0)[:, None]
    y = np.where(X[:, 0] < 100, 1e-13, 1e3)
    tree = th.DecisionTreeRegressor(criterion="poisson", max_depth=1).fit(X, y)
    np.testing.assert_allclose(tree.predict([[0.0], [99.0], [199.0]]), [1e-13, 1e-13, 1e3])
