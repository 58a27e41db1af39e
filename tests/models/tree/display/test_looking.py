"""Trees as text, regions and pictures: what they show is what the tree does."""

from dataclasses import replace
from itertools import combinations

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.tree as peer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import thetahat as th
from tests.models.tree.foreign_tree import as_tree
from thetahat.catalog import estimators
from thetahat.models.tree.display.layout import tidy_places
from thetahat.models.tree.display.words import Words
from thetahat.models.tree.learner import TreeLearner
from thetahat.models.tree.structure import Tree

matplotlib.use("Agg")

LOADERS = {
    peer.DecisionTreeClassifier: load_breast_cancer,
    peer.DecisionTreeRegressor: load_diabetes,
}
KINDS = list(LOADERS)


def grown(kind, **options):
    X, y = LOADERS[kind](return_X_y=True)
    model = kind(random_state=0, **options).fit(X, y)
    return model, as_tree(model.tree_), X


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [{}, {"max_depth": 2}, {"max_depth": 0}, {"spacing": 5, "decimals": 4}, {"show_weights": True}],
    ids=str,
)
def test_text_looks_as_in_scikit_learn(kind, options):
    model, tree, _ = grown(kind)
    assert th.export_text(tree, **options) == peer.export_text(model, **options)


def test_text_of_a_root_alone():
    _, tree, _ = grown(peer.DecisionTreeClassifier, max_depth=1)
    from thetahat.models.tree.pruning import pruned

    assert th.export_text(pruned(tree, np.ones(3))) == "|--- class: 1\n"


def with_categories():
    """x0 in {blue, red}, and beyond that x1 ≤ medium; missing left, then right."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 2.0]] * 4)
    tree = as_tree(peer.DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 2] * 4).tree_)
    inner = tree.feature >= 0
    sets, which = np.array([[0b101]], dtype=np.uint32), np.full(5, -1, dtype=np.int32)
    which[0] = 0
    feature, missing = tree.feature.copy(), np.zeros(5, dtype=np.uint8)
    feature[inner], missing[0] = [0, 1], 1
    threshold = tree.threshold.copy()
    threshold[inner] = [0.0, 1.5]
    tree = replace(
        tree,
        feature=feature,
        category_set=which,
        category_sets=sets,
        missing_left=missing,
        threshold=threshold,
    )
    levels = {0: ("blue", "green", "red"), 1: ("small", "medium", "large")}
    return tree, Words(tree=tree, names=("color", "size"), classes=("a", "b", "c"), levels=levels)


def test_questions_name_categories_and_levels():
    tree, words = with_categories()
    second = int(np.flatnonzero(tree.feature >= 0)[1])
    assert words.sides(0) == ("color in {blue, red}", "color in {green}")
    assert words.sides(second) == ("size <= medium", "size >  medium")
    unbounded = replace(tree, threshold=np.full(5, np.inf))
    words = replace(words, tree=unbounded)
    assert words.sides(second) == ("size is known", "size is missing")


class Grown:
    """A fitted estimator of a tree."""

    def __init__(self, tree, columns):
        self.tree_, self._columns = tree, columns
        self.feature_names_in_ = np.array(["color", "size"])
        self.classes_ = np.array(["a", "b", "c"])

    def _rows(self, X):
        return np.asarray(X, dtype=float)


def model_with_categories():
    tree, words = with_categories()
    from thetahat.models.tree.growth.columns import TreeColumns

    return Grown(tree, TreeColumns(2, ("color", "size"), words.levels, (0,)))


def test_text_says_categories_and_the_side_of_missing_values():
    assert th.export_text(model_with_categories(), missing=True) == (
        "|--- color in {blue, red} or missing\n"
        "|   |--- class: a\n"
        "|--- color in {green}\n"
        "|   |--- size <= medium\n"
        "|   |   |--- class: b\n"
        "|   |--- size >  medium or missing\n"
        "|   |   |--- class: c\n"
    )


def test_regions_of_categories():
    regions = th.tree_regions(model_with_categories())
    assert [region.categories[0] for region in regions] == [
        {"blue", "red"},
        {"green"},
        {"green"},
    ]
    assert [region.takes_missing.tolist() for region in regions] == [
        [True, True],
        [False, False],
        [False, True],
    ]
    assert str(regions[1]) == "color in {green}, size ≤ 1.5: b"
    assert regions.path([1.0, 2.0]) == ["color in {green}", "size >  medium"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_lies_in_the_region_of_its_leaf_and_in_no_other(kind):
    _, tree, X = grown(kind)
    regions = th.tree_regions(tree)
    rows = X.astype(np.float32).astype(float)
    inside = np.stack([((r.low < rows) & (rows <= r.high)).all(axis=1) for r in regions], axis=1)
    np.testing.assert_array_equal(inside.sum(axis=1), 1)
    np.testing.assert_array_equal(inside.argmax(axis=1), regions.find(rows))
    values = np.einsum("ij,jkc->ikc", inside.astype(float), regions.values)
    np.testing.assert_allclose(values[:, 0], tree.predict(rows))
    assert sum(region.weight for region in regions) == pytest.approx(X.shape[0])
    assert (regions.size, regions.depth) == (tree.node_count, tree.max_depth)
    assert len(regions) == tree.n_leaves


def test_regions_are_disjoint():
    _, tree, _ = grown(peer.DecisionTreeRegressor, max_leaf_nodes=12)
    for one, other in combinations(th.tree_regions(tree), 2):
        assert (np.maximum(one.low, other.low) >= np.minimum(one.high, other.high)).any()


def test_worked_region_of_the_course():
    """Rows 1 and 3 in one region: its value is their mean, 12/2 = 6, not 12/6."""
    X, y = np.array([[1.0, 2.0], [9.0, 6.0], [4.0, 10.0]]), np.array([6.0, 4.0, 6.0])
    tree = as_tree(peer.DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, y).tree_)
    regions = th.tree_regions(tree)
    first, second, third = regions.find(X)
    assert first == third != second
    assert regions[first].value.item() == 6.0
    assert regions[second].value.item() == 4.0


def test_the_path_to_a_region():
    _, tree, X = grown(peer.DecisionTreeRegressor, max_depth=3)
    regions = th.tree_regions(tree, feature_names=list("abcdefghij"))
    row = X[7].astype(np.float32).astype(float)
    path = regions.path(row, decimals=9)
    assert 1 <= len(path) <= 3
    for answer in path:
        name, sign, threshold = answer.split()
        value = row["abcdefghij".index(name)]
        assert (value <= float(threshold)) == (sign == "<=")
    with pytest.raises(th.errors.DataError, match="x has 2"):
        regions.path(X[:2])


@pytest.mark.parametrize("kind", KINDS)
def test_places_are_tidy(kind):
    _, tree, _ = grown(kind)
    x, depth = tidy_places(tree)
    for level in range(tree.max_depth + 1):
        row = np.sort(x[depth == level])
        assert (np.diff(row) >= 1.0 - 1e-9).all()
    inner = np.flatnonzero(tree.feature >= 0)
    left, right = x[tree.left[inner]], x[tree.left[inner] + 1]
    np.testing.assert_allclose((left + right) / 2, x[inner], atol=1e-9)
    assert (left < right).all()
    assert np.ptp(x) < tree.n_leaves - 1  # narrower than all leaves side by side


@pytest.mark.parametrize("options", [{}, {"max_depth": 3, "filled": True, "rounded": True}])
@pytest.mark.parametrize("kind", KINDS)
def test_boxes_do_not_overlap(kind, options):
    _, tree, _ = grown(kind, max_leaf_nodes=15)
    figure, axes = plt.subplots(figsize=(8, 6))
    texts = th.plot_tree(tree, ax=axes, **options)
    figure.draw_without_rendering()
    boxes = [text.get_bbox_patch().get_window_extent() for text in texts]
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)
    deepest = options.get("max_depth", tree.max_depth)
    assert len(texts) == (tree.depth <= deepest).sum()
    plt.close(figure)


def test_what_boxes_say():
    figure, axes = plt.subplots()
    texts = th.plot_tree(model_with_categories(), ax=axes, precision=2, node_ids=True)
    said = [text.get_text().splitlines() for text in texts]
    assert said[0] == [
        "node #0",
        "color in {blue, red}",
        "impurity = 0.67",
        "samples = 12",
        "value = [4, 4, 4]",
        "class = a",
    ]
    edges = {text.get_text() for text in axes.texts} - {text.get_text() for text in texts}
    assert edges == {"yes, missing", "no", "yes", "no, missing"}
    short = th.plot_tree(
        model_with_categories(), ax=axes, impurity=False, label="none", proportion=True
    )
    assert short[1].get_text().splitlines() == ["33.3%", "[1, 0, 0]", "a"]
    plt.close(figure)


def test_what_cannot_be_shown_is_refused():
    _, tree, _ = grown(peer.DecisionTreeClassifier)
    with pytest.raises(
        th.errors.ParameterError, match="feature_names must contain 30 elements, got 2"
    ):
        th.export_text(tree, feature_names=["a", "b"])
    with pytest.raises(
        th.errors.ParameterError, match="class_names must contain 2 elements, got 1"
    ):
        th.plot_tree(tree, class_names=["a"])
    with pytest.raises(th.errors.ParameterError, match="decimals=-1 must be ≥ 0"):
        th.export_text(tree, decimals=-1)
    with pytest.raises(
        th.errors.CapabilityError, match=r"is not a single tree.*DecisionTreeClassifier"
    ):
        th.tree_regions(th.Ridge().fit([[0.0], [1.0]], [0.0, 1.0]))
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        th.export_text(th.Ridge())


def test_iris_reads_as_ever():
    X, y = load_iris(return_X_y=True)
    model = peer.DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    text = th.export_text(as_tree(model.tree_), class_names=["setosa", "other", "another"])
    assert "class: setosa" in text


def test_density_trees_have_words_and_boxes():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    model = th.DensityTree(max_leaf_nodes=6, random_state=0).fit(X)
    assert "log density: [" in th.export_text(model)
    regions = th.tree_regions(model)
    low, high = model.cells()
    np.testing.assert_array_equal(regions.low, low)
    np.testing.assert_array_equal(regions.high, high)
    assert str(regions[0]).endswith(f": log density {regions[0].value.item():.4g}")
    mass = sum(region.volume * np.exp(region.value.item()) for region in regions)
    assert mass == pytest.approx(1.0)
    figure, axes = plt.subplots()
    assert len(th.plot_tree(model, ax=axes, filled=True)) == model.tree_.node_count
    plt.close(figure)


def test_oblique_density_trees_give_their_directions():
    X = np.random.default_rng(0).normal(size=(300, 2)) @ [[1.0, 0.9], [0.0, 0.3]]
    model = th.DensityTree(
        "entropy", leaf="gaussian", splitter="oblique", margin=np.inf, max_leaf_nodes=4
    ).fit(X)
    along = X @ model.directions_.T + model.direction_offsets_
    np.testing.assert_allclose(model.density_.cells.directions.beside(X)[:, 2:], along, atol=1e-12)
    text = th.export_text(model)
    first = int(model.tree_.feature[0])
    (line,) = [each for each in text.splitlines() if each.startswith(f"direction_{first - 2} = ")]
    said = eval(line.split(" = ")[1], {"feature_0": X[:, 0], "feature_1": X[:, 1]})
    np.testing.assert_allclose(said, along[:, first - 2], rtol=2e-3, atol=5e-3)


def test_worked_density_tree_of_the_course():
    """x₁ < 0.4, then x₂ < 0.7 on both sides: four bins."""
    left, right = np.meshgrid([0.1, 0.3, 0.5, 0.9], [0.2, 0.6, 0.8, 0.95])
    X = np.column_stack([left.ravel(), right.ravel()])
    corner = (X[:, 0] < 0.4).astype(int) + 2 * (X[:, 1] < 0.7)
    regions = th.tree_regions(th.DecisionTreeClassifier(random_state=0).fit(X, corner))
    assert len(regions) == 4
    assert (regions.size, regions.depth) == (7, 2)
    cuts = regions.low[np.isfinite(regions.low)]
    assert set(cuts.round(6)) == {0.4, 0.7}


@pytest.mark.parametrize("oblique", [0, 4])
def test_estimators_are_read_through_their_tables(oblique):
    import pandas as pd

    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.random(80), "b": random.random(80)})
    frame["color"] = pd.Categorical(random.choice(["red", "blue", "green"], 80))
    y = np.where((frame["color"] == "red") ^ (frame["a"] > frame["b"]), "yes", "no")
    model = th.DecisionTreeClassifier(random_state=0, oblique=oblique).fit(frame, y)
    text = th.export_text(model, missing=True)
    assert "color in {" in text
    assert "or missing" in text
    assert "class: yes" in text
    if oblique:
        for k, row in enumerate(model.directions_):
            if k + 3 not in model.tree_.feature:
                continue
            (line,) = [each for each in text.splitlines() if each.startswith(f"direction_{k} = ")]
            said = eval(line.split(" = ")[1], {"a": frame["a"], "b": frame["b"]})
            column = frame[["a", "b"]].to_numpy() @ row[:2]
            np.testing.assert_allclose(said, column, rtol=2e-3, atol=2e-3)
            np.testing.assert_allclose(model._rows(frame)[:, k + 3], column)
        assert model.directions_.shape == (4, 3)
        assert "\ndirection_" in text
        with pytest.raises(th.errors.CapabilityError, match="not boxes"):
            th.tree_regions(model)
        return
    regions = th.tree_regions(model)
    said = np.array([model.classes_[region.value[0].argmax()] for region in regions])
    np.testing.assert_array_equal(said[regions.find(frame)], model.predict(frame))
    assert len(regions.path(frame.iloc[:1])) <= regions.depth


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_partial_dependence_through_scikit_learn(kind):
    from sklearn.inspection import PartialDependenceDisplay, partial_dependence

    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]
    ours = getattr(th, f"DecisionTree{kind}")(max_depth=4, random_state=0).fit(X, y)
    found = partial_dependence(ours, X, [0], method="brute", grid_resolution=10)
    column = found["grid_values"][0][3]
    rows = X.copy()
    rows[:, 0] = column
    answers = ours.predict_proba(rows)[:, 1] if kind == "Classifier" else ours.predict(rows)
    assert found["average"][0][3] == pytest.approx(answers.mean())
    figure, axes = plt.subplots()
    PartialDependenceDisplay.from_estimator(ours, X, [0], ax=axes, grid_resolution=5)
    plt.close(figure)


LEARNERS = [name for name, kind in estimators().items() if issubclass(kind, TreeLearner)]


def one_tree(model):
    """The tree of an estimator, or the first of its trees."""
    if hasattr(model, "tree_"):
        return model
    trees = model._trees if hasattr(model, "_trees") else model.estimators_
    while not isinstance(trees, Tree) and not hasattr(trees, "tree_"):
        trees = trees[0]
    return trees


@pytest.mark.parametrize("name", LEARNERS)
def test_trees_of_every_learner_can_be_looked_at(name):
    X, y = load_iris(return_X_y=True)
    size = {"n_estimators": 3, "max_iter": 3, "random_state": 0}
    model = estimators()[name]()
    model.set_params(**{key: size[key] for key in size if key in model.get_params()})
    tree = one_tree(model.fit(X, y))
    regions = th.tree_regions(tree)
    assert len(regions) == (regions.size + 1) // 2
    assert set(regions.find(X)) <= set(range(len(regions)))
    assert th.export_text(tree, max_depth=100).count("\n") == 3 * len(regions) - 2
    figure, axes = plt.subplots()
    assert len(th.plot_tree(tree, ax=axes)) == regions.size
    plt.close(figure)


@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_scikit_learn_are_shown_by_scikit_learn(kind):
    """By the functions of `thetahat.sklearn` and of a patched scikit-learn; `th` refuses them."""
    import thetahat.sklearn.tree as ours

    model, text = grown(kind, max_depth=2)[0], peer.export_text
    expected, boxes = text(model, decimals=3), len(peer.plot_tree(model))
    th.patch_sklearn()
    try:
        assert peer.export_text is not text
        for module in (peer, ours):
            assert module.export_text(model, decimals=3) == expected
            assert len(module.plot_tree(model)) == boxes
    finally:
        th.unpatch_sklearn()
        plt.close("all")
    assert peer.export_text is text
    with pytest.raises(th.errors.CapabilityError, match=r"sklearn\.tree"):
        th.export_text(model)
