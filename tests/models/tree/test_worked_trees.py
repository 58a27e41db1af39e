"""The worked numbers of the course, and what each row of the method index asks of single trees."""

import numpy as np
import pytest

import thetahat as th

# Boolean inputs 00, 01, 10, 11 with 1, 2, 3, 4 positive and 1, 1, 1, 2 negative rows.
BITS = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [2, 3, 4, 6], axis=0)
LABELS = np.concatenate([[1, 0], [1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1, 0, 0]])


def risk(tree):
    """Σ over leaves of w·φ / W."""
    leaves = tree.feature < 0
    return float((tree.weight * tree.impurity)[leaves].sum() / tree.weight[0])


def test_a_leaf_is_the_mean_of_its_region():
    """Of (1, 2) → 6, (9, 6) → 4, (4, 10) → 6 the first and third share a region of mean 12/2."""
    model = th.DecisionTreeRegressor().fit([[1, 2], [9, 6], [4, 10]], [6, 4, 6])
    np.testing.assert_array_equal(model.predict([[1, 2], [4, 10], [9, 6]]), [6.0, 6.0, 4.0])
    tree = model.tree_
    assert (tree.node_count, tree.max_depth, tree.n_leaves) == (3, 1, 2)
    leaf = model.apply([[1, 2]])[0]
    assert tree.count[leaf] == 2
    assert tree.value[leaf, 0, 0] == 6.0
    path = model.decision_path([[1, 2], [9, 6]]).toarray()
    np.testing.assert_array_equal(path.sum(axis=1), 2)
    assert path[:, 0].all()


def test_leaves_hold_class_distributions():
    model = th.DecisionTreeClassifier(max_depth=1).fit([[0], [0], [0], [1]], list("aabb"))
    np.testing.assert_allclose(model.predict_proba([[0], [1]]), [[2 / 3, 1 / 3], [0, 1]])
    assert model.predict([[0], [1]]).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("candidates", "expected"), [("values", [-12.0, 4.5]), ("midpoints", [-3.75, 38.25])]
)
def test_candidates_of_the_course(candidates, expected):
    """{4.5, −12, 72, −12} has the thresholds −12, 4.5, 72; the last parts nothing."""
    X, y = np.array([[4.5], [-12.0], [72.0], [-12.0]]), [1.0, 0.0, 5.0, 0.0]
    tree = th.DecisionTreeRegressor(candidates=candidates).fit(X, y).tree_
    assert sorted(tree.threshold[tree.feature >= 0]) == expected


def test_categories_one_against_the_others_or_in_subsets():
    X = [["a"], ["b"], ["c"], ["d"]] * 3
    y = [0.0, 1.0, 0.0, 1.0] * 3
    subset = th.DecisionTreeRegressor().fit(np.array(X, dtype=object), y)
    assert subset.get_n_leaves() == 2
    equal = th.DecisionTreeRegressor(categorical_split="equal").fit(np.array(X, dtype=object), y)
    assert equal.get_n_leaves() > 2
    left = equal.tree_.category_sets
    assert all(int(word).bit_count() == 1 for word in left[:, 0])
    for model in (subset, equal):
        np.testing.assert_array_equal(model.predict(np.array(X, dtype=object)), y)


def test_boolean_literals():
    X = np.array([[False, True], [True, True], [False, False], [True, False]])
    tree = th.DecisionTreeClassifier().fit(X, [0, 0, 1, 1]).tree_
    assert tree.feature[0] == 1
    assert tree.threshold[0] == 0.5


def test_oblique_splits_part_what_axes_cannot():
    random = np.random.default_rng(0)
    X = random.standard_normal((400, 2)) * [1.0, 100.0]
    y = (X[:, 0] + X[:, 1] / 100 > 0).astype(int)
    straight = th.DecisionTreeClassifier().fit(X, y)
    oblique = th.DecisionTreeClassifier(oblique=50, random_state=0).fit(X, y)
    assert oblique.score(X, y) == 1.0
    assert oblique.get_n_leaves() < straight.get_n_leaves() / 2
    assert oblique.feature_importances_.shape == (2,)
    assert oblique.feature_importances_.sum() == pytest.approx(1.0)
    again = th.DecisionTreeClassifier(oblique=50, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.apply(X), oblique.apply(X))


def test_leaves_hold_densities():
    """The density of a leaf is its share of the rows by the volume of its box, N_l/(N·V_l)."""
    X = np.random.default_rng(7).standard_normal((150, 2))
    model = th.DensityTree(max_leaf_nodes=6).fit(X)
    low, high = model.cells()
    inside = ((low[:, None] <= X) & (high[:, None] >= X)).all(axis=2)
    np.testing.assert_array_equal(inside.sum(axis=0), 1)
    density = inside.mean(axis=1) / (high - low).prod(axis=1)
    np.testing.assert_allclose(np.exp(model.log_density(X)), density[inside.argmax(axis=0)])


@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_random_splits(kind):
    random = np.random.default_rng(1)
    X, y = random.standard_normal((200, 3)), random.standard_normal(200)
    y = y if kind == "Regressor" else y > 0
    learner = getattr(th, f"ExtraTree{kind}")
    trees = [learner(random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(trees[0].tree_.threshold, trees[1].tree_.threshold)
    assert trees[0].tree_.threshold[0] != trees[2].tree_.threshold[0]
    np.testing.assert_array_equal(trees[0].predict(X), y)


def test_potentials_of_the_course():
    """φ_min(5/15) = φ_min(10/15) = 1/3; Gini 4/9, after x₁ 11/25, after x₂ still 4/9."""
    for labels in (LABELS, 1 - LABELS):
        tree = th.DecisionTreeClassifier(criterion="error").fit(BITS, labels).tree_
        assert tree.impurity[0] == pytest.approx(1 / 3)
    stump = th.DecisionTreeClassifier(max_depth=1)
    tree = stump.fit(BITS, LABELS).tree_
    assert tree.feature[0] == 0
    assert tree.impurity[0] == pytest.approx(4 / 9)
    assert risk(tree) == pytest.approx(11 / 25)
    assert tree.gain[0] == pytest.approx(1 / 225)
    second = stump.fit(BITS[:, 1:], LABELS).tree_
    assert risk(second) == pytest.approx(4 / 9)
    assert second.gain[0] == pytest.approx(0.0, abs=1e-12)
    # The training error sees no gain in either: why Gini is preferred.
    for column in (BITS[:, :1], BITS[:, 1:]):
        assert th.DecisionTreeClassifier(criterion="error", max_depth=1).fit(
            column, LABELS
        ).tree_.gain[0] == pytest.approx(0.0, abs=1e-12)


def test_gini_of_six_against_one():
    X = np.r_[np.zeros(7), np.ones(3)][:, None]
    tree = th.DecisionTreeClassifier(max_depth=1).fit(X, [1] * 6 + [0] + [0] * 3).tree_
    np.testing.assert_allclose(tree.impurity[1:], [12 / 49, 0.0])


def test_gini_bounds_the_training_error():
    random = np.random.default_rng(2)
    for classes in (2, 5):
        X, y = random.standard_normal((300, 2)), random.integers(0, classes, 300)
        gini = th.DecisionTreeClassifier(max_depth=4).fit(X, y).tree_
        error = 1.0 - gini.value[:, 0].max(axis=1)
        assert (gini.impurity >= error - 1e-12).all()


def test_a_tree_memorises_distinct_rows():
    random = np.random.default_rng(3)
    X, y = random.standard_normal((200, 2)), random.integers(0, 2, 200)
    for criterion in ("gini", "entropy", "error"):
        assert th.DecisionTreeClassifier(criterion=criterion).fit(X, y).score(X, y) == 1.0
    # Labels that alternate along a line need a leaf for every row.
    line = np.arange(20.0)[:, None]
    model = th.DecisionTreeClassifier().fit(line, np.arange(20) % 2)
    assert model.get_n_leaves() == 20
    assert model.tree_.node_count >= 20
    # And XOR, whose first split gains nothing.
    model = th.DecisionTreeClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    assert model.score([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]) == 1.0


def test_the_split_has_the_least_sum_of_squares():
    """y = (1, 3, 9, 0): after x = 3 (34.667). Weighing sums by |D|/n would take x = 2."""
    X, y = np.arange(1.0, 5.0)[:, None], np.array([1.0, 3.0, 9.0, 0.0])
    tree = th.DecisionTreeRegressor(max_depth=1).fit(X, y).tree_
    assert tree.threshold[0] == 3.5
    assert risk(tree) * 4 == pytest.approx(34.667, abs=5e-4)


def test_best_first_growth_drops_the_error_most():
    random = np.random.default_rng(4)
    X = random.uniform(0, 1, (300, 1))
    y = np.sin(8 * X[:, 0]) + 0.1 * random.standard_normal(300)
    risks = [risk(th.DecisionTreeRegressor(max_leaf_nodes=k).fit(X, y).tree_) for k in range(1, 12)]
    drops = -np.diff(risks)
    gains = th.DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y).tree_.gain
    np.testing.assert_allclose(np.sort(drops), np.sort(gains[gains > 0])[-10:], rtol=1e-6)


@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_every_way_to_stop(kind):
    random = np.random.default_rng(5)
    X = random.standard_normal((1000, 3))
    y = X[:, 0] + random.standard_normal(1000)
    y = y if kind == "Regressor" else y > 0
    learner = getattr(th, f"DecisionTree{kind}")

    def grown(**stop):
        return learner(**stop).fit(X, y).tree_

    assert grown(max_depth=4).max_depth == 4
    assert grown(max_leaf_nodes=9).n_leaves == 9
    assert grown(max_leaf_nodes=1).node_count == 1
    assert grown(min_samples_leaf=5).count.min() >= 5
    assert grown(min_samples_leaf=0.05).count.min() >= 50
    tree = grown(min_samples_split=40)
    assert tree.count[tree.feature >= 0].min() >= 40
    assert grown(min_weight_fraction_leaf=0.1).weight.min() >= 100
    tree = grown(min_gain=0.05)
    inner = tree.feature >= 0
    assert (tree.gain * 1000 / tree.weight)[inner].min() >= 0.05
    tree = grown(min_impurity_decrease=0.004)
    assert tree.gain[tree.feature >= 0].min() >= 0.004
    # L = τ·N^(1/3), and pure leaves.
    assert grown(leaf_rate=1.5).n_leaves == 15
    assert grown(leaf_rate=1.5, max_leaf_nodes=7).n_leaves == 7
    assert learner().fit(X, np.ones(1000)).tree_.node_count == 1
    assert learner().fit(X, X[:, 0] > 0).tree_.node_count == 3


def test_a_weighted_stump_has_the_least_weighted_error():
    random = np.random.default_rng(6)
    X, y, w = random.standard_normal((60, 3)), random.integers(0, 2, 60), random.random(60)
    stump = th.DecisionTreeClassifier(max_depth=1, criterion="error").fit(X, y, sample_weight=w)
    wrong = w[stump.predict(X) != y].sum()
    least = min(
        w[y != side].sum() if t is None else w[np.where(X[:, j] <= t, side, 1 - side) != y].sum()
        for j in range(3)
        for t in [None, *X[:, j]]
        for side in (0, 1)
    )
    assert wrong == pytest.approx(least)
    assert stump.get_depth() == 1
