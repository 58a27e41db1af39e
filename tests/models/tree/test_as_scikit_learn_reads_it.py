"""What programs written for scikit-learn's trees and ensembles read from a fitted one."""

import numpy as np
import pytest
import sklearn.tree
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.datasets import make_classification

import thetahat as th

MODELS = [
    th.RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0),
    th.ExtraTreesClassifier(n_estimators=3, max_depth=3, random_state=0),
    th.BaggingClassifier(n_estimators=3, random_state=0),
    th.AdaBoostClassifier(n_estimators=3, random_state=0),
    th.GradientBoostingClassifier(n_estimators=3, random_state=0),
]


def rows():
    return make_classification(n_samples=80, n_features=6, random_state=0)


def trees():
    X, y = rows()
    single = th.DecisionTreeClassifier(random_state=0).fit(X, y)
    forest = th.RandomForestClassifier(n_estimators=2, random_state=0).fit(X, y)
    pruned = th.DecisionTreeClassifier(ccp_alpha=0.02, random_state=0).fit(X, y)
    boosted = th.GradientBoostingClassifier(n_estimators=2).fit(X, y)
    return [single.tree_, forest.estimators_[1].tree_, pruned.tree_, boosted[0, 0].tree_]


@pytest.mark.parametrize("number", range(4))
def test_leaves_are_undefined(number):
    """The usual walk over a tree stops where feature is −2."""
    tree = trees()[number]
    is_leaf = tree.children_left == -1
    assert is_leaf.any()
    np.testing.assert_array_equal(tree.feature == -2, is_leaf)
    np.testing.assert_array_equal(tree.threshold[is_leaf], -2.0)


@pytest.mark.parametrize("outputs", [1, 2])
def test_values_have_the_shapes_of_scikit_learn(outputs):
    X, y = rows()
    y = np.column_stack([y, X[:, 0] > 0, y])[:, :outputs].squeeze()
    for name in ("DecisionTreeClassifier", "DecisionTreeRegressor"):
        ours = getattr(th, name)(max_depth=2).fit(X, y).tree_
        theirs = getattr(sklearn.tree, name)(max_depth=2).fit(X, y).tree_
        rows_of_theirs = X.astype(np.float32)
        for method in ("predict", "apply"):
            found, expected = getattr(ours, method)(X), getattr(theirs, method)(rows_of_theirs)
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        assert ours.value.shape[1:] == theirs.value.shape[1:]


@pytest.mark.parametrize("container", [csr_array, csr_matrix, csc_array])
def test_the_tree_itself_takes_sparse_rows(container):
    X, _ = rows()
    tree = trees()[0]
    sparse = container(X)
    np.testing.assert_array_equal(tree.apply(sparse), tree.apply(X))
    np.testing.assert_array_equal(tree.predict(sparse), tree.predict(X))
    path = tree.decision_path(sparse)
    np.testing.assert_array_equal(path.toarray(), tree.decision_path(X).toarray())
    np.testing.assert_array_equal(path.toarray().sum(axis=1), tree.depth[tree.apply(X)] + 1)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_ensembles_are_sequences_of_their_members(model):
    X, y = rows()
    model.fit(X, y)
    assert len(model) == len(model.estimators_) == 3
    assert type(model[0]) is type(model.estimators_[0])
    assert len(list(model)) == 3


def test_boosted_trees_have_the_parameters_they_were_grown_with():
    X, y = rows()
    model = th.GradientBoostingClassifier(n_estimators=2, max_depth=2, min_samples_leaf=7)
    tree = model.fit(X, y)[0, 0]
    assert (tree.max_depth, tree.min_samples_leaf) == (2, 7)


@pytest.mark.parametrize("kind", [th.DecisionTreeClassifier, th.LogisticRegression, th.Ridge])
def test_sparse_targets_are_refused_by_name(kind):
    X, y = rows()
    with pytest.raises(TypeError, match=r"y must be dense, .* y\.toarray\(\)"):
        kind().fit(X, csr_array(y[:, None]))
