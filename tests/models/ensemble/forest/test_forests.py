"""Forests: relations that hold exactly, then scikit-learn's forests as a measure."""

import pickle

import numpy as np
import pytest
from sklearn import ensemble as peers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import thetahat as th
from tests.models.ensemble.forest.forest_data import (
    CLASSIFIERS,
    FORESTS,
    LABELS,
    REGRESSORS,
    X,
    Y,
    answer,
    forest,
    targets,
)

# Relations.


@pytest.mark.parametrize("name", FORESTS)
def test_a_forest_is_the_mean_of_its_trees(name):
    model = forest(name).fit(X, targets(name))
    assert len(model.estimators_) == 10
    mean = np.mean([answer(tree) for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(answer(model), mean, rtol=1e-12)
    np.testing.assert_array_equal(
        model.apply(X), np.column_stack([tree.apply(X) for tree in model.estimators_])
    )
    shares = [tree.feature_importances_ for tree in model.estimators_]
    np.testing.assert_allclose(model.feature_importances_, np.mean(shares, axis=0), rtol=1e-8)
    indicator, ends = model.decision_path(X[:7])
    assert indicator.shape == (7, ends[-1])
    leaves = model.apply(X[:7]) + ends[:-1]
    assert (indicator[np.arange(7)[:, None], leaves].toarray() == 1).all()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_hard_vote_counts_the_majority_classes_of_the_trees(name):
    options = {"n_estimators": 25, "max_depth": 2, "bootstrap": True, "oob_score": True}
    model = forest(name, **options, voting="hard").fit(X, LABELS)
    classes = np.stack([tree.predict(X) for tree in model.estimators_])
    shares = np.stack([(classes == label).mean(axis=0) for label in model.classes_], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), shares, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    soft = forest(name, **options).fit(X, LABELS)
    assert 0 < np.mean(model.predict(X) != soft.predict(X)) < 0.5
    left_out = np.ones((25, 300), dtype=bool)
    for tree, rows in enumerate(model.estimators_samples_):
        left_out[tree, rows] = False
    counted = np.stack(
        [((classes == label) & left_out).sum(axis=0) for label in model.classes_], axis=1
    )
    np.testing.assert_allclose(
        model.oob_decision_function_, counted / left_out.sum(axis=0)[:, None], rtol=1e-12
    )
    two = forest(name, **options, voting="hard").fit(X, np.column_stack([LABELS, Y > 0]))
    np.testing.assert_array_equal(
        two.predict(X)[:, 1], two.classes_[1][two.predict_proba(X)[1].argmax(axis=1)]
    )


@pytest.mark.parametrize(
    ("name", "criterion"),
    [*((name, None) for name in FORESTS), *((name, "absolute_error") for name in REGRESSORS)],
)
def test_rows_drawn_without_replacement(name, criterion):
    """A tree is the decision tree of its rows, which are distinct and keep their weights."""
    options = {"max_features": None, "n_estimators": 4, "splits": "exact"}
    options |= {"bootstrap": True, "replacement": False, "max_samples": 0.4}
    own_criterion = {"criterion": criterion} if criterion else {}
    options |= own_criterion
    weight = np.random.default_rng(1).integers(0, 4, 300).astype(float)
    model = forest(name, **options).fit(X, targets(name), sample_weight=weight)
    usable = np.count_nonzero(weight)
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert len(rows) == len(set(rows)) == int(0.4 * usable)
        assert (weight[rows] > 0).all()
        assert tree.tree_.weight[0] == pytest.approx(weight[rows].sum())
        if name.startswith("RandomForest"):
            alone = type(tree)(**own_criterion, random_state=0)
            alone.fit(X[rows], targets(name)[rows], sample_weight=weight[rows])
            own = alone.tree_.impurity[0]
            assert tree.tree_.impurity[0] == pytest.approx(own, rel=1e-6)
            assert tree.tree_.threshold[0] == pytest.approx(alone.tree_.threshold[0], rel=1e-6)
    assert len(set(map(tuple, model.estimators_samples_))) == 4
    scored = forest(name, **options | {"n_estimators": 30}, oob_score=True).fit(X, targets(name))
    assert scored.oob_score_ > 0.3
    whole = forest(name, **options | {"max_samples": None}).fit(X, targets(name))
    every = forest(name, **options | {"max_samples": None, "bootstrap": False}).fit(
        X, targets(name)
    )
    np.testing.assert_array_equal(answer(whole), answer(every))
    with pytest.raises(th.errors.ParameterError, match="each is drawn at most once"):
        forest(name, **options | {"max_samples": 301}).fit(X, targets(name))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_pure_trees_vote_by_majority(name):
    model = forest(name, n_estimators=11).fit(X, Y > 0)
    votes = np.sum([tree.predict(X + 0.2) for tree in model.estimators_], axis=0)
    np.testing.assert_array_equal(model.predict(X + 0.2), votes > 5)


@pytest.mark.parametrize(
    ("name", "tree", "criterion"),
    [
        ("RandomForestClassifier", "DecisionTreeClassifier", "gini"),
        ("RandomForestClassifier", "DecisionTreeClassifier", "entropy"),
        ("RandomForestRegressor", "DecisionTreeRegressor", "squared_error"),
        ("RandomForestRegressor", "DecisionTreeRegressor", "poisson"),
    ],
)
def test_one_exact_tree_on_all_rows_and_columns_is_a_decision_tree(name, tree, criterion):
    y = LABELS if name in CLASSIFIERS else Y - Y.min() + 0.1
    # Counts of few rows tie, and forests break ties at random.
    least = 40 if name in CLASSIFIERS else 8
    settings = {"criterion": criterion, "max_features": None, "min_samples_leaf": least}
    one = forest(name, n_estimators=1, bootstrap=False, splits="exact", **settings).fit(X, y)
    alone = getattr(th, tree)(**settings).fit(X, y)
    np.testing.assert_allclose(answer(one), answer(alone), rtol=1e-10)
    grown, expected = one.estimators_[0].tree_, alone.tree_
    assert grown.node_count == expected.node_count
    for field in ("impurity", "weight", "count"):
        np.testing.assert_allclose(
            np.sort(getattr(grown, field)), np.sort(getattr(expected, field)), atol=1e-12
        )
    np.testing.assert_allclose(np.sort(grown.gain), np.sort(expected.gain), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.feature_importances_, alone.feature_importances_, rtol=1e-6)


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("splits", ["exact", "histogram"])
def test_weight_two_is_a_row_twice(name, splits):
    """Exactly: without draws, and with a fixed number of draws."""
    random = np.random.default_rng(1)
    weight = random.integers(0, 3, 300)
    rows = np.repeat(np.arange(300), weight)
    for draws in ({"bootstrap": False}, {"bootstrap": True, "max_samples": 200}):
        model = forest(name, splits=splits, **draws)
        weighted = answer(model.fit(X, targets(name), sample_weight=weight))
        repeated = answer(model.fit(X[rows], targets(name)[rows]))
        np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FORESTS)
def test_the_order_of_columns_and_rows_is_no_matter_without_draws(name):
    random = np.random.default_rng(2)
    model = forest(name, bootstrap=False, max_features=None)
    order = random.permutation(300)
    expected = answer(model.fit(X, targets(name)))
    np.testing.assert_allclose(
        answer(model.fit(X[order], targets(name)[order])), expected, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("name", FORESTS)
def test_warm_start_adds_the_trees_that_were_to_come(name):
    model = forest(name, n_estimators=4, warm_start=True).fit(X, targets(name))
    model.set_params(n_estimators=10).fit(X, targets(name))
    np.testing.assert_array_equal(answer(model), answer(forest(name).fit(X, targets(name))))
    with pytest.warns(UserWarning, match="fits no new trees"):
        model.fit(X, targets(name))
    with pytest.raises(th.errors.ParameterError, match="larger or equal"):
        model.set_params(n_estimators=3).fit(X, targets(name))


@pytest.mark.parametrize("name", FORESTS)
def test_several_outputs(name):
    both = np.column_stack([targets(name), targets(name)[::-1]])
    model = forest(name, bootstrap=True, oob_score=True, n_estimators=40).fit(X, both)
    assert model.predict(X).shape == (300, 2)
    assert model.oob_score_ < model.score(X, both) if name in REGRESSORS else True
    if name in CLASSIFIERS:
        assert [share.shape for share in model.predict_proba(X)] == [(300, 3), (300, 3)]
        assert model.oob_decision_function_.shape == (300, 3, 2)
        np.testing.assert_array_equal(model.classes_[1], ["a", "b", "c"])
    else:
        assert model.oob_prediction_.shape == (300, 2)
    mean = np.mean([tree.predict(X) == both for tree in model.estimators_[:3]])
    assert mean > (0.6 if name in CLASSIFIERS else 0.3)


def test_two_outputs_alike_are_one():
    model = forest("ExtraTreesRegressor", max_depth=3, min_samples_leaf=10)  # no ties
    twice = model.fit(X, np.column_stack([Y, Y])).predict(X + 0.1)
    once = model.fit(X, Y).predict(X + 0.1)
    np.testing.assert_allclose(twice, np.column_stack([once, once]))


@pytest.mark.parametrize("name", FORESTS)
def test_stopping_rules(name):
    y = targets(name)
    model = forest(name, max_depth=3, bootstrap=False).fit(X, y)
    assert max(tree.get_depth() for tree in model.estimators_) == 3
    model = forest(name, max_leaf_nodes=7, bootstrap=False).fit(X, y)
    assert {tree.get_n_leaves() for tree in model.estimators_} == {7}
    model = forest(name, max_leaf_nodes=1).fit(X, y)
    assert {tree.get_n_leaves() for tree in model.estimators_} == {1}
    model = forest(name, min_samples_leaf=11).fit(X, y)
    for tree in model.estimators_:
        assert tree.tree_.count[tree.tree_.feature < 0].min() >= 11
    model = forest(name, min_samples_split=40).fit(X, y)
    for tree in model.estimators_:
        assert tree.tree_.count[tree.tree_.feature >= 0].min() >= 40
    model = forest(name, min_weight_fraction_leaf=0.1).fit(X, y, sample_weight=np.full(300, 0.5))
    for tree in model.estimators_:
        weight = tree.tree_.weight
        assert weight.min() >= 0.1 * weight[0]
    full = forest(name).fit(X, y)._forest.packed.nodes.size
    assert forest(name, min_impurity_decrease=0.01).fit(X, y)._forest.packed.nodes.size < full
    pruned = forest(name, ccp_alpha=0.01).fit(X, y)
    assert pruned._forest.packed.nodes.size < full
    np.testing.assert_allclose(
        answer(pruned), np.mean([answer(tree) for tree in pruned.estimators_], axis=0)
    )


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("sign", [1, -1])
def test_monotonic_constraints_hold(name, sign):
    y = (Y > 0).astype(int) if name in CLASSIFIERS else Y
    model = forest(name, monotonic_cst=[sign, 0, 0, 0, 0], max_features=None).fit(X, y)
    grid = np.repeat(X[:40, None, :], 15, axis=1)
    grid[:, :, 0] = np.linspace(-3, 3, 15)
    predicted = answer(model, grid.reshape(-1, 5))
    predicted = (predicted[:, 1] if name in CLASSIFIERS else predicted).reshape(40, 15)
    assert (sign * np.diff(predicted, axis=1)).min() >= -1e-12
    free = answer(forest(name, max_features=None).fit(X, y), grid.reshape(-1, 5))
    assert not np.allclose(free[:, 1] if name in CLASSIFIERS else free, predicted.ravel())


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_class_weights_count_rows(name):
    y = (Y > 1.0).astype(int)
    weight = np.where(y == 1, 4.0, 1.0)
    by_class = forest(name, class_weight={0: 1, 1: 4}).fit(X, y)
    by_row = forest(name).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(answer(by_class), answer(by_row))
    balanced = forest(name, class_weight="balanced", max_depth=2, n_estimators=50).fit(X, y)
    plain = forest(name, max_depth=2, n_estimators=50).fit(X, y)
    assert answer(balanced)[:, 1].mean() > answer(plain)[:, 1].mean() + 0.1
    drawn = forest(name, class_weight="balanced_subsample", bootstrap=True).fit(X, y)
    for tree in drawn.estimators_:  # both classes weigh the same at every root
        np.testing.assert_allclose(tree.tree_.values[0], [0.5, 0.5], atol=1e-9)


@pytest.mark.parametrize("name", FORESTS)
def test_absolute_and_other_criteria(name):
    criteria = ("gini", "entropy", "log_loss", "error")
    if name in REGRESSORS:
        criteria = ("squared_error", "absolute_error", "friedman_mse", "poisson")
    y = LABELS if name in CLASSIFIERS else Y - Y.min()
    for criterion in criteria:
        model = forest(name, criterion=criterion, max_depth=6).fit(X, y)
        assert model.score(X, y) > 0.6, criterion
        tree = model.estimators_[0].tree_
        inner = np.flatnonzero(tree.feature >= 0)
        spread = tree.weight * tree.impurity
        gains = spread[inner] - spread[tree.left[inner]] - spread[tree.left[inner] + 1]
        assert gains.min() > -1e-9 * spread[0]


def test_columns_per_tree_and_per_split():
    per_tree = forest(
        "RandomForestRegressor", max_features=None, max_features_per_tree=2, n_estimators=20
    ).fit(X, Y)
    used = [set(tree.tree_.feature[tree.tree_.feature >= 0]) for tree in per_tree.estimators_]
    assert all(len(of) == 2 for of in used)
    assert len(set(map(frozenset, used))) > 5
    per_split = forest("RandomForestRegressor", max_features=2).fit(X, Y)
    assert all(len(set(tree.tree_.feature)) == 6 for tree in per_split.estimators_)


# Beside scikit-learn.


DATA = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "diabetes": load_diabetes(return_X_y=True),
}


@pytest.mark.parametrize("splits", ["exact", "histogram"])
@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("RandomForestClassifier", "wine", marks=pytest.mark.slow),
        ("RandomForestClassifier", "breast cancer"),
        ("ExtraTreesClassifier", "iris"),
        pytest.param("ExtraTreesClassifier", "breast cancer", marks=pytest.mark.slow),
        ("RandomForestRegressor", "diabetes"),
        ("ExtraTreesRegressor", "diabetes"),
    ],
)
def test_as_good_as_scikit_learn_on_held_out_rows(name, data, splits):
    """Paired over the same folds: not worse beyond what the folds themselves differ by."""
    from sklearn.model_selection import KFold, StratifiedKFold

    rows, y = DATA[data]
    folds = (StratifiedKFold if name in CLASSIFIERS else KFold)(6, shuffle=True, random_state=0)
    differences = []
    for number, (learned, held_out) in enumerate(folds.split(rows, y)):
        scores = []
        for library in (th, peers):
            options = {"splits": splits} if library is th else {}
            model = getattr(library, name)(20, random_state=number, **options)
            scores.append(model.fit(rows[learned], y[learned]).score(rows[held_out], y[held_out]))
        differences.append(scores[0] - scores[1])
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert np.mean(differences) > -3.0 * error - 0.01


@pytest.mark.parametrize("name", FORESTS)
def test_less_memory_than_half_of_scikit_learns(name):
    random = np.random.default_rng(4)
    rows = random.standard_normal((4000, 8))
    y = rows[:, 0] + random.standard_normal(4000)
    y = y > 0 if name in CLASSIFIERS else y
    sizes = [
        len(pickle.dumps(getattr(library, name)(10, random_state=0).fit(rows, y)))
        for library in (th, peers)
    ]
    assert sizes[0] < sizes[1] / 2
