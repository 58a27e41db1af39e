"""The trees of forests can be joined, taken out and refitted."""

import numpy as np
import pytest

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((90, 3))
Y = X[:, 0] + 0.3 * RANDOM.standard_normal(90)
LABELS = np.digitize(Y, [-0.5, 0.5])


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ExtraTreesRegressor"])
def test_forests_can_be_merged(name):
    y, method = (LABELS, "predict_proba") if "Classifier" in name else (Y, "predict")
    a, b = (getattr(th, name)(n, random_state=n).fit(X, y) for n in (6, 4))
    expected = 0.6 * getattr(a, method)(X) + 0.4 * getattr(b, method)(X)
    a.estimators_ += b.estimators_
    a.n_estimators = len(a.estimators_)
    assert len(a) == 10
    np.testing.assert_allclose(getattr(a, method)(X), expected, rtol=1e-10)
    a.estimators_ = a.estimators_[:3]
    members = [getattr(tree, method)(X) for tree in a.estimators_]
    np.testing.assert_allclose(getattr(a, method)(X), np.mean(members, axis=0), rtol=1e-10)
    assert len(a.set_params(warm_start=True, n_estimators=5).fit(X, y).estimators_) == 5
    assert len(list(b) + b.estimators_) == 8


@pytest.mark.parametrize(
    "other",
    [
        th.DecisionTreeClassifier(),
        th.LinearRegression().fit(X, Y),
        th.DecisionTreeRegressor().fit(X, Y),
        th.DecisionTreeClassifier().fit(X, LABELS > 0),
        th.DecisionTreeClassifier().fit(X[:, :2], LABELS),
        th.DecisionTreeClassifier(oblique=2).fit(X, LABELS),
    ],
    ids=str,
)
def test_members_of_another_kind_are_refused(other):
    forest = th.RandomForestClassifier(2).fit(X, LABELS)
    with pytest.raises(th.errors.ParameterError, match=r"estimators_\[2\]=.*same columns"):
        forest.estimators_ += [other]
    with pytest.raises(th.errors.ParameterError, match="at least one fitted tree"):
        forest.estimators_ = []
    assert len(forest) == 2


def test_seeds_of_members_suit_numpy():
    forest = th.RandomForestRegressor(3, random_state=0).fit(X, Y)
    for tree in forest.estimators_:
        np.random.RandomState(tree.random_state)


def test_a_class_weight_that_is_unknown_names_all_that_are_known():
    with pytest.raises(th.errors.ParameterError, match=r"class_weight='x'.*'balanced_subsample'"):
        th.RandomForestClassifier(2, class_weight="x").fit(X, LABELS)
