"""Trees and their ensembles do not depend on the unit of the row weights."""

import numpy as np
import pytest

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 4))
NUMBERS = X[:, 0] + 0.3 * RANDOM.normal(size=200)
CLASSES = (NUMBERS > 0).astype(int)
WEIGHT = RANDOM.integers(1, 5, 200).astype(float)
OF_CLASSES = {
    "tree": th.DecisionTreeClassifier(max_depth=3),
    "entropy": th.DecisionTreeClassifier(max_depth=3, criterion="entropy"),
    "random splits": th.ExtraTreesClassifier(n_estimators=3, max_depth=3, random_state=0),
    "forest": th.RandomForestClassifier(
        n_estimators=3, max_depth=3, bootstrap=False, random_state=0
    ),
    "boosting": th.GradientBoostingClassifier(n_estimators=3),
    "AdaBoost": th.AdaBoostClassifier(n_estimators=3),
}
OF_NUMBERS = {
    "tree": th.DecisionTreeRegressor(max_depth=3, min_weight_fraction_leaf=0.05),
    "random split": th.DecisionTreeRegressor(max_depth=3, splitter="random", random_state=0),
    "random splits": th.ExtraTreesRegressor(n_estimators=3, max_depth=3, random_state=0),
    "boosting": th.GradientBoostingRegressor(n_estimators=3),
    "histograms": th.HistGradientBoostingRegressor(
        max_iter=3, min_samples_leaf=1, early_stopping=False
    ),
    "AdaBoost": th.AdaBoostRegressor(n_estimators=3, random_state=0),
}
WHOLE = (1e5, 1e6, 1e7, 2.0**31, 2.0**53)


@pytest.mark.parametrize("unit", [1e-100, *WHOLE, 1e80, 2e99])
@pytest.mark.parametrize("kind", OF_CLASSES)
def test_classifiers(kind, unit):
    model = OF_CLASSES[kind]
    expected = model.fit(X, CLASSES, sample_weight=WEIGHT).predict_proba(X)
    found = model.fit(X, CLASSES, sample_weight=unit * WEIGHT)
    np.testing.assert_allclose(found.predict_proba(X), expected, atol=1e-5)


@pytest.mark.parametrize("unit", [*WHOLE, 1e80, 2e99])
@pytest.mark.parametrize("kind", OF_NUMBERS)
def test_regressors(kind, unit):
    model = OF_NUMBERS[kind]
    expected = model.fit(X, NUMBERS, sample_weight=WEIGHT).predict(X)
    found = model.fit(X, NUMBERS, sample_weight=unit * WEIGHT)
    np.testing.assert_allclose(found.predict(X), expected, atol=1e-5)


@pytest.mark.parametrize("unit", [1e-99, 1e90])
def test_trees_keep_the_given_weights_and_their_gains(unit):
    for model in (
        th.DecisionTreeClassifier(),
        th.ExtraTreesClassifier(n_estimators=3, random_state=0),
    ):
        small = model.fit(X, CLASSES, sample_weight=WEIGHT)
        importances = small.feature_importances_
        tree = getattr(small, "tree_", None) or small.estimators_[0].tree_
        large = model.fit(X, CLASSES, sample_weight=WEIGHT * unit)
        np.testing.assert_allclose(large.feature_importances_, importances)
        found = getattr(large, "tree_", None) or large.estimators_[0].tree_
        np.testing.assert_array_equal(found.feature, tree.feature)
        np.testing.assert_allclose(found.weight, tree.weight * unit)
        np.testing.assert_allclose(found.gain, tree.gain, atol=1e-12)
