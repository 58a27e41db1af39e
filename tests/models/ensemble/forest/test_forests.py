"""Forests: relations that hold exactly, then scikit-learn's forests as a measure."""

import pickle

import numpy as np
import pytest
from sklearn import ensemble as peers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.metrics import accuracy_score, r2_score

import thetahat as th

CLASSIFIERS = ("RandomForestClassifier", "ExtraTreesClassifier")
REGRESSORS = ("RandomForestRegressor", "ExtraTreesRegressor")
FORESTS = (*CLASSIFIERS, *REGRESSORS)
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((300, 5))
Y = X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.2 * RANDOM.standard_normal(300)
LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [-0.7, 0.7])]


def forest(name, **parameters):
    return getattr(th, name)(**{"n_estimators": 10, "random_state": 0, **parameters})


def targets(name):
    return LABELS if name in CLASSIFIERS else Y


def answer(model, rows=X):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)


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


def test_categories_and_missing_values_without_encoding():
    random = np.random.default_rng(3)
    import pandas

    colour = random.choice(["red", "green", "blue", "white"], 400)
    y = np.isin(colour, ["red", "white"]).astype(int)
    frame = pandas.DataFrame({"colour": colour, "size": random.standard_normal(400)})
    frame.loc[::7, "size"] = np.nan
    for name in FORESTS:
        model = forest(name, max_features=None).fit(frame[:300], y[:300])
        assert model.score(frame[300:], y[300:]) > 0.99
        unseen = frame[300:].assign(colour="violet")
        assert np.isfinite(np.asarray(answer(model, unseen), dtype=float)).all()
        if name.startswith("Random"):  # else splits are drawn, and the first may be a poor one
            assert set(model.estimators_[0].tree_.feature[:1]) == {0}


def test_more_categories_than_bins():
    codes = np.arange(1200) % 400
    y = (codes % 3 == 0).astype(int)
    rows = codes[:, None].astype(float)
    model = forest("RandomForestClassifier", categorical_features=[0], splits="histogram")
    assert model.fit(rows, y).score(rows, y) > 0.97


def with_random_levels(effect, n=600, n_levels=400):
    """Five columns of numbers, and levels whose effects have this standard deviation."""
    random = np.random.default_rng(5)
    rows = random.standard_normal((2 * n, 5))
    levels = random.integers(0, n_levels, 2 * n)
    y = rows[:, 0] + 2 * np.sin(2 * rows[:, 1]) + rows[:, 2] * rows[:, 3]
    y += effect * random.standard_normal(n_levels)[levels] + 0.5 * random.standard_normal(2 * n)
    return np.column_stack([rows, levels]), y


@pytest.mark.parametrize("max_features", [1, None])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_random_levels_do_no_harm(n_classes, max_features):
    rows, y = with_random_levels(0.0)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    name = "RandomForestClassifier" if n_classes else "RandomForestRegressor"
    options = {"n_estimators": 40, "max_features": max_features}
    without = forest(name, **options).fit(rows[:600, :5], y[:600])
    levels = forest(name, **options, categorical_features=[5]).fit(rows[:600], y[:600])
    assert levels.score(rows[600:], y[600:]) > without.score(rows[600:, :5], y[600:]) - 0.04


def test_levels_with_effects_are_used():
    rows, y = with_random_levels(3.0, n=1000, n_levels=200)
    without = forest("RandomForestRegressor").fit(rows[:1000, :5], y[:1000])
    levels = forest("RandomForestRegressor", categorical_features=[5]).fit(rows[:1000], y[:1000])
    gain = levels.score(rows[1000:], y[1000:]) - without.score(rows[1000:, :5], y[1000:])
    assert gain > 0.3
    shares = [tree.feature_importances_ for tree in levels.estimators_]
    np.testing.assert_allclose(levels.feature_importances_, np.mean(shares, axis=0), rtol=1e-8)


def test_levels_give_the_same_forest_for_any_weight_scale_and_thread_count():
    rows, y = with_random_levels(1.0)
    options = {"categorical_features": [5], "bootstrap": False, "max_features": 3}
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = forest("RandomForestRegressor", **options, n_jobs=1).fit(rows, y, weight)
    scaled = forest("RandomForestRegressor", **options, n_jobs=2).fit(rows, y, 1024 * weight)
    np.testing.assert_array_equal(scaled.predict(rows), model.predict(rows))


# What is left out of the draws.


@pytest.mark.parametrize("name", FORESTS)
def test_left_out_answers_by_hand(name):
    y = targets(name)
    model = forest(name, bootstrap=True, oob_score=True, n_estimators=60).fit(X, y)
    total, votes = 0.0, np.zeros(300)
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        out = ~np.isin(np.arange(300), rows)
        assert 0.25 < out.mean() < 0.5
        predicted = answer(tree)
        total = total + predicted * (out[:, None] if predicted.ndim == 2 else out)
        votes += out
    mean = total / (votes[:, None] if total.ndim == 2 else votes)
    if name in CLASSIFIERS:
        np.testing.assert_allclose(model.oob_decision_function_, mean, atol=1e-12)
        expected = accuracy_score(y, model.classes_[mean.argmax(axis=1)])
    else:
        np.testing.assert_allclose(model.oob_prediction_, mean, atol=1e-12)
        expected = r2_score(y, mean)
    assert model.oob_score_ == pytest.approx(expected)
    low, high = model.oob_score_interval_
    assert low < expected < high < low + 0.3


def test_left_out_score_by_a_function_of_the_user():
    from sklearn.metrics import balanced_accuracy_score, mean_absolute_error

    model = forest("RandomForestClassifier", oob_score=balanced_accuracy_score, n_estimators=40)
    codes = model.fit(X, LABELS).oob_decision_function_.argmax(axis=1)
    assert model.oob_score_ == balanced_accuracy_score(np.searchsorted(["a", "b"], LABELS), codes)
    assert not hasattr(model, "oob_score_interval_")
    model = forest("RandomForestRegressor", oob_score=mean_absolute_error, n_estimators=40)
    model.fit(X, Y)
    assert model.oob_score_ == pytest.approx(mean_absolute_error(Y, model.oob_prediction_))


def test_rows_that_all_trees_drew_are_named():
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        model = forest("RandomForestClassifier", n_estimators=2, oob_score=True).fit(X, LABELS)
    never = np.isnan(model.oob_decision_function_[:, 0])
    assert 0.2 < never.mean() < 0.6
    assert model.oob_score_ > 0.4


def test_intervals_hold_what_they_promise():
    random = np.random.default_rng(1)
    rows = random.uniform(-2, 2, (3000, 3))
    y = rows[:, 0] ** 2 + 0.5 * random.standard_normal(3000)
    model = th.RandomForestRegressor(60, random_state=0, oob_score=True, min_samples_leaf=3)
    model.fit(rows[:1500], y[:1500])
    for level in (0.5, 0.9):
        low, high = model.predict_interval(rows[1500:], level)
        inside = np.mean((low <= y[1500:]) & (y[1500:] <= high))
        assert abs(inside - level) < 0.04
    mean, spread = model.predict(rows[1500:], return_std=True)
    each = [tree.predict(rows[1500:]) for tree in model.estimators_]
    np.testing.assert_allclose(spread, np.std(each, axis=0), atol=1e-9)
    np.testing.assert_allclose(mean, np.mean(each, axis=0), atol=1e-9)


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
