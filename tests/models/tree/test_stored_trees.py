"""Trees from a pickle or a file are checked before native code walks them."""

import copy
import copyreg
import io
import pickle

import numpy as np
import pytest

import thetahat as th
from thetahat.models.ensemble.adaboost.ranked_trees import RankedTrees
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.structure import Tree

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((300, 4))
X[::7, 2] = np.nan
LABELS = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
NUMBERS = np.where(X[:, 0] > 0, X[:, 1], 2.0)
FULL = np.nan_to_num(X)

MODELS = {
    "tree": lambda: th.DecisionTreeClassifier(max_depth=4).fit(X, LABELS),
    "oblique tree": lambda: th.DecisionTreeRegressor(oblique=3, random_state=0).fit(X, NUMBERS),
    "forest": lambda: th.RandomForestClassifier(5, random_state=0).fit(X, LABELS),
    "median forest": lambda: th.RandomForestRegressor(
        3, criterion="absolute_error", random_state=0
    ).fit(X, NUMBERS),
    "boosting": lambda: th.GradientBoostingClassifier(n_estimators=5).fit(FULL, LABELS),
    "histograms": lambda: th.HistGradientBoostingRegressor(max_iter=5).fit(X, NUMBERS),
    "AdaBoost": lambda: th.AdaBoostClassifier(n_estimators=5).fit(X, LABELS),
    "AdaBoost medians": lambda: th.AdaBoostRegressor(n_estimators=5, random_state=0).fit(
        X, NUMBERS
    ),
    "density tree": lambda: th.DensityTree(leaf="gaussian", criterion="entropy").fit(FULL),
    "density forest": lambda: th.DensityForest(n_estimators=3, random_state=0).fit(FULL),
}


def answer(model):
    return model.log_density(FULL) if hasattr(model, "log_density") else model.predict(FULL)


def swapped_pickle(model):
    """A pickle as a machine of the other byte order would write it."""

    def swapped(array):
        return array.byteswap().view(array.dtype.newbyteorder()).__reduce__()

    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.dispatch_table = copyreg.dispatch_table.copy()
    pickler.dispatch_table[np.ndarray] = swapped
    pickler.dump(model)
    return file.getvalue()


@pytest.mark.parametrize("name", MODELS)
def test_a_pickle_of_another_byte_order_gives_the_same_answers(name):
    model = MODELS[name]()
    again = pickle.loads(swapped_pickle(model))
    np.testing.assert_array_equal(answer(again), answer(model))
    np.testing.assert_array_equal(answer(copy.deepcopy(model)), answer(model))


def entering(kind, state):
    """The ways in: the constructor, and the state of a pickle."""
    yield lambda: kind(**state)
    yield lambda: kind.__new__(kind).__setstate__(state)


def refused(kind, state, words):
    for enter in entering(kind, state):
        with pytest.raises(th.errors.DataError, match=words):
            enter()


def at(place, value):
    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("field", "change", "words"),
    [
        ("threshold", lambda array: array[:1], r"threshold has shape \(1,\)"),
        ("threshold", lambda array: array.tolist(), "threshold is of type list"),
        ("threshold", lambda array: array.astype(str), "threshold holds"),
        ("values", lambda array: array[:, 0], "values has shape"),
        ("left", at(0, 0), "children must follow"),
        ("left", at(0, 10**6), "children must follow"),
        ("left", at(0, -7), "a column and children, or neither"),
        ("feature", at(0, 4), "name a column"),
        ("feature", lambda array: array + 0.5, "feature holds float64"),
        ("category_set", at(0, 3), "category set"),
        ("n_features", lambda number: -1, "incompatible function arguments"),
        ("n_outputs", lambda number: 2, "cannot be shared by 2 outputs"),
    ],
)
def test_a_tree_that_cannot_be_walked_is_refused(field, change, words):
    state = MODELS["tree"]().tree_.__getstate__()
    refused(Tree, {**state, field: change(state[field])}, words)


def test_children_have_one_parent():
    state = MODELS["tree"]().tree_.__getstate__()
    a, b = np.flatnonzero(state["feature"] >= 0)[:2]
    left = at(a, state["left"][b])(state["left"])
    refused(Tree, {**state, "left": left}, "one parent")
    packed = MODELS["forest"]()._forest.packed
    nodes = packed.nodes.copy()
    first = nodes[: packed.roots[1]]
    a, b = np.flatnonzero(first["feature"] >= 0)[:2]
    first["child"][a] = first["child"][b]
    refused(PackedTrees, {**packed.__getstate__(), "nodes": nodes}, "one parent")


def test_a_field_that_is_missing_is_named():
    state = MODELS["tree"]().tree_.__getstate__()
    del state["weight"]
    with pytest.raises(th.errors.DataError, match="lacks 'weight'"):
        Tree.__new__(Tree).__setstate__(state)


def test_parts_beside_the_nodes_are_checked():
    model = MODELS["forest"]()
    forest = model._forest
    refused(type(forest), {**forest.__getstate__(), "seeds": forest.seeds[:1]}, "seeds has shape")
    refused(type(forest), {**forest.__getstate__(), "n_classes": (7,)}, "must hold 7 values")
    ranked = MODELS["AdaBoost medians"]()._ranked
    refused(RankedTrees, {**ranked.__getstate__(), "tree_of": ranked.tree_of + 10**6}, "the trees")
    density = MODELS["density tree"]().density_
    refused(
        type(density), {**density.__getstate__(), "means": density.means[:, :1]}, "means has shape"
    )


def test_a_pickle_holds_no_computed_parts():
    tree = MODELS["tree"]().tree_
    tree.predict(X)
    assert "packed" in vars(tree)
    assert "packed" not in vars(pickle.loads(pickle.dumps(tree)))
